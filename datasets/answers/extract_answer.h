// Where a response says its answer:
//   1. the last of \boxed{...} and "final answer is ..."; without a box the
//      last "#### ..."; boxes in comments and those that the words beside them
//      take back (claimed_boxes.h) are none
//   2. the last "answer is ...", "answer: ..." or "option is ..." that claims
//      what it says, in Chinese as well
//   3. a last line that is a value; the plain value behind the last formula
//      ("the value of $x$ is 6"); the last formula between $ $, \( \) or
//      \[ \], with those that "and", "or" or a comma joins to it, less those
//      that explain it ("attained at $x = 2$") and those of a check or remark
//      at the end; "$5 an hour" opens no formula; a last fenced block of one
//      line
//   4. the text as it stands
//
//   ExtractAnswer("So $x = 2$. Final answer: $x=2$.").text   // "x=2"
//   ExtractAnswer("\\boxed{1} and \\boxed{2}").text          // "1 , 2"
//
// What a model thought (thoughts.h) is never looked at, what a sentence denies,
// asks or supposes (stance.h) is no answer, and of more than kLongestResponse
// bytes only as many count: the last ones, or those from the last box on.
// Signs are taken as WithPlainSigns (clean_text.h) leaves them.
// Stateless, linear in the text: thread-safe.
#ifndef ESPALIER_DATASETS_ANSWERS_EXTRACT_ANSWER_H_
#define ESPALIER_DATASETS_ANSWERS_EXTRACT_ANSWER_H_

#include <optional>
#include <string>
#include <string_view>

namespace espalier {

inline constexpr size_t kLongestResponse = 40000;

struct Extracted {
  std::string text;
  // Whether it was cut out of something longer.
  bool cut = false;
  // Whether the text ends inside of the box that holds the answer, or is only
  // a part of an answer.
  bool open = false;
  // Whether it is one formula of several, none of which is called the answer.
  bool picked = false;
  // Whether the words around it leave open that it is the answer.
  bool unsure = false;
  // Of a formula that no phrase introduced, the text it stands in, which may
  // say its answer in words. Empty for others.
  std::string_view around;
  // How many formulas a list holds where the words in front of it say so:
  // "There are 4: $1, 2, 4, 8$". Empty for others.
  std::string count;
  // Whether the words around its last number or formula deny it, or do not
  // claim it: only words are left.
  bool denied = false;
  // A short text that begins with a formula, as a whole: "$k\\pi$ for any
  // integer $k$" without its dollar signs. Empty for others.
  std::string line;
};

Extracted ExtractAnswer(std::string_view response);

// What stands in the last \boxed{...}, \fbox{...} or \framebox{...} that
// closes, with those that "and" or a comma joins to it: "1 , 2".
std::optional<std::string> BoxedAnswer(std::string_view text);

// What is marked as the answer of a worked solution: in a box, else behind
// "####" up to the end of the line. Nothing for other texts.
std::optional<std::string> MarkedAnswer(std::string_view text);

// Without delimiters of formulas, emphasis, quotes and a full stop around.
std::string StripDelimiters(std::string_view text);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_ANSWERS_EXTRACT_ANSWER_H_
