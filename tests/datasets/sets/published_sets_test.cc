// Every published format, by a small file in that format, and the public files
// themselves.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "datasets/answers/grade.h"
#include "datasets/sets/labelled_steps.h"
#include "datasets/sets/problem_set.h"
#include "datasets/tasks/task_registry.h"
#include "nlohmann/json.hpp"
#include "tests/datasets/data_files.h"

namespace espalier {
namespace {

struct Format {
  const char* what;
  const char* file;
  const char* text;
  const char* kind;
  const char* task;
  const char* id;  // "": file and line
  const char* question;
  const char* answer;
};

// The first record of each is compared.
const Format kFormats[] = {
    {"GSM8K", "gsm8k.jsonl",
     R"j({"question": "2 and 3?", "answer": "2+3=<<2+3=5>>5\n#### 1,005"})j",
     "gsm8k", "qa", "", "2 and 3?", "1005"},
    {"MATH, a file a problem", "algebra1.json",
     R"j({
  "problem": "What is $x$?",
  "level": "Level 5",
  "type": "Algebra",
  "solution": "First $\\boxed{1}$, then $\\boxed{\\frac{1}{x^{2}}}$."
})j",
     "math", "qa", "", "What is $x$?", "\\frac{1}{x^{2}}"},
    {"MATH, box without braces", "algebra2.json",
     R"j({"problem": "P", "level": "Level 1", "type": "Algebra", "solution": "So $\\boxed 7$."})j",
     "math", "qa", "", "P", "7"},
    {"MATH-500", "math500.jsonl",
     R"j({"problem": "P", "solution": "s", "answer": "\\left( 3, \\frac{\\pi}{2} \\right)", "subject": "Precalculus", "level": 2, "unique_id": "test/precalculus/807.json"})j",
     "math500", "qa", "test/precalculus/807.json", "P",
     "\\left( 3, \\frac{\\pi}{2} \\right)"},
    {"AIME with other cases", "aime.jsonl",
     R"j({"ID": "2024-II-4", "Problem": "P", "Solution": "s", "Answer": 33})j",
     "competition", "qa", "2024-II-4", "P", "33"},
    {"AIME with leading zeros", "aime2.jsonl",
     R"j({"id": 60, "problem": "P", "solution": "s", "answer": "033", "url": "u"})j",
     "competition", "qa", "60", "P", "33"},
    {"AMC", "amc.jsonl",
     R"j({"id": 0, "problem": "P", "answer": 142.0, "url": "u"})j",
     "competition", "qa", "0", "P", "142"},
    {"SVAMP", "SVAMP.json",
     R"j([
    {
        "ID": "chal-1",
        "Body": "Each pack costs 76 dollars. There is a discount of 25 dollars on each pack",
        "Question": "How much do you pay?",
        "Equation": "( 76.0 - 25.0 )",
        "Answer": 51.0,
        "Type": "Subtraction"
    }
])j",
     "svamp", "qa", "chal-1",
     "Each pack costs 76 dollars. There is a discount of 25 dollars on each "
     "pack. How much do you pay?",
     "51"},
    {"OlympiadBench", "OE_TO_maths_en_COMP.json",
     R"j([{"id": 1606, "subfield": "Algebra", "context": null, "question": "Q", "solution": ["s"], "final_answer": ["2", "-3"], "is_multiple_answer": true, "unit": null, "answer_type": "Numerical", "error": null}])j",
     "olympiadbench", "qa", "1606", "Q", "2, -3"},
    {"HumanEval", "HumanEval.jsonl",
     R"j({"task_id": "HumanEval/0", "prompt": "def f():\n", "entry_point": "f", "canonical_solution": "    return 1\n", "test": "def check(candidate):\n    assert candidate() == 1\n"})j",
     "humaneval", "python", "HumanEval/0", "def f():\n", ""},
    {"MBPP", "mbpp.jsonl",
     R"j({"text": "Write a function.", "code": "def f(): pass", "task_id": 11, "test_setup_code": "", "test_list": ["assert f() is None", "assert 1"], "challenge_test_list": []})j",
     "mbpp", "python", "11",
     "Write a function.\nThe program must pass these tests:\n"
     "assert f() is None\nassert 1\n",
     ""},
    {"MBPP, sanitized", "sanitized-mbpp.json",
     R"j([{"source_file": "B 2.ipynb", "task_id": 2, "prompt": "Write.", "code": "c", "test_imports": [], "test_list": ["assert 1"]}])j",
     "mbpp", "python", "2",
     "Write.\nThe program must pass these tests:\nassert 1\n", ""},
    {"APPS", "test.jsonl",
     R"j({"id": 7, "question": "Echo.", "solutions": "[\"print(input())\"]", "input_output": "{\n  \"inputs\": [\n    \"1\\n\"\n  ],\n  \"outputs\": [\n    \"1\\n\"\n  ]\n}", "difficulty": "interview", "url": "u", "starter_code": ""})j",
     "input", "python", "7",
     "Echo.\n\nWrite a Python program that reads standard input and writes to "
     "standard output.\n",
     ""},
    {"input and output", "input.jsonl",
     R"j({"question": "Echo.", "tests": [{"input": "7", "output": "7"}], "public_tests": [{"input": "1", "output": "1"}]})j",
     "input", "python", "",
     "Echo.\n\nWrite a Python program that reads standard input and writes to "
     "standard output.\n\nExample input:\n```\n1\n```\nExample output:\n"
     "```\n1\n```\n",
     ""},
    {"Game of 24", "24.csv",
     "Rank,Puzzles,AMT (s),Solved rate,1-sigma Mean (s),1-sigma STD (s)\n"
     "1,1 1 4 6,4.4,99.20%,4.67,1.48\n",
     "game24", "game24", "", "Make 24 from 1, 1, 4 and 6.", "24"},
    {"verl", "verl.jsonl",
     R"j({"data_source": "openai/gsm8k", "prompt": [{"role": "user", "content": "2 and 3? Think step by step."}], "ability": "math", "reward_model": {"style": "rule", "ground_truth": "5"}, "extra_info": {"split": "train", "index": 0, "question": "2 and 3?", "answer": "2+3=5\n#### 5"}})j",
     "verl", "qa", "", "2 and 3? Think step by step.", "5"},
    {"verl with a system's words", "dapo.jsonl",
     R"j({"data_source": "math_dapo", "prompt": [{"role": "system", "content": "Box it."}, {"role": "user", "content": "Half of 9?"}], "ability": "MATH", "reward_model": {"ground_truth": "[\"9/2\"]", "style": "rule-lighteval/MATH_v2"}, "extra_info": {"index": "a7"}})j",
     "verl", "qa", "", "Box it.\n\nHalf of 9?", "9/2"},
    {"verl with a list of one", "deepmath.jsonl",
     R"j({"prompt": [{"role": "user", "content": "70+2?"}], "reward_model": {"style": "rule", "ground_truth": ["72"]}})j",
     "verl", "qa", "", "70+2?", "72"},
    {"NeMo-Skills", "nemo.jsonl",
     R"j({"problem": "What is $x$?", "expected_answer": "\\frac{1}{2}", "level": 3, "reference_solution": "r"})j",
     "nemo", "qa", "", "What is $x$?", "\\frac{1}{2}"},
    {"OpenMathInstruct-2", "openmath.jsonl",
     R"j({"problem": "P", "generated_solution": "g", "expected_answer": "7", "problem_source": "augmented_math"})j",
     "nemo", "qa", "", "P", "7"},
    {"NeMo Gym", "gym.jsonl",
     R"j({"responses_create_params": {"input": [{"role": "user", "content": "1+1?"}]}, "expected_answer": 2})j",
     "nemo", "qa", "", "1+1?", "2"},
    {"MultiArith", "MultiArith.json",
     R"j([
    {
        "iIndex": 0,
        "lAlignments": [4, 12],
        "lEquations": ["X=(4.0+9.0)"],
        "lSolutions": [13.0],
        "sQuestion": " 4 cats meet 9 dogs. How many are they? "
    }
])j",
     "mawps", "qa", "", "4 cats meet 9 dogs. How many are they?", "13"},
    {"MAWPS with solutions in words", "mawps.json",
     R"j([{"iIndex": 8, "ParentIndex": 8, "lEquations": ["X = 4 + 9"], "lSolutions": ["13"], "sQuestion": "4 and 9 ? "}])j",
     "mawps", "qa", "", "4 and 9 ?", "13"},
    {"MAWPS in MWPToolkit", "testset.json",
     R"j([{"id": 2351, "original_text": "12 by 4 ?", "segmented_text": "12 by 4 ?", "equation": "X=(12.0/4.0)", "ans": 3.0}])j",
     "mawps", "qa", "2351", "12 by 4 ?", "3"},
    {"MAWPS beside SVAMP", "dev.csv",
     "Question,Numbers,Equation,Answer,group_nums,Body,Ques_Statement\n"
     "\"Each of number0 bags , of number1 lb , a number ?\",56.0 0.25,"
     "* number0 number1,14.0,\"[1, 2]\",B,Q\n",
     "numbers", "qa", "", "Each of 56 bags , of 0.25 lb , a number ?", "14"},
    {"MAWPS with marks for numbers", "fold1.csv",
     "Question,Numbers,Equation,Answer\n"
     "N_00 figs in N_01 bags of N_00 ?,56.0 0.25,N_00 * N_01,14.0\n",
     "numbers", "qa", "", "56 figs in 0.25 bags of 56 ?", "14"},
    {"MAWPS with marks and a list", "fold2.json",
     R"j([{"original_text": "N_00 by N_01 or MEAN_00 ?", "num_list": [12, 4.5], "equation": "x=N_00/N_01", "ans": 3}])j",
     "mawps", "qa", "", "12 by 4.5 or MEAN_00 ?", "3"},
    {"MultiArith at Hugging Face", "test.json",
     R"j([{"question": " 4 and 9? ", "final_ans": "13"}])j", "multiarith", "qa",
     "", "4 and 9?", "13"},
    {"MGSM", "mgsm_de.tsv",
     "\u201eWie viele?\u201c, fragt Ina mit 3 \"K\u00e4sten\" zu 400.\t1,200\n"
     "Und?\t7\n",
     "mgsm", "qa", "",
     "\u201eWie viele?\u201c, fragt Ina mit 3 \"K\u00e4sten\" zu 400.", "1200"},
    {"MGSM at Hugging Face", "mgsm.jsonl",
     R"j({"question": "3 Eier?", "answer": null, "answer_number": 3, "equation_solution": null})j",
     "mgsm", "qa", "", "3 Eier?", "3"},
    {"GSM-Hard", "gsmhardv2.jsonl",
     R"j({"input": "2 times 70000?", "code": "def solution(): return 140000", "target": 140000.0})j",
     "target", "qa", "", "2 times 70000?", "140000"},
    {"plain", "plain.jsonl",
     R"j({"question": "North of all?", "answer": "North Pole"})j", "plain",
     "qa", "", "North of all?", "North Pole"},
    {"plain without answer", "questions.jsonl", R"j({"question": "Why?"})j",
     "plain", "qa", "", "Why?", ""},
    {"plain CSV", "plain.csv",
     "id,question,answer\r\nq1,\"Say \"\"a, b\"\"\r\ntwice\",12\r\n", "plain",
     "qa", "q1", "Say \"a, b\"\r\ntwice", "12"},
    {"TSV", "plain.tsv", "question\tanswer\nA, or B?\tA\n", "plain", "qa", "",
     "A, or B?", "A"},
    {"an object that holds the list", "held.json",
     "{\"version\": {\"a\": [1]}, \"data\": [\n{\"question\": \"Q]}\", "
     "\"answer\": 4},\n{\"question\": \"R\"}], \"n\": 2}",
     "plain", "qa", "", "Q]}", "4"},
    {"JSON lines called .json", "lines.json",
     "{\"question\": \"Q\", \"answer\": 4, \"from\": [{\"a\": 1}]}\n"
     "{\"question\": \"R\", \"answer\": 5, \"from\": [{\"a\": 1}]}\n",
     "plain", "qa", "", "Q", "4"},
    {"a list called .jsonl", "list.jsonl",
     "[{\"question\": \"Q\", \"answer\": 4}]", "plain", "qa", "", "Q", "4"},
    {"no ending", "questions", "{\"question\": \"Q\", \"answer\": 4}\n",
     "plain", "qa", "", "Q", "4"},
    {"a number of 30 digits", "big.jsonl",
     R"j({"question": "Q", "answer": 123456789012345678901234567890})j",
     "plain", "qa", "", "Q", "123456789012345678901234567890"},
};

