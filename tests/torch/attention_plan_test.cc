// Plans of attention against its definition: each row sees each key of its path
// up to itself, within its window, exactly once.
#include "models/torch_executor/attention_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "base/random.h"

namespace espalier {
namespace {

// Segments and the memory they point into.
struct Forest {
  std::vector<std::vector<PageId>> tables;
  std::vector<std::vector<int32_t>> tokens;
  std::vector<Segment> segments;

  void Add(std::vector<PageId> table, int start, int count) {
    tables.push_back(std::move(table));
    tokens.emplace_back(static_cast<size_t>(count), 0);
    segments.push_back({.start = start});
  }
  void Finish() {
    for (size_t i = 0; i < segments.size(); ++i) {
      segments[i].pages = tables[i];
      segments[i].tokens = tokens[i];
    }
  }
};

// Branches of random trees, depth first: children share whole pages with their
// parent and continue in new pages.
void Grow(RandomStream& rng, std::vector<PageId> table, int depth, PageId& next,
          Forest& forest) {
  for (int more = rng.Range(0, 2); more > 0; --more) table.push_back(next++);
  const int children = depth == 0 ? 0 : rng.Range(0, 3);
  for (int i = 0; i < children; ++i) Grow(rng, table, depth - 1, next, forest);
  if (children > 0) return;
  const int start = static_cast<int>(table.size()) * kPageSlots +
                    rng.Range(0, kPageSlots - 1);
  const int count = rng.Range(0, 3) == 0 ? rng.Range(1, 150) : 1;
  while (static_cast<int>(table.size()) * kPageSlots < start + count) {
    table.push_back(next++);
  }
  forest.Add(table, start, count);
}

Forest RandomForest(uint64_t seed) {
  RandomStream rng(StreamKey(seed, 0, 0, Purpose::kTest));
  Forest forest;
  PageId next = rng.Range(0, 5);
  for (int trees = rng.Range(1, 4); trees > 0; --trees) {
    Grow(rng, {}, rng.Range(0, 4), next, forest);
  }
  forest.Finish();
  return forest;
}

using Key = std::pair<int64_t, int64_t>;  // page, position

// The keys seen by the partial results that row `row` merges.
std::vector<Key> Seen(const AttentionPlan& plan, int64_t row, int window) {
  std::vector<Key> out;
  for (int part = 0; part < plan.parts; ++part) {
    const int64_t result =
        plan.part_index[static_cast<size_t>(part * plan.rows + row)];
    if (result == plan.results) continue;
    const auto batch = std::find_if(
        plan.batches.begin(), plan.batches.end(), [&](const AttentionBatch& b) {
          return result < b.first_result + b.results();
        });
    const size_t at = static_cast<size_t>(result - batch->first_result);
    EXPECT_EQ(batch->row_index[at], row);
    const size_t pages = static_cast<size_t>(batch->pages);
    const size_t unit = at / static_cast<size_t>(batch->rows);
    const int64_t position = batch->row_positions[at];
    for (size_t p = unit * pages; p < (unit + 1) * pages; ++p) {
      for (int64_t s = 0; s < kPageSlots; ++s) {
        const int64_t key = batch->page_positions[p] + s;
        const bool seen =
            key <= position && (window == 0 || position - key < window);
        EXPECT_TRUE(seen || batch->masked);
        if (seen) out.push_back({batch->page_ids[p], key});
      }
    }
  }
  std::sort(out.begin(), out.end());
  return out;
}

TEST(AttentionPlanTest, EachRowSeesEachKeyOfItsPathOnce) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    const Forest forest = RandomForest(seed);
    AttentionLimits limits;
    limits.window = seed % 3 == 0 ? 70 : 0;
    limits.row_key_bytes = 4;
    limits.key_bytes = 16;
    limits.most_bytes = seed % 2 == 0 ? 5000 : 10000000;
    limits.small_bytes = seed % 5 == 0 ? 100000 : 0;
    const AttentionPlan plan = PlanAttention(forest.segments, limits);
    int64_t row = 0;
    for (const Segment& s : forest.segments) {
      for (size_t t = 0; t < s.tokens.size(); ++t, ++row) {
        const int position = s.start + static_cast<int>(t);
        std::vector<Key> expected;
        for (int key = 0; key <= position; ++key) {
          if (limits.window > 0 && position - key >= limits.window) continue;
          expected.push_back(
              {s.pages[static_cast<size_t>(key / kPageSlots)], key});
        }
        std::sort(expected.begin(), expected.end());
        ASSERT_EQ(Seen(plan, row, limits.window), expected)
            << "seed " << seed << ", row " << row;
      }
    }
    ASSERT_EQ(plan.rows, row);
  }
}

// Bytes of a batch's scratch memory.
int64_t Bytes(const AttentionBatch& b, const AttentionLimits& limits) {
  return int64_t{b.units} * b.pages * kPageSlots *
         (b.rows * limits.row_key_bytes + limits.key_bytes);
}

TEST(AttentionPlanTest, ScratchMemoryIsBounded) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    const Forest forest = RandomForest(seed);
    const AttentionLimits limits = {
        .row_key_bytes = 4, .key_bytes = 16, .most_bytes = 20000};
    for (const AttentionBatch& b :
         PlanAttention(forest.segments, limits).batches) {
      // A unit of one page cannot be split.
      if (b.units == 1 && b.pages == 1) continue;
      EXPECT_LE(Bytes(b, limits), limits.most_bytes) << "seed " << seed;
    }
  }
}

TEST(AttentionPlanTest, SharedPagesAreReadOnce) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    const Forest forest = RandomForest(seed);
    const AttentionLimits limits = {.most_bytes = int64_t{1} << 40};
    std::set<PageId> pages;
    for (const auto& table : forest.tables) {
      pages.insert(table.begin(), table.end());
    }
    size_t read = 0;
    for (const AttentionBatch& b :
         PlanAttention(forest.segments, limits).batches) {
      for (const int64_t position : b.page_positions) {
        read += position != AttentionBatch::kNowhere;
      }
    }
    EXPECT_EQ(read, pages.size()) << "seed " << seed;
  }
}

TEST(AttentionPlanTest, ThirtyTwoBranchesOnOnePromptAreTwoBatches) {
  Forest forest;
  for (int i = 0; i < 32; ++i) {
    std::vector<PageId> table = {0, 1, 2, 3, 4, 5, 6, 7};
    table.push_back(8 + i);
    forest.Add(table, 512 + 10, 1);
  }
  forest.Finish();
  const AttentionPlan plan =
      PlanAttention(forest.segments, {.row_key_bytes = 100, .key_bytes = 1000});
  ASSERT_EQ(plan.batches.size(), 2u);
  EXPECT_EQ(plan.batches[0].rows, 32);
  EXPECT_EQ(plan.batches[0].pages, 8);
  EXPECT_FALSE(plan.batches[0].masked);
  EXPECT_EQ(plan.batches[1].units, 32);
  EXPECT_EQ(plan.batches[1].pages, 1);
  EXPECT_TRUE(plan.batches[1].masked);
  EXPECT_EQ(plan.parts, 2);
}

TEST(AttentionPlanTest, NothingToDoIsAnEmptyPlan) {
  EXPECT_TRUE(PlanAttention({}, {}).batches.empty());
  const Segment empty;
  EXPECT_TRUE(
      PlanAttention(absl::MakeConstSpan(&empty, 1), {}).batches.empty());
}

}  // namespace
}  // namespace espalier
