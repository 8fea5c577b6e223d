#include "models/schedule/stop_matcher.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace espalier {
namespace {

using Found = StopMatcher::Found;

TEST(StopMatcherTest, AStopStringIsFoundAcrossTokensAndCutOff) {
  const StopRule rule{.delimiter = "\n\n", .stop_strings = {"User:", "END"}};
  StopMatcher matcher;
  EXPECT_EQ(matcher.Add(rule, "four\nUs"), Found::kNothing);
  EXPECT_EQ(matcher.text_bytes(), 7u);
  EXPECT_EQ(matcher.Add(rule, "e"), Found::kNothing);
  EXPECT_EQ(matcher.Add(rule, "r: more"), Found::kStop);
  EXPECT_EQ(matcher.text_bytes(), 5u);
}

TEST(StopMatcherTest, WhatIsCompleteFirstCounts) {
  const StopRule rule{.delimiter = "\n", .stop_strings = {"a\nb", "\n"}};
  EXPECT_EQ(StopMatcher().Add(rule, "x\n"), Found::kStop);  // both end at once
  const StopRule later{.delimiter = "\n", .stop_strings = {"a\nb"}};
  EXPECT_EQ(StopMatcher().Add(later, "a\nb"), Found::kDelimiter);
  const StopRule longer{.delimiter = "", .stop_strings = {"b", "ab"}};
  StopMatcher matcher;
  EXPECT_EQ(matcher.Add(longer, "xab"), Found::kStop);
  EXPECT_EQ(matcher.text_bytes(), 1u);
  EXPECT_EQ(StopMatcher().Add({.delimiter = ""}, "anything"), Found::kNothing);
}

// Against a search of the whole text after each token.
TEST(StopMatcherTest, TokenByTokenFindsWhatTheWholeTextHas) {
  RandomStream rng(StreamKey(1, 0, 0, Purpose::kTest));
  const auto random_text = [&](int n) {
    std::string text;
    for (int i = 0; i < n; ++i) text += static_cast<char>('a' + rng.Below(2));
    return text;
  };
  int stops = 0, delimiters = 0;
  for (int round = 0; round < 3000; ++round) {
    StopRule rule{.delimiter = random_text(rng.Range(0, 6))};
    for (int i = rng.Range(0, 3); i > 0; --i) {
      rule.stop_strings.push_back(random_text(rng.Range(1, 7)));
    }
    StopMatcher matcher;
    std::string text;
    while (text.size() < 60) {
      const std::string token = random_text(rng.Range(0, 4));
      text += token;
      const Found found = matcher.Add(rule, token);
      // Expected: the match that ends first.
      size_t end = std::string::npos, begin = 0;
      Found expected = Found::kNothing;
      if (!rule.delimiter.empty() && text.find(rule.delimiter) != text.npos) {
        expected = Found::kDelimiter;
        end = text.find(rule.delimiter) + rule.delimiter.size();
      }
      for (const std::string& stop : rule.stop_strings) {
        const size_t at = text.find(stop);
        if (at == text.npos) continue;
        const bool first = at + stop.size() < end;
        const bool tie = at + stop.size() == end;
        if (first || (tie && (expected == Found::kDelimiter || at < begin))) {
          expected = Found::kStop;
          end = at + stop.size();
          begin = at;
        }
      }
      ASSERT_EQ(found, expected) << text;
      ASSERT_EQ(matcher.text_bytes(),
                found == Found::kStop ? begin : text.size());
      stops += found == Found::kStop;
      delimiters += found == Found::kDelimiter;
      if (found != Found::kNothing) break;
    }
  }
  EXPECT_GT(stops, 500);
  EXPECT_GT(delimiters, 500);
}

}  // namespace
}  // namespace espalier
