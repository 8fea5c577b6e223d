// Packs sequences with common prefixes so that each prefix is computed once:
// the tree-packed forward of Prefix Grouper (Liu et al. 2025) and TreePO (Li et
// al. 2025). A token's hidden state depends only on the tokens before it, so
// losses and gradients are those of separate sequences.
//
//   a b c d          a b c d e f
//   a b c e    ->        |   | |          6 rows instead of 12
//   a b f            (d, e below c; f below b)
//
//   const TreeStream trees = PackTrees(sequences, /*share=*/true);
//   trees.rows[s][t];  // where token t of sequence s is computed
//
// Stateless: thread-safe.
#ifndef ESPALIER_SRC_LEARN_TREE_PACKER_H_
#define ESPALIER_SRC_LEARN_TREE_PACKER_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "models/differentiable/llama_net.h"
#include "src/learn/packer.h"

namespace espalier {

struct TreeStream {
  net::PackedStream stream;
  // [size], the row of the previous token; -1 for the first of a tree.
  std::vector<int32_t> parents;
  // [sequences][tokens], the row of each token.
  std::vector<std::vector<int32_t>> rows;
};

// Sequences share rows if they have at least the first kWorthSharing tokens in
// common; without `share`, none do. Rows depend only on the set of sequences.
inline constexpr size_t kWorthSharing = 8;
TreeStream PackTrees(absl::Span<const TrainSequence* const> sequences,
                     bool share);

// Length of the common prefix.
size_t CommonPrefix(const std::vector<int32_t>& a,
                    const std::vector<int32_t>& b);

}  // namespace espalier

#endif  // ESPALIER_SRC_LEARN_TREE_PACKER_H_
