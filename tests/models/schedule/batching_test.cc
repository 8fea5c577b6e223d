// Continuous batching: how batches are composed, and that results do not depend
// on it.
#include <algorithm>

#include "gmock/gmock.h"
#include "tests/models/schedule/backend_fixture.h"

namespace espalier {
namespace {

using testing::HasSubstr;

TEST(BatchingTest, GreedyTextsAreTheSameAloneAndInAnyBatch) {
  RandomStream rng(StreamKey(1, 0, 0, Purpose::kTest));
  std::vector<Tokens> prompts;
  std::vector<Continuation> alone;
  GenerateRequest greedy{.sampling = {.temperature = 0}};
  greedy.stop = {.delimiter = "", .max_tokens = 40};
  for (int i = 0; i < 40; ++i) {
    prompts.push_back(RandomTokens(rng, rng.Range(1, 200)));
    Fixture f;
    greedy.from = f.backend->Extend(kEmptySeq, prompts[i]);
    f.backend->Submit({1, greedy});
    alone.push_back(f.RunAll()[1].continuations[0]);
  }
  for (int batch = 0; batch < 64; ++batch) {
    Fixture f(rng.Below(2) == 0 ? 1000 : 30, rng.Range(1, 3), 400,
              {.chunk_tokens = rng.Range(1, 90),
               .prefill_tokens = rng.Range(10, 300),
               .max_rows = rng.Range(1, 20)});
    std::vector<int> members;
    std::vector<Completion> done;
    for (int k = 0; k < 20; ++k) {
      members.push_back(static_cast<int>(rng.Below(40)));
      greedy.from = f.backend->Extend(kEmptySeq, prompts[members.back()]);
      f.backend->Submit({static_cast<RequestId>(k), greedy});
      if (rng.Below(3) == 0) f.backend->Step(done);
    }
    while (f.backend->Step(done)) {
    }
    ASSERT_EQ(done.size(), 20u);
    for (const Completion& c : done) {
      const Continuation& expected =
          alone[static_cast<size_t>(members[static_cast<size_t>(c.id)])];
      ASSERT_TRUE(c.status.ok()) << c.status;
      ASSERT_EQ(c.continuations[0].tokens, expected.tokens);
      ASSERT_EQ(c.continuations[0].logprobs, expected.logprobs);
    }
    f.ExpectSound();
  }
}

TEST(BatchingTest, SamplesThatAgreeAreOneRowAndNothingElseChanges) {
  RandomStream rng(StreamKey(2, 0, 0, Purpose::kTest));
  Fixture shared, apart(1000, 1, 400, {.share_rows = false});
  for (int round = 0; round < 60; ++round) {
    const Tokens path = RandomTokens(rng, rng.Range(1, 150));
    GenerateRequest g =
        RandomGeneration(rng, shared.backend->Extend(kEmptySeq, path));
    g.n = rng.Range(1, 12);
    g.sampling.temperature = 0.2f * static_cast<float>(rng.Range(0, 4));
    g.sampling.repetition_penalty = rng.Below(2) == 0 ? 1 : 1.3f;
    g.top_alternatives = 3;
    g.top_logprobs = 3;
    GenerateRequest h = g;
    h.from = apart.backend->Extend(kEmptySeq, path);
    shared.backend->Submit({1, g});
    apart.backend->Submit({1, h});
    const Completion a = shared.RunAll()[1], b = apart.RunAll()[1];
    for (int i = 0; i < g.n; ++i) {
      const Continuation& x = a.continuations[i];
      const Continuation& y = b.continuations[i];
      ASSERT_EQ(x.tokens, y.tokens);
      ASSERT_EQ(x.logprobs, y.logprobs);
      ASSERT_EQ(x.sampler_logprobs, y.sampler_logprobs);
      ASSERT_EQ(x.mean_entropy, y.mean_entropy);
      ASSERT_EQ(x.entropies, y.entropies);
      ASSERT_EQ(x.confidences, y.confidences);
      ASSERT_EQ(x.hidden, y.hidden);
      ASSERT_EQ(x.confidences.size(), x.tokens.size());
      ASSERT_EQ(x.finish, y.finish);
      ASSERT_EQ(x.alternatives.size(), 3 * x.tokens.size());
      ASSERT_EQ(y.alternatives.size(), x.alternatives.size());
      for (size_t k = 0; k < x.alternatives.size(); ++k) {
        ASSERT_EQ(x.alternatives[k].token, y.alternatives[k].token);
      }
    }
  }
  EXPECT_EQ(apart.backend->stats().tokens_shared, 0);
  EXPECT_EQ(shared.backend->stats().tokens_needed,
            apart.backend->stats().tokens_needed);
  const auto computed = [](const Fixture& f) {
    return static_cast<double>(f.backend->stats().tokens_computed) /
           static_cast<double>(f.backend->stats().tokens_needed);
  };
  EXPECT_EQ(computed(apart), 1);
  EXPECT_LT(computed(shared), 0.95);
  shared.ExpectSound();
  apart.ExpectSound();
}

TEST(BatchingTest, ALongPromptNeverStallsTheOthers) {
  Fixture f(2000, 1, 12000, {.chunk_tokens = 128, .prefill_tokens = 256});
  RandomStream rng(StreamKey(3, 0, 0, Purpose::kTest));
  GenerateRequest g{.from = f.backend->Extend(kEmptySeq, {1, 2, 3}), .n = 1};
  g.sampling.top_k = 8;
  g.stop = {.delimiter = "", .max_tokens = 10000};
  f.trunk.forbidden = PieceTokenizer::kEnd;
  f.backend->Submit({1, g});
  std::vector<Completion> done;
  for (int i = 0; i < 3; ++i) f.backend->Step(done);
  const SeqId prompt = f.backend->Extend(kEmptySeq, RandomTokens(rng, 10000));
  f.backend->Submit({2, ScoreRequest{{prompt}}});
  int steps = 0;
  while (done.empty()) {
    const int64_t before = f.backend->stats().tokens_generated;
    f.backend->Step(done);
    ++steps;
    ASSERT_EQ(f.backend->stats().tokens_generated, before + 1);
  }
  EXPECT_EQ(done[0].id, 2u);
  EXPECT_EQ(steps, (10000 + 127) / 128);
}

TEST(BatchingTest, RowsBeyondTheLimitWaitTheirTurn) {
  Fixture f(1000, 1, 400, {.max_rows = 4});
  RandomStream rng(StreamKey(4, 0, 0, Purpose::kTest));
  f.trunk.forbidden = PieceTokenizer::kEnd;
  std::vector<RequestId> order;
  for (RequestId id = 0; id < 12; ++id) {
    GenerateRequest g{.from =
                          f.backend->Extend(kEmptySeq, RandomTokens(rng, 30))};
    g.stop = {.delimiter = "", .max_tokens = 11};
    f.backend->Submit({id, g});
  }
  std::vector<Completion> done;
  while (f.backend->Step(done)) {
  }
  for (const Completion& c : done) order.push_back(c.id);
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
  EXPECT_EQ(order.size(), 12u);
  // 120 decoded tokens, at most four per step, and steps are full.
  EXPECT_LE(f.trunk.most_segments, 4 + 12);
  EXPECT_LE(f.backend->stats().steps, 120 / 4 + 3);
}

TEST(BatchingTest, RowsThatSharePagesStandSideBySide) {
  Fixture f;
  RandomStream rng(StreamKey(5, 0, 0, Purpose::kTest));
  f.trunk.forbidden = PieceTokenizer::kEnd;
  std::vector<SeqId> prompts;
  for (int i = 0; i < 4; ++i) {
    prompts.push_back(f.backend->Extend(kEmptySeq, RandomTokens(rng, 130)));
  }
  for (RequestId id = 0; id < 24; ++id) {  // siblings are submitted apart
    GenerateRequest g{.from = prompts[id % 4], .n = 1};
    g.stop = {.delimiter = "", .max_tokens = 20};
    g.stream.lo = id;
    f.backend->Submit({id, g});
  }
  std::vector<Completion> done;
  int full = 0;
  while (f.backend->Step(done)) {
    std::vector<PageId> first;
    for (const auto& pages : f.trunk.last_pages) first.push_back(pages[0]);
    if (first.size() < 24) continue;
    ++full;
    int runs = 1;
    for (size_t i = 1; i < first.size(); ++i) runs += first[i] != first[i - 1];
    EXPECT_EQ(runs, 4);
  }
  EXPECT_GT(full, 10);
}

TEST(BatchingTest, EqualPromptBeginningsAreComputedOnceAcrossProblems) {
  Fixture f;
  RandomStream rng(StreamKey(6, 0, 0, Purpose::kTest));
  const Tokens system = RandomTokens(rng, 200);
  ScoreRequest score;
  std::vector<Tokens> paths;
  for (int i = 0; i < 8; ++i) {
    Tokens path = system;
    path.push_back(i);
    for (const int32_t t : RandomTokens(rng, 20)) path.push_back(t);
    paths.push_back(path);
  }
  for (const Tokens& path : paths) {
    score.sequences.push_back(f.backend->Extend(kEmptySeq, path));
  }
  f.backend->Submit({1, score});
  const Completion done = f.RunAll()[1];
  for (int i = 0; i < 8; ++i) {
    EXPECT_EQ(done.scores[i].step,
              FakeTrunk::Reward(FakeTrunk::Hash(paths[i])).step);
  }
  EXPECT_EQ(f.backend->stats().tokens_computed, 200 + 8 * 21);
  EXPECT_EQ(f.backend->pool().used(), 3 + 8);
  f.ExpectSound();
}

// The reward head reads the KV pages written by the policy.
TEST(BatchingTest, HeadsOfOneTrunkSharePages) {
  Fixture f;
  RandomStream rng(StreamKey(7, 0, 0, Purpose::kTest));
  GenerateRequest g{.from = f.backend->Extend(kEmptySeq, RandomTokens(rng, 90)),
                    .n = 4};
  g.stop = {.delimiter = "", .max_tokens = 10};
  f.trunk.forbidden = PieceTokenizer::kEnd;
  f.backend->Submit({1, g});
  const auto made = f.RunAll()[1].continuations;
  const int pages = f.backend->pool().used();
  const int64_t computed = f.backend->stats().tokens_computed;
  ScoreRequest score;
  for (const Continuation& c : made) score.sequences.push_back(c.seq);
  f.backend->Submit({2, score});
  EXPECT_TRUE(f.RunAll()[2].status.ok());
  EXPECT_EQ(f.backend->pool().used(), pages);
  // The last token of each, which the next step needs anyway.
  EXPECT_EQ(f.backend->stats().tokens_computed, computed + 4);
}

TEST(BatchingTest, StopStringsEndATextAndSayWhereItEnds) {
  Fixture f;
  RandomStream rng(StreamKey(8, 0, 0, Purpose::kTest));
  GenerateRequest g{.from = f.backend->Extend(kEmptySeq, {1, 2}), .n = 200};
  g.stop = {.delimiter = "", .max_tokens = 60, .stop_strings = {";\n", "ga"}};
  f.backend->Submit({1, g});
  const Completion done = f.RunAll()[1];
  int stopped = 0;
  for (const Continuation& c : done.continuations) {
    const std::string text = f.tokenizer.Decode(c.tokens);
    const size_t at = std::min(text.find(";\n"), text.find("ga"));
    EXPECT_EQ(c.finish == Finish::kStop, at != text.npos);
    EXPECT_EQ(c.text_bytes, std::min(at, text.size()));
    stopped += at != text.npos;
  }
  EXPECT_GT(stopped, 20);
  EXPECT_LT(stopped, 200);
}

TEST(BatchingTest, GivenTextsAreScoredInOnePass) {
  for (const int pages : {1000, 14}) {
    Fixture f(pages, 1, 1000, {.chunk_tokens = 50});
    RandomStream rng(StreamKey(9, 0, 0, Purpose::kTest));
    const Tokens prompt = RandomTokens(rng, 100);
    TextScoreRequest request{.from = f.backend->Extend(kEmptySeq, prompt)};
    for (int i = 0; i < 6; ++i) {
      request.continuations.push_back(
          RandomTokens(rng, i == 0 ? 1 : rng.Range(1, 300)));
    }
    f.backend->Submit({1, request});
    const Completion done = f.RunAll()[1];
    ASSERT_TRUE(done.status.ok()) << done.status;
    int64_t needed = 100;
    for (size_t i = 0; i < request.continuations.size(); ++i) {
      Tokens path = prompt;
      const Tokens& text = request.continuations[i];
      needed += static_cast<int64_t>(text.size()) - 1;
      ASSERT_EQ(done.texts[i].logprobs.size(), text.size());
      for (size_t t = 0; t < text.size(); ++t) {
        std::vector<float> logits(16);
        const uint64_t hash = FakeTrunk::Hash(path);
        double sum = 0;
        for (int v = 0; v < 16; ++v) {
          logits[v] = FakeTrunk::Logit(hash, v);
          sum += std::exp(static_cast<double>(logits[v]));
        }
        ASSERT_NEAR(done.texts[i].logprobs[t], logits[text[t]] - std::log(sum),
                    1e-5);
        const auto top = std::max_element(logits.begin(), logits.end());
        ASSERT_EQ(done.texts[i].greedy[t], top - logits.begin() == text[t]);
        path.push_back(text[t]);
      }
    }
    EXPECT_EQ(f.backend->stats().tokens_needed, needed);
    f.backend->Release(request.from);
    f.ExpectEmpty();
  }
}

TEST(BatchingTest, KeptTextsGoOnWithoutComputingThemAgain) {
  for (const int pages : {1000, 14}) {
    Fixture f(pages, 1, 1000, {.chunk_tokens = 50});
    RandomStream rng(StreamKey(9, 1, 0, Purpose::kTest));
    const Tokens text = RandomTokens(rng, 340);
    const auto part = [&](int begin, int end) {
      return Tokens(text.begin() + begin, text.begin() + end);
    };
    const SeqId prompt = f.backend->Extend(kEmptySeq, part(0, 60));
    // One token, one page and several, each after the one before it.
    const int ends[] = {60, 61, 75, 130, 340};
    std::vector<SeqId> seqs = {prompt};
    std::vector<float> logprobs;
    for (int i = 1; i < 5; ++i) {
      TextScoreRequest request{.from = seqs.back(),
                               .continuations = {part(ends[i - 1], ends[i])},
                               .keep = true};
      f.backend->Submit({static_cast<RequestId>(i), request});
      const Completion done = f.RunAll()[static_cast<RequestId>(i)];
      ASSERT_TRUE(done.status.ok()) << done.status;
      const TextScore& scored = done.texts[0];
      logprobs.insert(logprobs.end(), scored.logprobs.begin(),
                      scored.logprobs.end());
      seqs.push_back(scored.seq);
    }
    f.backend->Submit({9, TextScoreRequest{prompt, {part(60, 340)}}});
    const Completion whole = f.RunAll()[9];
    EXPECT_EQ(whole.texts[0].seq, kEmptySeq);
    EXPECT_EQ(logprobs, whole.texts[0].logprobs);
    if (pages == 1000) {
      // All but the last token of the chain, and that pass again as a whole.
      EXPECT_EQ(f.backend->stats().tokens_computed, 339 + 279);
    }
    // An equal text is the same sequence, with a reference of its own.
    EXPECT_EQ(f.backend->Extend(seqs[1], part(61, 75)), seqs[2]);
    f.backend->Release(seqs[2]);
    // Given up before it is done.
    f.backend->Submit({10, TextScoreRequest{prompt, {{1}, {2, 3}}, true}});
    f.backend->Cancel(10);
    for (const SeqId seq : seqs) f.backend->Release(seq);
    f.ExpectEmpty();
  }
}

TEST(BatchingTest, WrongTextsToScoreFailAlone) {
  Fixture f(1000, 1, 50);
  const SeqId from = f.backend->Extend(kEmptySeq, {1, 2, 3});
  f.backend->Submit({1, TextScoreRequest{from, {{1}, {}}}});
  f.backend->Submit({2, TextScoreRequest{from, {{1}, {2, 16}}}});
  f.backend->Submit({3, TextScoreRequest{from, {Tokens(48, 1)}}});
  f.backend->Submit({4, TextScoreRequest{kEmptySeq, {{1}}}});
  f.backend->Submit({5, TextScoreRequest{from, {Tokens(47, 1)}}});
  f.backend->Submit({6, TextScoreRequest{from, {}}});
  auto done = f.RunAll();
  const char* said[] = {"continuation 1", "token 16", "51", "prompt"};
  for (RequestId id = 1; id <= 4; ++id) {
    EXPECT_EQ(done[id].status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(done[id].status.message()),
                HasSubstr(said[id - 1]));
  }
  EXPECT_TRUE(done[5].status.ok()) << done[5].status;
  EXPECT_TRUE(done[6].status.ok());
}

TEST(BatchingTest, LimitsThatMakeNoSenseFailAlone) {
  Fixture f;
  const SeqId from = f.backend->Extend(kEmptySeq, {1, 2, 3});
  std::vector<GenerateRequest> wrong(8, {.from = from});
  wrong[0].n = -1;
  wrong[1].stop.max_tokens = 0;
  wrong[2].stop.max_tokens = -5;
  wrong[3].top_alternatives = -1;
  wrong[4].stop.stop_strings = {"x", ""};
  wrong[5].sampling.repetition_penalty = 0;
  wrong[6].n = 1 << 30;
  wrong[7].top_logprobs = -4;
  for (size_t i = 0; i < wrong.size(); ++i) f.backend->Submit({i, wrong[i]});
  f.backend->Submit({8, GenerateRequest{.from = from}});
  auto done = f.RunAll();
  const char* said[] = {
      "-1",          "max_tokens = 0",     "-5",         "top_alternatives",
      "stop string", "repetition_penalty", "1073741824", "top_logprobs"};
  for (size_t i = 0; i < wrong.size(); ++i) {
    EXPECT_EQ(done[i].status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(done[i].status.message()), HasSubstr(said[i]));
  }
  EXPECT_TRUE(done[8].status.ok());
}

// 40 requests of up to five rows, in memory for little more than one row.
TEST(BatchingTest, ShortMemoryDelaysAndFailsNothing) {
  Fixture f(8);
  RandomStream rng(StreamKey(10, 0, 0, Purpose::kTest));
  std::vector<Tokens> prompts;
  std::vector<GenerateRequest> requests;
  for (RequestId id = 0; id < 40; ++id) {
    prompts.push_back(RandomTokens(rng, rng.Range(1, 250)));
    requests.push_back(RandomGeneration(
        rng, f.backend->Extend(kEmptySeq, prompts.back()), 100));
    f.backend->Submit({id, requests.back()});
  }
  auto done = f.RunAll();
  for (RequestId id = 0; id < 40; ++id) {
    ExpectPlain(prompts[id], requests[id], done[id]);
  }
  EXPECT_GT(f.backend->stats().tokens_recomputed, 0);
  EXPECT_LE(f.backend->pool().total(), 8);
}

}  // namespace
}  // namespace espalier
