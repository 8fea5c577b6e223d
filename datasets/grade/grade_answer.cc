#include "datasets/grade/grade_answer.h"

#include <algorithm>
#include <cctype>
#include <vector>

#include "absl/strings/str_cat.h"
#include "datasets/grade/answer.h"
#include "datasets/grade/clean_text.h"
#include "datasets/grade/extract_answer.h"
#include "datasets/grade/number_words.h"
#include "datasets/grade/parser.h"
#include "datasets/grade/sentence.h"
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
  for (const std::string_view word :
       {"option ", "choice ", "Option ", "Choice "}) {
    if (!rest.starts_with(word)) continue;
    rest = TrimBlanks(rest.substr(word.size()));
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
  // "Option B is wrong" is a sentence.
  if (!rest.empty() && !closed) return 0;
  // "(a)(b)" is a product.
  // "(A) and (C)" is two.
  if (rest.starts_with("and ") || rest.starts_with("or ") ||
      rest.starts_with("&") || rest.starts_with(",")) {
    return 0;
  }
  if (!rest.empty() && (rest[0] == '(' || rest[0] == '^' || rest[0] == '+' ||
                        rest[0] == '-' || rest[0] == '=' || rest[0] == '/')) {
    return 0;
  }
  *content = std::string(rest);
  return static_cast<char>(std::toupper(letter));
}

// Without \\left, \\right and thin spaces.
std::string WithoutSpacing(std::string_view text) {
  std::string out;
  for (size_t at = 0; at < text.size(); ++at) {
    const std::string_view rest = text.substr(at, 7);
    if (rest.starts_with("\\left(") || rest.starts_with("\\left[")) {
      at += 4;
    } else if (rest.starts_with("\\right)") || rest.starts_with("\\right]")) {
      at += 5;
    } else if (rest.starts_with("\\,") || rest.starts_with("\\;")) {
      out += ' ';
      ++at;
    } else {
      out += text[at];
    }
  }
  return out;
}

// The runs of letters; none where other signs than commas and brackets stand
// between them.
std::vector<std::string> Pieces(std::string_view text) {
  std::vector<std::string> out(1);
  for (const char c : text) {
    if (std::isalpha(static_cast<unsigned char>(c)) != 0) {
      out.back() += c;
    } else if (std::string_view(" ,;&(){}\\.").find(c) !=
               std::string_view::npos) {
      if (!out.back().empty()) out.emplace_back();
    } else {
      return {};
    }
  }
  return out;
}

// "ACD", "A, C and D", "(A), (C), (D)" where several choices are right: "ACD";
// empty for other texts.
std::string ManyChoices(std::string_view text) {
  if (text.size() > 60) return {};
  std::string out;
  for (const std::string& word : Pieces(text)) {
    if (word == "and" || word == "or" || word == "text" || word == "textbf" ||
        word == "mathrm") {
      continue;
    }
    for (const char c : word) {
      const bool choice = c >= 'A' && c <= 'F';
      if (!choice || out.find(c) != std::string::npos) return {};
      out += c;
    }
  }
  std::sort(out.begin(), out.end());
  return out.size() >= 2 ? out : std::string();
}

// Whether the numbers of a text only name things: "March 3", "statement 2 is
// false", "all but 2".
bool NamesNoNumber(std::string_view folded) {
  static constexpr std::string_view kMonths[] = {
      "january", "february", "march",     "april",   "may",      "june",
      "july",    "august",   "september", "october", "november", "december"};
  for (const std::string_view month : kMonths) {
    const size_t at = folded.rfind(month);
    if (at == std::string_view::npos) continue;
    const std::string_view rest = folded.substr(at + month.size());
    if (rest.size() >= 2 && rest[0] == ' ' && Digit(rest[1])) return true;
  }
  for (const std::string_view verdict :
       {" is true", " is false", " is correct", " is incorrect", " are true",
        " are false"}) {
    if (folded.starts_with("statement") && folded.ends_with(verdict)) {
      return true;
    }
  }
  // "No, because 7 is odd."
  if ((folded.starts_with("yes ") || folded.starts_with("no ")) &&
      (folded.find(" because ") != std::string_view::npos ||
       folded.find(" since ") != std::string_view::npos)) {
    return true;
  }
  if (!RangeInWords(folded).empty() || !NumberInWords(folded).empty()) {
    return true;
  }
  return folded.starts_with("all real numbers except") ||
         folded.starts_with("all reals except");
}

