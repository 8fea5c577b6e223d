// Published multiple-choice formats: what is asked, which letter is right, and
// which responses pass. The records are our own.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "datasets/sets/problem_set.h"
#include "datasets/sets/set_kind.h"
#include "datasets/sets/set_reader.h"
#include "datasets/tasks/task_registry.h"
#include "nlohmann/json.hpp"
#include "tests/datasets/data_files.h"

namespace espalier {
namespace {

struct Form {
  const char* what;
  const char* file;
  const char* text;
  const char* kind;
  const char* question;
  const char* answer;
  const char* right;  // text of the right option
  const char* wrong;  // text of a wrong one
};

const Form kForms[] = {
    {"AQuA", "aqua.json",
     R"j({"question": "A shelf of 9 books at $4 each costs how much?", "options": ["A)32", "B)34", "C)36", "D)38", "E)40"], "rationale": "9 * 4 = 36\nC", "correct": "C"}
{"question": "Half of 8?", "options": ["A)2", "B)4", "C)6", "D)8", "E)None of these"], "rationale": "r", "correct": "B"})j",
     "choice",
     "A shelf of 9 books at $4 each costs how much?\nA. 32\nB. 34\nC. 36\n"
     "D. 38\nE. 40",
     "C", "36", "38"},
    {"MMLU at Hugging Face", "mmlu.jsonl",
     R"j({"question": "Which is a prime?", "subject": "elementary_mathematics", "choices": ["8", "9", "11", "12"], "answer": 2})j",
     "choice", "Which is a prime?\nA. 8\nB. 9\nC. 11\nD. 12", "C", "11", "9"},
    {"MMLU's own files", "anatomy_test.csv",
     "Which is red?,Grass,\"Blood, fresh\",Snow,Coal,B\n"
     "Which is white?,Grass,Blood,Snow,Coal,C\n",
     "mmlu", "Which is red?\nA. Grass\nB. Blood, fresh\nC. Snow\nD. Coal", "B",
     "Blood, fresh", "Snow"},
    {"C-Eval and CMMLU", "ceval.csv",
     "id,question,A,B,C,D,answer\n0,2+2?,3,4,5,6,B\n", "mmlu",
     "2+2?\nA. 3\nB. 4\nC. 5\nD. 6", "B", "4", "5"},
    {"MMLU-Pro", "mmlu_pro.jsonl",
     R"j({"question_id": 70, "question": "3 * 4?", "options": ["1", "2", "3", "4", "6", "7", "8", "9", "12", "N/A"], "answer": "I", "answer_index": 8, "cot_content": "", "category": "math", "src": "s"})j",
     "choice",
     "3 * 4?\nA. 1\nB. 2\nC. 3\nD. 4\nE. 6\nF. 7\nG. 8\nH. 9\nI. 12\nJ. N/A",
     "I", "12", "9"},
    {"AGIEval's SAT", "sat-math.jsonl",
     R"j({"passage": "", "question": "If $2x=6$, what is $x$?", "options": ["(A)2", "(B)3", "(C)$\\frac{1}{3}$", "(D)12"], "label": "B", "other": {"solution": "s"}})j",
     "choice", "If $2x=6$, what is $x$?\nA. 2\nB. 3\nC. $\\frac{1}{3}$\nD. 12",
     "B", "$x = 3$", "$\\frac13$"},
    {"AGIEval with a passage", "sat-en.jsonl",
     R"j({"passage": "Mo ran.", "question": "Who ran?", "options": ["(A)Mo", "(B)Jo"], "label": "A", "answer": null, "other": null})j",
     "choice", "Mo ran.\nWho ran?\nA. Mo\nB. Jo", "A", "Mo", "Jo"},
    {"AGIEval's cloze", "cloze.jsonl",
     R"j({"passage": null, "question": "2+3=?", "options": null, "label": null, "answer": "5", "other": null})j",
     "choice", "2+3=?", "5", "5", "6"},
    {"SAT Math 2023", "sat.csv",
     "Question,Possible Answers,Answer\n"
     "What is 5 + 6?,\"(A) 10, (B) 11, (C) 12, (D) 13\",B\n",
     "choice", "What is 5 + 6?\nA. 10\nB. 11\nC. 12\nD. 13", "B", "11", "12"},
    {"MathQA", "mathqa.jsonl",
     R"j({"problem": "a train of 60 m takes 6 s to pass . its speed ?", "rationale": "r", "options": "a ) 10 m / s , b ) 1,000 m / s , c ) 12 m / s , d ) 36 m / s , e ) none", "correct": "a", "annotated_formula": "f", "linear_formula": "l", "category": "physics"})j",
     "choice",
     "a train of 60 m takes 6 s to pass . its speed ?\nA. 10 m / s\n"
     "B. 1,000 m / s\nC. 12 m / s\nD. 36 m / s\nE. none",
     "A", "10 m/s", "12 m/s"},
    {"NeMo's", "nemo.jsonl",
     R"j({"problem": "Largest?", "options": "A. 1\nB. 2\nC. 3\nD. 4", "expected_answer": "D"})j",
     "choice", "Largest?\nA. 1\nB. 2\nC. 3\nD. 4", "D", "4", "3"},
    {"ARC", "arc.jsonl",
     R"j({"id": "M1", "question": "Which is hot?", "choices": {"text": ["ice", "fire", "snow"], "label": ["A", "B", "C"]}, "answerKey": "B"}
{"id": "M2", "question": "Which is cold?", "choices": {"text": ["ice", "fire"], "label": ["1", "2"]}, "answerKey": "1"})j",
     "choice", "Which is hot?\nA. ice\nB. fire\nC. snow", "B", "fire", "snow"},
    {"ARC as first published", "ARC-Easy-Test.jsonl",
     R"j({"id": "M1", "question": {"stem": "Which is hot?", "choices": [{"text": "ice", "label": "A"}, {"text": "fire", "label": "B"}, {"text": "snow", "label": "C"}]}, "answerKey": "B"}
{"id": "M2", "question": {"stem": "Which is cold?", "choices": [{"text": "ice", "label": "1"}, {"text": "fire", "label": "2"}]}, "answerKey": "1"})j",
     "choice", "Which is hot?\nA. ice\nB. fire\nC. snow", "B", "fire", "snow"},
    {"CommonsenseQA as first published", "dev_rand_split.jsonl",
     R"j({"answerKey": "A", "id": "q1", "question": {"question_concept": "ice", "choices": [{"label": "A", "text": "cold"}, {"label": "B", "text": "hot"}], "stem": "Ice is"}})j",
     "choice", "Ice is\nA. cold\nB. hot", "A", "cold", "hot"},
    {"ARC with numbers for letters", "arc.jsonl",
     R"j({"id": "M2", "question": "Cold?", "choices": {"text": ["ice", "fire", "sun"], "label": ["1", "2", "3"]}, "answerKey": "1"})j",
     "choice", "Cold?\nA. ice\nB. fire\nC. sun", "A", "ice", "sun"},
    {"OpenBookQA", "obqa.jsonl",
     R"j({"id": "7", "question_stem": "The sun is", "choices": {"text": ["cold", "hot"], "label": ["A", "B"]}, "answerKey": "B"})j",
     "choice", "The sun is\nA. cold\nB. hot", "B", "hot", "cold"},
    {"MedQA", "medqa.jsonl",
     R"j({"question": "Best?", "answer": "Rest", "options": {"B": "Rest", "A": "Run", "C": "Sing"}, "meta_info": "step1", "answer_idx": "B"})j",
     "choice", "Best?\nA. Run\nB. Rest\nC. Sing", "B", "Rest", "Sing"},
    {"MedQA with a list of pairs", "medqa.jsonl",
     R"j({"question": "Best?", "answer": "Rest", "options": [{"key": "A", "value": "Run"}, {"key": "B", "value": "Rest"}], "answer_idx": "B"})j",
     "choice", "Best?\nA. Run\nB. Rest", "B", "Rest", "Run"},
    {"options as JSON in a cell", "cell.csv",
     "question,options,answer\n"
     "2+2?,\"[\"\"3\"\", \"\"4\"\"]\",B\n",
     "choice", "2+2?\nA. 3\nB. 4", "B", "4", "3"},
    {"MedMCQA", "medmcqa.jsonl",
     R"j({"id": "e", "question": "Best?", "opa": "Run", "opb": "Rest", "opc": "Sing", "opd": "Jump", "cop": 1, "choice_type": "single", "exp": "x"})j",
     "mmlu", "Best?\nA. Run\nB. Rest\nC. Sing\nD. Jump", "B", "Rest", "Jump"},
    {"PIQA", "piqa.jsonl",
     R"j({"goal": "Open a jar", "sol1": "twist it", "sol2": "hit it", "label": 1})j",
     "mmlu", "Open a jar\nA. twist it\nB. hit it", "B", "hit it", "twist it"},
    {"HellaSwag", "hellaswag.jsonl",
     R"j({"ind": 1, "ctx": "A man sits. He", "endings": ["stands", "flies", "eats"], "label": "2"})j",
     "choice", "A man sits. He\nA. stands\nB. flies\nC. eats", "C", "eats",
     "flies"},
    {"LogiQA", "logiqa.jsonl",
     R"j({"context": "All x are y.", "query": "Then?", "options": ["p", "q", "r"], "correct_option": 2})j",
     "choice", "All x are y.\nThen?\nA. p\nB. q\nC. r", "C", "r", "q"},
    {"BIG-bench", "bigbench.jsonl",
     R"j({"input": "Then?", "choices": ["p", "q"], "target": "q"})j", "choice",
     "Then?\nA. p\nB. q", "B", "q", "p"},
    {"an index that a table made a fraction", "pandas.jsonl",
     R"j({"question": "Then?", "choices": ["p", "q", "r"], "answer": 2.0})j",
     "choice", "Then?\nA. p\nB. q\nC. r", "C", "r", "q"},
    {"gold by its text", "text.jsonl",
     R"j({"question": "Capital?", "choices": ["Bern", "Basel"], "answer": "Basel"})j",
     "choice", "Capital?\nA. Bern\nB. Basel", "B", "Basel", "Bern"},
    {"sentences with the same number", "same.jsonl",
     R"j({"question": "What is 8?", "options": ["(A)The days that 8 jobs take.", "(B)The jobs left, which are 8.", "(C)A rate of 8 an hour."], "label": "B"})j",
     "choice",
     "What is 8?\nA. The days that 8 jobs take.\nB. The jobs left, which are "
     "8.\nC. A rate of 8 an hour.",
     "B", "The jobs left, which are 8.", "A rate of 8 an hour."},
};

