// The boxes and formulas of a text, and which of them belong together.
//
//   Formulas("They are $1$ and $2$.")   // "1", "2"
//
// Stateless, linear in the text: thread-safe.
#ifndef ESPALIER_DATASETS_ANSWERS_ANSWER_SPANS_H_
#define ESPALIER_DATASETS_ANSWERS_ANSWER_SPANS_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace espalier {

// A part of a text: [start, end), and where the whole of it ends, delimiters
// included.
struct Span {
  size_t start = 0, end = 0;
  size_t outer_start = 0, outer_end = 0;
  bool open = false;  // never closed
};

// Contents of all \boxed{...}, \fbox{...} and \framebox{...} in order. One
// that never closes reaches to the end of its line.
std::vector<Span> Boxes(std::string_view text);

// Formulas between $ $, $$ $$, \( \), \[ \], in order.
std::vector<Span> Formulas(std::string_view text);

// Whether what stands between two boxes, or formulas, only joins them.
bool JoinsBoxes(std::string_view between);
bool JoinsFormulas(std::string_view between);

// A mark such as \\blacksquare, which ends a proof, or the power of a unit.
bool EndsProof(std::string_view formula);

// Whether nothing but words that join stands between all spans.
bool JoinedByWords(std::string_view text, const std::vector<Span>& spans);

// Where the last spans begin that are joined; these, separated by commas.
size_t LastGroupStart(std::string_view text, const std::vector<Span>& spans,
                      bool (*joins)(std::string_view));
std::string LastGroup(std::string_view text, const std::vector<Span>& spans,
                      bool (*joins)(std::string_view));

// "$2r + s = 10$, $2r = 6$, and $r = 3$": the last one says of its letter what
// the others, which are no values of letters, only lead to.
bool SolvesOthers(std::string_view text, const std::vector<Span>& formulas,
                  size_t first);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_ANSWERS_ANSWER_SPANS_H_