TEST(PublishedSets, EveryFormatIsRecognised) {
  for (const Format& format : kFormats) {
    SCOPED_TRACE(format.what);
    // Plain, with a byte order mark, and gzipped.
    const std::string plain = WriteTestFile(format.file, format.text);
    const std::string marked =
        WriteTestFile(std::string("bom/") + format.file,
                      std::string("\xEF\xBB\xBF") + format.text);
    const std::string zipped =
        WriteTestFile(std::string(format.file) + ".gz", Gzipped(format.text));
    for (const std::string& path : {plain, marked, zipped}) {
      const auto reader = SetReader::Open(path, {.strict = true});
      ASSERT_TRUE(reader.ok()) << reader.status();
      const auto record = (*reader)->Next();
      ASSERT_TRUE(record.ok()) << record.status();
      ASSERT_TRUE(record->has_value());
      EXPECT_EQ((*reader)->kind()->name, format.kind);
      EXPECT_EQ((*record)->id,
                *format.id == '\0' ? (*record)->place : format.id);
      const auto set = LoadSet(path, {.strict = true});
      ASSERT_TRUE(set.ok()) << set.status();
      EXPECT_EQ(set->task, format.task);
      EXPECT_EQ(set->problems[0].problem.question, format.question);
      EXPECT_EQ(set->problems[0].reference.answer, format.answer);
      EXPECT_TRUE(set->notes.empty());
    }
  }
}

