#include "models/schedule/trunk_backend.h"

#include <algorithm>
#include <map>
#include <set>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/models/schedule/backend_fixture.h"

namespace espalier {
namespace {

using testing::HasSubstr;

TEST(TrunkBackendTest, AloneInABatchAndByThePlainLoopAreOne) {
  for (const int threads : {1, 3}) {
    RandomStream rng(StreamKey(1, 0, 0, Purpose::kTest));
    Fixture f(1000, threads);
    std::vector<Tokens> prompts;
    std::vector<GenerateRequest> requests;
    for (int i = 0; i < 30; ++i) {
      prompts.push_back(RandomTokens(rng, rng.Range(1, 300)));
      requests.push_back(
          RandomGeneration(rng, f.backend->Extend(kEmptySeq, prompts[i])));
      f.backend->Submit({static_cast<RequestId>(i), requests[i]});
    }
    auto done = f.RunAll();
    ASSERT_EQ(done.size(), 30u);
    for (int i = 0; i < 30; ++i) {
      ExpectPlain(prompts[i], requests[i], done[i]);
      for (const Continuation& c : done[i].continuations) {
        f.backend->Release(c.seq);
      }
      f.backend->Release(requests[i].from);
    }
    EXPECT_GT(f.trunk.most_rows, 30);
    f.ExpectEmpty();
  }
}

TEST(TrunkBackendTest, SamplesAtOnceEqualSamplesOneByOne) {
  Fixture f;
  RandomStream rng(StreamKey(2, 0, 0, Purpose::kTest));
  const SeqId prompt = f.backend->Extend(kEmptySeq, RandomTokens(rng, 100));
  GenerateRequest all{.from = prompt, .n = 12};
  f.backend->Submit({1, all});
  const auto at_once = f.RunAll()[1].continuations;
  for (int i = 0; i < 12; ++i) {
    GenerateRequest one = all;
    one.n = 1;
    one.first_sample = i;
    f.backend->Submit({2, one});
    const auto alone = f.RunAll()[2].continuations;
    EXPECT_EQ(alone[0].tokens, at_once[i].tokens);
    // The same sequence, as the same text follows the same prompt.
    EXPECT_EQ(alone[0].seq, at_once[i].seq);
  }
}

// Also for samples that shared a row until they diverged.
TEST(TrunkBackendTest, EveryTokenIsSeenAsItIsDrawn) {
  Fixture f;
  RandomStream rng(StreamKey(2, 1, 0, Purpose::kTest));
  std::vector<Tokens> tokens(60);
  std::vector<std::vector<float>> logprobs(60);
  GenerateRequest g{.from = f.backend->Extend(kEmptySeq, RandomTokens(rng, 9)),
                    .n = 60,
                    .on_token = [&](const DrawnToken& token) {
                      tokens[token.sample].push_back(token.token);
                      logprobs[token.sample].push_back(token.logprob);
                    }};
  f.backend->Submit({1, g});
  const Completion got = f.RunAll()[1];
  EXPECT_GT(f.backend->stats().tokens_shared, 0);
  for (size_t i = 0; i < 60; ++i) {
    EXPECT_EQ(tokens[i], got.continuations[i].tokens);
    EXPECT_EQ(logprobs[i], got.continuations[i].logprobs);
  }
}

TEST(TrunkBackendTest, ADelimiterEndsWithinATokenOrAcrossTwo) {
  Fixture f;
  RandomStream rng(StreamKey(3, 0, 0, Purpose::kTest));
  const Tokens path = RandomTokens(rng, 5);
  GenerateRequest g{.from = f.backend->Extend(kEmptySeq, path), .n = 300};
  g.stop.delimiter = ";\n";
  f.backend->Submit({1, g});
  const Completion got = f.RunAll()[1];
  ExpectPlain(path, g, got);
  std::set<int32_t> last;
  for (const Continuation& c : got.continuations) {
    if (c.finish == Finish::kDelimiter) last.insert(c.tokens.back());
  }
  // "\n" and "\nn" complete a ";" before them, "o;\np" contains all of it.
  EXPECT_EQ(last, (std::set<int32_t>{11, 13, 14}));
}

TEST(TrunkBackendTest, TokensComputedAreExactlyTheTokensNeeded) {
  Fixture f;
  RandomStream rng(StreamKey(4, 0, 0, Purpose::kTest));
  int64_t needed = 0, generated = 0;
  std::set<SeqId> forwarded;  // those whose last token was needed
  std::vector<SeqId> frontier;
  const SeqId prompt = f.backend->Extend(kEmptySeq, RandomTokens(rng, 130));
  needed += 130;
  frontier.push_back(prompt);
  forwarded.insert(prompt);
  for (int depth = 0; depth < 6; ++depth) {
    RequestId id = 0;
    for (const SeqId s : frontier) {
      if (forwarded.insert(s).second) ++needed;
      GenerateRequest g{.from = s, .n = 4};
      g.stop.max_tokens = 20;
      g.stream.lo = static_cast<uint64_t>(depth * 100 + s);
      f.backend->Submit({id++, g});
    }
    std::vector<SeqId> made;
    for (const auto& [_, c] : f.RunAll()) {
      for (const Continuation& k : c.continuations) {
        needed += static_cast<int64_t>(k.tokens.size()) - 1;
        generated += static_cast<int64_t>(k.tokens.size());
        made.push_back(k.seq);
      }
    }
    ScoreRequest score{made};
    for (const SeqId s : made) {
      if (forwarded.insert(s).second) ++needed;
    }
    f.backend->Submit({0, score});
    EXPECT_EQ(f.RunAll()[0].scores.size(), made.size());
    const BackendStats& stats = f.backend->stats();
    EXPECT_EQ(stats.tokens_needed, needed);
    EXPECT_EQ(stats.tokens_computed, needed - stats.tokens_shared);
    EXPECT_EQ(stats.tokens_generated, generated);
    made.resize(std::min<size_t>(made.size(), 6));
    frontier = made;
  }
  // A text that is added later, as two sequences at once.
  const SeqId a = f.backend->Extend(prompt, RandomTokens(rng, 70));
  const SeqId b = f.backend->Extend(a, RandomTokens(rng, 9));
  f.backend->Submit({1, ScoreRequest{{b}}});
  f.backend->Submit({2, ScoreRequest{{a, b, prompt}}});
  f.RunAll();
  const BackendStats& stats = f.backend->stats();
  EXPECT_EQ(stats.tokens_needed, needed + 79);
  EXPECT_EQ(stats.tokens_computed, needed + 79 - stats.tokens_shared);
  EXPECT_GT(stats.tokens_shared, 0);
  EXPECT_EQ(stats.tokens_recomputed, 0);
  f.ExpectSound();
}

TEST(TrunkBackendTest, ScoresAreThoseOfThePathAndDoNotDependOnTheBatch) {
  Fixture f;
  RandomStream rng(StreamKey(5, 0, 0, Purpose::kTest));
  ScoreRequest request;
  std::vector<Tokens> paths;
  for (int i = 0; i < 20; ++i) {
    paths.push_back(RandomTokens(rng, rng.Range(1, 400)));
    request.sequences.push_back(f.backend->Extend(kEmptySeq, paths[i]));
  }
  f.backend->Submit({7, request});
  const Completion done = f.RunAll()[7];
  for (int i = 0; i < 20; ++i) {
    const StepScores expected = FakeTrunk::Reward(FakeTrunk::Hash(paths[i]));
    EXPECT_EQ(done.scores[i].step, expected.step);
    EXPECT_EQ(done.scores[i].path, expected.path);
  }
}

TEST(TrunkBackendTest, ASmallPoolGivesTheSameTexts) {
  RandomStream rng(StreamKey(6, 0, 0, Purpose::kTest));
  Fixture f(14);
  std::vector<std::pair<SeqId, Tokens>> leaves;
  for (int i = 0; i < 6; ++i) {
    const Tokens path = RandomTokens(rng, 90 + 10 * i);
    leaves.emplace_back(f.backend->Extend(kEmptySeq, path), path);
  }
  for (int round = 0; round < 40; ++round) {
    auto& [seq, path] = leaves[rng.Below(6)];
    GenerateRequest g = RandomGeneration(rng, seq, 12);
    g.n = std::min(g.n, 3);
    f.backend->Submit({1, g});
    const Completion done = f.RunAll()[1];
    ExpectPlain(path, g, done);
    for (size_t i = 1; i < done.continuations.size(); ++i) {
      f.backend->Release(done.continuations[i].seq);
    }
    const Continuation& first = done.continuations[0];
    if (path.size() > 200) {
      f.backend->Release(first.seq);
      continue;
    }
    f.backend->Release(seq);
    seq = first.seq;
    path.insert(path.end(), first.tokens.begin(), first.tokens.end());
  }
  EXPECT_GT(f.backend->stats().tokens_recomputed, 0);
  EXPECT_LE(f.backend->pool().total(), 14);
  for (const auto& [seq, path] : leaves) f.backend->Release(seq);
  f.ExpectEmpty();
}

TEST(TrunkBackendTest, WhatFitsInNoPoolFailsWithARemedyAndOthersGoOn) {
  Fixture f(2);
  RandomStream rng(StreamKey(7, 0, 0, Purpose::kTest));
  const SeqId small = f.backend->Extend(kEmptySeq, RandomTokens(rng, 10));
  const SeqId large = f.backend->Extend(kEmptySeq, RandomTokens(rng, 300));
  f.backend->Submit({1, ScoreRequest{{small}}});
  f.backend->Submit({2, ScoreRequest{{large}}});
  auto done = f.RunAll();
  EXPECT_TRUE(done[1].status.ok()) << done[1].status;
  EXPECT_EQ(done[2].status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(done[2].status.message()), HasSubstr("2 pages"));
  // The failed request has released its pages: another text fits.
  const SeqId other = f.backend->Extend(kEmptySeq, RandomTokens(rng, 100));
  f.backend->Submit({3, ScoreRequest{{other}}});
  EXPECT_TRUE(f.RunAll()[3].status.ok());
  f.backend->Release(other);
  f.backend->Release(small);
  f.backend->Release(large);
  f.ExpectEmpty();
}

TEST(TrunkBackendTest, WrongRequestsFailAloneAndSayWhy) {
  Fixture f(1000, 1, 50);
  RandomStream rng(StreamKey(8, 0, 0, Purpose::kTest));
  const SeqId fits = f.backend->Extend(kEmptySeq, RandomTokens(rng, 48));
  const SeqId full = f.backend->Extend(kEmptySeq, RandomTokens(rng, 50));
  const SeqId longer = f.backend->Extend(kEmptySeq, RandomTokens(rng, 61));
  const SeqId foreign = f.backend->Extend(kEmptySeq, {3, 16});
  GenerateRequest bad_option{.from = fits};
  bad_option.sampling.top_p = 7;
  GenerateRequest endless{.from = fits};
  endless.stop.delimiter = "never";
  f.backend->Submit({1, GenerateRequest{.from = longer}});
  f.backend->Submit({2, GenerateRequest{.from = full}});
  f.backend->Submit({3, GenerateRequest{.from = foreign}});
  f.backend->Submit({4, GenerateRequest{.from = kEmptySeq}});
  f.backend->Submit({5, bad_option});
  f.backend->Submit({6, GenerateRequest{.from = fits, .n = 0}});
  f.backend->Submit({7, endless});
  f.backend->Submit({8, ScoreRequest{{full}}});
  auto done = f.RunAll();
  ASSERT_EQ(done.size(), 8u);
  for (RequestId id = 1; id <= 6; ++id) {
    EXPECT_EQ(done[id].status.code(), absl::StatusCode::kInvalidArgument) << id;
    EXPECT_TRUE(done[id].continuations.empty());
  }
  const auto message = [&](RequestId id) {
    return std::string(done[id].status.message());
  };
  EXPECT_THAT(message(1), testing::AllOf(HasSubstr("61"), HasSubstr("50")));
  EXPECT_THAT(message(2), HasSubstr("50"));
  EXPECT_THAT(message(3), HasSubstr("token 16"));
  EXPECT_THAT(message(5), HasSubstr("top_p"));
  ASSERT_TRUE(done[7].status.ok());
  EXPECT_LE(done[7].continuations[0].tokens.size(), 2u);
  EXPECT_TRUE(done[8].status.ok());
}

TEST(TrunkBackendTest, LogitsThatAreNoNumbersFailTheRequest) {
  Fixture f;
  f.trunk.broken_logits = true;
  const SeqId prompt = f.backend->Extend(kEmptySeq, {1, 2, 3});
  f.backend->Submit({1, GenerateRequest{.from = prompt, .n = 3}});
  EXPECT_EQ(f.RunAll()[1].status.code(), absl::StatusCode::kInternal);
  f.backend->Release(prompt);
  f.ExpectEmpty();
}

TEST(TrunkBackendTest, EqualSequencesAreOneWhileTheyLive) {
  Fixture f;
  const SeqId a = f.backend->Extend(kEmptySeq, {1, 2});
  EXPECT_EQ(f.backend->Extend(kEmptySeq, {1, 2}), a);
  const SeqId b = f.backend->Extend(a, {3});
  EXPECT_NE(f.backend->Extend(kEmptySeq, {1, 2, 3}), b);
  EXPECT_EQ(f.backend->Extend(a, {}), a);
  for (int i = 0; i < 3; ++i) f.backend->Release(a);
  EXPECT_EQ(f.backend->Extend(a, {3}), b);  // kept for its descendant
}

// Cancelled while an ancestor of the requested sequence is being computed, then
// released by the caller.
TEST(TrunkBackendTest, CancelInThePrefillOfAnAncestorFreesEverything) {
  Fixture f(1000, 1, 2000);
  RandomStream rng(StreamKey(9, 0, 0, Purpose::kTest));
  for (int steps = 0; steps < 9; ++steps) {
    const SeqId top = f.backend->Extend(kEmptySeq, RandomTokens(rng, 1000));
    const SeqId mid = f.backend->Extend(top, RandomTokens(rng, 600));
    const SeqId low = f.backend->Extend(mid, RandomTokens(rng, 20));
    f.backend->Release(top);
    f.backend->Release(mid);
    f.backend->Submit({1, GenerateRequest{.from = low, .n = 2}});
    std::vector<Completion> done;
    for (int i = 0; i < steps && done.empty(); ++i) f.backend->Step(done);
    f.backend->Cancel(1);
    for (const Completion& c : done) {
      for (const Continuation& k : c.continuations) f.backend->Release(k.seq);
    }
    f.backend->Release(low);
    f.ExpectEmpty();
  }
}

// A text may be released while its request runs. A search may expand what it
// had released, or release what it has requested.
TEST(TrunkBackendTest, WhatWasDroppedCanStillBeAskedFor) {
  RandomStream rng(StreamKey(21, 0, 0, Purpose::kTest));
  const Tokens path = RandomTokens(rng, 300);
  for (const int drop_at : {-1, 0, 1, 2, 3}) {
    Fixture f;
    const SeqId seq = f.backend->Extend(kEmptySeq, path);
    if (drop_at < 0) f.backend->SetRetention(seq, kEvictNow);
    const GenerateRequest g{.from = seq, .n = 3};
    f.backend->Submit({1, g});
    std::vector<Completion> done;
    for (int step = 0; done.empty() && step < 100; ++step) {
      if (step == drop_at) f.backend->SetRetention(seq, kEvictNow);
      f.backend->Step(done);
    }
    ASSERT_EQ(done.size(), 1u) << drop_at;
    ExpectPlain(path, g, done[0]);
  }
}

TEST(TrunkBackendTest, ReleaseWhileARequestRunsIsSafe) {
  Fixture f;
  RandomStream rng(StreamKey(10, 0, 0, Purpose::kTest));
  const Tokens path = RandomTokens(rng, 70);
  const SeqId prompt = f.backend->Extend(kEmptySeq, path);
  const GenerateRequest g{.from = prompt, .n = 3};
  f.backend->Submit({1, g});
  f.backend->Release(prompt);
  const Completion done = f.RunAll()[1];
  ExpectPlain(path, g, done);
  for (const Continuation& c : done.continuations) f.backend->Release(c.seq);
  f.ExpectEmpty();
}

struct RandomUse {
  int pages;
  int steps;
  bool drafts = false;
};

// Extends, generates, scores, steps, cancels and releases at random. Every
// answer is checked against the plain loop, and nothing may leak.
void RandomWalk(const RandomUse& use, uint64_t seed) {
  Fixture f(use.pages, 1, 400, {.drafts = use.drafts});
  RandomStream rng(StreamKey(seed, 0, 0, Purpose::kTest));
  struct Held {
    SeqId seq;
    Tokens path;
  };
  std::vector<Held> held;
  std::map<RequestId, std::pair<Tokens, GenerateRequest>> asked;
  std::map<RequestId, std::vector<Tokens>> scored;
  RequestId next = 1;
  int answered = 0;
  const auto take = [&](std::vector<Completion>& done) {
    for (Completion& c : done) {
      // Memory for one request at a time is enough for all.
      ASSERT_TRUE(c.status.ok()) << c.status;
      if (asked.contains(c.id)) {
        const auto& [path, g] = asked[c.id];
        ExpectPlain(path, g, c);
        for (const Continuation& k : c.continuations) {
          Held h{k.seq, path};
          h.path.insert(h.path.end(), k.tokens.begin(), k.tokens.end());
          held.push_back(std::move(h));
        }
        ++answered;
      } else {
        ASSERT_TRUE(scored.contains(c.id));
        for (size_t i = 0; i < c.scores.size(); ++i) {
          ASSERT_EQ(c.scores[i].step,
                    FakeTrunk::Reward(FakeTrunk::Hash(scored[c.id][i])).step);
        }
        ++answered;
      }
      asked.erase(c.id);
      scored.erase(c.id);
    }
    done.clear();
  };
  std::vector<Completion> done;
  for (int i = 0; i < use.steps; ++i) {
    const uint32_t what = rng.Below(20);
    if (what < 3 || held.empty()) {
      const Held base = held.empty() || rng.Below(2) == 0
                            ? Held{kEmptySeq, {}}
                            : held[rng.Below(held.size())];
      const Tokens more = RandomTokens(rng, rng.Range(1, 80));
      if (base.path.size() + more.size() >= 399) continue;
      Held h{f.backend->Extend(base.seq, more), base.path};
      h.path.insert(h.path.end(), more.begin(), more.end());
      held.push_back(std::move(h));
    } else if (what < 6) {
      const Held& h = held[rng.Below(held.size())];
      if (h.path.size() >= 400) continue;
      GenerateRequest g = RandomGeneration(rng, h.seq, 30);
      // Texts that repeat, but not always.
      if (use.drafts && g.sampling.temperature == 1) {
        g.sampling.temperature = 0.25f;
      }
      asked[next] = {h.path, g};
      f.backend->Submit({next++, g});
    } else if (what < 7) {
      ScoreRequest s;
      for (int k = 0; k < 3; ++k) {
        const Held& h = held[rng.Below(held.size())];
        s.sequences.push_back(h.seq);
        scored[next].push_back(h.path);
      }
      f.backend->Submit({next++, s});
    } else if (what < 8 && !asked.empty()) {
      const RequestId id = asked.begin()->first;
      f.backend->Cancel(id);
      asked.erase(id);
    } else if (what < 12) {
      const size_t k = rng.Below(held.size());
      f.backend->Release(held[k].seq);
      held.erase(held.begin() + static_cast<std::ptrdiff_t>(k));
    } else {
      f.backend->Step(done);
      take(done);
      if (testing::Test::HasFatalFailure()) return;
    }
    const PagePool& pool = f.backend->pool();
    ASSERT_EQ(pool.used() + pool.free(), pool.total());
    ASSERT_LE(pool.total(), use.pages);
  }
  while (f.backend->Step(done)) {
  }
  take(done);
  for (const Held& h : held) f.backend->Release(h.seq);
  EXPECT_TRUE(asked.empty());
  EXPECT_TRUE(scored.empty());
  EXPECT_GT(answered, use.steps / 20);
  if (use.pages >= 100000) {
    EXPECT_EQ(f.backend->stats().tokens_recomputed, 0);
  } else {
    EXPECT_GT(f.backend->stats().tokens_recomputed, 0);
  }
  if (use.drafts) {
    const BackendStats& stats = f.backend->stats();
    EXPECT_GT(stats.drafts_accepted, use.steps / 60);
    EXPECT_GT(stats.tokens_drafted, stats.drafts_accepted);
  }
  f.ExpectEmpty();
}

TEST(TrunkBackendTest, RandomUseOfALargePoolLeavesNothingBehind) {
  RandomWalk({.pages = 100000, .steps = 20000}, 11);
}

TEST(TrunkBackendTest, RandomUseOfASmallPoolLeavesNothingBehind) {
  RandomWalk({.pages = 60, .steps = 100000}, 12);
}

// Ten pages hold any single request, and never two.
TEST(TrunkBackendTest, RandomUseOfTheSmallestPoolThatDoesFailsNothing) {
  RandomWalk({.pages = 10, .steps = 20000}, 13);
}

TEST(TrunkBackendTest, RandomUseWithDraftsLeavesNothingBehind) {
  RandomWalk({.pages = 100000, .steps = 20000, .drafts = true}, 14);
  RandomWalk({.pages = 60, .steps = 50000, .drafts = true}, 15);
  RandomWalk({.pages = 10, .steps = 20000, .drafts = true}, 16);
}

}  // namespace
}  // namespace espalier
