#include "models/schedule/draft_source.h"

#include <algorithm>
#include <map>
#include <vector>

#include "base/random.h"
#include "gtest/gtest.h"

namespace espalier {
namespace {

using DraftText = std::vector<int32_t>;

DraftSource::Context ContextOf(uint64_t prompt, const DraftText& text) {
  const size_t tail =
      std::min<size_t>(text.size(), size_t{DraftSource::kLongest});
  return DraftSource::Start(prompt, DraftSource::Hash(0, text),
                            absl::MakeConstSpan(text).last(tail));
}

// A token that followed a text.
struct Event {
  uint64_t prompt = 0;
  DraftText before;
  int32_t token = 0;
};

bool SameEnding(const Event& a, const Event& b, DraftSource::Kind kind) {
  if (kind.own && a.prompt != b.prompt) return false;
  if (kind.tokens == 0) return a.before == b.before;
  const auto k = static_cast<std::ptrdiff_t>(kind.tokens);
  return std::ssize(a.before) >= k && std::ssize(b.before) >= k &&
         std::equal(a.before.end() - k, a.before.end(), b.before.end() - k);
}

// By reading all events again.
DraftSource::Seen PlainFind(absl::Span<const Event> events, const Event& now,
                            DraftSource::Kind kind) {
  DraftSource::Seen seen;
  std::map<int32_t, uint32_t> counts;
  for (const Event& event : events) {
    if (!SameEnding(event, now, kind)) continue;
    ++seen.total;
    ++counts[event.token];
  }
  for (const auto& [token, count] : counts) {
    seen.count = std::max(seen.count, count);
  }
  // Of those with the highest count, the one that reached it first.
  std::map<int32_t, uint32_t> so_far;
  for (const Event& event : events) {
    if (!SameEnding(event, now, kind)) continue;
    if (++so_far[event.token] < seen.count) continue;
    seen.token = event.token;
    break;
  }
  return seen;
}

std::vector<Event> RandomEvents(int texts, int vocabulary, uint64_t seed) {
  RandomStream rng(StreamKey(seed, 0, 0, Purpose::kTest));
  std::vector<Event> events;
  for (int i = 0; i < texts; ++i) {
    Event event;
    event.prompt = 1 + rng.Below(3);
    for (int k = rng.Range(1, 40); k > 0; --k) {
      // Runs of one token make long endings repeat.
      event.token = rng.Below(3) > 0 && !event.before.empty()
                        ? event.before.back()
                        : static_cast<int32_t>(rng.Below(vocabulary));
      events.push_back(event);
      event.before.push_back(event.token);
    }
  }
  return events;
}

TEST(DraftSourceTest, CountsAreThoseOfReadingAllTextsAgain) {
  const std::vector<Event> events = RandomEvents(60, 3, 1);
  DraftSource source;
  int found = 0;
  for (size_t i = 0; i < events.size(); ++i) {
    const Event& now = events[i];
    DraftSource::Context context = ContextOf(now.prompt, now.before);
    for (size_t kind = 0; kind < DraftSource::kKinds.size(); ++kind) {
      const DraftSource::Seen expected = PlainFind(
          absl::MakeConstSpan(events).first(i), now, DraftSource::kKinds[kind]);
      const DraftSource::Seen seen = source.Find(context, kind);
      ASSERT_EQ(seen.total, expected.total) << i << " " << kind;
      ASSERT_EQ(seen.count, expected.count) << i << " " << kind;
      ASSERT_EQ(seen.token, expected.token) << i << " " << kind;
      found += seen.total > 1;
    }
    source.Learn(context, now.token);
  }
  EXPECT_GT(found, 1000);
}

TEST(DraftSourceTest, AContextGrowsAsItsTextDoes) {
  const std::vector<Event> events = RandomEvents(20, 3, 2);
  DraftSource source;
  DraftSource::Context grown;
  for (const Event& event : events) {
    const DraftSource::Context whole = ContextOf(event.prompt, event.before);
    if (event.before.empty()) grown = whole;
    for (size_t kind = 0; kind < DraftSource::kKinds.size(); ++kind) {
      ASSERT_EQ(source.Find(grown, kind).total, source.Find(whole, kind).total);
    }
    source.Learn(grown, event.token);
  }
}

// Of a text that repeats every `period` tokens: mean chance of its guesses, and
// guesses per token.
struct Guessed {
  double chance = 0;
  double right = 0;
  double per_token = 0;
};
Guessed ReadPeriodic(int vocabulary, int period) {
  DraftSource source;
  RandomStream rng(StreamKey(3, 0, 0, Purpose::kTest));
  DraftText text;
  DraftSource::Context context = ContextOf(1, text);
  Guessed sum;
  int guesses = 0;
  for (int i = 0; i < 4000; ++i) {
    const auto token = i < period ? static_cast<int32_t>(rng.Below(vocabulary))
                                  : text[static_cast<size_t>(i - period)];
    const DraftSource::Guess guess = source.Next(context);
    if (i >= 1000 && guess.token >= 0) {
      ++guesses;
      sum.right += guess.token == token;
      sum.chance += static_cast<double>(guess.chance);
    }
    source.Learn(context, token);
    text.push_back(token);
  }
  EXPECT_GT(guesses, 0);
  return {sum.chance / guesses, sum.right / guesses, guesses / 3000.0};
}

TEST(DraftSourceTest, ChancesAreHowOftenGuessesWereRight) {
  const Guessed repeats = ReadPeriodic(1000, 50);
  EXPECT_EQ(repeats.right, 1);
  EXPECT_EQ(repeats.per_token, 1);
  EXPECT_GT(repeats.chance, 0.97);
  // One in eight, by chance.
  const Guessed random = ReadPeriodic(8, 4000);
  EXPECT_NEAR(random.right, 0.125, 0.03);
  EXPECT_NEAR(random.chance, random.right, 0.08);
  // Hardly any two tokens ever occur in a row again.
  EXPECT_LT(ReadPeriodic(1000, 4000).per_token, 0.02);
}

TEST(DraftSourceTest, GivenTokensAreGuessedAndCountNoGuesses) {
  DraftSource source;
  DraftSource::Context context = ContextOf(1, {});
  for (int token = 1; token < 10; ++token) source.LearnGiven(context, token);
  const DraftText copy = {20, 5, 6};
  const DraftSource::Guess guess = source.Next(ContextOf(1, copy));
  EXPECT_EQ(guess.token, 7);
  // As if from two guesses of the guess's own share, one of two.
  EXPECT_EQ(guess.chance, 0.5f);
  // Another prompt has none of the short endings.
  EXPECT_EQ(source.Next(ContextOf(2, copy)).token, -1);
}

TEST(DraftSourceTest, WhatGrowsTooLargeIsForgotten) {
  DraftSource source;
  DraftSource::Context context = ContextOf(1, {});
  size_t most = 0;
  for (int i = 0; i < 100000; ++i) {
    source.Learn(context, i);
    most = std::max(most, source.endings());
  }
  EXPECT_LE(most, DraftSource::kMostEndings + DraftSource::kKinds.size());
  EXPECT_GT(most, DraftSource::kMostEndings / 2);
  EXPECT_LT(source.endings(), most);
}

}  // namespace
}  // namespace espalier
