#include "datasets/answers/find/readings.h"

#include <algorithm>
#include <cctype>
#include <initializer_list>
#include <utility>

#include "absl/strings/str_cat.h"
#include "datasets/answers/find/base_beside.h"
#include "datasets/answers/find/claimed_boxes.h"
#include "datasets/answers/find/extract_answer.h"
#include "datasets/answers/find/outright.h"
#include "datasets/answers/find/plain_formulas.h"
#include "datasets/answers/find/restated.h"
#include "datasets/answers/find/sentence.h"
#include "datasets/answers/find/spoiled.h"
#include "datasets/answers/find/stated_number.h"
#include "datasets/answers/notation/parser.h"
#include "datasets/answers/notation/trailing_unit.h"
#include "datasets/answers/value/units.h"
#include "datasets/answers/words/characters.h"
#include "datasets/answers/words/choice.h"
#include "datasets/answers/words/clean_text.h"
#include "datasets/answers/words/number_place.h"
#include "datasets/answers/words/number_words.h"
#include "datasets/answers/words/phrases.h"
#include "datasets/answers/words/stance.h"
#include "datasets/answers/words/times_dates.h"

namespace espalier {
namespace {

using Kind = Answer::Kind;

// How much of the end of a text is searched for sentences that state its
// answer.
constexpr size_t kLongestSentence = 4000;

// Whether the numbers of a text only name things: "March 3", "statement 2 is
// false", "all but 2".
bool NamesNoNumber(std::string_view folded) {
  for (const std::string_view month : Phrases(Reading::kMonth)) {
    const size_t at = folded.rfind(month);
    if (at == std::string_view::npos) continue;
    const std::string_view rest = folded.substr(at + month.size());
    if (rest.size() >= 2 && rest[0] == ' ' && Digit(rest[1])) return true;
  }
  for (const std::string_view verdict : Phrases(Reading::kJudges)) {
    if (folded.starts_with("statement") && folded.ends_with(verdict)) {
      return true;
    }
  }
  // "No, because 7 is odd."
  if (BeginsIn(folded, Reading::kYesNo) > 0 &&
      Holds(folded, Reading::kBecause)) {
    return true;
  }
  if (!RangeInWords(folded).empty() || !NumberInWords(folded).empty()) {
    return true;
  }
  return StartsWith(folded, Reading::kAllExcept) > 0;
}

// "7 R 3", "7 remainder 3": "7 remainder 3"; else empty.
std::string WithRemainder(std::string_view text) {
  // "5*r**5" is a product.
  if (text.size() > 40 || text.find_first_of("*^_+=/(") != text.npos) {
    return {};
  }
  std::string folded = FoldWords(text);
  const size_t first = folded.find_first_not_of("0123456789");
  if (first == 0 || first == std::string::npos) return {};
  const std::string_view rest = std::string_view(folded).substr(first);
  for (const std::string_view word : Phrases(Reading::kRemainder)) {
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

// "II", "\\text{IV}": a Roman numeral, which names things and is not a product
// of units.
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

// "5\"" as "5 inches", "6'" as "6 feet", "5'6\"" as both; else empty.
std::string WithoutPrimes(std::string_view text) {
  text = TrimBlanks(text);
  if (text.size() > 20 || text.empty() || !Digit(text[0])) return {};
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const size_t start = at;
    while (at < text.size() && (Digit(text[at]) || text[at] == '.')) ++at;
    if (at == start) return {};
    absl::StrAppend(&out, out.empty() ? "" : " ",
                    std::string(text.substr(start, at - start)));
    const std::string_view sign = text.substr(at);
    const bool inches = sign.starts_with("\"") || sign.starts_with("''");
    if (inches) {
      const size_t length = sign[0] == '"' ? 1 : 2;
      return sign.size() == length ? out + " inches" : std::string();
    }
    if (!sign.starts_with("'") || start > 0) return {};
    out += " feet";
    for (++at; at < text.size() && text[at] == ' ';) ++at;
  }
  return out;
}

// "2 h 15 min" as "2 hours 15 minutes"; else empty.
std::string HoursAndMinutes(std::string_view text) {
  if (text.size() > 30) return {};
  const std::string lower = Lower(TrimBlanks(text));
  std::vector<std::string> parts;
  for (size_t at = 0; at < lower.size();) {
    size_t end = at;
    const bool digits = Digit(lower[at]);
    while (end < lower.size() && lower[end] != ' ' &&
           Digit(lower[end]) == digits) {
      ++end;
    }
    if (end > at) parts.push_back(lower.substr(at, end - at));
    at = std::max(end, at + 1);
    if (end < lower.size() && lower[end] != ' ') at = end;
  }
  if (parts.size() != 4 || !Digit(parts[0][0]) || !Digit(parts[2][0]) ||
      !IsPhrase(parts[1], Reading::kHours) ||
      !IsPhrase(parts[3], Reading::kMinutes)) {
    return {};
  }
  return absl::StrCat(parts[0], " hours ", parts[2], " minutes");
}

// "$80k" as "80 thousand dollars"; else empty.
std::string Thousands(std::string_view text) {
  text = TrimBlanks(text);
  while (text.starts_with("\\") || text.starts_with("$")) text.remove_prefix(1);
  const std::string_view digits =
      text.substr(0, text.find_first_not_of("0123456789.,"));
  const std::string_view rest = text.substr(digits.size());
  if (digits.empty() || (rest != "k" && rest != "K")) return {};
  return absl::StrCat(std::string(digits), " thousand dollars");
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

// Whether the text is cut off: braces or an environment stay open.
bool EndsInside(std::string_view text) {
  int open = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == '{') {
      ++open;
    } else if (text[i] == '}') {
      --open;
    }
  }
  const size_t begin = text.rfind("\\begin{");
  return open > 0 ||
         (begin != text.npos && text.find("\\end{", begin) == text.npos);
}

// Whether a text without commands is prose, even if parts of it parse.
bool ManyWords(std::string_view text) {
  constexpr int kFew = 5;
  if (text.find('\\') != std::string_view::npos) return false;
  int words = 0;
  size_t run = 0;
  for (const char c : text) {
    run = Letter(c) ? run + 1 : 0;
    words += run == 3 ? 1 : 0;
    if (words >= kFew) return true;
  }
  return false;
}

// Words for comparing; signs are significant if the text looks like
// mathematics.
std::string ComparedWords(std::string_view text) {
  const bool formula =
      text.find_first_of("0123456789=<>^_+*/(") != std::string_view::npos;
  return formula ? Squeeze(text) : FoldWords(text);
}

}  // namespace

bool HasWords(const Answer& answer) {
  return answer.kind == Kind::kText ||
         std::any_of(answer.items.begin(), answer.items.end(), HasWords);
}

std::string Squeeze(std::string_view text) {
  const std::string clean = CleanMath(text);
  const auto digit = [&clean](size_t at) {
    return at < clean.size() && Digit(clean[at]);
  };
  std::string out;
  bool blank = false;
  for (size_t at = 0; at < clean.size(); ++at) {
    const char c = clean[at];
    if (c == ' ') {
      blank = true;
      continue;
    }
    // "3, 500" is two numbers, "3,500" one.
    const bool thousands = blank && out.ends_with(",") && digit(at) &&
                           digit(at + 1) && digit(at + 2) && !digit(at + 3);
    const bool parts = !out.empty() && Digit(out.back()) && Digit(c);
    if (blank && (parts || thousands)) out += ' ';
    blank = false;
    out += c;
  }
  return out;
}

// Without \\left, \\right and thin spaces.
std::string WithoutSpacing(std::string_view text) {
  std::string out;
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '\\') {
      out += text[at];
      continue;
    }
    const std::string_view rest = text.substr(at, 7);
    if (rest.starts_with("\\left(") || rest.starts_with("\\left[")) {
      at += 4;
    } else if (rest.starts_with("\\right)") || rest.starts_with("\\right]")) {
      at += 5;
    } else if (rest.starts_with("\\,") || rest.starts_with("\\;")) {
      out += ' ';
      ++at;
    } else if (rest.starts_with("\\$") || rest.starts_with("\\%")) {
      out += text[++at];
    } else {
      out += text[at];
    }
  }
  return out;
}

