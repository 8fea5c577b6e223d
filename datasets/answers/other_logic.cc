#include "datasets/answers/other_logic.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "datasets/answers/value/answer.h"
#include "datasets/answers/value/expression.h"
#include "datasets/answers/words/characters.h"
#include "datasets/answers/words/clean_text.h"

namespace espalier {
namespace {

constexpr size_t kLongestLogic = 300;

using Sign = std::pair<std::string_view, char>;

constexpr std::array<Sign, 12> kConnectives = {{{" and ", '&'},
                                                {"\\land", '&'},
                                                {"\\wedge", '&'},
                                                {"\u2227", '&'},
                                                {"\\cap", '&'},
                                                {" or ", '|'},
                                                {"\\lor", '|'},
                                                {"\\vee", '|'},
                                                {"\u2228", '|'},
                                                {"\\cup", '|'},
                                                {"\u222a", '|'},
                                                {"\u2229", '&'}}};
constexpr std::array<Sign, 9> kArrows = {{{"\\iff", '='},
                                          {"\\Leftrightarrow", '='},
                                          {"\\leftrightarrow", '='},
                                          {"\u21d4", '='},
                                          {"\\implies", '>'},
                                          {"\\Rightarrow", '>'},
                                          {"\\rightarrow", '>'},
                                          {"\u21d2", '>'},
                                          {"\u2192", '>'}}};

// The signs of a text in order, each as its character.
template <size_t n>
std::string SignsOf(std::string_view text, const std::array<Sign, n>& signs) {
  std::string out;
  for (size_t at = 0; at < text.size(); ++at) {
    for (const auto& [sign, kind] : signs) {
      if (!text.substr(at).starts_with(sign)) continue;
      const size_t end = at + sign.size();
      const bool command = sign[0] == '\\';
      if (command && end < text.size() && Letter(text[end])) continue;
      out += kind;
      break;
    }
  }
  return out;
}

// Values of one unknown, which "and" and "or" list alike: "x = 1 and x = 2".
bool ListsSolutions(const Readings& side) {
  const auto lists = [](const Answer& answer) {
    if (answer.kind != Answer::Kind::kList || answer.items.empty())
      return false;
    const Expr& name = answer.items.front().name;
    return std::all_of(
        answer.items.begin(), answer.items.end(), [&name](const Answer& item) {
          const bool same_name =
              (item.name == nullptr) == (name == nullptr) &&
              (name == nullptr || SameTree(*item.name, *name));
          return item.kind == Answer::Kind::kValue && same_name &&
                 item.expr != nullptr &&
                 (name != nullptr || item.expr->op != Op::kSymbol);
        });
  };
  return std::any_of(side.answers.begin(), side.answers.end(), lists);
}

// "x = 1 and x = 2" within a sentence.
bool EquatesOneLetter(std::string_view text) {
  char letter = '\0';
  int count = 0;
  if (text.find_first_of("<>") != kNowhere) return false;
  for (size_t at = text.find('='); at != kNowhere;
       at = text.find('=', at + 1)) {
    std::string_view front = TrimBlanks(text.substr(0, at));
    while (front.ends_with("\\,") || front.ends_with("\\;")) {
      front = TrimBlanks(front.substr(0, front.size() - 2));
    }
    if (front.empty() || !Letter(front.back())) return false;
    if (count++ > 0 && front.back() != letter) return false;
    letter = front.back();
  }
  return count > 1;
}

// "a or b" and "a and b", where that is not only a way to list solutions.
bool ExchangesConnectives(const Readings& gold, const Readings& answer) {
  const std::string x = SignsOf(gold.text, kConnectives),
                    y = SignsOf(answer.text, kConnectives);
  if (x.empty() || y.empty() || x == y) return false;
  // "x < 1 and x \\ne 0" for two intervals.
  for (const std::string_view sign : {"\\ne", "\u2260", "!="}) {
    if (gold.text.find(sign) != kNowhere ||
        answer.text.find(sign) != kNowhere) {
      return false;
    }
  }
  const bool alike = std::string_view(x).find_first_not_of(x[0]) == kNowhere &&
                     std::string_view(y).find_first_not_of(x[0]) == kNowhere;
  const auto solutions = [](const Readings& side) {
    return ListsSolutions(side) || EquatesOneLetter(side.text);
  };
  return !alike && !(solutions(gold) && solutions(answer));
}

// Another arrow than gold's, or none, between statements without numbers.
bool ExchangesArrows(std::string_view gold, std::string_view answer) {
  const std::string x = SignsOf(gold, kArrows), y = SignsOf(answer, kArrows);
  const auto plain = [](std::string_view text) {
    return !HasDigits(text) && text.find('=') == kNowhere;
  };
  return !x.empty() && x != y && plain(gold) && plain(answer);
}

// Whether the real or imaginary part of something unknown is taken.
bool TakesPart(std::string_view text, const Readings& side) {
  const Expr& e = side.answers.front().expr;
  if (e != nullptr && !HasSymbol(*e)) return false;
  constexpr std::array<std::string_view, 6> kParts = {"\\Re", "\\Im", "{Re}",
                                                      "{Im}", "Re(",  "Im("};
  return std::any_of(
      kParts.begin(), kParts.end(),
      [text](std::string_view part) { return text.find(part) != kNowhere; });
}

// A letter that is mostly a complex number, a matrix or a vector, between
// bars: "z" of "|z|^2"; empty if there is none.
std::string_view BetweenBars(std::string_view text) {
  for (const std::string_view name : {"z", "w", "\\psi", "\\phi", "A", "B"}) {
    for (const auto& [open, close] : {std::pair("|", "|"),
                                      {"\\lvert ", "\\rvert"},
                                      {"\\left|", "\\right|"}}) {
      const std::string whole =
          std::string(open) + std::string(name) + std::string(close);
      if (text.find(whole) != kNowhere) return name;
    }
  }
  return text.find("|\\mathbf{") != kNowhere ? "\\mathbf{"
         : text.find("|\\vec{") != kNowhere  ? "\\vec{"
                                             : std::string_view();
}

bool LosesModulus(std::string_view text, std::string_view other) {
  const std::string_view name = BetweenBars(text);
  return !name.empty() && other.find('|') == kNowhere &&
         other.find("vert") == kNowhere && other.find(name) != kNowhere;
}

// "P(A)", "\\sigma(6)": a letter with a single argument, and nothing else.
bool IsApplied(std::string_view text) {
  text = TrimBlanks(text);
  if (!text.ends_with(")") || text.size() < 4) return false;
  const size_t open = text.find('(');
  if (open == kNowhere || open == 0) return false;
  const std::string_view head = text.substr(0, open);
  constexpr std::array<std::string_view, 16> kGreek = {
      "\\alpha", "\\beta",  "\\gamma", "\\delta", "\\theta", "\\lambda",
      "\\mu",    "\\pi",    "\\rho",   "\\sigma", "\\tau",   "\\phi",
      "\\psi",   "\\omega", "\\Phi",   "\\varphi"};
  const bool greek =
      std::find(kGreek.begin(), kGreek.end(), head) != kGreek.end();
  const std::string_view argument =
      text.substr(open + 1, text.size() - open - 2);
  const bool one = argument.size() == 1 && Letter(argument[0]);
  const bool number =
      !argument.empty() && std::all_of(argument.begin(), argument.end(), Digit);
  return (greek || (head.size() == 1 && Letter(head[0]))) && (one || number);
}

// "Na+" and "Na": the same but for a sign of charge at the end.
bool LosesCharge(std::string_view a, std::string_view b) {
  a = TrimBlanks(a);
  b = TrimBlanks(b);
  const auto charged = [](std::string_view text) {
    return text.size() > 1 && (text.ends_with("+") || text.ends_with("-")) &&
           (Letter(text[text.size() - 2]) || Digit(text[text.size() - 2]));
  };
  return !a.empty() && a[0] >= 'A' && a[0] <= 'Z' && charged(a) != charged(b);
}

}  // namespace

std::string OtherLogic(const Readings& gold, const Readings& answer) {
  const std::string_view a = gold.text, b = answer.text;
  if (a.size() > kLongestLogic || b.size() > kLongestLogic) return {};
  if (ExchangesConnectives(gold, answer)) {
    return "\"and\" and \"or\" are exchanged";
  }
  if (ExchangesArrows(a, b)) return "an arrow may say another thing";
  const bool named = (a.find('=') == kNowhere) != (b.find('=') == kNowhere);
  if (!named && TakesPart(a, gold) != TakesPart(b, answer)) {
    return "a part of a complex number may be another one";
  }
  if (LosesModulus(a, b) || LosesModulus(b, a)) {
    return "what stands between bars need not be real";
  }
  if (IsApplied(a) != IsApplied(b) &&
      (IsApplied(a) ? b : a).find_first_of("(_") == kNowhere && !named) {
    return "a function of a letter is no product";
  }
  if (LosesCharge(a, b) || LosesCharge(b, a)) return "the charges differ";
  return {};
}

}  // namespace espalier
