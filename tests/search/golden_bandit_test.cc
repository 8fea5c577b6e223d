// AB-MCTS against TreeQuest.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/files.h"
#include "nlohmann/json.hpp"
#include "search/bandit/mixed_model.h"
#include "search/bandit/model_arms.h"
#include "search/bandit/pruning.h"
#include "search/bandit/thompson.h"
#include "tests/base/one_thread.h"
#include "tests/search/golden_world.h"
#include "tests/search/tree_world.h"

namespace espalier {
namespace {

bool IsDistribution(const GoldenRun& run) {
  return run.trace.contains("distributions");
}

// Whether one of the first `generated` nodes is a child of `node`, written by
// `model` unless that is -1.
bool HasChild(const GoldenRun& run, int node, size_t generated,
              int model = -1) {
  const nlohmann::json& nodes = run.trace.at("world").at("nodes");
  for (size_t i = 1; i <= generated; ++i) {
    if (run.world.nodes[i].parent != node) continue;
    if (model < 0 || nodes[i].at("model") == model) return true;
  }
  return false;
}

// How many simulations are requested before any result is returned.
size_t BatchOf(const GoldenRun& run) {
  return run.trace.at("settings").value("batch_size", size_t{1});
}

// The program's draws that our search makes too. It draws nothing when the
// choice is certain: at a node without children or with a single one.
// `of_models`: draws for the choice of a model, by simulation.
struct Draws {
  std::vector<double> all;
  std::vector<std::vector<double>> of_models;
};

// AB-MCTS-A: values of Student's t, or of beta draws: for GEN, for CONT, for
// the children if CONT won, for the models.
Draws DrawsOfA(const GoldenRun& run) {
  Draws draws;
  const size_t batch = BatchOf(run);
  size_t decided = 0;
  for (const auto& decisions : run.trace.at("decisions")) {
    const size_t generated = decided - decided % batch;
    for (const auto& at : decisions) {
      std::vector<double> drawn;
      if (at.contains("t")) {
        drawn = at.at("t").get<std::vector<double>>();
      } else {
        drawn = at.at("gen_cont").get<std::vector<double>>();
        const auto worths = at.value("worth", std::vector<double>{});
        drawn.insert(drawn.end(), worths.begin(), worths.end());
      }
      const size_t children = at.value("children", std::vector<int>{}).size();
      auto next = drawn.begin() + 2;
      // model_choice=stack: first those of the models.
      const int model = at.value("model", -1);
      if (model >= 0) {
        const std::vector<double> of_models = at.at("t_models");
        draws.all.insert(draws.all.end(), of_models.begin(), of_models.end());
      }
      if (HasChild(run, at.at("at"), generated, model)) {
        draws.all.insert(draws.all.end(), drawn.begin(), next);
      }
      const auto models = next + static_cast<std::ptrdiff_t>(children);
      if (children != 1) draws.all.insert(draws.all.end(), next, models);
      draws.all.insert(draws.all.end(), models, drawn.end());
      if (at.at("chose").is_string()) {
        draws.of_models.emplace_back(models, drawn.end());
      }
    }
    ++decided;
  }
  return draws;
}

// AB-MCTS-M: predictive draws of the children and of GEN. Models are chosen at
// random among `models`.
Draws DrawsOfM(const GoldenRun& run, int models) {
  Draws draws;
  auto next = run.random.begin();
  size_t simulation = 0;
  for (const auto& decisions : run.trace.at("decisions")) {
    for (const auto& at : decisions) {
      const auto arms =
          static_cast<std::ptrdiff_t>(at.at("children").size()) + 1;
      if (arms > 1) draws.all.insert(draws.all.end(), next, next + arms);
      next += arms;
    }
    if (models > 0) {
      const double model = run.trace.at("models").at(simulation);
      draws.all.push_back((model + 0.5) / models);
    }
    draws.of_models.emplace_back();
    ++simulation;
  }
  EXPECT_EQ(next, run.random.end()) << run.name;
  return draws;
}

// The program returns the best answer of its tree; our search returns only
// finished responses, and none finishes here.
void ExpectSameTreeAndBest(GoldenRun run, const Draws& draws) {
  run.random = draws.all;
  // Our search reports them one after another; visits are compared after the
  // last.
  const std::vector<std::vector<int>> each = run.trace.at("visits");
  std::vector<std::vector<int>> visits;
  for (size_t i = 0; i < each.size(); ++i) {
    if (i % BatchOf(run) == 0) visits.emplace_back();
    visits.back().insert(visits.back().end(), each[i].begin(), each[i].end());
  }
  run.trace["visits"] = visits;
  const GoldenSearch ours = RunGolden(run);
  ExpectSameTrace(run, ours, {.answer = false});
  const Tree& tree = ours.tree();
  NodeId best = kRoot;
  for (NodeId id = 1; id < tree.size(); ++id) {
    if (best == kRoot ||
        tree.step(id).path_score > tree.step(best).path_score) {
      best = id;
    }
  }
  EXPECT_EQ(ours.of[run.trace.at("answer_node").get<size_t>()], best)
      << run.name;
}

// The model used in each simulation.
void ExpectSameModels(const GoldenRun& run, const Draws& draws, int models,
                      ModelChoice choice, const ThompsonPrior& prior) {
  ModelArms arms(models, choice);
  const std::vector<int> theirs = run.trace.at("models");
  for (size_t i = 0; i < theirs.size(); ++i) {
    RecordedDraws recorded{draws.of_models[i]};
    RandomStream random(&recorded);
    EXPECT_EQ(arms.Choose([&](const RewardStats& seen) {
      return prior.Draw(seen, random);
    }),
              theirs[i])
        << run.name << ": model of simulation " << i + 1;
    EXPECT_EQ(recorded.next, recorded.values.size()) << run.name;
    arms.Add(theirs[i], run.world.nodes[i + 1].score);
  }
}

TEST(GoldenBanditTest, AbMctsAGrowsTheSameTreeByTheSameDraws) {
  int compared = 0;
  for (const GoldenRun& run : ReadGolden("treequest_a").runs) {
    if (IsDistribution(run)) continue;
    const Draws draws = DrawsOfA(run);
    ExpectSameTreeAndBest(run, draws);
    ++compared;
    const nlohmann::json& settings = run.trace.at("settings");
    ThompsonPrior prior;
    prior.m = settings.value("m", prior.m);
    prior.kappa = settings.value("kappa", prior.kappa);
    prior.nu = settings.value("nu", prior.nu);
    prior.tau2 = settings.value("tau_square", prior.tau2);
    // With model_choice=stack each node chooses for itself.
    const bool stack = absl::StrContains(run.method, "model_choice=stack");
    const size_t at = run.method.find(":models=");
    if (at == std::string::npos || stack) continue;
    const int models = run.method[at + 8] - '0';
    const bool ucb = absl::StrContains(run.method, "model_choice=ucb");
    ExpectSameModels(run, draws, models,
                     ucb ? ModelChoice::kUcb : ModelChoice::kThompson, prior);
  }
  EXPECT_EQ(compared, 19);
}

TEST(GoldenBanditTest, AbMctsMGrowsTheSameTreeByTheSameWorths) {
  int compared = 0;
  for (const GoldenRun& run : ReadGolden("treequest_m").runs) {
    if (IsDistribution(run)) continue;
    const bool random = run.method.ends_with("model_choice=random");
    const Draws draws = DrawsOfM(run, random ? 2 : 0);
    ExpectSameTreeAndBest(run, draws);
    ++compared;
    if (run.name == "three models by UCB") {
      ExpectSameModels(run, draws, 3, ModelChoice::kUcb, {});
    }
  }
  EXPECT_EQ(compared, 7);
}

nlohmann::json TableOfM(const char* name) {
  const auto text = ReadFile("tests/search/golden/treequest_m.json");
  EXPECT_TRUE(text.ok()) << text.status();
  return nlohmann::json::parse(*text).at(name);
}

TEST(GoldenBanditTest, TheSameSubtreesArePruned) {
  for (const auto& row : TableOfM("pruning")) {
    SubtreePruning pruning(4, 0.75);
    for (const double score : row.at("scores")) pruning.Add(1, score);
    EXPECT_EQ(pruning.pruned(1), row.at("prunable").get<bool>()) << row;
  }
}

// How often each arm wins. Returns the deviation of the worst arm in standard
// errors.
double WorstArm(const nlohmann::json& row, const MixedSweeps& sweeps,
                uint64_t seed) {
  constexpr int kDraws = 20000;
  std::vector<RewardStats> arms;
  for (const auto& group : row.at("groups")) {
    arms.emplace_back();
    for (const double y : group) arms.back().Add(y);
  }
  const MixedModel model(arms);
  arms.emplace_back();
  MixedState state;
  RandomStream random(StreamKey(seed, 0, 0, Purpose::kTest));
  std::vector<double> worths, wins(arms.size());
  std::vector<RewardStats> seen(arms.size());
  for (int i = 0; i < kDraws; ++i) {
    model.DrawWorths(sweeps, arms, state, random, worths);
    for (size_t j = 0; j < worths.size(); ++j) seen[j].Add(worths[j]);
    ++wins[static_cast<size_t>(std::max_element(worths.begin(), worths.end()) -
                               worths.begin())];
  }
  double worst = 0;
  for (size_t j = 0; j < arms.size(); ++j) {
    const double mean = row.at("mean").at(j), sd = row.at("sd").at(j);
    EXPECT_NEAR(seen[j].mean, mean, 4.5 * sd / std::sqrt(kDraws) + 0.003) << j;
    EXPECT_NEAR(std::sqrt(seen[j].squares / kDraws), sd, 0.04 * sd + 0.002)
        << j;
    // The program's rates are from 400,000 draws.
    const double p = row.at("chosen_independent").at(j);
    const double error = std::sqrt(p * (1 - p) * (1.0 / kDraws + 1.0 / 400000));
    worst = std::max(worst, std::abs(wins[j] / kDraws - p) / error);
  }
  return worst;
}

// Arms are drawn independently. Drawn from one state of the sampler they would
// win at other rates, which the same bound detects.
TEST(GoldenBanditTest, EachArmOfTheMixedModelWinsAsOften) {
  ESP_ONE_THREAD();
  double joint = 0;
  uint64_t seed = 0;
  for (const auto& row : TableOfM("predictive")) {
    ++seed;
    EXPECT_LT(WorstArm(row, {.first = 8, .between = 5}, seed), 4.5) << row;
    joint = std::max(joint, WorstArm(row, {.first = 8, .between = 0}, seed));
  }
  EXPECT_GT(joint, 4.5);
}

// The infinite world of the distributions: h(root) = 1, the j-th child of a
// node has h = (37 h + 411 (j + 1)) mod 1009. Tokens of a step: h, j, its
// model.
class HashWorld {
 public:
  explicit HashWorld(std::string name) : name_(std::move(name)) {}