std::string WithoutUpright(std::string_view text) {
  std::string out;
  int open = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    const std::string_view rest = text.substr(at);
    size_t length = 0;
    for (const std::string_view command : {"\\text{", "\\mathrm{", "\\ce{"}) {
      if (rest.starts_with(command)) length = command.size();
    }
    if (length > 0) {
      ++open;
      at += length - 1;
    } else if (rest[0] == '}' && open > 0) {
      --open;
    } else if (rest.size() > 3 && (rest[0] == '_' || rest[0] == '^') &&
               rest[1] == '{' && rest[3] == '}') {
      out += {rest[0], rest[2]};
      at += 3;
    } else if (!Blank(rest[0])) {
      out += rest[0];
    }
  }
  return out;
}

bool Reader::Parse(std::string_view text, const LexOptions& options,
                   std::vector<Answer>& to, std::string* error) {
  const auto tree = ParseMath(text, options);
  if (!tree.ok()) {
    if (error != nullptr && error->empty()) {
      *error = std::string(tree.status().message());
    }
    return false;
  }
  to.push_back(Interpret(*tree, comparer_));
  return true;
}

// The part of `raw` that gives the answer.
std::string Reader::FindText(std::string_view raw, Readings& out, bool& cut) {
  if (!policy_.extract) return StripDelimiters(raw);
  Extracted found = ExtractAnswer(raw);
  // "\\text{5 units}", "\\text{The function is even}"
  if (std::string words = WordsInFont(found.text); !words.empty()) {
    found.text = std::move(words);
  }
  cut = found.cut;
  around_ = found.around;
  place_ = found.place;
  count_ = std::move(found.count);
  out.cut_off = found.open;
  out.picked = found.picked;
  out.unsure = found.unsure;
  out.denied = found.denied;
  if (!found.line.empty()) {
    std::string line = StripDelimiters(found.line);
    const auto tree = ParseMath(line);
    if (tree.ok() && !HasWords(Interpret(*tree, comparer_))) {
      out.picked = false;
      return line;
    }
  }
  return std::move(found.text);
}

