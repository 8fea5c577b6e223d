#include "datasets/answers/notation/remarks.h"

#include <algorithm>
#include <string>
#include <utility>

#include "datasets/answers/words/characters.h"
#include "datasets/answers/words/phrases.h"

namespace espalier {
namespace {

// The range of a letter according to the tokens from `from` on.
enum class Range { kNone, kAnything, kIntegers };

Range RangeSaid(const std::vector<Token>& tokens, size_t from) {
  const std::string& first = tokens[from].text;
  const std::string second =
      from + 1 < tokens.size() ? tokens[from + 1].text : std::string();
  Range out = Range::kNone;
  for (const std::string_view all : Phrases(Reading::kEvery)) {
    if (first == "for " + std::string(all) ||
        (first == "for" && second.starts_with(all))) {
      out = Range::kAnything;
    }
  }
  for (size_t k = from; k < tokens.size(); ++k) {
    const std::string& text = tokens[k].text;
    if (tokens[k].kind == TokenKind::kText) {
      if (Holds(text, Reading::kIntegers)) return Range::kIntegers;
      if (Holds(text, Reading::kNumbers)) out = Range::kAnything;
    }
    if (text != "mathbb" || k + 2 >= tokens.size()) continue;
    const std::string& set = tokens[k + 2].text;
    if (set == "Z" || set == "N") return Range::kIntegers;
    if (set == "R") out = Range::kAnything;
  }
  return out;
}

// "..., where k is an integer" becomes "..., k \\in \\mathbb{Z}"; ranges of
// other letters are dropped.
void DropRange(std::vector<Token>& tokens) {
  const auto starts = [](const std::string& text, std::string_view word) {
    return text.starts_with(word) &&
           (text.size() == word.size() || text[word.size()] == ' ');
  };
  for (size_t i = 1; i < tokens.size(); ++i) {
    if (tokens[i].kind != TokenKind::kText) continue;
    const std::string& text = tokens[i].text;
    const auto& leads = Phrases(Reading::kWhere);
    const bool lead =
        std::any_of(leads.begin(), leads.end(),
                    [&](std::string_view word) { return starts(text, word); });
    const bool is = starts(text, "is") && i >= 2 &&
                    tokens[i - 1].kind == TokenKind::kLetter &&
                    tokens[i - 2].text == ",";
    if (!lead && !is) continue;
    const Range range = RangeSaid(tokens, i);
    if (range == Range::kNone) return;
    const size_t start = i - (is ? 1 : 0);
    const auto letter = std::find_if(
        tokens.begin() + static_cast<std::ptrdiff_t>(start), tokens.end(),
        [](const Token& token) { return token.kind == TokenKind::kLetter; });
    const bool named = range == Range::kIntegers && letter != tokens.end();
    const std::string name = named ? letter->text : std::string();
    tokens.resize(start);
    while (tokens.size() > 1 &&
           (tokens.back().text == "," || tokens.back().text == "(")) {
      tokens.pop_back();
    }
    if (!named) return;
    for (const auto& [kind, text] : {std::pair(TokenKind::kSign, ","),
                                     {TokenKind::kLetter, name.c_str()},
                                     {TokenKind::kCommand, "in"},
                                     {TokenKind::kCommand, "mathbb"},
                                     {TokenKind::kSign, "{"},
                                     {TokenKind::kLetter, "Z"},
                                     {TokenKind::kSign, "}"}}) {
      tokens.push_back({kind, text, false});
    }
    return;
  }
}

// "(double root)" at the end.
void DropComment(std::vector<Token>& tokens) {
  if (tokens.size() < 4 || tokens.back().text != ")") return;
  size_t open = tokens.size() - 1;
  bool words = false;
  while (open > 0 && tokens[open].text != "(") {
    --open;
    words |= tokens[open].kind == TokenKind::kText;
    if (tokens.size() - open > 30) return;
  }
  if (open == 0 || !words || !tokens[open].space_before ||
      tokens[open + 1].kind == TokenKind::kNumber) {
    return;
  }
  // "12 (or maybe 13)", "12 (or 13)"; "0.5 (or 50%)" is a restatement.
  const auto whole = [&tokens](size_t at) {
    return at < tokens.size() && tokens[at].kind == TokenKind::kNumber &&
           std::all_of(tokens[at].text.begin(), tokens[at].text.end(), Digit);
  };
  const std::string& first = tokens[open + 1].text;
  const bool another = first == "or" && whole(open - 1) && whole(open + 2) &&
                       tokens[open + 3].text == ")" &&
                       tokens[open - 1].text != tokens[open + 2].text;
  const std::string_view behind =
      first.starts_with("or ") ? std::string_view(first).substr(3)
      : first == "or"          ? std::string_view(tokens[open + 2].text)
                               : std::string_view(first);
  if (another || BeginsIn(behind, Reading::kMaybe) > 0) {
    return;
  }
  // "P (heads)"
  const Token& before = tokens[open - 1];
  if (before.kind == TokenKind::kLetter || before.text == "=") return;
  tokens.resize(open);
}

void UsualLetters(std::vector<Token>& tokens) {
  const auto python = [](const Token& token) {
    return token.kind == TokenKind::kNumber || token.text == "j" ||
           token.text == "+" || token.text == "-" || token.text == "(" ||
           token.text == ")";
  };
  if (std::all_of(tokens.begin(), tokens.end(), python) && tokens.size() > 1) {
    for (size_t i = 1; i < tokens.size(); ++i) {
      if (tokens[i].text == "j" && tokens[i - 1].kind == TokenKind::kNumber) {
        tokens[i].text = "i";
      }
    }
  }
}

// "200 \\Omega" is a resistance.
void OhmSign(std::vector<Token>& tokens) {
  const size_t n = tokens.size();
  if (n < 2 || tokens[n - 1].text != "Omega" ||
      tokens[n - 2].kind != TokenKind::kNumber) {
    return;
  }
  tokens[n - 1] = {TokenKind::kText, "ohm", true};
}

}  // namespace

void DropRemarks(std::vector<Token>& tokens) {
  // "the point (4, -2)"
  const auto kind = [](const Token& token) {
    return token.kind == TokenKind::kText &&
           IsPhrase(token.text, Reading::kShape);
  };
  if (tokens.size() > 3 && kind(tokens[0]) &&
      (tokens[1].text == "(" || tokens[1].text == "[" ||
       tokens[1].text == "lbrace")) {
    tokens.erase(tokens.begin());
  }
  // "a 25% increase"
  const bool words = std::any_of(
      tokens.begin(), tokens.end(),
      [](const Token& token) { return token.kind == TokenKind::kText; });
  if (words && tokens.size() > 2 && tokens[0].text == "a" &&
      tokens[0].kind == TokenKind::kLetter && tokens[1].space_before &&
      tokens[1].kind == TokenKind::kNumber) {
    tokens.erase(tokens.begin());
  }
  DropRange(tokens);
  DropComment(tokens);
  UsualLetters(tokens);
  OhmSign(tokens);
}

}  // namespace espalier
