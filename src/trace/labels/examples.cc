#include "src/trace/labels/examples.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/parse_json.h"
#include "base/status_macros.h"
#include "base/text.h"
#include "nlohmann/json.hpp"
#include "src/trace/labels/tree_labels.h"

namespace espalier {

void FilterLog::Count(const std::string& name, int64_t in, int64_t out) {
  for (FilterCount& count : counts_) {
    if (count.name != name) continue;
    count.in += in;
    count.out += out;
    return;
  }
  counts_.push_back({name, in, out});
}

std::string FilterLog::Text() const {
  std::string text;
  for (const FilterCount& count : counts_) {
    absl::StrAppend(&text, "  ", count.name, ": ", count.in, " in, ", count.out,
                    " out\n");
  }
  return text;
}

namespace {

// The prompt that the run used for its questions.
std::string PromptOf(const RunInfo& info) {
  const auto config = ParseJsonOrNull(info.config);
  if (!config.is_object()) return "";
  const auto prompt = config.find("prompt");
  const bool there = prompt != config.end() && prompt->is_string();
  return there ? prompt->get<std::string>() : "";
}

}  // namespace

absl::StatusOr<std::vector<ProblemTrees>> TreesByProblem(RunDb& db,
                                                         int64_t run_id) {
  ESP_ASSIGN_OR_RETURN(const std::vector<RunRow> runs, db.Runs());
  std::map<std::pair<int64_t, std::string>, ProblemTrees> by_problem;
  bool found = run_id == 0;
  for (const RunRow& run : runs) {
    if (run_id != 0 && run.run_id != run_id) continue;
    found = true;
    const std::string prompt = PromptOf(run.info);
    ESP_ASSIGN_OR_RETURN(const std::vector<SearchRow> searches,
                         db.Searches(run.run_id));
    for (const SearchRow& search : searches) {
      if (search.state != SearchState::kDone || search.cached) continue;
      ProblemTrees& entry = by_problem[{search.problem_id, prompt}];
      if (entry.trees.empty()) {
        entry.prompt = prompt;
        ESP_ASSIGN_OR_RETURN(entry.problem,
                             db.LoadProblem(search.problem_id, &entry.task));
      }
      ESP_ASSIGN_OR_RETURN(StoredTree tree, db.LoadTree(search.search_id));
      entry.trees.push_back(std::move(tree));
    }
  }
  if (!found) {
    return absl::NotFoundError(
        absl::StrCat(db.sqlite().path(), ": no run ", run_id));
  }
  std::vector<ProblemTrees> out;
  for (auto& [key, entry] : by_problem) out.push_back(std::move(entry));
  return out;
}

void JoinTrees(std::vector<ProblemTrees> more,
               std::vector<ProblemTrees>& trees) {
  const auto key = [](const ProblemTrees& entry) {
    return std::make_tuple(entry.problem.problem.id,
                           entry.problem.problem.question, entry.task,
                           entry.prompt);
  };
  std::map<decltype(key(trees[0])), size_t> known;
  for (size_t i = 0; i < trees.size(); ++i) known.emplace(key(trees[i]), i);
  for (ProblemTrees& entry : more) {
    const auto [at, added] = known.emplace(key(entry), trees.size());
    if (added) {
      trees.push_back(std::move(entry));
      continue;
    }
    for (StoredTree& tree : entry.trees) {
      trees[at->second].trees.push_back(std::move(tree));
    }
  }
}

namespace {

double StepPerplexity(const StoredNode& node) {
  return std::exp(-static_cast<double>(node.logprob) /
                  std::max<double>(1, node.num_tokens));
}

struct RankedPath {
  double rank = 0;  // larger is better
  std::string response;
  PathExample example;
};

RankedPath MakePath(const StoredTree& tree, size_t leaf, size_t problem,
                    const PathOptions& options) {
  RankedPath path;
  path.example.problem = problem;
  double q = 0;
  for (const size_t i : tree.Path(leaf)) {
    const StoredNode& node = tree.nodes[i];
    path.example.steps.emplace_back(tree.Text(i));
    path.example.step_tokens.push_back(tree.Tokens(i));
    const double perplexity = StepPerplexity(node);
    path.example.train.push_back(perplexity >= options.min_perplexity &&
                                 perplexity <= options.max_perplexity);
    path.example.logprob += static_cast<double>(node.logprob);
    path.example.tokens += node.num_tokens;
    path.response += tree.Text(i);
    q += static_cast<double>(node.q);
  }
  path.rank = options.by_value
                  ? q / static_cast<double>(path.example.steps.size())
                  : path.example.logprob;
  return path;
}

}  // namespace

std::vector<PathExample> SelectPaths(const std::vector<ProblemTrees>& trees,
                                     const PathOptions& options,
                                     FilterLog& log) {
  std::vector<PathExample> out;
  for (size_t p = 0; p < trees.size(); ++p) {
    int64_t ends = 0;
    std::map<std::string, RankedPath> correct;
    int64_t correct_ends = 0;
    for (const StoredTree& tree : trees[p].trees) {
      for (size_t i = 0; i < tree.nodes.size(); ++i) {
        if (tree.nodes[i].verdict == NodeVerdict::kNotAsked) continue;
        ++ends;
        if (tree.nodes[i].verdict != NodeVerdict::kCorrect) continue;
        ++correct_ends;
        RankedPath path = MakePath(tree, i, p, options);
        const auto [at, is_new] = correct.try_emplace(path.response, path);
        if (!is_new && at->second.rank < path.rank) at->second = path;
      }
    }
    log.Count("correct", ends, correct_ends);
    std::vector<RankedPath> ranked;
    for (auto& [response, path] : correct) ranked.push_back(std::move(path));
    log.Count("distinct", correct_ends, static_cast<int64_t>(ranked.size()));
    // Ties in order of their texts.
    std::stable_sort(ranked.begin(), ranked.end(),
                     [](const RankedPath& a, const RankedPath& b) {
                       return a.rank > b.rank;
                     });
    const auto distinct = static_cast<int64_t>(ranked.size());
    const auto limit = static_cast<size_t>(options.per_problem);
    if (limit > 0 && ranked.size() > limit) ranked.resize(limit);
    log.Count("within the limit per problem", distinct,
              static_cast<int64_t>(ranked.size()));
    for (RankedPath& path : ranked) {
      const auto steps = static_cast<int64_t>(path.example.train.size());
      const int64_t kept = std::count(path.example.train.begin(),
                                      path.example.train.end(), true);
      log.Count("steps within the perplexity window", steps, kept);
      log.Count("with a step to imitate", 1, kept > 0);
      if (kept > 0) out.push_back(std::move(path.example));
    }
  }
  return out;
}

namespace {

// Tokens of the response up to and including `node`.
std::vector<int32_t> PathTokens(const StoredTree& tree, size_t node) {
  std::vector<int32_t> tokens;
  for (const size_t i : tree.Path(node)) {
    const std::vector<int32_t> step = tree.Tokens(i);
    tokens.insert(tokens.end(), step.begin(), step.end());
  }
  return tokens;
}

// Children of one node as candidates for pairs.
struct Candidate {
  size_t node;
  float value;
};

class PairMaker {
 public:
  PairMaker(const StoredTree& tree, size_t problem, const PairOptions& options,
            FilterLog& log, std::vector<PairExample>& out)
      : tree_(tree),
        problem_(problem),
        options_(options),
        log_(log),
        out_(out),
        counts_(CountOutcomes(tree)) {}

