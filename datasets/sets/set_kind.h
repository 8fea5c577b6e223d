// The kinds of problem sets, told by the columns of their records.
//
//   ESP_ASSIGN_OR_RETURN(const SetKind* kind, RecogniseKind(record.fields));
//   ESP_ASSIGN_OR_RETURN(SetRecord problem, ReadAs(*kind, std::move(record)));
//
//   kind           columns that tell it              published as
//   gsm8k          question, answer with "#### "     GSM8K
//   math           problem, solution with \boxed{}   MATH, a file a problem
//   math500        problem, answer, unique_id        MATH-500
//   competition    problem, answer                   AIME, AMC
//   golds          question or problem, golds        one's own: a list of
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
//   input          question, tests or input_output   APPS; programs of input
//                                                    and output
//                                                    (code_problem.h)
//   game24         Puzzles                           Game of 24
//   gpqa           Question, Correct Answer,         GPQA
//                  Incorrect Answer 1
//   choice         question or problem; options,     AQuA, MMLU, MMLU-Pro,
//                  choices or Possible Answers       AGIEval, SAT, MathQA
//                                                    (choice_kinds.h)
//   mmlu           question or problem, A, B         MMLU's files, C-Eval
//   choice-from-0, choice-from-1                     either of both, by
//                                                    --kind only: whole
//                                                    numbers are indexes from
//                                                    0 or 1
//   verl           prompt, reward_model              rows for verl
//   nemo           problem, question or messages;    NeMo-Skills, NeMo Gym,
//                  under input; expected_answer      OpenMathInstruct
//   mawps          sQuestion, lSolutions;            MAWPS, MultiArith;
//                  original_text, ans                MWPToolkit
//   numbers        Question, Numbers, Answer         MAWPS beside SVAMP
//   multiarith     question, final_ans               MultiArith
//   mgsm           question, answer_number           MGSM
//   target         input, target                     PAL, ToRA, GSM-Hard
//   plain          question; answer where known      anything else
//
// What a question is about, under "context", "passage", "article" or
// "paragraph", is put before it by all kinds but those of programs and puzzles.
//
// Columns are found whatever the case of their names. Stateless functions:
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

// A problem as its publisher has it.
struct SetRecord {
  std::string id;        // the publisher's; "" where the record has none
  std::string place;     // "file:line"
  std::string question;  // the whole text that is asked
  std::string answer;    // the final answer alone, "" where not told
  // The worked solution or the program, "" where there is none.
  std::string solution;
  // All columns under their published names: "test", "entry_point",
  // "test_list", "level", ...
  nlohmann::json fields;
  // Set by a reader where what is wrong with this record says that all others
  // are misread.
  bool wrong_set = false;
  // The index that told the right option of a multiple choice, where nothing
  // says from where the set counts. 0 does.
  std::optional<int64_t> counted = std::nullopt;
  // The columns of its options count from 1, and so may `counted`.
  bool columns_from_1 = false;
};

struct SetKind {
  std::string_view name;
  std::string_view task;  // registered task that renders and grades it
  // Columns that a record must have; of "a|b" one. Those of a kind named
  // earlier in SetKinds() decide.
  std::vector<std::string_view> needs;
  // Fills question, answer and solution; the returned text says what is wrong
  // with the record, "" if nothing.
  std::string (*read)(SetRecord& record);
  // Where the gold answer is looked for, as messages name it; "" where a record
  // without it cannot be read.
  std::string_view gold = "";
  bool by_name = false;  // not told by columns, only by its name
};

const std::vector<SetKind>& SetKinds();

// The kind of this name; NotFound names the nearest.
absl::StatusOr<const SetKind*> FindKind(std::string_view name);

// The first kind whose columns `fields` has. InvalidArgument lists the columns
// and the remedies.
absl::StatusOr<const SetKind*> RecogniseKind(const nlohmann::json& fields);

// Reads a record of a set of that kind. InvalidArgument names the place and
// what is missing or of a wrong type; FailedPrecondition if the kind misreads
// the whole set.
absl::StatusOr<SetRecord> ReadAs(const SetKind& kind, Record record);

// The value of `column` as text: text as it is, numbers as they are written, a
// list's elements with ", " between; "" where there is none or it is null.
// `column` may name a member of a member: "question.problem".
std::string ColumnText(const nlohmann::json& fields, std::string_view column);

// The value of `column`, or null.
const nlohmann::json* FindColumn(const nlohmann::json& fields,
                                 std::string_view column);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_SETS_SET_KIND_H_
