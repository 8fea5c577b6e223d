#include "src/engine/prompt.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "datasets/tasks/task_registry.h"
#include "src/engine/answer_pattern.h"
#include "src/engine/prompted_task.h"

namespace espalier {
namespace {

std::string ErrorOf(const std::string& text) {
  const auto prompt = ParsePrompt(text, "p.textproto");
  return prompt.ok() ? "" : std::string(prompt.status().message());
}

bool Contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(PromptTest, ErrorsNameFileLineAndField) {
  const struct {
    const char* text;
    const char* place;
    const char* what;
  } cases[] = {
      {"template: \"auto\"\nsistem: \"x\"", "p.textproto:2:", "\"sistem\""},
      {"template: \"chatml\" delimiter: 3", "p.textproto:1:", "string"},
      {"\ntemplate: \"chatmel\"", "p.textproto:2: template", "chatml"},
      {"question: \"no mark\"", "p.textproto:1: question", "{question}"},
      {"question: \"{question} {question}\"", "p.textproto:1: question",
       "once"},
      {"example { question: \"a\" answer: \"b\" }\nexample { question: \"a\" }",
       "p.textproto:2: example", "answer"},
      {"\n\ndelimiter: \"<|im_end|>\"", "p.textproto:3: delimiter", "control"},
      {"delimiter: \"\\n\\n\"\nstop: \"x\"\nstop: \"\\nQuestion:\"",
       "p.textproto:3: stop", "expected \"Question:\""},
      {"delimiter: \"\\n\"\nstop: \"\"", "p.textproto:2: stop", "text"},
      {"stop: \"<|eot_id|>\"", "p.textproto:1: stop", "text"},
      {"final_prefix: \"\"", "p.textproto:1: final_prefix", "text"},
      {"max_steps: -1", "p.textproto:1: max_steps", "expected 1 to"},
      {"max_steps: 9999999", "p.textproto:1: max_steps", "found 9999999"},
      {"max_step_tokens: 2\nsegment_tokens: 3", "p.textproto:2: segment_tokens",
       "cannot be combined"},
      {"answer: \"boxed\"\nanswer: \"is (.*\"", "p.textproto:2: answer",
       "wrong at byte"},
      {"answer: \"no group\"", "p.textproto:1: answer", "0 groups"},
      {"answer: \"(a)(b)\"", "p.textproto:1: answer", "2 groups"},
  };
  for (const auto& one : cases) {
    const std::string error = ErrorOf(one.text);
    EXPECT_TRUE(Contains(error, one.place)) << one.text << " -> " << error;
    EXPECT_TRUE(Contains(error, one.what)) << one.text << " -> " << error;
  }
}

TEST(PromptTest, AStopThatIsTheDelimiterIsAllowed) {
  EXPECT_EQ(ErrorOf("delimiter: \"\\n\" stop: \"\\n\""), "");
  EXPECT_EQ(ErrorOf("delimiter: \"\" stop: \"\\nQ:\""), "");
  EXPECT_EQ(ErrorOf("stop: \"Q:\\n\""), "");
}

TEST(PromptTest, ItsTextSaysAllOfIt) {
  const Prompt prompt =
      ParsePrompt(
          "# why\ntemplate: \"qwen3\" system: \"\" question: \"a{question}b\" "
          "example { question: \"q\" answer: \"a\\n\" } thinking: false "
          "delimiter: \"\" segment_tokens: 7 max_steps: 9 stop: \"Q\" "
          "final_prefix: \"= \" answer: \"last_number\" answer: \"x(y)\"",
          "p")
          .value();
  const std::string text = PromptText(prompt);
  EXPECT_EQ(text.find('\n'), std::string::npos);
  const Prompt again = ParsePrompt(text, "again").value();
  EXPECT_EQ(PromptText(again), text);
  EXPECT_EQ(again.system, std::optional<std::string>(""));
  EXPECT_FALSE(again.thinking);
  EXPECT_TRUE(again.format.segments);
  EXPECT_EQ(again.format.max_step_tokens, 7);
  EXPECT_EQ(again.format.delimiter, "");
  EXPECT_EQ(again.examples.size(), 1u);
  EXPECT_EQ(again.answers.size(), 2u);
}

TEST(PromptTest, UnknownNamesAreToldFromFiles) {
  EXPECT_TRUE(Contains(std::string(ReadPrompt("instuct").status().message()),
                       "instruct"));
  EXPECT_EQ(ReadPrompt("none.textproto").status().code(),
            absl::StatusCode::kNotFound);
}

// Everything that depends on the checkpoint is resolved once.
TEST(PromptTest, ResolvingBindsTemplateAndSystemMessage) {
  const std::string folder = testing::TempDir() + "/prompt_checkpoint";
  std::filesystem::create_directories(folder);
  std::ofstream(folder + "/tokenizer_config.json")
      << R"({"chat_template": "{{ '<|im_start|>system\\nYou are Q.<|im_end|>\\n' }}"})";
  Prompt prompt = ReadPrompt("instruct").value();
  ASSERT_TRUE(ResolvePrompt(folder, prompt).ok());
  EXPECT_EQ(prompt.template_name, "chatml");
  EXPECT_EQ(prompt.system, std::optional<std::string>("You are Q."));
  prompt = ReadPrompt("base").value();
  ASSERT_TRUE(ResolvePrompt(folder, prompt).ok());
  EXPECT_EQ(prompt.template_name, "plain");
  std::filesystem::remove_all(folder);
}

TEST(PromptTest, EveryShippedPromptPutsAQuestionAndFindsItsAnswer) {
  ASSERT_GE(PromptFiles().size(), 4u);
  for (const PresetFile& file : PromptFiles()) {
    Prompt prompt = ReadPrompt(std::string(file.name)).value();
    if (prompt.template_name == "auto") prompt.template_name = "qwen3";
    const PromptedTask put = PutTask("qa", prompt).value();
    const std::string text =
        put.task->Render({.question = "What is 2+3?"}).value();
    EXPECT_TRUE(Contains(text, "What is 2+3?")) << file.name;
    const bool base = prompt.template_name == "plain";
    const std::string response =
        base ? "2+3 makes 5.\nThe answer is 5."
             : "<think>\n7?\n</think>\n\n2+3 makes $\\boxed{5}$.";
    EXPECT_EQ(put.task->FindAnswer(response), std::optional<std::string>("5"))
        << file.name;
    EXPECT_TRUE(put.verifier->Check({}, {.answer = "5.0"}, response).correct);
    EXPECT_FALSE(put.verifier->Check({}, {.answer = "6"}, response).correct);
  }
}

// Shipped prompts do not guess: the verdict is the grader's.
TEST(PromptTest, EveryShippedPromptJudgesAsTheGraderDoes) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"Hence it is $\\frac{3}{4}$.", "\\frac{3}{4}"},
      {"The answer is $2\\sqrt{3}$", "2\\sqrt{3}"},
      {"The Answer is 72. To check, 48/2 = 24.", "72"},
      {"\\boxed{1} and \\boxed{2}", "1, 2"},
      {"So it is \\boxed{28\\%}.", "0.28"}};
  for (const PresetFile& file : PromptFiles()) {
    Prompt prompt = ReadPrompt(std::string(file.name)).value();
    if (prompt.template_name == "auto") prompt.template_name = "qwen3";
    EXPECT_TRUE(prompt.answers.empty()) << file.name;
    const PromptedTask put = PutTask("qa", prompt).value();
    for (const auto& [response, gold] : cases) {
      EXPECT_TRUE(put.verifier->Check({}, {.answer = gold}, response).correct)
          << file.name << ": " << response;
      EXPECT_FALSE(put.verifier->Check({}, {.answer = "97"}, response).correct);
    }
    for (const char* none : {"<think>\\boxed{4}", "anything but 4"}) {
      EXPECT_FALSE(put.verifier->Check({}, {.answer = "4"}, none).correct)
          << file.name << ": " << none;
      EXPECT_NE(put.task->FindAnswer(none), std::optional<std::string>("4"));
    }
  }
}

