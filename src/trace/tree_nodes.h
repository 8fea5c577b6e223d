// tree_nodes(search_id): the nodes of a stored tree as rows of SQL.
//
//   SELECT node, text, q FROM tree_nodes(17) WHERE verdict = 'correct'
//
// Columns: node, parent, depth, kind, text, tokens, visits, draws, prior, q,
// logprob, step_score, path_score, answer, verdict (NULL, 'wrong', 'correct'),
// terminal, truncated, proved, twin, outcome_score, window2_score ..
// window4_score. Parent is NULL for the root; scores are NULL where the node
// was not scored, or not at that level.
#ifndef ESPALIER_SRC_TRACE_TREE_NODES_H_
#define ESPALIER_SRC_TRACE_TREE_NODES_H_

#include "absl/status/status.h"
#include "src/trace/run_db.h"

namespace espalier {

// Registers tree_nodes with the database's connection. `db` outlives it.
absl::Status AddTreeNodes(RunDb& db);

}  // namespace espalier

#endif  // ESPALIER_SRC_TRACE_TREE_NODES_H_
