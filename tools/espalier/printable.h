// Makes foreign text (questions, models, files, databases) safe to print: no
// byte of it moves a terminal's cursor, sets its title or hides a line.
//
//   std::printf("%s\n", Printable(question).c_str());
//
// Stateless functions: thread-safe.
#ifndef ESPALIER_TOOLS_ESPALIER_PRINTABLE_H_
#define ESPALIER_TOOLS_ESPALIER_PRINTABLE_H_

#include <string>
#include <string_view>

namespace espalier {

// Control characters, including U+0080 to U+009F, become "\x1b", and so do
// bytes that are not UTF-8 ("\x9b" starts a command in an 8-bit terminal).
// Characters that change text direction or end lines become "\u202e". Line
// feeds and tabs stay.
std::string Printable(std::string_view text);

// Printable, for errors: what was typed may hold an address with a password,
// "postgres://USER:PASSWORD@HOST" or "?password=PASSWORD", which becomes "...".
std::string PrintableError(std::string_view text);

// Printable if standard output is a terminal; unchanged for a file or a pipe.
std::string ForOutput(std::string_view text);

}  // namespace espalier

#endif  // ESPALIER_TOOLS_ESPALIER_PRINTABLE_H_