TEST(PublishedSets, ColumnsCanBeNamed) {
  const std::string path = WriteTestFile("odd.jsonl",
                                         "{\"q\": {\"text\": \"Q\"}, \"gold\": "
                                         "\"so $\\\\boxed{4}$\", \"n\": 7}\n");
  const auto unknown = LoadSet(path, {});
  ASSERT_FALSE(unknown.ok());
  EXPECT_NE(unknown.status().message().find("\"gold\", \"n\", \"q\""),
            absl::string_view::npos)
      << unknown.status();
  EXPECT_NE(unknown.status().message().find("--columns"),
            absl::string_view::npos);
  const auto set = LoadSet(
      path,
      {.columns = {{"question", "q.text"}, {"answer", "gold"}, {"id", "n"}}});
  ASSERT_TRUE(set.ok()) << set.status();
  EXPECT_EQ(set->problems[0].problem.question, "Q");
  EXPECT_EQ(set->problems[0].reference.answer, "4");
  EXPECT_EQ(set->problems[0].problem.id, "7");
  const auto wrong = LoadSet(path, {.columns = {{"question", "p"}}});
  ASSERT_FALSE(wrong.ok());
  EXPECT_NE(wrong.status().message().find("odd.jsonl:1: no column \"p\""),
            absl::string_view::npos)
      << wrong.status();
  // A kind other than the one the columns suggest.
  const auto math = LoadSet(
      WriteTestFile("m.jsonl",
                    "{\"problem\": \"P\", \"answer\": \"3\", \"solution\": "
                    "\"\\\\boxed{4}\"}\n"),
      {.kind = "math"});
  ASSERT_TRUE(math.ok()) << math.status();
  EXPECT_EQ(math->problems[0].reference.answer, "4");
}

