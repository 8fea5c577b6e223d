#include "base/growable_array.h"

#include <gtest/gtest.h>

namespace espalier {
namespace {

TEST(GrowableArrayTest, KeepsItsElementsFromTheHeapToLargeMaps) {
  GrowableArray<uint64_t> array;
  for (uint64_t i = 0; i < 3000000; ++i) array.Add() = i * i;
  ASSERT_EQ(array.size(), 3000000u);
  for (uint64_t i = 0; i < array.size(); ++i) ASSERT_EQ(array[i], i * i);
  // At most half as much again as is used, plus a page.
  EXPECT_LE(array.bytes(), 3000000 * 8 * 3 / 2 + 4096);
}

TEST(GrowableArrayTest, ElementsBeginAtAMultipleOf64Bytes) {
  GrowableArray<char> array;
  for (int i = 0; i < 300000; ++i) {
    array.Add() = 'x';
    ASSERT_EQ(reinterpret_cast<uintptr_t>(array.data()) % 64, 0u);
  }
}

TEST(GrowableArrayTest, ManyElementsComeAtOnceAndMovesLeaveNothing) {
  GrowableArray<int> array;
  EXPECT_EQ(array.bytes(), 0);
  int* more = array.Extend(100000);
  for (int i = 0; i < 100000; ++i) more[i] = i;
  GrowableArray<int> other(std::move(array));
  EXPECT_EQ(array.size(), 0u);
  EXPECT_EQ(other[99999], 99999);
  EXPECT_EQ(other.Extend(0), other.data() + 100000);
}

}  // namespace
}  // namespace espalier
