// Budget forcing against s1.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_join.h"
#include "search/tree/check_tree.h"
#include "tests/search/golden_world.h"

namespace espalier {
namespace {

// The program bans the end token, so the model's next best step follows; our
// search lets the model end anywhere.
constexpr char kEndsAtOnce[] = "the model would end right behind the word";

TEST(GoldenBudgetForcingTest, S1ThinksOnAtTheSameNodes) {
  int compared = 0;
  for (const GoldenRun& run : ReadGolden("budget_forcing").runs) {
    if (run.name == kEndsAtOnce) continue;
    SCOPED_TRACE(run.name);
    ++compared;
    const GoldenSearch ours = RunGolden(run);
    ExpectSameTrace(run, ours);
    EXPECT_TRUE(CheckTree(ours.tree()).ok());
    std::vector<int> asked;
    for (const GoldenDraw& draw : ours.draws) asked.push_back(draw.from);
    EXPECT_EQ(
        absl::StrJoin(asked, " "),
        absl::StrJoin(run.trace.at("asked").get<std::vector<int>>(), " "));
    std::string said;
    for (const NodeId id :
         ours.tree().Path(ours.of[static_cast<size_t>(ours.answer_node)])) {
      said += ours.tree().text(id);
    }
    EXPECT_EQ(said, run.trace.at("thinking").get<std::string>() +
                        run.trace.at("answered").get<std::string>());
  }
  EXPECT_EQ(compared, 16);
}

}  // namespace
}  // namespace espalier
