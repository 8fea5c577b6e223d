#include "datasets/tasks/choice_concluded.h"

#include <algorithm>

#include "datasets/answers/find/last_statement.h"
#include "datasets/answers/words/bare_words.h"
#include "datasets/answers/words/characters.h"
#include "datasets/answers/words/clean_text.h"
#include "datasets/answers/words/names_said.h"
#include "datasets/answers/words/phrases.h"
#include "datasets/answers/words/stance.h"

namespace espalier {
namespace {

constexpr size_t kLongestConclusion = 300;
constexpr std::string_view kAnswerLabel = "answer";

bool IsChoiceLetter(std::string_view text, size_t at) {
  return at < text.size() && text[at] >= 'A' && text[at] <= 'J' &&
         (at == 0 || (!Letter(text[at - 1]) && !Digit(text[at - 1]))) &&
         (at + 1 == text.size() ||
          (!Letter(text[at + 1]) && !Digit(text[at + 1]) &&
           text[at + 1] != '\''));
}

// The letters of choices that stand alone in a text; "A" is also an article,
// "I" a pronoun.
std::string LettersIn(std::string_view text) {
  std::string out;
  for (size_t at = 0; at < text.size(); ++at) {
    const bool word = (text[at] == 'A' || text[at] == 'I') &&
                      at + 2 < text.size() && text[at + 1] == ' ' &&
                      text[at + 2] >= 'a' && text[at + 2] <= 'z';
    if (IsChoiceLetter(text, at) && !word) out += text[at];
  }
  return out;
}

// Whether something leaves open whether a sentence says what it says.
bool LeftOpen(std::string_view sentence) {
  const std::string lower = PlainLower(sentence);
  for (const Reading reading :
       {Reading::kMaybe, Reading::kDoubts, Reading::kAttributes,
        Reading::kMisleads, Reading::kOtherTry}) {
    if (Mentions(lower, reading)) return true;
  }
  return BeginsIn(lower, Reading::kImagines) > 0 ||
         lower.find('?') != std::string::npos ||
         lower.find(" if ") != std::string::npos;
}

// Whether words have the words of an option in them, as a whole.
bool HasOption(std::string_view folded, const std::string& option) {
  const std::string wanted = " " + FoldWords(option) + " ";
  return wanted.size() > 2 &&
         (" " + std::string(folded) + " ").find(wanted) != std::string::npos;
}

// The only option that words consist of, but for a leading article or a letter
// in brackets behind them; none if there are two.
size_t OptionOf(const std::vector<std::string>& options,
                std::string_view words) {
  words = TrimBlanks(words);
  // "inertia (C)"
  std::string letter;
  if (words.size() > 4 && words.ends_with(")") &&
      words[words.size() - 3] == '(' &&
      IsChoiceLetter(words, words.size() - 2)) {
    letter = words[words.size() - 2];
    words = TrimBlanks(words.substr(0, words.size() - 3));
  }
  const std::string folded = FoldWords(words);
  size_t found = options.size();
  for (size_t i = 0; i < options.size(); ++i) {
    if (folded.empty() || FoldWords(options[i]) != folded) continue;
    if (found < options.size()) return options.size();
    found = i;
  }
  const bool other = found < options.size() && !letter.empty() &&
                     letter[0] != static_cast<char>('A' + found);
  return other ? options.size() : found;
}

// Whether another option than `option` is mentioned by its words.
bool HasOther(const std::vector<std::string>& options, size_t option,
              std::string_view text) {
  const std::string folded = FoldWords(text);
  for (size_t i = 0; i < options.size(); ++i) {
    if (i != option && HasOption(folded, options[i]) &&
        !HasOption(FoldWords(options[option]), options[i])) {
      return true;
    }
  }
  return false;
}

// Without emphasis.
std::string Unmarked(std::string_view text) {
  std::string out;
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '*' || text[at] == '`') continue;
    out += text[at];
  }
  return out;
}

std::string_view WithoutFullStops(std::string_view text) {
  text = TrimBlanks(text);
  while (text.ends_with(".") || text.ends_with("!")) text.remove_suffix(1);
  return TrimBlanks(text);
}

