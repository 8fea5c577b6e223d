#include "tests/search/golden_world.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/files.h"
#include "nlohmann/json.hpp"
#include "search/stop.h"

namespace espalier {
namespace {

GoldenWorld ReadWorld(const nlohmann::json& json) {
  GoldenWorld world;
  world.max_steps = json.value("max_steps", 64);
  // Worlds of distributions are given by a formula.
  if (!json.contains("nodes")) return world;
  for (const auto& given : json.at("nodes")) {
    GoldenNode node;
    node.parent = given.at("parent");
    node.text = given.value("text", "");
    node.logprobs = given.value("logprobs", std::vector<float>{0});
    node.rest = given.value("rest", std::vector<float>{});
    node.score = given.value("score", 0.0f);
    node.step_score = given.value("step_score", node.score);
    node.terminal = given.value("terminal", false);
    node.answer = given.value("answer", "");
    node.verified = given.value("verified", false);
    node.draws = given.value("draws", std::vector<int>{});
    node.greedy = given.value("greedy", -1);
    world.nodes.push_back(std::move(node));
  }
  // The default order: children as in the file.
  std::vector<std::vector<int>> children(world.nodes.size());
  for (size_t i = 1; i < world.nodes.size(); ++i) {
    children[static_cast<size_t>(world.nodes[i].parent)].push_back(
        static_cast<int>(i));
  }
  for (size_t i = 0; i < world.nodes.size(); ++i) {
    GoldenNode& node = world.nodes[i];
    if (node.draws.empty()) node.draws = children[i];
    if (node.greedy < 0 && !children[i].empty()) node.greedy = children[i][0];
  }
  return world;
}

class GoldenTask : public Task {
 public:
  explicit GoldenTask(const GoldenWorld& world)
      : world_(world),
        format_{.max_step_tokens = 64,
                .max_steps = world.max_steps,
                .segments = world.segments} {}
  std::string_view name() const override { return "golden"; }
  absl::StatusOr<std::string> Render(const Problem& p) const override {
    return p.question;
  }
  const StepFormat& format() const override { return format_; }
  std::optional<std::string> FindAnswer(
      std::string_view response) const override {
    int node = 0;
    while (!response.empty()) {
      int next = -1;
      for (size_t i = 1; i < world_.nodes.size(); ++i) {
        const GoldenNode& n = world_.nodes[i];
        if (n.parent == node && response.starts_with(n.text)) {
          next = static_cast<int>(i);
        }
      }
      if (next < 0) return std::nullopt;
      node = next;
      response.remove_prefix(
          world_.nodes[static_cast<size_t>(node)].text.size());
    }
    const GoldenNode& end = world_.nodes[static_cast<size_t>(node)];
    if (!end.terminal || end.answer.empty()) return std::nullopt;
    return end.answer;
  }
  bool SameAnswer(std::string_view a, std::string_view b) const override {
    return a == b;
  }

 private:
  const GoldenWorld& world_;
  const StepFormat format_;
};

class GoldenModel : public InlineModel {
 public:
  GoldenModel(const GoldenWorld& world, GoldenSearch& search)
      : world_(world), search_(search), of_tree_{0} {
    search_.of.assign(world.nodes.size(), kNoNode);
    search_.of[0] = kRoot;
  }

  // A forced step is not a sample: it is matched by its text; without a match
  // it has its parent's place.
  int PlaceOf(const Tree& tree, NodeId node) {
    for (; of_tree_.size() <= node;) {
      const auto id = static_cast<NodeId>(of_tree_.size());
      int place = of_tree_[tree[id].parent];
      for (size_t i = 1; i < world_.nodes.size(); ++i) {
        if (world_.nodes[i].parent == of_tree_[tree[id].parent] &&
            world_.nodes[i].text == tree.text(id)) {
          place = static_cast<int>(i);
          search_.of[i] = id;
        }
      }
      ++greedy_[of_tree_[tree[id].parent]];
      of_tree_.push_back(place);
    }
    return of_tree_[node];
  }

