#include "src/engine/verdict_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "models/fake/byte_tokenizer.h"
#include "models/schedule/stop_matcher.h"
#include "src/engine/load_reward_model.h"
#include "tests/engine/judge_steps.h"
#include "tests/engine/reward_trees.h"
#include "tests/models/testing/plain_network.h"
#include "tests/models/testing/random_checkpoint.h"
#include "tests/models/testing/reward_checkpoint.h"

namespace espalier {
namespace {

using testing::HasSubstr;

// A model of bytes that writes what a function of its text and the sample's
// index says, and whose logit of "Y" is that of the text's hash.
class WritingModel : public Backend {
 public:
  using Writes = std::function<std::string(const std::string&, int)>;
  explicit WritingModel(Writes writes, int context = 4000)
      : writes_(std::move(writes)) {
    capabilities_.context_length = context;
    capabilities_.logits = true;
  }

  // ln of odds at a text: 0 to 1.
  static double Logit(const std::string& text) {
    return static_cast<double>(StableHash(text) % 1000) / 1000;
  }
  const Capabilities& capabilities() const override { return capabilities_; }
  const BackendStats& stats() const override { return stats_; }
  SeqId Extend(SeqId parent, absl::Span<const int32_t> tokens) override {
    std::string text = parent == kEmptySeq ? "" : texts_.at(parent);
    for (const int32_t token : tokens) text += static_cast<char>(token);
    texts_[++last_] = text;
    extended[text] = tokens.size();
    ++live_;
    return last_;
  }
  void Release(SeqId seq) override {
    if (seq != kEmptySeq) --live_;
  }
  void Submit(Request request) override { waiting_.push_back(request); }
  void Cancel(RequestId) override {}
  bool Step(std::vector<Completion>& done) override {
    const bool any = !waiting_.empty();
    for (const Request& request : std::exchange(waiting_, {})) {
      Completion out{.id = request.id};
      if (const auto* score = std::get_if<ScoreRequest>(&request.body)) {
        const std::string& text = texts_.at(score->sequences[0]);
        read.push_back(text);
        out.rows.push_back({static_cast<float>(Logit(text)), 0});
      } else {
        const auto& write = std::get<GenerateRequest>(request.body);
        streams.push_back(write.stream);
        for (int i = 0; i < write.n; ++i) {
          out.continuations.push_back(Write(write, write.first_sample + i));
        }
      }
      done.push_back(std::move(out));
    }
    return any;
  }

  int live() const { return live_; }
  std::vector<std::string> read;           // texts at which choices were read
  std::vector<StreamKey> streams;          // of what was written
  std::map<std::string, size_t> extended;  // by how many tokens, by text

 private:
  // "$" is the end token.
  Continuation Write(const GenerateRequest& request, int sample) {
    Continuation out;
    StopMatcher stop;
    out.finish = Finish::kLength;
    for (const char c : writes_(texts_.at(request.from), sample)) {
      if (static_cast<int>(out.tokens.size()) == request.stop.max_tokens) break;
      out.tokens.push_back(c == '$' ? ByteTokenizer::kEnd : c);
      out.logprobs.push_back(-1);
      out.sampler_logprobs.push_back(-1);
      if (c == '$') {
        out.finish = Finish::kEnd;
        break;
      }
      if (stop.Add(request.stop, std::string(1, c)) ==
          StopMatcher::Found::kStop) {
        out.finish = Finish::kStop;
        break;
      }
    }
    out.text_bytes = stop.text_bytes();
    out.seq = Extend(request.from, out.tokens);
    return out;
  }

