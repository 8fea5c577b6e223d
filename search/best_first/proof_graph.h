// The states of a search, their proofs, and which nodes are the same state.
//
//        A            A's children are B and C; C has the same content as B, so
//       / \           both nodes are state B, which is expanded once and has
//      B   D          two parents:
//      ^   |
//      '---C          proof(B) = proved  makes A and D proved
//
// Several nodes of a tree may be one state (Merge): the first of them is the
// state's node, later ones only add an edge from their parent's state.
//
//   proved  it was proved itself, or any child is;
//   failed  it is closed (no further child will come) and all children have
//           failed; a refuted end is closed without children;
//   open    neither, so far.
//
// Cycles are cut: states that lead to each other and to nothing open have
// failed together. A proof propagates upwards when it is made, once per edge;
// failures are computed on request, in one pass over the graph. Externally
// synchronised.
#ifndef ESPALIER_SEARCH_BEST_FIRST_PROOF_GRAPH_H_
#define ESPALIER_SEARCH_BEST_FIRST_PROOF_GRAPH_H_

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "search/tree/tree.h"

namespace espalier {

enum class Merge : uint8_t {
  kNone,      // every node is a state
  kLastStep,  // nodes with the same last step (a step is the state)
  kStepSet,   // nodes whose paths have the same steps in any order
};
inline constexpr std::array<std::string_view, 3> kMergeNames = {
    "none", "last_step", "step_set"};

enum class Proof : uint8_t { kOpen, kProved, kFailed };

using StateId = uint32_t;

class ProofGraph {
 public:
  // The root's state, 0, exists from the start.
  explicit ProofGraph(Merge merge);

  struct Added {
    StateId state;
    bool is_new;  // false: the node was merged into an earlier one
  };
  // Adds a node after its parent; each node at most once. Equality is tested on
  // the texts, never only on hashes.
  Added Add(const Tree& tree, NodeId node);
  // Call when no further child of `state` will be added.
  void Close(StateId state) { states_[state].closed = true; }
  void Prove(StateId state);

  bool proved(StateId state) const { return states_[state].proved; }
  // Proofs of all states, by StateId.
  std::vector<Proof> Proofs() const;
  // The first node of the state.
  NodeId node(StateId state) const { return states_[state].node; }
  StateId state(NodeId node) const { return state_of_[node]; }
  uint32_t size() const { return static_cast<uint32_t>(states_.size()); }
  // One entry per edge, latest first.
  std::vector<StateId> Parents(StateId state) const;

 private:
  static constexpr uint32_t kNone = 0xFFFFFFFFu;
  struct State {
    NodeId node = kNoNode;
    uint32_t first_edge = kNone;  // list of edges from parents
    bool closed = false;
    bool proved = false;
  };
  struct Edge {
    StateId parent;
    uint32_t next;
  };
  uint64_t Key(const Tree& tree, NodeId node);
  bool Same(const Tree& tree, NodeId a, NodeId b) const;

  const Merge merge_;
  std::vector<State> states_;
  std::vector<Edge> edges_;
  std::vector<StateId> state_of_;    // by node; kNone: not added
  std::vector<uint64_t> step_sums_;  // by node: sum of its steps' hashes
  absl::flat_hash_map<uint64_t, StateId> by_key_;
};

}  // namespace espalier

#endif  // ESPALIER_SEARCH_BEST_FIRST_PROOF_GRAPH_H_
