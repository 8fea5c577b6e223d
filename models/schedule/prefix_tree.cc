#include "models/schedule/prefix_tree.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "models/schedule/draft_source.h"

namespace espalier {
namespace {

size_t CommonLength(absl::Span<const int32_t> a, absl::Span<const int32_t> b) {
  const size_t n = std::min(a.size(), b.size());
  return static_cast<size_t>(
      std::mismatch(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(n),
                    b.begin())
          .first -
      a.begin());
}

int PagesFor(int positions) {
  return (positions + kPageSlots - 1) / kPageSlots;
}

}  // namespace

PrefixTree::PrefixTree(PagePool& pool) : pool_(pool) {
  Sequence& empty = sequences_.emplace_back();
  empty.live = true;
  empty.refs = 1;  // never released
}

PrefixTree::~PrefixTree() {
  for (Sequence& sequence : sequences_) ReleasePages(sequence.table);
}

// ---------------------------------------------------------------------------
// Sequences

SeqId PrefixTree::FindChild(SeqId parent,
                            absl::Span<const int32_t> tokens) const {
  for (const SeqId child : at(parent).children) {
    if (absl::MakeConstSpan(at(child).tokens) == tokens) return child;
  }
  return -1;
}

SeqId PrefixTree::Make(SeqId parent, absl::Span<const int32_t> tokens) {
  SeqId id = static_cast<SeqId>(sequences_.size());
  if (unused_.empty()) {
    sequences_.emplace_back();
  } else {
    id = unused_.back();
    unused_.pop_back();
    at(id) = Sequence();
  }
  Sequence& made = at(id);
  made.parent = parent;
  made.start = made.ever_resident = at(parent).end();
  made.tokens.assign(tokens.begin(), tokens.end());
  made.hash = DraftSource::Hash(at(parent).hash, tokens);
  made.live = true;
  // A search's prompt, below the root or a split point, starts a group.
  made.group = parent == kEmptySeq || at(parent).split ? id : at(parent).group;
  at(parent).children.push_back(id);
  ++live_;
  return id;
}

SeqId PrefixTree::Split(SeqId id, int length) {
  const std::vector<int32_t> all = std::move(at(id).tokens);
  const absl::Span<const int32_t> tokens(all);
  const SeqId parent = at(id).parent;
  const SeqId upper =
      Make(parent, tokens.subspan(0, static_cast<size_t>(length)));
  // The upper half takes the place of the original.
  auto& siblings = at(parent).children;
  siblings.pop_back();
  *std::find(siblings.begin(), siblings.end(), id) = upper;
  Sequence& top = at(upper);
  Sequence& rest = at(id);
  top.split = true;
  top.priority = kEvictNow;  // worth as much as its descendants
  top.ever_resident = std::min(rest.ever_resident, top.end());
  top.children = {id};
  rest.parent = upper;
  rest.start = top.end();
  rest.ever_resident = std::max(rest.ever_resident, rest.start);
  rest.tokens.assign(all.begin() + length, all.end());
  top.below = Worth(rest);
  if (rest.stores && rest.table.resident <= rest.start) {
    // The rest of its table belongs to the upper half.
    Unlist(rest);
    rest.stores = false;
    top.stores = true;
    top.table = std::exchange(rest.table, PageTable());
  }
  top.stored_children = rest.stores || rest.covered() ? 1 : 0;
  Relist(upper);
  return upper;
}

SeqId PrefixTree::SplitShared(SeqId parent, absl::Span<const int32_t> tokens) {
  if (tokens.size() < kPageSlots) return -1;
  for (const SeqId child : at(parent).children) {
    const Sequence& sequence = at(child);
    const size_t common = CommonLength(sequence.tokens, tokens);
    if (common < kPageSlots) continue;
    if (common == sequence.tokens.size()) {
      if (sequence.split) return child;
      continue;  // not a split point: the new sequence stays separate
    }
    // A table in use by prefills or forks stays where it is.
    const int end = sequence.start + static_cast<int>(common);
    const bool moves = sequence.stores && sequence.table.resident <= end;
    if (sequence.filler >= 0 || (moves && sequence.locks > 0)) continue;
    return Split(child, static_cast<int>(common));
  }
  return -1;
}

SeqId PrefixTree::Extend(SeqId parent, absl::Span<const int32_t> tokens) {
  ESP_CHECK(at(parent).live);
  SeqId id = tokens.empty() ? parent : FindChild(parent, tokens);
  while (id < 0) {
    const SeqId shared = SplitShared(parent, tokens);
    if (shared < 0) break;
    tokens.remove_prefix(at(shared).tokens.size());
    parent = shared;
    id = tokens.empty() ? shared : FindChild(shared, tokens);
  }
  if (id < 0) id = Make(parent, tokens);
  ++at(id).refs;
  return id;
}

SeqId PrefixTree::Adopt(SeqId parent, absl::Span<const int32_t> tokens,
                        PageTable table) {
  SeqId id = FindChild(parent, tokens);
  if (id < 0) id = Make(parent, tokens);
  Sequence& sequence = at(id);
  ++sequence.refs;
  sequence.last_use = ++tick_;
  if (sequence.filler >= 0 || sequence.locks > 0 ||
      std::max(sequence.table.resident, sequence.start) >= table.resident) {
    ReleasePages(table);
    Relist(id);
  } else {
    ReleasePages(sequence.table);
    sequence.table = std::move(table);
    sequence.ever_resident =
        std::max(sequence.ever_resident, sequence.table.resident);
    TableChanged(id);
  }
  return id;
}

void PrefixTree::Release(SeqId id) {
  ESP_CHECK(at(id).live && at(id).refs > 0);
  --at(id).refs;
  FreeIfUnused(id);
}

void PrefixTree::Lock(SeqId id) {
  ++at(id).locks;
  Unlist(at(id));
}

void PrefixTree::Unlock(SeqId id) {
  ESP_CHECK(at(id).locks > 0);
  if (--at(id).locks > 0) return;
  Settle(id);
  FreeIfUnused(id);
}

void PrefixTree::Touch(SeqId id) {
  at(id).last_use = ++tick_;
  if (at(id).listed) Relist(id);
}

void PrefixTree::FreeIfUnused(SeqId id) {
  while (id > kEmptySeq && at(id).refs == 0 && at(id).locks == 0 &&
         at(id).children.empty()) {
    Sequence& gone = at(id);
    gone.priority = gone.below = kEvictNow;  // unreachable
    // Its table may hold the only copy of its ancestors' pages.
    gone.table.resident = std::min(gone.table.resident, gone.start);
    Settle(id);
    gone.live = false;
    --live_;
    unused_.push_back(id);
    auto& siblings = at(gone.parent).children;
    siblings.erase(std::find(siblings.begin(), siblings.end(), id));
    id = gone.parent;
  }
}

// ---------------------------------------------------------------------------
// What is stored, and what may be evicted

float PrefixTree::Worth(const Sequence& sequence) const {
  return std::max(sequence.priority, sequence.below);
}

void PrefixTree::Unlist(Sequence& sequence) {
  if (!sequence.listed) return;
  if (ordered_) order_.Erase(sequence.entry);
  sequence.listed = false;
}

void PrefixTree::Relist(SeqId id) {
  Sequence& sequence = at(id);
  Unlist(sequence);
  if (!sequence.stores || sequence.locks > 0) return;
  const bool redundant = sequence.covered();
  // Full pages of a covered sequence are also those of its descendant.
  if (redundant && sequence.table.resident % kPageSlots == 0) return;
  const float worth = Worth(sequence);
  if (!redundant && worth == kEvictNow) {
    ReleasePages(sequence.table);
    SetStores(id, false);
    return;
  }
  sequence.entry = {redundant, sequence.group, worth, sequence.last_use, id};
  sequence.listed = true;
  if (ordered_) order_.Insert(sequence.entry);
}

SeqId PrefixTree::Lowest() {
  if (!ordered_) {
    ordered_ = true;
    for (const Sequence& sequence : sequences_) {
      if (sequence.listed) order_.Insert(sequence.entry);
    }
  }
  return order_.Lowest();
}

void PrefixTree::SetStores(SeqId id, bool stores) {
  if (at(id).stores == stores) return;
  Unlist(at(id));
  at(id).stores = stores;
  if (at(id).covered()) return;  // no change for its ancestors
  if (!stores) RaiseAbove(id);
  SeqId above = at(id).parent;
  while (above >= 0) {
    Sequence& sequence = at(above);
    sequence.stored_children += stores ? 1 : -1;
    if (sequence.stores || sequence.stored_children > (stores ? 1 : 0)) break;
    above = sequence.parent;
  }
  if (above > kEmptySeq && at(above).stores) Relist(above);
}

void PrefixTree::RaiseAbove(SeqId id) {
  const float worth = Worth(at(id));
  for (SeqId above = at(id).parent; above > kEmptySeq;
       above = at(above).parent) {
    Sequence& sequence = at(above);
    if (worth <= sequence.below) return;
    sequence.below = worth;
    if (!sequence.stores) continue;
    if (sequence.listed) Relist(above);
    return;
  }
}

void PrefixTree::RecountAbove(SeqId id) {
  for (SeqId above = at(id).parent; above > kEmptySeq;
       above = at(above).parent) {
    Sequence& sequence = at(above);
    float below = kEvictNow;
    for (const SeqId child : sequence.children) {
      if (at(child).stores || at(child).covered()) continue;
      below = std::max(below, Worth(at(child)));
    }
    if (below == sequence.below) return;
    sequence.below = below;
    if (!sequence.stores) continue;
    if (sequence.listed) Relist(above);
    return;
  }
}

void PrefixTree::SetRetention(SeqId id, float priority) {
  Sequence& sequence = at(id);
  if (sequence.priority == priority) return;
  const bool less = priority < sequence.priority;
  sequence.priority = priority;
  const bool stored = sequence.stores || sequence.covered();
  if (sequence.stores) Relist(id);
  if (less) {
    RecountAbove(id);
  } else if (!stored) {
    RaiseAbove(id);
  }
}

void PrefixTree::TableChanged(SeqId id) {
  Sequence& sequence = at(id);
  if (sequence.locks > 0) {
    SetStores(id, sequence.table.resident > sequence.start);
  } else {
    Settle(id);
  }
}

void PrefixTree::Settle(SeqId id) {
  Sequence& sequence = at(id);
  PageTable& table = sequence.table;
  const size_t pages = static_cast<size_t>(PagesFor(table.resident));
  while (table.pages.size() > pages) {
    pool_.Release(table.pages.back());
    table.pages.pop_back();
  }
  if (table.resident > sequence.start) {
    SetStores(id, true);
    Relist(id);
    return;
  }
  PageTable rest = std::exchange(table, PageTable());
  SetStores(id, false);
  SeqId owner = sequence.parent;
  while (owner > kEmptySeq && at(owner).start >= rest.resident) {
    owner = at(owner).parent;
  }
  if (owner <= kEmptySeq || at(owner).covered() || at(owner).locks > 0 ||
      at(owner).table.resident >= rest.resident) {
    ReleasePages(rest);
    return;
  }
  ReleasePages(at(owner).table);
  at(owner).table = std::move(rest);
  SetStores(owner, true);
  Relist(owner);
}

void PrefixTree::Evict(SeqId id) {
  PageTable& table = at(id).table;
  ++evicted_pages_;
  if (at(id).covered()) {
    ReleasePages(table);
    SetStores(id, false);
    return;
  }
  pool_.Release(table.pages.back());
  table.pages.pop_back();
  table.resident = std::min(table.resident,
                            static_cast<int>(table.pages.size()) * kPageSlots);
  Settle(id);
}

// ---------------------------------------------------------------------------
// Tables

SeqId PrefixTree::FindStored(SeqId id, int* length) const {
  for (SeqId at_id = id; at_id > kEmptySeq; at_id = at(at_id).parent) {
    const Sequence& sequence = at(at_id);
    if (sequence.stores && (sequence.resident() || !sequence.covered())) {
      *length = sequence.table.resident;
      return at_id;
    }
    if (!sequence.covered()) continue;
    *length = sequence.end();
    SeqId below = at_id;
    do {
      const auto& children = at(below).children;
      below = *std::find_if(children.begin(), children.end(), [&](SeqId c) {
        return at(c).stores || at(c).covered();
      });
    } while (!at(below).stores);
    return below;
  }
  *length = 0;
  return kEmptySeq;
}

PageId PrefixTree::AllocateEvicting() {
  while (true) {
    const PageId page = pool_.Allocate();
    if (page >= 0) return page;
    const SeqId lowest = Lowest();
    if (lowest < 0) return -1;
    Evict(lowest);
  }
}

bool PrefixTree::Fork(const PageTable& from, int length, PageTable& table) {
  ESP_CHECK(table.pages.empty() && length <= from.resident);
  const int full = length / kPageSlots;
  const int filled = length % kPageSlots;
  // These references keep the pages alive if their owner is evicted below.
  for (int i = 0; i < full; ++i) {
    table.pages.push_back(from.pages[static_cast<size_t>(i)]);
    pool_.AddRef(table.pages.back());
  }
  if (filled > 0) {
    const PageId source = from.pages[static_cast<size_t>(full)];
    pool_.AddRef(source);
    const PageId copy = AllocateEvicting();
    if (copy < 0 && pool_.shared(source)) {
      pool_.Release(source);
      ReleasePages(table);
      return false;
    }
    if (copy < 0) {
      // Its owner was evicted without freeing this page, which is held here:
      // use it as the copy. Otherwise it would be recomputed and evicted
      // forever.
      table.pages.push_back(source);
    } else {
      pool_.CopyPrefix(source, copy, filled);
      pool_.Release(source);
      table.pages.push_back(copy);
    }
  }
  table.resident = length;
  return true;
}

bool PrefixTree::Grow(PageTable& table, int length) {
  const size_t pages = static_cast<size_t>(PagesFor(length));
  while (table.pages.size() < pages) {
    const PageId page = AllocateEvicting();
    if (page < 0) return false;
    table.pages.push_back(page);
  }
  return true;
}

void PrefixTree::ReleasePages(PageTable& table) {
  for (const PageId page : table.pages) pool_.Release(page);
  table.pages.clear();
  table.resident = 0;
}

}  // namespace espalier
