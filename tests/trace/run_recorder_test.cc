#include "src/trace/run_recorder.h"

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "src/trace/run_db.h"

namespace espalier {
namespace {

namespace fs = std::filesystem;

SearchCompletion Drawn(uint64_t number, float logprob) {
  return {
      .number = number,
      .samples = {
          {{.tokens = {5}, .logprobs = {-1.5f}, .sampler_logprobs = {logprob}},
           "a\n",
           /*logprob=*/-1.5f}}};
}

SearchRequest Draw(uint64_t number) {
  return {.number = number, .nodes = {kRoot}};
}

// Two requests draw the same step under other filters; their completions arrive
// in either order.
TEST(RunRecorderTest, FirstRequestsDrawGivesAStepsLogProbs) {
  std::string name =
      (fs::temp_directory_path() / "run_recorder_XXXXXX").string();
  const fs::path folder = mkdtemp(name.data());
  for (const bool in_order : {true, false}) {
    const std::string path =
        (folder / (in_order ? "order.db" : "other.db")).string();
    const auto db = RunDb::Open(path, Sqlite::kCreate).value();
    const int64_t run =
        db->AddRun({.kind = "generate", .config = "{}"}).value();
    const int64_t problem =
        db->AddProblem({{"set/1", "set", "What?"}, {"42", {}}}, "set", "qa")
            .value();
    RunRecorder recorder(*db,
                         [](size_t, std::string_view) -> std::optional<bool> {
                           return std::nullopt;
                         });
    const int64_t search = db->BeginSearch(run, problem, 1)->search_id;
    ASSERT_TRUE(recorder.Begin(0, search, {}).ok());
    for (const uint64_t number :
         in_order ? std::vector<uint64_t>{1, 2} : std::vector<uint64_t>{2, 1}) {
      const float logprob = number == 1 ? -0.25f : -3.0f;
      ASSERT_TRUE(
          recorder.Append(0, Draw(number), Drawn(number, logprob)).ok());
    }
    Tree tree;
    const std::vector<int32_t> tokens = {5};
    tree.Add(kRoot, {.text = "a\n", .tokens = tokens, .logprob = -1.5f});
    ASSERT_TRUE(recorder.Finish(0, tree, {}).ok());
    const StoredTree stored = db->LoadTree(search).value();
    EXPECT_EQ(stored.sampler_logprobs, std::vector<float>{-0.25f});
    EXPECT_EQ(stored.logprobs, std::vector<float>{-1.5f});
  }
  fs::remove_all(folder);
}

}  // namespace
}  // namespace espalier
