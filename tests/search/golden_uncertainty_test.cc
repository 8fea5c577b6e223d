// phi-Decoding and MUR, draw by draw and step by step.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_join.h"
#include "nlohmann/json.hpp"
#include "tests/search/golden_world.h"

namespace espalier {
namespace {

using Json = nlohmann::json;
using Ints = std::vector<int>;

std::string UncertainText(const Ints& numbers) {
  return absl::StrJoin(numbers, " ");
}

// Requested nodes, once per sample.
Ints PerSample(const GoldenSearch& ours) {
  Ints asked;
  for (const GoldenDraw& draw : ours.draws) {
    asked.insert(asked.end(), draw.to.size(), draw.from);
  }
  return asked;
}

// The requests in order, with what they drew.
class UncertainDraws {
 public:
  explicit UncertainDraws(const GoldenSearch& ours) : ours_(ours) {}
  bool done() const { return at_ == ours_.draws.size(); }
  // The samples that the next request drew from `from`.
  Ints Of(int from) {
    if (done() || ours_.draws[at_].from != from) return {-1};
    return ours_.draws[at_++].to;
  }
  // The nodes of the next `n` requests, sorted.
  Ints Sorted(size_t n) {
    Ints asked;
    for (; n > 0 && !done(); --n) asked.push_back(ours_.draws[at_++].from);
    std::sort(asked.begin(), asked.end());
    return asked;
  }

 private:
  const GoldenSearch& ours_;
  size_t at_ = 0;
};

// The nodes on the paths from `from` to `ends`, without the ends, sorted.
Ints Between(const GoldenRun& run, const Ints& from, const Ints& ends) {
  Ints asked;
  for (size_t i = 0; i < from.size(); ++i) {
    for (int at = ends[i]; at != from[i];) {
      at = run.world.nodes[static_cast<size_t>(at)].parent;
      asked.push_back(at);
    }
  }
  std::sort(asked.begin(), asked.end());
  return asked;
}

TEST(GoldenUncertainty, PhiDecodingDrawsTheSameBeams) {
  int steps = 0;
  for (const GoldenRun& run : ReadGolden("phi_decoding").runs) {
    // Here the program's clustering fails by chance in a step with equal
    // outcomes, where ours cannot fail.
    if (run.name == "clustering fails once") continue;
    // If half of the samples are one step and half another, the mean minus one
    // standard deviation equals the lower value, which is not above it and is
    // pruned. In the second step of this run the program keeps it because of
    // rounding.
    if (run.name == "ends at different depths") continue;
    SCOPED_TRACE(run.name);
    const GoldenSearch ours = RunGolden(run);
    UncertainDraws draws(ours);
    for (const Json& step : run.trace.at("steps")) {
      ++steps;
      const Ints sampled = step.at("sampled");
      const size_t each = run.trace.at("settings").at("num_rollout");
      const Ints beams = step.at("asked");
      for (size_t i = 0; i < beams.size(); ++i) {
        const auto beam = static_cast<size_t>(beams[i]);
        if (run.world.nodes[beam].terminal) continue;
        EXPECT_EQ(UncertainText(draws.Of(beams[i])),
                  UncertainText(
                      {sampled.begin() + static_cast<std::ptrdiff_t>(i * each),
                       sampled.begin() +
                           static_cast<std::ptrdiff_t>((i + 1) * each)}));
      }
      const Ints seen =
          Between(run, step.at("foreseen_from"), step.at("foreseen"));
      EXPECT_EQ(UncertainText(draws.Sorted(seen.size())), UncertainText(seen));
    }
    const Json& last = run.trace.at("final");
    const Ints rest = Between(run, last.at("from"), last.at("ends"));
    EXPECT_EQ(UncertainText(draws.Sorted(rest.size())), UncertainText(rest));
    EXPECT_TRUE(draws.done());
    ExpectSameTrace(run, ours, {.expanded = false});
  }
  EXPECT_GT(steps, 15);
}

TEST(GoldenUncertainty, MurScalesTheSameSteps) {
  int uncertain = 0, steps = 0;
  for (const GoldenRun& run : ReadGolden("mur").runs) {
    SCOPED_TRACE(run.name);
    const GoldenSearch ours = RunGolden(run);
    EXPECT_EQ(UncertainText(PerSample(ours)),
              UncertainText(run.trace.at("expanded")));
    ExpectSameTrace(run, ours, {.expanded = false});
    for (const Json& step : run.trace.at("steps")) {
      ++steps;
      uncertain += step.at("uncertain").get<bool>();
    }
    Ints path;
    ASSERT_GE(ours.answer_node, 0);
    for (int at = ours.answer_node; at != 0;
         at = run.world.nodes[static_cast<size_t>(at)].parent) {
      path.insert(path.begin(), at);
    }
    EXPECT_EQ(UncertainText(path), UncertainText(run.trace.at("path")));
  }
  EXPECT_GT(uncertain, 15);
  EXPECT_GT(steps, uncertain + 10);
}

}  // namespace
}  // namespace espalier
