// The token sequences that a backend holds, as a tree that shares prefixes,
// and the pages in which their keys and values stand.
//
//   0 (empty)
//   `-- 1 prompt [0, 70)       pages A B         complete
//        |-- 2 step [70, 78)   pages A B'        complete
//        `-- 3 step [70, 79)   pages A B''       resident to 78 of 79
//
// A sequence holds references to the pages of its whole path: full pages are
// shared with its parent, the page that it begins in is a copy of its own. It
// is resident up to the position to which keys and values are stored; eviction
// takes its pages and leaves its tokens, so that they can be computed again.
//
// Externally synchronised.
#ifndef ESPALIER_MODELS_SCHEDULE_PREFIX_TREE_H_
#define ESPALIER_MODELS_SCHEDULE_PREFIX_TREE_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "models/pages/page_pool.h"
#include "models/schedule/backend.h"

namespace espalier {

// The pages of positions 0 .. resident-1 of one path.
struct PageTable {
  std::vector<PageId> pages;
  int resident = 0;
};

struct Sequence {
  SeqId parent = -1;
  int start = 0;                // path position of its first own token
  std::vector<int32_t> tokens;  // its own
  PageTable table;
  std::vector<float> hidden;    // at its last token; empty: not computed
  int refs = 0;                 // handed out and not released
  int locks = 0;                // uses that forbid eviction
  int ever_resident = 0;        // highest table.resident so far
  int64_t last_use = 0;         // tick of the last use, for eviction
  std::vector<SeqId> children;  // live ones
  bool live = false;

  int end() const { return start + static_cast<int>(tokens.size()); }
  bool resident() const { return table.resident == end(); }
};

class PrefixTree {
 public:
  explicit PrefixTree(PagePool& pool);
  ~PrefixTree();
  PrefixTree(const PrefixTree&) = delete;
  PrefixTree& operator=(const PrefixTree&) = delete;

  // The child of `parent` with these tokens, made if it is not there. One
  // reference more.
  SeqId Extend(SeqId parent, absl::Span<const int32_t> tokens);
  // As Extend, for tokens whose keys and values are in `table`, which is taken
  // over (or dropped, if the child was there and knows as much).
  SeqId Adopt(SeqId parent, absl::Span<const int32_t> tokens, PageTable table);
  void AddRef(SeqId id) { ++at(id).refs; }
  void Release(SeqId id);

  Sequence& at(SeqId id) { return sequences_[static_cast<size_t>(id)]; }
  const Sequence& at(SeqId id) const {
    return sequences_[static_cast<size_t>(id)];
  }
  void Lock(SeqId id) { ++at(id).locks; }
  void Unlock(SeqId id);
  void Touch(SeqId id) { at(id).last_use = ++tick_; }

  // Makes `table` a fork of `from` after its first `length` positions: full
  // pages shared, the filled part of the last one copied. False, and nothing
  // changed, if there is no page for the copy even after eviction.
  bool Fork(const PageTable& from, int length, PageTable& table);
  // Adds pages until positions up to `length` have one; evicts as needed.
  bool Grow(PageTable& table, int length);
  void Drop(PageTable& table);

  int live() const { return live_; }  // sequences, the empty one not counted

 private:
  SeqId FindChild(SeqId parent, absl::Span<const int32_t> tokens) const;
  // Allocates, evicting the least recently used unlocked sequences.
  PageId AllocateEvicting();
  void FreeIfUnused(SeqId id);

  PagePool& pool_;
  std::vector<Sequence> sequences_;
  std::vector<SeqId> unused_;
  int64_t tick_ = 0;
  int live_ = 0;
};

}  // namespace espalier

#endif  // ESPALIER_MODELS_SCHEDULE_PREFIX_TREE_H_
