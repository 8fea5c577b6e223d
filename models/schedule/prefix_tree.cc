#include "models/schedule/prefix_tree.h"

#include <algorithm>
#include <utility>

#include "src/base/check.h"

namespace espalier {

PrefixTree::PrefixTree(PagePool& pool) : pool_(pool) {
  Sequence& empty = sequences_.emplace_back();
  empty.live = true;
  empty.refs = 1;  // never released
}

PrefixTree::~PrefixTree() {
  for (Sequence& sequence : sequences_) Drop(sequence.table);
}

SeqId PrefixTree::FindChild(SeqId parent,
                            absl::Span<const int32_t> tokens) const {
  for (const SeqId child : at(parent).children) {
    if (absl::MakeConstSpan(at(child).tokens) == tokens) return child;
  }
  return -1;
}

SeqId PrefixTree::Extend(SeqId parent, absl::Span<const int32_t> tokens) {
  ESP_CHECK(at(parent).live);
  SeqId id = tokens.empty() ? parent : FindChild(parent, tokens);
  if (id >= 0) {
    ++at(id).refs;
    return id;
  }
  if (unused_.empty()) {
    id = static_cast<SeqId>(sequences_.size());
    sequences_.emplace_back();
  } else {
    id = unused_.back();
    unused_.pop_back();
    at(id) = Sequence();
  }
  Sequence& made = at(id);
  made.parent = parent;
  made.start = at(parent).end();
  made.tokens.assign(tokens.begin(), tokens.end());
  made.refs = 1;
  made.live = true;
  at(parent).children.push_back(id);
  ++live_;
  return id;
}

SeqId PrefixTree::Adopt(SeqId parent, absl::Span<const int32_t> tokens,
                        PageTable table) {
  const SeqId id = Extend(parent, tokens);
  Sequence& sequence = at(id);
  if (sequence.locks > 0 || sequence.table.resident >= table.resident) {
    Drop(table);
  } else {
    Drop(sequence.table);
    sequence.table = std::move(table);
    sequence.ever_resident =
        std::max(sequence.ever_resident, sequence.table.resident);
  }
  Touch(id);
  return id;
}

void PrefixTree::Release(SeqId id) {
  ESP_CHECK(at(id).live && at(id).refs > 0);
  --at(id).refs;
  FreeIfUnused(id);
}

void PrefixTree::Unlock(SeqId id) {
  ESP_CHECK(at(id).locks > 0);
  --at(id).locks;
  FreeIfUnused(id);
}

void PrefixTree::FreeIfUnused(SeqId id) {
  while (id > kEmptySeq && at(id).refs == 0 && at(id).locks == 0 &&
         at(id).children.empty()) {
    Sequence& gone = at(id);
    Drop(gone.table);
    gone.live = false;
    --live_;
    unused_.push_back(id);
    auto& siblings = at(gone.parent).children;
    siblings.erase(std::find(siblings.begin(), siblings.end(), id));
    id = gone.parent;
  }
}

PageId PrefixTree::AllocateEvicting() {
  while (true) {
    const PageId page = pool_.Allocate();
    if (page >= 0) return page;
    // The oldest that is not in use; of equals the lowest id.
    Sequence* victim = nullptr;
    for (Sequence& sequence : sequences_) {
      if (sequence.locks > 0 || sequence.table.pages.empty()) continue;
      if (victim == nullptr || sequence.last_use < victim->last_use) {
        victim = &sequence;
      }
    }
    if (victim == nullptr) return -1;
    Drop(victim->table);
  }
}

bool PrefixTree::Fork(const PageTable& from, int length, PageTable& table) {
  ESP_CHECK(table.pages.empty() && length <= from.resident);
  const int full = length / kPageSlots;
  const int filled = length % kPageSlots;
  for (int i = 0; i < full; ++i) {
    table.pages.push_back(from.pages[static_cast<size_t>(i)]);
    pool_.AddRef(table.pages.back());
  }
  if (filled > 0) {
    // The reference keeps the source alive should its owner be evicted here.
    const PageId source = from.pages[static_cast<size_t>(full)];
    pool_.AddRef(source);
    const PageId copy = AllocateEvicting();
    if (copy >= 0) pool_.CopyPrefix(source, copy, filled);
    pool_.Release(source);
    if (copy < 0) {
      Drop(table);
      return false;
    }
    table.pages.push_back(copy);
  }
  table.resident = length;
  return true;
}

bool PrefixTree::Grow(PageTable& table, int length) {
  const size_t pages =
      static_cast<size_t>((length + kPageSlots - 1) / kPageSlots);
  while (table.pages.size() < pages) {
    const PageId page = AllocateEvicting();
    if (page < 0) return false;
    table.pages.push_back(page);
  }
  return true;
}

void PrefixTree::Drop(PageTable& table) {
  for (const PageId page : table.pages) pool_.Release(page);
  table.pages.clear();
  table.resident = 0;
}

}  // namespace espalier