  void Run() {
    const auto children = tree_.ChildLists();
    for (size_t i = 0; i < children.size(); ++i) {
      if (children[i].size() >= 2) Siblings(i, children[i]);
    }
  }

 private:
  float Value(size_t node) const {
    const StoredNode& n = tree_.nodes[node];
    return options_.by_q && n.visits > 0 ? n.q : counts_[node].share();
  }

  void Siblings(size_t parent, const std::vector<size_t>& children) {
    std::vector<Candidate> good, bad;
    for (const size_t child : children) {
      const OutcomeCount& count = counts_[child];
      if (count.correct > 0) good.push_back({child, Value(child)});
      if (count.correct < count.finished) bad.push_back({child, Value(child)});
    }
    std::stable_sort(good.begin(), good.end(),
                     [](const Candidate& a, const Candidate& b) {
                       return a.value > b.value;
                     });
    std::stable_sort(bad.begin(), bad.end(),
                     [](const Candidate& a, const Candidate& b) {
                       return a.value < b.value;
                     });
    const auto top = static_cast<size_t>(options_.top);
    if (good.size() > top) good.resize(top);
    if (bad.size() > top) bad.resize(top);
    const size_t first = out_.size();
    for (const Candidate& g : good) {
      for (const Candidate& b : bad) {
        if (g.node != b.node) Pair(parent, g, b);
      }
    }
    std::set<std::string> chosen, rejected;
    for (size_t i = first; i < out_.size(); ++i) {
      chosen.insert(out_[i].chosen);
      rejected.insert(out_[i].rejected);
    }
    for (size_t i = first; i < out_.size(); ++i) {
      out_[i].weight = 1 / static_cast<float>(chosen.size() * rejected.size());
    }
  }