// Times, divisions with remainders and Roman numerals, which are not formulas.
bool Reader::ReadNames(Readings& out) {
  if (std::string division = WithRemainder(out.text); !division.empty()) {
    out.answers.push_back(TextAnswer(std::move(division)));
    return true;
  }
  std::string time = TimeOfDay(out.text);
  if (time.empty()) time = DateOf(out.text);
  if (!time.empty()) {
    out.answers.push_back(TextAnswer(std::move(time)));
    return true;
  }
  if (!IsRoman(out.text)) return false;
  out.answers.push_back(TextAnswer(FoldWords(out.text)));
  return true;
}

// Words too long for a formula: the end decides.
void Reader::ReadLongWords(bool cut, Readings& out) {
  const size_t start = out.text.size() - kLongestSentence;
  const size_t blank = out.text.find(' ', start);
  const std::string end =
      out.text.substr(blank == std::string::npos ? start : blank + 1);
  out.error = "expected a formula, found a long text";
  out.words = true;
  out.answers.push_back(TextAnswer(out.text));
  if (policy_.extract && end.find('\\') == std::string::npos) {
    AddSentence(end, FoldWords(end), cut, out);
  }
}

Readings Reader::Read(std::string_view written) {
  const std::string plain = WithPlainSigns(TrimBlanks(written));
  Readings out = ReadBest(plain);
  if (!policy_.extract || out.choice != 0) return out;
  if (SpoiledBy(out.text).empty() && SpoiledBy(plain).empty()) return out;
  // "7 (wrong)", "12 gross", "20 (base 7)": words, with a doubtful number.
  out.doubtful.insert(out.doubtful.end(), out.answers.begin(),
                      out.answers.end());
  out.answers = {TextAnswer(FoldWords(plain))};
  return out;
}

