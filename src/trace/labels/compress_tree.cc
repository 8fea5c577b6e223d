#include "src/trace/labels/compress_tree.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>

namespace espalier {
namespace {

constexpr size_t kLeastChildren = 4;

// Makes node `child` the window of itself and its parent.
void Merge(size_t child, StoredTree& tree) {
  StoredNode& node = tree.nodes[child];
  const auto above = static_cast<size_t>(node.parent);
  const StoredNode& parent = tree.nodes[above];
  const auto append = [&](auto& column) {
    if (column.empty()) return;
    for (const StoredNode* from :
         {&parent, static_cast<const StoredNode*>(&node)}) {
      for (uint32_t i = 0; i < from->num_tokens; ++i) {
        const auto value = column[from->token_begin + i];
        column.push_back(value);
      }
    }
  };
  const auto token_begin = static_cast<uint32_t>(tree.tokens.size());
  append(tree.tokens);
  append(tree.logprobs);
  append(tree.sampler_logprobs);
  const std::string text =
      std::string(tree.Text(above)).append(std::string(tree.Text(child)));
  node.text_begin = static_cast<uint32_t>(tree.text.size());
  node.text_bytes = static_cast<uint32_t>(text.size());
  tree.text += text;
  node.token_begin = token_begin;
  node.num_tokens += parent.num_tokens;
  node.logprob += parent.logprob;
  node.parent = parent.parent;
}

}  // namespace

CompressedTree CompressTree(const StoredTree& tree, RandomStream& random) {
  CompressedTree out{.tree = tree,
                     .merged = std::vector<bool>(tree.nodes.size())};
  std::vector<std::vector<size_t>> children = tree.ChildLists();
  std::deque<size_t> queue = {0};
  while (!queue.empty()) {
    const size_t node = queue.front();
    queue.pop_front();
    std::vector<size_t> stay;
    const bool may = node != 0 && !out.merged[node] &&
                     children[node].size() >= kLeastChildren;
    bool changed = false;
    for (const size_t child : children[node]) {
      if (may && !changed && random.Uniform() < 0.5f) {
        Merge(child, out.tree);
        out.merged[child] = changed = true;
      } else {
        stay.push_back(child);
      }
      queue.push_back(child);
    }
    children[node] = stay;
  }
  return out;
}

}  // namespace espalier
