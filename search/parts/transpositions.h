// Transpositions: nodes with the same state share the subtree below them.
//
//   root -- "a=2" -- "b=3"           <- state {a=2, b=3}
//     `---- "b=3" -- "a=2" (alias)   <- the same: continues from the node above
//
// Two nodes have the same state if their keys agree:
//   last_step   the last step's text: it determines the state (Markov)
//   step_set    the steps' texts in any order: steps commute
// The first node of a state is the original; later ones are its aliases
// (Tree::Original), keep their own text, tokens and visits, and never have
// children. A node whose original would be one of its own ancestors is not made
// an alias; the search cuts longer cycles itself (when it reaches a state it is
// already in).
//
// Externally synchronised.
#ifndef ESPALIER_SEARCH_PARTS_TRANSPOSITIONS_H_
#define ESPALIER_SEARCH_PARTS_TRANSPOSITIONS_H_

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "search/tree/tree.h"

namespace espalier {

enum class Share : uint8_t { kNone, kLastStep, kStepSet };
inline constexpr std::array<std::string_view, 3> kShareNames = {
    "none", "last_step", "step_set"};

class TranspositionTable {
 public:
  explicit TranspositionTable(Share share) : share_(share) {}

  bool on() const { return share_ != Share::kNone; }
  // Registers a new node: makes it an alias if its state is known.
  void Enter(Tree& tree, NodeId node);

 private:
  // Key of the state of `node`, whose parent was entered before.
  uint64_t Key(const Tree& tree, NodeId node);

  const Share share_;
  absl::flat_hash_map<uint64_t, NodeId> first_;
  std::vector<uint64_t> set_sums_;  // by node: sum of its steps' hashes
};

}  // namespace espalier

#endif  // ESPALIER_SEARCH_PARTS_TRANSPOSITIONS_H_
