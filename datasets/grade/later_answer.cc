#include "datasets/grade/later_answer.h"

#include <algorithm>

#include "datasets/grade/answer_spans.h"
#include "datasets/grade/claimed_boxes.h"
#include "datasets/grade/clean_text.h"
#include "datasets/grade/number_place.h"
#include "datasets/grade/phrases.h"
#include "datasets/grade/stance.h"
#include "datasets/grade/stated_number.h"

namespace espalier {
namespace {

constexpr size_t kNone = std::string_view::npos;

}  // namespace

// "| 24. Wait, I forgot the driver. Actually it's 25.": what is said instead,
// where that is sure.
std::optional<std::string> SaidLater(std::string_view behind) {
  constexpr size_t kLongest = 1000;
  if (behind.size() > kLongest || !Retracted(behind) ||
      !Formulas(behind).empty())
    return std::nullopt;
  const std::string_view tail = TrimBlanks(behind);
  const size_t start = SentenceStart(
      tail.substr(0, tail.size() - std::min<size_t>(tail.size(), 1)));
  const std::string_view last = tail.substr(start);
  // "that is for part (a); part (b) gives 15"
  const bool parts = last.find("part ") != kNone;
  if (start == 0 || parts || !LastNumberPlace(last)) return std::nullopt;
  const StatedNumber number = FindStatedNumber(last, false);
  if (number.trust != Trust::kStated || !number.by_verb) return std::nullopt;
  return number.text + number.unit;
}

// "| 1/2. To conclude, it is 1/3.": whether the last sentence concludes with
// another number than the answer's.
bool ConcludesOther(std::string_view behind, std::string_view answer) {
  constexpr size_t kLongest = 4000;
  std::string_view tail = TrimBlanks(behind);
  if (tail.size() > kLongest) return false;
  while (tail.ends_with(".") || tail.ends_with("!")) tail.remove_suffix(1);
  const size_t start = SentenceStart(tail);
  const std::string_view last = tail.substr(start);
  if (start == 0 || last.find_first_of("$\\") != kNone) return false;
  const std::string lower = PlainLower(last);
  if (BeginsIn(lower, Reading::kTherefore) == 0 &&
      !lower.starts_with("to conclude") &&
      !lower.starts_with("in conclusion")) {
    return false;
  }
  const StatedNumber number = FindStatedNumber(last, false);
  const auto given = LastNumberPlace(answer);
  return number.trust == Trust::kStated && number.by_verb && given &&
         answer.find_first_of("\\=(") == kNone && given->text != number.text;
}

}  // namespace espalier
