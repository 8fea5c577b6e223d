#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "tests/search/reference_world.h"

namespace espalier {
namespace {

using VoteList = std::vector<std::pair<int, float>>;

// The index selected by a uniform `u` among odds s / (1 - s).
size_t Fall(const std::vector<double>& odds, double u) {
  double total = 0;
  for (const double o : odds) total += o;
  size_t i = 0;
  for (u *= total; i + 1 < odds.size() && u >= odds[i]; ++i) u -= odds[i];
  return i;
}

std::vector<int> Draw(const ReferenceWorld& plain, const std::vector<int>& from,
                      int n, bool systematic, RandomStream& random) {
  std::vector<double> odds;
  for (const int place : from) {
    const double s = std::clamp<double>(plain.Score(place), 1e-6, 1 - 1e-6);
    odds.push_back(s / (1 - s));
  }
  std::vector<int> drawn;
  const double shift = systematic ? random.UniformDouble() : 0;
  for (int i = 0; i < n; ++i) {
    const double u = systematic ? (i + shift) / n : random.UniformDouble();
    drawn.push_back(from[Fall(odds, u)]);
  }
  return drawn;
}

// Nodes from the root's child to `leaf`.
std::vector<int> Walk(const TreeWorld& world, int leaf) {
  std::vector<int> walk;
  for (int at = leaf; at != 0; at = world[at].parent) walk.push_back(at);
  std::reverse(walk.begin(), walk.end());
  return walk;
}

VoteList PlainParticles(const TreeWorld& world, ReferenceWorld& plain, int n,
                        int iterations, int keep, bool systematic) {
  VoteList votes;
  RandomStream random = plain.Choices();
  std::vector<int> references;
  for (int sweep = 0; sweep < iterations; ++sweep) {
    const int free_count = n - static_cast<int>(references.size());
    std::vector<int> at(static_cast<size_t>(free_count), 0);
    const auto leaf = [&](int place) { return plain.Leaf(place); };
    for (size_t step = 0; !std::all_of(at.begin(), at.end(), leaf); ++step) {
      for (int& place : at) {
        if (!plain.Leaf(place)) place = plain.Next(place, 1);
      }
      std::vector<int> all = at;
      for (const int end : references) {
        const std::vector<int> walk = Walk(world, end);
        all.push_back(walk[std::min(step, walk.size() - 1)]);
      }
      if (std::all_of(all.begin(), all.end(), leaf)) break;
      at = Draw(plain, all, free_count, systematic, random);
    }
    at.insert(at.end(), references.begin(), references.end());
    for (const int end : at) votes.push_back({end, plain.Score(end)});
    if (sweep + 1 < iterations) {
      references = Draw(plain, at, keep, systematic, random);
    }
  }
  return votes;
}

TEST(ParticleTest, ResamplesAsAPlainLoopDoes) {
  for (uint64_t seed = 1; seed <= 25; ++seed) {
    const TreeWorld world({.seed = seed,
                           .depth = 4,
                           .early_leaf = 0.3,
                           .scores = Scores::kNoisy});
    for (const bool systematic : {false, true}) {
      for (const int iterations : {1, 4}) {
        const SearchRun run = RunSearch(
            absl::StrCat(
                "particle:particles=6:rounds=1:keep=2:iterations=", iterations,
                ":resampling=", systematic ? "systematic" : "multinomial"),
            world);
        ReferenceWorld plain(world, run);
        EXPECT_EQ(run.answer,
                  HighestSum(world, PlainParticles(world, plain, 6, iterations,
                                                   2, systematic)))
            << seed << " " << systematic << " " << iterations;
        EXPECT_EQ(run.usage.tokens, plain.tokens());
      }
    }
  }
}

TEST(ParticleTest, OneParticleIsOneSampledResponse) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const TreeWorld world({.seed = seed});
    EXPECT_EQ(RunSearch("particle:particles=1:rounds=1", world).answer,
              RunSearch("sample", world).answer);
    // With one particle there is no room for a reference particle: sweeps are
    // independent.
    EXPECT_EQ(
        RunSearch("particle:particles=1:iterations=5:rounds=1", world).answer,
        RunSearch("weighted:n=5", world).answer);
  }
}

TEST(ParticleTest, EqualScoresLeaveEveryParticleWhereItIs) {
  // Systematic resampling with equal weights keeps each particle once: the
  // responses are written in parallel, as by `confidence`.
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const TreeWorld world({.seed = seed, .scores = Scores::kEqual});
    EXPECT_EQ(
        RunSearch("particle:particles=8:rounds=1:resampling=systematic", world)
            .tree_text,
        RunSearch("confidence:n=8:parallel=8", world).tree_text);
  }
}

TEST(ParticleTest, ZeroTemperatureFollowsTheHighestScore) {
  // Every particle follows the best one of the step: a beam of one.
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const TreeWorld world({.seed = seed, .scores = Scores::kNoisy});
    EXPECT_EQ(RunSearch("particle:particles=5:rounds=1:resample_temperature=0:"
                        "choice=best",
                        world)
                  .answer,
              RunSearch("lookahead:n=5:width=5:k=0:rounds=1:choice=best", world)
                  .answer);
  }
}

TEST(ParticleTest, ScoresOfZeroAndOneAreFinite) {
  const TreeWorld world({.seed = 2});
  const auto extreme = [&](const Tree& tree, const SearchRequest& request) {
    SearchCompletion c = world.Reply(tree, request);
    for (StepScores& s : c.scores) s.step = s.path = s.path < 0.5f ? 0 : 1;
    return c;
  };
  const SearchRun run =
      RunSearch("particle:rounds=2:iterations=2", world, {.reply = extreme});
  EXPECT_TRUE(run.status.ok()) << run.status;
  EXPECT_FALSE(run.answer.empty());
}

}  // namespace
}  // namespace espalier