Readings Reader::ReadBest(const std::string& plain) {
  Readings out = ReadPlain(plain);
  if (!policy_.extract || out.choice != 0 || out.unsure) return out;
  // "in [0, 10], for instance 5"
  if (Mentions(PlainLower(plain), Reading::kMaybe)) return out;
  const std::string spaced = WithoutSpacing(plain);
  const std::string marked = MarkFormulas(spaced);
  if (marked.empty()) return out;
  // A formula in plain signs; the words gave only a part of it, or nothing.
  Readings formula = ReadPlain(marked);
  const bool found = !formula.words && !formula.denied && !formula.picked &&
                     !HasWords(formula.answers[0]);
  // "The maximum is 10 at x = 3." states the number.
  const std::string& stated = out.number.empty() ? out.text : out.number;
  const bool none = (out.words || HasWords(out.answers[0]) ||
                     (WithoutSpacing(out.text).size() + 2 >= spaced.size() &&
                      Mentions(PlainLower(plain), Reading::kTherefore))) &&
                    out.number.empty();
  const size_t at = spaced.rfind(formula.text), within = spaced.rfind(stated);
  const bool part = formula.text.size() > stated.size() &&
                    at != std::string::npos && within != std::string::npos &&
                    within >= at &&
                    within + stated.size() <= at + formula.text.size();
  const bool number = none && !formula.number.empty();
  // "The least value is 4, attained when n = 7."
  if (at != std::string::npos && formula.text.find('=') != std::string::npos &&
      LastNumberOf(spaced.substr(0, at)) &&
      EndsWith(PlainLower(WithoutMarks(spaced.substr(0, at))) + " ",
               Reading::kAtValue) > 0) {
    return out;
  }
  return (found && (none || part)) || number ? formula : out;
}

Readings Reader::ReadPlain(std::string_view raw) {
  Readings out = ReadWhole(raw);
  // Words: their sentence is examined as a whole.
  const bool words = out.words || HasWords(out.answers[0]);
  if (policy_.extract) {
    out.doubt = DoubtAbout(raw, place_, words ? std::string_view() : out.text,
                           out.number);
  }
  return out;
}

