// The token sequences that a backend holds, as a tree with shared prefixes, and
// the pages that hold their keys and values.
//
//   0 (empty)
//   `-- 1 prompt [0, 70)       pages A B         complete
//        |-- 2 step [70, 78)   pages A B'        complete
//        `-- 3 step [70, 160)  pages A B'' C     stored to 128 of 160
//
// A sequence *stores* if its table has keys and values of tokens of its own; it
// then has the pages of its whole path: full pages are shared, the page in
// which it begins is a copy. So a storing sequence also covers all its
// ancestors: 1 may lose its table, since a copy of the first 70 slots of 2
// restores it.
//
// Memory is reclaimed from the leaves up, page by page, in the order of
// eviction_order.h:
//  * a covered sequence loses its partly filled page, at no cost;
//  * any other loses its last page, which is computed again when needed. A
//    table left with no tokens of its own sequence moves to the parent, if the
//    parent stores less;
//  * what nobody needs any more (SetRetention(id, kEvictNow)) goes at once.
// Locked sequences lose nothing.
//
// Texts that share at least their first page share it in memory: Extend splits
// the existing sequence. An id always names the same path of tokens.
//
// Externally synchronised.
#ifndef ESPALIER_MODELS_SCHEDULE_PREFIX_TREE_H_
#define ESPALIER_MODELS_SCHEDULE_PREFIX_TREE_H_

#include <cstdint>
#include <limits>
#include <vector>

#include "absl/types/span.h"
#include "models/backend/backend.h"
#include "models/pages/page_pool.h"
#include "models/schedule/eviction_order.h"

namespace espalier {

// The pages of positions 0 .. resident-1 of one path.
struct PageTable {
  std::vector<PageId> pages;
  int resident = 0;
};

struct Sequence {
  SeqId parent = -1;
  int start = 0;                // path position of its first token
  std::vector<int32_t> tokens;  // without its ancestors'
  uint64_t hash = 0;            // of its path's tokens (DraftSource::Hash)
  PageTable table;
  std::vector<float> hidden;    // at its last token; empty: not computed
  int refs = 0;                 // returned and not released
  int locks = 0;                // uses that forbid eviction
  int ever_resident = 0;        // highest position ever computed
  std::vector<SeqId> children;  // live ones
  bool live = false;
  bool split = false;  // made at a fork of texts; Extend looks into it
  // While its keys and values are being computed: the sequence whose table
  // receives them, itself or a descendant. -1: not being computed.
  SeqId filler = -1;
  int64_t wanted = 0;  // of a filler: last step that needed it

  // State of its eviction; managed by the tree.
  bool stores = false;      // table.resident > start
  int stored_children = 0;  // children that store or are covered
  SeqId group = kEmptySeq;  // EvictionOrder
  int64_t last_use = 0;     // tick of the last use
  float priority = kNoRetention;
  float below = kEvictNow;  // highest of its children without pages
  bool listed = false;      // evictable, ordered by `entry`
  EvictionOrder::Entry entry = {};

  int end() const { return start + static_cast<int>(tokens.size()); }
  bool resident() const { return table.resident == end(); }
  bool covered() const { return stored_children > 0; }
};

class PrefixTree {
 public:
  explicit PrefixTree(PagePool& pool);
  ~PrefixTree();
  PrefixTree(const PrefixTree&) = delete;
  PrefixTree& operator=(const PrefixTree&) = delete;

  // The sequence `parent` followed by `tokens`, created if new. Adds one
  // reference.
  SeqId Extend(SeqId parent, absl::Span<const int32_t> tokens);
  // Same for a continuation whose keys and values are in `table`: takes the
  // table over, or drops it if the child exists and stores as much.
  SeqId Adopt(SeqId parent, absl::Span<const int32_t> tokens, PageTable table);
  void AddRef(SeqId id) { ++at(id).refs; }
  void Release(SeqId id);

  Sequence& at(SeqId id) { return sequences_[static_cast<size_t>(id)]; }
  const Sequence& at(SeqId id) const {
    return sequences_[static_cast<size_t>(id)];
  }
  void Lock(SeqId id);
  void Unlock(SeqId id);
  void Touch(SeqId id);
  void SetRetention(SeqId id, float priority);

  // A sequence whose table holds the longest stored prefix of the path of `id`;
  // `*length` is the length of that prefix, 0 if none.
  SeqId FindStored(SeqId id, int* length) const;
  // Makes `table` a fork of the first `length` positions of `from`: full pages
  // are shared, the filled part of the last one is copied. False, and nothing
  // changed, if eviction cannot free a page for the copy.
  bool Fork(const PageTable& from, int length, PageTable& table);
  // Adds pages for all positions below `length`; evicts as needed.
  bool Grow(PageTable& table, int length);
  void ReleasePages(PageTable& table);
  // To be called after table.resident of `id` has changed.
  void TableChanged(SeqId id);

  int live() const { return live_; }  // sequences, except the empty one
  int64_t evicted_pages() const { return evicted_pages_; }

 private:
  SeqId FindChild(SeqId parent, absl::Span<const int32_t> tokens) const;
  SeqId Make(SeqId parent, absl::Span<const int32_t> tokens);
  // Finds the child of `parent` that shares at least a page of `tokens`, and
  // splits it where they differ; returns its upper half, or -1.
  SeqId SplitShared(SeqId parent, absl::Span<const int32_t> tokens);
  SeqId Split(SeqId id, int length);
  PageId AllocateEvicting();
  // Frees at least one page of a listed sequence, if it has unshared pages.
  void Evict(SeqId id);
  // Moves a table without tokens of its own to an ancestor, or drops it.
  void Settle(SeqId id);
  void SetStores(SeqId id, bool stores);
  // Updates the sequence's place in the eviction order.
  void Relist(SeqId id);
  void Unlist(Sequence& sequence);
  // The next listed sequence to evict; -1: none.
  SeqId Lowest();
  // `id` no longer stores anything: its priority now counts for its ancestors.
  void RaiseAbove(SeqId id);
  // The priority of `id` went down: updates its ancestors, O(siblings).
  void RecountAbove(SeqId id);
  float Worth(const Sequence& sequence) const;
  void FreeIfUnused(SeqId id);

  PagePool& pool_;
  std::vector<Sequence> sequences_;
  std::vector<SeqId> unused_;
  EvictionOrder order_;
  bool ordered_ = false;  // order_ is maintained: memory has run short
  int64_t tick_ = 0;
  int64_t evicted_pages_ = 0;
  int live_ = 0;
};

}  // namespace espalier

#endif  // ESPALIER_MODELS_SCHEDULE_PREFIX_TREE_H_