// "Option: E", "Answer: C (inertia)", "C: inertia is the tendency to ...": the
// letter with which a line begins, if the option's words or nothing follow.
size_t LetterInFront(const std::vector<std::string>& options,
                     std::string_view line) {
  line = WithoutFullStops(line);
  bool label = false;
  for (bool more = true; more;) {
    more = false;
    const std::string lower = PlainLower(line.substr(0, 30));
    size_t length = 0;
    for (const Reading word :
         {Reading::kTherefore, Reading::kOption, Reading::kOurFinal}) {
      length = std::max(length, BeginsIn(lower, word));
    }
    if (lower.starts_with(kAnswerLabel)) length = kAnswerLabel.size();
    if (length == 0) break;
    line = TrimBlanks(line.substr(length));
    while (line.starts_with(":") || line.starts_with(",")) {
      line = TrimBlanks(line.substr(1));
    }
    label = more = true;
  }
  const bool open = line.starts_with("(");
  if (open) line.remove_prefix(1);
  if (!IsChoiceLetter(line, 0)) return options.size();
  const auto option = static_cast<size_t>(line[0] - 'A');
  if (option >= options.size()) return options.size();
  std::string_view rest = line.substr(1);
  const size_t marks = std::min(rest.find_first_not_of("):.-"), rest.size());
  const bool marked = marks > 0 || TrimBlanks(rest).starts_with("(");
  rest = TrimBlanks(rest.substr(marks));
  if (rest.empty()) return label ? option : options.size();
  if (!marked || LeftOpen(rest)) return options.size();
  if (rest.starts_with("(") && rest.ends_with(")")) {
    rest = TrimBlanks(rest.substr(1, rest.size() - 2));
  }
  const std::string folded = FoldWords(rest);
  const std::string words = FoldWords(options[option]);
  if (words.empty() || !folded.starts_with(words)) return options.size();
  if (folded.size() == words.size()) return option;
  const bool plain = folded[words.size()] == ' ' && SaysPlainly(rest) &&
                     LettersIn(rest).empty() &&
                     !HasOther(options, option, rest);
  return plain ? option : options.size();
}

// "B, because it opposes motion", "B is the best answer since ...": the letter
// with which a sentence begins, if a reason follows.
size_t LetterWithReason(const std::vector<std::string>& options,
                        std::string_view text) {
  if (text.size() > kLongestConclusion || !IsChoiceLetter(text, 0) ||
      LeftOpen(text)) {
    return options.size();
  }
  const auto option = static_cast<size_t>(text[0] - 'A');
  std::string_view rest = text.substr(1);
  const std::string lower = PlainLower(rest);
  std::string_view behind = lower;
  if (behind.starts_with(" ")) {
    const size_t verb = BeginsIn(behind.substr(1), Reading::kIsTheAnswer);
    behind.remove_prefix(verb == 0 ? 0 : verb + 1);
  }
  if (behind.starts_with(",")) behind.remove_prefix(1);
  const bool reason = StartsWith(behind, Reading::kReason) > 0;
  const bool other = !LettersIn(rest).empty() ||
                     lower.find('\n') != std::string::npos ||
                     Mentions(lower, Reading::kNamesOther);
  return reason && !other && option < options.size() ? option : options.size();
}

// "It opposes motion, so B", "A and D are no forces, leaving C": the letter
// that the end of a sentence concludes on.
size_t LetterAtEnd(const std::vector<std::string>& options,
                   std::string_view sentence) {
  sentence = WithoutFullStops(sentence);
  const size_t comma = sentence.rfind(", ");
  if (comma == kNowhere || LeftOpen(sentence)) return options.size();
  const std::string lower = PlainLower(sentence.substr(comma));
  const size_t phrase = BeginsIn(lower, Reading::kConcludesChoice);
  if (phrase == 0) return options.size();
  std::string_view rest = TrimBlanks(sentence.substr(comma + phrase));
  const size_t word =
      BeginsIn(PlainLower(rest.substr(0, 10)), Reading::kOption);
  rest = TrimBlanks(rest.substr(word));
  if (rest.starts_with("(") && rest.ends_with(")")) {
    rest = rest.substr(1, rest.size() - 2);
  }
  if (rest.size() != 1 || !IsChoiceLetter(rest, 0)) return options.size();
  const auto option = static_cast<size_t>(rest[0] - 'A');
  const std::string_view front = sentence.substr(0, comma);
  if (option >= options.size() ||
      LettersIn(front).find(rest[0]) != std::string::npos) {
    return options.size();
  }
  // "It is friction, so C"
  const std::string folded = FoldWords(front);
  for (size_t i = 0; i < options.size(); ++i) {
    if (i != option && HasOption(folded, options[i]) &&
        !HasOption(folded, options[option]) &&
        !Mentions(PlainLower(front), Reading::kDenies)) {
      return options.size();
    }
  }
  return option;
}