Readings Reader::ReadWhole(std::string_view raw) {
  Readings out;
  around_ = place_ = {};
  count_.clear();
  bool cut = false;
  out.text = FindText(raw, out, cut);
  if (out.text.size() > kLongestMath) {
    ReadLongWords(cut, out);
    return out;
  }
  out.cut_off |= EndsInside(out.text);
  if (std::string part = WithPartInDigits(out.text); !part.empty()) {
    out.text = std::move(part);
  }
  if (std::string first = WithFirstInDigits(out.text); !first.empty()) {
    out.text = std::move(first);
  }
  if (std::string based = WithBaseBehind(out.text); !based.empty()) {
    out.text = std::move(based);
  }
  // Of several values, none is the answer.
  out.unsure |= Asks(out.text) || !LinesAsList(raw).empty();
  std::string content;
  out.choice = ReadChoice(out.text, &content);
  out.choice_only = out.choice != 0 && content.empty();
  // "(E)... let me reconsider."
  if (out.choice != 0 && Retracted(out.text)) out.unsure = true;
  if (ReadNames(out)) return out;
  const std::string folded = FoldWords(out.text);
  const bool condition = ConditionStart(out.text) < out.text.size();
  if (condition) out.answers.push_back(TextAnswer(folded));
  const bool worded = condition || AddWordsAlone(folded, out);
  const bool counted = !worded && AddCountedList(out);
  if (!worded && !counted && !out.denied) {
    std::string lengths = WithoutPrimes(out.text);
    if (lengths.empty()) lengths = HoursAndMinutes(out.text);
    if (lengths.empty() && out.text.find('$') < 2) {
      lengths = Thousands(out.text);
    }
    Parse(lengths.empty() ? out.text : lengths, {}, out.answers, &out.error);
    // "20\\text{ m} \\times 20\\text{ m} = 400\\text{ m}^2": the last side.
    if (const size_t equal = out.text.rfind('=');
        out.answers.empty() && cut && equal != std::string::npos &&
        out.text.find('\\') != std::string::npos) {
      std::vector<Answer> last;
      if (Parse(std::string_view(out.text).substr(equal + 1), {}, last) &&
          last[0].expr != nullptr && !HasSymbol(*last[0].expr)) {
        out.answers = std::move(last);
      }
    }
    if (out.choice != 0 && !content.empty()) Parse(content, {}, out.answers);
    AddNumbers(out);
    AddIdentity(out);
    AddCalculation(raw, cut, out);
  }
  // What could be parsed out of several sentences is not a formula of theirs.
  const bool sentences = raw.find('\n') != std::string_view::npos ||
                         raw.find(". ") != std::string_view::npos;
  if (!cut && sentences && !counted && !out.answers.empty() &&
      !HasWords(out.answers[0]) && ManyWords(raw)) {
    out.answers = {TextAnswer(folded)};
  }
  const bool words = out.answers.empty() || HasWords(out.answers[0]) ||
                     (!cut && ManyWords(raw));
  const bool prose = folded.find(' ') != std::string::npos || cut;
  if (words && prose && policy_.extract) {
    if (raw.size() > kLongestSentence) {
      raw.remove_prefix(raw.size() - kLongestSentence);
    }
    std::string sentence(out.text.size() > 2000 || !cut ? raw : out.text);
    // Bracket sizes and thin spaces do not make a formula.
    if (sentence.find('\\') != std::string::npos) {
      sentence = WithoutSpacing(sentence);
    }
    out.words = true;
    // Formulas that could not be parsed are not sentences.
    if (sentence.find('\\') == std::string::npos) {
      AddSentence(sentence, folded, cut, out);
    }
  }
  if (out.answers.empty()) {
    out.answers.push_back(TextAnswer(ComparedWords(out.text)));
  } else {
    out.error.clear();
  }
  AddWordsAround(out);
  if (!count_.empty() && !out.answers[0].items.empty() &&
      std::to_string(out.answers[0].items.size()) == count_) {
    Parse(count_, {}, out.answers);
  }
  return out;
}

// Other ways to write numbers.
void Reader::AddNumbers(Readings& out) {
  if (GroupsThousands(out.text)) {
    LexOptions parts;
    parts.commas_part_items = true;
    Parse(out.text, parts, out.doubtful);
    LexOptions groups;
    groups.thousands_in_brackets = true;
    // "(3,500)" is a pair, "\\{3,500\\}" a set of two.
    if (Parse(out.text, groups, out.doubtful) &&
        (out.doubtful.back().kind == Kind::kValue ||
         out.doubtful.back().items.size() == 1)) {
      out.doubtful.pop_back();
    }
  }
  // "third" and "3rd" mean the same, "3" need not.
  if (std::string place = PlaceInWords(FoldWords(out.text)); !place.empty()) {
    out.beside.push_back(TextAnswer(std::move(place)));
  }
  const size_t equal = out.text.find('=');  // "a = 3.2 m/s^2"
  const bool named = equal != std::string::npos && equal < 12 &&
                     LastNumberOf(out.text.substr(0, equal)) == std::nullopt;
  const auto found = FindTrailingUnit(
      named ? TrimBlanks(std::string_view(out.text).substr(equal + 1))
            : std::string_view(out.text));
  if (!found) return;
  const auto number = ParseMath(found->number);
  if (!number.ok() || !IsScalar(**number) || HasSymbol(**number)) return;
  Answer unit =
      Interpret(Make(Op::kQuantity, {*number}, found->unit), comparer_);
  // Anything that is not a product, or could not be parsed at all.
  const bool unread = out.answers.empty() || HasWords(out.answers[0]);
  const bool letters = !unread && out.answers[0].expr != nullptr &&
                       HasSymbol(*out.answers[0].expr);
  if ((found->sure && letters) || (unread && ReadUnit(found->unit).known)) {
    out.answers.insert(out.answers.begin(), unit);
  }
  out.beside.push_back(std::move(unit));
}