  const Writes writes_;
  Capabilities capabilities_;
  BackendStats stats_;
  std::map<SeqId, std::string> texts_;
  std::vector<Request> waiting_;
  SeqId last_ = kEmptySeq;
  int live_ = 0;
};

// A format in the manner of GenPRM over bytes.
constexpr char kJudged[] = R"(layout: TEXT
question_prefix: "Q:"
question_suffix: ";"
choice: "Y"
choice: "N"
squash: SOFTMAX
label: 0
range: PROBABILITY
verdict {
  round { say: "<a{i}>" stop: "</a>" tokens: 40 keep_stop: true }
  round { say: "<o>{" stop: "</o>" tokens: 12 keep_stop: true }
  closes: "}"
  history_prefix: "["
  history_suffix: "]"
}
)";

// A format in the manner of ThinkPRM over bytes.
constexpr char kAsked[] = R"(layout: TEXT
question_suffix: ";"
step_prefix: "Step {i}: "
between: "|"
choice: "Y"
choice: "N"
squash: SOFTMAX
label: 0
path_label: 0
range: PROBABILITY
verdict {
  round { say: "\nThink:" stop: "right?" stop: "Step {next}:" tokens: 30 }
  round { say: " right? " }
}
)";

struct ByteReader {
  ByteReader(const std::string& text, int votes, WritingModel::Writes writes,
             int context = 4000)
      : ByteReader(ParseRewardFormat(text, "t", "written").value(), votes,
                   std::move(writes), context) {}
  ByteReader(RewardFormat format, int votes, WritingModel::Writes writes,
             int context = 4000)
      : model(std::move(writes), context) {
    format.verdict->votes = votes;
    scorer = std::make_unique<RewardScorer>(RewardScorer{
        StepLayout::Create(format, tokenizer, "").value(), RewardHead()});
    reader = VerdictReader::Open(*scorer, model, tokenizer, "q", 5).value();
  }

  ByteTokenizer tokenizer;
  WritingModel model;
  std::unique_ptr<RewardScorer> scorer;
  std::unique_ptr<VerdictReader> reader;
};

double ScoreAt(const std::string& text) {
  return 1 / (1 + std::exp(-WritingModel::Logit(text)));
}

TEST(VerdictReaderTest, JudgementIsReadAtTheTokenThatSaysIt) {
  ByteReader test(kJudged, 1, [](const std::string& text, int) {
    return text.ends_with("<o>{") ? "Y}.</o>more" : "It is N}.</a>more";
  });
  Tree tree;
  const NodeId a = AddStep(tree, kRoot, "one\n");
  const NodeId b = AddStep(tree, a, "two\n");
  const SearchCompletion scored = Judge(*test.reader, tree, {b});
  ASSERT_TRUE(scored.status.ok()) << scored.status;
  const std::string first = "Q:q;one<a1>It is N}.</a><o>{";
  const std::string second =
      "Q:q;one[<a1>It is N}.</a><o>{Y}.</o>]two<a2>It is N}.</a><o>{";
  EXPECT_EQ(test.model.read, (std::vector<std::string>{first, second}));
  ASSERT_EQ(scored.scores.size(), 1u);
  EXPECT_NEAR(scored.scores[0].step, ScoreAt(second), 1e-6);
  EXPECT_NEAR(scored.scores[0].path, std::min(ScoreAt(first), ScoreAt(second)),
              1e-6);
  // What was written about both steps is the request's.
  ASSERT_EQ(scored.samples.size(), 2u);
  EXPECT_EQ(scored.samples[1].text, "<a2>It is N}.</a><o>{Y}.</o>");
  EXPECT_EQ(scored.samples[1].tokens.size(),
            std::string("It is N}.</a>Y}.</o>").size());
  EXPECT_NEAR(scored.samples[1].verdict, ScoreAt(second), 1e-6);
}

TEST(VerdictReaderTest, VerdictThatNeverComesIsOneHalf) {
  for (const char* said : {"no idea", "Y or N", "$", "</o>"}) {
    ByteReader test(kJudged, 1, [&](const std::string& text, int) {
      return text.ends_with("<o>{") ? said : "hm$";
    });
    Tree tree;
    const SearchCompletion scored =
        Judge(*test.reader, tree, {AddStep(tree, kRoot, "one\n")});
    ASSERT_TRUE(scored.status.ok()) << scored.status;
    EXPECT_EQ(scored.scores[0].step, 0.5f) << said;
    EXPECT_TRUE(scored.samples[0].truncated);
  }
}

