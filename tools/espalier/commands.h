// The subcommands, one file each, of the programs `espalier` and
// `espalier-learn`, and the choice among them.
#ifndef ESPALIER_TOOLS_ESPALIER_COMMANDS_H_
#define ESPALIER_TOOLS_ESPALIER_COMMANDS_H_

namespace espalier {

// The program from its arguments to its exit code.
int RunCommands(int argc, char** argv);

}  // namespace espalier

#endif  // ESPALIER_TOOLS_ESPALIER_COMMANDS_H_
