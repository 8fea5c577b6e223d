// Stored trees built by hand, for tests.
#ifndef ESPALIER_TESTS_TRACE_LABELS_SMALL_TREE_H_
#define ESPALIER_TESTS_TRACE_LABELS_SMALL_TREE_H_

#include <string>

#include "src/trace/stored_tree.h"

namespace espalier {

struct SmallTree {
  StoredTree tree;

  SmallTree() { tree.nodes.push_back({.kind = NodeKind::kPrompt}); }
  int size() const { return static_cast<int>(tree.nodes.size()); }

  // Adds a step; one with a verdict ends the response. One token per byte.
  int Add(int parent, const std::string& text,
          NodeVerdict verdict = NodeVerdict::kNotAsked, int draws = 1,
          float logprob = -1) {
    const bool ends = verdict != NodeVerdict::kNotAsked;
    tree.nodes.push_back(
        {.parent = parent,
         .kind = ends ? NodeKind::kAnswer : NodeKind::kStep,
         .flags = static_cast<uint8_t>(ends ? kTerminal : 0),
         .verdict = verdict,
         .draws = static_cast<uint32_t>(draws),
         .logprob = logprob,
         .token_begin = static_cast<uint32_t>(tree.tokens.size()),
         .num_tokens = static_cast<uint32_t>(text.size()),
         .text_begin = static_cast<uint32_t>(tree.text.size()),
         .text_bytes = static_cast<uint32_t>(text.size())});
    tree.text += text;
    for (const char c : text) {
      tree.tokens.push_back(static_cast<unsigned char>(c));
      tree.logprobs.push_back(logprob / static_cast<float>(text.size()));
    }
    tree.sampler_logprobs = tree.logprobs;
    return size() - 1;
  }
  int Cut(int parent, const std::string& text) {
    const int id = Add(parent, text);
    tree.nodes.back().flags = kTruncated;
    return id;
  }
};

}  // namespace espalier

#endif  // ESPALIER_TESTS_TRACE_LABELS_SMALL_TREE_H_