bool Right(const GradedProblem& problem, const std::string& response) {
  const Verifier* verifier = FindVerifier("qa").value();
  return verifier->Check(problem.problem, problem.reference, response).correct;
}

TEST(ChoiceSets, EveryFormIsReadAndAnswered) {
  for (const Form& form : kForms) {
    SCOPED_TRACE(form.what);
    const std::string path = WriteTestFile(form.file, form.text);
    const auto reader = SetReader::Open(path, {.strict = true});
    ASSERT_TRUE(reader.ok()) << reader.status();
    ASSERT_TRUE((*reader)->Next().ok());
    EXPECT_EQ((*reader)->kind()->name, form.kind);
    const auto set = LoadSet(path, {.strict = true});
    ASSERT_TRUE(set.ok()) << set.status();
    EXPECT_EQ(set->task, "qa");
    const GradedProblem& one = set->problems[0];
    EXPECT_EQ(one.problem.question, form.question);
    EXPECT_EQ(one.reference.answer, form.answer);
    const std::string letter = form.answer;
    for (const std::string& response :
         {letter, absl::StrCat("(", letter, ")"),
          absl::StrCat("So the answer is ", letter, "."),
          absl::StrCat("Thus \\boxed{\\text{", letter, "}}"),
          absl::StrCat("Answer: ", form.right),
          absl::StrCat("\\boxed{", form.right, "}")}) {
      EXPECT_TRUE(Right(one, response)) << response;
    }
    const std::string other = letter == "A" ? "B" : "A";
    for (const std::string& response :
         {std::string(form.wrong), absl::StrCat("Answer: ", form.wrong),
          absl::StrCat("So the answer is (", other, ")."), std::string()}) {
      EXPECT_FALSE(Right(one, response)) << response;
    }
  }
}

