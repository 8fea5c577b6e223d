#include "datasets/answers/verdict_meant.h"

#include <algorithm>
#include <string>
#include <vector>

#include "datasets/answers/find/last_statement.h"
#include "datasets/answers/words/bare_words.h"
#include "datasets/answers/words/characters.h"
#include "datasets/answers/words/clean_text.h"
#include "datasets/answers/words/names_said.h"
#include "datasets/answers/words/phrases.h"
#include "datasets/answers/words/stance.h"

namespace espalier {
namespace {

// "...\n\nYes, ethanol boils first.": the verdict in front of the sentence that
// is the last paragraph, if nothing turns it.
std::string_view VerdictInFront(std::string_view text) {
  text = TrimBlanks(text);
  const size_t line = text.rfind("\n\n");
  if (line == kNowhere) return {};
  const std::string_view last = TrimBlanks(text.substr(line));
  const std::string lower = PlainLower(WithoutFirstMarks(last));
  if (last.size() > kLongestLast || LastSentenceStart(last) > 0 ||
      lower.find('\n') != std::string::npos || text[line - 1] == ':' ||
      text[line - 1] == '?') {
    return {};
  }
  for (const std::string_view word : Phrases(Reading::kYesNo)) {
    if (!lower.starts_with(word)) continue;
    std::string_view rest = std::string_view(lower).substr(word.size());
    while (rest.starts_with("*")) rest.remove_prefix(1);
    if (!rest.starts_with(", ")) continue;
    rest.remove_prefix(2);
    const bool turned =
        Mentions(rest, Reading::kNamesOther) ||
        Mentions(rest, Reading::kMaybe) ||
        Mentions(rest, Reading::kAttributes) ||
        Mentions(rest, Reading::kDoubts) || Mentions(rest, Reading::kVerdict) ||
        rest.find(" but ") != kNowhere || (word == "yes" && !SaysPlainly(rest));
    return turned ? std::string_view() : word;
  }
  return {};
}

}  // namespace

std::string_view VerdictAlone(std::string_view gold, std::string_view text) {
  // "**True**", "\\boxed{True}"
  constexpr size_t kLongest = 30;
  if (text.size() > kLongest) return {};
  std::string_view bare = WithoutLastMarks(WithoutFirstMarks(text));
  for (const std::string_view front : {"$", "\\boxed{", "\\text{"}) {
    if (!bare.starts_with(front)) continue;
    bare.remove_prefix(front.size());
    const size_t end = bare.find_last_not_of("}$.");
    bare = bare.substr(0, end == kNowhere ? 0 : end + 1);
  }
  const std::string said = PlainLower(bare), wanted = Lower(TrimBlanks(gold));
  const std::vector<std::string_view>* kinds[] = {
      &Phrases(Reading::kYesNo), &Phrases(Reading::kTrueFalse)};
  for (const int kind : {0, 1}) {
    const auto& from = *kinds[kind];
    const auto& to = *kinds[1 - kind];
    for (size_t i = 0; i < from.size(); ++i) {
      const bool asked = std::find(to.begin(), to.end(), wanted) != to.end();
      if (said == from[i] && asked) return to[i];
    }
  }
  return {};
}

std::string_view VerdictMeant(std::string_view text) {
  const std::string_view last = WithoutLastMarks(LastStatementOf(text));
  const std::string lower = PlainLower(WithoutFirstMarks(last));
  const std::string whole = PlainLower(text);
  const auto other = [&whole](std::string_view verdict) {
    for (const std::string_view word : Phrases(Reading::kVerdict)) {
      if (word != verdict && Mentions(whole, Reading::kVerdict)) {
        size_t at = whole.find(word);
        for (; at != std::string::npos; at = whole.find(word, at + 1)) {
          const size_t end = at + word.size();
          const bool begins =
              at == 0 || whole[at - 1] == '\n' || whole[at - 1] == '*' ||
              (at > 1 && whole[at - 1] == ' ' &&
               std::string_view(".,:!?;").find(whole[at - 2]) != kNowhere);
          const bool ends =
              end >= whole.size() ||
              std::string_view(".,:!?;*\n").find(whole[end]) != kNowhere;
          if (begins && ends) return true;
        }
      }
    }
    return false;
  };
  if (whole.find("answer") != std::string::npos ||
      whole.find("boxed") != std::string::npos || text.ends_with("?")) {
    return {};
  }
  // "... to eat one. Yes."
  if (IsPhrase(lower, Reading::kVerdict) && last.size() < text.size()) {
    for (const std::string_view word : Phrases(Reading::kVerdict)) {
      if (word == lower) return other(word) ? std::string_view() : word;
    }
  }
  // "Not true.", "Correct."
  if (last.size() < 20 && last.size() + 4 > TrimBlanks(text).size()) {
    const std::string judged = "is " + lower;
    for (const Phrase& row : Rows(Reading::kJudgedAs)) {
      if (row.pattern == judged) return row.meaning;
    }
  }
  // "Conclusion: Yes, it would fit."
  const LabelledPart labelled = WithoutLeadWords(last);
  const std::string label = PlainLower(labelled.label);
  if (IsPhrase(label, Reading::kResultLabel) ||
      IsPhrase(label, Reading::kToConclude)) {
    const std::string said = PlainLower(labelled.said);
    for (const std::string_view word : Phrases(Reading::kVerdict)) {
      if (BeginsIn(said, Reading::kVerdict) == word.size() &&
          said.starts_with(word) &&
          (said.size() == word.size() ||
           std::string_view(",.;!*").find(said[word.size()]) != kNowhere) &&
          !other(word) &&
          SaysPlainly(word == "yes" || word == "true" ? std::string_view(said)
                                                      : std::string_view())) {
        return word;
      }
    }
  }
  // "91 = 7 * 13, so no, 91 is not prime."
  for (const std::string_view word : Phrases(Reading::kYesNo)) {
    for (const std::string_view so : Phrases(Reading::kTherefore)) {
      const std::string joint =
          ", " + std::string(so) + " " + std::string(word) + ", ";
      const size_t at = lower.find(joint);
      if (at != std::string::npos && !other(word) &&
          last.size() <= kLongestLast &&
          BeginsIn(lower, Reading::kImagines) == 0 &&
          !Mentions(lower, Reading::kAttributes) &&
          !Mentions(lower, Reading::kNamesOther) &&
          !Mentions(lower, Reading::kMaybe)) {
        return word;
      }
    }
  }
  // "It is a mammal, so yes."
  if (const size_t comma = lower.rfind(", "); comma != kNowhere) {
    std::string_view rest = std::string_view(lower).substr(comma + 2);
    const size_t so = BeginsIn(rest, Reading::kTherefore);
    rest = TrimBlanks(rest.substr(so));
    if (so > 0 && IsPhrase(rest, Reading::kYesNo) && !other(rest) &&
        last.size() <= kLongestLast &&
        BeginsIn(lower, Reading::kImagines) == 0 &&
        !Mentions(lower, Reading::kAttributes) &&
        !Mentions(lower, Reading::kMaybe)) {
      return rest == "yes" ? "yes" : "no";
    }
  }
  // "This is false; the boiling point falls."
  if (const size_t stop = whole.find("; "); stop < 60) {
    std::string_view front = std::string_view(whole).substr(0, stop);
    const size_t judged = BeginsIn(front, Reading::kJudged);
    front = TrimBlanks(front.substr(judged));
    const size_t is = BeginsIn(front, Reading::kIs);
    front = TrimBlanks(front.substr(is));
    for (const std::string_view word : Phrases(Reading::kTrueFalse)) {
      if (judged > 0 && is > 0 && front == word && !other(word) &&
          !Mentions(whole.substr(stop), Reading::kTrueFalse)) {
        return word;
      }
    }
  }
  // "Absolutely! Penguins are birds."
  const std::string_view first = WithoutFirstMarks(text);
  const std::string opening = PlainLower(first.substr(0, 40));
  for (const Phrase& row : Rows(Reading::kVerdictMeant)) {
    if (BeginsIn(opening, Reading::kVerdictMeant) != row.pattern.size() ||
        !opening.starts_with(row.pattern)) {
      continue;
    }
    std::string_view rest = first.substr(row.pattern.size());
    const bool stops =
        TrimBlanks(rest).empty() ||
        std::string_view(".,!*:").find(TrimBlanks(rest)[0]) != kNowhere ||
        static_cast<unsigned char>(TrimBlanks(rest)[0]) >= 0x80 ||
        rest.starts_with(" - ");
    const std::string behind = PlainLower(rest);
    const bool turned = row.meaning == "yes" && !SaysPlainly(rest);
    if (stops && !turned && !other(row.meaning) &&
        !Mentions(behind, Reading::kNamesOther)) {
      return row.meaning;
    }
  }
  if (const std::string_view word = VerdictInFront(text);
      !word.empty() && !other(word)) {
    return word;
  }
  if (last.size() > kLongestLast) return {};
  std::string_view clause = lower;
  clause.remove_prefix(BeginsIn(clause, Reading::kTherefore));
  clause.remove_prefix(std::min(clause.find_first_not_of(" ,"), clause.size()));
  // "The statement is incorrect, as ..."
  const size_t judged = BeginsIn(clause, Reading::kJudged);
  const bool pointed = clause.substr(0, judged) == "it" ||
                       clause.substr(0, judged) == "this" ||
                       clause.substr(0, judged) == "that";
  if (judged > 0 && !pointed) {
    const std::string_view rest = TrimBlanks(clause.substr(judged));
    const size_t said = BeginsIn(rest, Reading::kJudgedAs);
    const std::string_view behind = rest.substr(said);
    const bool ends = behind.empty() ||
                      StartsWith(behind, Reading::kReason) > 0 ||
                      behind.starts_with(", since ");
    for (const Phrase& row : Rows(Reading::kJudgedAs)) {
      if (said > 0 && ends && rest.substr(0, said) == row.pattern &&
          !other(row.meaning)) {
        return row.meaning;
      }
    }
  }
  // "It is not true that all rectangles are squares."
  if (const size_t said = BeginsIn(clause, Reading::kTruth)) {
    const bool turned = Mentions(clause.substr(said), Reading::kNamesOther) ||
                        Mentions(clause.substr(said), Reading::kImagines) ||
                        // "... that the statement is false"
                        Mentions(clause.substr(said), Reading::kTrueFalse);
    for (const Phrase& row : Rows(Reading::kTruth)) {
      if (!turned && clause.substr(0, said) == row.pattern &&
          !other(row.meaning)) {
        return row.meaning;
      }
    }
  }
  return {};
}

}  // namespace espalier