TEST(PublishedSets, WhatTheQuestionIsAboutIsReadBeforeIt) {
  const auto question = [](const std::string& record) {
    const auto set =
        LoadSet(WriteTestFile("about.jsonl", record), {.strict = true});
    return set.ok() ? set->problems[0].problem.question
                    : std::string(set.status().message());
  };
  EXPECT_EQ(question(R"j({"question": "Who?", "context": "Mo ran.", )j"
                     R"j("answers": {"text": ["Mo"]}})j"),
            "Mo ran.\nWho?");
  EXPECT_EQ(question(R"j({"question": "Who?", "passage": "Mo ran.", )j"
                     R"j("answer": "Mo"})j"),
            "Mo ran.\nWho?");
  EXPECT_EQ(
      question(R"j({"question": "Who?", "context": ["Mo ran.", "Jo."]})j"),
      "Mo ran.\nJo.\nWho?");
  // Not twice, and not where there is no context.
  EXPECT_EQ(question(R"j({"question": "Mo ran. Who?", "context": "Mo ran."})j"),
            "Mo ran. Who?");
  EXPECT_EQ(question(R"j({"question": "Who?", "context": null})j"), "Who?");
  const std::string refused =
      question(R"j({"question": "Who?", "context": {"text": "Mo ran."}})j");
  EXPECT_TRUE(absl::StrContains(refused, "\"context\" is neither a text"))
      << refused;
  EXPECT_TRUE(absl::StrContains(refused, "--columns context=context.NAME"))
      << refused;
}

