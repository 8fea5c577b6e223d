#include "datasets/answers/find/rejected.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "datasets/answers/find/result_clause.h"
#include "datasets/answers/words/characters.h"
#include "datasets/answers/words/clean_text.h"
#include "datasets/answers/words/phrases.h"
#include "datasets/answers/words/stance.h"

namespace espalier {
namespace {

constexpr size_t kLongestValue = 60;

// The letter of an option: "A", "(A)".
bool BeginsOption(std::string_view text) {
  if (text.starts_with("(")) text.remove_prefix(1);
  return !text.empty() && text[0] >= 'A' && text[0] <= 'J' &&
         (text.size() == 1 || (!Letter(text[1]) && text[1] != '\''));
}

// Whether the text begins with a numeral, a formula or the letter of an option.
bool BeginsValue(std::string_view text) {
  if (BeginsOption(text)) return true;
  const size_t at = text.find_first_not_of("*_-(\"");
  return at != kNowhere && (Digit(text[at]) || text[at] == '$' ||
                            text[at] == '\\' || BeginsOption(text.substr(at)));
}

bool HoldsValue(std::string_view text) {
  for (size_t at = 0; at < text.size(); ++at) {
    const bool begins = at == 0 || Blank(text[at - 1]) || text[at - 1] == '*';
    if (begins && BeginsValue(text.substr(at))) return true;
  }
  return false;
}

bool HoldsWord(std::string_view text) {
  for (size_t at = 0; at + 1 < text.size(); ++at) {
    const bool begins = at == 0 || text[at - 1] == ' ';
    if (begins && Letter(text[at]) && Letter(text[at + 1])) return true;
  }
  return false;
}

// Where a value at the start of the text ends: before a stop, a comma or a
// reason.
size_t ValueEnd(std::string_view text) {
  bool formula = false;
  for (size_t at = 0; at < text.size(); ++at) {
    const std::string_view rest = text.substr(at);
    if (text[at] == '$') formula = !formula;
    if (formula) continue;
    const bool last = rest.size() == 1 || Blank(rest[1]);
    if (std::string_view(".,;:!").find(text[at]) != kNowhere && last) return at;
    if (text[at] == '\n') return at;
    if (text[at] == ' ' && StartsWith(Lower(rest.substr(0, kLongestValue)),
                                      Reading::kBecause) > 0) {
      return at;
    }
  }
  return text.size();
}

// "it is 6 rather than 5" without "rather than 5".
std::string WithoutAlternative(std::string_view sentence) {
  const std::string lower = PlainLower(sentence);
  for (const std::string_view joint : Phrases(Reading::kInsteadOf)) {
    const size_t at = lower.find(joint);
    if (at == kNowhere) continue;
    const std::string_view front = sentence.substr(0, at);
    std::string_view rest = sentence.substr(at + joint.size());
    // "5, not 7" says too little.
    if (!HoldsValue(front) || !HoldsWord(front)) continue;
    for (const std::string_view article : {"the ", "option ", "choice "}) {
      if (rest.starts_with(article)) rest.remove_prefix(article.size());
    }
    if (!BeginsValue(rest)) continue;
    size_t end = ValueEnd(rest);
    if (end > kLongestValue) continue;
    if (joint.ends_with("(not ")) {
      end = rest.find(')');
      if (end == kNowhere || end > kLongestValue) continue;
      ++end;
    }
    // "not 5 but 6", "not 5 or 6 but 7" go on with the answer.
    const std::string value = " " + PlainLower(rest.substr(0, end)) + " ";
    const std::string after = PlainLower(rest.substr(end).substr(0, 8));
    if (value.find(" but ") != kNowhere || after.starts_with(", but ") ||
        after.starts_with(", nor ")) {
      continue;
    }
    return absl::StrCat(std::string(front), std::string(rest.substr(end)));
  }
  return {};
}

// "It isn't A; it's C", "It is not A, it is C": the last part.
std::string_view BehindDenial(std::string_view sentence) {
  const std::string lower = PlainLower(sentence);
  for (const std::string_view stop : {"; ", ", ", ". "}) {
    const size_t at = lower.rfind(stop);
    if (at == kNowhere) continue;
    const std::string_view front = std::string_view(lower).substr(0, at);
    const std::string_view last = sentence.substr(at + stop.size());
    const size_t verb = BeginsIn(
        std::string_view(lower).substr(at + stop.size()), Reading::kItIs);
    if (verb == 0 || last.size() > kLongestValue) continue;
    if (!BeginsValue(TrimBlanks(last.substr(verb)))) continue;
    for (const std::string_view denial : {"isn't ", "is not ", "wasn't "}) {
      const size_t from = front.rfind(denial);
      if (from == kNowhere) continue;
      std::string_view denied = sentence.substr(from + denial.size());
      for (const std::string_view article : {"the ", "option ", "choice "}) {
        if (denied.starts_with(article)) denied.remove_prefix(article.size());
      }
      if (BeginsValue(denied)) return last;
    }
  }
  return {};
}

// "Answer: A\n\nExplanation: ...": the part before the explanation.
std::string_view BeforeExplanation(std::string_view response) {
  constexpr size_t kLongestHead = 400;
  const std::string lower = PlainLower(response);
  const size_t line = response.substr(0, kLongestHead).find('\n');
  if (line == kNowhere) return {};
  const std::string_view head = std::string_view(lower).substr(0, line);
  const std::string_view tail =
      TrimBlanks(std::string_view(lower).substr(line));
  const bool explains =
      tail.starts_with("explanation:") || tail.starts_with("reason:") ||
      tail.starts_with("reasoning:") || tail.starts_with("justification:");
  const size_t label = head.find("answer");
  const bool again = tail.find("answer") != kNowhere ||
                     tail.find("boxed") != kNowhere ||
                     tail.find("####") != kNowhere;
  if (!explains || again || label == kNowhere || label > 12) return {};
  return TrimBlanks(response.substr(0, line));
}

}  // namespace

std::string WithoutRejected(std::string_view response) {
  response = TrimBlanks(response);
  if (const std::string_view head = BeforeExplanation(response);
      !head.empty()) {
    return std::string(head);
  }
  std::string_view body = response;
  while (!body.empty() && (body.back() == '.' || body.back() == '!')) {
    body.remove_suffix(1);
  }
  const size_t start = SentenceStart(body);
  const std::string_view sentence = response.substr(start);
  if (sentence.size() > kLongestLook) return {};
  if (const std::string_view last = BehindDenial(sentence); !last.empty()) {
    return std::string(last);
  }
  std::string left = ResultClause(sentence);
  if (left.empty()) left = WithoutAlternative(sentence);
  if (left.empty()) return {};
  return absl::StrCat(std::string(response.substr(0, start)), left);
}

}  // namespace espalier
