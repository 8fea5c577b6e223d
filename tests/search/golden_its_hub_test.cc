// Particle filter, particle Gibbs, best-of-n and self-consistency against
// its_hub.
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

// Requests and samples of all sweeps, against the steps of the trace.
void ExpectSameSteps(const GoldenRun& run, const GoldenSearch& ours) {
  std::vector<int> asked, sampled;
  for (const Json& sweep : run.trace.at("sweeps")) {
    for (const Json& step : sweep.at("steps")) {
      asked.insert(asked.end(), step.at("asked").begin(),
                   step.at("asked").end());
      sampled.insert(sampled.end(), step.at("sampled").begin(),
                     step.at("sampled").end());
    }
  }
  std::vector<int> got;
  for (const GoldenDraw& draw : ours.draws) {
    got.insert(got.end(), draw.to.begin(), draw.to.end());
  }
  EXPECT_EQ(absl::StrJoin(ours.expanded, " "), absl::StrJoin(asked, " "));
  EXPECT_EQ(absl::StrJoin(got, " "), absl::StrJoin(sampled, " "));
}

// The program's answer may be a particle cut by max_steps or without an answer.
bool Answers(const GoldenRun& run) { return !run.trace.at("answer").is_null(); }

// All resampling shows in the requests of the next step, the last one in the
// answer. A run with too many or too few uniforms fails in RunGolden.
TEST(GoldenItsHub, ParticlesGoWhereItsFilterSendsThem) {
  const GoldenFile file = ReadGolden("its_hub_particle");
  EXPECT_EQ(file.runs.size(), 19u);
  for (const GoldenRun& run : file.runs) {
    SCOPED_TRACE(run.name);
    const GoldenSearch ours = RunGolden(run);
    ExpectSameSteps(run, ours);
    ExpectSameTrace(run, ours, {.answer = Answers(run)});
  }
}

TEST(GoldenItsHub, SweepsGoRoundTheSameReferences) {
  const GoldenFile file = ReadGolden("its_hub_particle_gibbs");
  EXPECT_EQ(file.runs.size(), 17u);
  for (const GoldenRun& run : file.runs) {
    SCOPED_TRACE(run.name);
    const GoldenSearch ours = RunGolden(run);
    ExpectSameSteps(run, ours);
    ExpectSameTrace(run, ours, {.answer = Answers(run)});
    EXPECT_EQ(ours.context->usage().simulations,
              static_cast<int64_t>(run.trace.at("sweeps").size()));
  }
}

TEST(GoldenItsHub, BestOfNAndSelfConsistencyChooseTheSameAnswer) {
  int best = 0, majority = 0;
  for (GoldenRun run : ReadGolden("its_hub_sampling").runs) {
    SCOPED_TRACE(run.name);
    if (!run.trace.contains("counts")) {
      ExpectSameTrace(run, RunGolden(run), {.answer = Answers(run)});
      ++best;
      continue;
    }
    // The program draws one of the responses with a most frequent answer;
    // `majority` takes the first such answer. They agree unless two answers are
    // equally frequent.
    run.random.clear();
    const GoldenSearch ours = RunGolden(run);
    EXPECT_EQ(absl::StrJoin(ours.expanded, " "),
              absl::StrJoin(std::vector<int>(run.trace.at("expanded")), " "));
    int highest = 0, leaders = 0;
    for (const auto& [answer, count] : run.trace.at("counts").items()) {
      const int n = count;
      if (n > highest) leaders = 0;
      highest = std::max(highest, n);
      leaders += n == highest;
    }
    if (leaders > 1 || !Answers(run)) continue;
    EXPECT_EQ(ours.answer, run.trace.at("answer").get<std::string>());
    ++majority;
  }
  EXPECT_EQ(best, 7);
  EXPECT_EQ(majority, 4);
}

}  // namespace
}  // namespace espalier
