#include "datasets/answers/find/later_answer.h"

#include <algorithm>

#include "datasets/answers/find/answer_spans.h"
#include "datasets/answers/find/claimed_boxes.h"
#include "datasets/answers/find/stated_number.h"
#include "datasets/answers/words/bare_words.h"
#include "datasets/answers/words/characters.h"
#include "datasets/answers/words/clean_text.h"
#include "datasets/answers/words/number_place.h"
#include "datasets/answers/words/phrases.h"
#include "datasets/answers/words/stance.h"

namespace espalier {
namespace {

bool Denies(std::string_view sentence) {
  for (const std::string_view word : Phrases(Reading::kProtests)) {
    if (sentence.starts_with(word)) sentence.remove_prefix(word.size());
  }
  if (const size_t name = StartsWith(sentence, Reading::kTheAnswer); name > 0) {
    const std::string_view said = sentence.substr(name);
    const size_t verb = StartsWith(said, Reading::kMustBe);
    if (verb > 0 && StartsWith(said.substr(verb), Reading::kFalse) > 0) {
      return true;
    }
  }
  return Mentions(sentence, Reading::kDisowns);
}

}  // namespace

bool CutOff(std::string_view answer) {
  const std::string_view text = TrimBlanks(answer);
  if (text.empty() || text.find_first_of("0123456789") == kNowhere)
    return false;
  for (const std::string_view sign : {" +", " -", "/", " *", " ="}) {
    if (text.ends_with(sign)) return true;
  }
  return EndsWith(text, Reading::kCutOff) > 0;
}

bool TakenBackLater(std::string_view behind, std::string_view answer) {
  constexpr int kNext = 3;
  const auto given = LastNumberPlace(answer);
  // The rest of the answer's own sentence.
  behind.remove_prefix(std::min(SentenceLength(behind), behind.size()));
  for (int i = 0; i < kNext; ++i) {
    behind = TrimBlanks(behind);
    if (behind.empty()) return false;
    const size_t length = SentenceLength(behind);
    std::string sentence = PlainLower(TrimBlanks(behind.substr(0, length)));
    behind.remove_prefix(std::min(std::max<size_t>(length, 1), behind.size()));
    while (!sentence.empty() &&
           (sentence.back() == '.' || sentence.back() == '!')) {
      sentence.pop_back();
    }
    if (Denies(sentence)) return true;
    const bool named = given && sentence.find(given->text) != std::string::npos;
    // "The root 25 is rejected."
    if (named && Mentions(sentence, Reading::kRejects)) return true;
    if (BeginsIn(sentence, Reading::kCorrects) == 0) continue;
    const auto blanks = std::count(sentence.begin(), sentence.end(), ' ');
    const bool other = LastNumberPlace(sentence).has_value();
    if (other ? given && !named : blanks < 4) return true;
  }
  return false;
}

// "| 24. Wait, I forgot the driver. Actually it's 25.": the correction, if it
// is certain.
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
  const bool parts = last.find("part ") != kNowhere;
  if (start == 0 || parts || !LastNumberPlace(last)) return std::nullopt;
  const StatedNumber number = FindStatedNumber(last, false);
  if (number.trust != Trust::kStated || !number.by_verb) return std::nullopt;
  return number.text + number.unit;
}

// "| 1/2. To conclude, it is 1/3.": whether the last sentence concludes with a
// number other than the answer's.
bool ConcludesOther(std::string_view behind, std::string_view answer) {
  constexpr size_t kLongest = 4000;
  std::string_view tail = TrimBlanks(behind);
  if (tail.size() > kLongest) return false;
  while (tail.ends_with(".") || tail.ends_with("!")) tail.remove_suffix(1);
  const size_t start = SentenceStart(tail);
  const std::string_view last = tail.substr(start);
  if (start == 0 || last.find_first_of("$\\") != kNowhere) return false;
  const std::string lower = PlainLower(last);
  if (BeginsIn(lower, Reading::kTherefore) == 0 &&
      StartsWith(lower, Reading::kToConclude) == 0) {
    return false;
  }
  const StatedNumber number = FindStatedNumber(last, false);
  const auto given = LastNumberPlace(answer);
  return number.trust == Trust::kStated && number.by_verb && given &&
         answer.find_first_of("\\=(") == kNowhere && given->text != number.text;
}

bool EndsInOther(std::string_view text, std::string_view number) {
  constexpr size_t kLongest = 4000, kLongestEnd = 160;
  text = TrimBlanks(text);
  if (text.size() > kLongest || number.empty() ||
      number.find_first_not_of("0123456789") != kNowhere ||
      text.find('=') == kNowhere) {
    return false;
  }
  const std::string whole = PlainLower(text);
  if (whole.find("answer") != std::string::npos ||
      whole.find("boxed") != std::string::npos ||
      whole.find("####") != std::string::npos) {
    return false;
  }
  std::string_view last = text.substr(LastSentenceStart(text));
  if (last.size() > kLongestEnd || last.size() == text.size()) return false;
  const bool concludes = BeginsIn(PlainLower(last), Reading::kTherefore) > 0 ||
                         BeginsIn(PlainLower(last), Reading::kInTheEnd) > 0;
  if (!concludes) {
    const size_t so = PlainLower(last).rfind(", so ");
    if (so == kNowhere) return false;
    last = last.substr(so + 2);
  }
  if (last.find_first_of("=$\\") != kNowhere || last.find(number) != kNowhere) {
    return false;
  }
  // Only one number, which nothing denies.
  const auto place = LastNumberPlace(last);
  if (!place || last.find_first_of("%/") != kNowhere ||
      place->text.find_first_not_of("0123456789") != kNowhere ||
      Mentions(PlainLower(last), Reading::kDenies)) {
    return false;
  }
  return place->text != number &&
         !LastNumberPlace(last.substr(0, place->start)).has_value();
}

char ChoiceRechecked(std::string_view text) {
  constexpr size_t kLongest = 4000, kLongestEnd = 300;
  text = TrimBlanks(text);
  if (text.size() > kLongest) return '\0';
  const std::string lower = Lower(text);
  size_t behind = 0;
  for (const std::string_view words : Phrases(Reading::kRechecks)) {
    const size_t at = lower.rfind(words);
    if (at != kNowhere) behind = std::max(behind, at + words.size());
  }
  std::string_view rest = text.substr(behind);
  while (!rest.empty() &&
         std::string_view(".!*) ").find(rest.back()) != kNowhere) {
    rest.remove_suffix(1);
  }
  if (behind == 0 || rest.size() < 3 || rest.size() > kLongestEnd) return '\0';
  const char letter = rest.back();
  std::string_view front = rest.substr(0, rest.size() - 1);
  while (!front.empty() &&
         std::string_view("(* ").find(front.back()) != kNowhere) {
    front.remove_suffix(1);
  }
  // "so it is option (B)", and no other letter behind the new try
  const std::string said = PlainLower(front);
  bool other = false;
  for (size_t at = 0; at + 2 < front.size(); ++at) {
    other = other || (front[at] == '(' && front[at + 2] == ')' &&
                      front[at + 1] >= 'A' && front[at + 1] <= 'J');
  }
  const bool named = EndsIn(said, Reading::kOption) > 0 &&
                     !Mentions(said, Reading::kDenies) &&
                     !Mentions(said, Reading::kMaybe) &&
                     !Mentions(said, Reading::kAttributes) &&
                     said.find('?') == std::string::npos;
  return named && !other && letter >= 'A' && letter <= 'J' ? letter : '\0';
}

}  // namespace espalier
