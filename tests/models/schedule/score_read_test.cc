// Hidden rows and logits at the ends of sequences, for heads of other models.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <utility>
#include <vector>

#include "models/fake/scripted_backend.h"
#include "tests/models/schedule/backend_fixture.h"
#include "tests/models/testing/plain_network.h"
#include "tests/models/testing/reward_checkpoint.h"
#include "tests/models/testing/trunk_driver.h"

namespace espalier {
namespace {

TEST(ScoreReadTest, RowsAndLogProbsAreThoseOfTheLastTokens) {
  Fixture f;
  RandomStream rng(StreamKey(3, 1, 0, Purpose::kTest));
  const std::vector<int32_t> read = {3, 0, 11, 3};
  ScoreRequest rows{.read = ScoreRead::kHidden};
  ScoreRequest logprobs{.read = ScoreRead::kLogprobs, .tokens = read};
  ScoreRequest rewards;
  std::vector<Tokens> paths;
  for (int i = 0; i < 50; ++i) {  // more than are read at once
    const bool deeper = i > 0 && rng.Below(2) == 0;
    const size_t from = deeper ? rng.Below(static_cast<uint32_t>(i)) : 0;
    Tokens path = deeper ? paths[from] : Tokens();
    const Tokens more = RandomTokens(rng, rng.Range(1, 80));
    if (path.size() + more.size() > 390) path.clear();
    path.insert(path.end(), more.begin(), more.end());
    const SeqId seq = f.backend->Extend(kEmptySeq, path);
    for (ScoreRequest* request : {&rows, &logprobs, &rewards}) {
      request->sequences.push_back(seq);
    }
    paths.push_back(std::move(path));
  }
  const std::vector<SeqId> held = rows.sequences;
  f.backend->Submit({1, std::move(rows)});
  f.backend->Submit({2, std::move(logprobs)});
  f.backend->Submit({3, std::move(rewards)});
  auto done = f.RunAll();
  for (const RequestId id : {1, 2, 3}) {
    ASSERT_TRUE(done[id].status.ok()) << done[id].status;
  }
  ASSERT_EQ(done[1].rows.size(), paths.size());
  ASSERT_EQ(done[2].rows.size(), paths.size());
  EXPECT_TRUE(done[1].scores.empty());
  EXPECT_TRUE(done[3].rows.empty());
  for (size_t i = 0; i < paths.size(); ++i) {
    const uint64_t hash = FakeTrunk::Hash(paths[i]);
    std::vector<float> hidden(4);
    FakeTrunk::Split(hash, hidden.data(), 1);
    EXPECT_EQ(done[1].rows[i], hidden);
    double sum = 0;
    for (int32_t token = 0; token < f.trunk.config().vocab_size; ++token) {
      sum += std::exp(static_cast<double>(FakeTrunk::Logit(hash, token)));
    }
    for (size_t k = 0; k < read.size(); ++k) {
      EXPECT_NEAR(
          static_cast<double>(done[2].rows[i][k]),
          static_cast<double>(FakeTrunk::Logit(hash, read[k])) - std::log(sum),
          1e-5);
    }
    EXPECT_EQ(done[3].scores[i].step, FakeTrunk::Reward(hash).step);
  }
  for (const SeqId seq : held) f.backend->Release(seq);
  f.ExpectEmpty();
}

TEST(ScoreReadTest, EveryReadSharesOnePass) {
  Fixture f;
  const Tokens path(100, 4);
  const SeqId seq = f.backend->Extend(kEmptySeq, path);
  f.backend->Submit({1, ScoreRequest{{seq}, ScoreRead::kHidden}});
  f.RunAll();
  f.backend->Submit({2, ScoreRequest{{seq}, ScoreRead::kLogprobs, {1}}});
  f.backend->Submit({3, ScoreRequest{{seq}}});
  f.RunAll();
  EXPECT_EQ(f.backend->stats().tokens_computed, 100);
  f.backend->Release(seq);
  f.ExpectEmpty();
}

TEST(ScoreReadTest, BadReadsAreNamed) {
  Fixture f;
  const SeqId seq = f.backend->Extend(kEmptySeq, Tokens{1, 2});
  f.backend->Submit({1, ScoreRequest{{seq}, ScoreRead::kLogprobs, {}}});
  f.backend->Submit({2, ScoreRequest{{seq}, ScoreRead::kLogprobs, {16}}});
  f.backend->Submit({3, ScoreRequest{{kEmptySeq}, ScoreRead::kHidden}});
  auto done = f.RunAll();
  EXPECT_THAT(std::string(done[1].status.message()),
              testing::HasSubstr("at least one token"));
  EXPECT_THAT(std::string(done[2].status.message()),
              testing::HasSubstr("token 16"));
  EXPECT_THAT(std::string(done[3].status.message()),
              testing::HasSubstr("prompt of at least one token"));
  f.backend->Release(seq);
}

TEST(ScoreReadTest, BodyWithoutLanguageModelHeadGivesRowsAndNoLogProbs) {
  const RewardCheckpoint model = WriteRewardCheckpoint("qwen_prm", 6);
  const auto trunk = LoadOrDie(model.folder, {.part = CheckpointPart::kBody});
  const auto tokenizer = Tokenizer::Load(model.folder).value();
  Executor executor(1);
  TrunkBackend backend(*trunk, *tokenizer, executor);
  const Tokens tokens = DrawTokens(90, trunk->config().vocab_size, 8);
  const SeqId seq = backend.Extend(kEmptySeq, tokens);
  backend.Submit({1, ScoreRequest{{seq}, ScoreRead::kHidden}});
  backend.Submit({2, ScoreRequest{{seq}, ScoreRead::kLogprobs, {1}}});
  std::vector<Completion> done;
  while (backend.Step(done)) {
  }
  ASSERT_EQ(done.size(), 2u);
  if (done[0].id == 2) std::swap(done[0], done[1]);
  ASSERT_TRUE(done[0].status.ok()) << done[0].status;
  ExpectNear(done[0].rows[0].data(),
             PlainNetwork(model.plain).Hidden(tokens).back(), 1e-4, "rows");
  EXPECT_THAT(std::string(done[1].status.message()),
              testing::HasSubstr("no language model head"));
  backend.Release(seq);
}

TEST(ScoreReadTest, ScriptedModelReadsTheSameOfTheSameText) {
  ScriptedBackend backend({.hidden_size = 5, .logits = true});
  const SeqId a = backend.Extend(kEmptySeq, Tokens{'a', '\n'});
  const SeqId b =
      backend.Extend(backend.Extend(kEmptySeq, Tokens{'a'}), Tokens{'\n'});
  const SeqId c = backend.Extend(kEmptySeq, Tokens{'c'});
  backend.Submit({1, ScoreRequest{{a, b, c}, ScoreRead::kHidden}});
  backend.Submit({2, ScoreRequest{{a, b, c}, ScoreRead::kLogprobs, {7, 8}}});
  std::vector<Completion> done;
  while (backend.Step(done)) {
  }
  ASSERT_EQ(done.size(), 2u);
  for (const Completion& one : done) {
    ASSERT_TRUE(one.status.ok()) << one.status;
    ASSERT_EQ(one.rows.size(), 3u);
    EXPECT_EQ(one.rows[0].size(), one.id == 1 ? 5u : 2u);
    EXPECT_EQ(one.rows[0], one.rows[1]);
    EXPECT_NE(one.rows[0], one.rows[2]);
  }
  ScriptedBackend none({});
  const SeqId seq = none.Extend(kEmptySeq, Tokens{'c'});
  none.Submit({1, ScoreRequest{{seq}, ScoreRead::kHidden}});
  none.Submit({2, ScoreRequest{{seq}, ScoreRead::kLogprobs, {7}}});
  done.clear();
  while (none.Step(done)) {
  }
  for (const Completion& one : done) {
    EXPECT_EQ(one.status.code(), absl::StatusCode::kFailedPrecondition);
  }
}

}  // namespace
}  // namespace espalier
