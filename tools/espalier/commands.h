// The subcommands of the programs `espalier` and `espalier-learn`, one file
// each, and the dispatch to them.
#ifndef ESPALIER_TOOLS_ESPALIER_COMMANDS_H_
#define ESPALIER_TOOLS_ESPALIER_COMMANDS_H_

namespace espalier {

// Runs the program and returns its exit code.
int RunCommands(int argc, char** argv);

}  // namespace espalier

#endif  // ESPALIER_TOOLS_ESPALIER_COMMANDS_H_