TEST(ChoiceSets, RowsWithoutNamesAreRecordsFromTheFirstOn) {
  const auto set = LoadSet(
      WriteTestFile("virology_test.csv", "1st?,a,b,c,d,D\n2nd?,e,f,g,h,A\n"),
      {.strict = true});
  ASSERT_TRUE(set.ok()) << set.status();
  ASSERT_EQ(set->problems.size(), 2u);
  EXPECT_EQ(set->problems[0].reference.answer, "D");
  EXPECT_TRUE(
      absl::EndsWith(set->problems[0].problem.id, "virology_test.csv:1"));
  // A test split with withheld answers is recognised by its column names.
  const auto kept = LoadSet(
      WriteTestFile("kept.csv", "id,question,A,B,C,D\n0,Q?,a,b,c,d\n"), {});
  ASSERT_TRUE(kept.ok()) << kept.status();
  ASSERT_EQ(kept->problems.size(), 1u);
  EXPECT_EQ(kept->problems[0].problem.question, "Q?\nA. a\nB. b\nC. c\nD. d");
  EXPECT_EQ(kept->problems[0].reference.answer, "");
}

TEST(ChoiceSets, SeveralRightOptionsAreAnsweredByTheirLetters) {
  const auto set = LoadSet(
      WriteTestFile(
          "physics.jsonl",
          R"j({"passage": null, "question": "Even?", "options": ["(A)2", "(B)3", "(C)5", "(D)8"], "label": ["A", "D"], "answer": null}
{"passage": null, "question": "Odd?", "options": ["(A)2", "(B)3", "(C)5", "(D)7"], "label": "B C D", "answer": null})j"),
      {.strict = true});
  ASSERT_TRUE(set.ok()) << set.status();
  EXPECT_EQ(set->problems[0].reference.answer, "AD");
  EXPECT_EQ(set->problems[1].reference.answer, "BCD");
  EXPECT_TRUE(Right(set->problems[0], "The answer is AD."));
  EXPECT_TRUE(Right(set->problems[0], "\\boxed{A, D}"));
  EXPECT_FALSE(Right(set->problems[0], "The answer is A."));
  EXPECT_FALSE(Right(set->problems[0], "The answer is ABD."));
}

