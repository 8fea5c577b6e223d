#include <gtest/gtest.h>

#include "datasets/answers/notation/parser.h"
#include "datasets/answers/value/closed_sum.h"
#include "datasets/answers/value/modular_value.h"
#include "datasets/answers/value/zero_bound.h"

namespace espalier {
namespace {

Expr Read(const char* text) { return ParseMath(text).value(); }

std::optional<bool> Agree(const char* a, const char* b) {
  int64_t budget = 1000000;
  return RemaindersAgree(*Read(a), *Read(b), budget);
}

TEST(ModularValue, TellsLargeNumbersApart) {
  EXPECT_EQ(Agree("2023!", "2023! - 1"), false);
  EXPECT_EQ(Agree("2023!", "2023 \\cdot 2022!"), true);
  EXPECT_EQ(Agree("\\binom{2000}{1000}", "\\frac{2000!}{1000! 1000!}"), true);
  EXPECT_EQ(Agree("2^{10^{20}}", "4^{5 \\cdot 10^{19}}"), true);
  EXPECT_EQ(Agree("2^{10^{20}}", "4^{5 \\cdot 10^{19}} + 1"), false);
}

TEST(ModularValue, TellsPolynomialsApart) {
  EXPECT_EQ(Agree("2023!x", "x \\cdot 2023!"), true);
  EXPECT_EQ(Agree("2023!x", "2023!x + 1"), false);
  EXPECT_EQ(Agree("(x + y)^{99}", "(y + x)^{99} + 10^{-100}"), false);
  EXPECT_EQ(Agree("\\frac{x^2 - 1}{x - 1}", "x + 1"), true);
}

TEST(ModularValue, RefusesWhatIsNotWhole) {
  EXPECT_EQ(Agree("\\sqrt{2}", "1"), std::nullopt);
  EXPECT_EQ(Agree("2^x", "2^x"), std::nullopt);
  EXPECT_EQ(Agree("99999999!", "1"), std::nullopt);
}

TEST(ZeroBound, HoldsForCloseNumbers) {
  // 2^27 (sqrt(2) - 1)^20 is near 2.96; the bound must be smaller.
  const auto bits = ZeroBoundBits(*Read("(\\sqrt{2} - 1)^{20}"));
  ASSERT_TRUE(bits.has_value());
  EXPECT_GT(*bits, 25.4);
  EXPECT_FALSE(ZeroBoundBits(*Read("\\pi - 3")).has_value());
  EXPECT_FALSE(ZeroBoundBits(*Read("x")).has_value());
}

TEST(ClosedSum, PowersAndGeometricTerms) {
  const auto closed = [](const char* text) { return ClosedSum(*Read(text)); };
  EXPECT_NE(closed("\\sum_{k=1}^n k"), nullptr);
  EXPECT_NE(closed("\\sum_{k=0}^n (k + 1)^2 k"), nullptr);
  EXPECT_NE(closed("\\sum_{k=0}^{\\infty} \\frac{1}{2^k}"), nullptr);
  EXPECT_EQ(closed("\\sum_{k=0}^{\\infty} 2^k"), nullptr);
  EXPECT_EQ(closed("\\sum_{k=1}^n \\frac{1}{k}"), nullptr);
  EXPECT_EQ(closed("\\sum_{k=1}^n k^7"), nullptr);
}

}  // namespace
}  // namespace espalier
