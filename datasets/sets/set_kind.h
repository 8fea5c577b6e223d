// The kinds of problem sets, recognized by the columns of their records.
//
//   ESP_ASSIGN_OR_RETURN(const SetKind* kind, RecogniseKind(record.fields));
//   ESP_ASSIGN_OR_RETURN(SetRecord problem, ReadAs(*kind, std::move(record)));
//
//   kind           columns that identify it          published as
//   gsm8k          question, answer with "#### "     GSM8K
//   math           problem, solution with \boxed{}   MATH, one file per problem
//   math500        problem, answer, unique_id        MATH-500
//   competition    problem, answer                   AIME, AMC
//   golds          question or problem, golds        user-defined: a list of
//                                                    accepted answers
//   svamp          Body, Question, Answer            SVAMP
//   olympiadbench  question, final_answer            OlympiadBench
//   humaneval      prompt, entry_point, test         HumanEval, HumanEval+
//   mbpp           text or prompt, test_list         MBPP, its sanitized form,
//                                                    MBPP+ at Hugging Face
//   evalplus       prompt, entry_point, base_input   HumanEval+, MBPP+
//   bigcodebench   complete_prompt, code_prompt,     BigCodeBench; its other
//                  entry_point, test                 question is the kind
//                                                    bigcodebench-instruct
//   humaneval-x    prompt, declaration, test         HumanEval-X, Python only
//   cruxeval-o     code, input, output               CRUXEval's outputs; its
//                                                    inputs are the kind
//                                                    cruxeval-i
//   input          question, tests or input_output   APPS; input/output
//                                                    programs
//                                                    (code_problem.h)
//   game24         Puzzles                           Game of 24
//   gpqa           Question, Correct Answer,         GPQA
//                  Incorrect Answer 1
//   choice         question or problem; options,     AQuA, MMLU, MMLU-Pro,
//                  choices or Possible Answers;      AGIEval, SAT, MathQA,
//                  question.choices                  ARC (choice_kinds.h)
//   mmlu           question or problem, A, B         MMLU's files, C-Eval
//   choice-from-0, choice-from-1                     either of the two, by
//                                                    --kind only: integers
//                                                    are indexes from 0 or 1
//   verl           prompt, reward_model              rows for verl; a list in
//                                                    ground_truth holds
//                                                    accepted answers
//   nemo           problem, question or messages;    NeMo-Skills, NeMo Gym,
//                  under input; expected_answer      OpenMathInstruct
//   mawps          sQuestion, lSolutions;            MAWPS, MultiArith;
//                  original_text, ans                MWPToolkit
//   numbers        Question, Numbers, Answer         MAWPS in SVAMP's
//                                                    repository
//   multiarith     question, final_ans               MultiArith
//   mgsm           question, answer_number           MGSM
//   target         input, target                     PAL, ToRA, GSM-Hard
//   plain          question; answer if known         anything else
//
// All kinds except those of programs and puzzles prepend the question's
// context, found under "context", "passage", "article", "paragraph" or "table".
//
// Column names are matched case-insensitively. Stateless functions:
// thread-safe.
#ifndef ESPALIER_DATASETS_SETS_SET_KIND_H_
#define ESPALIER_DATASETS_SETS_SET_KIND_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "datasets/sets/record_reader.h"
#include "nlohmann/json.hpp"

namespace espalier {

// A problem as published.
struct SetRecord {
  std::string id;        // the publisher's; "" where the record has none
  std::string place;     // "file:line"
  std::string question;  // the full text of the question
  std::string answer;    // only the final answer, "" where not given
  // The worked solution or the program, "" if there is none.
  std::string solution;
  // All columns under their published names: "test", "entry_point",
  // "test_list", "level", ...
  nlohmann::json fields;
  // Set by a reader if the error in this record means that all others are
  // misread.
  bool wrong_set = false;
  // The index that gave the right option of a multiple choice, if nothing says
  // whether the set counts from 0 or 1. An index of 0 does.
  std::optional<int64_t> counted = std::nullopt;
  // Its option columns count from 1, and so may `counted`.
  bool columns_from_1 = false;
};

struct SetKind {
  std::string_view name;
  std::string_view task;  // registered task that renders and grades it
  // Columns that a record must have; one of "a|b". Kinds earlier in SetKinds()
  // take precedence.
  std::vector<std::string_view> needs;
  // Fills question, answer and solution; returns the error in the record, "" if
  // none.
  std::string (*read)(SetRecord& record);
  // Where the gold answer is expected, as shown in messages; "" if a record
  // without it cannot be read.
  std::string_view gold = "";
  bool by_name = false;  // chosen only by its name, not recognized by columns
};

const std::vector<SetKind>& SetKinds();

// The kind of this name; NotFound names the nearest.
absl::StatusOr<const SetKind*> FindKind(std::string_view name);

// The first kind whose columns `fields` has. InvalidArgument lists the columns
// and the remedies.
absl::StatusOr<const SetKind*> RecogniseKind(const nlohmann::json& fields);

// Reads a record of a set of that kind. InvalidArgument names the place and
// what is missing or mistyped; FailedPrecondition if the kind misreads the
// whole set.
absl::StatusOr<SetRecord> ReadAs(const SetKind& kind, Record record);

// The value of `column` as text: text unchanged, numbers as written, a list's
// elements joined by ", "; "" if it is absent or null. `column` may name a
// nested member: "question.problem".
std::string ColumnText(const nlohmann::json& fields, std::string_view column);

// For errors of readers: "expected text in \"answer\", found {\"a\":2}", with
// `found` shortened; null: the record lacks the column.
std::string WrongValue(std::string_view column, std::string_view expected,
                       const nlohmann::json* found);

// The value of `column`, or null.
const nlohmann::json* FindColumn(const nlohmann::json& fields,
                                 std::string_view column);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_SETS_SET_KIND_H_