TEST(ChoiceSets, GpqaIsShuffledByItsQuestions) {
  std::string csv =
      "Record ID,Question,Correct Answer,Incorrect Answer 1,"
      "Incorrect Answer 2,Incorrect Answer 3,Explanation\n";
  for (int i = 0; i < 40; ++i) {
    absl::StrAppend(&csv, "rec", i, ",Question ", i, "?,right ", i,
                    ",bad,worse,worst,because\n");
  }
  const auto set =
      LoadSet(WriteTestFile("gpqa_main.csv", csv), {.strict = true});
  ASSERT_TRUE(set.ok()) << set.status();
  ASSERT_EQ(set->problems.size(), 40u);
  std::set<std::string> letters;
  for (int i = 0; i < 40; ++i) {
    const GradedProblem& one = set->problems[static_cast<size_t>(i)];
    EXPECT_EQ(one.problem.id, absl::StrCat("rec", i));
    const std::string& letter = one.reference.answer;
    letters.insert(letter);
    EXPECT_TRUE(absl::StrContains(one.problem.question + "\n",
                                  absl::StrCat(letter, ". right ", i, "\n")))
        << one.problem.question;
    EXPECT_TRUE(Right(one, absl::StrCat("The answer is (", letter, ").")));
    EXPECT_TRUE(Right(one, absl::StrCat("Answer: right ", i)));
    EXPECT_FALSE(Right(one, "Answer: worse"));
  }
  EXPECT_EQ(letters.size(), 4u);
  // The order of options does not depend on the rest of the file.
  const auto alone = LoadSet(
      WriteTestFile("gpqa_one.csv",
                    "Question,Correct Answer,Incorrect Answer 1,Incorrect "
                    "Answer 2,Incorrect Answer 3\nQuestion 7?,right 7,bad,worse"
                    ",worst\n"),
      {.strict = true});
  ASSERT_TRUE(alone.ok()) << alone.status();
  EXPECT_EQ(alone->problems[0].problem.question,
            set->problems[7].problem.question);
}

TEST(ChoiceSets, SciqIsShuffledByItsQuestions) {
  const auto set = LoadSet(
      WriteTestFile(
          "sciq.jsonl",
          R"j({"question": "What is H2O?", "distractor1": "gold", "distractor2": "air", "distractor3": "salt", "correct_answer": "water", "support": "s"})j"),
      {.strict = true});
  ASSERT_TRUE(set.ok()) << set.status();
  const GradedProblem& one = set->problems[0];
  for (const char* option : {"gold", "air", "salt", "water"}) {
    EXPECT_TRUE(
        absl::StrContains(one.problem.question, absl::StrCat(". ", option)));
  }
  EXPECT_TRUE(absl::StrContains(one.problem.question,
                                absl::StrCat(one.reference.answer, ". water")));
  EXPECT_TRUE(Right(one, "water"));
  EXPECT_FALSE(Right(one, "gold"));
}