// A text that is a number or a range in words, or a phrase listed in the table.
bool Reader::AddWordsAlone(const std::string& folded, Readings& out) {
  const bool letters =
      std::all_of(out.text.begin(), out.text.end(),
                  [](unsigned char c) { return std::isalpha(c) != 0; });
  if (letters && !ReadAs(folded).empty()) {
    out.answers.push_back(TextAnswer(folded));
    return true;
  }
  if (const std::string number = NumberInWords(folded); !number.empty()) {
    return Parse(number, {}, out.answers);
  }
  // "ten (10)"
  const size_t blank = folded.rfind(' ');
  if (blank != std::string::npos &&
      NumberInWords(folded.substr(0, blank)) == folded.substr(blank + 1)) {
    return Parse(folded.substr(blank + 1), {}, out.answers);
  }
  for (const std::string& said :
       {RangeInWords(folded), ValuesInWords(folded), OnePart(out.text)}) {
    if (!said.empty()) return Parse(said, {}, out.answers);
  }
  // "24, minus one" need not be a difference.
  if (out.text.find(',') == std::string::npos) {
    std::string formula = FormulaInWords(folded);
    if (!formula.empty() && Parse(formula, {}, out.answers)) {
      out.text = std::move(formula);
      return true;
    }
  }
  return false;
}

// "There are 4 primes: 2, 3, 5 and 7" gives both the items and their number.
bool Reader::AddCountedList(Readings& out) {
  const CountedList list = FindCountedList(out.text);
  return !out.denied && !list.count.empty() &&
         Parse(list.items, {}, out.answers) &&
         Parse(list.count, {}, out.answers);
}

// An identity states the value of both sides.
void Reader::AddIdentity(Readings& out) {
  constexpr size_t kLongestIdentity = 400;
  const std::string_view text = out.text;
  const size_t equal = text.rfind('=');
  if (equal == std::string_view::npos || equal == 0 ||
      text.size() > kLongestIdentity ||
      std::string_view("<>!:=").find(text[equal - 1]) !=
          std::string_view::npos) {
    return;
  }
  const std::string_view left = text.substr(0, text.find('='));
  const auto a = ParseMath(left), b = ParseMath(text.substr(equal + 1));
  if (!b.ok() || !IsScalar(**b)) return;
  // "1+2+\\cdots+n = n(n+1)/2": a sum written out has no other value than the
  // right side.
  const bool dots = left.find("dots") != std::string_view::npos ||
                    left.find("...") != std::string_view::npos;
  const bool sum = !a.ok() && dots && left.find('+') < left.size();
  if (!sum) {
    if (!a.ok() || !IsScalar(**a)) return;
    // "x = 5" names something.
    if ((*a)->op == Op::kSymbol || !comparer_.Equal(*a, *b)) return;
  }
  // "14/2 = 6 = 7"
  for (size_t at = left.size(); at < equal;) {
    const size_t end = text.find('=', at + 1);
    const auto between = ParseMath(text.substr(at + 1, end - at - 1));
    if (between.ok() && comparer_.Contradict(*between, *b)) return;
    at = end;
    if (end == equal) break;
  }
  out.answers.push_back(Interpret(*b, comparer_));
}