TEST(PublishedSets, OneOfVerlsAnswersIsEnough) {
  // A list, and JSON in a text.
  for (const char* truth : {R"j(["1", 2])j", R"j("[\"1\", \"2\"]")j"}) {
    SCOPED_TRACE(truth);
    const auto set = LoadSet(
        WriteTestFile("verl.jsonl",
                      absl::StrCat(R"j({"prompt": [{"role": "user", )j"
                                   R"j("content": "A root of x^2-3x+2?"}], )j"
                                   R"j("reward_model": {"ground_truth": )j",
                                   truth, "}}\n")),
        {.strict = true});
    ASSERT_TRUE(set.ok()) << set.status();
    const GradedProblem& one = set->problems[0];
    const Verifier& verifier = **FindVerifier(set->task);
    const auto right = [&](const char* response) {
      return verifier.Check(one.problem, one.reference, response).correct;
    };
    EXPECT_TRUE(right("\\boxed{1}"));
    EXPECT_TRUE(right("The answer is 2."));
    EXPECT_FALSE(right("\\boxed{3}"));
    EXPECT_FALSE(right("\\boxed{12}"));
  }
}

TEST(PublishedSets, LabelledStepsNameTheCommandsThatReadThem) {
  for (
      const char* line :
      {R"j({"id": "gsm8k-0", "problem": "P", "steps": ["a", "b"], "label": 1})j",
       R"j({"question": {"problem": "P"}, "label": {"steps": [{}]}})j",
       R"j({"input": "P Step 1: a", "label": "P Step 1: a +"})j",
       R"j({"prompt": "P", "completions": ["a"], "labels": [true]})j"}) {
    SCOPED_TRACE(line);
    const std::string path = WriteTestFile("steps.jsonl", line);
    const auto set = LoadSet(path, {});
    ASSERT_FALSE(set.ok());
    for (const std::string& part :
         {absl::StrCat(path, ":1: expected a problem"),
          absl::StrCat("espalier steps --set ", path),
          absl::StrCat("bench-reward --processbench ", path)}) {
      EXPECT_TRUE(absl::StrContains(set.status().message(), part))
          << set.status();
    }
  }
  const auto pairs =
      LoadSet(WriteTestFile("prmtest.jsonl",
                            R"j({"idx": "1", "modified_question": "P", )j"
                            R"j("modified_process": ["a"]})j"),
              {});
  EXPECT_TRUE(absl::StrContains(pairs.status().message(), "--prmbench"))
      << pairs.status();
}

TEST(PublishedSets, MessagesUnderInputAreNemosQuestion) {
  const auto set = LoadSet(
      WriteTestFile("input.jsonl",
                    R"j({"input": [{"role": "user", "content": "2+3?"}], )j"
                    R"j("expected_answer": "5"})j"),
      {.strict = true});
  ASSERT_TRUE(set.ok()) << set.status();
  EXPECT_EQ(set->problems[0].problem.question, "2+3?");
  EXPECT_EQ(set->problems[0].reference.answer, "5");
}

TEST(PublishedSets, FurtherColumnsReachTheGrader) {
  const auto set = LoadSet(
      WriteTestFile("code.jsonl",
                    "{\"text\": \"W\", \"task_id\": 1, \"test_list\": "
                    "[\"assert f(1)\", \"assert f(2)\"], \"code\": \"c\"}\n"),
      {});
  ASSERT_TRUE(set.ok()) << set.status();
  const auto& fields = set->problems[0].reference.fields;
  EXPECT_EQ(fields.at("code"), "c");
  EXPECT_EQ(nlohmann::json::parse(fields.at("test_list"))[1], "assert f(2)");
}

TEST(PublishedSets, AFolderIsReadInTheOrderOfItsPaths) {
  WriteTestFile("MATH/train/b/1.json",
                R"j({"problem": "B", "solution": "\\boxed{2}"})j");
  WriteTestFile("MATH/train/a/2.json",
                R"j({"problem": "A", "solution": "\\boxed{1}"})j");
  const std::string other =
      WriteTestFile("MATH/train/readme.txt", "not a problem");
  const auto set = LoadSet(other.substr(0, other.rfind('/')), {.strict = true});
  ASSERT_TRUE(set.ok()) << set.status();
  ASSERT_EQ(set->problems.size(), 2u);
  EXPECT_EQ(set->problems[0].reference.answer, "1");
  EXPECT_EQ(set->problems[1].reference.answer, "2");
}

struct PublicSet {
  const char* file;
  size_t count;
  const char* kind;
  bool numbers;  // every answer is a number
};

TEST(PublishedSets, PublicFilesAreReadWhole) {
  SKIP_WITHOUT_PUBLIC_DATA();
  const PublicSet sets[] = {
      {"math/gsm8k_train.jsonl", 7473, "gsm8k", true},
      {"math/gsm8k_test.jsonl", 1319, "gsm8k", true},
      {"math/math500.jsonl", 500, "math500", false},
      {"math/aime24.jsonl", 30, "competition", true},
      {"code/HumanEval.jsonl.gz", 164, "humaneval", false},
      {"code/HumanEvalPlus-OriginFmt.jsonl.gz", 164, "humaneval", false},
      {"code/mbpp.jsonl", 974, "mbpp", false},
      {"puzzles/game24.csv", 1362, "game24", true},
  };
  for (const PublicSet& expected : sets) {
    SCOPED_TRACE(expected.file);
    const std::string path = PublicData() + "/" + expected.file;
    const auto reader = SetReader::Open(path, {.strict = true});
    ASSERT_TRUE(reader.ok()) << reader.status();
    std::set<std::string> ids;
    while (true) {
      const auto record = (*reader)->Next();
      ASSERT_TRUE(record.ok()) << record.status();
      if (!*record) break;
      ids.insert((*record)->id);
      EXPECT_FALSE((*record)->question.empty());
      EXPECT_TRUE(!expected.numbers || ParseNumber((*record)->answer));
      if ((*reader)->kind()->task == "qa") {
        EXPECT_FALSE((*record)->answer.empty());
      } else if ((*reader)->kind()->name != "game24") {
        EXPECT_FALSE((*record)->solution.empty());
      }
    }
    EXPECT_EQ(ids.size(), expected.count);
    EXPECT_EQ((*reader)->kind()->name, expected.kind);
    EXPECT_EQ((*reader)->report().skipped, 0);
  }
}

// The answers published with MATH are the last boxes of its solutions.
TEST(PublishedSets, SolutionsOfMathEndInTheirPublishedAnswers) {
  SKIP_WITHOUT_PUBLIC_DATA();
  const std::string path = PublicData() + "/math/math500.jsonl";
  const auto by_answer = LoadSet(path, {});
  const auto by_solution = LoadSet(path, {.kind = "math"});
  ASSERT_TRUE(by_answer.ok() && by_solution.ok()) << by_solution.status();
  ASSERT_EQ(by_solution->problems.size(), 500u);
  int equal = 0;
  const auto squeeze = [](std::string text) {
    std::erase_if(text, [](char c) { return c == ' ' || c == '!'; });
    return text;
  };
  for (size_t i = 0; i < 500; ++i) {
    equal += squeeze(by_answer->problems[i].reference.answer) ==
             squeeze(by_solution->problems[i].reference.answer);
  }
  EXPECT_GE(equal, 490);  // the others differ in \dfrac, \text{} and the like
}

TEST(LabelledSteps, ProcessBench) {
  const std::string path = WriteTestFile(
      "processbench.json",
      R"j([{"id": "gsm8k-0", "generator": "g", "problem": "P", "steps": ["a", "b", "c"], "final_answer_correct": false, "label": 1},
          {"id": "gsm8k-1", "generator": "g", "problem": "P", "steps": ["a"], "final_answer_correct": true, "label": -1},
          {"id": "gsm8k-2", "generator": "g", "problem": "P", "steps": ["a"], "final_answer_correct": true, "label": 1}])j");
  const auto reader = StepSetReader::Open(path, {});
  ASSERT_TRUE(reader.ok());
  auto one = (*reader)->Next();
  ASSERT_TRUE(one.ok() && *one) << one.status();
  EXPECT_EQ((*one)->id, "gsm8k-0");
  EXPECT_EQ((*one)->first_error, 1);
  EXPECT_EQ((*one)->final_correct, false);
  EXPECT_EQ((*one)->labels,
            (std::vector<StepLabel>{StepLabel::kRight, StepLabel::kWrong,
                                    StepLabel::kUnknown}));
  one = (*reader)->Next();
  ASSERT_TRUE(one.ok() && *one) << one.status();
  EXPECT_EQ((*one)->first_error, -1);
  EXPECT_EQ((*one)->final_correct, true);
  one = (*reader)->Next();
  ASSERT_TRUE(one.ok());
  EXPECT_FALSE(*one);
  EXPECT_EQ((*reader)->report().skipped, 1);
  EXPECT_NE((*reader)->report().errors[0].find("processbench.json:3"),
            std::string::npos);
  EXPECT_EQ((*reader)->report().kind, "processbench");
}