TEST(ChoiceSets, ColumnsOfOptionsCanBeNamed) {
  const auto set = LoadSet(
      WriteTestFile(
          "own.jsonl",
          R"j({"stem": "2+2?", "alternatives": ["3", "4"], "key": "B"})j"),
      {.columns = {{"question", "stem"},
                   {"options", "alternatives"},
                   {"answer", "key"}},
       .strict = true});
  ASSERT_TRUE(set.ok()) << set.status();
  EXPECT_EQ(set->problems[0].problem.question, "2+2?\nA. 3\nB. 4");
  EXPECT_TRUE(Right(set->problems[0], "Answer: 4"));
}

TEST(ChoiceSets, IndexesCountFromWhereTheKindSays) {
  const std::string from_1 = WriteTestFile(
      "from_1.jsonl",
      R"j({"question": "1st?", "subject": "s", "choices": ["a", "b", "c", "d"], "answer": 1}
{"question": "4th?", "subject": "s", "choices": ["a", "b", "c", "d"], "answer": 4}
{"question": "2nd?", "subject": "s", "choices": ["a", "b", "c", "d"], "answer": 2})j");
  // An error, instead of skipping one record and reading the others off by one.
  const auto guessed = LoadSet(from_1, {});
  ASSERT_FALSE(guessed.ok());
  EXPECT_TRUE(
      absl::StrContains(guessed.status().message(),
                        "from_1.jsonl:2: the right option 4 is not one"))
      << guessed.status();
  EXPECT_TRUE(
      absl::StrContains(guessed.status().message(), "--kind choice-from-1"))
      << guessed.status();
  const auto set = LoadSet(from_1, {.kind = "choice-from-1", .strict = true});
  ASSERT_TRUE(set.ok()) << set.status();
  EXPECT_EQ(set->problems[0].reference.answer, "A");
  EXPECT_EQ(set->problems[1].reference.answer, "D");
  EXPECT_EQ(set->problems[2].reference.answer, "B");
  // Same for columns as for lists, and the other way round.
  const std::string columns =
      WriteTestFile("columns.csv", "question,A,B,answer\nQ?,a,b,0\nR?,a,b,1\n");
  EXPECT_EQ(LoadSet(columns, {.kind = "choice-from-0", .strict = true})
                ->problems[1]
                .reference.answer,
            "B");
  EXPECT_FALSE(LoadSet(columns, {.kind = "choice-from-1"}).ok());
  // An index for certain: the columns of MMLU count from 0.
  const auto mmlu = LoadSet(
      WriteTestFile(
          "numbers.jsonl",
          R"j({"question": "Q?", "subject": "s", "choices": ["1", "2", "3", "4"], "answer": 3})j"),
      {.strict = true});
  ASSERT_TRUE(mmlu.ok()) << mmlu.status();
  EXPECT_EQ(mmlu->problems[0].reference.answer, "D");
}

// Also where the first record that shows it is beyond the limit.
TEST(ChoiceSets, ASetThatCountsFromOneIsRefusedBeyondTheLimit) {
  const auto record = [](int id, int answer) {
    return absl::StrCat("{\"id\": ", id,
                        ", \"question\": \"Q\", \"choices\": [\"a\", \"b\", "
                        "\"c\"], \"answer\": ",
                        answer, "}\n");
  };
  std::string from_1;
  for (int i = 0; i < 20; ++i) from_1 += record(i, 1 + i % 2);
  from_1 += record(20, 3);
  for (const SetOptions& options :
       {SetOptions{.limit = 1}, SetOptions{.limit = 2, .first = 3},
        SetOptions{.ids = {"4"}}}) {
    const auto set = LoadSet(WriteTestFile("late.jsonl", from_1), options);
    ASSERT_FALSE(set.ok());
    EXPECT_TRUE(absl::StrContains(
        set.status().message(), "late.jsonl:21: the right option 3 is not one"))
        << set.status();
  }
  EXPECT_EQ(LoadSet(WriteTestFile("late.jsonl", from_1),
                    {.limit = 1, .kind = "choice-from-1"})
                ->problems[0]
                .reference.answer,
            "A");
  // Records after the first 0, and lines that are no record, do not matter.
  const auto from_0 = LoadSet(
      WriteTestFile("from_0.jsonl", absl::StrCat(record(0, 1), record(1, 2),
                                                 record(2, 0), "not")),
      {.limit = 1, .strict = true});
  ASSERT_TRUE(from_0.ok()) << from_0.status();
  EXPECT_EQ(from_0->problems[0].reference.answer, "B");
  const auto broken = WriteTestFile(
      "broken.jsonl", absl::StrCat(record(0, 1), "not\n", record(2, 2)));
  const auto first = LoadSet(broken, {.limit = 1, .strict = true});
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_EQ(first->problems.size(), 1u);
  EXPECT_FALSE(LoadSet(broken, {.limit = 2, .strict = true}).ok());
  const auto all = LoadSet(broken, {});
  ASSERT_TRUE(all.ok()) << all.status();
  EXPECT_EQ(all->problems.size(), 2u);
}

