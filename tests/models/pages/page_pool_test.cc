#include "models/pages/page_pool.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <set>
#include <vector>

#include "models/pages/plain_pages.h"

namespace espalier {
namespace {

constexpr PageShape kShape{.layers = 3, .kv_heads = 2, .head_dim = 5};
constexpr int64_t kPageBytes = 3 * 2 * 5 * 64 * 2 * 4;

// The floats of a page one by one through the accessors.
std::vector<float*> Slots(PlainPages& pages, PageId page) {
  std::vector<float*> out;
  for (int layer = 0; layer < kShape.layers; ++layer) {
    for (int head = 0; head < kShape.kv_heads; ++head) {
      for (int i = 0; i < kShape.head_dim * kPageSlots; ++i) {
        out.push_back(pages.keys(page, layer, head) + i);
        out.push_back(pages.values(page, layer, head) + i);
      }
    }
  }
  return out;
}

TEST(PagePoolTest, ThePoolGrowsToItsLimitAndNoFurther) {
  PlainPages pages(kShape);
  PagePool pool(pages, 10 * kPageBytes + kPageBytes / 2);
  EXPECT_EQ(pool.page_bytes(), kPageBytes);
  EXPECT_EQ(pool.capacity(), 10);
  EXPECT_EQ(pool.total(), 0);
  std::set<PageId> seen;
  for (int i = 0; i < 10; ++i) {
    const PageId page = pool.Allocate();
    EXPECT_GE(page, 0);
    seen.insert(page);
  }
  EXPECT_EQ(seen.size(), 10u);
  EXPECT_EQ(pool.Allocate(), -1);
  EXPECT_EQ(pool.used(), 10);
  EXPECT_EQ(pool.free(), 0);
  EXPECT_EQ(pool.total(), 10);
  pool.Release(*seen.begin());
  EXPECT_EQ(pool.used(), 9);
  EXPECT_EQ(pool.free(), 1);
  EXPECT_EQ(pool.Allocate(), *seen.begin());
}

TEST(PagePoolTest, AZeroLimitHoldsNoPage) {
  PlainPages pages(kShape);
  PagePool pool(pages, 0);
  EXPECT_EQ(pool.Allocate(), -1);
}

TEST(PagePoolTest, APageLivesUntilItsLastReferenceGoes) {
  PlainPages pages(kShape);
  PagePool pool(pages, 4 * kPageBytes);
  const PageId page = pool.Allocate();
  pool.AddRef(page);
  pool.AddRef(page);
  pool.Release(page);
  pool.Release(page);
  EXPECT_EQ(pool.used(), 1);
  EXPECT_NE(pool.Allocate(), page);
  pool.Release(page);
  EXPECT_EQ(pool.used(), 1);
  EXPECT_EQ(pool.Allocate(), page);
}

TEST(PagePoolTest, ReleasingAFreePageIsCaught) {
  PlainPages pages(kShape);
  PagePool pool(pages, 4 * kPageBytes);
  const PageId page = pool.Allocate();
  pool.Release(page);
  EXPECT_DEATH(pool.Release(page), "broken invariant");
  EXPECT_DEATH(pool.AddRef(page), "broken invariant");
  EXPECT_DEATH(pool.Release(-1), "broken invariant");
}

TEST(PagePoolTest, PagesAndPlacesInThemDoNotOverlap) {
  PlainPages pages(kShape);
  PagePool pool(pages, 300 * kPageBytes);
  std::set<float*> seen;
  for (int i = 0; i < 300; ++i) {
    const PageId page = pool.Allocate();
    ASSERT_GE(page, 0);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(pages.keys(page, 0, 0)) % 64, 0u);
    if (i % 37 != 0) continue;
    for (float* slot : Slots(pages, page)) {
      EXPECT_TRUE(seen.insert(slot).second);
    }
  }
}

TEST(PagePoolTest, CopyPrefixCopiesTheFilledSlotsAndLeavesTheRest) {
  PlainPages pages(kShape);
  PagePool pool(pages, 4 * kPageBytes);
  const PageId from = pool.Allocate();
  const PageId to = pool.Allocate();
  for (const int filled : {0, 1, 17, 63, 64}) {
    float next = 1;
    for (float* slot : Slots(pages, from)) *slot = next++;
    for (float* slot : Slots(pages, to)) *slot = -1;
    pool.CopyPrefix(from, to, filled);
    for (int layer = 0; layer < kShape.layers; ++layer) {
      for (int head = 0; head < kShape.kv_heads; ++head) {
        for (int slot = 0; slot < kPageSlots; ++slot) {
          for (int i = 0; i < kShape.head_dim; ++i) {
            const int k = i * kPageSlots + slot;
            const int v = slot * kShape.head_dim + i;
            const float want_k =
                slot < filled ? pages.keys(from, layer, head)[k] : -1;
            const float want_v =
                slot < filled ? pages.values(from, layer, head)[v] : -1;
            ASSERT_EQ(pages.keys(to, layer, head)[k], want_k);
            ASSERT_EQ(pages.values(to, layer, head)[v], want_v);
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace espalier
