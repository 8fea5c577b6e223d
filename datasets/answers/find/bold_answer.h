// The answers that a response marks by bold type.
//
//   BoldLine("The area is A. Here r = 7.\n\n**49\\pi**")->text  // "49\\pi"
//   BoldList("They are **x = 1** and **x = -4**.")->text
//       // "x = 1 and x = -4"
//   BoldWords("The claim is **true**. It floats.")   // {"true"}
//
// Stateless, linear in the text: thread-safe.
#ifndef ESPALIER_DATASETS_ANSWERS_FIND_BOLD_ANSWER_H_
#define ESPALIER_DATASETS_ANSWERS_FIND_BOLD_ANSWER_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace espalier {

struct BoldPart {
  std::string text;
  // Where it stands in the response.
  std::string_view place;
};

// The formula of a last line that is wholly bold, without a label in front of
// it. Bold lines in front of it belong to it if each solves for a letter.
std::optional<BoldPart> BoldLine(std::string_view text);

// Several bold parts that the last sentence joins.
std::optional<BoldPart> BoldList(std::string_view text);

// The only bold part of a short response, or the words of a last sentence that
// is bold, if nothing denies it, doubts it, attributes it to somebody or names
// another one.
std::vector<std::string> BoldWords(std::string_view text);

// Whether a bold part of a sentence, at [open, close) with its marks, is one of
// several: "**a** and **b**", "either **a** or b", "**a**, but".
bool HasRival(std::string_view sentence, size_t open, size_t close);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_ANSWERS_FIND_BOLD_ANSWER_H_
