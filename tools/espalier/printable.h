// Texts of others (questions, models, files, databases) in reports for people:
// no byte of theirs moves a terminal's cursor, sets its title or hides a line.
//
//   std::printf("%s\n", Printable(question).c_str());
//
// Stateless functions: thread-safe.
#ifndef ESPALIER_TOOLS_ESPALIER_PRINTABLE_H_
#define ESPALIER_TOOLS_ESPALIER_PRINTABLE_H_

#include <string>
#include <string_view>

namespace espalier {

// Control characters as "\x1b", those that UTF-8 spells in two bytes (U+0080 to
// U+009F) included; line ends and tabs stay.
std::string Printable(std::string_view text);

// Printable where standard output is a terminal; as it is for a file or a pipe.
std::string ForOutput(std::string_view text);

}  // namespace espalier

#endif  // ESPALIER_TOOLS_ESPALIER_PRINTABLE_H_
