// Momentum-uncertainty branching and foresight sampling.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "search/sampling/foresight.h"
#include "search/sampling/momentum.h"
#include "tests/search/reference_world.h"

namespace espalier {
namespace {

using Votes = std::vector<std::pair<int, float>>;

TEST(MomentumTest, AveragesExponentiallyFromZero) {
  Momentum momentum(0.9, 0.9);
  momentum.Add(1);
  EXPECT_NEAR(momentum.value(), 0.1, 1e-12);
  momentum.Add(2);
  EXPECT_NEAR(momentum.value(), 0.29, 1e-12);  // .9 * .1 + .1 * 2
}

TEST(MomentumTest, ComparesPerplexities) {
  Momentum momentum(0.5, 0.5);
  EXPECT_FALSE(momentum.Exceeded(100));  // the first step
  momentum.Add(2 * std::log(3.0));       // M = ln 3: the limit is 3 / .5 = 6
  EXPECT_FALSE(momentum.Exceeded(std::log(5.9)));
  EXPECT_TRUE(momentum.Exceeded(std::log(6.1)));
  Momentum never(0.5, 0);
  never.Add(0);
  EXPECT_FALSE(never.Exceeded(50));
}

int PlainMur(ReferenceWorld& plain, int candidates, bool reward) {
  int place = 0;
  double momentum = 0;
  for (int step = 0; !plain.Leaf(place); ++step) {
    int best = plain.Next(place, 1);
    if (step > 0 && -plain.LogProb(best) > momentum - std::log(0.9f)) {
      for (int i = 1; i < candidates; ++i) {
        const int other = plain.Next(place, 1);
        if (reward ? plain.Score(other) > plain.Score(best)
                   : plain.LogProb(other) > plain.LogProb(best)) {
          best = other;
        }
      }
    }
    momentum = 0.9f * momentum - (1 - double{0.9f}) * plain.LogProb(best);
    place = best;
  }
  return place;
}

TEST(MurTest, ScalesUncertainStepsAsAPlainLoopDoes) {
  for (uint64_t seed = 1; seed <= 25; ++seed) {
    const TreeWorld world({.seed = seed,
                           .depth = 5,
                           .early_leaf = 0.2,
                           .scores = Scores::kNoisy});
    for (const bool reward : {true, false}) {
      const SearchRun run =
          RunSearch(reward ? "mur:n=5:choice=majority"
                           : "mur:by=likelihood:n=5:choice=majority",
                    world);
      ReferenceWorld plain(world, run);
      Votes votes;
      for (int i = 0; i < 5; ++i) {
        votes.push_back({PlainMur(plain, 4, reward), 1.0f});
      }
      EXPECT_EQ(run.answer, HighestSum(world, votes)) << seed << reward;
      EXPECT_EQ(run.usage.tokens, plain.tokens());
    }
  }
}

TEST(MurTest, OneCandidateIsPlainSampling) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const TreeWorld world({.seed = seed});
    EXPECT_EQ(
        RunSearch("mur:by=likelihood:n=7:candidates=1:choice=majority", world)
            .tree_text,
        RunSearch("majority:n=7", world).tree_text);
    EXPECT_EQ(RunSearch("mur:by=likelihood:n=7:gamma=0:choice=majority", world)
                  .tree_text,
              RunSearch("majority:n=7", world).tree_text);
  }
}

TEST(ForesightTest, WidthKeepsWhatIsNotFarBelowTheMean) {
  // Mean -2, standard deviation sqrt(2).
  const std::vector<double> x = {-1, -1, -1, -4, -3};
  EXPECT_EQ(PruneWidth(x, 1, 1), (std::vector<size_t>{0, 1, 2, 4}));
  EXPECT_EQ(PruneWidth(x, 0.5, 1), (std::vector<size_t>{0, 1, 2}));
  EXPECT_EQ(PruneWidth(x, 0.5, 4), (std::vector<size_t>{0, 1, 2, 4}));
  EXPECT_EQ(PruneWidth(x, 0, 1), (std::vector<size_t>{0, 1, 2, 3, 4}));
  // Equal ones are not above their mean: the first stay.
  EXPECT_EQ(PruneWidth({-2, -2, -2}, 1, 2), (std::vector<size_t>{0, 1}));
}

TEST(ForesightTest, SharesOfEqualOutcomes) {
  EXPECT_EQ(ClusterShares({"a", "b", "a", "a"}),
            (std::vector<double>{0.75, 0.25, 0.75, 0.75}));
}

TEST(ForesightTest, JointIsTheMeanOfTwoSoftmaxes) {
  // Advantages ln 3 * tau apart: 3/4 and 1/4. Shares ln 2 apart: 2/3 and 1/3.
  const double tau = 0.1;
  const auto w =
      JointWeights({tau * std::log(3.0), 0}, {std::log(2.0), 0}, tau);
  EXPECT_NEAR(w[0], (3.0 / 4 + 2.0 / 3) / 2, 1e-12);
  EXPECT_NEAR(w[1], (1.0 / 4 + 1.0 / 3) / 2, 1e-12);
}

struct PlainSample {
  int place;
  double f_before;
  double f = 0;
  int end = 0;
};

double MeanBelow(const TreeWorld& world, const ReferenceWorld& plain, int above,
                 int end) {
  double sum = 0, n = 0;
  for (int at = end; at != above; at = world[at].parent, ++n) {
    sum += plain.LogProb(at);
  }
  return sum / n;
}

