#include "search/best_first/proof_graph.h"

#include <algorithm>
#include <tuple>

#include "base/check.h"
#include "base/random.h"

namespace espalier {
namespace {

std::vector<std::string_view> SortedSteps(const Tree& tree, NodeId node) {
  std::vector<std::string_view> steps;
  for (; node != kRoot; node = tree[node].parent) {
    steps.push_back(tree.text(node));
  }
  std::sort(steps.begin(), steps.end());
  return steps;
}

}  // namespace

ProofGraph::ProofGraph(Merge merge) : merge_(merge) {
  states_.push_back({.node = kRoot});
  state_of_.push_back(0);
  step_sums_.push_back(0);
}

uint64_t ProofGraph::Key(const Tree& tree, NodeId node) {
  uint64_t key = StableHash(tree.text(node));
  if (merge_ == Merge::kStepSet) {
    if (step_sums_.size() <= node) step_sums_.resize(node + 1);
    key = step_sums_[node] = key + step_sums_[tree[node].parent];
  }
  return MixHash(key, tree[node].terminal());
}

bool ProofGraph::Same(const Tree& tree, NodeId a, NodeId b) const {
  if (tree[a].terminal() != tree[b].terminal()) return false;
  if (merge_ == Merge::kLastStep) return tree.text(a) == tree.text(b);
  return tree.step(a).depth == tree.step(b).depth &&
         SortedSteps(tree, a) == SortedSteps(tree, b);
}

ProofGraph::Added ProofGraph::Add(const Tree& tree, NodeId node) {
  const StateId parent = state_of_[tree[node].parent];
  ESP_CHECK(parent != kNone);
  if (state_of_.size() <= node) state_of_.resize(node + 1, kNone);
  StateId state = size();
  if (merge_ != Merge::kNone) {
    uint64_t key = Key(tree, node);
    auto [at, is_new] = by_key_.try_emplace(key, state);
    while (!is_new && !Same(tree, node, states_[at->second].node)) {
      std::tie(at, is_new) = by_key_.try_emplace(++key, state);
    }
    state = at->second;
  }
  state_of_[node] = state;
  const bool is_new = state == size();
  if (is_new) states_.push_back({.node = node});
  edges_.push_back({parent, states_[state].first_edge});
  states_[state].first_edge = static_cast<uint32_t>(edges_.size() - 1);
  if (states_[state].proved) Prove(parent);
  return {state, is_new};
}

void ProofGraph::Prove(StateId state) {
  std::vector<StateId> stack = {state};
  while (!stack.empty()) {
    const StateId at = stack.back();
    stack.pop_back();
    if (states_[at].proved) continue;
    states_[at].proved = true;
    for (uint32_t e = states_[at].first_edge; e != kNone; e = edges_[e].next) {
      stack.push_back(edges_[e].parent);
    }
  }
}

std::vector<Proof> ProofGraph::Proofs() const {
  // Failed: not proved, and leading to no open state.
  std::vector<Proof> proofs(states_.size(), Proof::kFailed);
  std::vector<StateId> stack;
  const auto reach = [&](StateId state) {
    if (states_[state].proved || proofs[state] == Proof::kOpen) return;
    proofs[state] = Proof::kOpen;
    stack.push_back(state);
  };
  for (StateId s = 0; s < size(); ++s) {
    if (states_[s].proved) proofs[s] = Proof::kProved;
    if (!states_[s].closed) reach(s);
  }
  while (!stack.empty()) {
    const StateId at = stack.back();
    stack.pop_back();
    for (uint32_t e = states_[at].first_edge; e != kNone; e = edges_[e].next) {
      reach(edges_[e].parent);
    }
  }
  return proofs;
}

std::vector<StateId> ProofGraph::Parents(StateId state) const {
  std::vector<StateId> parents;
  for (uint32_t e = states_[state].first_edge; e != kNone; e = edges_[e].next) {
    parents.push_back(edges_[e].parent);
  }
  return parents;
}

}  // namespace espalier
