// `guided` against a plain loop, complete and with each part removed: agreement
// of siblings, early acceptance, the draft, the budget rule.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "tests/search/reference_world.h"

namespace espalier {
namespace {

using VoteList = std::vector<std::pair<int, float>>;

struct Settings {
  int width = 1;
  int branch = 4;
  int rounds = 1;
  double frequency = 1;
  double likelihood = 0;
  double accept = 0.9;
  bool draft = true;
  int64_t budget = 0;   // tokens; 0: no limit
  bool rations = true;  // the budget rule; not an option of the method

  std::string Spec() const {
    return absl::StrCat("guided:width=", width, ":branch=", branch,
                        ":rounds=", rounds, ":frequency=", frequency,
                        ":likelihood=", likelihood, ":accept=", accept,
                        ":draft=", draft);
  }
};

// The method as described in its header, over the world's places.
class PlainGuided {
 public:
  PlainGuided(const TreeWorld& world, const SearchRun& run,
              const Settings& settings)
      : world_(world), plain_(world, run), s_(settings) {}

  void Run() {
    if (s_.draft) WriteDraft();
    for (int round = 0; round < s_.rounds; ++round) {
      Pass();
      drafted_.clear();
    }
  }
  // The answer of the votes; the draft's if nothing else ended.
  std::string answer() const {
    return votes_.empty() && draft_end_ >= 0 ? world_.Answer(draft_end_)
                                             : HighestSum(world_, votes_);
  }
  int64_t tokens() const { return plain_.tokens(); }
  // Steps that got fewer samples than `branch`.
  int rationed() const { return rationed_; }

 private:
  int Next(int place, float temperature) {
    const int next = plain_.Next(place, temperature);
    if (std::count(made_.begin(), made_.end(), next) == 0) {
      made_.push_back(next);
    }
    return next;
  }
  // The order of first visits, which breaks ties.
  size_t Made(int place) const {
    return static_cast<size_t>(std::find(made_.begin(), made_.end(), place) -
                               made_.begin());
  }
  int Depth(int place) const {
    int depth = 0;
    for (; place != 0; place = world_[place].parent) ++depth;
    return depth;
  }
  double LogWorth(int place) const {
    double log_p = 0;
    for (int at = place; at != 0; at = world_[at].parent) {
      log_p += plain_.LogProb(at);
    }
    // Scores of 0 count as this value.
    return std::log(std::max(plain_.Score(place), 1e-9f)) +
           s_.likelihood * log_p;
  }
  bool Accepted(int place) const {
    const int parent = world_[place].parent;
    const double before = parent == 0 ? 0 : LogWorth(parent);
    return LogWorth(place) - before >= std::log(s_.accept);
  }

  void WriteDraft() {
    int at = 0;
    while (!plain_.Leaf(at)) {
      at = Next(at, 0);
      drafted_.push_back(at);
    }
    draft_end_ = at;
    whole_ = Depth(at);
  }

  // Samples of the current step: the remaining budget, divided by the steps
  // that the draft predicts.
  int Affordable(const std::vector<int>& kept) {
    if (s_.budget == 0 || whole_ == 0) return s_.branch;
    const int64_t rest =
        std::max<int64_t>(whole_ - Depth(kept[0]), whole_ / 10 + 1);
    const int64_t share = (s_.budget - plain_.tokens()) /
                          (rest * static_cast<int64_t>(kept.size()));
    rationed_ += share < s_.branch;
    return static_cast<int>(std::clamp<int64_t>(share, 1, s_.branch));
  }

  std::vector<int> Propose(int parent, int branch) {
    std::vector<int> samples;
    for (const int place : drafted_) {
      if (world_[place].parent == parent) samples.push_back(place);
    }
    if (s_.accept == 0) {
      const int more =
          std::max<int>(1, branch - static_cast<int>(samples.size()));
      for (int i = 0; i < more; ++i) samples.push_back(Next(parent, 1));
      return samples;
    }
    while (samples.empty() || (!Accepted(samples.back()) &&
                               static_cast<int>(samples.size()) < branch)) {
      samples.push_back(Next(parent, 1));
    }
    return samples;
  }

  void Pass() {
    std::vector<int> kept = {0};
    size_t places = static_cast<size_t>(s_.width);
    while (!kept.empty() && places > 0) {
      const int branch = Affordable(kept);
      std::vector<std::pair<double, int>> ranked;
      for (const int parent : kept) {
        const std::vector<int> samples = Propose(parent, branch);
        std::vector<int> distinct = samples;
        std::sort(distinct.begin(), distinct.end(),
                  [&](int a, int b) { return Made(a) < Made(b); });
        distinct.erase(std::unique(distinct.begin(), distinct.end()),
                       distinct.end());
        for (const int place : distinct) {
          const double share = static_cast<double>(std::count(
                                   samples.begin(), samples.end(), place)) /
                               static_cast<double>(samples.size());
          ranked.push_back(
              {LogWorth(place) + s_.frequency * std::log(share), place});
        }
      }
      std::stable_sort(
          ranked.begin(), ranked.end(),
          [](const auto& a, const auto& b) { return a.first > b.first; });
      ranked.resize(std::min(ranked.size(), places));
      kept.clear();
      for (const auto& [rank, place] : ranked) {
        if (!plain_.Leaf(place)) {
          kept.push_back(place);
          continue;
        }
        --places;
        votes_.push_back({place, plain_.Score(place)});
      }
    }
  }