// The result of a calculation in prose.
void Reader::AddCalculation(std::string_view raw, bool cut, Readings& out) {
  if (out.answers.empty()) return;
  // "so the sum is $3x = 15$". A copy: adding readings may move the rest.
  const Answer first = out.answers[0];
  // "P = (3 + 5, 7 - 1) = (8, 6)", "A v = w": the last side in brackets; not of
  // "(y, x) = (3, 4)", which names the order of the values.
  if (first.from != nullptr && first.from->op == Op::kRelation &&
      first.from->relations.back() == "=") {
    const Expr last = first.from->args.back();
    const bool brackets = last->op == Op::kTuple || last->op == Op::kMatrix ||
                          last->op == Op::kSet;
    const bool named = first.from->args.size() == 2 && first.name != nullptr &&
                       first.name->op == Op::kTuple;
    if (brackets && !named && !HasSymbol(*last)) {
      out.answers.push_back(Interpret(last, comparer_));
    }
  }
  if (!cut) return;
  if (first.kind == Kind::kEquation && first.from != nullptr &&
      first.from->op == Op::kRelation && first.from->relations.back() == "=") {
    const Expr last = first.from->args.back();
    if (IsScalar(*last) && !HasSymbol(*last)) {
      const size_t at = raw.rfind(out.text);
      std::string_view lead = raw.substr(0, at == raw.npos ? 0 : at);
      lead = WithoutMarks(lead);
      // "p(3)/p(4) = -10A/-11A = 10/11": derived in several steps.
      const bool steps = first.from->relations.size() > 1 &&
                         first.from->args[0]->op != Op::kNumber &&
                         HasSymbol(*first.from->args[0]);
      // "Hence all is even. $m + n = 371$": an equation in names, with nothing
      // left to solve.
      const Expr& left = first.from->args[0];
      const bool begins = TrimBlanks(lead.substr(SentenceStart(lead))).empty();
      const bool sum =
          left->args.size() > 1 &&
          std::all_of(left->args.begin(), left->args.end(),
                      [](const Expr& part) { return part->op == Op::kSymbol; });
      const bool names = begins && sum;
      // "so 2x = 5" is not solved yet.
      const bool open = EndsIn(lead, Reading::kTherefore) > 0 && !sum &&
                        left->op != Op::kSymbol && HasSymbol(*left);
      // "the circle is x^2 + y^2 = 7"
      const bool figure = Mentions(PlainLower(lead.substr(SentenceStart(lead))),
                                   Reading::kFigure) &&
                          HasSymbol(*left);
      const bool stated =
          !figure &&
          (steps || names || (!open && EndsIn(lead, Reading::kStates) > 0));
      (stated ? out.answers : out.doubtful)
          .push_back(Interpret(last, comparer_));
    }
  }
  // "The answer is 800!" means 800, since nobody would give its factorial; "5!"
  // may be either.
  if (out.text.size() < 2 || !out.text.ends_with("!") ||
      !Digit(out.text[out.text.size() - 2])) {
    return;
  }
  const std::string_view number =
      std::string_view(out.text).substr(0, out.text.size() - 1);
  Parse(number, {}, number.size() > 2 ? out.answers : out.doubtful);
}