// Whether the text is words and numbers: nothing is lost by folding it.
bool OnlyWords(std::string_view text) {
  bool run = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool letter = std::isalpha(static_cast<unsigned char>(c)) != 0;
    run |= letter && i > 0 &&
           std::isalpha(static_cast<unsigned char>(text[i - 1])) != 0;
    if (std::string_view("^_+*/=<>()[]|").find(c) != std::string_view::npos) {
      return false;
    }
    const std::string_view rest = text.substr(i);
    if (c == '\\' && !rest.starts_with("\\text") &&
        !rest.starts_with("\\mathrm") && !rest.starts_with("\\mbox")) {
      return false;
    }
  }
  return run;
}

// "1,22" as in much of Europe: a comma before decimals, and nothing else.
std::string EuropeanDecimal(std::string_view text) {
  text = TrimBlanks(text);
  for (const std::string_view sign :
       {"$", "\\$", "\u20ac", "\u00a3", "\\euro", "\\pounds"}) {
    if (text.starts_with(sign)) text = TrimBlanks(text.substr(sign.size()));
    if (text.ends_with(sign)) {
      text = TrimBlanks(text.substr(0, text.size() - sign.size()));
    }
  }
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

// "7 R 3", "7 remainder 3": "7 remainder 3"; empty for other texts.
std::string WithRemainder(std::string_view text) {
  if (text.size() > 40) return {};
  std::string folded = FoldWords(text);
  const size_t first = folded.find_first_not_of("0123456789");
  if (first == 0 || first == std::string::npos) return {};
  const std::string_view rest = std::string_view(folded).substr(first);
  for (const std::string_view word : {" r ", " remainder ", "r"}) {
    if (!rest.starts_with(word)) continue;
    const std::string_view left = rest.substr(word.size());
    if (left.empty() ||
        left.find_first_not_of("0123456789") != std::string_view::npos) {
      return {};
    }
    return absl::StrCat(folded.substr(0, first), " remainder ",
                        std::string(left));
  }
  return {};
}

// "II", "\\text{IV}": a number in Roman letters, which names things and is no
// product of units.
bool IsRoman(std::string_view text) {
  text = TrimBlanks(text);
  for (const std::string_view mark : {"\\text{", "\\mathrm{", "\\textbf{"}) {
    if (text.starts_with(mark) && text.ends_with("}")) {
      text = text.substr(mark.size(), text.size() - mark.size() - 1);
    }
  }
  return text.size() >= 2 && text.size() <= 5 &&
         text.find('I') != std::string_view::npos &&
         text.find_first_not_of("IVX") == std::string_view::npos;
}

// "5000 m", "3 \\times 10^8 m/s" in plain letters: where the unit begins that
// letters behind a number and a blank may be; 0 for none.
size_t PlainUnit(std::string_view text) {
  size_t blank = text.size();
  for (int words = 0; words < 3; ++words) {
    blank = text.rfind(' ', blank - 1);
    if (blank == std::string_view::npos || blank == 0 ||
        text.size() > blank + 20) {
      return 0;
    }
    const std::string_view unit = text.substr(blank);
    if (unit.find('\\') != std::string_view::npos) return 0;
    const char before = text[blank - 1];
    if (Digit(before) || before == '}' || before == ')') {
      return ReadUnit(unit).known ? blank : 0;
    }
  }
  return 0;
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
      if (!found.line.empty()) {
        const std::string line = StripDelimiters(found.line);
        const auto tree = ParseMath(line);
        if (tree.ok() && !HasWords(Interpret(*tree, comparer_))) {
          out.text = line;
        }
      }
    } else {
      out.text = StripDelimiters(raw);
    }
    std::string content;
    out.choice = ReadChoice(out.text, &content);
    out.choice_only = out.choice != 0 && content.empty();
    if (const std::string division = WithRemainder(out.text);
        !division.empty()) {
      out.answers.push_back(TextAnswer(division));
      return out;
    }
    if (IsTime(out.text) || IsRoman(out.text)) {
      out.answers.push_back(TextAnswer(FoldWords(out.text)));
      return out;
    }
    Parse(out.text, {}, out);
    if (out.choice != 0 && !content.empty()) Parse(content, {}, out);
    AddNumbers(out);
    const std::string folded = FoldWords(out.text);
    AddWords(folded, cut, out);
    const bool words = out.answers.empty() || HasWords(out.answers[0]);
    const bool prose = folded.find(' ') != std::string::npos || cut;
    if (words && prose && policy_.extract) {
      std::string sentence(out.text.size() > 2000 || !cut ? raw : out.text);
      // Sizes of brackets and thin spaces make no formula.
      if (sentence.find('\\') != std::string::npos) {
        sentence = WithoutSpacing(sentence);
      }
      // Formulas that could not be read are no sentence.
      if (sentence.find('\\') == std::string::npos) {
        AddSentence(sentence, folded, out);
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
    if (gold.choice_only != answer.choice_only) {
      const char named = ChoiceNamed(
          WithoutSpacing(gold.choice_only ? answer.text : gold.text));
      if (named != 0 && named == (gold.choice_only ? gold : answer).choice) {
        return {true, absl::StrCat("both are choice ", std::string(1, named))};
      }
    }
    const std::string many = ManyChoices(gold.text);
    if (!many.empty() && many == ManyChoices(answer.text)) {
      return {true, absl::StrCat("both are choices ", many)};
    }
    const bool words = HasWords(gold.answers[0]) || HasWords(answer.answers[0]);
    if (words && OnlyWords(gold.text) && OnlyWords(answer.text) &&
        FoldWords(gold.text) == FoldWords(answer.text)) {
      return {true, absl::StrCat("both say \"", FoldWords(gold.text), "\"")};
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
  // The other ways in which numbers are written.
  void AddNumbers(Readings& out) {
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
      if (number.ok() && IsScalar(**number) && !HasSymbol(**number)) {
        out.answers.push_back(Interpret(
            Make(Op::kQuantity, {*number}, out.text.substr(unit)), comparer_));
      }
    }
  }

  // What words say, and what a calculation in a response ends with.
  void AddWords(const std::string& folded, bool cut, Readings& out) {
    if (const std::string number = NumberInWords(folded); !number.empty()) {
      Parse(number, {}, out);
    }
    // "so the sum is $3x = 15$": what a calculation in prose ends with.
    if (cut && out.answers.size() == 1 &&
        out.answers[0].kind == Kind::kEquation) {
      const Expr& from = out.answers[0].from;
      if (from != nullptr && from->op == Op::kRelation &&
          from->relations.back() == "=" && IsScalar(*from->args.back()) &&
          !HasSymbol(*from->args.back())) {
        const Expr last = from->args.back();
        out.answers.push_back(Interpret(last, comparer_));
      }
    }
    // "The answer is 800!"
    if (cut && out.text.size() > 1 && out.text.ends_with("!") &&
        Digit(out.text[out.text.size() - 2])) {
      Parse(std::string_view(out.text).substr(0, out.text.size() - 1), {}, out);
    }
    if (const std::string range = RangeInWords(folded); !range.empty()) {
      Parse(range, {}, out);
    }
    constexpr std::string_view kExcept = "all real numbers except ";
    if (folded.starts_with(kExcept)) {
      Parse("x \\ne " + folded.substr(kExcept.size()), {}, out);
    }
  }

  // What a sentence says; where that is no list of values, its last number.
  void AddSentence(const std::string& sentence, const std::string& folded,
                   Readings& out) {
    if (AddSaid(sentence, out) || NamesNoNumber(folded)) return;
    const auto number = LastNumberOf(sentence);
    if (!number) {
      if (const std::string counted = NumberWordIn(folded); !counted.empty()) {
        Parse(counted, {}, out);
      }
      return;
    }
    // "not 7"
    if (folded.starts_with("not ") &&
        sentence.find_first_of("0123456789") >= sentence.rfind(*number)) {
      return;
    }
    Parse(*number, {}, out);
    if (const std::string decimal = EuropeanDecimal(*number);
        !decimal.empty()) {
      Parse(decimal, {}, out);
    }
  }

  // What the sentence says as readings of its own; whether one of them holds
  // several values or nothing: no number alone is the answer then.
  bool AddSaid(std::string_view sentence, Readings& out) {
    bool several = false;
    for (const std::string& said : SaidInWords(sentence)) {
      const auto tree = ParseMath(said);
      if (!tree.ok()) {
        out.answers.push_back(TextAnswer(FoldWords(said)));
        continue;
      }
      out.answers.push_back(Interpret(*tree, comparer_));
      // Or nothing: "so there is no solution".
      const Answer& last = out.answers.back();
      several |=
          !HasWords(last) && (last.items.size() > 1 ||
                              (last.kind == Kind::kList && last.items.empty()));
    }
    return several;
  }

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
      out.answers.push_back(Interpret(*tree, comparer_));
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
