#include "src/serve/stop_strings.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace espalier {
namespace {

using Stops = std::vector<std::string>;

TEST(StopStrings, TheOneThatEndsFirstCuts) {
  EXPECT_EQ(BeforeStop("a\nb\nc", {}), "a\nb\nc");
  EXPECT_EQ(BeforeStop("a\nb\nc", {"x", "\nb"}), "a");
  EXPECT_EQ(BeforeStop("a\nb\nc", {"c", "\nb"}), "a");
  // "b" ends before "a\nb\n" does; "a\nb" ends with it and begins earlier.
  EXPECT_EQ(BeforeStop("xa\nb\nc", {"a\nb\n", "b"}), "xa\n");
  EXPECT_EQ(BeforeStop("xa\nb\nc", {"b", "a\nb"}), "x");
  EXPECT_EQ(BeforeStop("", {"a"}), "");
}

TEST(StopStrings, TheLongestBeginningIsHeldBack) {
  const Stops stops = {"\n\nQ", "END", "\nE"};
  EXPECT_EQ(MayBecomeStop("", stops), 0u);
  EXPECT_EQ(MayBecomeStop("a", stops), 0u);
  EXPECT_EQ(MayBecomeStop("a\n", stops), 1u);
  EXPECT_EQ(MayBecomeStop("a\n\n", stops), 2u);
  EXPECT_EQ(MayBecomeStop("aEN", stops), 2u);
  EXPECT_EQ(MayBecomeStop("EN", {"ENX", "N"}), 2u);
  EXPECT_EQ(MayBecomeStop("aa", {"aaa"}), 2u);
  EXPECT_EQ(MayBecomeStop("x", {"x"}), 0u);
}

// Whatever a text turns out to be, what was shown of its beginning is part of
// what is left of it.
TEST(StopStrings, WhatIsShownIsNeverTakenBack) {
  const Stops stops = {"aab", "ba", "bb\n"};
  const std::string letters = "ab\n";
  for (int number = 0; number < 3 * 3 * 3 * 3 * 3 * 3 * 3; ++number) {
    std::string text;
    for (int rest = number, i = 0; i < 7; ++i, rest /= 3) {
      text += letters[static_cast<size_t>(rest % 3)];
    }
    const std::string_view whole = BeforeStop(text, stops);
    for (size_t size = 0; size <= text.size(); ++size) {
      std::string_view shown =
          BeforeStop(std::string_view(text).substr(0, size), stops);
      if (shown.size() == size) {
        shown.remove_suffix(MayBecomeStop(shown, stops));
      }
      EXPECT_TRUE(whole.starts_with(shown)) << text << " after " << size;
    }
  }
}

}  // namespace
}  // namespace espalier
