// Backup: what a finished visit of value v does to the nodes of its path.
//
//   mean        q(s) <- mean of the values of all visits
//               (UCT, PUCT: Kocsis & Szepesvari 2006; Silver et al. 2017)
//   children    q(s) <- sum_c N(c) q(c) / sum_c N(c), the leaf's own q stays
//               (MCTS*, ReST-MCTS*: Zhang et al. 2024, arXiv:2406.03816)
//   td          q(s) <- (1 - lr) q(s) + lr gamma sum_c N(c) q(c) / sum_c N(c)
//               (T32; Besta et al. 2025, arXiv:2501.11223)
//   graph       q(s) <- (u(s) + sum_c N(s,c) q(c)) / (1 + sum_c N(s,c)), where
//               c may be reached from several nodes and N(s,c) counts the
//               visits through s alone, u(s) is the node's own value
//               (KataGo, docs/GraphSearch.md)
//
// All finish the visit. On a tree where every node has one parent and a visit
// ends where it expands, `graph` and `mean` are the same.
#ifndef ESPALIER_SEARCH_PARTS_BACKUP_H_
#define ESPALIER_SEARCH_PARTS_BACKUP_H_

#include "search/parts/path_visit.h"
#include "search/tree/tree.h"

namespace espalier {

inline void MeanBackup(Tree&, PathVisit& visit, float value) {
  visit.Finish([value](Node& node) {
    node.q += (value - node.q) / static_cast<float>(node.visits);
  });
}
// Sets the leaf's q to `value` first.
void ChildrenBackup(Tree& tree, PathVisit& visit, float value);
void TdBackup(Tree& tree, PathVisit& visit, float value, float lr, float gamma);
void GraphBackup(Tree& tree, PathVisit& visit, float value);

// For methods that keep a value in q from a node's creation on: gives new
// children of `parent` their score, if nothing better is there already.
void StartAtScores(Tree& tree, NodeId parent);
// What such a method backs up at the end of `visit`: the leaf's q, in which
// forward steps may have their share; `value` where a verifier judges
// responses and the leaf is one, or where it has no score.
float LeafValue(const Tree& tree, const PathVisit& visit, float value,
                bool verdicts);

// A node's own score; of one without (the root) the best of its children's.
float OwnValue(const Tree& tree, NodeId id);
// sum_c N(c) q(c) / sum_c N(c) over visited children; `fallback` if none is.
float MeanOfChildren(const Tree& tree, NodeId node, float fallback);

}  // namespace espalier

#endif  // ESPALIER_SEARCH_PARTS_BACKUP_H_
