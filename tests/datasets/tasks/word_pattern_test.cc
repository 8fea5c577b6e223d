#include "datasets/tasks/word_pattern.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "datasets/tasks/plain_words.h"

namespace espalier {
namespace {

// Whether `pattern` matches all of `text`; $x is a word that begins with a
// digit.
bool Reads(std::string_view pattern, const std::string& text) {
  static constexpr NamedPattern kNamed[] = {{"adverb", "(now|then|later on)"},
                                            {"when", "[on] @adverb"}};
  const std::vector<std::string> words =
      absl::StrSplit(text, ' ', absl::SkipEmpty());
  const WordPlaces ends =
      WordPattern(pattern, kNamed).Ends(words, 1, [&](char slot, size_t at) {
        return slot == 'x' && at < words.size() && words[at][0] <= '9'
                   ? WordPlaces{1} << (at + 1)
                   : 0;
      });
  return (ends >> words.size() & 1) != 0;
}

TEST(WordPattern, ReadsWordsAlternativesAndWhatMayBeMissing) {
  EXPECT_TRUE(Reads("she (finds|buys) $x [more]", "she buys 3 more"));
  EXPECT_TRUE(Reads("she (finds|buys) $x [more]", "she finds 3"));
  EXPECT_FALSE(Reads("she (finds|buys) $x [more]", "she sells 3"));
  EXPECT_FALSE(Reads("she (finds|buys) $x [more]", "she finds more"));
  EXPECT_FALSE(Reads("she finds $x", "she finds 3 more"));
  EXPECT_FALSE(Reads("she finds $x", "she"));
}

TEST(WordPattern, RepeatedPartsMayBeNoneOrMany) {
  EXPECT_TRUE(Reads("{@adverb} go", "go"));
  EXPECT_TRUE(Reads("{@adverb} go", "now later on then go"));
  EXPECT_TRUE(Reads("{@when} go", "on now go"));
  EXPECT_FALSE(Reads("{@adverb} go", "now later go"));
  EXPECT_TRUE(Reads("{[now]} go", "now now go"));  // and terminates
}

TEST(WordPattern, ReadsAsManyWordsAsPlacesHold) {
  std::string text;
  for (size_t i = 0; i < kMaxPatternWords; ++i) text += "now ";
  EXPECT_TRUE(Reads("{now}", text));
}

TEST(PlainWords, NumbersInWordsAreNumbers) {
  const PlainWords words = CutWords(
      "Ann\u2019s box holds twenty-three, a hundred and five, 12 or 1,000 or "
      "1,00!");
  EXPECT_EQ(words.texts,
            (std::vector<std::string>{"ann", "'s", "box", "holds",
                                      "twenty-three", "a-hundred-and-five",
                                      "12", "or", "1,000", "or", "1,00"}));
  EXPECT_EQ(words.names[0], "Ann");
  EXPECT_EQ(words.numbers[4], 23);
  EXPECT_EQ(words.numbers[5], 105);
  EXPECT_EQ(words.numbers[6], 12);
  EXPECT_EQ(words.numbers[8], 1000);
  EXPECT_EQ(words.numbers[10], std::nullopt);
  EXPECT_TRUE(words.after_comma[5]);
  EXPECT_FALSE(words.after_comma[7]);
}

TEST(PlainWords, SignsAreWords) {
  EXPECT_EQ(CutWords("-5 + 50%").texts,
            (std::vector<std::string>{"-", "5", "+", "50", "%"}));
}

}  // namespace
}  // namespace espalier
