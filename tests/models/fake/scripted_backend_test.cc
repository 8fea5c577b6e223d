#include "models/fake/scripted_backend.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace espalier {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<int32_t> ScriptedIds(std::string_view text) {
  return ByteTokenizer().Encode(text).value();
}

StreamKey ScriptedStream(uint64_t i) {
  return StreamKey(5, 0, i, Purpose::kSample);
}

std::vector<Completion> RunAll(Backend& backend) {
  std::vector<Completion> done;
  while (backend.Step(done)) {
  }
  return done;
}

std::string ScriptedText(const Continuation& c) {
  return ByteTokenizer().Decode(c.tokens);
}

TEST(ByteTokenizerTest, EveryByteIsItsOwnToken) {
  const ByteTokenizer t;
  std::string all;
  for (int b = 0; b < 256; ++b) all += static_cast<char>(b);
  const auto ids = t.Encode(all).value();
  for (int b = 0; b < 256; ++b) EXPECT_EQ(ids[b], b);
  EXPECT_EQ(t.Decode(ids), all);
  EXPECT_THAT(*t.Encode("a<|end|>", true), ElementsAre('a', 256));
  EXPECT_EQ(t.Encode("a<|end|>")->size(), 8u);
  EXPECT_EQ(t.TokenBytes(256), "");
}

TEST(ScriptedBackendTest, AWholeTextHasStepsAnAnswerAndAnEnd) {
  ScriptedBackend backend({.depth = 3});
  const SeqId prompt = backend.Extend(kEmptySeq, ScriptedIds("What?\nA: "));
  GenerateRequest request{
      .from = prompt, .n = 200, .stream = ScriptedStream(1)};
  request.stop.delimiter = "";
  backend.Submit({1, request});
  const auto done = RunAll(backend);
  ASSERT_EQ(done.size(), 1u);
  ASSERT_EQ(done[0].continuations.size(), 200u);
  int right = 0, good = 0;
  const std::string gold = std::to_string(backend.Gold(prompt));
  for (const Continuation& c : done[0].continuations) {
    EXPECT_THAT(ScriptedText(c),
                testing::MatchesRegex("\ns[0-3]\ns[0-3]\ns[0-3]\n"
                                      "= [0-9][0-9]\n"));
    EXPECT_EQ(c.finish, Finish::kEnd);
    EXPECT_EQ(c.tokens.back(), ByteTokenizer::kEnd);
    const bool is_right =
        ScriptedText(c).find("= " + gold) != std::string::npos;
    EXPECT_EQ(is_right, backend.Good(c.seq));
    right += is_right;
    good += backend.Good(c.seq);
    backend.Release(c.seq);
  }
  EXPECT_GT(right, 0);
  EXPECT_LT(right, 200);
  backend.Release(prompt);
  EXPECT_EQ(backend.live_sequences(), 0);
}

TEST(ScriptedBackendTest, StepByStepGivesTheTextsOfOneGo) {
  // Greedy in one go, and greedy cut at every newline and within steps.
  for (const int max_tokens : {100, 2}) {
    ScriptedBackend backend({});
    const SeqId prompt = backend.Extend(kEmptySeq, ScriptedIds("Q\n"));
    GenerateRequest whole{.from = prompt, .sampling = {.temperature = 0}};
    whole.stop.delimiter = "";
    backend.Submit({1, whole});
    const std::string expected =
        ScriptedText(RunAll(backend)[0].continuations[0]);
    std::string text;
    SeqId at = prompt;
    for (Finish finish = Finish::kLength; finish != Finish::kEnd;) {
      GenerateRequest step{.from = at, .sampling = {.temperature = 0}};
      step.stop.max_tokens = max_tokens;
      backend.Submit({2, step});
      const Continuation c = RunAll(backend)[0].continuations[0];
      text += ScriptedText(c);
      finish = c.finish;
      at = c.seq;
    }
    EXPECT_EQ(text, expected);
  }
}

