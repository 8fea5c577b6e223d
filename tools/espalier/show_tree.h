// Renders a search tree as text.
#ifndef ESPALIER_TOOLS_ESPALIER_SHOW_TREE_H_
#define ESPALIER_TOOLS_ESPALIER_SHOW_TREE_H_

#include <string>
#include <vector>

#include "espalier/search_result.h"
#include "src/trace/stored_tree.h"

namespace espalier {

// A step's score in four columns, a dash if it has none.
std::string Score(float score);
// Its scores with their levels, path and step first; of further levels those
// that it has.
std::string LevelScores(const TreeNode& node);
// A step on one line, whatever it contains.
std::string OneLine(const std::string& text);

// One line per node with its scores, in depth-first order; indented at
// branches.
std::string TreeText(const std::vector<TreeNode>& tree);

std::vector<TreeNode> Describe(const StoredTree& tree);

}  // namespace espalier

#endif  // ESPALIER_TOOLS_ESPALIER_SHOW_TREE_H_
