// Readers of rows as trainers and collections of word problems store them: each
// fills question, answer and solution of a record (set_kind.h) and returns the
// error, "" if none.
//
// Stateless functions: thread-safe.
#ifndef ESPALIER_DATASETS_SETS_ROW_KINDS_H_
#define ESPALIER_DATASETS_SETS_ROW_KINDS_H_

#include <string>

#include "datasets/sets/set_kind.h"

namespace espalier {

// verl: messages under "prompt", the gold answer under
// "reward_model.ground_truth". The question is the text of system and user.
// Rows with an assistant's turn, and rows whose ground truth holds tests of a
// program, are refused.
std::string ReadVerl(SetRecord& record);

// NeMo-Skills, NeMo Gym and OpenMathInstruct: "expected_answer" next to
// "problem", "question" or messages under "responses_create_params.input" or
// "input".
std::string ReadNemo(SetRecord& record);

// MAWPS and MultiArith as first published ("sQuestion", "lSolutions"), and as
// MWPToolkit has them ("original_text", "ans").
std::string ReadMawps(SetRecord& record);

// Word problems with separate numbers: "number0" in "Question" is the first of
// "Numbers". MAWPS, ASDiv and SVAMP in SVAMP's repository.
std::string ReadMaskedNumbers(SetRecord& record);

// Puts the numbers of a question in place of its marks N_00, N_01, ..., which
// count "Numbers" or "num_list" from 0 (copies of MAWPS). Returns an error if a
// number is missing.
std::string FillMarks(SetRecord& record);

// MultiArith at Hugging Face: "question", "final_ans".
std::string ReadMultiArith(SetRecord& record);

// MGSM: "question", "answer_number", and a solution under "answer" if any.
std::string ReadMgsm(SetRecord& record);

// "input" and "target": PAL's and ToRA's word problems, GSM-Hard.
std::string ReadInputTarget(SetRecord& record);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_SETS_ROW_KINDS_H_
