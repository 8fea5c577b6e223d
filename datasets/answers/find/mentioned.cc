#include "datasets/answers/find/mentioned.h"

#include <algorithm>

#include "datasets/answers/find/stated_number.h"
#include "datasets/answers/words/characters.h"
#include "datasets/answers/words/clean_text.h"
#include "datasets/answers/words/phrases.h"
#include "datasets/answers/words/stance.h"

namespace espalier {
namespace {

// Longer texts are worked solutions, with remarks of all kinds.
constexpr size_t kLongestProse = 400;

std::string FirstOf(std::string_view lower, Reading reading) {
  for (const std::string_view phrase : Phrases(reading)) {
    for (size_t at = lower.find(phrase); at != std::string_view::npos;
         at = lower.find(phrase, at + 1)) {
      const size_t end = at + phrase.size();
      const bool whole = (at == 0 || !Letter(lower[at - 1])) &&
                         (end == lower.size() || !Letter(lower[end]));
      if (whole) return std::string(phrase);
    }
  }
  return {};
}

std::string_view WithoutStop(std::string_view sentence) {
  sentence = TrimBlanks(sentence);
  while (!sentence.empty() && std::string_view(".!?,:;*").find(
                                  sentence.back()) != std::string_view::npos) {
    sentence.remove_suffix(1);
  }
  return sentence;
}

}  // namespace

std::string OnlyMentioned(std::string_view text, size_t start, size_t end,
                          bool prose) {
  if (text.size() > kLongestProse) return {};
  const std::string_view front = TrimBlanks(WithoutChecks(text));
  // A numeral in words has no place of its own: the last sentence states it.
  const bool inside = (start > 0 && Digit(text[start - 1])) ||
                      (end < text.size() && Digit(text[end]));
  const bool digits = !inside && HasDigits(text.substr(start, end - start));
  if (!digits && !prose) return {};
  const size_t until =
      static_cast<size_t>(front.data() - text.data()) + front.size();
  if (!digits) start = end = WithoutStop(text.substr(0, until)).size();
  if (start >= until) return {};
  const size_t lead = SentenceStart(text.substr(0, start));
  const size_t stop = end + SentenceLength(text.substr(end));
  const std::string sentence =
      PlainLower(TrimBlanks(text.substr(lead, stop - lead)));
  const std::string opening =
      PlainLower(WithoutStop(text.substr(0, SentenceLength(text))));
  const bool alone = TrimBlanks(text.substr(0, lead)).empty();
  if (!alone && IsPhrase(opening, Reading::kOpensWithAnswer)) return opening;
  if (std::string refusal = FirstOf(PlainLower(text), Reading::kRefuses);
      !refusal.empty()) {
    return refusal;
  }
  // "Since the problem says so, | there are 12", "It says so, | so it is 12."
  size_t from = lead;
  const std::string before = PlainLower(text.substr(lead, start - lead));
  if (BeginsIn(sentence, Reading::kGiven) > 0) {
    const size_t comma = before.rfind(", ");
    if (comma != std::string::npos) from = lead + comma;
  }
  for (const std::string_view joint : Phrases(Reading::kConcludesBehind)) {
    const size_t at = before.rfind(joint);
    if (at != std::string::npos) from = std::max(from, lead + at);
  }
  if (std::string given = FirstOf(PlainLower(text.substr(from, stop - from)),
                                  Reading::kOnlyGiven);
      !given.empty()) {
    return given;
  }
  const std::string_view later = TrimBlanks(
      text.substr(std::min(stop, until), until - std::min(stop, until)));
  const std::string next = PlainLower(later);
  if (BeginsIn(sentence, Reading::kLabels) > 0 &&
      BeginsIn(next, Reading::kLabels) > 0) {
    return std::string(later);
  }
  const bool concludes = Mentions(sentence, Reading::kTherefore) ||
                         BeginsIn(next, Reading::kRefers) > 0 ||
                         text.substr(end).starts_with("**");
  if (!prose || concludes || HasDigits(later) || !HasLetters(later)) return {};
  // "252 / 42 = 6. They need six buses."
  const StatedNumber again = StatedInWords(text.substr(0, until));
  if (again.trust == Trust::kStated && again.by_verb &&
      !Mentions(next, Reading::kChanges) && !Mentions(next, Reading::kDenies) &&
      !Mentions(next, Reading::kMisleads) &&
      again.text == text.substr(start, end - start)) {
    return {};
  }
  return std::string(later);
}

}  // namespace espalier