  const TreeWorld& world_;
  ReferenceWorld plain_;
  const Settings s_;
  std::vector<int> made_;
  std::vector<int> drafted_;
  int draft_end_ = -1;
  int64_t whole_ = 0;
  int rationed_ = 0;
  VoteList votes_;
};

// In every fifth world all steps score the same.
TreeWorld World(uint64_t seed, double early_leaf = 0.25) {
  return TreeWorld({.seed = seed,
                    .branching = 3,
                    .depth = 4,
                    .early_leaf = early_leaf,
                    .scores = seed % 5 == 0 ? Scores::kEqual : Scores::kNoisy});
}

constexpr int kWorlds = 40;

SearchRun Search(const Settings& settings, const TreeWorld& world) {
  SearchRun run =
      RunSearch(settings.Spec(), world, {.tokens = settings.budget});
  EXPECT_TRUE(run.status.ok()) << run.status;
  return run;
}

// Returns the number of rationed steps over all worlds.
int ExpectAsThePlainLoop(const Settings& settings, double early_leaf = 0.25) {
  int rationed = 0;
  for (uint64_t seed = 1; seed <= kWorlds; ++seed) {
    const TreeWorld world = World(seed, early_leaf);
    const SearchRun run = Search(settings, world);
    PlainGuided plain(world, run, settings);
    plain.Run();
    EXPECT_EQ(run.answer, plain.answer()) << settings.Spec() << " " << seed;
    EXPECT_EQ(run.usage.tokens, plain.tokens())
        << settings.Spec() << " " << seed;
    rationed += plain.rationed();
  }
  return rationed;
}

// Worlds where two settings end with different answers or costs, that is, where
// ExpectAsThePlainLoop can tell them apart.
struct Differences {
  int answers = 0;
  int tokens = 0;
};
Differences Compare(const Settings& a, const Settings& b) {
  Differences differ;
  for (uint64_t seed = 1; seed <= kWorlds; ++seed) {
    const TreeWorld world = World(seed);
    const SearchRun of_a = Search(a, world), of_b = Search(b, world);
    differ.answers += of_a.answer != of_b.answer;
    differ.tokens += of_a.usage.tokens != of_b.usage.tokens;
  }
  return differ;
}

TEST(GuidedTest, WritesAsAPlainLoopDoes) {
  for (const int width : {1, 2, 4}) {
    for (const int rounds : {1, 3}) {
      const Settings settings{.width = width, .rounds = rounds};
      ExpectAsThePlainLoop(settings);
      Settings other = settings;
      other.accept = 0;
      ExpectAsThePlainLoop(other);
      other.draft = false;
      other.likelihood = 0.3;
      ExpectAsThePlainLoop(other);
      other.accept = 0.6;
      other.frequency = 0.4;
      ExpectAsThePlainLoop(other);
    }
  }
}

TEST(GuidedTest, WhatTheSamplesAgreeOnRanksHigher) {
  const Settings with{.branch = 8, .accept = 0, .draft = false};
  ExpectAsThePlainLoop(with);
  Settings without = with;
  without.frequency = 0;
  EXPECT_GE(Compare(with, without).answers, kWorlds / 8);
}

TEST(GuidedTest, AStepThatIsSureCostsOneSample) {
  const Settings with{.branch = 8, .draft = false};
  ExpectAsThePlainLoop(with);
  Settings without = with;
  without.accept = 0;
  EXPECT_GE(Compare(with, without).tokens, kWorlds / 2);
}

TEST(GuidedTest, TheDraftIsAnAnswerAndACandidate) {
  const Settings with{.branch = 3};
  ExpectAsThePlainLoop(with);
  Settings without = with;
  without.draft = false;
  const Differences differ = Compare(with, without);
  EXPECT_GE(differ.tokens, kWorlds / 2);
  EXPECT_GE(differ.answers, kWorlds / 8);
  // A budget that covers only the draft gives greedy's answer.
  for (uint64_t seed = 1; seed <= kWorlds; ++seed) {
    const TreeWorld world = World(seed, 0);
    EXPECT_EQ(RunSearch("guided:draft=true", world, {.tokens = 4}).answer,
              RunSearch("greedy", world).answer);
  }
}

// In these worlds responses take four tokens, as the draft says.
TEST(GuidedTest, APassEndsWithinTheBudgetByAskingForFewerSamples) {
  for (const int64_t budget : {9, 12, 18, 30}) {
    const Settings one{.branch = 8, .accept = 0, .budget = budget};
    EXPECT_GE(ExpectAsThePlainLoop(one, 0), kWorlds) << budget;
    const Settings two{.width = 2, .branch = 8, .budget = 9 + budget};
    EXPECT_GE(ExpectAsThePlainLoop(two, 0), kWorlds) << budget;
  }
}

}  // namespace
}  // namespace espalier
