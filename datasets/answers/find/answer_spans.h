// The boxes and formulas of a text, and how they are grouped.
//
//   Formulas("They are $1$ and $2$.")   // "1", "2"
//
// Stateless, linear in the text: thread-safe.
#ifndef ESPALIER_DATASETS_ANSWERS_FIND_ANSWER_SPANS_H_
#define ESPALIER_DATASETS_ANSWERS_FIND_ANSWER_SPANS_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace espalier {

// A part of a text: its content [start, end), and its end including delimiters.
struct Span {
  size_t start = 0, end = 0;
  size_t outer_start = 0, outer_end = 0;
  bool open = false;  // never closed
};

// Contents of all \boxed{...}, \fbox{...} and \framebox{...} in order. An
// unclosed one extends to the end of its line.
std::vector<Span> Boxes(std::string_view text);

// Formulas between $ $, $$ $$, \( \), \[ \], in order.
std::vector<Span> Formulas(std::string_view text);

// Whether the text between two boxes or formulas merely joins them.
bool JoinsBoxes(std::string_view between);
bool JoinsFormulas(std::string_view between);

// A mark such as \\blacksquare, which ends a proof, or the exponent of a unit.
bool EndsProof(std::string_view formula);

// Whether only joining words stand between all spans.
bool JoinedByWords(std::string_view text, const std::vector<Span>& spans);

// Start of the last group of joined spans; and that group, comma-separated.
size_t LastGroupStart(std::string_view text, const std::vector<Span>& spans,
                      bool (*joins)(std::string_view));
std::string LastGroup(std::string_view text, const std::vector<Span>& spans,
                      bool (*joins)(std::string_view));

// "$2r + s = 10$, $2r = 6$, and $r = 3$": the last one solves for its variable,
// and the others, which do not, only lead to it.
bool SolvesOthers(std::string_view text, const std::vector<Span>& formulas,
                  size_t first);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_ANSWERS_FIND_ANSWER_SPANS_H_