TEST(VerdictReaderTest, VotesAreAveragedAndTheFirstIsTheHistory) {
  ByteReader test(kJudged, 3, [](const std::string& text, int sample) {
    if (text.ends_with("<o>{")) {
      return std::string(sample == 2 ? "?}</o>" : "N}</o>");
    }
    return absl::StrCat("v", sample, "</a>");
  });
  Tree tree;
  const NodeId a = AddStep(tree, kRoot, "one\n");
  const NodeId b = AddStep(tree, a, "two\n");
  const SearchCompletion scored = Judge(*test.reader, tree, {a, b});
  ASSERT_TRUE(scored.status.ok()) << scored.status;
  const double expected = (ScoreAt("Q:q;one<a1>v0</a><o>{") +
                           ScoreAt("Q:q;one<a1>v1</a><o>{") + 0.5) /
                          3;
  EXPECT_NEAR(scored.scores[0].step, expected, 1e-6);
  const std::string history = "Q:q;one[<a1>v0</a><o>{N}</o>]two<a2>";
  EXPECT_NEAR(scored.scores[1].step,
              (ScoreAt(history + "v0</a><o>{") +
               ScoreAt(history + "v1</a><o>{") + 0.5) /
                  3,
              1e-6);
  EXPECT_EQ(scored.samples.size(), 6u);
}

// Where the next prompt begins with the whole of the last one, it goes on from
// there.
TEST(VerdictReaderTest, DialogueGoesOnFromItsLastPrompt) {
  std::string format = kJudged;
  format.replace(format.find("\"[\""), 3, "\"<a1>\"");
  ByteReader test(format, 1, [](const std::string& text, int) {
    return text.ends_with("<o>{") ? "N}</o>" : "v</a>";
  });
  Tree tree;
  const NodeId a = AddStep(tree, kRoot, "one\n");
  const NodeId b = AddStep(tree, a, "two\n");
  const SearchCompletion scored = Judge(*test.reader, tree, {a, b});
  ASSERT_TRUE(scored.status.ok()) << scored.status;
  const std::string last = "Q:q;one<a1>";
  const std::string more = "<a1>v</a><o>{N}</o>]two<a2>";
  EXPECT_NEAR(scored.scores[1].step, ScoreAt(last + more + "v</a><o>{"), 1e-6);
  EXPECT_EQ(test.model.extended[last + more], more.size());
}

TEST(VerdictReaderTest, AskedModelThinksUpToAStopWithoutIt) {
  const std::pair<const char*, const char*> cases[] = {
      {"fine.Is it right? no", "fine.Is it "},
      {"good Step 3: more", "good "},
      {"done$", "done"},
      {"123456789012345678901234567890123", "123456789012345678901234567890"},
  };
  for (const auto& [writes, kept] : cases) {
    ByteReader test(kAsked, 1, [&](const std::string&, int) { return writes; });
    Tree tree;
    const NodeId a = AddStep(tree, kRoot, "one\n");
    const NodeId b = AddStep(tree, a, "two\n");
    const SearchCompletion scored = Judge(*test.reader, tree, {b});
    ASSERT_TRUE(scored.status.ok()) << scored.status;
    const std::string read =
        absl::StrCat("q;Step 1: one|Step 2: two\nThink:", kept, " right? ");
    // The verdict is on the path, so the step before it is not judged.
    EXPECT_EQ(test.model.read, std::vector<std::string>{read});
    EXPECT_NEAR(scored.scores[0].step, ScoreAt(read), 1e-6);
    EXPECT_EQ(scored.scores[0].path, scored.scores[0].step);
    EXPECT_EQ(scored.samples.size(), 1u);
  }
}

TEST(VerdictReaderTest, ThinkingGoesOnAfterEachPhrase) {
  const std::string file = TempFolder() + "/again.textproto";
  std::string text = kAsked;
  const std::string last = "  round { say: \" right? \" }\n";
  text.insert(text.find(last), "  again: \"WAIT\" again: \"SURE?\"\n");
  std::ofstream(file) << text;
  for (const int votes : {1, 2}) {
    ByteReader test(*ReadRewardFormat(file + ":rounds=3"), votes,
                    [](const std::string& before, int sample) {
                      return before.ends_with("WAIT") ? std::string("it is.$")
                             : before.ends_with("SURE?")
                                 ? std::string("yes right? no")
                                 : absl::StrCat("fine", sample, "$");
                    });
    Tree tree;
    const SearchCompletion scored =
        Judge(*test.reader, tree, {AddStep(tree, kRoot, "one\n")});
    ASSERT_TRUE(scored.status.ok()) << scored.status;
    double sum = 0;
    for (int v = 0; v < votes; ++v) {
      sum += ScoreAt(absl::StrCat("q;Step 1: one\nThink:fine", v,
                                  "WAITit is.SURE?yes  right? "));
    }
    EXPECT_NEAR(scored.scores[0].step, sum / votes, 1e-6);
    EXPECT_EQ(scored.samples[0].text, "fine0WAITit is.SURE?yes  right? ");
  }
}

