// What a response states first of all, without what it adds: a source, a
// measure in brackets, the runner-up, later sentences, a reason.
//
//   MainStatement("According to the text, it was thrown by Tom Lee (54 m).")
//       // "it was thrown by Tom Lee"
//   YearStated("It sank on April 15, 1912, after it struck ice.")   // "1912"
//   LastLabelled("**Time:** 3 h\n**Speed:** 40 km/h")   // "40 km/h"
//
// Stateless; looks at short texts only: thread-safe.
#ifndef ESPALIER_DATASETS_ANSWERS_MAIN_STATEMENT_H_
#define ESPALIER_DATASETS_ANSWERS_MAIN_STATEMENT_H_

#include <string>
#include <string_view>

namespace espalier {

// The first sentence without additions; empty if there are none, or if what
// follows may take it back.
std::string MainStatement(std::string_view text);

// Without what is only said to the reader: "Great question!", "Here's the quick
// answer:" or "According to the passage," in front, "Let me know if you need
// more." behind; empty if there is nothing of it.
std::string_view WithoutCourtesy(std::string_view text);

// The only year of a single sentence that says when something happened; empty
// if there is none, or if it is that of another time.
std::string YearStated(std::string_view text);

// The value of the last of several lines with labels in bold type; empty if
// there is none, or if the label is no result's.
std::string_view LastLabelled(std::string_view text);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_ANSWERS_MAIN_STATEMENT_H_
