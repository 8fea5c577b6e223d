#include "datasets/sets/problem_set.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

#include "absl/strings/str_cat.h"
#include "datasets/answers/grade.h"
#include "datasets/tasks/task_registry.h"
#include "tests/base/one_thread.h"
#include "tests/datasets/data_files.h"

namespace espalier {
namespace {

TEST(GradeTest, NumbersAreEqualByValue) {
  EXPECT_TRUE(SameAnswerText("1,200", "$1200.00"));
  EXPECT_TRUE(SameAnswerText("1/2", "0.5"));
  EXPECT_TRUE(SameAnswerText(" -3. ", "-3"));
  EXPECT_TRUE(SameAnswerText("2/4", "1/2"));
  EXPECT_FALSE(SameAnswerText("1,20", "120"));
  EXPECT_FALSE(SameAnswerText("12", "21"));
  EXPECT_FALSE(SameAnswerText("99999999999999999999", "9999999999999999999"));
  EXPECT_TRUE(SameAnswerText("North  Pole", "north pole"));
  EXPECT_FALSE(ParseNumber("1/0"));
  EXPECT_FALSE(ParseNumber(""));
  EXPECT_FALSE(ParseNumber("-"));
}

TEST(ProblemSetTest, UnknownSetNamesTheNearest) {
  const auto set = LoadSet("stories:hrad", {});
  ASSERT_FALSE(set.ok());
  EXPECT_NE(set.status().message().find("stories:hard"),
            absl::string_view::npos);
}

TEST(ProblemSetTest, MalformedLinesAreNamedByNumber) {
  const auto parse = [](const char* text) {
    return std::string(ParseQuestionLines(text, "f.jsonl").status().message());
  };
  const std::string good = "{\"question\": \"1+1?\", \"answer\": \"2\"}\n";
  EXPECT_NE(parse((good + "{\"question\": ").c_str()).find("f.jsonl:2"),
            std::string::npos);
  EXPECT_NE(parse((good + "\n[1]\n").c_str()).find("f.jsonl:3"),
            std::string::npos);
  EXPECT_NE(parse("{\"question\": \"  \"}").find("empty"), std::string::npos);
  EXPECT_NE(parse("{\"q\": 1}").find("question"), std::string::npos);
  EXPECT_NE(parse("\n\n").find("no problems"), std::string::npos);
}

TEST(ProblemSetTest, GeneratedSetsAreSeededAndSolvedByTheirReferences) {
  ESP_ONE_THREAD();
  for (const std::string& name : SetNames()) {
    const auto set = LoadSet(name, {.limit = 20});
    ASSERT_TRUE(set.ok()) << set.status();
    const auto again = LoadSet(name, {.limit = 20});
    const Verifier* verifier = FindVerifier(set->task).value();
    std::set<std::string> questions;
    for (size_t i = 0; i < set->problems.size(); ++i) {
      const GradedProblem& p = set->problems[i];
      EXPECT_EQ(p.problem.question, again->problems[i].problem.question);
      questions.insert(p.problem.question);
      if (set->task == "python") continue;  // python_programs_test runs them
      std::string response;
      for (const std::string& step : p.reference.steps) {
        response += step + "\n";
      }
      EXPECT_TRUE(verifier->Check(p.problem, p.reference, response).correct);
      const auto verdicts =
          verifier->CheckSteps(p.problem, p.reference, response);
      ASSERT_TRUE(verdicts.ok());
      for (const StepVerdict& v : *verdicts) {
        EXPECT_TRUE(v.step_ok && v.path_ok) << response;
      }
    }
    // There are few puzzles with small numbers.
    EXPECT_GE(questions.size(), name == "game24" ? 15u : 20u);
  }
}

TEST(ProblemSetTest, Gsm8kIsReadAsPublished) {
  const char* data = std::getenv("ESPALIER_DATA");
  if (data == nullptr) GTEST_SKIP() << "ESPALIER_DATA is not set";
  const auto set = LoadSet(std::string(data) + "/math/gsm8k_test.jsonl", {});
  ASSERT_TRUE(set.ok()) << set.status();
  EXPECT_EQ(set->problems.size(), 1319u);
  EXPECT_EQ(set->problems[0].reference.answer, "18");
  for (const GradedProblem& p : set->problems) {
    EXPECT_TRUE(ParseNumber(p.reference.answer)) << p.problem.id;
  }
}

TEST(ProblemSetTest, ProblemsWithoutGoldAreLeftOutWhereVerdictsAreAsked) {
  const Verifier& qa = *FindVerifier("qa").value();
  const std::string none = "{\"problem\": \"P\", \"answer\": \"\"}\n";
  const std::string some = "{\"problem\": \"P\", \"answer\": 3}\n";
  const auto load = [](const std::string& name, const std::string& text) {
    return LoadSet(WriteTestFile(name, text), {.strict = true}).value();
  };
  ProblemSet all = load("all.jsonl", some + some);
  EXPECT_EQ(KeepJudged(qa, all).value(), "");
  EXPECT_EQ(all.problems.size(), 2u);

  ProblemSet mixed = load("mixed.jsonl", some + none + some + none);
  EXPECT_EQ(mixed.problems.size(), 4u);
  const std::string note = KeepJudged(qa, mixed).value();
  EXPECT_EQ(mixed.problems.size(), 2u);
  EXPECT_NE(note.find("mixed.jsonl: 2 of 4 records have no gold answer under "
                      "\"answer\" and are left out; the first is "),
            std::string::npos)
      << note;
  EXPECT_NE(note.find("mixed.jsonl:2"), std::string::npos) << note;

  // The error names the fields that were tried, whatever the kind.
  const std::pair<const char*, const char*> without[] = {
      {"{\"question\": \"Q\", \"gold_answer\": \"B\"}", "\"answer\""},
      {"{\"question\": \"Q\", \"choices\": [\"a\", \"b\"]}",
       "\"correct\", \"label\""},
      {"{\"prompt\": \"Q\", \"reward_model\": {\"style\": \"model\"}}",
       "\"reward_model.ground_truth\""},
      {"{\"problem\": \"Q\", \"expected_answer\": null}",
       "\"expected_answer\""},
      {"{\"question\": \"Q\", \"answer\": null, \"answer_number\": null}",
       "\"answer_number\""},
  };
  for (const auto& [text, where] : without) {
    SCOPED_TRACE(text);
    ProblemSet set = load("without.jsonl", text);
    const absl::Status status = KeepJudged(qa, set).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_NE(status.message().find("no record has a gold answer under "),
              absl::string_view::npos)
        << status;
    EXPECT_NE(status.message().find(where), absl::string_view::npos) << status;
    EXPECT_NE(status.message().find("--columns"), absl::string_view::npos);
  }
  // What stands for no gold is told.
  const auto gold = [](const std::string& text) {
    return absl::StrCat("{\"problem\": \"P\", \"answer\": \"", text, "\"}\n");
  };
  ProblemSet spelled =
      load("spelled.jsonl", gold("TBD") + gold("N/A") + none + gold("N/A"));
  const absl::Status nothing = KeepJudged(qa, spelled).status();
  EXPECT_NE(nothing.message().find("under \"answer\" (\"N/A\" in 2, nothing in "
                                   "1, \"TBD\" in 1), so"),
            absl::string_view::npos)
      << nothing;
  ProblemSet kinds =
      load("kinds.jsonl", gold("-") + gold("?") + gold("--") + gold("null") +
                              gold("n/a") + gold("7"));
  EXPECT_NE(
      KeepJudged(qa, kinds)->find(
          "5 of 6 records have no gold answer under \"answer\" (\"-\" in 1, "
          "\"--\" in 1, \"?\" in 1, \"n/a\" in 1, ...) and are left out"),
      std::string::npos);
  EXPECT_EQ(kinds.problems.size(), 1u);
  // Tasks that need no gold answer are judged without one.
  ProblemSet countdown = LoadSet("countdown:3", {.limit = 3}).value();
  EXPECT_EQ(KeepJudged(*FindVerifier("countdown").value(), countdown).value(),
            "");
}

TEST(QaTaskTest, FindsAnswersInTheUsualForms) {
  const Task* task = FindTask("qa").value();
  EXPECT_EQ(task->FindAnswer("so \\boxed{\\frac{1}{2}} it is"), "\\frac{1}{2}");
  EXPECT_EQ(task->FindAnswer("3+4=7\n#### 1,007"), "1007");
  EXPECT_EQ(task->FindAnswer("The answer is: 12."), "12");
  EXPECT_EQ(task->FindAnswer("first 3, then 4 shells"), "4");
  EXPECT_EQ(task->FindAnswer(" "), std::nullopt);
}

// As nq_open and OlympiadBench's likes have them.
TEST(ProblemSet, AListOfAnswersInWordsIsAcceptedAnswers) {
  const auto set = LoadSet(
      WriteTestFile(
          "listed.jsonl",
          R"j({"question": "Where did he go", "answer": ["Paris", "The city"]}
{"question": "Solve", "answer": ["3", "4"]}
{"question": "Solve", "answer": ["\\frac{1}{2}", "sqrt(2)", "x = 5"]}
{"question": "Who?", "answer": ["Ann"]})j"),
      {.strict = true});
  ASSERT_TRUE(set.ok()) << set.status();
  const auto right = [&](size_t i, const std::string& response) {
    const GradedProblem& one = set->problems[i];
    return FindVerifier("qa")
        .value()
        ->Check(one.problem, one.reference, response)
        .correct;
  };
  EXPECT_TRUE(right(0, "The answer is Paris."));
  EXPECT_TRUE(right(0, "Answer: the city"));
  EXPECT_FALSE(right(0, "Answer: Rome"));
  EXPECT_TRUE(right(1, "\\boxed{3, 4}"));
  EXPECT_FALSE(right(1, "\\boxed{3}"));
  EXPECT_EQ(set->problems[2].reference.answer, "\\frac{1}{2}, sqrt(2), x = 5");
  EXPECT_EQ(set->problems[3].reference.answer, "Ann");
}

}  // namespace
}  // namespace espalier
