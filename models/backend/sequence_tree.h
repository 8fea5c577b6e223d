// Token sequences as a tree with shared prefixes, for backends that hold no
// keys and values: ids, references and paths.
//
//   SequenceTree tree;
//   SeqId prompt = tree.Extend(kEmptySeq, tokens);
//   SeqId step = tree.Extend(prompt, more);
//   tree.Path(step);  // tokens, then more
//
// Thread-compatible.
#ifndef ESPALIER_MODELS_BACKEND_SEQUENCE_TREE_H_
#define ESPALIER_MODELS_BACKEND_SEQUENCE_TREE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "models/backend/backend.h"

namespace espalier {

class SequenceTree {
 public:
  SequenceTree() : nodes_(1) {}

  // As Backend's.
  SeqId Extend(SeqId parent, absl::Span<const int32_t> tokens);
  void Release(SeqId seq);

  // True for the empty sequence and those that are stored.
  bool Holds(SeqId seq) const {
    return seq >= 0 && seq < static_cast<SeqId>(nodes_.size()) &&
           (seq == kEmptySeq || at(seq).refs > 0 || at(seq).children > 0);
  }
  // Tokens of the whole path.
  int end(SeqId seq) const { return at(seq).end; }
  std::vector<int32_t> Path(SeqId seq) const;
  // The ancestor next to the empty sequence, which is its own.
  SeqId Root(SeqId seq) const;
  absl::Span<const int32_t> tokens(SeqId seq) const { return at(seq).tokens; }
  int live() const { return live_; }  // sequences, except the empty one

 private:
  struct Node {
    SeqId parent = kEmptySeq;
    std::vector<int32_t> tokens;  // without its ancestors'
    int end = 0;
    int refs = 0;
    int children = 0;
  };

  Node& at(SeqId seq) { return nodes_[static_cast<size_t>(seq)]; }
  const Node& at(SeqId seq) const { return nodes_[static_cast<size_t>(seq)]; }

  std::vector<Node> nodes_;
  std::vector<SeqId> free_;
  std::map<std::pair<SeqId, std::vector<int32_t>>, SeqId> index_;
  int live_ = 0;
};

}  // namespace espalier

#endif  // ESPALIER_MODELS_BACKEND_SEQUENCE_TREE_H_
