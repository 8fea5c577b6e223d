#include "datasets/grade/grade_answer.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

#include "absl/strings/str_cat.h"
#include "datasets/grade/answer.h"
#include "datasets/grade/clean_text.h"
#include "datasets/grade/extract_answer.h"
#include "datasets/grade/parser.h"
#include "datasets/grade/units.h"

namespace espalier {
namespace {

using Kind = Answer::Kind;

// The ways in which one text may be read; "1,22" is a pair and a decimal.
struct Readings {
  std::string text;   // what was read
  std::string error;  // why it is no mathematics; empty where it is
  char choice = 0;    // the letter of a multiple choice
  bool choice_only = false;
  std::vector<Answer> answers;
};

bool Digit(char c) { return c >= '0' && c <= '9'; }

// Without blanks, but for those that part two numbers.
std::string Squeeze(std::string_view text) {
  std::string out;
  bool blank = false;
  for (const char c : CleanMath(text)) {
    if (c == ' ') {
      blank = true;
      continue;
    }
    if (blank && !out.empty() && Digit(out.back()) && Digit(c)) out += ' ';
    blank = false;
    out += c;
  }
  return out;
}

// "(C)", "C. 12", "\text{(C)}", "option C": the letter, and what follows it.
char ReadChoice(std::string_view text, std::string* content) {
  std::string plain = CleanMath(text);
  for (const std::string_view mark :
       {"\\textbf", "\\text", "\\mathrm", "\\mathbf", "\\rm"}) {
    size_t at;
    while ((at = plain.find(mark)) != std::string::npos) {
      plain.erase(at, mark.size());
    }
  }
  std::replace(plain.begin(), plain.end(), '{', ' ');
  std::replace(plain.begin(), plain.end(), '}', ' ');
  std::string_view rest = TrimBlanks(plain);
  bool named = false;
  for (const std::string_view word :
       {"option ", "choice ", "Option ", "Choice "}) {
    if (!rest.starts_with(word)) continue;
    rest = TrimBlanks(rest.substr(word.size()));
    named = true;
  }
  const bool open = rest.starts_with("(");
  if (open) rest = TrimBlanks(rest.substr(1));
  if (rest.empty()) return 0;
  const char letter = rest[0];
  const bool upper = letter >= 'A' && letter <= 'J';
  const bool lower = letter >= 'a' && letter <= 'e' && open;
  if (!upper && !lower) return 0;
  rest = TrimBlanks(rest.substr(1));
  bool closed = false;
  if (open) {
    rest = TrimBlanks(rest);
    if (!rest.starts_with(")")) return 0;
    rest = rest.substr(1);
    closed = true;
  } else if (rest.starts_with(")") || rest.starts_with(".") ||
             (rest.starts_with(":") && rest.size() > 1 && rest[1] == ' ')) {
    rest = rest.substr(1);
    closed = true;
  }
  rest = TrimBlanks(rest);
  if (rest.starts_with(".") || rest.starts_with(":")) {
    rest = TrimBlanks(rest.substr(1));
  }
  if (!rest.empty() && !closed && !named) return 0;
  // "(a)(b)" is a product.
  if (!rest.empty() && (rest[0] == '(' || rest[0] == '^' || rest[0] == '+' ||
                        rest[0] == '-' || rest[0] == '=' || rest[0] == '/')) {
    return 0;
  }
  *content = std::string(rest);
  return static_cast<char>(std::toupper(letter));
}

// A number in words up to twenty; -1 for others.
int NumberWord(std::string_view word) {
  static constexpr std::array<std::string_view, 21> kWords = {
      "zero",     "one",      "two",      "three",   "four",    "five",
      "six",      "seven",    "eight",    "nine",    "ten",     "eleven",
      "twelve",   "thirteen", "fourteen", "fifteen", "sixteen", "seventeen",
      "eighteen", "nineteen", "twenty"};
  const auto found = std::find(kWords.begin(), kWords.end(), word);
  return found == kWords.end() ? -1 : static_cast<int>(found - kWords.begin());
}

// "1,22" as in much of Europe: a comma before decimals, and nothing else.
std::string EuropeanDecimal(std::string_view text) {
  text = TrimBlanks(text);
  const size_t comma = text.find(',');
  if (comma == std::string_view::npos || comma == 0) return {};
  const std::string_view behind = text.substr(comma + 1);
  std::string_view before = text.substr(0, comma);
  if (before.starts_with("-")) before.remove_prefix(1);
  const auto digits = [](std::string_view part) {
    return !part.empty() && std::all_of(part.begin(), part.end(), Digit);
  };
  if (!digits(before) || !digits(behind) ||
      (behind.size() == 3 && before[0] != '0')) {
    return {};
  }
  std::string out(text);
  out[comma] = '.';
  return out;
}

// "12:00", "3:30 pm": a time of day. Other "a:b" are ratios.
bool IsTime(std::string_view text) {
  text = TrimBlanks(text);
  const size_t colon = text.find(':');
  if (colon == 0 || colon > 2 || text.size() < colon + 3) return false;
  for (size_t i = 0; i < colon; ++i) {
    if (!Digit(text[i])) return false;
  }
  if (!Digit(text[colon + 1]) || !Digit(text[colon + 2])) return false;
  const std::string half = FoldWords(text.substr(colon + 3));
  return half == "am" || half == "pm" ||
         (half.empty() && text[colon + 1] == '0');
}

// "5000 m", "12 m/s" in plain text: where the unit begins that letters behind
// a number and a blank may be; 0 for none.
size_t PlainUnit(std::string_view text) {
  const size_t blank = text.find(' ');
  if (blank == std::string_view::npos || blank == 0 || blank > 20 ||
      !Digit(text[blank - 1]) || text.size() > blank + 20 ||
      text.find('\\') != std::string_view::npos) {
    return 0;
  }
  return ReadUnit(text.substr(blank)).known ? blank : 0;
}

bool GroupsThousands(std::string_view text) {
  for (size_t i = 1; i + 3 < text.size(); ++i) {
    if (text[i] == ',' && Digit(text[i - 1]) && Digit(text[i + 1]) &&
        Digit(text[i + 2]) && Digit(text[i + 3])) {
      return true;
    }
  }
  return false;
}

class Grader {
 public:
  explicit Grader(const GradePolicy& policy)
      : policy_(policy), comparer_(policy) {}

