#include "src/engine/search_session.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.h"

namespace espalier {
namespace {

TreeNode Describe(const Tree& tree, NodeId id) {
  const Node& node = tree[id];
  const Step& step = tree.step(id);
  const StepScores scores = tree.scores(id);
  return {.parent = node.parent == kNoNode ? -1 : static_cast<int>(node.parent),
          .kind = NodeKindName(step.kind),
          .text = std::string(tree.text(id)),
          .logprob = step.logprob,
          .step_score = step.step_score,
          .path_score = step.path_score,
          .outcome_score = scores.outcome,
          .window_scores = scores.windows,
          .q = node.q,
          .visits = node.visits,
          .draws = step.draws,
          .terminal = node.terminal()};
}

// More first steps than fit on a screen are useless.
constexpr size_t kFirstShown = 64;

// Children of `node`, by visits, then by draws, both descending.
std::vector<NodeId> ByVisits(const Tree& tree, NodeId node) {
  std::vector<NodeId> children;
  for (const NodeId c : Children(tree, node)) children.push_back(c);
  std::stable_sort(children.begin(), children.end(), [&](NodeId a, NodeId b) {
    return std::pair(tree[a].visits, tree.step(a).draws) >
           std::pair(tree[b].visits, tree.step(b).draws);
  });
  return children;
}

}  // namespace

NodeSequences::NodeSequences(Backend* backend, SeqId prompt)
    : backend_(backend), seqs_{prompt} {}

NodeSequences::~NodeSequences() {
  for (const SeqId seq : seqs_) {
    if (seq >= 0) backend_->Release(seq);
  }
}

SeqId NodeSequences::Of(const Tree& tree, NodeId node) {
  if (seqs_.size() < tree.size()) seqs_.resize(tree.size(), -1);
  if (seqs_[node] < 0) {
    const SeqId parent = Of(tree, tree[node].parent);
    seqs_[node] = backend_->Extend(parent, tree.tokens(node));
  }
  return seqs_[node];
}

void NodeSequences::Adopt(NodeId node, SeqId seq) {
  if (seqs_.size() <= node) seqs_.resize(node + 1, -1);
  ESP_CHECK(seqs_[node] < 0);
  seqs_[node] = seq;
}

void NodeSequences::SetRetention(NodeId node, float priority) {
  if (node >= seqs_.size() || seqs_[node] < 0) return;
  backend_->SetRetention(seqs_[node], priority);
}

SearchSession::SearchSession(size_t index, const Problem& problem,
                             const Task& task, const SearchOptions& options)
    : index_(index),
      stoppers_(MakeStoppers(options)),
      context_(problem, task, stoppers_, BudgetOf(options, problem),
               options.seed),
      driver_(context_) {}

void SearchSession::Resume(const SearchAlgorithm& algorithm) {
  has_news = false;
  if (!search_) {
    search_.emplace(algorithm.Run(context_));
    search_->Start();
  }
  driver_.Advance();
}

bool SearchSession::over() const {
  return !driver_.failure().ok() || (search_ && search_->done());
}

std::vector<TreeNode> SearchSession::TreeAsText() const {
  std::vector<TreeNode> nodes;
  for (NodeId id = 0; id < context_.tree().size(); ++id) {
    nodes.push_back(Describe(context_.tree(), id));
  }
  return nodes;
}

SearchSnapshot SearchSession::Snapshot() const {
  const Tree& tree = context_.tree();
  const Usage& usage = context_.usage();
  SearchSnapshot shot{.tokens = usage.tokens,
                      .model_calls = usage.model_calls,
                      .simulations = usage.simulations,
                      .nodes = usage.nodes,
                      .score = driver_.best_score()};
  if (driver_.best_answer() >= 0) {
    shot.answer = tree.answer_text(driver_.best_answer());
  }
  const std::vector<NodeId> first = ByVisits(tree, kRoot);
  for (size_t i = 0; i < std::min(first.size(), kFirstShown); ++i) {
    shot.first.push_back(Describe(tree, first[i]));
  }
  NodeId end = driver_.best_node();
  if (end == kNoNode) {
    end = kRoot;
    for (auto below = first; !below.empty(); below = ByVisits(tree, end)) {
      end = below[0];
    }
  }
  for (const NodeId id : tree.Path(end)) {
    shot.steps.push_back(Describe(tree, id));
  }
  return shot;
}

SearchResult SearchSession::Result() const {
  const Tree& tree = context_.tree();
  const Usage& usage = context_.usage();
  SearchResult result{.status = driver_.failure(),
                      .score = driver_.best_score(),
                      .stage = driver_.best_stage(),
                      .stop_reason = driver_.stop_reason(),
                      .tokens = usage.tokens,
                      .prompt_tokens = prompt_tokens,
                      .reward_tokens = usage.reward_tokens,
                      .verdict_tokens = usage.verdict_tokens,
                      .model_calls = usage.model_calls,
                      .simulations = usage.simulations,
                      .nodes = usage.nodes};
  const auto answer_text = [&](int32_t answer) {
    return answer < 0 ? std::string() : tree.answer_text(answer);
  };
  result.answer = answer_text(driver_.best_answer());
  if (driver_.best_node() != kNoNode) {
    result.response = tree.Response(driver_.best_node());
    result.response_tokens =
        static_cast<int64_t>(tree.step(driver_.best_node()).path_tokens);
    for (const NodeId id : tree.Path(driver_.best_node())) {
      result.steps.push_back(Describe(tree, id));
    }
  }
  for (const AnytimeAnswer& at : driver_.anytime()) {
    result.anytime.push_back({at.tokens, answer_text(at.answer)});
  }
  return result;
}

void SearchSession::FillUnfinished(SearchResult& result) const {
  const Tree& tree = context_.tree();
  const auto rank = [&tree](NodeId id) {
    const float score = tree.step(id).path_score;
    return std::pair(std::isnan(score) ? -1.0f : score,
                     tree.step(id).path_tokens);
  };
  NodeId best = kRoot;
  for (NodeId id = 1; id < tree.size(); ++id) {
    if (tree[id].num_children > 0) continue;
    if (best == kRoot || rank(id) > rank(best)) best = id;
  }
  result.response = tree.Response(best);
  result.response_tokens = static_cast<int64_t>(tree.step(best).path_tokens);
  for (const NodeId id : tree.Path(best)) {
    result.steps.push_back(Describe(tree, id));
  }
}

}  // namespace espalier
