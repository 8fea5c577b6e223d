#include "models/schedule/prefix_tree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>

#include "base/random.h"
#include "models/schedule/eviction_order.h"

namespace espalier {
namespace {

using Tokens = std::vector<int32_t>;

// Pages that record what is written to each slot.
class NotedPages : public PageMemory {
 public:
  int64_t page_bytes() const override { return 64; }
  void Grow(int pages) override { slots_.resize(static_cast<size_t>(pages)); }
  void CopyPrefix(PageId from, PageId to, int filled) override {
    for (int i = 0; i < filled; ++i) slot(to, i) = slot(from, i);
  }
  int32_t& slot(PageId page, int i) {
    return slots_[static_cast<size_t>(page)][static_cast<size_t>(i)];
  }

 private:
  std::vector<std::array<int32_t, kPageSlots>> slots_;
};

struct World {
  explicit World(int pages) : pool(memory, pages * 64), tree(pool) {}

  // Computes the positions of `path` that `table` lacks.
  bool Fill(const Tokens& path, PageTable& table) {
    const int length = static_cast<int>(path.size());
    if (!tree.Grow(table, length)) return false;
    for (int p = table.resident; p < length; ++p) {
      memory.slot(table.pages[static_cast<size_t>(p / kPageSlots)],
                  p % kPageSlots) = path[static_cast<size_t>(p)];
    }
    table.resident = length;
    return true;
  }
  // Makes `id`, which has this path, fully resident, as a prefill does.
  bool Compute(SeqId id, const Tokens& path) {
    int length = 0;
    const SeqId source = tree.FindStored(id, &length);
    tree.Touch(id);
    tree.Lock(id);
    Sequence& sequence = tree.at(id);
    bool whole = true;
    if (source != id) {
      PageTable old = std::exchange(sequence.table, PageTable());
      whole = length == 0 ||
              tree.Fork(tree.at(source).table, length, sequence.table);
      tree.ReleasePages(old);
    }
    computed += static_cast<int>(path.size()) - sequence.table.resident;
    whole = whole && Fill(path, sequence.table);
    tree.TableChanged(id);
    tree.Unlock(id);
    return whole;
  }
  void ExpectContent(const Tokens& path, const PageTable& table) {
    ASSERT_LE(table.resident, static_cast<int>(path.size()));
    for (int p = 0; p < table.resident; ++p) {
      ASSERT_EQ(memory.slot(table.pages[static_cast<size_t>(p / kPageSlots)],
                            p % kPageSlots),
                path[static_cast<size_t>(p)]);
    }
  }
  NotedPages memory;
  PagePool pool;
  PrefixTree tree;
  int64_t computed = 0;
};

Tokens Numbers(int first, int n) {
  Tokens tokens(static_cast<size_t>(n));
  for (int i = 0; i < n; ++i) tokens[static_cast<size_t>(i)] = first + i;
  return tokens;
}
Tokens Join(Tokens a, const Tokens& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

TEST(EvictionOrderTest, RedundantThenLowestOfTheLargestGroup) {
  EvictionOrder order;
  using Entry = EvictionOrder::Entry;
  EXPECT_EQ(order.Lowest(), -1);
  const Entry a{.group = 1, .priority = 5, .last_use = 1, .id = 10};
  const Entry b{.group = 2, .priority = 3, .last_use = 2, .id = 11};
  const Entry c{.group = 2, .priority = 3, .last_use = 3, .id = 12};
  const Entry d{.redundant = true, .group = 3, .priority = 9, .id = 13};
  for (const Entry& e : {a, c, b, d}) order.Insert(e);
  for (const auto& [entry, id] :
       {std::pair(d, 13), {b, 11}, {a, 10}, {c, 12}}) {
    EXPECT_EQ(order.Lowest(), id);
    order.Erase(entry);
  }
  EXPECT_EQ(order.Lowest(), -1);
}

TEST(PrefixTreeTest, TheLowestPriorityGoesFirstAndFromItsEnd) {
  World w(12);
  const Tokens prompt = Numbers(0, 64);
  const SeqId p = w.tree.Extend(kEmptySeq, prompt);
  ASSERT_TRUE(w.Compute(p, prompt));
  std::vector<SeqId> leaves;
  std::vector<Tokens> paths;
  for (int i = 0; i < 5; ++i) {  // two pages each
    paths.push_back(Join(prompt, Numbers(1000 * (i + 1), 100)));
    leaves.push_back(w.tree.Extend(p, Numbers(1000 * (i + 1), 100)));
    ASSERT_TRUE(w.Compute(leaves[i], paths[i]));
  }
  const float priorities[] = {3, 1, 5, 2, 4};
  for (int i = 0; i < 5; ++i) w.tree.SetRetention(leaves[i], priorities[i]);
  EXPECT_EQ(w.pool.used(), 11);
  const Tokens more = Numbers(9000, 64 * 4);
  const SeqId other = w.tree.Extend(kEmptySeq, more);
  ASSERT_TRUE(w.Compute(other, more));
  // 4 of 12 pages are new: leaf 1 lost both of its own, leaf 3 its last.
  const auto kept = [&](int i) { return w.tree.at(leaves[i]).table.resident; };
  EXPECT_EQ(kept(1), 0);
  EXPECT_EQ(kept(3), 128);
  for (const int i : {0, 2, 4}) EXPECT_EQ(kept(i), 164);
  EXPECT_EQ(w.tree.at(p).table.resident, 64);
  // The remaining pages of leaf 3 need not be recomputed.
  w.computed = 0;
  ASSERT_TRUE(w.Compute(leaves[3], paths[3]));
  EXPECT_EQ(w.computed, 36);
  w.ExpectContent(paths[3], w.tree.at(leaves[3]).table);
}

TEST(PrefixTreeTest, LockedSequencesAndWhatTheyStandOnStay) {
  World w(3);
  const Tokens prompt = Numbers(0, 70);
  const SeqId p = w.tree.Extend(kEmptySeq, prompt);
  ASSERT_TRUE(w.Compute(p, prompt));
  w.tree.Lock(p);
  const Tokens other = Numbers(500, 128);
  EXPECT_FALSE(w.Compute(w.tree.Extend(kEmptySeq, other), other));
  w.ExpectContent(prompt, w.tree.at(p).table);
  w.tree.Unlock(p);
  EXPECT_TRUE(w.Compute(w.tree.Extend(kEmptySeq, other), other));
}

TEST(PrefixTreeTest, WhatAStepBelowHoldsTooGoesAtNoCost) {
  World w(3);
  const Tokens prompt = Numbers(0, 70), path = Join(prompt, Numbers(100, 10));
  const SeqId p = w.tree.Extend(kEmptySeq, prompt);
  ASSERT_TRUE(w.Compute(p, prompt));
  const SeqId step = w.tree.Extend(p, Numbers(100, 10));
  ASSERT_TRUE(w.Compute(step, path));
  EXPECT_EQ(w.pool.used(), 3);  // the second page twice, the copy partial
  const Tokens other = Numbers(500, 60);
  ASSERT_TRUE(w.Compute(w.tree.Extend(kEmptySeq, other), other));
  EXPECT_TRUE(w.tree.at(p).table.pages.empty());
  EXPECT_TRUE(w.tree.at(step).resident());
  // It is copied back from the step.
  w.computed = 0;
  ASSERT_TRUE(w.Compute(p, prompt));
  EXPECT_EQ(w.computed, 0);
  w.ExpectContent(prompt, w.tree.at(p).table);
}

// If a fork evicts the page it copies from and that frees nothing else, the
// page is moved. Without this two such steps would evict and recompute it in
// turns for ever.
TEST(PrefixTreeTest, AForkTakesThePageThatItEvictedInVain) {
  World w(2);
  const Tokens prompt = Numbers(0, 70), path = Join(prompt, Numbers(100, 10));
  const SeqId p = w.tree.Extend(kEmptySeq, prompt);
  ASSERT_TRUE(w.Compute(p, prompt));
  const SeqId step = w.tree.Extend(p, Numbers(100, 10));
  w.computed = 0;
  ASSERT_TRUE(w.Compute(step, path));
  EXPECT_EQ(w.computed, 10);
  w.ExpectContent(path, w.tree.at(step).table);
  ASSERT_TRUE(w.Compute(p, prompt));
  EXPECT_EQ(w.computed, 10);
  EXPECT_TRUE(w.tree.at(p).resident());
  w.ExpectContent(prompt, w.tree.at(p).table);
  EXPECT_EQ(w.pool.used(), 2);
}

TEST(PrefixTreeTest, WhatIsDroppedIsFreeAtOnce) {
  World w(20);
  const Tokens prompt = Numbers(0, 64);
  const SeqId p = w.tree.Extend(kEmptySeq, prompt);
  ASSERT_TRUE(w.Compute(p, prompt));
  const SeqId a = w.tree.Extend(p, Numbers(100, 70));
  const SeqId b = w.tree.Extend(p, Numbers(300, 70));
  ASSERT_TRUE(w.Compute(a, Join(prompt, Numbers(100, 70))));
  ASSERT_TRUE(w.Compute(b, Join(prompt, Numbers(300, 70))));
  EXPECT_EQ(w.pool.used(), 5);
  w.tree.SetRetention(a, kEvictNow);
  EXPECT_EQ(w.pool.used(), 3);
  // The prompt stays while sequences extend it and is freed with the last of
  // them.
  w.tree.SetRetention(p, kEvictNow);
  EXPECT_EQ(w.pool.used(), 3);
  w.tree.SetRetention(b, kEvictNow);
  EXPECT_EQ(w.pool.used(), 0);
}

TEST(PrefixTreeTest, AnExpandedSequenceIsWorthItsBestLeaf) {
  World w(100);
  const Tokens root = Numbers(0, 64);
  const SeqId r = w.tree.Extend(kEmptySeq, root);
  ASSERT_TRUE(w.Compute(r, root));
  // Two expanded nodes, each with a leaf that has lost its pages.
  SeqId node[2], leaf[2];
  for (int i = 0; i < 2; ++i) {
    const Tokens own = Numbers(1000 * (i + 1), 64);
    node[i] = w.tree.Extend(r, own);
    ASSERT_TRUE(w.Compute(node[i], Join(root, own)));
    leaf[i] = w.tree.Extend(node[i], Numbers(50, 64));
    w.tree.SetRetention(leaf[i], i == 0 ? 7.0f : 2.0f);
    w.tree.SetRetention(node[i], kEvictNow);
  }
  std::vector<Tokens> fillers;
  for (int i = 0; w.tree.at(node[1]).stores; ++i) {
    fillers.push_back(Numbers(10000 + 100 * i, 64));
    const SeqId f = w.tree.Extend(kEmptySeq, fillers.back());
    w.tree.SetRetention(f, 100);
    ASSERT_TRUE(w.Compute(f, fillers.back()));
    ASSERT_LT(i, 100);
  }
  EXPECT_TRUE(w.tree.at(node[0]).stores);
}

TEST(PrefixTreeTest, TextsThatBeginAlikeShareTheirPages) {
  World w(100);
  const Tokens system = Numbers(0, 150);
  std::vector<SeqId> ids;
  std::vector<Tokens> paths;
  for (int i = 0; i < 5; ++i) {
    paths.push_back(Join(system, Numbers(1000 * (i + 1), 30)));
    ids.push_back(w.tree.Extend(kEmptySeq, paths[i]));
    ASSERT_TRUE(w.Compute(ids[i], paths[i]));
  }
  EXPECT_EQ(w.computed, 180 + 4 * 30);
  EXPECT_EQ(w.pool.used(), 2 + 5);
  for (int i = 0; i < 5; ++i) {
    w.ExpectContent(paths[i], w.tree.at(ids[i]).table);
    EXPECT_EQ(w.tree.Extend(kEmptySeq, paths[i]), ids[i]);  // still the same id
    w.tree.Release(ids[i]);
  }
  // A text that ends where the others diverge, and one that diverges earlier.
  const SeqId whole = w.tree.Extend(kEmptySeq, system);
  const Tokens early = Join(Numbers(0, 80), Numbers(7000, 30));
  ids.push_back(w.tree.Extend(kEmptySeq, early));
  w.computed = 0;
  ASSERT_TRUE(w.Compute(whole, system));
  ASSERT_TRUE(w.Compute(ids.back(), early));
  EXPECT_EQ(w.computed, 30);
  w.ExpectContent(early, w.tree.at(ids.back()).table);
  // Sharing less than a page is not worth it.
  const int live = w.tree.live();
  const SeqId brief = w.tree.Extend(kEmptySeq, Join(Numbers(0, 63), {-1}));
  EXPECT_EQ(w.tree.live(), live + 1);
  w.tree.Release(brief);
  w.tree.Release(whole);
  for (const SeqId id : ids) w.tree.Release(id);
  EXPECT_EQ(w.tree.live(), 0);
  EXPECT_EQ(w.pool.used(), 0);
}

// Random use against a model that knows only each handle's path.
TEST(PrefixTreeTest, AHundredThousandRandomStepsLeakNothing) {
  World w(40);
  RandomStream rng(StreamKey(1, 0, 0, Purpose::kTest));
  struct Handle {
    SeqId id;
    Tokens path;
    bool locked = false;
  };
  std::vector<Handle> held = {{kEmptySeq, {}}};
  std::vector<std::pair<PageTable, Tokens>> forks;  // as running rows have them
  SeqId highest = 0;
  int64_t whole = 0, refused = 0;
  const auto random_tokens = [&](int n) {
    Tokens tokens(static_cast<size_t>(n));
    for (int32_t& t : tokens) t = static_cast<int32_t>(rng.Below(3));
    return tokens;
  };
  for (int step = 0; step < 100000; ++step) {
    const size_t pick = rng.Below(static_cast<uint32_t>(held.size()));
    Handle& h = held[pick];
    switch (rng.Below(10)) {
      case 0:
      case 1: {  // extend, half of the time by a common beginning
        if (held.size() > 200 || h.path.size() > 300) break;
        Tokens more = random_tokens(rng.Range(1, 40));
        if (rng.Below(2) == 0) more = Join(Tokens(90, 1), more);
        Handle made{w.tree.Extend(h.id, more), Join(h.path, more)};
        held.push_back(std::move(made));
        break;
      }
      case 2:
      case 3:
      case 4:  // compute, which may evict
        if (h.id == kEmptySeq || h.locked) break;
        ++(w.Compute(h.id, h.path) ? whole : refused);
        break;
      case 5: {  // fork and continue
        if (h.id == kEmptySeq || !w.tree.at(h.id).resident()) break;
        if (forks.size() > 5) break;
        auto& [table, path] = forks.emplace_back();
        path = Join(h.path, random_tokens(rng.Range(1, 80)));
        const int length = static_cast<int>(h.path.size());
        if (!w.tree.Fork(w.tree.at(h.id).table, length, table) ||
            !w.Fill(path, table)) {
          w.tree.ReleasePages(table);
          forks.pop_back();
        }
        break;
      }
      case 6: {  // a row finishes or is cancelled
        if (forks.empty()) break;
        auto [table, path] = std::move(forks.back());
        forks.pop_back();
        const bool begins =
            path.size() > h.path.size() &&
            std::equal(h.path.begin(), h.path.end(), path.begin());
        if (!begins) {
          w.tree.ReleasePages(table);
          break;
        }
        const Tokens own(path.begin() + static_cast<int>(h.path.size()),
                         path.end());
        Handle made{w.tree.Adopt(h.id, own, std::move(table)), path};
        held.push_back(std::move(made));
        break;
      }
      case 7:
        if (h.id == kEmptySeq) break;
        w.tree.SetRetention(h.id, rng.Below(4) == 0
                                      ? kEvictNow
                                      : static_cast<float>(rng.Below(10)));
        break;
      case 8:
        if (h.id == kEmptySeq) break;
        h.locked ? w.tree.Unlock(h.id) : w.tree.Lock(h.id);
        h.locked = !h.locked;
        break;
      case 9:
        if (h.id == kEmptySeq || held.size() < 20) break;
        if (h.locked) w.tree.Unlock(h.id);
        w.tree.Release(h.id);
        held.erase(held.begin() + static_cast<int>(pick));
        break;
    }
    for (const Handle& each : held) highest = std::max(highest, each.id);
    ASSERT_EQ(w.pool.used() + w.pool.free(), w.pool.total());
    ASSERT_LE(w.pool.total(), 40);
    if (step % 50 != 0) continue;
    // Used pages are exactly those listed in some table.
    std::set<PageId> named;
    for (const auto& [table, path] : forks) {
      named.insert(table.pages.begin(), table.pages.end());
      w.ExpectContent(path, table);
    }
    std::set<SeqId> seen;
    for (const Handle& each : held) {
      for (SeqId id = each.id; id > kEmptySeq; id = w.tree.at(id).parent) {
        const auto& table = w.tree.at(id).table;
        named.insert(table.pages.begin(), table.pages.end());
        if (!seen.insert(id).second) continue;
        const Tokens path(each.path.begin(),
                          each.path.begin() + w.tree.at(id).end());
        w.ExpectContent(path, table);
      }
    }
    ASSERT_EQ(static_cast<int>(named.size()), w.pool.used()) << step;
    ASSERT_FALSE(testing::Test::HasFatalFailure());
  }
  EXPECT_GT(whole, 10000);
  EXPECT_GT(w.tree.evicted_pages(), 10000);
  for (auto& [table, path] : forks) w.tree.ReleasePages(table);
  for (const Handle& each : held) {
    if (each.locked) w.tree.Unlock(each.id);
    if (each.id != kEmptySeq) w.tree.Release(each.id);
  }
  EXPECT_EQ(w.pool.used(), 0);
  EXPECT_EQ(w.tree.live(), 0);
}

}  // namespace
}  // namespace espalier
