#include "datasets/answers/marks_beside.h"

#include <gtest/gtest.h>

#include <initializer_list>

#include "datasets/answers/grade_answer.h"

namespace espalier {
namespace {

struct MarkedPair {
  const char* gold;
  const char* answer;
};

TEST(MarksBeside, AnotherUnitInASentenceIsNotEqual) {
  for (const MarkedPair& pair : std::initializer_list<MarkedPair>{
           {"25^\\circ C", "The temperature is 25 \u00b0F."},
           {"25 \u00b0C", "The temperature is 25\u00b0F."},
           {"77^{\\circ}\\text{F}", "So it is 77 degrees Celsius."},
           {"300 K", "The temperature is 300 \u00b0C."},
           {"\u00a35", "It costs $5."},
           {"\u00a35", "It costs 5 \u20ac."},
           {"$5", "It costs \u00a35."},
           {"$40", "So the total is \u20ac40."},
           {"5 USD", "It costs 5 CAD."},
           {"\u00a5500", "It costs $500."},
           {"20 cm^2", "The area is 20 cm\u00b3."},
           {"20 m\u00b2", "The area is 20 ft\u00b2."},
           {"60 mph", "The speed is 60 knots."},
           {"8 bits", "It has 8 bytes."},
           {"5 days", "It takes 5 decades."},
           {"45\u00b0", "The angle is 45'."},
           {"500", "The city was founded in 500 B.C."},
           {"1945", "The war ended in 1945 BC."},
           {"11", "The number is 11 in binary."},
           {"7", "It was 7 degrees below zero."}}) {
    EXPECT_FALSE(GradeAnswer(pair.gold, pair.answer).equal)
        << pair.gold << " | " << pair.answer;
  }
}

TEST(MarksBeside, TheSameUnitOrNoneStaysEqual) {
  for (const MarkedPair& pair : std::initializer_list<MarkedPair>{
           {"25^\\circ C", "The temperature is 25 \u00b0C."},
           {"25 \u00b0C", "The temperature is 25 degrees Celsius."},
           {"25 \u00b0C", "The temperature is 25."},
           {"25", "The temperature is 25 \u00b0C."},
           {"300 K", "The temperature is 300 K."},
           {"\u00a35", "It costs \u00a35."},
           {"5", "It costs \u00a35."},
           {"$5", "It costs 5 dollars."},
           {"$5", "It costs 5 USD."},
           {"\u20ac40", "So the total is 40 euros."},
           {"20 cm^2", "The area is 20 cm\u00b2."},
           {"20 cm^{2}", "The area is $20 \\text{ cm}^2$."},
           {"20", "The area is 20 cm\u00b2."},
           {"60 mph", "The speed is 60 mph."},
           {"45\u00b0", "The angle is 45 degrees."},
           {"45", "The angle is $45^\\circ$."},
           {"3x^2y", "3yx^2"},
           {"135 minutes", "The answer is 2 hours and 15 minutes."},
           {"63 inches", "The answer is 5 feet and 3 inches."}}) {
    const GradeVerdict verdict = GradeAnswer(pair.gold, pair.answer);
    EXPECT_TRUE(verdict.equal)
        << pair.gold << " | " << pair.answer << ": " << verdict.reason;
  }
}

TEST(MarksBeside, NamesWithTheirLettersInAnotherOrderAreNotEqual) {
  for (const MarkedPair& pair :
       std::initializer_list<MarkedPair>{{"Au", "uA"},
                                         {"Fe", "eF"},
                                         {"He", "\\boxed{eH}"},
                                         {"UK", "KU"},
                                         {"TV", "VT"},
                                         {"Jo", "oJ"}}) {
    EXPECT_FALSE(GradeAnswer(pair.gold, pair.answer).equal)
        << pair.gold << " | " << pair.answer;
  }
  EXPECT_TRUE(GradeAnswer("ab", "ba").equal);
  EXPECT_TRUE(GradeAnswer("xy", "yx").equal);
  EXPECT_FALSE(IsAnagram("Au", "Au"));
  EXPECT_FALSE(IsAnagram("Au", "Ag"));
}

TEST(MarksBeside, FirstNumeralIsTheWholeNumber) {
  EXPECT_EQ(FirstNumeral("25^\\circ C"), "25");
  EXPECT_EQ(FirstNumeral("$1,234.50."), "1,234.50");
  EXPECT_EQ(FirstNumeral("none"), "");
}

}  // namespace
}  // namespace espalier