  Readings Read(std::string_view raw) {
    Readings out;
    bool cut = false;
    if (policy_.extract) {
      Extracted found = ExtractAnswer(raw);
      cut = found.cut;
      out.text = std::move(found.text);
    } else {
      out.text = StripDelimiters(raw);
    }
    std::string content;
    out.choice = ReadChoice(out.text, &content);
    out.choice_only = out.choice != 0 && content.empty();
    if (IsTime(out.text)) {
      out.answers.push_back(TextAnswer(FoldWords(out.text)));
      return out;
    }
    Parse(out.text, {}, out);
    if (out.choice != 0 && !content.empty()) Parse(content, {}, out);
    if (GroupsThousands(out.text)) {
      LexOptions parts;
      parts.commas_part_items = true;
      Parse(out.text, parts, out);
      LexOptions groups;
      groups.thousands_in_brackets = true;
      Parse(out.text, groups, out);
    }
    if (const std::string european = EuropeanDecimal(out.text);
        !european.empty()) {
      Parse(european, {}, out);
    }
    if (const size_t unit = PlainUnit(out.text)) {
      const auto number = ParseMath(std::string_view(out.text).substr(0, unit));
      if (number.ok()) {
        out.answers.push_back(
            Interpret(Make(Op::kQuantity, {*number}, out.text.substr(unit)),
                      comparer_, policy_));
      }
    }
    const std::string folded = FoldWords(out.text);
    if (const int number = NumberWord(folded); number >= 0) {
      Parse(std::to_string(number), {}, out);
    }
    constexpr std::string_view kExcept = "all real numbers except ";
    if (folded.starts_with(kExcept)) {
      Parse("x \\ne " + folded.substr(kExcept.size()), {}, out);
    }
    const bool words = out.answers.empty() || HasWords(out.answers[0]);
    if (words && policy_.extract) {
      // A sentence: its last number is what it says.
      const bool prose = folded.find(' ') != std::string::npos || cut;
      const std::string_view sentence =
          out.text.size() > 2000 || !cut ? raw : std::string_view(out.text);
      // Formulas that could not be read are no sentence.
      if (prose && sentence.find('\\') == std::string_view::npos) {
        if (const auto number = LastNumberOf(sentence)) {
          Parse(*number, {}, out);
          if (const std::string decimal = EuropeanDecimal(*number);
              !decimal.empty()) {
            Parse(decimal, {}, out);
          }
        }
      }
    }
    if (out.answers.empty()) {
      out.answers.push_back(TextAnswer(Words(out.text)));
    } else {
      out.error.clear();
    }
    return out;
  }

