// Beam search, DVTS and lookahead against plain loops.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tests/search/reference_world.h"

namespace espalier {
namespace {

using VoteList = std::vector<std::pair<int, float>>;

// In every fifth world all steps score the same.
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

// Beam search as `beam` does it: the kept paths are sampled in turn, their
// distinct steps ranked, the best `width` kept; a finished path gives up its
// place.
VoteList PlainBeam(ReferenceWorld& plain, int width, int branch) {
  VoteList votes, kept = {{0, 0}};
  for (size_t places = static_cast<size_t>(width);
       !kept.empty() && places > 0;) {
    VoteList candidates;
    std::vector<std::vector<int>> drawn;
    for (const auto& path : kept) {
      std::vector<int>& steps = drawn.emplace_back();
      for (int i = 0; i < branch; ++i)
        steps.push_back(plain.Next(path.first, 1));
    }
    for (std::vector<int>& steps : drawn) {
      std::vector<int> distinct;  // in order of their first sample
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
      const SearchRun run = RunSearch(
          absl::StrCat("beam:rounds=1:width=", width, ":branch=", branch),
          world);
      ReferenceWorld plain(world, run);
      EXPECT_EQ(run.answer, HighestSum(world, PlainBeam(plain, width, branch)))
          << seed << " " << width;
      EXPECT_EQ(run.usage.tokens, plain.tokens());
    }
  }
}

// Lookahead (search-and-learn's beam search for k = 0).
VoteList PlainLookahead(ReferenceWorld& plain, size_t n, size_t width, int k) {
  VoteList votes;
  std::vector<int> kept = {0};
  while (!kept.empty() && votes.size() < n) {
    std::vector<int> samples, open;
    for (size_t i = 0; i < n; ++i) {
      samples.push_back(plain.Next(kept[i % kept.size()], 1));
    }
    for (const int s : samples) {
      if (plain.Leaf(s)) {
        if (votes.size() < n) votes.push_back({s, plain.Score(s)});
      } else if (std::count(open.begin(), open.end(), s) == 0) {
        open.push_back(s);
      }
    }
    std::map<int, float> ahead;
    for (const int s : open) ahead[s] = plain.Score(plain.Greedy(s, k));
    // The worst is dropped, the first of equals, until all have a place.
    while (open.size() > n / width) {
      open.erase(std::min_element(open.begin(), open.end(), [&](int a, int b) {
        return ahead[a] < ahead[b];
      }));
    }
    kept = open;
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
    // All leaves have the same depth: both forms finish in the same step.
    const TreeWorld world({.seed = seed, .scores = Scores::kNoisy});
    EXPECT_EQ(
        RunSearch("lookahead:n=4:width=4:k=0:rounds=1:choice=best", world)
            .answer,
        RunSearch("beam:width=1:branch=4:rounds=1:choice=best", world).answer);
  }
}

// DVTS. The last of `iterations` steps continues to the end.
VoteList PlainDvts(ReferenceWorld& plain, int subtrees, int width,
                   int iterations) {
  // By subtree and step; the search iterates over steps first.
  std::vector<int> at(static_cast<size_t>(subtrees), 0);
  std::vector<VoteList> ends(at.size());
  VoteList votes;
  for (int step = 0; step < iterations; ++step) {
    std::vector<std::vector<int>> drawn(at.size());
    for (size_t t = 0; t < at.size(); ++t) {
      for (int i = 0; !plain.Leaf(at[t]) && i < width; ++i) {
        drawn[t].push_back(plain.Next(at[t], 1));
      }
    }
    for (bool open = step + 1 == iterations; open;) {
      open = false;
      for (std::vector<int>& samples : drawn) {
        for (int& s : samples) {
          if (plain.Leaf(s)) continue;
          s = plain.Next(s, 1);
          open = true;
        }
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
  for (const VoteList& some : ends) {
    votes.insert(votes.end(), some.begin(), some.end());
  }
  return votes;
}

TEST(DvtsTest, GrowsSubtreesAsAPlainLoopDoes) {
  for (uint64_t seed = 1; seed <= 25; ++seed) {
    const TreeWorld world = World(seed);
    for (const int iterations : {1, 2, 64}) {
      const SearchRun run = RunSearch(
          absl::StrCat("dvts:n=9:width=3:rounds=1:finish=false:iterations=",
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
  const SearchRun run =
      RunSearch("dvts:n=8:rounds=1:finish=false", world, {.tokens = 24});
  EXPECT_TRUE(run.status.ok());
  EXPECT_EQ(run.usage.tokens, 24);
  EXPECT_EQ(run.node, kNoNode);
  EXPECT_TRUE(run.anytime.empty());
}

TEST(DvtsTest, GreedyStepsJudgeAStepByWhereItLeads) {
  // Only leaves have different scores: only looking ahead to them keeps the
  // step that leads to the better one.
  int better = 0;
  for (uint64_t seed = 1; seed <= 25; ++seed) {
    const TreeWorld world({.seed = seed, .depth = 3, .scores = Scores::kLeaf});
    const SearchRun blind = RunSearch("dvts:n=8:rounds=1:choice=best", world);
    const SearchRun seeing =
        RunSearch("dvts:n=8:rounds=1:choice=best:k=2", world);
    better += seeing.score > blind.score;
    better -= seeing.score < blind.score;
    EXPECT_GT(seeing.usage.tokens, blind.usage.tokens);
  }
  EXPECT_GE(better, 5);
}

TEST(DvtsTest, SubtreesHaveTheSameNumberOfSamples) {
  for (const char* method : {"dvts:n=2:width=4", "dvts:n=7:width=4"}) {
    const auto made = MakeAlgorithm(method);
    ASSERT_FALSE(made.ok());
    EXPECT_TRUE(absl::StrContains(made.status().message(), "not a multiple"));
  }
}

TEST(LookaheadTest, TheLastStepGoesOnToTheEnd) {
  const TreeWorld world({.seed = 3, .branching = 3, .depth = 6});
  const SearchRun run =
      RunSearch("lookahead:n=4:width=2:k=0:rounds=1:iterations=2", world);
  // Four samples of one step, then four responses from the kept steps.
  EXPECT_EQ(run.usage.tokens, 4 + 4 * 5);
  EXPECT_FALSE(run.answer.empty());
}

}  // namespace
}  // namespace espalier