TEST(LabelledSteps, StepwiseLinesOfTrl) {
  const std::string path = WriteTestFile(
      "stepwise.jsonl",
      R"j({"prompt": "P", "completions": ["a\n", "b", "c"], "labels": [true, null, 0]}
{"prompt": "P", "completions": ["a\n"], "labels": [true]}
{"prompt": "P", "completions": ["a"], "labels": [0.5]}
{"prompt": "P", "completions": ["a"], "labels": []}
)j");
  EXPECT_TRUE(HoldsLabelledSteps(path));
  const auto reader = StepSetReader::Open(path, {});
  ASSERT_TRUE(reader.ok());
  auto one = (*reader)->Next();
  ASSERT_TRUE(one.ok() && *one) << one.status();
  EXPECT_EQ((*one)->problem, "P");
  EXPECT_EQ((*one)->first_error, 2);
  EXPECT_EQ((*one)->labels,
            (std::vector<StepLabel>{StepLabel::kRight, StepLabel::kUnknown,
                                    StepLabel::kWrong}));
  EXPECT_FALSE((*one)->final_correct);
  // Among such lines, one whose steps end with line ends is another of them.
  one = (*reader)->Next();
  ASSERT_TRUE(one.ok() && *one) << one.status();
  EXPECT_EQ((*one)->steps, std::vector<std::string>{"a\n"});
  EXPECT_FALSE(*(*reader)->Next());
  EXPECT_EQ((*reader)->report().skipped, 2);
  EXPECT_EQ((*reader)->report().kind, "trl-stepwise");
  // Espalier's own lines.
  for (
      const char* own :
      {R"j({"prompt": "P", "completions": ["a\n"], "labels": [true]})j",
       R"j({"prompt": "P", "completions": ["a"], "labels": [true], "values": [1]})j",
       R"j({"prompt": "P", "completions": ["a"], "labels": [true], "levels": {}})j"}) {
    EXPECT_FALSE(HoldsLabelledSteps(WriteTestFile("own.jsonl", own))) << own;
  }
}

