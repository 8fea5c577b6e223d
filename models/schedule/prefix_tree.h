// The token sequences that a backend holds, as a tree that shares prefixes,
// and the pages in which their keys and values stand.
//
//   0 (empty)
//   `-- 1 prompt [0, 70)       pages A B         complete
//        |-- 2 step [70, 78)   pages A B'        complete
//        `-- 3 step [70, 160)  pages A B'' C     stored to 128 of 160
//
// A sequence *stores* if its table has keys and values of tokens of its own; it
// then has the pages of its whole path: full pages are shared, the page in
// which it begins is a copy. So what stores also covers all sequences above:
// 1 may lose its table, for a copy of the first 70 slots of 2 makes it again.
//
// Memory is taken back from the leaf end, page by page, in the order of
// eviction_order.h:
//  * a sequence that is covered loses its page that is not full, at no cost;
//  * else it loses its last page, and what is lost is computed again when
//    needed. A table left without tokens of its sequence's own passes to the
//    sequence above, if that knows less;
//  * what nobody can need (SetRetention(id, kEvictNow)) goes at once.
// Locked sequences lose nothing.
//
// Texts whose first page or more is equal share it: Extend splits the sequence
// that is there. An id keeps naming the same path of tokens.
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
  int start = 0;                // path position of its first own token
  std::vector<int32_t> tokens;  // its own
  PageTable table;
  std::vector<float> hidden;    // at its last token; empty: not computed
  int refs = 0;                 // handed out and not released
  int locks = 0;                // uses that forbid eviction
  int ever_resident = 0;        // highest of its positions ever computed
  std::vector<SeqId> children;  // live ones
  bool live = false;
  bool split = false;  // made where texts part, and looked into by Extend
  // While keys and values of its tokens are being computed: the sequence whose
  // table takes them, itself or one below. -1: they are not.
  SeqId filler = -1;
  int64_t wanted = 0;  // of a filler: the step in which it was last asked for

  // What decides its eviction; the tree's own.
  bool stores = false;      // table.resident > start
  int stored_children = 0;  // that store or are covered
  SeqId group = kEmptySeq;  // EvictionOrder
  int64_t last_use = 0;     // tick of the last use
  float priority = kNoRetention;
  float below = kEvictNow;  // highest of its children that lost their pages
  bool listed = false;      // may lose its pages, in the order of `entry`
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

  // The path `parent` followed by these tokens, made if it is not there. One
  // reference more.
  SeqId Extend(SeqId parent, absl::Span<const int32_t> tokens);
  // As Extend, for a continuation whose keys and values are in `table`, which
  // is taken over (or dropped, if the child was there and knows as much).
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

  // A sequence whose table has the longest stored beginning of the path of
  // `id`, and `*length`, how much of it: 0 if none.
  SeqId FindStored(SeqId id, int* length) const;
  // Makes `table` a fork of `from` after its first `length` positions: full
  // pages shared, the filled part of the last one copied. False, and nothing
  // changed, if there is no page for the copy even after eviction.
  bool Fork(const PageTable& from, int length, PageTable& table);
  // Adds pages until positions up to `length` have one; evicts as needed.
  bool Grow(PageTable& table, int length);
  void ReleasePages(PageTable& table);
  // Says that table.resident of `id` has changed.
  void TableChanged(SeqId id);

  int live() const { return live_; }  // sequences, the empty one not counted
  int64_t evicted_pages() const { return evicted_pages_; }

 private:
  SeqId FindChild(SeqId parent, absl::Span<const int32_t> tokens) const;
  SeqId Make(SeqId parent, absl::Span<const int32_t> tokens);
  // The child of `parent` that shares at least a page's worth of `tokens`, cut
  // in two where they part; its upper half, or -1.
  SeqId SplitShared(SeqId parent, absl::Span<const int32_t> tokens);
  SeqId Split(SeqId id, int length);
  PageId AllocateEvicting();
  // Takes at least one page from a listed sequence, if it has one of its own.
  void Evict(SeqId id);
  // Hands a table without own tokens upwards or drops it.
  void Settle(SeqId id);
  void SetStores(SeqId id, bool stores);
  // Brings the order up to date; frees what is dropped.
  void Relist(SeqId id);
  void Unlist(Sequence& sequence);
  // The listed sequence to go first; -1: none.
  SeqId Lowest();
  // `id`, which stores nothing any more, counts for what is above it.
  void RaiseAbove(SeqId id);
  // `id` is worth less, or will not be asked for: counts anew, O(siblings).
  void RecountAbove(SeqId id);
  float Worth(const Sequence& sequence) const;
  void FreeIfUnused(SeqId id);

  PagePool& pool_;
  std::vector<Sequence> sequences_;
  std::vector<SeqId> unused_;
  EvictionOrder order_;
  bool ordered_ = false;  // order_ is kept: memory was short once
  int64_t tick_ = 0;
  int64_t evicted_pages_ = 0;
  int live_ = 0;
};

}  // namespace espalier

#endif  // ESPALIER_MODELS_SCHEDULE_PREFIX_TREE_H_