  void Expand(SearchContext& ctx, NodeId node, const ExpandOptions& options,
              int first_sample, Expansion& out) override {
    PlaceOf(ctx.tree(), ctx.tree().size() - 1);
    const int place = of_tree_[node];
    const GoldenNode& from = world_.nodes[static_cast<size_t>(place)];
    const bool greedy = options.temperature == 0;
    if (!greedy) search_.expanded.push_back(place);
    search_.draws.push_back({.from = place, .greedy = greedy});
    if (from.draws.empty()) return;  // nothing follows
    for (int i = 0; i < options.n; ++i) {
      const auto at = static_cast<size_t>(first_sample - greedy_[place] + i);
      const int next =
          greedy ? from.greedy : from.draws[at % from.draws.size()];
      const GoldenNode& to = world_.nodes[static_cast<size_t>(next)];
      search_.draws.back().to.push_back(next);
      float logprob = 0;
      std::vector<int32_t> tokens;
      for (const float l : to.logprobs) {
        logprob += l;
        tokens.push_back(next);
      }
      const std::vector<float> confidences =
          Confidences(to, options.top_logprobs);
      bool is_new = false;
      const NodeId made = ctx.AddSample(node,
                                        {.text = to.text,
                                         .tokens = tokens,
                                         .logprob = logprob,
                                         .terminal = to.terminal,
                                         .confidences = confidences},
                                        &is_new);
      if (is_new) {
        of_tree_.push_back(next);
        search_.of[static_cast<size_t>(next)] = made;
      }
      out.samples.push_back(made);
    }
    // Greedy steps do not consume draws.
    if (greedy) greedy_[place] += options.n;
  }
  StepScores Evaluate(const Tree& tree, NodeId node) override {
    const GoldenNode& at =
        world_.nodes[static_cast<size_t>(PlaceOf(tree, node))];
    return {.step = at.step_score, .path = at.score};
  }
  bool Verify(const Tree&, NodeId node) override {
    return world_.nodes[static_cast<size_t>(of_tree_[node])].verified;
  }

 private:
  // Of the sampled token and k - 1 other, equally likely ones.
  static std::vector<float> Confidences(const GoldenNode& node, int k) {
    std::vector<float> confidences;
    for (size_t t = 0; k > 0 && t < node.rest.size(); ++t) {
      const auto own = static_cast<double>(node.logprobs[t]);
      const auto other = static_cast<double>(node.rest[t]);
      confidences.push_back(static_cast<float>(-(own + (k - 1) * other) / k));
    }
    return confidences;
  }

  const GoldenWorld& world_;
  GoldenSearch& search_;
  std::vector<int> of_tree_;
  std::map<int, int> greedy_;  // greedy samples of a place
};

// Observes the end of every simulation and its visits.
class GoldenWatcher : public Stopper {
 public:
  GoldenWatcher(GoldenModel& model, GoldenSearch& search, int64_t limit)
      : model_(model), search_(search), limit_(limit) {}
  bool Stops(const SearchView& view, std::string& reason) override {
    Look(view.usage.simulations, view.tree);
    if (limit_ == 0 || view.usage.simulations < limit_) return false;
    reason = "budget of simulations is spent";
    return true;
  }
  void Look(int64_t simulations, const Tree& tree) {
    if (simulations == seen_) return;
    seen_ = simulations;
    visits_.resize(tree.size());
    std::vector<int> places;
    for (NodeId id = 0; id < tree.size(); ++id) {
      for (; visits_[id] < tree[id].visits; ++visits_[id]) {
        places.push_back(model_.PlaceOf(tree, id));
      }
    }
    std::sort(places.begin(), places.end());
    search_.visits.push_back(std::move(places));
  }