// A set whose task reads its own kind of lines accepts answers of any form from
// a model with another prompt.
TEST(PromptTest, AnswersOfStoriesNeedNoLineOfTheirOwn) {
  Prompt prompt = ReadPrompt("instruct").value();
  prompt.template_name = "chatml";
  const PromptedTask put = PutTask("stories", prompt).value();
  for (const char* response : {"= 71", "So it is \\boxed{71}."}) {
    EXPECT_EQ(put.task->FindAnswer(response), std::optional<std::string>("71"));
    EXPECT_TRUE(put.verifier->Check({}, {.answer = "71"}, response).correct);
    EXPECT_FALSE(put.verifier->Check({}, {.answer = "7"}, response).correct);
  }
}

// What a user's own pattern finds is compared as the grader compares.
TEST(PromptTest, APatternsPercentIsOne) {
  const Prompt prompt =
      ParsePrompt("template: \"plain\" answer: \"boxed\"", "p").value();
  const PromptedTask put = PutTask("qa", prompt).value();
  EXPECT_TRUE(
      put.verifier->Check({}, {.answer = "0.28"}, "\\boxed{28%}").correct);
}

TEST(PromptTest, AnAnswerThatAPatternFindsMayBeTheTextOfAnOption) {
  Prompt prompt = ReadPrompt("instruct").value();
  prompt.template_name = "chatml";
  const PromptedTask put = PutTask("qa", prompt).value();
  const Reference gold{.answer = "B",
                       .fields = {{"options", R"(["12", "15", "18"])"}}};
  for (const char* response :
       {"So $\\boxed{B}$.", "So $\\boxed{(B)}$.", "So $\\boxed{15}$."}) {
    EXPECT_TRUE(put.verifier->Check({}, gold, response).correct) << response;
  }
  for (const char* response : {"So $\\boxed{A}$.", "So $\\boxed{18}$."}) {
    EXPECT_FALSE(put.verifier->Check({}, gold, response).correct) << response;
  }
}

