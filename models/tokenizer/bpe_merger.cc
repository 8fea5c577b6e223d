#include "models/tokenizer/bpe_merger.h"

#include <algorithm>
#include <limits>
#include <queue>

namespace espalier {
namespace {

// Below this the quadratic scan over a small array is faster than the heap.
constexpr size_t kShortPiece = 48;
constexpr int32_t kNoRank = std::numeric_limits<int32_t>::max();

}  // namespace

void BpeMerger::Add(int32_t left, int32_t right, int32_t merged) {
  Add(left, right, merged, static_cast<int32_t>(merges_.size()));
}

void BpeMerger::Add(int32_t left, int32_t right, int32_t merged, int32_t rank) {
  merges_.try_emplace(Key(left, right), Rule{rank, merged});
}

const BpeMerger::Rule* BpeMerger::Find(int32_t left, int32_t right) const {
  const auto it = merges_.find(Key(left, right));
  return it == merges_.end() ? nullptr : &it->second;
}

void BpeMerger::Merge(absl::Span<const int32_t> ids,
                      std::vector<int32_t>& out) const {
  if (ids.size() <= kShortPiece) {
    MergeShort(ids, out);
  } else {
    MergeLong(ids, out);
  }
}

void BpeMerger::MergeShort(absl::Span<const int32_t> ids,
                           std::vector<int32_t>& out) const {
  int32_t id[kShortPiece];
  Rule rule[kShortPiece];  // of the pair (i, i + 1)
  size_t n = ids.size();
  std::copy(ids.begin(), ids.end(), id);
  const auto look_up = [&](size_t i) {
    const Rule* found = Find(id[i], id[i + 1]);
    rule[i] = found != nullptr ? *found : Rule{kNoRank, 0};
  };
  for (size_t i = 0; i + 1 < n; ++i) look_up(i);
  while (n > 1) {
    size_t best = 0;
    for (size_t i = 1; i + 1 < n; ++i) {
      if (rule[i].rank < rule[best].rank) best = i;
    }
    if (rule[best].rank == kNoRank) break;
    id[best] = rule[best].merged;
    std::copy(id + best + 2, id + n, id + best + 1);
    // The pair (best + 1, best + 2) is gone; later ones move down.
    for (size_t i = best + 1; i + 2 < n; ++i) rule[i] = rule[i + 1];
    --n;
    if (best + 1 < n) look_up(best);
    if (best > 0) look_up(best - 1);
  }
  out.insert(out.end(), id, id + n);
}

void BpeMerger::MergeLong(absl::Span<const int32_t> ids,
                          std::vector<int32_t>& out) const {
  // A doubly linked list of the remaining symbols, and candidates that may be
  // stale.
  struct Symbol {
    int32_t id;  // -1: merged into its left neighbour
    int32_t previous;
    int32_t next;
  };
  struct Candidate {
    int32_t rank;
    int32_t at;
    int32_t left, right, merged;
    bool operator>(const Candidate& other) const {
      return rank != other.rank ? rank > other.rank : at > other.at;
    }
  };
  const auto n = static_cast<int32_t>(ids.size());
  std::vector<Symbol> list(ids.size());
  for (int32_t i = 0; i < n; ++i) {
    list[i] = {ids[i], i - 1, i + 1 < n ? i + 1 : -1};
  }
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> heap;
  const auto offer = [&](int32_t at) {
    const int32_t next = list[at].next;
    if (next < 0) return;
    const Rule* rule = Find(list[at].id, list[next].id);
    if (rule != nullptr) {
      heap.push({rule->rank, at, list[at].id, list[next].id, rule->merged});
    }
  };
  for (int32_t i = 0; i + 1 < n; ++i) offer(i);
  while (!heap.empty()) {
    const Candidate c = heap.top();
    heap.pop();
    Symbol& left = list[c.at];
    if (left.id != c.left || left.next < 0) continue;
    Symbol& right = list[left.next];
    if (right.id != c.right) continue;
    left.id = c.merged;
    right.id = -1;
    left.next = right.next;
    if (left.next >= 0) list[left.next].previous = c.at;
    offer(c.at);
    if (left.previous >= 0) offer(left.previous);
  }
  for (int32_t i = 0; i >= 0; i = list[i].next) out.push_back(list[i].id);
}

}  // namespace espalier
