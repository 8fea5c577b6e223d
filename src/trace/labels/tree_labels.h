// Step labels from the outcomes of a finished tree.
//
//   const std::vector<OutcomeCount> counts = CountOutcomes(tree);
//   counts[i].share();               // Monte-Carlo estimate of node i
//   const std::vector<float> v = QualityValues(tree);
//
// Stateless functions: thread-safe.
#ifndef ESPALIER_SRC_TRACE_LABELS_TREE_LABELS_H_
#define ESPALIER_SRC_TRACE_LABELS_TREE_LABELS_H_

#include <cstdint>
#include <limits>
#include <vector>

#include "src/trace/stored_tree.h"

namespace espalier {

// Graded ends of responses that go through a node, including itself. An end
// sampled twice counts twice. A response truncated by a budget or a length
// limit has no end and does not count.
struct OutcomeCount {
  uint32_t correct = 0;
  uint32_t finished = 0;
  // In [0, 1]; NaN if nothing below has ended.
  float share() const {
    return finished == 0
               ? std::numeric_limits<float>::quiet_NaN()
               : static_cast<float>(correct) / static_cast<float>(finished);
  }
};

// One per node: the Monte-Carlo estimate of Math-Shepherd and OmegaPRM, the
// share of correct ends among the ends below.
std::vector<OutcomeCount> CountOutcomes(const StoredTree& tree);

// The quality value of ReST-MCTS* (Zhang et al. 2024), one per node in [0, 1]:
//
//   v_0 = 0,  v_k = max(0, v_{k-1} + w_k),  w_k = +-(1 - v_{k-1}) / m_k
//
// with + for a step on a route to a correct end and m_k the steps from it to
// the nearest one, counted so that the correct end itself has 1: it gets v = 1.
// Off the routes the sign is -, and m is that of the nearest ancestor on one.
// NaN if the tree has no correct end, and for nodes with no graded end below
// them: the program of the paper labels none of these
// (get_full_value_samples_vm).
std::vector<float> QualityValues(const StoredTree& tree);

}  // namespace espalier

#endif  // ESPALIER_SRC_TRACE_LABELS_TREE_LABELS_H_
