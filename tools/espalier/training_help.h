// What espalier-learn prints for --help of the commands that train, so that
// espalier can print it where that program is not built.
#ifndef ESPALIER_TOOLS_ESPALIER_TRAINING_HELP_H_
#define ESPALIER_TOOLS_ESPALIER_TRAINING_HELP_H_

#include <string_view>

namespace espalier {

// training_help.txt: a section a command, each after a line "== COMMAND".
// tests/tools/espalier_train_program_test.py says how it is written anew.
std::string_view TrainingHelp();

}  // namespace espalier

#endif  // ESPALIER_TOOLS_ESPALIER_TRAINING_HELP_H_
