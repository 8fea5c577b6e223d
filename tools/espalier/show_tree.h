// A search tree as text, for eyes.
#ifndef ESPALIER_TOOLS_ESPALIER_SHOW_TREE_H_
#define ESPALIER_TOOLS_ESPALIER_SHOW_TREE_H_

#include <string>
#include <vector>

#include "espalier/search_result.h"
#include "src/trace/stored_tree.h"

namespace espalier {

// A step's score in four columns, a dash where it has none.
std::string Score(float score);
// A step on one line, whatever it holds.
std::string OneLine(const std::string& text);

// A line a node with its scores, in the order of a walk; indented where ways
// part.
std::string TreeText(const std::vector<TreeNode>& tree);

std::vector<TreeNode> Describe(const StoredTree& tree);

}  // namespace espalier

#endif  // ESPALIER_TOOLS_ESPALIER_SHOW_TREE_H_
