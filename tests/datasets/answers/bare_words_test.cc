#include "datasets/answers/words/bare_words.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace espalier {
namespace {

TEST(BareWords, DropMarkup) {
  using Words = std::vector<std::string>;
  EXPECT_EQ(BareWords("every $x$ but \\text{(B)}"),
            (Words{"every", "x", "but", "(", "b", ")"}));
  EXPECT_EQ(BareWords("a loss of \\$1,000."),
            (Words{"a", "loss", "of", "1,000", "."}));
  EXPECT_EQ(BareWords("Seven counter-clockwise turns at 4:30"),
            (Words{"7", "counterclockwise", "turns", "at", "4:30"}));
  EXPECT_EQ(BareWords("\\boxed{\\pi x-y}"), (Words{"pi", "x", "-", "y"}));
  EXPECT_TRUE(BareWords(" $ ").empty());
}

TEST(BareWords, LastSentence) {
  const std::string text = "It is 3. So it is 4. ";
  EXPECT_EQ(text.substr(LastSentenceStart(text)), "So it is 4. ");
  EXPECT_EQ(LastSentenceStart("..."), 0u);
}

}  // namespace
}  // namespace espalier
