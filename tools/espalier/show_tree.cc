#include "tools/espalier/show_tree.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_format.h"
#include "base/text.h"
#include "tools/espalier/printable.h"

namespace espalier {

std::string Score(float score) {
  return std::isnan(score) ? "   -" : absl::StrFormat("%4.2f", score);
}

std::string LevelScores(const TreeNode& node) {
  std::string text = absl::StrFormat("path %s  step %s", Score(node.path_score),
                                     Score(node.step_score));
  const StepScores scores = node.scores();
  for (size_t l = 0; l < kLevels; ++l) {
    const auto level = static_cast<Level>(l);
    if (level == Level::kPath || level == Level::kStep) continue;
    if (std::isnan(scores[level])) continue;
    absl::StrAppendFormat(&text, "  %s %s", AbslView(kLevelNames[l]),
                          Score(scores[level]));
  }
  return text;
}

std::string OneLine(const std::string& text) {
  std::string out = Printable(text);
  std::erase(out, '\n');
  std::replace(out.begin(), out.end(), '\t', ' ');
  return out;
}

std::string TreeText(const std::vector<TreeNode>& tree) {
  std::string text = absl::StrFormat("tree: %d nodes\n", tree.size());
  std::vector<std::vector<size_t>> children(tree.size());
  for (size_t i = 1; i < tree.size(); ++i) {
    children[static_cast<size_t>(tree[i].parent)].push_back(i);
  }
  struct Open {
    size_t node;
    std::string indent;
  };
  std::vector<Open> open = {{0, ""}};
  while (!open.empty()) {
    const Open at = open.back();
    open.pop_back();
    const TreeNode& node = tree[at.node];
    std::string indent = at.indent;
    if (at.node != 0) {
      absl::StrAppendFormat(&text, "%s%-*s %s  drawn %u", indent,
                            std::max(1, 36 - static_cast<int>(indent.size())),
                            OneLine(node.text), LevelScores(node), node.draws);
      if (node.visits > 0) {
        absl::StrAppendFormat(&text, "  visits %u  Q %.2f", node.visits,
                              static_cast<double>(node.q));
      }
      text += "\n";
    }
    // Indents only at a branch.
    if (children[at.node].size() > 1) indent += "  ";
    for (auto it = children[at.node].rbegin(); it != children[at.node].rend();
         ++it) {
      open.push_back({*it, indent});
    }
  }
  return text;
}

std::vector<TreeNode> Describe(const StoredTree& tree) {
  std::vector<TreeNode> nodes;
  for (size_t i = 0; i < tree.nodes.size(); ++i) {
    const StoredNode& node = tree.nodes[i];
    nodes.push_back({.parent = node.parent,
                     .kind = NodeKindName(node.kind),
                     .text = std::string(tree.Text(i)),
                     .logprob = node.logprob,
                     .step_score = node.step_score,
                     .path_score = node.path_score,
                     .outcome_score = node.outcome_score,
                     .window_scores = node.window_scores,
                     .q = node.q,
                     .visits = node.visits,
                     .draws = node.draws,
                     .terminal = node.terminal()});
  }
  return nodes;
}

}  // namespace espalier
