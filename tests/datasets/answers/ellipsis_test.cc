#include "datasets/answers/value/ellipsis.h"

#include <gtest/gtest.h>

namespace espalier {
namespace {

std::vector<Expr> Numbers(std::initializer_list<int64_t> values) {
  std::vector<Expr> out;
  for (const int64_t value : values) out.push_back(Number(value));
  return out;
}

TEST(Ellipsis, SumsOfProgressions) {
  EXPECT_EQ(Describe(*SumThrough(Numbers({1, 2}), Number(10))), "55");
  EXPECT_EQ(Describe(*SumThrough(Numbers({1, 3, 5}), Number(99))), "2500");
  EXPECT_EQ(Describe(*SumThrough(Numbers({10, 7}), Number(-2))), "20");
  // 1 + 2 + 4 + ... + 1024
  EXPECT_EQ(Describe(*SumThrough(Numbers({1, 2, 4}), Number(1024))), "2047");
}

TEST(Ellipsis, NoProgressionNoSum) {
  EXPECT_EQ(SumThrough(Numbers({1, 2, 5}), Number(10)), nullptr);
  EXPECT_EQ(SumThrough(Numbers({1, 3}), Number(10)), nullptr);
  EXPECT_EQ(SumThrough(Numbers({1, 2}), Number(-5)), nullptr);
  EXPECT_EQ(SumThrough(Numbers({2, 2}), Number(2)), nullptr);
  EXPECT_EQ(SumThrough({Symbol("x")}, Number(2)), nullptr);
  EXPECT_EQ(SumThrough(Numbers({0, 0, 0}), Number(1)), nullptr);
}

TEST(Ellipsis, ItemsBetween) {
  const auto items = ItemsThrough(Numbers({2, 4}), Number(10));
  ASSERT_TRUE(items.has_value());
  ASSERT_EQ(items->size(), 2u);
  EXPECT_EQ(Describe(*(*items)[0]), "6");
  EXPECT_EQ(Describe(*(*items)[1]), "8");
  EXPECT_FALSE(ItemsThrough(Numbers({1, 2}), Number(1000000)).has_value());
  EXPECT_TRUE(ItemsThrough(Numbers({1, 2}), Number(3))->empty());
}

}  // namespace
}  // namespace espalier