// "I'd go with the answer \"friction\"": what is quoted as the choice. Its own
// words, "around" or "not", leave nothing open.
std::string_view OptionQuoted(std::string_view sentence) {
  const size_t quote = sentence.find('"');
  if (quote == kNowhere || quote + 2 >= sentence.size() ||
      sentence.find('"', quote + 1) + 1 != sentence.size()) {
    return {};
  }
  const std::string front = PlainLower(sentence.substr(0, quote));
  const size_t lead = BeginsIn(front, Reading::kLeadsToChoice);
  const std::string rest = front.substr(lead);
  const bool leads =
      lead > 0 &&
      (rest == " " || (rest.starts_with(" ") &&
                       IsPhrase(rest.substr(1), Reading::kTheAnswer)));
  return leads ? sentence.substr(quote + 1, sentence.size() - quote - 2)
               : std::string_view();
}

// "Thus steel is the right choice", "The best choice is steel", "The force that
// opposes motion is friction": the option that a sentence says is meant.
size_t OptionSaid(const std::vector<std::string>& options,
                  std::string_view sentence) {
  constexpr int kFewestWords = 4;  // of a subject that describes something
  sentence = WithoutFullStops(sentence);
  const std::string_view whole = sentence;
  const size_t so = BeginsIn(PlainLower(sentence), Reading::kTherefore);
  sentence.remove_prefix(so);
  sentence.remove_prefix(
      std::min(sentence.find_first_not_of(" ,"), sentence.size()));
  if (const std::string_view quoted = OptionQuoted(sentence); !quoted.empty()) {
    return OptionOf(options, quoted);
  }
  if (LeftOpen(whole)) return options.size();
  std::string lower = PlainLower(sentence);
  if (const size_t behind = EndsIn(lower, Reading::kIsTheAnswer);
      behind > 0 && SaysPlainly(sentence)) {
    return OptionOf(options, sentence.substr(0, sentence.size() - behind));
  }
  if (const size_t lead = BeginsIn(lower, Reading::kLeadsToChoice);
      lead > 0 && SaysPlainly(sentence)) {
    return OptionOf(options, sentence.substr(lead));
  }
  // "..., not inertia"
  for (const std::string_view against : {", not ", ", rather than "}) {
    const size_t at = sentence.rfind(against);
    if (at != kNowhere &&
        OptionOf(options, sentence.substr(at + against.size())) <
            options.size()) {
      sentence = sentence.substr(0, at);
    }
  }
  if (const size_t part = sentence.rfind("; "); part != kNowhere) {
    sentence = sentence.substr(part + 2);
  }
  if (!SaysPlainly(sentence)) return options.size();
  lower = PlainLower(sentence);
  size_t verb = kNowhere;
  for (const std::string_view is : {" is ", " are ", " was ", " were "}) {
    const size_t at = lower.rfind(is);
    if (at == kNowhere) continue;
    // One verb only.
    if (verb != kNowhere || lower.find(is) != at) return options.size();
    verb = at + is.size();
  }
  if (verb == kNowhere) return options.size();
  const size_t option = OptionOf(options, sentence.substr(verb));
  // "The worst choice is", "One distractor is"
  const std::string_view subject = std::string_view(lower).substr(0, verb);
  const bool plain =
      std::count(subject.begin(), subject.end(), ' ') > kFewestWords &&
      !Mentions(subject, Reading::kOption) &&
      !Mentions(subject, Reading::kWrong);
  const bool another =
      option < options.size() &&
      (!plain || HasOther(options, option, sentence.substr(0, verb)) ||
       HasOption(FoldWords(sentence.substr(0, verb)), options[option]) ||
       BeginsIn(lower, Reading::kAnotherOne) > 0 ||
       Mentions(lower, Reading::kOthers) || !LettersIn(sentence).empty());
  return another ? options.size() : option;
}

// "A\n\nExplanation: Paris is the capital ...": the letter that is the first
// line, if no other letter or answer follows.
size_t LetterOnFirstLine(const std::vector<std::string>& options,
                         std::string_view text) {
  const size_t line = text.find('\n');
  if (line == kNowhere || line > 40) return options.size();
  std::string_view first = WithoutFullStops(text.substr(0, line));
  if (first.starts_with("(") && first.ends_with(")")) {
    first = TrimBlanks(first.substr(1, first.size() - 2));
  }
  if (first.size() != 1 || !IsChoiceLetter(first, 0)) return options.size();
  const auto option = static_cast<size_t>(first[0] - 'A');
  const std::string_view rest = text.substr(line);
  const std::string lower = PlainLower(rest);
  const bool other =
      LettersIn(rest).find_first_not_of(first[0]) != std::string::npos ||
      lower.find(kAnswerLabel) != std::string::npos ||
      Mentions(lower, Reading::kMaybe) || Mentions(lower, Reading::kOtherTry) ||
      lower.find('?') != std::string::npos ||
      Mentions(lower, Reading::kAttributes) ||
      BeginsIn(TrimBlanks(lower), Reading::kCorrects) > 0;
  return other ? options.size() : option;
}

