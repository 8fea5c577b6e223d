// The --help texts of espalier-learn's training commands, so that espalier can
// print them if that program is not built.
#ifndef ESPALIER_TOOLS_ESPALIER_TRAINING_HELP_H_
#define ESPALIER_TOOLS_ESPALIER_TRAINING_HELP_H_

#include <string_view>

namespace espalier {

// training_help.txt: one section per command, each after a line "== COMMAND".
// tests/tools/espalier_train_program_test.py says how to regenerate it.
std::string_view TrainingHelp();

}  // namespace espalier

#endif  // ESPALIER_TOOLS_ESPALIER_TRAINING_HELP_H_
