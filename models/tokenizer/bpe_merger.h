// Byte-pair encoding merges: of all adjacent pairs of a piece, the one of
// lowest rank merges, leftmost first, until none can (Sennrich et al. 2016,
// "Neural Machine Translation of Rare Words with Subword Units").
//
//   piece  h e l l o      ranks: (l,l) 0, (h,e) 1, (he,ll) 2
//          h e ll o
//          he ll o
//          hell o
//
// Short pieces scan for the lowest rank; long ones keep candidates in a heap,
// O(n log n), so that a megabyte without a space stays fast.
//
// Immutable once filled; thread-safe.
#ifndef ESPALIER_MODELS_TOKENIZER_BPE_MERGER_H_
#define ESPALIER_MODELS_TOKENIZER_BPE_MERGER_H_

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"

namespace espalier {

class BpeMerger {
 public:
  // The pair (left, right) becomes `merged`; earlier calls have lower ranks. A
  // known pair keeps its first rank.
  void Add(int32_t left, int32_t right, int32_t merged);
  // Same with an explicit rank; among equal ranks the leftmost pair merges
  // first.
  void Add(int32_t left, int32_t right, int32_t merged, int32_t rank);

  // Merges `ids`, initially one per byte, and appends the result to `out`.
  void Merge(absl::Span<const int32_t> ids, std::vector<int32_t>& out) const;

  size_t size() const { return merges_.size(); }

 private:
  struct Rule {
    int32_t rank;
    int32_t merged;
  };
  static uint64_t Key(int32_t left, int32_t right) {
    return static_cast<uint64_t>(static_cast<uint32_t>(left)) << 32 |
           static_cast<uint32_t>(right);
  }
  const Rule* Find(int32_t left, int32_t right) const;
  void MergeShort(absl::Span<const int32_t> ids,
                  std::vector<int32_t>& out) const;
  void MergeLong(absl::Span<const int32_t> ids,
                 std::vector<int32_t>& out) const;

  absl::flat_hash_map<uint64_t, Rule> merges_;
};

}  // namespace espalier

#endif  // ESPALIER_MODELS_TOKENIZER_BPE_MERGER_H_