// The statement of a sentence; if it is not a list of values, the number that
// it states.
void Reader::AddSentence(const std::string& sentence, const std::string& folded,
                         bool cut, Readings& out) {
  std::string_view last = TrimBlanks(sentence);
  while (last.ends_with(".")) last.remove_suffix(1);
  last = last.substr(SentenceStart(last));
  const size_t before = out.answers.size();
  if (AddSaid(sentence, out) || NamesNoNumber(FoldWords(last))) return;
  StatedNumber number = StatedInWords(sentence);
  if (number.trust == Trust::kNone) number = FindStatedNumber(sentence, cut);
  if (number.trust != Trust::kNone) {
    bool sure = number.trust == Trust::kStated;
    std::vector<Answer> value;
    Parse(number.text + number.unit, {}, value);
    // "He is 6 years older than his sister, who is 9." states two numbers.
    for (size_t i = before; sure && i < out.answers.size() && !value.empty();) {
      Expr said = out.answers[i].expr, other = value[0].expr;
      if (said != nullptr && said->op == Op::kQuantity) said = said->args[0];
      if (other != nullptr && other->op == Op::kQuantity) {
        other = other->args[0];
      }
      if (said_[i - before].find(number.text) != std::string::npos ||
          out.answers[i].kind != Kind::kValue || said == nullptr ||
          other == nullptr || said->op != Op::kNumber ||
          !comparer_.Contradict(said, other)) {
        ++i;
        continue;
      }
      sure = false;
      out.doubtful.push_back(out.answers[i]);
      out.answers.erase(out.answers.begin() + static_cast<std::ptrdiff_t>(i));
      said_.erase(said_.begin() + static_cast<std::ptrdiff_t>(i - before));
    }
    std::vector<Answer>& to = sure ? out.answers : out.doubtful;
    // "7 dozen" counts dozens as "7 hours" counts hours; it may mean 84.
    constexpr std::string_view kDozen = " dozen";
    const bool dozens = number.text.ends_with(kDozen);
    std::vector<Answer>& whole = dozens ? out.doubtful : to;
    whole.insert(whole.end(), value.begin(), value.end());
    if (dozens) {
      Parse(number.text.substr(0, number.text.size() - kDozen.size()), {}, to);
    }
    if (sure) out.number = number.text;
    return;
  }
  if (LastNumberOf(sentence)) return;
  const std::string counted = NumberWordIn(folded);
  if (!counted.empty() && Affirms(sentence)) {
    Parse(counted, {}, out.answers);
    out.number = counted;
  }
}

// "Since $f(-x) = f(x)$, the function is even": a last sentence with a short
// statement in words answers with them as well as with its formula.
void Reader::AddWordsAround(Readings& out) {
  constexpr size_t kLongestSaid = 40;
  if (around_.empty()) return;
  const std::string_view end = around_.substr(
      around_.size() - std::min(around_.size(), kLongestSentence));
  for (const std::string& said : SaidInWords(end)) {
    const bool plain =
        said.size() <= kLongestSaid &&
        std::all_of(said.begin(), said.end(), [](unsigned char c) {
          return std::isalpha(c) != 0 || c == ' ' || c == '-';
        });
    const std::string folded = FoldWords(said);
    // "No. For example, $f(0) \\ne 0$."
    const bool said_so = !out.denied || IsPhrase(folded, Reading::kVerdict);
    if (plain && said_so && folded.size() > 1)
      out.answers.push_back(TextAnswer(folded));
  }
}

// Adds the sentence's statements as separate readings. Returns whether one of
// them holds several values or nothing: then no single number is the answer.
bool Reader::AddSaid(std::string_view sentence, Readings& out) {
  bool several = false;
  said_ = SaidInWords(sentence);
  for (const std::string& said : said_) {
    std::string named = DateOf(said);
    if (named.empty()) named = TimeOfDay(said);
    if (!named.empty()) {
      out.answers.push_back(TextAnswer(std::move(named)));
      continue;
    }
    std::string number = WithBaseBehind(said);
    if (number.empty()) number = NumberInWords(FoldWords(said));
    if (number.empty()) number = OnePart(said);
    if (number.empty()) number = RangeInWords(FoldWords(said));
    if (number.empty() && said.find(',') == std::string::npos) {
      number = FormulaInWords(FoldWords(said));
    }
    const auto tree = ParseMath(number.empty() ? said : number);
    if (!tree.ok() || out.denied || (number.empty() && ManyWords(said))) {
      out.answers.push_back(TextAnswer(FoldWords(said)));
      continue;
    }
    out.answers.push_back(Interpret(*tree, comparer_));
    // Or the empty set: "so there is no solution".
    const Answer& last = out.answers.back();
    several |=
        !HasWords(last) && (last.items.size() > 1 ||
                            (last.kind == Kind::kList && last.items.empty()));
  }
  return several;
}

}  // namespace espalier
