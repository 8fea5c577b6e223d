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

// Control characters as "\x1b", those from U+0080 to U+009F included, and bytes
// that are no UTF-8 ("\x9b" begins a command in a terminal of 8 bits).
// Characters that turn the direction of text or end lines as "\u202e". Line
// feeds and tabs stay.
std::string Printable(std::string_view text);

// Printable where standard output is a terminal; as it is for a file or a pipe.
std::string ForOutput(std::string_view text);

}  // namespace espalier

#endif  // ESPALIER_TOOLS_ESPALIER_PRINTABLE_H_
