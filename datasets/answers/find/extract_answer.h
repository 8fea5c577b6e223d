// Finds the answer in a response:
//   1. the last of \boxed{...} and "final answer is ..."; without a box the
//      last "#### ..."; boxes in comments and those that the words next to them
//      retract (claimed_boxes.h) do not count
//   2. the last "answer is ...", "answer: ..." or "option is ..." that claims
//      what it says, also in Chinese
//   3. a last line that is a value; the plain value behind the last formula
//      ("the value of $x$ is 6"); the last formula between $ $, \( \) or
//      \[ \], with those joined to it by "and", "or" or a comma, except those
//      that explain it ("attained at $x = 2$") and those of a check or remark
//      at the end; "$5 an hour" opens no formula; a last fenced block of one
//      line
//   4. the whole text
//
//   ExtractAnswer("So $x = 2$. Final answer: $x=2$.").text   // "x=2"
//   ExtractAnswer("\\boxed{1} and \\boxed{2}").text          // "1 , 2"
//
// A model's thoughts (thoughts.h) are skipped, and text that a sentence denies,
// asks or supposes (stance.h) is not an answer. Of a response longer than
// kLongestResponse bytes only that many bytes are read: the last ones, or those
// from the last box on. Input is normalized as by WithPlainSigns
// (clean_text.h). Stateless, linear in the text: thread-safe.
#ifndef ESPALIER_DATASETS_ANSWERS_FIND_EXTRACT_ANSWER_H_
#define ESPALIER_DATASETS_ANSWERS_FIND_EXTRACT_ANSWER_H_

#include <optional>
#include <string>
#include <string_view>

namespace espalier {

inline constexpr size_t kLongestResponse = 40000;

// The last `most` bytes of a response, or those from the last box on.
std::string_view EndOfResponse(std::string_view text, size_t most);

struct Extracted {
  std::string text;
  // Whether it was cut out of a longer text.
  bool cut = false;
  // Whether the text ends inside the box that holds the answer, or holds only a
  // part of an answer.
  bool open = false;
  // Whether it is one formula of several, none of which is called the answer.
  bool picked = false;
  // Whether the words around it leave it uncertain that it is the answer.
  bool unsure = false;
  // For a formula that no phrase introduced: the text around it, which may
  // state its answer in words. Else empty.
  std::string_view around;
  // The number of formulas in a list, if the words in front state it: "There
  // are 4: $1, 2, 4, 8$". Else empty.
  std::string count;
  // Whether the words around its last number or formula deny it, or do not
  // claim it: only words are left.
  bool denied = false;
  // A short text that begins with a formula, as a whole: "$k\\pi$ for any
  // integer $k$" without its dollar signs. Else empty.
  std::string line;
  // The part of the response that states the answer; empty if its words alone
  // do.
  std::string_view place;
};

Extracted ExtractAnswer(std::string_view response);

// The content of the last closed \boxed{...}, \fbox{...} or \framebox{...},
// with those joined to it by "and" or a comma: "1 , 2".
std::optional<std::string> BoxedAnswer(std::string_view text);

// The marked answer of a worked solution: in a box, else behind "####" up to
// the end of the line. Nothing for other texts.
std::optional<std::string> MarkedAnswer(std::string_view text);

// Without surrounding formula delimiters, emphasis, quotes and full stop.
std::string StripDelimiters(std::string_view text);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_ANSWERS_FIND_EXTRACT_ANSWER_H_
