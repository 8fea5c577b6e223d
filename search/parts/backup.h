// Backup: how a finished visit of value v updates the nodes of its path.
//
//   mean        q(s) <- mean of the values of all visits
//               (UCT, PUCT: Kocsis & Szepesvari 2006; Silver et al. 2017)
//   graph       q(s) <- (u(s) + sum_c N(s,c) q(c)) / (1 + sum_c N(s,c)), where
//               c may be reached from several nodes and N(s,c) counts the
//               visits through s only, u(s) is the node's own value
//               (KataGo, docs/GraphSearch.md)
//
// Both finish the visit. On a tree where every node has one parent and a visit
// ends where it expands, `graph` and `mean` are the same.
#ifndef ESPALIER_SEARCH_PARTS_BACKUP_H_
#define ESPALIER_SEARCH_PARTS_BACKUP_H_

#include "search/parts/path_visit.h"
#include "search/tree/tree.h"

namespace espalier {

inline void MeanBackup(Tree&, PathVisit& visit, float value) {
  visit.Finish([value](NodeId, Node& node) {
    node.q += (value - node.q) / static_cast<float>(node.visits);
  });
}
void GraphBackup(Tree& tree, PathVisit& visit, float value);

// For methods that keep a value in q from a node's creation: sets q of new
// children of `parent` to their score, unless a better value is there already.
void StartAtScores(Tree& tree, NodeId parent);

// A node's own score; without one (the root), the best of its children's.
float OwnValue(const Tree& tree, NodeId id);

}  // namespace espalier

#endif  // ESPALIER_SEARCH_PARTS_BACKUP_H_
