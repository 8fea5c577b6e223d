// Readers of sets whose answers are programs (code_problem.h): each fills
// question and solution of a record (set_kind.h) and returns the error, "" if
// none. set_kind.cc has the table of them.
//
// Stateless functions: thread-safe.
#ifndef ESPALIER_DATASETS_SETS_CODE_KINDS_H_
#define ESPALIER_DATASETS_SETS_CODE_KINDS_H_

#include <string>

#include "datasets/sets/set_kind.h"

namespace espalier {

std::string ReadHumanEvalRecord(SetRecord& record);
std::string ReadMbppRecord(SetRecord& record);
std::string ReadInputRecord(SetRecord& record);
std::string ReadEvalPlusRecord(SetRecord& record);
std::string ReadHumanEvalXRecord(SetRecord& record);
// BigCodeBench's two variants, by complete_prompt and by instruct_prompt.
std::string ReadBigCodeComplete(SetRecord& record);
std::string ReadBigCodeInstruct(SetRecord& record);
// CRUXEval's two questions: for the output, and for the arguments.
std::string ReadCruxOutput(SetRecord& record);
std::string ReadCruxInput(SetRecord& record);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_SETS_CODE_KINDS_H_