 private:
  GoldenModel& model_;
  GoldenSearch& search_;
  const int64_t limit_;
  int64_t seen_ = 0;
  std::vector<uint32_t> visits_;
};

}  // namespace

GoldenFile ReadGolden(const std::string& name) {
  GoldenFile file;
  // Other worlds in the same format can be read from a folder.
  const char* folder = std::getenv("ESPALIER_GOLDEN");
  const std::string path = absl::StrCat(
      folder != nullptr ? folder : "tests/search/golden", "/", name, ".json");
  const auto text = ReadFile(path);
  if (!text.ok()) {
    ADD_FAILURE() << text.status();
    return file;
  }
  const auto json = nlohmann::json::parse(*text, nullptr, false);
  if (!json.is_object()) {
    ADD_FAILURE() << path << " is not JSON";
    return file;
  }
  file.program = json.at("program");
  for (const auto& given : json.at("runs")) {
    std::vector<double> random;
    if (given.contains("random") && given.at("random").is_array()) {
      random = given.at("random").get<std::vector<double>>();
    }
    file.runs.push_back({.name = given.at("name"),
                         .method = given.value("method", ""),
                         .world = ReadWorld(given.at("world")),
                         .random = std::move(random),
                         .trace = given});
  }
  EXPECT_FALSE(file.runs.empty()) << path;
  return file;
}

GoldenSearch RunGolden(const GoldenRun& run, const GoldenOptions& options) {
  GoldenSearch search;
  const auto algorithm = MakeAlgorithm(run.method);
  search.status = algorithm.status();
  if (!algorithm.ok()) return search;
  // Kept alive while the context uses it.
  static const Problem problem{.id = "golden", .question = "?"};
  const GoldenTask task(run.world);
  RecordedDraws draws{run.random};
  GoldenModel model(run.world, search);
  GoldenWatcher watcher(model, search, options.simulations);
  search.context = std::make_unique<SearchContext>(
      problem, task, watcher, SearchBudget(), options.seed, &model);
  SearchContext& ctx = *search.context;
  if (!run.random.empty()) ctx.FeedDraws(&draws);
  SearchDriver driver(ctx);
  {
    Co<> coroutine = (*algorithm)->Run(ctx);
    coroutine.Start();
    driver.Advance();
    EXPECT_TRUE(coroutine.done() || !driver.failure().ok()) << run.name;
  }
  search.status = driver.failure();
  watcher.Look(ctx.usage().simulations, ctx.tree());
  for (NodeId id = 0; id < ctx.tree().size(); ++id) {
    const Node& node = ctx.tree()[id];
    if (node.visits == 0) continue;
    search.nodes[model.PlaceOf(ctx.tree(), id)] = {node.visits, node.q};
  }
  if (driver.best_answer() >= 0) {
    search.answer = ctx.tree().answer_text(driver.best_answer());
  }
  if (driver.best_node() != kNoNode) {
    search.answer_node = model.PlaceOf(ctx.tree(), driver.best_node());
  }
  if (!run.random.empty()) {
    EXPECT_EQ(draws.next, draws.values.size()) << run.name << ": draws left";
  }
  return search;
}

void ExpectSameTrace(const GoldenRun& run, const GoldenSearch& ours,
                     const GoldenCompare& compare) {
  ASSERT_TRUE(ours.status.ok()) << run.name << ": " << ours.status;
  const nlohmann::json& trace = run.trace;
  if (compare.expanded && trace.contains("expanded")) {
    const std::vector<int> expanded = trace.at("expanded");
    EXPECT_EQ(absl::StrJoin(ours.expanded, " "), absl::StrJoin(expanded, " "))
        << run.name << ": nodes in order of expansion";
  }
  if (compare.visits && trace.contains("visits")) {
    const std::vector<std::vector<int>> visits = trace.at("visits");
    for (size_t i = 0; i < std::max(visits.size(), ours.visits.size()); ++i) {
      std::vector<int> theirs =
          i < visits.size() ? visits[i] : std::vector<int>{};
      std::sort(theirs.begin(), theirs.end());
      const std::vector<int> own =
          i < ours.visits.size() ? ours.visits[i] : std::vector<int>{};
      ASSERT_EQ(absl::StrJoin(own, " "), absl::StrJoin(theirs, " "))
          << run.name << ": nodes visited by simulation " << i + 1;
    }
  }
  if (compare.nodes && trace.contains("nodes")) {
    for (const auto& [key, stats] : trace.at("nodes").items()) {
      const int64_t n = stats.at("n");
      if (n == 0) continue;
      const auto found = ours.nodes.find(std::stoi(key));
      ASSERT_TRUE(found != ours.nodes.end())
          << run.name << ": node " << key << " was never visited";
      EXPECT_EQ(found->second.first, n) << run.name << ": visits of " << key;
      if (!stats.contains("q") || stats.at("q").is_null()) continue;
      const double q = stats.at("q");
      EXPECT_NEAR(found->second.second, q, 1e-4 * std::max(1.0, std::abs(q)))
          << run.name << ": value of " << key;
    }
  }
  if (compare.answer && trace.contains("answer")) {
    const auto& answer = trace.at("answer");
    EXPECT_EQ(ours.answer, answer.is_null() ? "" : answer.get<std::string>())
        << run.name;
    const auto& node = trace.value("answer_node", nlohmann::json());
    if (node.is_number()) {
      EXPECT_EQ(ours.answer_node, node.get<int>()) << run.name;
    }
  }
}

}  // namespace espalier
