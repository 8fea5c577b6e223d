#include "datasets/answers/main_statement.h"

#include <gtest/gtest.h>

#include "datasets/answers/grade_answer.h"

namespace espalier {
namespace {

struct StatedPair {
  const char *gold, *answer;
};

TEST(MainStatement, WithoutAdditions) {
  EXPECT_EQ(
      MainStatement("According to the passage, the longest pass was thrown by "
                    "Ann Lee (54 yards)."),
      "the longest pass was thrown by Ann Lee");
  EXPECT_EQ(MainStatement("The first one was Ann A. Lee, followed shortly "
                          "afterwards by Bob Ray."),
            "The first one was Ann A. Lee");
  EXPECT_EQ(MainStatement("The first one was Ann Lee, who came in 1969. She "
                          "was followed by Bob Ray."),
            "The first one was Ann Lee, who came in 1969");
  for (const char* text :
       {"", "Ann Lee", "It was Ann Lee. No, Bob Ray.", "It was Ann Lee. Bob?",
        "It was Ann Lee. The second one was Bob Ray.",
        "It was Ann Lee.\nIt was Bob Ray.", "x (3) = 5"}) {
    EXPECT_EQ(MainStatement(text), "") << text;
  }
}

TEST(MainStatement, YearsOfASentence) {
  EXPECT_EQ(YearStated("It sank on April 15, 1912, after it struck ice."),
            "1912");
  EXPECT_EQ(YearStated("It sank in the early morning hours of April 15, 1912."),
            "1912");
  EXPECT_EQ(YearStated("The treaty was signed on 28 June 1919 at Versailles"),
            "1919");
  for (const char* text :
       {"", "1912", "It sank before April 15, 1912.",
        "It did not sink on April 15, 1912.", "Did it sink on April 15, 1912?",
        "Built in May 1911, it sank on April 15, 1912.",
        "It sank on April 15, 1912, and was found on May 2.",
        "By April 15, 1912, it had sunk.", "Maybe it sank on April 15, 1912.",
        "It opens on April 15, 1912 at the latest, if at all",
        "It sank on April 15, 1912. It was built in 1911."}) {
    EXPECT_EQ(YearStated(text), "") << text;
  }
}

TEST(MainStatement, LastOfLabelledLines) {
  EXPECT_EQ(LastLabelled("**Time:** 3 h\n**Speed:** 40 km/h \u2705"),
            "40 km/h");
  EXPECT_EQ(LastLabelled("**Time**: 3 h\n**Speed**: 40 km/h."), "40 km/h");
  for (const char* text :
       {"", "**Speed:** 40", "**Answer:** 12\n**Confidence:** 90",
        "**Result:** 12\n**Confidence:** 90", "It is 12.\n**Speed:** 40",
        "**Result:** 12\n**Check:** 90", "**Time:** 3 h\n**Subtotal:** 40"}) {
    EXPECT_EQ(LastLabelled(text), "") << text;
  }
}

}  // namespace
}  // namespace espalier