// Samples above mean - sigma * deviation, or among the `least` likeliest.
std::vector<PlainSample> Likely(const ReferenceWorld& plain,
                                const std::vector<PlainSample>& samples,
                                double sigma, size_t least) {
  double n = 0, sum = 0, squares = 0;
  for (const PlainSample& s : samples) {
    const double x = plain.LogProb(s.place);
    n += 1;
    sum += x;
    squares += x * x;
  }
  const double limit =
      sum / n - sigma * std::sqrt(squares / n - sum / n * (sum / n));
  std::vector<PlainSample> kept;
  for (size_t i = 0; i < samples.size(); ++i) {
    const double x = plain.LogProb(samples[i].place);
    size_t before = 0;  // samples that come first by likelihood
    for (size_t j = 0; j < samples.size(); ++j) {
      const double y = plain.LogProb(samples[j].place);
      before += y > x || (y == x && j < i);
    }
    if (x > limit || before < least) kept.push_back(samples[i]);
  }
  return kept;
}

// One pass. sigma < 0: no pruning in width.
Votes PlainPhi(const TreeWorld& world, ReferenceWorld& plain, size_t beams,
               int rollouts, int foresight, double sigma, float stop) {
  Votes votes;
  bool agreed = false;
  RandomStream random = plain.Choices();
  std::vector<PlainSample> paths(beams, {0, 0});
  for (int step = 1; !paths.empty() && !agreed; ++step) {
    std::vector<PlainSample> samples;
    for (const PlainSample& path : paths) {
      for (int i = 0; i < rollouts; ++i) {
        samples.push_back({plain.Next(path.place, 1), path.f});
      }
    }
    if (sigma >= 0) samples = Likely(plain, samples, sigma, paths.size());
    // Foresight goes step by step over all samples, as its draws do.
    std::vector<int> ends;
    for (int k = 0; k <= foresight; ++k) {
      ends.clear();
      for (const auto& s : samples) ends.push_back(plain.Greedy(s.place, k));
    }
    std::vector<double> a, c;
    double sum_a = 0, sum_c = 0;
    for (size_t i = 0; i < samples.size(); ++i) {
      PlainSample& s = samples[i];
      s.f = MeanBelow(world, plain,
                      ends[i] == s.place ? world[s.place].parent : s.place,
                      ends[i]);
      double same = 0;  // an unfinished end is known by its move alone
      for (const int e : ends) {
        same += plain.Leaf(e) == plain.Leaf(ends[i]) &&
                (plain.Leaf(e) ? e == ends[i]
                               : world[e].move == world[ends[i]].move);
      }
      agreed |= step >= 2 && same / static_cast<double>(ends.size()) > stop;
      a.push_back(std::exp((s.f - s.f_before) / double{0.1f}));
      c.push_back(std::exp(same / static_cast<double>(ends.size())));
      sum_a += a.back();
      sum_c += c.back();
    }
    std::vector<double> w;
    for (size_t i = 0; i < a.size(); ++i) {
      w.push_back((a[i] / sum_a + c[i] / sum_c) / 2);
    }
    std::vector<PlainSample> next;
    for (size_t drawn = 0; drawn < paths.size(); ++drawn) {
      double total = 0;
      for (const double x : w) total += x;
      double u = random.UniformDouble() * total;
      size_t i = 0;
      while (w[i] == 0 || u >= w[i]) u -= w[i++];
      w[i] = 0;
      if (plain.Leaf(samples[i].place)) {
        votes.push_back({samples[i].place, 1});
      } else {
        next.push_back(samples[i]);
      }
    }
    paths = next;
  }
  for (bool open = true; open;) {  // to the ends without foresight
    open = false;
    for (PlainSample& path : paths) {
      if (plain.Leaf(path.place)) continue;
      path.place = plain.Next(path.place, 1);
      open = true;
    }
  }
  for (const PlainSample& path : paths) votes.push_back({path.place, 1});
  return votes;
}

TEST(PhiTest, DrawsByForesightAsAPlainLoopDoes) {
  for (uint64_t seed = 1; seed <= 25; ++seed) {
    const TreeWorld world(
        {.seed = seed, .branching = 3, .depth = 4, .early_leaf = 0.2});
    for (const int foresight : {0, 1, 3}) {
      for (const auto& [sigma, stop] : {std::pair{-1.0, 1.0f}, {0.5, 0.5f}}) {
        const SearchRun run =
            RunSearch(absl::StrCat("phi:beams=3:rollouts=3:rounds=1:least=2:"
                                   "foresight=",
                                   foresight, ":sigma=", std::max(sigma, 0.0),
                                   ":stop=", stop),
                      world);
        ReferenceWorld plain(world, run);
        EXPECT_EQ(run.answer,
                  HighestSum(world, PlainPhi(world, plain, 3, 3, foresight,
                                             sigma, stop)))
            << seed << " " << foresight << " " << sigma;
        EXPECT_EQ(run.usage.tokens, plain.tokens());
      }
    }
  }
}

TEST(PhiTest, AgreementEndsForesight) {
  const TreeWorld world({.seed = 5, .depth = 6});
  // Any share is above 0: from the second step on nothing is foreseen.
  const SearchRun early = RunSearch("phi:stop=0:least=1:rounds=1", world);
  const SearchRun never = RunSearch("phi:stop=1:rounds=1", world);
  EXPECT_LT(early.usage.tokens, never.usage.tokens);
  EXPECT_FALSE(early.answer.empty());
}

}  // namespace
}  // namespace espalier
