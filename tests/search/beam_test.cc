// Beam search (T1), DVTS (T2) and lookahead (T3) against plain loops.
#include <gtest/gtest.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "tests/search/reference_world.h"

namespace espalier {
namespace {

using Votes = std::vector<std::pair<int, float>>;

// Every fifth is a world in which all steps score the same.
TreeWorld World(uint64_t seed) {
  return TreeWorld({.seed = seed,
                    .branching = 3,
                    .depth = 4,
                    .early_leaf = 0.25,
                    .scores = seed % 5 == 0 ? Scores::kEqual : Scores::kNoisy});
}

bool Better(const std::pair<int, float>& a, const std::pair<int, float>& b) {
  return a.second > b.second;
}

// T1 as `beam` does it: the kept paths are sampled in turn, their distinct
// steps ranked, the best `width` kept; finished ones leave with their place.
Votes PlainBeam(ReferenceWorld& plain, int width, int branch) {
  Votes votes, kept = {{0, 0}};
  for (size_t places = static_cast<size_t>(width);
       !kept.empty() && places > 0;) {
    Votes candidates;
    std::vector<std::vector<int>> drawn;
    for (const auto& path : kept) {
      std::vector<int>& steps = drawn.emplace_back();
      for (int i = 0; i < branch; ++i)
        steps.push_back(plain.Next(path.first, 1));
    }
    for (std::vector<int>& steps : drawn) {
      std::vector<int> distinct;  // in order of first sampling
      for (const int s : steps) {
        if (std::count(distinct.begin(), distinct.end(), s) == 0) {
          distinct.push_back(s);
        }
      }
      for (const int s : distinct) candidates.push_back({s, plain.Score(s)});
    }
    std::stable_sort(candidates.begin(), candidates.end(), Better);
    candidates.resize(std::min(candidates.size(), places));
    kept.clear();
    for (const auto& c : candidates) {
      if (plain.Leaf(c.first)) --places;
      (plain.Leaf(c.first) ? votes : kept).push_back(c);
    }
  }
  return votes;
}

TEST(BeamTest, KeepsTheBestStepsAsAPlainLoopDoes) {
  for (uint64_t seed = 1; seed <= 25; ++seed) {
    const TreeWorld world = World(seed);
    for (const auto& [width, branch] : {std::pair{1, 4}, {2, 4}, {4, 1}}) {
      const SearchRun run =
          RunSearch(absl::StrCat("beam:rounds=1:frequency=0:accept=0:draft="
                                 "false:width=",
                                 width, ":branch=", branch),
                    world);
      ReferenceWorld plain(world, run);
      EXPECT_EQ(run.answer, HighestSum(world, PlainBeam(plain, width, branch)))
          << seed << " " << width;
      EXPECT_EQ(run.usage.tokens, plain.tokens());
    }
  }
}

// T3 (T1 in search-and-learn's form for k = 0).
Votes PlainLookahead(ReferenceWorld& plain, int n, int width, int k) {
  Votes votes, kept = {{0, 0}};
  while (!kept.empty() && static_cast<int>(votes.size()) < n) {
    std::vector<int> samples, distinct;
    const int paths = static_cast<int>(kept.size());
    for (int i = 0; i < paths; ++i) {
      for (int j = i; j < n; j += paths) {
        samples.push_back(plain.Next(kept[static_cast<size_t>(i)].first, 1));
      }
    }
    for (const int s : samples) {
      if (plain.Leaf(s)) votes.push_back({s, plain.Score(s)});
      if (std::count(distinct.begin(), distinct.end(), s) == 0) {
        distinct.push_back(s);
      }
    }
    kept.clear();
    for (const int s : distinct) {
      if (!plain.Leaf(s)) kept.push_back({s, plain.Score(plain.Greedy(s, k))});
    }
    std::stable_sort(kept.begin(), kept.end(), Better);
    const size_t places = static_cast<size_t>(std::max(1, n / width));
    kept.resize(std::min(kept.size(), places));
  }
  return votes;
}

TEST(LookaheadTest, JudgesByGreedyStepsAsAPlainLoopDoes) {
  for (uint64_t seed = 1; seed <= 25; ++seed) {
    const TreeWorld world = World(seed);
    for (const int k : {0, 1, 2, 9}) {
      const SearchRun run = RunSearch(
          absl::StrCat("lookahead:n=8:width=3:rounds=1:k=", k), world);
      ReferenceWorld plain(world, run);
      EXPECT_EQ(run.answer, HighestSum(world, PlainLookahead(plain, 8, 3, k)))
          << seed << " " << k;
      EXPECT_EQ(run.usage.tokens, plain.tokens());
    }
  }
}

TEST(LookaheadTest, WithoutLookingItIsBeamByReward) {
  for (uint64_t seed = 1; seed <= 25; ++seed) {
    // All leaves at one depth: both forms finish in the same step.
    const TreeWorld world({.seed = seed, .scores = Scores::kNoisy});
    EXPECT_EQ(
        RunSearch("lookahead:n=4:width=4:k=0:rounds=1:choice=best", world)
            .answer,
        RunSearch("beam:width=1:branch=4:rounds=1:frequency=0:accept=0:draft="
                  "false:choice=best",
                  world)
            .answer);
  }
}

// T2.
Votes PlainDvts(ReferenceWorld& plain, int subtrees, int width,
                int iterations) {
  // By subtree and step; the search goes through steps first.
  std::vector<int> at(static_cast<size_t>(subtrees), 0);
  std::vector<Votes> ends(at.size());
  Votes votes;
  for (int step = 0; step < iterations; ++step) {
    std::vector<std::vector<int>> drawn(at.size());
    for (size_t t = 0; t < at.size(); ++t) {
      for (int i = 0; !plain.Leaf(at[t]) && i < width; ++i) {
        drawn[t].push_back(plain.Next(at[t], 1));
      }
    }
    for (size_t t = 0; t < at.size(); ++t) {
      if (drawn[t].empty()) continue;
      ends[t].clear();
      at[t] = drawn[t][0];
      for (const int s : drawn[t]) {
        if (plain.Score(s) > plain.Score(at[t])) at[t] = s;
        if (plain.Leaf(s)) ends[t].push_back({s, plain.Score(s)});
      }
      if (!plain.Leaf(at[t])) continue;
      votes.insert(votes.end(), ends[t].begin(), ends[t].end());
      ends[t].clear();
    }
  }
  for (const Votes& some : ends) {
    votes.insert(votes.end(), some.begin(), some.end());
  }
  return votes;
}

TEST(DvtsTest, GrowsSubtreesAsAPlainLoopDoes) {
  for (uint64_t seed = 1; seed <= 25; ++seed) {
    const TreeWorld world = World(seed);
    for (const int iterations : {1, 2, 64}) {
      const SearchRun run =
          RunSearch(absl::StrCat("dvts:n=9:width=3:rounds=1:finish=false:iterations=",
                                 iterations == 64 ? 0 : iterations),
                    world);
      ReferenceWorld plain(world, run);
      EXPECT_EQ(run.answer,
                HighestSum(world, PlainDvts(plain, 3, 3, iterations)))
          << seed << " " << iterations;
      EXPECT_EQ(run.usage.tokens, plain.tokens());
    }
  }
}

TEST(DvtsTest, UnfinishedCandidatesAreNeverAnswers) {
  const TreeWorld world({.branching = 3, .depth = 4});
  const SearchRun run = RunSearch("dvts:n=8:rounds=1:iterations=3", world);
  EXPECT_TRUE(run.status.ok());
  EXPECT_EQ(run.node, kNoNode);
  EXPECT_TRUE(run.anytime.empty());
}

TEST(DvtsTest, FewerSamplesThanWidthAreOneSubtree) {
  const TreeWorld world = World(3);
  EXPECT_EQ(RunSearch("dvts:n=2:width=4:rounds=1", world).tree_text,
            RunSearch("dvts:n=7:width=4:rounds=1", world).tree_text);
}

}  // namespace
}  // namespace espalier
