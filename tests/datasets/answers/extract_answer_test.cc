#include "datasets/answers/find/extract_answer.h"

#include <gtest/gtest.h>

#include <fstream>
#include <optional>
#include <string>

#include "datasets/answers/grade.h"
#include "datasets/answers/grade_answer.h"
#include "datasets/tasks/task_registry.h"
#include "nlohmann/json.hpp"

namespace espalier {
namespace {

TEST(ExtractAnswer, LastBoxWins) {
  EXPECT_EQ(ExtractAnswer("\\boxed{1}. Checking again, we see that this was "
                          "wrong, so it is \\boxed{\\frac{1}{2}}.")
                .text,
            "\\frac{1}{2}");
  EXPECT_EQ(ExtractAnswer("\\boxed{1} and \\boxed{2}").text, "1 , 2");
  EXPECT_EQ(ExtractAnswer("$$\\boxed{\\{1, 2\\}}$$").text, "\\{1, 2\\}");
}

TEST(ExtractAnswer, LaterPhraseBeatsABox) {
  EXPECT_EQ(ExtractAnswer("\\boxed{255} So he has more. Final Answer: The "
                          "final answer is $10455$. I hope it is correct.")
                .text,
            "10455");
  EXPECT_EQ(ExtractAnswer("Final Answer: \\boxed{3}").text, "3");
  EXPECT_EQ(ExtractAnswer("He pays 3 * 6 = 18.\n#### 18").text, "18");
}

TEST(ExtractAnswer, ABoxBeatsTheMarkOfGsm8k) {
  EXPECT_EQ(ExtractAnswer("\\boxed{8}\n#### 9").text, "8");
  EXPECT_EQ(ExtractAnswer("The final answer is 8.\n#### 9").text, "9");
}

TEST(ExtractAnswer, AnswerIsAndFormulas) {
  EXPECT_EQ(ExtractAnswer("The answer is 42. Good.").text, "42");
  EXPECT_EQ(ExtractAnswer("Answer: **7**").text, "7");
  EXPECT_EQ(ExtractAnswer("With $y = 2$ we get $x = 5$.").text, "x = 5");
  EXPECT_EQ(ExtractAnswer("They are $1$, $2$ and $3$.").text, "1 , 2 , 3");
  EXPECT_EQ(ExtractAnswer("So \\[ x = 4 \\]").text, "x = 4");
}

TEST(ExtractAnswer, AChoiceWithWhatItSays) {
  EXPECT_EQ(ExtractAnswer("The answer is **(E)** $\\sqrt{8}$.").text,
            "(E) \\sqrt{8}");
  EXPECT_EQ(ExtractAnswer("Answer: B. $3$ and $4$").text, "(B) 3 , 4");
  EXPECT_EQ(ExtractAnswer("The answer is (D), $7$ kg.").text, "(D) 7 kg");
  EXPECT_EQ(ExtractAnswer("The answer is (D). $7$ divides it.").text, "D");
  EXPECT_EQ(ExtractAnswer("The answer is (D). $7$ is wrong.").text, "D");
}

TEST(ExtractAnswer, ThoughtsDoNotCount) {
  EXPECT_EQ(ExtractAnswer("<think>\\boxed{1}</think>It is \\boxed{2}").text,
            "2");
  EXPECT_EQ(ExtractAnswer("<think>\\boxed{1}</think>").text, "");
  EXPECT_EQ(ExtractAnswer("<think>\\boxed{1} then").text, "");
}

TEST(ExtractAnswer, ThoughtsHaveManyNames) {
  for (const char* text :
       {"Okay.\n<think>\nmaybe \\boxed{4}", "<THINK>\\boxed{4}",
        "<think>a</think> hm <think> \\boxed{4}", "[THINK]\\boxed{4}[/THINK]",
        "<thinking>\\boxed{4}</thinking> I do not know.",
        "<|begin_of_thought|>\\boxed{4}<|end_of_thought|>",
        "<|channel|>analysis<|message|>\\boxed{4}<|end|>",
        "<unused94>thought\n\\boxed{4}", "<seed:think>\\boxed{4}"}) {
    EXPECT_EQ(ExtractAnswer(text).text.find('4'), std::string::npos) << text;
  }
  EXPECT_EQ(ExtractAnswer("[Reasoning] 2+2 [Answer] 4").text, "4");
  // As gpt-oss, Command A, Seed-OSS, MedGemma and others write them.
  for (const char* thought :
       {"<|channel|>analysis<|message|>\\boxed{4}<|end|><|start|>assistant"
        "<|channel|>final<|message|>",
        "<|START_THINKING|>\\boxed{4}<|END_THINKING|>",
        "<seed:think>\\boxed{4}</seed:think>",
        "<unused94>thought\n\\boxed{4}<unused95>",
        "[BEGIN_THINK]\\boxed{4}[END_THINK]", "<ponder>\\boxed{4}</ponder>"}) {
    EXPECT_EQ(ExtractAnswer(std::string(thought) + "The answer is 5.").text,
              "5")
        << thought;
  }
}

// What is thought is no vote, also where nothing is answered behind it.
TEST(FindFinalAnswer, ThoughtsAreNotSearched) {
  const char* tags[][2] = {
      {"<think>", "</think>"},
      {"<thinking>", "</thinking>"},
      {"[THINK]", "[/THINK]"},
      {"<reasoning>", "</reasoning>"},
      {"", "</think>"},
      {"<longcat_think>", "</longcat_think>"},
      {"<cot>", "</cot>"},
      {"<reason>", "</reason>"},
      {"<internal>", "</internal>"},
      {"<think_fast>", "</think_fast>"},
      {"\u25c1think\u25b7", "\u25c1/think\u25b7"},
      {"<reasoning_content>", "</reasoning_content>"},
      {"<deliberation>", "</deliberation>"},
      {"<|channel|>analysis<|message|>",
       "<|end|><|start|>assistant<|channel|>final<|message|>"}};
  for (const auto& [open, close] : tags) {
    for (const std::string thought : {"the answer is 5", "x = 5", "#### 5",
                                      "final answer is $5$", "\\boxed{5}"}) {
      for (const std::string behind :
           {"I am not sure.", "I don't know.", "See above.", "",
            "There is no answer.", "I hope this helps!"}) {
        const std::string response = open + thought + close + " " + behind;
        const auto found = FindFinalAnswer(response);
        EXPECT_TRUE(!found || found->find('5') == std::string::npos)
            << response << "\n"
            << *found;
      }
    }
  }
}

// Votes use the grader's reading: the last number in a text is not an answer.
TEST(FindFinalAnswer, VotesForNoNumberThatIsNotStated) {
  EXPECT_NE(FindFinalAnswer("10 11 12"), std::optional<std::string>("12"));
  EXPECT_NE(FindFinalAnswer("5, not 7"), std::optional<std::string>("7"));
  EXPECT_NE(FindFinalAnswer("anything but 12"),
            std::optional<std::string>("12"));
  EXPECT_EQ(FindFinalAnswer("She has 8 apples left after giving 4 away."),
            std::optional<std::string>("8"));
}

TEST(CanonicalAnswer, PercentAndTheCaseOfNamesCount) {
  EXPECT_EQ(CanonicalAnswer("28%"), "28%");
  EXPECT_FALSE(SameAnswerText("2AB", "2ab"));
  EXPECT_TRUE(SameAnswerText("North", "north"));
  EXPECT_TRUE(SameAnswerText("YES", "yes"));
  EXPECT_TRUE(SameAnswerText("28%", "0.28"));
}

// The gold answer of a worked solution, found by the finder's own rules.
TEST(MarkedAnswer, ABoxThenTheMark) {
  using Found = std::optional<std::string>;
  EXPECT_EQ(MarkedAnswer("x=\\boxed{1}$ or $x=\\boxed{2}"), Found("1 , 2"));
  EXPECT_EQ(MarkedAnswer("\\fbox{3}"), Found("3"));
  EXPECT_EQ(MarkedAnswer("####3"), Found("3"));
  EXPECT_EQ(MarkedAnswer("\\boxed{8}\n#### 9"), Found("8"));
  EXPECT_EQ(MarkedAnswer("so it is 9"), std::nullopt);
}

TEST(ExtractAnswer, LastFencedLine) {
  EXPECT_EQ(ExtractAnswer("It prints\n```\n12\n```\n").text, "12");
}

TEST(ExtractAnswer, PlainTextStaysAsItIs) {
  const Extracted whole = ExtractAnswer(" \\frac{1}{2} ");
  EXPECT_EQ(whole.text, "\\frac{1}{2}");
  EXPECT_FALSE(whole.cut);
}

TEST(StripDelimiters, SeveralLayers) {
  EXPECT_EQ(StripDelimiters(" $$ \\(x\\) $$. "), "x");
  EXPECT_EQ(StripDelimiters("**5**"), "5");
  EXPECT_EQ(StripDelimiters("$5 and $6"), "5 and 6");
  EXPECT_EQ(StripDelimiters("0.333..."), "0.333...");
}

using Found = std::optional<std::string>;

TEST(BoxedAnswer, BoxesWithBracesInThem) {
  EXPECT_EQ(BoxedAnswer("\\boxed{42}"), Found("42"));
  EXPECT_EQ(BoxedAnswer("a \\boxed{1}, then b. \\boxed{\\frac{1}{\\sqrt{2}}}."),
            Found("\\frac{1}{\\sqrt{2}}"));
  EXPECT_EQ(BoxedAnswer("\\boxed{1} or $x=\\boxed{2}"), Found("1 , 2"));
  EXPECT_EQ(BoxedAnswer("\\boxed {7}"), Found("7"));
  EXPECT_EQ(BoxedAnswer("\\boxed{\\{1, 2\\}}"), Found("\\{1, 2\\}"));
  EXPECT_EQ(BoxedAnswer("\\boxed{\\left\\{ x \\right.}"),
            Found("\\left\\{ x \\right."));
  EXPECT_EQ(BoxedAnswer("\\boxed{}"), Found(""));
}

TEST(BoxedAnswer, ABoxThatNeverClosesIsNone) {
  EXPECT_EQ(BoxedAnswer("\\boxed{3"), std::nullopt);
  EXPECT_EQ(BoxedAnswer("\\boxed{3} or \\boxed{\\frac{1}{2"), Found("3"));
  EXPECT_EQ(BoxedAnswer("\\boxed"), std::nullopt);
  EXPECT_EQ(BoxedAnswer("\\boxed 5"), Found("5"));
  EXPECT_EQ(BoxedAnswer("\\boxed{a\\"), std::nullopt);
  EXPECT_EQ(BoxedAnswer(""), std::nullopt);
}

TEST(BoxedAnswer, GreatTextsTakeNoTime) {
  std::string text;
  for (int i = 0; i < 100000; ++i) text += "\\boxed{1,1/";
  EXPECT_EQ(BoxedAnswer(text), std::nullopt);
}

// Ordinary responses: the task's answer and the verdicts of eval, generate and
// the labels agree with the grader.
TEST(FindFinalAnswer, FindsWhatResponsesAnswer) {
  std::ifstream in("tests/datasets/answers/responses.jsonl");
  ASSERT_TRUE(in.is_open());
  const Task& task = *FindTask("qa").value();
  const Verifier& verifier = *FindVerifier("qa").value();
  std::string line;
  int count = 0;
  while (std::getline(in, line)) {
    const nlohmann::json one = nlohmann::json::parse(line);
    const auto response = one["response"].get<std::string>();
    const std::optional<std::string> found = FindFinalAnswer(response);
    ++count;
    if (one["answer"].is_null()) {
      EXPECT_EQ(found, std::nullopt) << line;
      EXPECT_EQ(task.FindAnswer(response), std::nullopt) << line;
      continue;
    }
    const auto answer = one["answer"].get<std::string>();
    ASSERT_TRUE(found.has_value()) << line;
    EXPECT_TRUE(SameAnswerText(*found, answer)) << line << "\n" << *found;
    const auto by_task = task.FindAnswer(response);
    ASSERT_TRUE(by_task.has_value()) << line;
    EXPECT_TRUE(task.SameAnswer(*by_task, answer)) << line << "\n" << *by_task;
    EXPECT_TRUE(verifier.Check({}, {.answer = answer}, response).correct)
        << line;
    EXPECT_TRUE(GradeAnswer(answer, response).equal) << line;
    EXPECT_FALSE(verifier.Check({}, {.answer = "12345"}, response).correct)
        << line;
  }
  EXPECT_GE(count, 50);
}

}  // namespace
}  // namespace espalier
