#include "models/reward/step_layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/models/testing/random_checkpoint.h"
#include "tests/models/testing/reward_checkpoint.h"
#include "tests/models/tokenizer/tokenizer_data.h"

namespace espalier {
namespace {

constexpr char kQuestion[] = "What is 2+3?";
const std::vector<std::string> kSteps = {"2+3 = 5.\n", "So it is 5.\n\n"};

// What the published code feeds to the model for kQuestion and kSteps, up to
// the token at which the verdict on the last step is read.
const std::map<std::string, std::string>& GoldenTexts() {
  static const auto& texts = *new std::map<std::string, std::string>{
      {"qwen_prm",
       "<|im_start|>system\nPlease reason step by step, and put your final "
       "answer within \\boxed{}.<|im_end|>\n<|im_start|>user\nWhat is "
       "2+3?<|im_end|>\n<|im_start|>assistant\n2+3 = 5.<extra_0>So it is "
       "5.<extra_0>"},
      {"qwen_rm",
       "<|im_start|>system\nPlease reason step by step, and put your final "
       "answer within \\boxed{}.<|im_end|>\n<|im_start|>user\nWhat is "
       "2+3?<|im_end|>\n<|im_start|>assistant\n2+3 = 5.\nSo it is "
       "5.<|im_end|>\n"},
      {"skywork_prm", "What is 2+3?\n2+3 = 5.\nSo it is 5.\n"},
      {"trl", "What is 2+3?2+3 = 5.\nSo it is 5.\n"},
      {"pure", "What is 2+3?2+3 = 5.\nSo it is 5.\n"},
      {"math_shepherd",
       "What is 2+3? Step 1: 2+3 = 5. ки\nStep 2: So it is 5. ки"},
      {"rlhflow",
       "<|begin_of_text|><|start_header_id|>user<|end_header_id|>\n\nWhat is "
       "2+3? 2+3 = 5.<|eot_id|><|start_header_id|>assistant<|end_header_id|>"
       "\n\n+<|eot_id|><|start_header_id|>user<|end_header_id|>\n\nSo it is "
       "5.<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n"},
      {"rlhflow_orm",
       "<|begin_of_text|><|start_header_id|>user<|end_header_id|>\n\nWhat is "
       "2+3? 2+3 = 5.\nSo it is 5.<|eot_id|><|start_header_id|>assistant"
       "<|end_header_id|>\n\n"},
      {"minos",
       "Human: What is 2+3?\n\nAssistant:Step 1: 2+3 = 5. и\nStep 2: So it is "
       "5. и"},
      {"reasoneval",
       "Question:\nWhat is 2+3?\nAnswer:\nLet's think step by step.\n2+3 = "
       "5.So it is 5."},
      {"math_psa",
       "What is 2+3? Step 1: 2+3 = 5. \n\n\n\n\n Step 2: So it is 5. "
       "\n\n\n\n\n"},
      {"versa_prm", "What is 2+3? \n\n2+3 = 5. \n\n\n\nSo it is 5. \n\n\n\n"},
      {"genprm",
       "<｜begin▁of▁sentence｜>You are a math teacher. Your task is to review "
       "and "
       "critique the paragraphs in solution step by step.<｜User｜>Question: "
       "What "
       "is 2+3?\n\n2+3 = 5.<｜Assistant｜>...<｜end▁of▁sentence｜><｜User｜>So "
       "it is "
       "5.<analyze>\nLet's analyze the Paragraph 2 step by step: "},
      {"thinkprm",
       "<｜begin▁of▁sentence｜><｜User｜>You are given a math problem and a "
       "proposed "
       "step-by-step solution:\n\n[Math Problem]\n\nWhat is "
       "2+3?\n\n[Solution]\n\nStep 1: 2+3 = 5.\nStep 2: So it is "
       "5.\n\nReview and critique each step in the proposed solution to "
       "determine whether each step is correct. If the solution is incomplete, "
       "only verify the provided steps.<｜Assistant｜><think>\nLet's verify "
       "step "
       "by step:"},
      {"implicit_prm",
       "<|im_start|>user\nWhat is 2+3?<|im_end|>\n<|im_start|>assistant\n"
       "Step 1: 2+3 = 5.\n\nStep 2: So it is 5."},
      {"llemma_prm",
       "# Question\n\nWhat is 2+3?\n\n# Solution\n\n2+3 = 5.\n\nSo it is 5.\n"},
      {"skywork_reward_qwen3",
       "<|im_start|>user\nWhat is 2+3?<|im_end|>\n<|im_start|>assistant\n"
       "<think>\n\n</think>\n\n2+3 = 5.\nSo it is 5.<|im_end|>\n"},
      {"skywork_reward_llama",
       "<|begin_of_text|><|start_header_id|>user<|end_header_id|>\n\nWhat is "
       "2+3?<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n2+3 = "
       "5.\nSo it is 5.<|eot_id|>"},
      {"prorag", "What is 2+3?2+3 = 5.\nSo it is 5.\n\n<|im_end|>"},
      {"laser", "What is 2+3?2+3 = 5.\nSo it is 5.\n\n"},
      {"hrm",
       "Question:\nWhat is 2+3?\n\nLet's break it down step by step!\n\n"
       "Previous reasoning:\n2+3 = 5.\n\nNow, let's focus on the current "
       "step:\nSo it is 5."},
      {"hrm_window",
       "Question:\nWhat is 2+3?\n\nLet's break it down step by step!\n\nNow, "
       "let's focus on the current step:\n2+3 = 5.\n\nSo it is 5.\n"},
      {"hrm_soft",
       "Question:\nWhat is 2+3?\n\nLet's break it down step by step!\n\nNow, "
       "let's focus on the current step:\n2+3 = 5.\n\nSo it is 5.\n"},
  };
  return texts;
}

class StepLayoutTest : public testing::Test {
 protected:
  // A layout over the tokenizer and template that the format's models have.
  StepLayout Layout(const std::string& name) {
    const RewardCheckpoint model = WriteRewardCheckpoint(name, 1);
    Load(model.folder);
    auto layout =
        StepLayout::Create(*ReadRewardFormat(name), *tokenizer_, model.folder);
    EXPECT_TRUE(layout.ok()) << layout.status();
    return *std::move(layout);
  }
  absl::Status CreateStatus(const RewardFormat& format) {
    const std::string folder = TempFolder();
    WriteRewardTokenizer(folder, "chatml");
    Load(folder);
    return StepLayout::Create(format, *tokenizer_, folder).status();
  }
  std::vector<int32_t> Encode(const std::string& text, bool special = false) {
    return tokenizer_->Encode(text, special).value();
  }
  void Load(const std::string& folder) {
    tokenizers_.push_back(Tokenizer::Load(folder).value());
    tokenizer_ = tokenizers_.back().get();
  }
  std::vector<std::unique_ptr<Tokenizer>> tokenizers_;
  const Tokenizer* tokenizer_ = nullptr;
};

TEST_F(StepLayoutTest, TextsAreThePublishedOnes) {
  for (const std::string& name : RewardCheckpointNames()) {
    const StepLayout layout = Layout(name);
    const auto text = layout.Text(kQuestion, kSteps);
    ASSERT_TRUE(text.ok()) << name << text.status();
    EXPECT_EQ(*text, GoldenTexts().at(name)) << name;
  }
}

TEST_F(StepLayoutTest, IdsOfOneTextAreItsEncoding) {
  for (const std::string& name : RewardCheckpointNames()) {
    const StepLayout layout = Layout(name);
    if (layout.format().layout == RewardLayout::kIds) continue;
    const auto path = layout.Lay(kQuestion, kSteps);
    ASSERT_TRUE(path.ok()) << name << path.status();
    if (layout.format().writes()) continue;  // LayVerdict
    const bool control = GoldenTexts().at(name).find("<|") != std::string::npos;
    std::vector<int32_t> ids = Encode(GoldenTexts().at(name), control);
    if (name == "laser") ids.push_back(1);  // eos_token_id in config.json
    EXPECT_EQ(path->ids, ids) << name;
    EXPECT_EQ(path->cuts.back(), path->ids.size());
  }
}

TEST_F(StepLayoutTest, IdsOfPiecesAreJoined) {
  Load(WriteRewardCheckpoint("trl", 1).folder);
  const auto join = [&](const std::vector<std::string>& pieces, bool bos) {
    std::vector<int32_t> out;
    if (bos) out.push_back(tokenizer_->TokenId("<|endoftext|>"));
    for (const std::string& piece : pieces) {
      const std::vector<int32_t> ids = Encode(piece);
      out.insert(out.end(), ids.begin(), ids.end());
    }
    return out;
  };
  EXPECT_EQ(
      Layout("skywork_prm").Lay(kQuestion, kSteps)->ids,
      join({"What is 2+3?\n", "2+3 = 5.", "\n", "So it is 5.", "\n"}, true));
  EXPECT_EQ(
      Layout("trl").Lay(kQuestion, kSteps)->ids,
      join({"What is 2+3?", "2+3 = 5.", "\n", "So it is 5.", "\n"}, true));
  EXPECT_EQ(
      Layout("pure").Lay(kQuestion, kSteps)->ids,
      join({"What is 2+3?", "2+3 = 5.", "\n", "So it is 5.", "\n"}, false));
  EXPECT_EQ(Layout("reasoneval").Lay(kQuestion, kSteps)->ids,
            join({"Question:\nWhat is 2+3?\nAnswer:\nLet's think step by "
                  "step.\n",
                  "2+3 = 5.", "So it is 5."},
                 true));
}

TEST_F(StepLayoutTest, TagsStandWhereVerdictsAreRead) {
  for (const std::string& name : RewardCheckpointNames()) {
    const StepLayout layout = Layout(name);
    const RewardFormat& format = layout.format();
    if (format.read != RewardRead::kAtTag) continue;
    std::vector<std::string> steps;
    for (int i = 0; i < 5; ++i) {
      steps.push_back(absl::StrCat("line ", i, " is good.\n"));
      const auto path = layout.Lay(kQuestion, steps);
      ASSERT_TRUE(path.ok()) << name << path.status();
      const std::string tag = format.tag;
      EXPECT_EQ(std::vector<int32_t>{path->ids.back()}, Encode(tag, true))
          << name;
    }
  }
}

TEST_F(StepLayoutTest, PathsGoOnFromShorterOnes) {
  for (const std::string& name : RewardCheckpointNames()) {
    const StepLayout layout = Layout(name);
    if (layout.format().writes()) continue;
    const std::vector<int32_t> stem = layout.Stem(kQuestion).value();
    EXPECT_GE(stem.size(), Encode(kQuestion).size()) << name;
    LaidOutPath before{.ids = stem, .cuts = {stem.size()}};
    std::vector<std::string> steps;
    for (int i = 0; i < 12; ++i) {
      steps.push_back(absl::StrCat("The sum of ", i, " and 3 is ", i + 3,
                                   i % 3 == 0 ? ".\n\n" : "\n"));
      const LaidOutPath path = layout.Lay(kQuestion, steps).value();
      size_t common = 0;
      while (common < std::min(path.ids.size(), before.ids.size()) &&
             path.ids[common] == before.ids[common]) {
        ++common;
      }
      // The parent's first cut; where tags or pieces fix the boundary, all.
      EXPECT_GE(common, before.cuts.front()) << name << i;
      const bool fixed = layout.format().layout == RewardLayout::kIds ||
                         layout.format().read == RewardRead::kAtTag ||
                         layout.format().read == RewardRead::kBeforeTag;
      if (fixed && layout.format().unit == RewardUnit::kStep) {
        EXPECT_EQ(common, before.ids.size()) << name << i;
      }
      before = path;
    }
  }
}

TEST_F(StepLayoutTest, StepNumbersAreNotDoubled) {
  const StepLayout layout = Layout("math_shepherd");
  EXPECT_EQ(
      layout.Text("q", {"Step 1: a\n", "b\n", "Step 7:c", "Step up"}).value(),
      "q Step 1: a ки\nStep 2: b ки\nStep 7:c ки\nStep 4: Step up ки");
}

TEST_F(StepLayoutTest, LinesOfAStepAreStepsOfTheirOwnWhereTheFormatSaysSo) {
  EXPECT_EQ(Layout("skywork_prm").Lay("q", {"a\nb\n\nc\n"})->ids,
            Layout("skywork_prm").Lay("q", {"a", "b", "c"})->ids);
  EXPECT_EQ(Layout("trl").Text("q", {"a\nb\n"}).value(), "qa\nb\n");
  EXPECT_EQ(Layout("skywork_prm").Text("q", {"\n", "a", ""}).value(), "q\na\n");
  EXPECT_EQ(Layout("skywork_prm").Text("q", {" \n"}).value(), "q\n\n");
}

TEST_F(StepLayoutTest, StepWithTheTagIsRefusedByName) {
  const auto error = [](const StepLayout& layout, const std::string& question,
                        const std::vector<std::string>& steps) {
    const auto path = layout.Lay(question, steps);
    EXPECT_EQ(path.status().code(), absl::StatusCode::kInvalidArgument);
    return std::string(path.status().message());
  };
  EXPECT_THAT(error(Layout("qwen_prm"), "q", {"fine", "x <extra_0> y"}),
              testing::HasSubstr("step 2 \"x <extra_0> y\" contains the tag "
                                 "\"<extra_0>\" of the reward format "
                                 "qwen_prm"));
  EXPECT_THAT(error(Layout("qwen_prm"), "<extra_0>", {"fine"}),
              testing::HasSubstr("the question \"<extra_0>\" contains"));
  EXPECT_THAT(error(Layout("math_shepherd"), "q", {"a ки b"}),
              testing::HasSubstr("step 1"));
  EXPECT_THAT(error(Layout("math_psa"), "q", {"a \n\n\n\n\nb"}),
              testing::HasSubstr("step 1"));
  EXPECT_THAT(error(Layout("qwen_prm"), "q", {"x<|im_end|>y"}),
              testing::HasSubstr("control token"));
  EXPECT_THAT(error(Layout("rlhflow"), "q", {"a", "x<|eot_id|>y"}),
              testing::HasSubstr("step 2"));
  // Part of a word is not the tag.
  EXPECT_TRUE(Layout("math_shepherd").Lay("q", {"руки"}).ok());
}

TEST_F(StepLayoutTest, TagOfSeveralTokensIsRefusedByName) {
  RewardFormat format = *ReadRewardFormat("math_psa");
  format.tag = " <step>";
  const absl::Status tag = CreateStatus(format);
  EXPECT_EQ(tag.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(tag.message()),
              testing::AllOf(testing::HasSubstr("math_psa"),
                             testing::HasSubstr("the tag \" <step>\": expected "
                                                "one token"),
                             testing::HasSubstr("found 5 (")));
  format = *ReadRewardFormat("math_psa");
  format.choices[1] = "minus";
  EXPECT_THAT(std::string(CreateStatus(format).message()),
              testing::HasSubstr("choice \"minus\": expected one token"));
  format = *ReadRewardFormat("math_psa");
  format.tag_id = 3;
  EXPECT_THAT(std::string(CreateStatus(format).message()),
              testing::HasSubstr("expected token 3, found"));
  format.tag_id = 1 << 20;
  EXPECT_THAT(std::string(CreateStatus(format).message()),
              testing::HasSubstr("expected a token below"));
}

TEST_F(StepLayoutTest, NewlineThatMergesWithAStepIsNoTag) {
  const std::string folder = TempFolder();
  WriteRewardTokenizer(folder, "");  // ".\n" is one token
  Load(folder);
  const auto layout =
      StepLayout::Create(*ReadRewardFormat("llemma_prm"), *tokenizer_, folder);
  ASSERT_TRUE(layout.ok()) << layout.status();
  EXPECT_TRUE(layout->Lay("q", {"two\nlines"}).ok());
  EXPECT_THAT(std::string(layout->Lay("q", {"word."}).status().message()),
              testing::HasSubstr("the tokenizer merges it"));
}

TEST_F(StepLayoutTest, HistoryStandsAfterEarlierSteps) {
  const StepLayout layout = Layout("genprm");
  const auto ids = layout.LayVerdict("q", {"a\n", "b", "c"}, {"A", "B"});
  ASSERT_TRUE(ids.ok()) << ids.status();
  EXPECT_EQ(
      *ids,
      Encode("<｜begin▁of▁sentence｜>You are a math teacher. Your task is "
             "to review and critique the paragraphs in solution step by "
             "step.<｜User｜>Question: q\n\na<｜Assistant｜>A"
             "<｜end▁of▁sentence｜><｜User｜>b<｜Assistant｜>B"
             "<｜end▁of▁sentence｜><｜User｜>c<analyze>\nLet's analyze the "
             "Paragraph 3 step by step: ",
             true));
}

TEST_F(StepLayoutTest, ControlTokenThatTheTokenizerLacksIsRefused) {
  RewardFormat format = *ReadRewardFormat("thinkprm");
  format.control.push_back("<｜tool｜>");
  EXPECT_THAT(std::string(CreateStatus(format).message()),
              testing::HasSubstr("expected the control token \""));
}

TEST_F(StepLayoutTest, TagThatMergesWithTheStepIsRefused) {
  RewardFormat format = *ReadRewardFormat("trl");
  format.layout = RewardLayout::kText;
  format.bos = false;
  format.step_suffix.clear();
  format.tag = "\n";
  format.read = RewardRead::kAtTag;
  const std::string folder = TempFolder();
  WriteRewardTokenizer(folder, "");
  Load(folder);
  const auto layout = StepLayout::Create(format, *tokenizer_, folder);
  ASSERT_TRUE(layout.ok()) << layout.status();
  EXPECT_TRUE(layout->Lay("q", {"word"}).ok());
  const auto merged = layout->Lay("q", {"word."});  // ".\n" is one token
  EXPECT_THAT(std::string(merged.status().message()),
              testing::HasSubstr("the tokenizer merges it"));
}

// Token ids that the publications state, of the public tokenizers.
TEST_F(StepLayoutTest, PublishedTokenIdsOfLlama3) {
  SKIP_WITHOUT_TOKENIZER_DATA();
  const std::string folder = TokenizerData() + "/llama3";
  Load(folder);
  const auto versa =
      StepLayout::Create(*ReadRewardFormat("versa_prm"), *tokenizer_, folder);
  ASSERT_TRUE(versa.ok()) << versa.status();
  EXPECT_EQ(versa->choices(), (std::vector<int32_t>{12, 10}));
  // These files come without Llama 3's splitting of words, which keeps a tag
  // whole that other text follows.
  EXPECT_EQ(versa->Lay(kQuestion, {kSteps[0]})->ids.back(), 23535);
}

TEST_F(StepLayoutTest, PublishedTokenIdsOfLlama2) {
  SKIP_WITHOUT_TOKENIZER_DATA();
  const std::string folder = TokenizerData() + "/llama2";
  Load(folder);
  const auto shepherd = StepLayout::Create(*ReadRewardFormat("math_shepherd"),
                                           *tokenizer_, folder);
  ASSERT_TRUE(shepherd.ok()) << shepherd.status();
  // Mistral's first tokenizer has these three tokens at other ids than Llama's.
  const auto path = shepherd->Lay(kQuestion, kSteps);
  ASSERT_TRUE(path.ok()) << path.status();
  EXPECT_EQ(tokenizer_->TokenBytes(path->ids.back()), " ки");
  EXPECT_TRUE(tokenizer_->marks().add_bos);
  EXPECT_EQ(path->ids.front(), tokenizer_->marks().bos);
  EXPECT_EQ(std::count(path->ids.begin(), path->ids.end(), path->ids.front()),
            1);
  EXPECT_EQ(tokenizer_->TokenBytes(shepherd->choices()[0]), " +");
  EXPECT_EQ(tokenizer_->TokenBytes(shepherd->choices()[1]), " -");
}

}  // namespace
}  // namespace espalier
