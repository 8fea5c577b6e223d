#include "datasets/answers/words/residue_class.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "datasets/answers/words/characters.h"
#include "datasets/answers/words/clean_text.h"
#include "datasets/answers/words/phrases.h"

namespace espalier {
namespace {

constexpr size_t kMostDigits = 6;
constexpr size_t kLongestRange = 120;

// Reads "= 7k + 3" piece by piece; every Take removes what it reads.
class ClassReader {
 public:
  explicit ClassReader(std::string_view text) : text_(text) {}

  size_t at() const { return at_; }
  char Next(size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  std::string_view Rest() const { return text_.substr(at_); }

  void SkipBlanks() {
    while (true) {
      if (Next() == ' ' || Next() == '*' || Next() == '$') {
        ++at_;
      } else if (Rest().starts_with("\\cdot ") || Rest().starts_with("\\,") ||
                 Rest().starts_with("\\;") || Rest().starts_with("\\(") ||
                 Rest().starts_with("\\)")) {
        at_ += Rest()[1] == 'c' ? 6 : 2;
      } else {
        return;
      }
    }
  }
  bool Take(std::string_view sign) {
    SkipBlanks();
    if (!Rest().starts_with(sign)) return false;
    at_ += sign.size();
    return true;
  }
  std::string Number() {
    SkipBlanks();
    std::string out;
    while (Digit(Next())) out += text_[at_++];
    return out.size() > kMostDigits ? std::string() : out;
  }
  // A single letter.
  char Name() {
    SkipBlanks();
    const bool one = Letter(Next()) && !Letter(Next(1)) && !Digit(Next(1)) &&
                     Next(1) != '_' && Next(1) != '^' && Next(1) != '(';
    return one ? text_[at_++] : '\0';
  }
  // A word of letters in lower case.
  std::string Word() {
    SkipBlanks();
    std::string out;
    while (Letter(Next())) out += text_[at_++];
    return Lower(out);
  }
  void MoveTo(size_t at) { at_ = at; }

 private:
  std::string_view text_;
  size_t at_ = 0;
};

// Behind the class: ", where k is any integer", "for k \in \mathbb{Z}", "(k an
// integer)". Its length; 0 if there is none.
size_t LengthOfRange(std::string_view behind, char name) {
  constexpr size_t kMostWords = 8;
  ClassReader reader(behind);
  bool named = false, integers = false;
  reader.Take(",");
  const bool bracket = reader.Take("(");
  size_t end = 0;
  for (size_t i = 0; i < kMostWords; ++i) {
    reader.SkipBlanks();
    for (const std::string_view sign :
         {"\\in", "\u2208", "\\text{", "\\quad", "\\ ", "}"}) {
      reader.Take(sign);
    }
    if (reader.Take("\\mathbb{Z}") || reader.Take("\\mathbb Z") ||
        reader.Take("\u2124")) {
      integers = true;
      end = reader.at();
      continue;
    }
    const std::string word = reader.Word();
    if (word.empty()) break;
    const std::string one = word.ends_with("s") && word.size() > 1
                                ? word.substr(0, word.size() - 1)
                                : word;
    if (word.size() == 1 && word[0] == Lower(std::string(1, name))[0]) {
      named = true;
    } else if (IsPhrase(one, Reading::kIntegers) && one == "integer") {
      integers = true;
    } else if (word == "z" && named) {
      integers = true;
    } else if (!IsPhrase(word, Reading::kEvery) &&
               !IsPhrase(word, Reading::kWhere) &&
               !IsPhrase(word, Reading::kIs) &&
               !IsPhrase(word, Reading::kArticle) && word != "some" &&
               word != "arbitrary" && word != "integer") {
      break;
    }
    if (named || integers) end = reader.at();
  }
  if (!integers) return 0;
  reader.MoveTo(end);
  if (bracket && !reader.Take(")")) return 0;
  end = reader.at();
  // What marks the end of a formula stays with its beginning.
  while (end < behind.size() && behind[end] == '}') ++end;
  return end;
}

// Whether the rest of a sentence says something of the letter.
bool NamesLetter(std::string_view rest, char letter) {
  rest = rest.substr(0, kLongestRange);
  for (size_t at = 0; at < rest.size(); ++at) {
    if (rest[at] == '\n' || rest.substr(at, 2) == ". ") return false;
    const bool alone = (at == 0 || !Letter(rest[at - 1])) &&
                       (at + 1 == rest.size() || !Letter(rest[at + 1]));
    if (rest[at] == letter && alone) return true;
  }
  return false;
}

struct ResidueClass {
  std::string remainder, modulus;
  size_t end = 0;
};

// "7k + 3", "3 + 7k", "7k - 4", "7k" at the start of a text.
ResidueClass ReadClass(std::string_view text, char name) {
  ResidueClass out;
  ClassReader reader(text);
  const std::string first = reader.Number();
  if (first.empty()) return {};
  char letter = reader.Name();
  if (letter != '\0') {
    out.modulus = first;
    out.remainder = "0";
    out.end = reader.at();
    const bool minus = reader.Take("-") || reader.Take("\u2212");
    if (minus || reader.Take("+")) {
      out.remainder = reader.Number();
      if (out.remainder.empty()) return {};
      if (minus) out.remainder.insert(0, "-");
      out.end = reader.at();
    }
  } else {
    out.remainder = first;
    if (!reader.Take("+")) return {};
    out.modulus = reader.Number();
    letter = reader.Name();
    if (out.modulus.empty() || letter == '\0') return {};
    out.end = reader.at();
  }
  const std::string_view rest = text.substr(out.end);
  constexpr std::string_view kGoesOn = "+-=/^<>";
  const std::string_view next = TrimBlanks(rest);
  if (letter == name || (!next.empty() && kGoesOn.find(next[0]) != kNowhere) ||
      (!rest.empty() && (Digit(rest[0]) || Letter(rest[0])))) {
    return {};
  }
  const size_t range = LengthOfRange(rest.substr(0, kLongestRange), letter);
  // "with k even"
  if (range == 0 && NamesLetter(rest, letter)) return {};
  out.end += range;
  return out;
}

}  // namespace

bool IsCongruence(std::string_view text) {
  return text.find("\\equiv") != kNowhere || text.find("\u2261") != kNowhere ||
         text.find("\\pmod") != kNowhere;
}

std::string WithCongruences(std::string_view text) {
  std::string out;
  bool formula = false;
  for (size_t at = 0; at < text.size();) {
    const char c = text[at];
    const bool name = Letter(c) && (at == 0 || (!Letter(text[at - 1]) &&
                                                !Digit(text[at - 1]) &&
                                                text[at - 1] != '\\'));
    size_t sign = at + 1;
    while (sign < text.size() && text[sign] == ' ') ++sign;
    if (name && sign < text.size() && text[sign] == '=') {
      const ResidueClass found = ReadClass(text.substr(sign + 1), c);
      if (found.end > 0) {
        // Signs inside what is left out open or close a formula.
        const std::string_view all = text.substr(at, sign + 1 + found.end - at);
        if (formula) {
          absl::StrAppend(&out, std::string(1, c), " \\equiv ", found.remainder,
                          " \\pmod{", found.modulus, "}");
        } else {
          absl::StrAppend(&out, std::string(1, c), " \u2261 ", found.remainder,
                          " (mod ", found.modulus, ")");
        }
        if (std::count(all.begin(), all.end(), '$') % 2 != 0) {
          out += '$';
          formula = !formula;
        }
        if (std::count(all.begin(), all.end(), '*') % 4 == 2) out += "**";
        if (all.find("\\)") < all.find("\\(")) {
          out += "\\)";
          formula = false;
        }
        at = sign + 1 + found.end;
        continue;
      }
    }
    if (c == '$') formula = !formula;
    if (c == '\\' && at + 1 < text.size() &&
        std::string_view("()[]").find(text[at + 1]) != kNowhere) {
      formula = text[at + 1] == '(' || text[at + 1] == '[';
      out += text[at++];
    }
    out += text[at++];
  }
  return out;
}

}  // namespace espalier