// Columns that count from 1 do not imply that the right options do.
TEST(ChoiceSets, ColumnsCountedFromOneNeedAZeroOrAWord) {
  for (const std::string stem : {"option", "option_", "choice"}) {
    SCOPED_TRACE(stem);
    const auto file = [&](const std::vector<std::string>& golds) {
      std::string text =
          absl::StrCat("question,", stem, "1,", stem, "2,", stem, "3,answer\n");
      for (const std::string& gold : golds) {
        absl::StrAppend(&text, "Q?,a,b,c,", gold, "\n");
      }
      return WriteTestFile("from_1.csv", text);
    };
    const auto doubtful = LoadSet(file({"1", "2"}), {});
    ASSERT_FALSE(doubtful.ok());
    for (const char* says : {"from_1.csv:2: ", "numbered from 1",
                             "choice-from-1", "choice-from-0"}) {
      EXPECT_TRUE(absl::StrContains(doubtful.status().message(), says))
          << doubtful.status();
    }
    EXPECT_FALSE(LoadSet(file({"1", "2"}), {.limit = 1}).ok());
    EXPECT_FALSE(LoadSet(file({"a", "1", "2"}), {}).ok());
    // Decided by a word, or by a 0 anywhere; letters need neither.
    const auto from_1 = LoadSet(file({"1", "2"}), {.kind = "choice-from-1"});
    ASSERT_TRUE(from_1.ok()) << from_1.status();
    EXPECT_EQ(from_1->problems[0].reference.answer, "A");
    const auto from_0 = LoadSet(file({"1", "2"}), {.kind = "choice-from-0"});
    ASSERT_TRUE(from_0.ok()) << from_0.status();
    EXPECT_EQ(from_0->problems[0].reference.answer, "B");
    const auto zero = LoadSet(file({"1", "2", "0"}), {.limit = 2});
    ASSERT_TRUE(zero.ok()) << zero.status();
    EXPECT_EQ(zero->problems[1].reference.answer, "C");
    const auto letters = LoadSet(file({"B", "c"}), {});
    ASSERT_TRUE(letters.ok()) << letters.status();
    EXPECT_EQ(letters->problems[0].reference.answer, "B");
    // An index one too large is reported as always.
    const auto three = LoadSet(file({"1", "3"}), {});
    ASSERT_FALSE(three.ok());
    EXPECT_TRUE(
        absl::StrContains(three.status().message(),
                          "from_1.csv:3: the right option 3 is not one"))
        << three.status();
  }
}

// 1,000 records tell how right options are counted: a 0 among them is seen, one
// behind them is not.
TEST(ChoiceSets, AThousandRecordsAreReadAhead) {
  const auto file = [](size_t before) {
    std::string text = "question,option1,option2,option3,answer\n";
    for (size_t i = 0; i < before; ++i) {
      absl::StrAppend(&text, "Q?,a,b,c,", 1 + i % 2, "\n");
    }
    return WriteTestFile("ahead.csv", text + "Q?,a,b,c,0\n");
  };
  const auto seen = LoadSet(file(999), {.limit = 1});
  ASSERT_TRUE(seen.ok()) << seen.status();
  EXPECT_EQ(seen->problems[0].reference.answer, "B");
  const auto unseen = LoadSet(file(1000), {.limit = 1});
  ASSERT_FALSE(unseen.ok());
  EXPECT_TRUE(
      absl::StrContains(unseen.status().message(), "--kind choice-from-1"))
      << unseen.status();
}

