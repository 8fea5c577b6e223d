// Readers of sets whose answers are compared as text or mathematics: each fills
// question, answer and solution of a record (set_kind.h) and returns the error,
// "" if none. set_kind.cc has the table of them.
//
// Stateless functions: thread-safe.
#ifndef ESPALIER_DATASETS_SETS_ANSWER_KINDS_H_
#define ESPALIER_DATASETS_SETS_ANSWER_KINDS_H_

#include <string>

#include "datasets/sets/set_kind.h"

namespace espalier {

// Without blanks at its ends.
std::string Trimmed(std::string_view text);

std::string ReadGsm8k(SetRecord& record);
std::string ReadMath(SetRecord& record);
std::string ReadCompetition(SetRecord& record);
std::string ReadSvamp(SetRecord& record);
std::string ReadOlympiadBench(SetRecord& record);
std::string ReadGame24(SetRecord& record);
// Several accepted answers; the first stands for all.
std::string ReadGolds(SetRecord& record);
// A question, and an answer if there is one.
std::string ReadPlain(SetRecord& record);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_SETS_ANSWER_KINDS_H_
