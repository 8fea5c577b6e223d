#include "search/bandit/mixed_model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "tests/base/one_thread.h"

namespace espalier {
namespace {

using Rewards = std::vector<std::vector<double>>;  // by group

std::vector<RewardStats> Groups(const Rewards& rewards) {
  std::vector<RewardStats> groups(rewards.size());
  for (size_t j = 0; j < rewards.size(); ++j) {
    for (const double y : rewards[j]) groups[j].Add(y);
  }
  return groups;
}

// Data sets of several kinds.
const std::vector<Rewards>& Cases() {
  static const auto* cases = new std::vector<Rewards>{
      {{0.8, 0.7, 0.9}, {0.3}, {0.5, 0.55, 0.2, 0.6}, {0.65, 0.6}},
      {{0.62}},
      {{0.1}, {0.4}, {0.9}, {0.35}, {0.5}},
      {{0.5, 0.52, 0.48, 0.5, 0.51, 0.49}, {0.5, 0.51, 0.5}},
      {{0.9, 0.95, 1.0, 0.9, 1.0}, {0.1, 0.0, 0.2}, {0.0}},
  };
  return *cases;
}

// ln of the joint density of rewards and parameters, up to a constant, by the
// model's definition: the rewards of a group are jointly normal with covariance
// sigma^2 I + sigma_a^2 1 1^T.
double LogJoint(const Rewards& rewards, const MixedState& s) {
  const double a2 = s.sigma_a * s.sigma_a, s2 = s.sigma * s.sigma;
  double log_p = -0.5 * std::pow((s.mu - 0.5) / 0.2, 2) -
                 0.5 * a2 / (0.2 * 0.2) - 0.5 * s2 / (0.3 * 0.3);
  for (const std::vector<double>& group : rewards) {
    const double n = static_cast<double>(group.size());
    double sum = 0, squares = 0;
    for (const double y : group) {
      sum += y - s.mu;
      squares += (y - s.mu) * (y - s.mu);
    }
    log_p -= 0.5 * ((n - 1) * std::log(s2) + std::log(s2 + n * a2));
    log_p -= 0.5 * (squares - a2 / (s2 + n * a2) * sum * sum) / s2;
  }
  return log_p;
}

// The compared quantities: posterior means, and how often each arm has the
// highest prediction (the last one: a new group).
struct Summary {
  double mu = 0, sigma_a = 0, sigma = 0;
  std::vector<double> alpha;
  std::vector<double> wins;
  double weight = 0;

