// Options with letters of their own, and right options that do not tell which
// option is meant. The records are our own.
#include "datasets/sets/option_marks.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "datasets/sets/problem_set.h"
#include "tests/datasets/data_files.h"

namespace espalier {
namespace {

absl::StatusOr<ProblemSet> Read(const std::string& members) {
  return LoadSet(
      WriteTestFile("marks.jsonl",
                    absl::StrCat("{\"question\": \"Q\", ", members, "}\n")),
      {.strict = true});
}

struct Letters {
  const char* members;
  const char* question;
  const char* answer;
};

TEST(OptionMarks, AreTheLabelsOfOptionsInAnotherOrder) {
  const Letters cases[] = {
      {R"j("options": ["A)1", "C)2", "D)3"], "correct": "C")j",
       "Q\nA. 1\nB. 2\nC. 3", "B"},
      {R"j("options": ["A)1", "C)2", "D)3"], "correct": "D")j",
       "Q\nA. 1\nB. 2\nC. 3", "C"},
      {R"j("options": ["A)1", "C)2", "D)3"], "correct": "C)2")j",
       "Q\nA. 1\nB. 2\nC. 3", "B"},
      {R"j("options": ["B)1", "A)2"], "correct": "A")j", "Q\nA. 1\nB. 2", "B"},
      {R"j("options": ["(B) 1", "(A) 2"], "correct": "(A)")j", "Q\nA. 1\nB. 2",
       "B"},
      {R"j("options": ["b: 1", "a: 2"], "correct": "a")j", "Q\nA. 1\nB. 2",
       "B"},
      {R"j("options": ["B)x", "A)y"], "answer_index": 1)j", "Q\nA. x\nB. y",
       "B"},
      {R"j("options": ["A. 1", "C. 2", "D. 3"], "correct": "A")j",
       "Q\nA. A. 1\nB. C. 2\nC. D. 3", "A"},
      // Names, and Roman numbers.
      {R"j("options": ["J. Bach", "A. Berg", "C. Orff"], "answer": 1)j",
       "Q\nA. J. Bach\nB. A. Berg\nC. C. Orff", "B"},
      {R"j("options": ["J. Bach", "R. Wagner", "S. Saens"], "answer": "B")j",
       "Q\nA. J. Bach\nB. R. Wagner\nC. S. Saens", "B"},
      {R"j("options": ["I) x", "II) y", "III) z"], "answer": "B")j",
       "Q\nA. I) x\nB. II) y\nC. III) z", "B"},
  };
  for (const Letters& one : cases) {
    SCOPED_TRACE(one.members);
    const auto set = Read(one.members);
    ASSERT_TRUE(set.ok()) << set.status();
    EXPECT_EQ(set->problems[0].problem.question, one.question);
    EXPECT_EQ(set->problems[0].reference.answer, one.answer);
  }
}

struct MarkDoubt {
  const char* members;
  const char* says;
};

TEST(OptionMarks, ThatMayBeTextsAreRefusedWithALetter) {
  const MarkDoubt cases[] = {
      {R"j("options": ["A. 1", "C. 2", "D. 3"], "correct": "C")j",
       "may be option C of the list or the one that begins with C"},
      {R"j("options": ["A)1", "A)2"], "correct": "A")j",
       "may be option A of the list"},
      {R"j("options": ["A)1", "C)2", "3"], "correct": "C")j",
       "may be option C of the list"},
      {R"j("options": ["A)1", "C)2", "D)3"], "correct": "B")j",
       "the right option \"B\" is not one of A, C, D"},
  };
  for (const MarkDoubt& one : cases) {
    SCOPED_TRACE(one.members);
    const auto set = Read(one.members);
    ASSERT_FALSE(set.ok());
    EXPECT_TRUE(absl::StrContains(set.status().message(), one.says))
        << set.status();
  }
}

TEST(OptionMarks, ALetterThatIsAlsoATextIsRefused) {
  const auto set = Read(R"j("options": ["D", "A", "B", "C"], "answer": "A")j");
  ASSERT_FALSE(set.ok());
  EXPECT_TRUE(absl::StrContains(set.status().message(),
                                "one option by its letter and another by its "
                                "text"))
      << set.status();
  // Where the set letters its options, or gives an index, nothing is open.
  for (const char* members :
       {R"j("options": ["A) D", "B) A", "C) B"], "answer": "A")j",
        R"j("options": {"A": "D", "B": "A", "C": "B"}, "answer": "A")j",
        R"j("A": "D", "B": "A", "C": "B", "answer": "A")j",
        R"j("options": "A) D, B) A, C) B", "answer": "A")j",
        R"j("options": ["D", "A", "B"], "answer": "A", "answer_index": 0)j"}) {
    SCOPED_TRACE(members);
    const auto known = Read(members);
    ASSERT_TRUE(known.ok()) << known.status();
    EXPECT_EQ(known->problems[0].reference.answer, "A");
  }
}

TEST(OptionMarks, ARightOptionThatIsAlsoAWrongOneIsRefused) {
  for (
      const char* members :
      {R"j("options": ["A)1", "B)1", "C)2"], "correct": "B")j",
       R"j("Correct Answer": "no", "Incorrect Answer 1": "no", "Incorrect Answer 2": "yes")j"}) {
    SCOPED_TRACE(members);
    const auto set = Read(members);
    ASSERT_FALSE(set.ok());
    EXPECT_TRUE(absl::StrContains(set.status().message(),
                                  "has the same text as option"))
        << set.status();
  }
  const auto wrong =
      Read(R"j("options": ["A)1", "B)1", "C)2"], "correct": "C")j");
  EXPECT_TRUE(wrong.ok()) << wrong.status();
}

TEST(OptionMarks, SocialIqaCountsFromOne) {
  const auto read = [](const char* label) {
    return Read(absl::StrCat(
        R"j("context": "Mo ran.", "answerA": "x", "answerB": "y", "answerC": "z", "label": )j",
        label));
  };
  for (const char* label : {"\"2\"", "2"}) {
    const auto set = read(label);
    ASSERT_TRUE(set.ok()) << set.status();
    EXPECT_EQ(set->problems[0].problem.question,
              "Mo ran.\nQ\nA. x\nB. y\nC. z");
    EXPECT_EQ(set->problems[0].reference.answer, "B");
  }
  const auto zero = read("0");
  ASSERT_FALSE(zero.ok());
  EXPECT_TRUE(
      absl::StrContains(zero.status().message(), "--kind choice-from-0"))
      << zero.status();
}

}  // namespace
}  // namespace espalier