// Of the file's ratings 55 are 1, 3 are 0 and 15 are -1; labellers wrote two
// steps themselves.
TEST(LabelledSteps, EveryRatingOfPrm800kIsReadOnce) {
  SKIP_WITHOUT_PUBLIC_DATA();
  const auto reader = StepSetReader::Open(
      PublicData() + "/prm/samples_prm800k.jsonl", {.strict = true});
  ASSERT_TRUE(reader.ok()) << reader.status();
  std::map<StepLabel, int> counts;
  std::set<std::string> ids;
  std::vector<LabelledSolution> all;
  while (true) {
    auto one = (*reader)->Next();
    ASSERT_TRUE(one.ok()) << one.status();
    if (!*one) break;
    all.push_back(**std::move(one));
  }
  for (const LabelledSolution& solution : all) {
    EXPECT_TRUE(ids.insert(solution.id).second) << solution.id;
    ASSERT_EQ(solution.steps.size(), solution.labels.size());
    for (size_t i = solution.shared; i < solution.labels.size(); ++i) {
      ++counts[solution.labels[i]];
    }
    if (!solution.other) continue;
    ASSERT_EQ(solution.shared + 1, solution.steps.size());
    EXPECT_FALSE(solution.final_correct);
  }
  EXPECT_EQ((*reader)->report().read, 6);
  EXPECT_EQ(counts[StepLabel::kRight], 55 + 2);
  EXPECT_EQ(counts[StepLabel::kNeutral], 3);
  EXPECT_EQ(counts[StepLabel::kWrong], 15);
  EXPECT_EQ(counts[StepLabel::kUnknown], 0);
  // The first record: five wrong completions of step 2, for which a labeller
  // wrote another one.
  ASSERT_GE(all.size(), 6u);
  EXPECT_EQ(all[0].labels[1], StepLabel::kRight);
  for (size_t i = 1; i <= 5; ++i) {
    EXPECT_EQ(all[i].first_error, 1);
    EXPECT_EQ(all[i].steps[0], all[0].steps[0]);
    EXPECT_NE(all[i].steps[1], all[0].steps[1]);
    EXPECT_EQ(all[i].problem, all[0].problem);
  }
}

