// Readers of multiple-choice questions: each fills a record (set_kind.h) and
// returns the error, "" if none.
//
//   record.question           the question, and one line "A. ..." per option
//   record.answer             the letter of the right option, "AD" if several
//                             are right, "" if none is given
//   record.fields["options"]  the options' texts without letters, in the order
//                             of the lines (datasets/tasks/choice_answer.h)
//
// Options come in a list, with or without letters of their own ("A)12",
// "(A)12"), in one text that has them ("(A) 12, (B) 15", "a ) 12 , b ) 15"), or
// with labels: {"A": "12", "B": "15"}, {"text": [...], "label": [...]}, a list
// of {"key": "A", "value": "12"}, and any of these as JSON in a text. The right
// one is given by its label, its letter, its index from 0 or its text, under
// the columns of ChoiceGoldColumns(). Letters of options that are not A, B, C
// in this order are labels (option_marks.h). Refused are an answer that is one
// option by its text and another by its index, except under answer_index and
// the like and in MMLU's rows, or by its letter, if the set does not letter its
// options; a right option with the text of a wrong one; and a record whose
// columns name two options. An index one
// past the last option shows that the set counts from 1, and the whole set is
// refused: the kinds choice-from-0 and choice-from-1 say how a set counts. The
// same holds for a set of columns option1, option2 (choice1, ...) in which no
// index is 0. Labels of Social IQa's columns, answerA, answerB, answerC, count
// from 1.
//
// Stateless functions: thread-safe.
#ifndef ESPALIER_DATASETS_SETS_CHOICE_KINDS_H_
#define ESPALIER_DATASETS_SETS_CHOICE_KINDS_H_

#include <cstddef>
#include <string>

#include "datasets/sets/set_kind.h"

namespace espalier {

// Columns as SetKind names them: those that give the right option; those that
// hold a list of options; separate columns of the first (0) or the second (1)
// option; and either of the last two.
const std::string& ChoiceGoldColumns();
const std::string& ChoiceListColumns();
const std::string& ChoiceOptionColumns(size_t option);
const std::string& ChoiceColumns();

// options, choices, endings or "Possible Answers": AQuA, MMLU and MMLU-Pro as
// Hugging Face has them, AGIEval with its SAT sets, SAT Math 2023, MathQA, ARC,
// CommonsenseQA, MedQA, HellaSwag. A record whose options are null expects an
// answer in words.
std::string ReadChoiceList(SetRecord& record);

// One column per option: MMLU's own files, C-Eval, CMMLU (A, B), MedMCQA (opa,
// opb), PIQA (sol1, sol2), WinoGrande (option1, option2).
std::string ReadChoiceColumns(SetRecord& record);

// Whether one of ChoiceListColumns() holds something.
bool HasListedOptions(const nlohmann::json& fields);

// Either of the two, if the user says where integers count from.
std::string ReadChoiceFrom0(SetRecord& record);
std::string ReadChoiceFrom1(SetRecord& record);

// GPQA: "Correct Answer" and three "Incorrect Answer N"; SciQ: correct_answer
// and three distractorN. The order of the options depends only on the
// question's text.
std::string ReadGpqa(SetRecord& record);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_SETS_CHOICE_KINDS_H_