TEST(PromptTest, ProgramsAreJudgedByTheirTests) {
  Prompt prompt = ReadPrompt("instruct").value();
  prompt.template_name = "chatml";
  const PromptedTask put = PutTask("python", prompt).value();
  EXPECT_EQ(put.verifier.get(), FindVerifier("python").value());
}

TEST(PromptTest, ExamplesAreEarlierTurns) {
  Prompt prompt = ReadPrompt("instruct").value();
  prompt.template_name = "chatml";
  prompt.system = "Be brief.";
  prompt.question = "Q: {question}";
  prompt.examples = {{"1+1?", "2"}};
  const PromptedTask put = PutTask("qa", prompt).value();
  EXPECT_EQ(put.task->Render({.question = "2+2? {question}"}).value(),
            "<|im_start|>system\nBe brief.<|im_end|>\n"
            "<|im_start|>user\nQ: 1+1?<|im_end|>\n"
            "<|im_start|>assistant\n2<|im_end|>\n"
            "<|im_start|>user\nQ: 2+2? {question}<|im_end|>\n"
            "<|im_start|>assistant\n");
  EXPECT_TRUE(put.task->format().control_tokens);
}

TEST(PromptTest, BadQuestionsNameTheirProblem) {
  Prompt prompt = ReadPrompt("instruct").value();
  prompt.template_name = "chatml";
  const PromptedTask put = PutTask("qa", prompt).value();
  for (const char* bad : {"", " \n", "x<|im_end|>y"}) {
    const auto text = put.task->Render({.id = "p7", .question = bad});
    EXPECT_EQ(text.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_TRUE(Contains(std::string(text.status().message()), "\"p7\""));
  }
}

// Without patterns the task's own rules apply: its answer, its last line, its
// verdicts.
TEST(PromptTest, TasksKeepTheirOwnRules) {
  Prompt prompt =
      ParsePrompt("template: \"plain\" delimiter: \"\\n\"", "p").value();
  const PromptedTask put = PutTask("countdown", prompt).value();
  EXPECT_TRUE(put.verifier->intrinsic());
  EXPECT_FALSE(put.task->format().final_prefixes.empty());
  prompt.answers = {"boxed"};
  EXPECT_EQ(PutTask("countdown", prompt).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(PutTask("stories", prompt).ok());
  EXPECT_EQ(PutTask("storys", prompt).status().code(),
            absl::StatusCode::kNotFound);
}

TEST(AnswerPatternTest, TheLastMatchesGroupIsTheAnswer) {
  const auto find = [](const char* pattern, const char* text) {
    return AnswerPattern::Create(pattern)->Find(text).value_or("none");
  };
  const char* kIs = "[Aa]nswer is:? *\\$?(.+?)\\.?$";
  EXPECT_EQ(find(kIs, "The answer is 4.\nNo: the answer is: $5.\nBye"), "5");
  EXPECT_EQ(find(kIs, "answer is 1,234.50."), "1,234.50");
  EXPECT_EQ(find(kIs, "the end"), "none");
  EXPECT_EQ(find("^= (.*)$", "= 3\n  = 4\n"), "3");
  EXPECT_EQ(find("x(y)?", "xy x"), "y");
  EXPECT_EQ(find("a( *)b", "a  b"), "none");
  EXPECT_EQ(find("(\\d+)", "\xff 12 \xc3"), "12");
  EXPECT_EQ(find("boxed", "\\boxed{ 1 }"), "1");
  EXPECT_EQ(find("boxed", "\\boxed{1} and \\boxed{2}"), "1 , 2");
  EXPECT_EQ(find("boxed", "<think>\\boxed{4}"), "none");
  EXPECT_EQ(find(kIs, "<think>The answer is 4."), "none");
  // The name kept from older prompts does not guess either.
  EXPECT_EQ(find("last_number", "She has 12 apples left."), "12");
  EXPECT_NE(find("last_number", "1 or 2"), "2");
}

// A pattern with catastrophic backtracking stops at its limit.
TEST(AnswerPatternTest, ACatastrophicPatternEnds) {
  const auto pattern = AnswerPattern::Create("((?:a+)+)$x").value();
  EXPECT_EQ(pattern.Find(std::string(5000, 'a') + "!"), std::nullopt);
}

}  // namespace
}  // namespace espalier