TEST(VerdictReaderTest, VoteIsWrittenInTheTokensThatItsRequestAllows) {
  const auto writes = [](const std::string& before, int) {
    return before.ends_with("<o>{") ? "Y}, I am quite sure.</o>"
                                    : "It is a long story without an end";
  };
  for (int limit = 1; limit <= 60; ++limit) {
    ByteReader test(kJudged, 2, writes);
    Tree tree;
    const NodeId a = AddStep(tree, kRoot, "one\n");
    const SearchCompletion scored =
        Judge(*test.reader, tree, {AddStep(tree, a, "two\n")}, limit);
    ASSERT_TRUE(scored.status.ok()) << scored.status;
    ASSERT_EQ(scored.samples.size(), 4u);
    for (const SampledStep& vote : scored.samples) {
      // 33 of the 40 tokens are used, and 12 of 12.
      EXPECT_EQ(vote.tokens.size(), limit == 1 ? 1u : std::min(limit, 45));
      // The judgement has its share, so that it comes.
      EXPECT_EQ(vote.truncated, limit < 3) << limit;
    }
  }
}

TEST(VerdictReaderTest, SharedStepBelongsToTheRequestThatAskedFirst) {
  ByteReader test(kJudged, 1, [](const std::string& text, int) {
    return text.ends_with("<o>{") ? "Y}</o>" : "x</a>";
  });
  Tree tree;
  const NodeId a = AddStep(tree, kRoot, "one\n");
  const NodeId b = AddStep(tree, a, "two\n");
  const NodeId c = AddStep(tree, a, "three\n");
  test.reader->Ask(7, tree, {b});
  test.reader->Ask(8, tree, {c, a});
  const std::vector<SearchCompletion> scored = RunJudge(*test.reader, tree);
  ASSERT_EQ(scored.size(), 2u);
  EXPECT_EQ(scored[0].number, 7u);
  EXPECT_EQ(scored[0].samples.size(), 2u);
  EXPECT_EQ(scored[1].samples.size(), 1u);
  EXPECT_EQ(scored[1].scores.size(), 2u);
  EXPECT_EQ(test.model.read.size(), 3u);
}

TEST(VerdictReaderTest, EveryPathAndRoundHasItsOwnStream) {
  const auto streams = [](const std::vector<std::string>& order) {
    ByteReader test(kJudged, 1, [](const std::string& text, int) {
      return text.ends_with("<o>{") ? "Y}</o>" : "x</a>";
    });
    Tree tree;
    std::map<std::string, std::vector<StreamKey>> out;
    for (const std::string& step : order) {
      test.model.streams.clear();
      EXPECT_TRUE(
          Judge(*test.reader, tree, {AddStep(tree, kRoot, step)}).status.ok());
      out[step] = test.model.streams;
    }
    return out;
  };
  const auto forward = streams({"one\n", "two\n"});
  EXPECT_EQ(forward.at("one\n").size(), 2u);
  EXPECT_FALSE(forward.at("one\n")[0] == forward.at("one\n")[1]);
  EXPECT_FALSE(forward.at("one\n")[0] == forward.at("two\n")[0]);
  const auto backward = streams({"two\n", "one\n"});
  EXPECT_TRUE(forward == backward);
}

