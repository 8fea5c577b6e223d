#include "datasets/answers/value/points.h"

#include <gtest/gtest.h>

#include <string>

#include "datasets/answers/notation/parser.h"

namespace espalier {
namespace {

PointsVerdict At(const std::string& a, const std::string& b) {
  const auto x = ParseMath(a), y = ParseMath(b);
  EXPECT_TRUE(x.ok() && y.ok()) << a << " " << b;
  int64_t budget = 200000;
  return CompareAtPoints(*x, *y, {"n", "x", "y"}, &budget);
}

TEST(Points, IdentitiesAgree) {
  EXPECT_EQ(At("\\sin 2x", "2\\sin x\\cos x").same, Sameness::kEqual);
  EXPECT_EQ(At("\\sqrt{xy}", "\\sqrt x\\sqrt y").same, Sameness::kEqual);
  EXPECT_EQ(At("10^{50}\\sqrt x", "\\sqrt{10^{100}x}").same, Sameness::kEqual);
  EXPECT_EQ(At("\\lceil x\\rceil", "-\\lfloor -x\\rfloor").same,
            Sameness::kEqual);
}

TEST(Points, NoNumberHidesADifference) {
  for (const char* small : {"10^{-60}", "10^{-300}x", "e^{-1000}"}) {
    const std::string sum = std::string("\\sqrt x+") + small;
    EXPECT_EQ(At("\\sqrt x", sum).same, Sameness::kDifferent) << small;
  }
  EXPECT_EQ(At("2^{2023}\\sqrt x", "2^{2023}\\sqrt x+1").same,
            Sameness::kDifferent);
  EXPECT_EQ(At("x", "x\\tanh(500)").same, Sameness::kDifferent);
  EXPECT_NE(At("x", "x\\tanh(10^8)").same, Sameness::kEqual);
}

TEST(Points, JumpsAreLookedAtAndBeside) {
  EXPECT_EQ(At("\\lfloor x\\rfloor", "\\lceil x\\rceil-1").same,
            Sameness::kDifferent);
  EXPECT_NE(At("\\lfloor x\\rfloor", "\\lfloor x+10^{-60}\\rfloor").same,
            Sameness::kEqual);
  EXPECT_EQ(At("\\lceil n/2\\rceil", "\\lfloor (n+1)/2\\rfloor").same,
            Sameness::kEqual);
}

}  // namespace
}  // namespace espalier