  void Pair(size_t parent, const Candidate& good, const Candidate& bad) {
    const bool apart = good.value - bad.value >= options_.margin;
    log_.Count("values differ by the margin", 1, apart);
    if (!apart) return;
    const bool other =
        EditDistance(tree_.Text(good.node), tree_.Text(bad.node)) >=
        options_.min_edit_distance;
    log_.Count("texts differ by the edit distance", 1, other);
    if (!other) return;
    out_.push_back({.problem = problem_,
                    .prefix = tree_.Response(parent),
                    .chosen = std::string(tree_.Text(good.node)),
                    .rejected = std::string(tree_.Text(bad.node)),
                    .prefix_tokens = PathTokens(tree_, parent),
                    .chosen_tokens = tree_.Tokens(good.node),
                    .rejected_tokens = tree_.Tokens(bad.node),
                    .chosen_value = good.value,
                    .rejected_value = bad.value});
  }

  const StoredTree& tree_;
  const size_t problem_;
  const PairOptions& options_;
  FilterLog& log_;
  std::vector<PairExample>& out_;
  const std::vector<OutcomeCount> counts_;
};

}  // namespace

std::vector<PairExample> SelectPairs(const std::vector<ProblemTrees>& trees,
                                     const PairOptions& options,
                                     FilterLog& log) {
  std::vector<PairExample> out;
  for (size_t p = 0; p < trees.size(); ++p) {
    std::vector<PairExample> of_problem;
    for (const StoredTree& tree : trees[p].trees) {
      PairMaker(tree, p, options, log, of_problem).Run();
    }
    // The same two steps after the same prefix may come from several searches.
    std::set<std::string> seen;
    const auto all = static_cast<int64_t>(of_problem.size());
    int64_t kept = 0;
    for (PairExample& pair : of_problem) {
      const std::string key =
          absl::StrCat(pair.prefix, std::string(1, '\0'), pair.chosen,
                       std::string(1, '\0'), pair.rejected);
      if (!seen.insert(key).second) continue;
      ++kept;
      out.push_back(std::move(pair));
    }
    if (all > 0) log.Count("distinct", all, kept);
  }
  return out;
}

namespace {

GroupResponse ResponseOf(const StoredTree& tree, size_t node) {
  GroupResponse response{.tokens = PathTokens(tree, node)};
  size_t end = 0;
  for (const size_t step : tree.Path(node)) {
    const StoredNode& at = tree.nodes[step];
    const auto begin = tree.logprobs.begin() + at.token_begin;
    response.logprobs.insert(response.logprobs.end(), begin,
                             begin + at.num_tokens);
    end += at.num_tokens;
    response.step_ends.push_back(end);
    response.step_scores.push_back(at.step_score);
  }
  const bool all =
      std::none_of(response.step_scores.begin(), response.step_scores.end(),
                   [](float score) { return std::isnan(score); });
  if (!all) response.step_scores.clear();
  response.correct = tree.nodes[node].verdict == NodeVerdict::kCorrect;
  return response;
}

// Drops responses until as many are right as wrong (ConsistencyFilter).
void Balance(ConsistencyFilter filter, std::vector<GroupResponse>& responses) {
  const auto right = static_cast<size_t>(
      std::count_if(responses.begin(), responses.end(),
                    [](const GroupResponse& r) { return r.correct; }));
  const size_t wrong = responses.size() - right;
  const bool of_right = right > wrong;
  if (right == wrong || (!of_right && filter == ConsistencyFilter::kCorrect)) {
    return;
  }
  // The least consistent first.
  std::vector<std::pair<double, size_t>> order;
  for (size_t i = 0; i < responses.size(); ++i) {
    const std::vector<float>& scores = responses[i].step_scores;
    if (responses[i].correct != of_right || scores.empty()) continue;
    const double mean = std::accumulate(scores.begin(), scores.end(), 0.0) /
                        static_cast<double>(scores.size());
    order.emplace_back(of_right ? mean : -mean, i);
  }
  std::sort(order.begin(), order.end());
  const size_t surplus = of_right ? right - wrong : wrong - right;
  std::vector<bool> dropped(responses.size(), false);
  for (size_t k = 0; k < std::min(surplus, order.size()); ++k) {
    dropped[order[k].second] = true;
  }
  std::vector<GroupResponse> kept;
  for (size_t i = 0; i < responses.size(); ++i) {
    if (!dropped[i]) kept.push_back(std::move(responses[i]));
  }
  responses = std::move(kept);
}

// Sum of the rewards of each step and those after it; empty: none.
std::vector<double> Returns(const GroupResponse& response,
                            const ProcessRewards& options) {
  if (options.gate && !response.correct) return {};
  std::vector<double> rewards;
  for (const float score : response.step_scores) {
    rewards.push_back(std::min(
        static_cast<double>(score) - static_cast<double>(options.clip), 0.0));
  }
  if (options.delta) {
    for (size_t k = 0; k + 1 < rewards.size(); ++k) {
      rewards[k] -= rewards[k + 1];
    }
  }
  for (size_t k = rewards.size(); k-- > 1;) rewards[k - 1] += rewards[k];
  return rewards;
}

// Adds process rewards to the advantages of a group.
void AddProcessRewards(const ProcessRewards& options,
                       std::vector<GroupResponse>& responses) {
  std::vector<std::vector<double>> returns;
  double sum = 0, steps = 0;
  for (const GroupResponse& response : responses) {
    for (const double g : returns.emplace_back(Returns(response, options))) {
      sum += g;
      ++steps;
    }
  }
  for (size_t i = 0; i < responses.size(); ++i) {
    GroupResponse& response = responses[i];
    response.advantages.assign(response.tokens.size(), response.advantage);
    size_t token = 0;
    for (size_t k = 0; k < returns[i].size(); ++k) {
      const double more =
          static_cast<double>(options.weight) * (returns[i][k] - sum / steps);
      for (; token < response.step_ends[k]; ++token) {
        response.advantages[token] += static_cast<float>(more);
      }
    }
  }
}

}  // namespace

std::vector<GroupExample> SelectGroups(const std::vector<ProblemTrees>& trees,
                                       const GroupOptions& options,
                                       FilterLog& log) {
  std::vector<GroupExample> out;
  for (size_t p = 0; p < trees.size(); ++p) {
    GroupExample group{.problem = p};
    for (const StoredTree& tree : trees[p].trees) {
      for (size_t i = 0; i < tree.nodes.size(); ++i) {
        const StoredNode& node = tree.nodes[i];
        if (node.verdict == NodeVerdict::kNotAsked) continue;
        group.responses.insert(group.responses.end(), node.draws,
                               ResponseOf(tree, i));
      }
    }
    if (options.filter != ConsistencyFilter::kOff) {
      const auto before = static_cast<int64_t>(group.responses.size());
      Balance(options.filter, group.responses);
      log.Count("consistent with their steps' scores", before,
                static_cast<int64_t>(group.responses.size()));
    }
    const auto n = static_cast<double>(group.responses.size());
    double correct = 0;
    for (const GroupResponse& r : group.responses) correct += r.correct;
    const double mean = n > 0 ? correct / n : 0;
    const bool signal = n > 1 && std::sqrt(mean * (1 - mean)) >=
                                     static_cast<double>(options.min_std);
    log.Count("groups with right and wrong responses", 1, signal);
    if (!signal) continue;
    for (GroupResponse& response : group.responses) {
      response.advantage =
          static_cast<float>((response.correct ? 1 : 0) - mean);
    }
    if (options.process.weight > 0) {
      AddProcessRewards(options.process, group.responses);
    }
    out.push_back(std::move(group));
  }
  return out;
}

absl::Status CheckScored(const std::string& path, const GroupOptions& options,
                         const std::vector<GroupExample>& groups) {
  const bool filters = options.filter != ConsistencyFilter::kOff;
  if (options.process.weight == 0 && !filters) return absl::OkStatus();
  for (const GroupExample& group : groups) {
    for (const GroupResponse& response : group.responses) {
      if (!response.step_scores.empty()) return absl::OkStatus();
    }
  }
  return absl::FailedPreconditionError(absl::StrCat(
      path, ": ", filters ? "--consistency-filter" : "--process-reward",
      " reads the scores of steps, and no response has them; search with a "
      "method that scores its steps (weighted:n=8 with a reward model), or "
      "leave the option out"));
}

namespace {

// Outcomes below every response prefix, summed over the trees of a problem.
std::map<std::string, OutcomeCount> SumOutcomes(
    const std::vector<StoredTree>& trees) {
  std::map<std::string, OutcomeCount> sums;
  for (const StoredTree& tree : trees) {
    const auto counts = CountOutcomes(tree);
    for (size_t i = 1; i < counts.size(); ++i) {
      OutcomeCount& sum = sums[tree.Response(i)];
      sum.correct += counts[i].correct;
      sum.finished += counts[i].finished;
    }
  }
  return sums;
}

// The labelled prefix of the path to `leaf`.
StepExample MakeSteps(const StoredTree& tree, size_t leaf,
                      const std::map<std::string, OutcomeCount>& outcomes,
                      const std::vector<float>& quality,
                      const StepOptions& options) {
  StepExample example;
  std::string response;
  for (const size_t i : tree.Path(leaf)) {
    response += tree.Text(i);
    const OutcomeCount& count = outcomes.at(response);
    const auto least = static_cast<uint32_t>(std::max(1, options.min_outcomes));
    const float value = options.quality ? quality[i] : count.share();
    if (std::isnan(value) || (!options.quality && count.finished < least)) {
      break;
    }
    example.steps.emplace_back(tree.Text(i));
    example.step_tokens.push_back(tree.Tokens(i));
    example.values.push_back(value);
    example.correct.push_back(count.correct);
    example.finished.push_back(count.finished);
    example.scores.push_back(ScoresOf(tree.nodes[i]));
  }
  return example;
}

}  // namespace

std::vector<StepExample> SelectSteps(const std::vector<ProblemTrees>& trees,
                                     const StepOptions& options,
                                     FilterLog& log) {
  std::vector<StepExample> out;
  for (size_t p = 0; p < trees.size(); ++p) {
    const auto outcomes = SumOutcomes(trees[p].trees);
    std::map<std::string, StepExample> by_text;
    int64_t paths = 0, labelled = 0;
    for (const StoredTree& tree : trees[p].trees) {
      const auto quality = QualityValues(tree);
      const auto children = tree.ChildLists();
      for (size_t i = 1; i < tree.nodes.size(); ++i) {
        if (!children[i].empty()) continue;
        ++paths;
        StepExample example = MakeSteps(tree, i, outcomes, quality, options);
        if (example.steps.empty()) continue;
        ++labelled;
        example.problem = p;
        std::string response;
        for (const std::string& step : example.steps) response += step;
        by_text.try_emplace(response, std::move(example));
      }
    }
    // In lexicographic order a prefix comes directly before its continuations.
    int64_t kept = 0;
    std::set<std::string> counted;
    for (auto it = by_text.begin(); it != by_text.end(); ++it) {
      const auto next = std::next(it);
      if (next != by_text.end() && next->first.starts_with(it->first)) continue;
      ++kept;
      std::string response;
      for (const std::string& step : it->second.steps) {
        response += step;
        it->second.counts.push_back(counted.insert(response).second);
      }
      out.push_back(std::move(it->second));
    }
    log.Count("paths with labels", paths, labelled);
    log.Count("distinct and complete", labelled, kept);
  }
  return out;
}

}  // namespace espalier
