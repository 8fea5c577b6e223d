// What every sampling, beam and uncertainty method does with little or no
// budget. All samples of a world here have one token.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>

#include "tests/search/tree_world.h"

namespace espalier {
namespace {

struct SampledMethod {
  const char* spec;  // bounded by rounds or n
  const char* open;  // runs until the budget is spent
  bool scores;       // uses the reward model
  int in_flight;     // requests per stage at most
};

void PrintTo(const SampledMethod& method, std::ostream* os) {
  *os << method.spec;
}

const SampledMethod kSamplingMethods[] = {
    {"majority:n=6", "majority", false, 1},
    {"best_of_n:n=6", "best_of_n", true, 1},
    {"weighted:n=6", "weighted", true, 1},
    {"beam:width=2:rounds=1", "beam:width=2", true, 2},
    {"beam:width=2:refill=true:aggregate=sum:rounds=2",
     "beam:width=2:refill=true:aggregate=sum", true, 2},
    {"guided:width=2:draft=false:rounds=1", "guided:width=2:draft=false", true,
     1},
    {"guided:width=2:accept=0:rounds=2", "guided:width=2:accept=0", true, 2},
    {"confidence:n=6:parallel=3", "confidence:parallel=3", true, 3},
    {"confidence:by=likelihood:n=6", "confidence:by=likelihood", false, 1},
    {"deepconf:n=6:parallel=2", "deepconf:parallel=2", false, 2},
    {"deepconf:n=9:online=true:warmup=4:parallel=3:eta=100:consensus=1",
     "deepconf:online=true:warmup=4:parallel=3:eta=100:consensus=1", false, 3},
    {"particle:particles=5:rounds=1", "particle:particles=5", true, 5},
    {"particle:particles=5:iterations=3:keep=2:resampling=systematic:rounds=1",
     "particle:particles=5:iterations=3:keep=2:resampling=systematic", true, 5},
    {"mur:n=4", "mur", true, 1},
    {"mur:by=likelihood:n=4", "mur:by=likelihood", false, 1},
    {"phi:beams=3:rollouts=2:rounds=1", "phi:beams=3:rollouts=2", false, 6},
    {"phi:beams=2:least=1:stop=0.1:rounds=1", "phi:beams=2:least=1:stop=0.1",
     false, 8},
    {"dvts:n=8:width=4:rounds=1", "dvts:n=8:width=4", true, 2},
    {"dvts:n=3:width=1:rounds=1", "dvts:n=3:width=1", true, 3},
    {"lookahead:n=8:width=4:k=2:rounds=1", "lookahead:n=8:width=4:k=2", true,
     8},
    {"lookahead:n=3:width=1:k=0:rounds=1", "lookahead:n=3:width=1:k=0", true,
     3},
};

class EdgesTest : public testing::TestWithParam<SampledMethod> {
 protected:
  // The world's replies, with `change` applied to each sample.
  template <class Change>
  static RunLimits Changed(const TreeWorld& world, const Change& change) {
    RunLimits limits;
    limits.reply = [&world, change](const Tree& tree,
                                    const SearchRequest& request) {
      SearchCompletion c = world.Reply(tree, request);
      change(c);
      return c;
    };
    return limits;
  }
};

INSTANTIATE_TEST_SUITE_P(AllMethods, EdgesTest,
                         testing::ValuesIn(kSamplingMethods));

TEST_P(EdgesTest, OrderOfRepliesChangesNothing) {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    const TreeWorld world(
        {.seed = seed, .early_leaf = 0.3, .scores = Scores::kNoisy});
    const SearchRun run = RunSearch(GetParam().spec, world);
    EXPECT_FALSE(run.answer.empty());
    for (uint64_t shuffle = 1; shuffle <= 4; ++shuffle) {
      const SearchRun other =
          RunSearch(GetParam().spec, world, {.shuffle = shuffle});
      EXPECT_EQ(other.tree_text, run.tree_text);
      EXPECT_EQ(other.answer, run.answer);
    }
  }
}

TEST_P(EdgesTest, ABudgetOfOneTokenLeavesNoAnswer) {
  const TreeWorld world({.depth = 4});
  const SearchRun run = RunSearch(GetParam().open, world, {.tokens = 1});
  EXPECT_TRUE(run.status.ok()) << run.status;
  EXPECT_EQ(run.node, kNoNode);
  EXPECT_FALSE(run.stop_reason.empty());
  EXPECT_LE(run.usage.tokens, GetParam().in_flight);
}

TEST_P(EdgesTest, BudgetsAreSpentAndHardlyExceeded) {
  const TreeWorld world({.seed = 3, .early_leaf = 0.2});
  for (const int64_t tokens : {7, 40, 201}) {
    const SearchRun run = RunSearch(GetParam().open, world, {.tokens = tokens});
    EXPECT_TRUE(run.status.ok()) << run.status;
    EXPECT_LE(run.usage.tokens, tokens - 1 + GetParam().in_flight);
    EXPECT_FALSE(run.stop_reason.empty());
    if (tokens > 40) {
      EXPECT_FALSE(run.answer.empty());
    }
  }
}

TEST_P(EdgesTest, SimulationsAreABudgetToo) {
  const TreeWorld world({.seed = 3});
  const SearchRun run = RunSearch(GetParam().open, world, {.simulations = 3});
  EXPECT_GE(run.usage.simulations, 3);
  EXPECT_FALSE(run.answer.empty());
}

TEST_P(EdgesTest, EqualRewardsStillAnswer) {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    const TreeWorld world({.seed = seed, .scores = Scores::kEqual});
    EXPECT_FALSE(RunSearch(GetParam().spec, world).answer.empty());
  }
}