TEST(LabelledSteps, PublicSamplesAreReadAsLabelled) {
  SKIP_WITHOUT_PUBLIC_DATA();
  // Read off the files by hand: steps, first wrong step, whether the final
  // answer is right.
  struct Expected {
    size_t steps;
    int first_error;
    std::optional<bool> correct;
  };
  const std::map<std::string, std::vector<Expected>> files = {
      {"samples_prm800k.jsonl",
       {{6, -1, true},
        {7, 6, false},
        {5, -1, true},
        {7, -1, true},
        {8, -1, std::nullopt},
        {12, -1, true}}},
  };
  for (const auto& [name, expected] : files) {
    const auto reader = StepSetReader::Open(PublicData() + "/prm/" + name,
                                            {.strict = true, .others = false});
    ASSERT_TRUE(reader.ok()) << reader.status();
    for (const Expected& e : expected) {
      const auto one = (*reader)->Next();
      ASSERT_TRUE(one.ok() && *one) << one.status();
      EXPECT_EQ((*one)->steps.size(), e.steps) << (*one)->place;
      EXPECT_EQ((*one)->labels.size(), e.steps) << (*one)->place;
      EXPECT_EQ((*one)->first_error, e.first_error) << (*one)->place;
      EXPECT_EQ((*one)->final_correct, e.correct) << (*one)->place;
    }
    EXPECT_FALSE(*(*reader)->Next());
  }
  const auto shepherd = StepSetReader::Open(
      PublicData() + "/prm/samples_math-shepherd.jsonl", {.strict = true});
  ASSERT_TRUE(shepherd.ok());
  std::vector<LabelledSolution> all;
  while (true) {
    auto one = (*shepherd)->Next();
    ASSERT_TRUE(one.ok()) << one.status();
    if (!*one) break;
    all.push_back(**std::move(one));
  }
  ASSERT_EQ(all.size(), 7u);
  EXPECT_EQ(all[0].steps.size(), 5u);
  EXPECT_TRUE(all[0].problem.starts_with("Janet pays $40/hour"));
  EXPECT_TRUE(all[0].problem.ends_with("in a year?"));
  EXPECT_TRUE(all[0].steps[1].starts_with("Step 2: She spends 40 * 3"));
  EXPECT_TRUE(all[0].steps[1].ends_with("per week."));
  EXPECT_EQ(all[0].labels,
            (std::vector<StepLabel>{StepLabel::kRight, StepLabel::kRight,
                                    StepLabel::kRight, StepLabel::kRight,
                                    StepLabel::kWrong}));
  EXPECT_EQ(all[0].first_error, 4);
  for (const LabelledSolution& solution : all) {
    EXPECT_EQ(solution.final_correct, false) << solution.place;
    for (size_t i = 0; i < solution.steps.size(); ++i) {
      EXPECT_TRUE(
          solution.steps[i].starts_with("Step " + std::to_string(i + 1) + ":"))
          << solution.steps[i];
    }
  }
}

}  // namespace
}  // namespace espalier