  SearchCompletion Reply(const Tree& tree, const SearchRequest& request) const {
    SearchCompletion reply{.number = request.number};
    if (request.kind == RequestKind::kEvaluate) {
      for (const NodeId node : request.nodes) {
        const auto score = static_cast<float>(Score(tree, node));
        reply.scores.push_back({.step = score, .path = score});
      }
      return reply;
    }
    const NodeId from = request.nodes[0];
    const int h = from == kRoot ? 1 : tree.tokens(from)[0];
    const int j = request.first_sample;
    reply.samples.push_back(
        {{.tokens = {(37 * h + 411 * (j + 1)) % 1009, j,
                     request.by == ModelRole::kPolicy ? 0 : 1}},
         absl::StrCat("child ", j, "\n")});
    return reply;
  }
  double Score(const Tree& tree, NodeId node) const {
    const double h = tree.tokens(node)[0];
    if (absl::StrContains(name_, "alike") && tree.tokens(node)[0] % 5 != 0) {
      return 0.504 - 0.008 * h / 1008;
    }
    return std::min(1.0, 0.1 + 0.8 * h / 1008 + 0.1 * tree.tokens(node)[2]);
  }

 private:
  const std::string name_;
};

// A statistic of a tree, by its name in the trace; "" if our search does not
// have it.
std::string Counted(const std::string& what, const HashWorld& world,
                    const Tree& tree) {
  int of_root = 0, depth = 0, second = 0;
  double best = 0;
  for (NodeId id = 1; id < tree.size(); ++id) {
    of_root += tree[id].parent == kRoot;
    depth = std::max<int>(depth, tree.step(id).depth);
    second += tree.tokens(id)[2];
    best = std::max(best, world.Score(tree, id));
  }
  if (absl::StartsWith(what, "the nodes where the first")) {
    const bool models = absl::StrContains(what, "letter");
    std::vector<std::string> from;
    for (NodeId id = 1; id <= (models ? 4 : 6); ++id) {
      from.push_back(
          absl::StrCat(tree[id].parent,
                       !models ? "" : (tree.tokens(id)[2] == 0 ? "a" : "b")));
    }
    return absl::StrJoin(from, " ");
  }
  if (what == "children of the root after all steps") {
    return absl::StrCat(of_root);
  }
  if (what == "greatest depth") return absl::StrCat(depth);
  if (what == "highest score found") return absl::StrFormat("%.4f", best);
  if (what == "steps written by the second model") return absl::StrCat(second);
  return "";
}

// Pearson's statistic of two samples of one distribution, in standard
// deviations above the mean of its chi-square (Wilson and Hilferty). Outcomes
// seen less than 20 times in both samples are merged.
double Divergence(const std::map<std::string, double>& theirs,
                  const std::map<std::string, double>& ours) {
  std::map<std::string, std::pair<double, double>> bins;
  const auto bin = [&](const std::string& key) {
    const auto a = theirs.find(key), b = ours.find(key);
    const double both =
        (a == theirs.end() ? 0 : a->second) + (b == ours.end() ? 0 : b->second);
    return a == theirs.end() || both < 20 ? "other" : key;
  };
  double n = 0, m = 0;
  for (const auto& [key, count] : theirs) {
    bins[bin(key)].first += count;
    n += count;
  }
  for (const auto& [key, count] : ours) {
    bins[bin(key)].second += count;
    m += count;
  }
  double sum = 0;
  for (const auto& [key, counts] : bins) {
    const auto [a, b] = counts;
    sum += std::pow(std::sqrt(m / n) * a - std::sqrt(n / m) * b, 2) / (a + b);
  }
  const double freedom = static_cast<double>(bins.size()) - 1;
  if (freedom < 1) return 0;
  const double spread = 2 / (9 * freedom);
  return (std::cbrt(sum / freedom) - (1 - spread)) / std::sqrt(spread);
}

// Every distribution that our search can count too, by name.
std::map<std::string, double> Divergences(const GoldenRun& run,
                                          const std::string& method,
                                          int searches) {
  const HashWorld world(run.name);
  const TreeWorld frame({.depth = 1, .step_tokens = 3});  // only for its task
  std::map<std::string, std::map<std::string, double>> ours;
  for (int i = 1; i <= searches; ++i) {
    const SearchRun search = RunSearch(
        method + ":finish=false", frame,
        {.seed = static_cast<uint64_t>(i),
         .reply = [&](const Tree& tree, const SearchRequest& request) {
           return world.Reply(tree, request);
         }});
    EXPECT_TRUE(search.status.ok()) << search.status;
    for (const auto& law : run.trace.at("distributions")) {
      ++ours[law.at("of")][Counted(law.at("of"), world, search.tree())];
    }
  }
  std::map<std::string, double> far;
  for (const auto& law : run.trace.at("distributions")) {
    if (ours[law.at("of")].contains("")) continue;
    far[law.at("of")] =
        Divergence(law.at("counts").get<std::map<std::string, double>>(),
                   ours[law.at("of")]);
  }
  return far;
}

// By chance one in thirty thousand exceeds 4.
constexpr double kFarApart = 4;

TEST(GoldenBanditTest, AbMctsABranchesByTheSameLaw) {
  ESP_ONE_THREAD();
  for (const GoldenRun& run : ReadGolden("treequest_a").runs) {
    if (!IsDistribution(run)) continue;
    for (const auto& [what, far] : Divergences(run, run.method, 5000)) {
      EXPECT_LT(far, kFarApart) << run.name << ": " << what;
    }
    // A slightly stronger prior is detected.
    if (run.method.ends_with("simulations=24")) {
      const auto other = Divergences(run, run.method + ":kappa=1.5", 5000);
      EXPECT_GT(other.at("children of the root after all steps"), kFarApart);
    }
  }
}

TEST(GoldenBanditTest, AbMctsMBranchesByTheSameLaw) {
  ESP_ONE_THREAD();
  for (const GoldenRun& run : ReadGolden("treequest_m").runs) {
    if (!IsDistribution(run)) continue;
    for (const auto& [what, far] : Divergences(run, run.method, 2000)) {
      EXPECT_LT(far, kFarApart) << run.name << ": " << what;
    }
    if (absl::StrContains(run.name, "alike")) {
      const auto other = Divergences(run, run.method + ":prune=false", 2000);
      EXPECT_GT(other.at("children of the root after all steps"), kFarApart);
    }
  }
}

}  // namespace
}  // namespace espalier