// A bad record that was read ahead is reported only when a later record is
// returned.
TEST(ChoiceSets, BadRecordsBeyondTheLimitAreNotReported) {
  const std::string good =
      R"j({"question": "Q", "choices": ["a", "b", "c"], "answer": 1})j";
  const std::string path = WriteTestFile(
      "lim.jsonl", absl::StrCat(good, "\nbad\n", good, "\n", good,
                                "\nworse\nworst\n", good, "\nlast\n"));
  const int skipped[] = {4, 0, 1, 1, 3};  // by limit; 0 is no limit
  for (int limit = 0; limit <= 4; ++limit) {
    const auto reader = SetReader::Open(path, {.limit = limit});
    ASSERT_TRUE(reader.ok()) << reader.status();
    while (true) {
      const auto record = (*reader)->Next();
      ASSERT_TRUE(record.ok()) << record.status();
      if (!*record) break;
    }
    const ReadReport& report = (*reader)->report();
    EXPECT_EQ(report.read, limit == 0 ? 4 : limit);
    EXPECT_EQ(report.skipped, skipped[limit]) << limit;
    EXPECT_EQ(report.errors.size(), static_cast<size_t>(report.skipped));
    if (report.skipped > 0) {
      EXPECT_TRUE(absl::StrContains(report.errors[0], "lim.jsonl:2: "));
    }
  }
}

// Every column name in the tables determines the kind.
TEST(ChoiceSets, EveryNameOfAColumnTellsTheKind) {
  const std::pair<const char*, const char*> columns[] = {
      {"A", "B"},
      {"opa", "opb"},
      {"optionA", "optionB"},
      {"option_a", "option_b"},
      {"option1", "option2"},
      {"option_1", "option_2"},
      {"choice1", "choice2"},
      {"choice_a", "choice_b"},
      {"answerA", "answerB"},
      {"answer0", "answer1"},
      {"sol1", "sol2"},
      {"ending0", "ending1"},
      {"ans0", "ans1"}};
  for (const auto& [first, second] : columns) {
    const nlohmann::json fields = {
        {"question", "Q?"}, {first, "x"}, {second, "y"}, {"label", "B"}};
    const auto kind = RecogniseKind(fields);
    ASSERT_TRUE(kind.ok()) << first << ": " << kind.status();
    EXPECT_EQ((*kind)->name, "mmlu") << first;
    const auto read = ReadAs(**kind, {.place = "f:1", .fields = fields});
    ASSERT_TRUE(read.ok()) << first << ": " << read.status();
    EXPECT_EQ(read->answer, "B");
    for (const char* name : {"choice-from-0", "choice-from-1"}) {
      const auto counted =
          ReadAs(**FindKind(name), {.place = "f:1", .fields = fields});
      EXPECT_TRUE(counted.ok()) << first << ": " << counted.status();
    }
  }
  for (const char* list :
       {"options", "choices", "possible answers", "endings"}) {
    const nlohmann::json fields = {
        {"question", "Q?"}, {list, {"x", "y"}}, {"label", "B"}};
    const auto kind = RecogniseKind(fields);
    ASSERT_TRUE(kind.ok()) << list << ": " << kind.status();
    EXPECT_EQ((*kind)->name, "choice") << list;
  }
  // And every column name for the right option.
  const std::string golds((*FindKind("choice"))->gold);
  for (const char* gold :
       {"correct", "label", "answer_index", "answer_idx", "correct_index",
        "correct_idx", "gold_index", "cop", "correct_option", "answer", "gold",
        "expected_answer", "answerKey", "correct_answer", "target"}) {
    EXPECT_TRUE(absl::StrContains(golds, absl::StrCat("\"", gold, "\"")));
  }
  EXPECT_TRUE(absl::EndsWith(golds, " or \"target\"")) << golds;
}

TEST(ChoiceSets, OptionsInATextAreReadAsRecordsAre) {
  // Long numbers keep all digits.
  const auto digits = LoadSet(
      WriteTestFile(
          "digits.jsonl",
          R"j({"question": "Q", "options": "[12345678901234567890123, 12345678901234567890124]", "answer": "B"}
{"question": "R", "options": "{\"A\": 12345678901234567890123, \"B\": 7}", "answer": "A"}
{"question": "S", "options": "[A] one, [B] two", "answer": "A"}
{"question": "T", "options": "{A) one, B) two", "answer": "A"})j"),
      {});
  ASSERT_TRUE(digits.ok()) << digits.status();
  ASSERT_EQ(digits->problems.size(), 2u);
  EXPECT_EQ(digits->problems[0].problem.question,
            "Q\nA. 12345678901234567890123\nB. 12345678901234567890124");
  EXPECT_EQ(digits->problems[1].problem.question,
            "R\nA. 12345678901234567890123\nB. 7");
}