TEST(VerdictReaderTest, RecordedVerdictsAreNotWrittenAgain) {
  const WritingModel::Writes writes = [](const std::string& text, int) {
    return text.ends_with("<o>{") ? "Y}</o>" : "x</a>";
  };
  ByteReader whole(kJudged, 2, writes), resumed(kJudged, 2, writes);
  Tree tree;
  const NodeId a = AddStep(tree, kRoot, "one\n");
  const NodeId b = AddStep(tree, a, "two\n");
  const NodeId blank = AddStep(tree, b, "\n");
  const NodeId c = AddStep(tree, blank, "three\n");
  const SearchCompletion first = Judge(*whole.reader, tree, {blank});
  const SearchCompletion second = Judge(*whole.reader, tree, {c});
  EXPECT_EQ(first.samples.size(), 4u);  // none about the step without text
  EXPECT_NEAR(first.scores[0].step,
              ScoreAt("Q:q;one[<a1>x</a><o>{Y}</o>]two<a2>x</a><o>{"), 1e-6);
  resumed.reader->Recall(tree, {blank}, first);
  EXPECT_TRUE(resumed.reader->TakeParts().empty());
  const SearchCompletion again = Judge(*resumed.reader, tree, {c});
  ASSERT_TRUE(again.status.ok()) << again.status;
  EXPECT_EQ(again.scores[0].step, second.scores[0].step);
  EXPECT_EQ(again.scores[0].path, second.scores[0].path);
  EXPECT_EQ(resumed.model.read.size(), 2u);  // the two votes on the last step
  // A record without what was written is judged again.
  ByteReader bare(kJudged, 2, writes);
  bare.reader->Recall(tree, {blank}, {});
  EXPECT_EQ(Judge(*bare.reader, tree, {c}).scores[0].step,
            second.scores[0].step);
}

TEST(VerdictReaderTest, ContextThatIsFullGivesNoVerdictOrAnError) {
  const auto run = [](int context) {
    ByteReader test(
        kJudged, 1, [](const std::string&, int) { return "x</a>"; }, context);
    Tree tree;
    return Judge(*test.reader, tree, {AddStep(tree, kRoot, "one\n")});
  };
  // The prompt is 11 bytes, what is written 5, and what is said then 4.
  EXPECT_EQ(run(20).scores[0].step, 0.5f);
  const SearchCompletion none = run(11);
  EXPECT_THAT(std::string(none.status.message()),
              testing::AllOf(HasSubstr("a path of 1 step takes 11"),
                             HasSubstr("written"), HasSubstr("is 11")));
}

// A path as long as a response can be: nothing calls itself once per step.
TEST(VerdictReaderTest, PathsOfAnyLengthTakeNoStack) {
  constexpr int kSteps = 100000;
  Tree failed, empty;
  NodeId last = AddStep(failed, kRoot, "one\n");
  NodeId blank = AddStep(empty, kRoot, "one\n");
  for (int i = 1; i < kSteps; ++i) {
    last = AddStep(failed, last, "two\n");
    blank = AddStep(empty, blank, "\n");
  }
  const auto writes = [](const std::string& text, int) {
    return text.ends_with("<o>{") ? "Y}</o>" : "x</a>";
  };
  ByteReader small(kJudged, 1, writes, /*context=*/11);
  EXPECT_THAT(
      std::string(Judge(*small.reader, failed, {last}).status.message()),
      HasSubstr("a path of 1 step takes 11"));
  ByteReader large(kJudged, 1, writes);
  const SearchCompletion scored = Judge(*large.reader, empty, {blank});
  ASSERT_TRUE(scored.status.ok()) << scored.status;
  EXPECT_NEAR(scored.scores[0].step, ScoreAt("Q:q;one<a1>x</a><o>{"), 1e-6);
}

TEST(VerdictReaderTest, SequencesAreReleased) {
  for (const char* format : {kJudged, kAsked}) {
    auto test = std::make_unique<ByteReader>(
        format, 3, [](const std::string& text, int sample) {
          return text.ends_with("<o>{") ? (sample > 0 ? "Y}</o>" : "none")
                                        : "xright?</a>";
        });
    Tree tree;
    const NodeId a = AddStep(tree, kRoot, "one\n");
    EXPECT_TRUE(
        Judge(*test->reader, tree, {AddStep(tree, a, "two\n")}).status.ok());
    test->reader->SetRetention(a, kEvictNow);
    test->reader.reset();
    EXPECT_EQ(test->model.live(), 0);
  }
}