TEST_P(EdgesTest, DuplicatesOnlyLeadToTheOneLeaf) {
  const TreeWorld world({.branching = 1, .depth = 3});
  EXPECT_EQ(RunSearch(GetParam().spec, world).answer, world.best_answer());
}

TEST_P(EdgesTest, OnlyTerminalsAreAnsweredInOneStep) {
  const TreeWorld world({.branching = 4, .depth = 1});
  const SearchRun run = RunSearch(GetParam().spec, world);
  EXPECT_FALSE(run.answer.empty());
  EXPECT_LE(run.tree().size(), 5u);
}

TEST_P(EdgesTest, APolicyThatReturnsNothingEndsTheSearch) {
  const TreeWorld world({.depth = 3});
  const SearchRun run =
      RunSearch(GetParam().open, world,
                Changed(world, [](SearchCompletion& c) { c.samples.clear(); }));
  EXPECT_TRUE(run.status.ok()) << run.status;
  EXPECT_EQ(run.node, kNoNode);
  EXPECT_EQ(run.tree().size(), 1u);
}

TEST_P(EdgesTest, TruncatedSamplesAreNeverAnswers) {
  const TreeWorld world({.depth = 2});
  RunLimits limits = Changed(world, [](SearchCompletion& c) {
    for (SampledStep& sample : c.samples) sample.truncated = true;
  });
  limits.tokens = 60;
  const SearchRun run = RunSearch(GetParam().open, world, limits);
  EXPECT_TRUE(run.status.ok()) << run.status;
  EXPECT_EQ(run.node, kNoNode);
}

TEST_P(EdgesTest, TruncatedSamplesAmongOthersAreLeftOut) {
  const TreeWorld world({.seed = 2, .branching = 3, .depth = 3});
  RunLimits limits = Changed(world, [](SearchCompletion& c) {
    for (SampledStep& sample : c.samples) {
      if (sample.tokens[0] == 2) sample.truncated = true;
    }
  });
  limits.tokens = 400;
  const SearchRun run = RunSearch(GetParam().open, world, limits);
  EXPECT_TRUE(run.status.ok()) << run.status;
  ASSERT_NE(run.node, kNoNode);
  for (const NodeId node : run.tree().Path(run.node)) {
    EXPECT_FALSE(run.tree()[node].truncated());
  }
}

TEST_P(EdgesTest, AScoreThatIsNoNumberIsAnError) {
  const TreeWorld world({.depth = 2});
  const SearchRun run =
      RunSearch(GetParam().spec, world, Changed(world, [](SearchCompletion& c) {
                  for (StepScores& s : c.scores) {
                    s.step = s.path = std::numeric_limits<float>::quiet_NaN();
                  }
                }));
  EXPECT_EQ(run.status.code(), GetParam().scores
                                   ? absl::StatusCode::kInvalidArgument
                                   : absl::StatusCode::kOk);
}

TEST_P(EdgesTest, AnswersAreOfferedAsResponsesFinish) {
  const TreeWorld world({.seed = 6});
  const SearchRun run = RunSearch(GetParam().open, world, {.tokens = 300});
  ASSERT_FALSE(run.anytime.empty());
  EXPECT_LT(run.anytime.front().tokens, 150);
  for (const AnytimeAnswer& answer : run.anytime) {
    EXPECT_TRUE(run.tree()[answer.node].terminal());
  }
}

}  // namespace
}  // namespace espalier