TEST(ChoiceSets, WhatTheQuestionIsAboutIsReadBeforeIt) {
  for (const char* column : {"context", "passage", "article"}) {
    const auto set = LoadSet(
        WriteTestFile(
            "about.jsonl",
            absl::StrCat(
                R"j({"question": "Who ran?", "options": ["Mo", "Jo"], "answer": "A", ")j",
                column, R"j(": " Mo ran.\n"})j")),
        {.strict = true});
    ASSERT_TRUE(set.ok()) << set.status();
    EXPECT_EQ(set->problems[0].problem.question,
              "Mo ran.\nWho ran?\nA. Mo\nB. Jo");
  }
}

struct Bad {
  const char* text;
  const char* says;
};

TEST(ChoiceSets, AmbiguousGoldIsRefused) {
  const Bad bad[] = {
      {R"j({"question": "Q", "options": ["1", "2", "3"], "answer": "2"})j",
       "names one option by its text and another as an index"},
      {R"j({"question": "Q", "options": [1, 2, 3, 4], "answer": 3})j",
       "names one option by its text and another as an index"},
      {R"j({"question": "Q", "options": ["1", "2"], "answer": "C"})j",
       "neither the letter nor the text of one of the 2 options"},
      {R"j({"question": "Q", "choices": ["1", "2"], "answer": 2})j",
       "is not one of the 2 options"},
      {R"j({"question": "Q", "choices": ["1"], "answer": 0})j",
       "expected 2 to 26 options, found 1"},
      {R"j({"question": "Q", "choices": ["1", " "], "answer": 0})j",
       "option B is empty"},
      {R"j({"question": "Q", "options": "one or two", "correct": "A"})j",
       "one text without \"A)\""},
      {R"j({"question": "Q", "choices": {"text": ["a"]}, "answerKey": "A"})j",
       "neither texts nor numbers nor texts by letter"},
      {R"j({"question": "Q", "choices": {"text": ["a", "b"], "label": ["1", "2"]}, "answerKey": "3"})j",
       "the right option \"3\" is not one of 1, 2"},
      {R"j({"question": "Q", "choices": {"text": ["a", "b"], "label": ["A", "A"]}, "answerKey": "A"})j",
       "expected one label per option"},
      {R"j({"question": "Q", "options": {"A": "x", "why": "y"}, "answer": "A"})j",
       "neither texts nor numbers nor texts by letter"},
      {R"j({"question": "Q", "options": ["x", "y", "z"], "answer": "B", "answer_index": 2})j",
       "\"answer_index\" names option C and \"answer\" option B"},
      {R"j({"question": "Q", "options": ["x", "y", "z"], "answer": "z", "answer_idx": "B"})j",
       "\"answer_idx\" names option B and \"answer\" option C"},
      {R"j({"question": "Q", "choices": ["w", "x", "y", "z"], "answer": 1, "correct_answer": "2"})j",
       "\"answer\" names option B and \"correct_answer\" option C"},
      {R"j({"question": "Q", "choices": ["w", "x", "y", "z"], "label": 0, "answer": 2})j",
       "\"label\" names option A and \"answer\" option C"},
      {R"j({"question": "Short", "problem": "Another text", "choices": ["w", "x"], "answer": 1})j",
       "\"question\" and \"problem\" hold different texts"},
      {R"j({"question": "Q", "options": [], "answer": "B"})j",
       "no options, and the answer \"B\" is the letter of one"},
      {R"j({"question": ["1+2?", "2+2?"], "answer": ["3", "4"]})j",
       "\"question\" is a list"},
      {R"j({"question": "", "choices": ["a", "b"], "answer": 0})j",
       "question is empty"},
      {R"j({"question": "Q", "options": "{\"A\":\"x\",\"A\":\"y\",\"B\":\"z\"}", "answer": "A"})j",
       "gives \"A\" twice"},
      {R"j({"question": "Q", "options": "[{\"A\":\"x\",\"A\":\"y\"},{\"B\":\"z\"}]", "answer": "A"})j",
       "gives \"A\" twice"},
      {R"j({"question": "Q", "options": {"A": "x", "A": "y", "B": "z"}, "answer": "A"})j",
       "gives \"A\" twice"},
  };
  for (const Bad& one : bad) {
    SCOPED_TRACE(one.text);
    const auto set =
        LoadSet(WriteTestFile("bad.jsonl", one.text), {.strict = true});
    ASSERT_FALSE(set.ok());
    EXPECT_TRUE(absl::StrContains(set.status().message(), "bad.jsonl:1: "))
        << set.status();
    EXPECT_TRUE(absl::StrContains(set.status().message(), one.says))
        << set.status();
  }
}

}  // namespace
}  // namespace espalier