  explicit Summary(size_t groups) : alpha(groups), wins(groups + 1) {}
  void Normalise() {
    for (double* x : {&mu, &sigma_a, &sigma}) *x /= weight;
    for (double& x : alpha) x /= weight;
    for (double& x : wins) x /= weight;
  }
};

void ExpectNear(const Summary& got, const Summary& want, const char* what) {
  EXPECT_NEAR(got.mu, want.mu, 0.02) << what;
  EXPECT_NEAR(got.sigma_a, want.sigma_a, 0.02) << what;
  EXPECT_NEAR(got.sigma, want.sigma, 0.02) << what;
  for (size_t j = 0; j < want.alpha.size(); ++j) {
    EXPECT_NEAR(got.alpha[j], want.alpha[j], 0.02) << what << " " << j;
  }
  for (size_t j = 0; j < want.wins.size(); ++j) {
    EXPECT_NEAR(got.wins[j], want.wins[j], 0.03) << what << " arm " << j;
  }
}

// Given the parameters, predictions are independent normals: the chance that
// each is the highest, by quadrature.
void AddWins(const std::vector<double>& mean, const std::vector<double>& sd,
             double weight, std::vector<double>& wins) {
  double low = mean[0], high = mean[0], least = sd[0];
  for (size_t j = 0; j < mean.size(); ++j) {
    low = std::min(low, mean[j] - 4 * sd[j]);
    high = std::max(high, mean[j] + 4 * sd[j]);
    least = std::min(least, sd[j]);
  }
  const int points =
      std::clamp(static_cast<int>((high - low) / least * 2), 16, 400);
  const double step = (high - low) / points;
  std::vector<double> below(mean.size());
  for (int i = 0; i < points; ++i) {
    const double y = low + (i + 0.5) * step;
    for (size_t j = 0; j < mean.size(); ++j) {
      below[j] = 0.5 * std::erfc((mean[j] - y) / sd[j] / std::sqrt(2.0));
    }
    for (size_t j = 0; j < mean.size(); ++j) {
      const double z = (y - mean[j]) / sd[j];
      double p = std::exp(-0.5 * z * z) /
                 (sd[j] * std::sqrt(2 * std::numbers::pi)) * step;
      for (size_t k = 0; k < mean.size(); ++k) {
        if (k != j) p *= below[k];
      }
      wins[j] += weight * p;
    }
  }
}

// Adds the posterior's conditional means and wins at one point of the grid.
void AddPoint(const Rewards& rewards, const MixedState& s, double weight,
              Summary& sum) {
  sum.weight += weight;
  sum.mu += weight * s.mu;
  sum.sigma_a += weight * s.sigma_a;
  sum.sigma += weight * s.sigma;
  std::vector<double> mean, sd;
  for (size_t j = 0; j < rewards.size(); ++j) {
    double total = 0;
    for (const double y : rewards[j]) total += y;
    const double s2 = s.sigma * s.sigma;
    const double prior = 1 / (s.sigma_a * s.sigma_a);
    const double data = static_cast<double>(rewards[j].size()) / s2;
    mean.push_back((prior * s.mu + total / s2) / (prior + data));
    sd.push_back(std::sqrt(1 / (prior + data) + s2));
    sum.alpha[j] += weight * mean.back();
  }
  mean.push_back(s.mu);
  sd.push_back(std::sqrt(s.sigma_a * s.sigma_a + s.sigma * s.sigma));
  AddWins(mean, sd, weight, sum.wins);
}

struct Point {
  MixedState state;
  double log_p;  // of the cell around it
};

// Midpoints of a grid over mu in [low, high], ln sigma_a and ln sigma.
std::vector<Point> Grid(const Rewards& rewards, double low, double high,
                        int mus) {
  constexpr int kSigmaA = 40, kSigma = 44;
  const double a_low = std::log(1e-4), a_high = std::log(1.0);
  const double s_low = std::log(MixedModel::kMinSigma), s_high = std::log(1.5);
  std::vector<Point> points;
  for (int i = 0; i < mus; ++i) {
    const double mu = low + (high - low) * (i + 0.5) / mus;
    for (int j = 0; j < kSigmaA; ++j) {
      const double log_a = a_low + (a_high - a_low) * (j + 0.5) / kSigmaA;
      for (int k = 0; k < kSigma; ++k) {
        const double log_s = s_low + (s_high - s_low) * (k + 0.5) / kSigma;
        const MixedState s{mu, std::exp(log_a), std::exp(log_s)};
        points.push_back({s, LogJoint(rewards, s) + log_a + log_s});
      }
    }
  }
  double highest = -INFINITY;
  for (const Point& p : points) highest = std::max(highest, p.log_p);
  std::erase_if(points, [&](const Point& p) { return p.log_p < highest - 9; });
  for (Point& p : points) p.log_p -= highest;
  return points;
}

// The posterior by brute force: a first grid locates mu, a second one covers
// that range.
Summary Integrate(const Rewards& rewards) {
  double weight = 0, sum = 0, squares = 0;
  for (const Point& p : Grid(rewards, -0.4, 1.4, 150)) {
    const double w = std::exp(p.log_p);
    weight += w;
    sum += w * p.state.mu;
    squares += w * p.state.mu * p.state.mu;
  }
  const double mean = sum / weight;
  const double sd = std::sqrt(squares / weight - mean * mean);
  Summary all(rewards.size());
  for (const Point& p : Grid(rewards, mean - 5 * sd, mean + 5 * sd, 30)) {
    AddPoint(rewards, p.state, std::exp(p.log_p), all);
  }
  all.Normalise();
  return all;
}

enum class Start { kWarm, kCold };

// `decisions` decisions of `sweeps` sweeps each, as the search makes them.
Summary Decide(const Rewards& rewards, int decisions, int sweeps, Start start) {
  const std::vector<RewardStats> groups = Groups(rewards);
  const MixedModel model(groups);
  RandomStream random(StreamKey(1, 0, 0, Purpose::kTest));
  Summary sum(rewards.size());
  MixedState state;
  for (int d = 0; d < decisions; ++d) {
    if (start == Start::kCold) state = {};
    for (int i = 0; i < sweeps; ++i) model.Sweep(state, random);
    sum.weight += 1;
    sum.mu += state.mu;
    sum.sigma_a += state.sigma_a;
    sum.sigma += state.sigma;
    size_t best = rewards.size();
    double highest = MixedModel::PredictNew(state, random);
    for (size_t j = 0; j < rewards.size(); ++j) {
      const double y = MixedModel::Predict(state, groups[j], random);
      sum.alpha[j] += MixedModel::DrawAlpha(state, groups[j], random);
      if (y > highest) {
        highest = y;
        best = j;
      }
    }
    sum.wins[best] += 1;
  }
  sum.Normalise();
  return sum;
}

TEST(MixedModelTest, DensityIsThatOfTheModelUpToAConstant) {
  const MixedState states[] = {
      {0.5, 0.15, 0.2}, {0.7, 0.01, 0.3}, {0.2, 0.5, 0.05}, {0.9, 0.3, 0.001}};
  for (const Rewards& rewards : Cases()) {
    const MixedModel model(Groups(rewards));
    for (const MixedState& s : states) {
      const double got = model.LogDensity(s) - model.LogDensity(states[0]);
      const double want = LogJoint(rewards, s) - LogJoint(rewards, states[0]);
      EXPECT_NEAR(got, want, 1e-8 * (1 + std::abs(want)));
    }
  }
}

TEST(MixedModelTest, DecisionsAgreeWithBruteForceIntegration) {
  ESP_ONE_THREAD();
  for (size_t c = 0; c < Cases().size(); ++c) {
    SCOPED_TRACE(c);
    const Rewards& rewards = Cases()[c];
    const Summary exact = Integrate(rewards);
    ExpectNear(Decide(rewards, 10000, 20, Start::kWarm), exact, "warm");
    ExpectNear(Decide(rewards, 10000, 20, Start::kCold), exact, "cold");
  }
}

TEST(MixedModelTest, DecisionsAgreeWithAChainOfTwentyThousandSweeps) {
  ESP_ONE_THREAD();
  for (size_t c = 0; c < Cases().size(); ++c) {
    SCOPED_TRACE(c);
    const Rewards& rewards = Cases()[c];
    const Summary chain = Decide(rewards, 20000, 1, Start::kWarm);
    ExpectNear(Decide(rewards, 10000, 20, Start::kWarm), chain, "warm");
    ExpectNear(Decide(rewards, 10000, 20, Start::kCold), chain, "cold");
  }
}

TEST(MixedModelTest, WithoutRewardsThePriorIsLeft) {
  const MixedModel model(Groups({{}, {}}));
  RandomStream random(StreamKey(3, 0, 0, Purpose::kTest));
  MixedState state;
  double mu = 0, sigma_a = 0, sigma = 0;
  constexpr int kSweeps = 50000;
  for (int i = 0; i < kSweeps; ++i) {
    model.Sweep(state, random);
    mu += state.mu;
    sigma_a += state.sigma_a;
    sigma += state.sigma;
  }
  const double half = std::sqrt(2 / std::numbers::pi);  // mean of HalfN(1)
  EXPECT_NEAR(mu / kSweeps, 0.5, 0.01);
  EXPECT_NEAR(sigma_a / kSweeps, 0.2 * half, 0.01);
  EXPECT_NEAR(sigma / kSweeps, 0.3 * half, 0.01);
}

TEST(MixedModelTest, EqualRewardsStayFinite) {
  const std::vector<RewardStats> groups =
      Groups({std::vector<double>(50, 0.5), std::vector<double>(50, 0.5)});
  const MixedModel model(groups);
  RandomStream random(StreamKey(4, 0, 0, Purpose::kTest));
  MixedState state;
  for (int i = 0; i < 200; ++i) model.Sweep(state, random);
  EXPECT_GE(state.sigma, MixedModel::kMinSigma);
  EXPECT_LT(state.sigma, 0.002);
  EXPECT_NEAR(MixedModel::Predict(state, groups[0], random), 0.5, 0.02);
}

}  // namespace
}  // namespace espalier
