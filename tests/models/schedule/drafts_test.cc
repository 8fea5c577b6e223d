// Drafts: guesses of next tokens that run in the same batch.
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/models/schedule/backend_fixture.h"

namespace espalier {
namespace {

// One with drafts and one without.
struct Pair {
  Pair()
      : with(1000, 1, 400, {.drafts = true}),
        without(1000, 1, 400, {.drafts = false}) {}
  Fixture with, without;
};

GenerateRequest RepeatingGeneration(RandomStream& rng) {
  GenerateRequest g = RandomGeneration(rng, kEmptySeq);
  g.n = rng.Range(1, 6);
  g.sampling.temperature = 0.15f * static_cast<float>(rng.Range(0, 3));
  g.sampling.repetition_penalty = rng.Below(8) == 0 ? 1.3f : 1;
  g.top_alternatives = rng.Range(0, 3);
  if (rng.Below(3) == 0) g.stop.stop_strings = {"ab", "k", "\nn"};
  return g;
}

void ExpectSame(const Continuation& x, const Continuation& y) {
  ASSERT_EQ(x.tokens, y.tokens);
  ASSERT_EQ(x.logprobs, y.logprobs);
  ASSERT_EQ(x.sampler_logprobs, y.sampler_logprobs);
  ASSERT_EQ(x.mean_entropy, y.mean_entropy);
  ASSERT_EQ(x.entropies, y.entropies);
  ASSERT_EQ(x.confidences, y.confidences);
  ASSERT_EQ(x.hidden, y.hidden);
  ASSERT_EQ(x.finish, y.finish);
  ASSERT_EQ(x.text_bytes, y.text_bytes);
  ASSERT_EQ(x.alternatives.size(), y.alternatives.size());
  for (size_t k = 0; k < x.alternatives.size(); ++k) {
    ASSERT_EQ(x.alternatives[k].token, y.alternatives[k].token);
    ASSERT_EQ(x.alternatives[k].logprob, y.alternatives[k].logprob);
  }
}

// Samples of the same few texts, again and again, each then scored.
TEST(DraftsTest, AnswersAreTheSameInFewerSteps) {
  Pair pair;
  RandomStream rng(StreamKey(1, 0, 0, Purpose::kTest));
  std::vector<Tokens> paths;
  for (int i = 0; i < 8; ++i) {
    paths.push_back(RandomTokens(rng, rng.Range(1, 200)));
  }
  for (int round = 0; round < 300; ++round) {
    const Tokens& path = paths[rng.Below(8)];
    GenerateRequest g = RepeatingGeneration(rng);
    std::vector<Continuation> texts[2];
    std::vector<StepScores> scores[2];
    Fixture* const fixtures[] = {&pair.with, &pair.without};
    for (int k = 0; k < 2; ++k) {
      Fixture& f = *fixtures[k];
      g.from = f.backend->Extend(kEmptySeq, path);
      f.backend->Submit({1, g});
      texts[k] = f.RunAll()[1].continuations;
      ScoreRequest score;
      for (const Continuation& c : texts[k]) score.sequences.push_back(c.seq);
      f.backend->Submit({2, score});
      scores[k] = f.RunAll()[2].scores;
    }
    ASSERT_EQ(texts[0].size(), static_cast<size_t>(g.n));
    for (size_t i = 0; i < texts[0].size(); ++i) {
      ExpectSame(texts[0][i], texts[1][i]);
      if (HasFatalFailure()) return;
      Tokens whole = path;
      const Tokens& more = texts[0][i].tokens;
      whole.insert(whole.end(), more.begin(), more.end());
      const float expected = FakeTrunk::Reward(FakeTrunk::Hash(whole)).step;
      ASSERT_EQ(scores[0][i].step, expected);
      ASSERT_EQ(scores[1][i].step, expected);
    }
  }
  const BackendStats& with = pair.with.backend->stats();
  EXPECT_GT(with.drafts_accepted, 300);
  EXPECT_GT(with.tokens_drafted, with.drafts_accepted + 100);
  EXPECT_LT(with.steps, pair.without.backend->stats().steps);
  EXPECT_EQ(with.tokens_generated,
            pair.without.backend->stats().tokens_generated);
  EXPECT_EQ(pair.without.backend->stats().tokens_drafted, 0);
  pair.with.ExpectSound();
  pair.without.ExpectSound();
}

// What is guessed of a text that was written before: all of it, the last token
// included, whose row answers the score request without another pass.
TEST(DraftsTest, ATextThatRepeatsTakesOnePassWithItsScore) {
  Fixture f(1000, 1, 400, {.drafts = true});
  RandomStream rng(StreamKey(2, 0, 0, Purpose::kTest));
  GenerateRequest g{.sampling = {.temperature = 0},
                    .stop = {.delimiter = "", .max_tokens = 40}};
  Tokens path, all;
  while (all.size() < 8) {
    path = RandomTokens(rng, 20);
    all = PlainContinuation(path, g, 0).tokens;
  }
  g.from = f.backend->Extend(kEmptySeq, path);
  // Its end is in the middle of the text, at the end of a token.
  g.stop.delimiter = std::string(f.tokenizer.TokenBytes(all[4])) +
                     std::string(f.tokenizer.TokenBytes(all[5]));
  for (int round = 0; round < 30; ++round) {
    const int64_t before = f.trunk.forwards;
    f.backend->Submit({2, g});
    const Completion done = f.RunAll()[2];
    ExpectPlain(path, g, done);
    const Continuation& text = done.continuations[0];
    EXPECT_EQ(text.finish, Finish::kDelimiter);
    f.backend->Submit({3, ScoreRequest{{text.seq}}});
    const Completion scored = f.RunAll()[3];
    // Once the first rounds have shown that guesses are right.
    if (round >= 20) {
      EXPECT_EQ(f.trunk.forwards - before, 1) << round;
    }
    Tokens whole = path;
    whole.insert(whole.end(), text.tokens.begin(), text.tokens.end());
    EXPECT_EQ(scored.scores[0].step,
              FakeTrunk::Reward(FakeTrunk::Hash(whole)).step);
    f.backend->Release(text.seq);
  }
  f.backend->Release(g.from);
  f.ExpectEmpty();
}

// Limits end a text where they would without guesses, and nothing beyond them
// is tried.
TEST(DraftsTest, GuessesEndWhereTheTextMust) {
  constexpr int kContext = 100;
  Fixture f(1000, 1, kContext, {.drafts = true});
  RandomStream rng(StreamKey(3, 0, 0, Purpose::kTest));
  const Tokens path = RandomTokens(rng, 70);
  const SeqId from = f.backend->Extend(kEmptySeq, path);
  for (int round = 0; round < 3; ++round) {
    for (int most = 1; most <= 40; ++most) {
      GenerateRequest g{.from = from,
                        .sampling = {.temperature = 0},
                        .stop = {.delimiter = "", .max_tokens = most}};
      const int64_t before = f.backend->stats().tokens_drafted;
      f.backend->Submit({1, g});
      const Completion done = f.RunAll()[1];
      ExpectPlain(path, g, done, kContext);
      // The first token is drawn without a pass, and the second is the last.
      if (most <= 2) {
        EXPECT_EQ(f.backend->stats().tokens_drafted, before);
      }
      f.backend->Release(done.continuations[0].seq);
    }
  }
  const BackendStats& stats = f.backend->stats();
  EXPECT_GT(stats.drafts_accepted, 500);
  f.backend->Release(from);
  f.ExpectEmpty();
}

// 16 tokens, the most likely one about one in six: hardly anything is tried.
TEST(DraftsTest, WhereNothingRepeatsLittleIsTried) {
  Fixture f(1000, 1, 400, {.drafts = true});
  RandomStream rng(StreamKey(4, 0, 0, Purpose::kTest));
  for (int round = 0; round < 200; ++round) {
    const SeqId from = f.backend->Extend(kEmptySeq, RandomTokens(rng, 10));
    GenerateRequest g{
        .from = from,
        .stop = {.delimiter = "", .max_tokens = 100},
        .stream = StreamKey(1, rng.Next32(), 0, Purpose::kSample)};
    f.backend->Submit({1, g});
    f.backend->Release(f.RunAll()[1].continuations[0].seq);
    f.backend->Release(from);
  }
  const BackendStats& stats = f.backend->stats();
  EXPECT_GT(stats.tokens_generated, 2000);
  EXPECT_LT(stats.tokens_drafted, stats.tokens_generated / 50);
  f.ExpectEmpty();
}

// In a wide batch a row costs what it gains, unless the guess is all but sure.
TEST(DraftsTest, AWideBatchTriesLess) {
  const auto tried = [](int at_once) {
    Fixture f(1000, 1, 400, {.drafts = true});
    RandomStream rng(StreamKey(5, 0, 0, Purpose::kTest));
    const Tokens path = RandomTokens(rng, 10);
    for (int round = 0; round < 640 / at_once; ++round) {
      for (int i = 0; i < at_once; ++i) {
        const SeqId from = f.backend->Extend(kEmptySeq, path);
        GenerateRequest g{
            .from = from,
            .sampling = {.temperature = 0.2f},
            .stop = {.delimiter = "", .max_tokens = 30},
            .stream = StreamKey(1, rng.Next32(), 0, Purpose::kSample)};
        f.backend->Submit({static_cast<RequestId>(i), g});
      }
      for (auto& [id, done] : f.RunAll()) {
        f.backend->Release(done.continuations[0].seq);
      }
    }
    return static_cast<double>(f.backend->stats().tokens_drafted) /
           static_cast<double>(f.backend->stats().tokens_generated);
  };
  const double alone = tried(1);
  EXPECT_GT(alone, 0.25);
  EXPECT_LT(tried(64), alone / 2);
}

}  // namespace
}  // namespace espalier
