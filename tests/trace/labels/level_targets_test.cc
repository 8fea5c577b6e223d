#include "src/trace/labels/level_targets.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "base/random.h"

namespace espalier {
namespace {

// Steps "add a": each writes the sum so far. Some write a wrong sum; a later
// step may take the error back by writing the true sum again.
struct PlantedStep {
  int added = 0;
  int written = 0;
  bool corrects = false;  // it writes the sum anew, not from the line above
};

struct PlantedPath {
  std::vector<PlantedStep> steps;
  bool right = false;  // the last line has the true sum
};

PlantedPath Plant(RandomStream& random) {
  PlantedPath path;
  int truth = 0, written = 0;
  const int n = random.Range(5, 10);
  for (int i = 0; i < n; ++i) {
    PlantedStep step{.added = random.Range(1, 9)};
    truth += step.added;
    step.corrects = written + step.added != truth && random.Uniform() < 0.5f;
    written = step.corrects ? truth : written + step.added;
    if (!step.corrects && random.Uniform() < 0.25f) {
      written += random.Range(1, 3);
    }
    step.written = written;
    path.steps.push_back(step);
  }
  path.right = written == truth;
  return path;
}

std::vector<StepFact> Facts(const PlantedPath& path) {
  std::vector<StepFact> facts;
  int truth = 0, before = 0;
  for (const PlantedStep& step : path.steps) {
    truth += step.added;
    const bool follows = step.written == before + step.added;
    facts.push_back(
        {.step_ok = follows || (step.corrects && step.written == truth),
         .state_ok = step.written == truth});
    before = step.written;
  }
  return facts;
}

// Whether the steps first .. last leave an error of their own, from the sums:
// if the first began with a right sum, or with the sum that it did begin with,
// is the sum after the last what it should be?
bool LeavesNoError(const PlantedPath& path, size_t first, size_t last) {
  int truth = 0, begun = 0, added = 0;
  for (size_t i = 0; i <= last; ++i) {
    truth += path.steps[i].added;
    if (i < first) begun = path.steps[i].written;
    if (i >= first) added += path.steps[i].added;
  }
  const int written = path.steps[last].written;
  if (written == truth) return true;
  // With nothing but right additions the old error is carried along unchanged.
  int sum = begun;
  for (size_t i = first; i <= last; ++i) {
    sum += path.steps[i].added;
    if (path.steps[i].written != sum) return false;
  }
  return written == begun + added;
}

TEST(LevelTargetsTest, PlantedErrorsAndCorrectionsByTheSums) {
  RandomStream random(StreamKey(1, 0, 0, Purpose::kTest));
  for (int round = 0; round < 500; ++round) {
    const PlantedPath path = Plant(random);
    const std::vector<StepFact> facts = Facts(path);
    for (size_t i = 0; i < facts.size(); ++i) {
      EXPECT_EQ(LevelTarget(Level::kStep, facts, i), facts[i].step_ok ? 1 : 0);
      for (int w = 2; w <= kMaxWindow; ++w) {
        const size_t first =
            i + 1 < static_cast<size_t>(w) ? 0 : i + 1 - static_cast<size_t>(w);
        EXPECT_EQ(LevelTarget(WindowLevel(w), facts, i),
                  LeavesNoError(path, first, i) ? 1 : 0)
            << "step " << i << " window " << w;
      }
    }
  }
}

// Levels that had the same targets would be one head.
TEST(LevelTargetsTest, LevelsDifferAtAFifthOfTheStepEnds) {
  RandomStream random(StreamKey(2, 0, 0, Purpose::kTest));
  // Step, window of 2, all steps right so far, final answer right.
  std::array<std::array<int, 4>, 4> differ{};
  int ends = 0;
  for (int round = 0; round < 2000; ++round) {
    const PlantedPath path = Plant(random);
    const std::vector<StepFact> facts = Facts(path);
    bool all = true;
    for (size_t i = 0; i < facts.size(); ++i, ++ends) {
      all = all && facts[i].step_ok;
      const std::array<float, 4> targets = {
          LevelTarget(Level::kStep, facts, i),
          LevelTarget(Level::kWindow2, facts, i), all ? 1.0f : 0.0f,
          path.right ? 1.0f : 0.0f};
      for (size_t a = 0; a < 4; ++a) {
        for (size_t b = 0; b < 4; ++b) differ[a][b] += targets[a] != targets[b];
      }
    }
  }
  const auto share = [&](size_t a, size_t b) {
    return static_cast<double>(differ[a][b]) / ends;
  };
  for (const auto& [a, b] : {std::pair(0, 2), std::pair(0, 3), std::pair(1, 2),
                             std::pair(1, 3), std::pair(2, 3)}) {
    EXPECT_GE(share(static_cast<size_t>(a), static_cast<size_t>(b)), 0.2)
        << a << " and " << b;
  }
  // At every step where some level differs from another.
  int some = 0;
  RandomStream again(StreamKey(2, 0, 0, Purpose::kTest));
  for (int round = 0; round < 2000; ++round) {
    const PlantedPath path = Plant(again);
    const std::vector<StepFact> facts = Facts(path);
    for (size_t i = 0; i < facts.size(); ++i) {
      some += LevelTarget(Level::kStep, facts, i) !=
              LevelTarget(Level::kWindow2, facts, i);
    }
  }
  std::printf("figure: step and window of two differ at %.1f %% of %d ends\n",
              100.0 * some / ends, ends);
  EXPECT_EQ(some, differ[0][1]);
}

TEST(LevelTargetsTest, AShippedVerifierNeverForgets) {
  // Right, wrong, right, right: the error is in windows for as long as they
  // reach back to it.
  const std::vector<StepFact> facts =
      FactsOf({{.step_ok = true, .path_ok = true},
               {.step_ok = false},
               {.step_ok = true},
               {.step_ok = true}});
  const auto targets = [&](Level level) {
    std::vector<float> out;
    for (size_t i = 0; i < facts.size(); ++i) {
      out.push_back(LevelTarget(level, facts, i));
    }
    return out;
  };
  EXPECT_EQ(targets(Level::kStep), (std::vector<float>{1, 0, 1, 1}));
  EXPECT_EQ(targets(Level::kWindow2), (std::vector<float>{1, 0, 0, 1}));
  EXPECT_EQ(targets(Level::kWindow3), (std::vector<float>{1, 0, 0, 0}));
}

}  // namespace
}  // namespace espalier