// ---------------------------------------------------------------------------
// Checkpoints

class WrittenCheckpointTest : public testing::TestWithParam<std::string> {};

// The probability that the published program reads after what a checkpoint
// wrote.
TEST_P(WrittenCheckpointTest, ScoreEqualsThePublishedComputation) {
  for (const auto& [weights, tolerance] :
       {std::pair("fp32", 1e-4), std::pair("bf16", 2e-2)}) {
    const RewardCheckpoint checkpoint = WriteRewardCheckpoint(GetParam(), 7);
    RewardFormat format = ReadRewardFormat(GetParam()).value();
    format.verdict->votes = 3;
    format.verdict->rounds[0].tokens = 25;
    // A random model says no verdict: it is asked for one.
    format.verdict->rounds[1].tokens = 0;
    format.verdict->closes = "";
    Executor executor(1);
    auto loaded = LoadRewardModel(checkpoint.folder, format,
                                  {.weights = weights}, executor);
    ASSERT_TRUE(loaded.ok()) << loaded.status();
    const Tokenizer& tokenizer = *loaded->model.tokenizer;
    auto reader = VerdictReader::Open(*loaded->scorer, *loaded->model.backend,
                                      tokenizer, "What is 17 + 25?", 3);
    ASSERT_TRUE(reader.ok()) << reader.status();
    Tree tree;
    const NodeId node = AddStep(tree, kRoot, "17 + 25 = 42.\n");
    const SearchCompletion scored = Judge(**reader, tree, {node});
    ASSERT_TRUE(scored.status.ok()) << scored.status;
    ASSERT_EQ(scored.samples.size(), 3u);
    const PlainNetwork network(checkpoint.plain);
    const bool asked = GetParam() == "thinkprm";
    const std::string text =
        asked
            ? "<｜begin▁of▁sentence｜><｜User｜>You are given a math problem "
              "and "
              "a proposed step-by-step solution:\n\n[Math Problem]\n\nWhat is "
              "17 + 25?\n\n[Solution]\n\nStep 1: 17 + 25 = 42.\n\nReview and "
              "critique each step in the proposed solution to determine "
              "whether each step is correct. If the solution is incomplete, "
              "only verify the provided steps.<｜Assistant｜><think>\nLet's "
              "verify step by step:"
            : "<｜begin▁of▁sentence｜>You are a math teacher. Your task is to "
              "review and critique the paragraphs in solution step by step."
              "<｜User｜>Question: What is 17 + 25?\n\n17 + 25 = 42.<analyze>\n"
              "Let's analyze the Paragraph 1 step by step: ";
    double sum = 0;
    for (const SampledStep& vote : scored.samples) {
      std::vector<int32_t> ids = tokenizer.Encode(text, true).value();
      ids.insert(ids.end(), vote.tokens.begin(), vote.tokens.end());
      ASSERT_EQ(vote.tokens.size(), 25u);  // ended by its length
      const std::vector<int32_t> said =
          tokenizer
              .EncodeContinuation(asked ? "\nIs the solution correct? "
                                        : "<output>\n**Judgement**: $\\boxed")
              .value();
      ids.insert(ids.end(), said.begin(), said.end());
      const auto logits = network.Logits(network.Hidden(ids).back());
      const auto logit = [&](const char* word) {
        return logits[static_cast<size_t>(
            tokenizer.EncodeContinuation(word).value()[0])];
      };
      const double yes = std::exp(logit(asked ? "yes" : "Yes"));
      const double no = std::exp(logit(asked ? "no" : "No"));
      EXPECT_NEAR(vote.verdict, yes / (yes + no), tolerance);
      sum += yes / (yes + no);
    }
    EXPECT_NEAR(scored.scores[0].step, sum / 3, tolerance);
    EXPECT_NE(scored.samples[0].tokens, scored.samples[1].tokens);
    EXPECT_NE(scored.samples[0].verdict, scored.samples[1].verdict);
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, WrittenCheckpointTest,
                         testing::Values("genprm", "thinkprm"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace espalier