  GradeVerdict Compare(const Readings& gold, const Readings& answer) {
    if (gold.choice != 0 && answer.choice != 0) {
      if (gold.choice != answer.choice) {
        return {false,
                absl::StrCat("gold is choice ", std::string(1, gold.choice),
                             ", the answer ", std::string(1, answer.choice))};
      }
      if (gold.choice_only || answer.choice_only) {
        return {true,
                absl::StrCat("both are choice ", std::string(1, gold.choice))};
      }
    }
    std::string first;
    for (const Answer& a : gold.answers) {
      for (const Answer& b : answer.answers) {
        AnswerVerdict verdict = CompareAnswers(a, b, comparer_, policy_);
        if (verdict.equal) return {true, std::move(verdict.reason)};
        if (first.empty()) first = std::move(verdict.reason);
      }
    }
    if (!answer.error.empty()) {
      absl::StrAppend(&first, " (could not read the answer: ", answer.error,
                      ")");
    }
    if (!gold.error.empty()) {
      absl::StrAppend(&first, " (could not read gold: ", gold.error, ")");
    }
    return {false, std::move(first)};
  }

 private:
  // Words of the language among what was read.
  static bool HasWords(const Answer& answer) {
    return answer.kind == Kind::kText ||
           std::any_of(answer.items.begin(), answer.items.end(),
                       [](const Answer& item) { return HasWords(item); });
  }

  // Words for comparing: signs count where the text looks like mathematics.
  static std::string Words(std::string_view text) {
    const bool formula =
        text.find_first_of("0123456789=<>^_+*/(") != std::string_view::npos;
    return formula ? Squeeze(text) : FoldWords(text);
  }

  void Parse(std::string_view text, const LexOptions& options, Readings& out) {
    const auto tree = ParseMath(text, options);
    if (!tree.ok()) {
      if (out.error.empty()) out.error = std::string(tree.status().message());
      return;
    }
    if (out.answers.size() < 6) {
      out.answers.push_back(Interpret(*tree, comparer_, policy_));
    }
  }

  const GradePolicy& policy_;
  ValueComparer comparer_;
};

}  // namespace

GradeVerdict GradeAnswer(std::string_view gold, std::string_view answer,
                         const GradePolicy& policy) {
  if (TrimBlanks(gold).empty()) return {false, "gold is blank"};
  if (TrimBlanks(answer).empty()) return {false, "the answer is blank"};
  Grader grader(policy);
  const Readings a = grader.Read(gold);
  const Readings b = grader.Read(answer);
  if (a.text == b.text ||
      (a.text.size() < 2 * kLongestMath && b.text.size() < 2 * kLongestMath &&
       Squeeze(a.text) == Squeeze(b.text))) {
    return {true, absl::StrCat("both are written ", a.text.substr(0, 60))};
  }
  return grader.Compare(a, b);
}

}  // namespace espalier