TEST(ScriptedBackendTest, SamplesAtOnceEqualSamplesOneByOneWhateverTheDelay) {
  std::vector<std::string> at_once, one_by_one;
  {
    ScriptedBackend backend({});
    const SeqId prompt = backend.Extend(kEmptySeq, ScriptedIds("Q\n"));
    backend.Submit(
        {1, GenerateRequest{
                .from = prompt, .n = 20, .stream = ScriptedStream(3)}});
    const std::vector<Completion> done = RunAll(backend);
    for (const Continuation& c : done[0].continuations) {
      at_once.push_back(ScriptedText(c));
    }
  }
  ScriptedBackend backend({.max_delay = 7});
  const SeqId prompt = backend.Extend(kEmptySeq, ScriptedIds("Q\n"));
  for (int i = 0; i < 20; ++i) {
    backend.Submit(
        {static_cast<RequestId>(i), GenerateRequest{.from = prompt,
                                                    .n = 1,
                                                    .stream = ScriptedStream(3),
                                                    .first_sample = i}});
  }
  one_by_one.resize(20);
  bool shaken = false;
  RequestId last = 0;
  for (const Completion& c : RunAll(backend)) {
    one_by_one[c.id] = ScriptedText(c.continuations[0]);
    shaken |= c.id < last;
    last = c.id;
  }
  EXPECT_EQ(one_by_one, at_once);
  EXPECT_TRUE(shaken);
}

TEST(ScriptedBackendTest, RewardsFollowTheHiddenQualityWithNoise) {
  ScriptedBackend backend({.depth = 6, .reward_noise = 0.8f});
  const SeqId prompt = backend.Extend(kEmptySeq, ScriptedIds("Q\n"));
  backend.Submit(
      {1,
       GenerateRequest{.from = prompt, .n = 400, .stream = ScriptedStream(9)}});
  const auto steps = RunAll(backend)[0].continuations;
  ScoreRequest score;
  for (const Continuation& c : steps) score.sequences.push_back(c.seq);
  backend.Submit({2, score});
  const auto scores = RunAll(backend)[0].scores;
  ASSERT_EQ(scores.size(), 400u);
  for (size_t i = 0; i < scores.size(); ++i) {
    EXPECT_NEAR(scores[i].step, backend.Good(steps[i].seq) ? 0.75 : 0.25, 0.4);
    EXPECT_GT(scores[i].path, 0);
    EXPECT_LT(scores[i].path, 1);
  }
}

TEST(ScriptedBackendTest, EqualSequencesAreOneAndReferencesBalance) {
  ScriptedBackend backend({});
  const SeqId a = backend.Extend(kEmptySeq, ScriptedIds("Q\n"));
  EXPECT_EQ(backend.Extend(kEmptySeq, ScriptedIds("Q\n")), a);
  EXPECT_EQ(backend.Extend(a, {}), a);
  EXPECT_EQ(backend.references(a), 3);
  const SeqId b = backend.Extend(a, ScriptedIds("s1\n"));
  for (int i = 0; i < 3; ++i) backend.Release(a);
  EXPECT_EQ(backend.live_sequences(), 2);  // b keeps a
  backend.Submit({1, GenerateRequest{.from = b, .stream = ScriptedStream(1)}});
  backend.Release(b);
  EXPECT_EQ(backend.live_sequences(), 2);  // the request keeps b
  backend.Cancel(1);
  backend.Cancel(77);
  EXPECT_EQ(backend.live_sequences(), 0);
  std::vector<Completion> done;
  EXPECT_FALSE(backend.Step(done));
  EXPECT_TRUE(done.empty());
}

TEST(ScriptedBackendTest, WrongRequestsFailAloneWithNumbers) {
  ScriptedBackend backend({.reward = false, .context_length = 8});
  const SeqId full = backend.Extend(kEmptySeq, ScriptedIds("12345678"));
  const SeqId nearly = backend.Extend(kEmptySeq, ScriptedIds("12345\n"));
  backend.Submit({1, GenerateRequest{.from = full}});
  backend.Submit({2, GenerateRequest{.from = nearly}});
  backend.Submit({3, ScoreRequest{{nearly}}});
  backend.Submit({4, GenerateRequest{.from = nearly, .n = 0}});
  const auto done = RunAll(backend);
  ASSERT_EQ(done.size(), 4u);
  EXPECT_THAT(std::string(done[0].status.message()),
              HasSubstr("8 tokens, the context holds 8"));
  ASSERT_TRUE(done[1].status.ok());
  EXPECT_EQ(done[1].continuations[0].finish, Finish::kLength);
  EXPECT_EQ(done[1].continuations[0].tokens.size(), 2u);
  EXPECT_EQ(done[2].status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(done[3].status.code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace espalier