// "DNA is stored in the nucleus", "Ribosomes make proteins": the option with
// which the only sentence ends or begins, if it has no other one.
size_t OptionMentioned(const std::vector<std::string>& options,
                       std::string_view text) {
  constexpr size_t kLongestMention = 160, kShortestOption = 4;
  text = WithoutFullStops(text);
  for (const std::string_view against : {", not ", ", rather than "}) {
    const size_t at = text.rfind(against);
    if (at != kNowhere &&
        OptionOf(options, text.substr(at + against.size())) < options.size()) {
      text = text.substr(0, at);
    }
  }
  const std::string lower = PlainLower(text);
  if (text.size() > kLongestMention || LastSentenceStart(text) > 0 ||
      !SaysPlainly(text) || LeftOpen(text) || !LettersIn(text).empty() ||
      lower.find_first_of(":;\n=") != std::string::npos ||
      Mentions(lower, Reading::kOthers) || Mentions(lower, Reading::kOption) ||
      Mentions(lower, Reading::kNamesOther)) {
    return options.size();
  }
  const std::string folded = FoldWords(text);
  for (size_t i = 0; i < options.size(); ++i) {
    const std::string words = FoldWords(options[i]);
    if (words.size() < kShortestOption || HasDigits(words) ||
        HasOther(options, i, text) || !HasOption(folded, options[i])) {
      continue;
    }
    // "is stored in the nucleus", "are made by ribosomes"; not "is stronger
    // than friction"
    const std::string_view front = TrimBlanks(
        std::string_view(folded).substr(0, folded.size() - words.size()));
    const bool ends = folded.ends_with(" " + words) &&
                      (front.ends_with(" by") || front.ends_with(" in")) &&
                      Mentions(lower, Reading::kIs);
    const bool begins = folded.starts_with(words + " ") &&
                        folded.find(" " + words) == std::string::npos &&
                        !Mentions(lower, Reading::kIs);
    return ends || begins ? i : options.size();
  }
  return options.size();
}

}  // namespace

size_t ChoiceConcluded(const std::vector<std::string>& options,
                       std::string_view response) {
  constexpr size_t kLongest = 20000;
  if (response.size() > kLongest || response.find("boxed") != kNowhere) {
    return options.size();
  }
  const std::string plain = Unmarked(WithPlainSigns(TrimBlanks(response)));
  const std::string_view text = WithoutFirstMarks(plain);
  const size_t line = text.rfind('\n');
  const std::string_view last =
      TrimBlanks(text.substr(line == kNowhere ? 0 : line + 1));
  const std::string_view sentence =
      text.substr(std::min(LastSentenceStart(text), text.size()));
  if (last.size() > kLongestConclusion ||
      sentence.size() > kLongestConclusion || text.ends_with("?")) {
    return options.size();
  }
  // "Tom wrote:\nOption: B"
  const std::string_view before =
      TrimBlanks(text.substr(0, text.size() - last.size()));
  const bool quoted =
      before.ends_with(":") && LeftOpen(before.substr(std::min(
                                   LastSentenceStart(before), before.size())));
  size_t option = quoted ? options.size() : LetterInFront(options, last);
  if (option == options.size()) option = LetterAtEnd(options, sentence);
  if (option == options.size()) option = LetterWithReason(options, text);
  if (option == options.size()) option = LetterOnFirstLine(options, text);
  const std::string lower = PlainLower(text);
  if (option == options.size() && lower.find("answer is") == kNowhere &&
      lower.find("answer:") == kNowhere) {
    option = OptionSaid(options, sentence);
    if (option == options.size()) option = OptionMentioned(options, text);
  }
  return option;
}

bool NamesOtherChoice(std::string_view response) {
  const std::string_view text = TrimBlanks(response);
  const std::string_view sentence =
      text.substr(std::min(LastSentenceStart(text), text.size()));
  return sentence.size() <= kLongestConclusion &&
         Mentions(PlainLower(sentence), Reading::kNotThisChoice);
}

}  // namespace espalier
