#include "datasets/answers/find/lead_words.h"

#include <algorithm>
#include <cctype>
#include <string>

#include "datasets/answers/words/characters.h"
#include "datasets/answers/words/clean_text.h"
#include "datasets/answers/words/number_place.h"
#include "datasets/answers/words/phrases.h"
#include "datasets/answers/words/stance.h"

namespace espalier {
namespace {

// How far behind an answer a contrast is searched.
constexpr size_t kNear = 200;

// "| with a remainder of 3", "| and then we double it": whether the words
// behind a number may change it.
bool Alters(std::string_view behind) {
  return Mentions(PlainLower(behind.substr(0, kNear)), Reading::kAlters);
}

}  // namespace

bool NumberAltered(std::string_view answer) {
  if (!BeginsNumber(answer)) return false;
  const size_t end =
      answer.find_first_of(" ,~(", answer.find_first_of("0123456789"));
  if (end == kNowhere) return false;
  const std::string_view tail = answer.substr(end);
  return std::any_of(tail.begin(), tail.end(), Letter) &&
         std::none_of(tail.begin(), tail.end(), Digit) &&
         tail.find_first_of("\\$=^*") == kNowhere && Alters(tail);
}

bool BeginsNumber(std::string_view text) {
  const size_t at = text.find_first_not_of("*_ -$\\(");
  return at != kNowhere && Digit(text[at]);
}

std::string_view WithoutContrast(std::string_view text) {
  if (!BeginsNumber(text)) return text;
  const std::string lower = PlainLower(text.substr(0, kNear));
  for (const std::string_view joint : Phrases(Reading::kInsteadOf)) {
    const size_t at = lower.find(joint);
    if (at == kNowhere || at + joint.size() >= text.size()) continue;
    std::string_view other = text.substr(at + joint.size());
    if (other.starts_with("the ")) other.remove_prefix(4);
    if (BeginsNumber(other)) text = text.substr(0, at);
  }
  // "10; it would be 20 if order mattered", "10 (20 if order mattered)"
  if (const size_t joint = text.find("; ");
      joint != kNowhere && joint + 2 < text.size() && Letter(text[joint + 2]) &&
      (!Alters(text.substr(joint + 2)) ||
       StartsWith(PlainLower(text.substr(joint + 2)), Reading::kItWould) > 0)) {
    text = text.substr(0, joint);
  }
  if (const size_t open = text.find(" (");
      open != kNowhere && BeginsNumber(text.substr(open + 2)) &&
      Mentions(PlainLower(text.substr(open, kNear)), Reading::kWhenOrWhy)) {
    text = text.substr(0, open);
  }
  // "42, and at 6 pages a day she is done in a week"
  const size_t digits = text.find_first_not_of("0123456789.$");
  for (const std::string_view joint : Phrases(Reading::kAndMore)) {
    if (digits == kNowhere || !text.substr(digits).starts_with(joint)) continue;
    const std::string_view more = text.substr(digits + joint.size());
    if (!more.empty() && Letter(more[0]) && more.find(' ') != kNowhere &&
        text.find('=') == kNowhere && !Alters(more)) {
      return text.substr(0, digits);
    }
  }
  return text;
}

std::string_view WithoutRounded(std::string_view text) {
  if (text.size() > kNear) return text;
  const std::string lower = PlainLower(text);
  for (const std::string_view joint : Phrases(Reading::kAbout)) {
    const size_t at = lower.rfind(joint);
    if (at == kNowhere) continue;
    const auto place = LastNumberPlace(text);
    const std::string_view front = text.substr(0, at);
    const std::string exact = PlainLower(front);
    if (place && place->start == at + joint.size() &&
        place->text.find('.') != kNowhere &&
        (Mentions(exact, Reading::kExact) ||
         front.find("\u221a") != kNowhere)) {
      return front;
    }
  }
  return text;
}

bool PartOfMore(std::string_view lead, std::string_view mark) {
  // "... 400 times\n\n**Answer:": a heading starts afresh.
  if (const size_t line = lead.rfind('\n'); line != kNowhere) {
    const std::string_view front = TrimBlanks(lead.substr(line + 1));
    const size_t word = front.find_first_not_of("*#_ ");
    const char first = word != kNowhere ? front[word]
                       : front.empty()  ? mark[0]
                                        : '*';
    if (std::islower(static_cast<unsigned char>(first)) == 0 ||
        (line > 0 && lead[line - 1] == '\n')) {
      lead.remove_prefix(line + 1);
    }
  }
  std::string words =
      PlainLower(lead.substr(lead.size() - std::min<size_t>(lead.size(), 80)));
  for (const std::string_view word : Phrases(Reading::kOurFinal)) {
    const std::string_view trimmed = WithoutMarks(words);
    words.resize(trimmed.size());
    if (words.ends_with(word)) words.resize(words.size() - word.size());
  }
  const std::string_view rest = WithoutMarks(words);
  if (EndsWith(rest, Reading::kChanceThat) > 0) return true;
  const size_t states = EndsIn(rest, Reading::kStates);
  return EndsIn(rest, Reading::kModifies) > states ||
         (states == 0 && rest.ends_with(" of"));
}

bool Hedged(std::string_view behind) {
  const std::string lower = PlainLower(behind.substr(0, kNear));
  for (const std::string_view mark : Phrases(Reading::kOrMaybe)) {
    for (size_t at = 0; (at = lower.find(mark, at)) != kNowhere; ++at) {
      if (at > 0 && Letter(lower[at - 1])) continue;
      if (BeginsNumber(behind.substr(at + mark.size()))) return true;
    }
  }
  return false;
}

bool GivesUp(std::string_view text) {
  text = TrimBlanks(text);
  while (text.ends_with(".") || text.ends_with("!")) text.remove_suffix(1);
  return Mentions(PlainLower(text.substr(SentenceStart(text))),
                  Reading::kGivesUp);
}

}  // namespace espalier
