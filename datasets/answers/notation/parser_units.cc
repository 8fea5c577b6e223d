// Units behind numbers.
#include <utility>

#include "datasets/answers/notation/parser.h"
#include "datasets/answers/notation/parser_state.h"
#include "datasets/answers/value/units.h"
#include "datasets/answers/words/phrases.h"

namespace espalier {

Expr Parser::ReadTerm() {
  Expr term = ReadProduct(false);
  // "6 feet 3 inches", "2 hours and 30 minutes": one quantity.
  for (int parts = 0; parts < 3; ++parts) {
    if (term == nullptr || term->op != Op::kQuantity) return term;
    const size_t joint = IsCommand("and") ? 1 : 0;
    if (Peek(joint).kind != TokenKind::kNumber ||
        Peek(joint + 1).kind != TokenKind::kText) {
      return term;
    }
    const Expr number = NumberFromDigits(Peek(joint).text);
    BigRational factor;
    const Unit large = ReadUnit(term->name);
    const Unit small = ReadUnit(Peek(joint + 1).text);
    if (number == nullptr || !large.known || !small.known ||
        !Convertible(small, large, &factor) ||
        !(number->value * factor < BigRational(1))) {
      return term;
    }
    at_ += joint + 2;
    term =
        Make(Op::kQuantity,
             {Add(term->args[0], Number(number->value * factor))}, term->name);
  }
  return term;
}

// "\frac{\text{mi}}{\text{h}}"
bool Parser::BeginsUnitFraction() const {
  return IsCommand("frac") && IsSign("{", 1) &&
         Peek(2).kind == TokenKind::kText && IsSign("}", 3) && IsSign("{", 4) &&
         Peek(5).kind == TokenKind::kText;
}

// "2 is extraneous", "5 at most"
bool Parser::BeginsDenial() const {
  // "45 days after Saturday is Tuesday"
  for (size_t i = 0; i < 8 && Peek(i).kind == TokenKind::kText; ++i) {
    const std::string padded = (i > 0 ? " " : "") + Peek(i).text + " ";
    for (const std::string_view verb : Phrases(Reading::kIs)) {
      const size_t at = padded.find(" " + std::string(verb) + " ");
      if (at != std::string::npos) return true;
    }
  }
  std::string words;
  for (size_t i = 0; i < 3 && Peek(i).kind == TokenKind::kText; ++i) {
    const std::string& text = Peek(i).text;
    for (const std::string_view word : Phrases(Reading::kDeniesBehind)) {
      if (text.ends_with(word)) return true;
    }
    words += (i > 0 ? " " : "") + text;
  }
  return BeginsIn(words, Reading::kBoundBehind) > 0 ||
         BeginsIn(words, Reading::kCompared) > 0;
}

// "\text{ cm}^2", "\text{miles}/\text{hour}" behind what was read.
bool Parser::ReadUnits(Expr& e) {
  const auto currency = [this] {
    return IsCommand("euro") || IsCommand("pounds") || IsCommand("yen") ||
           IsCommand("cents") || IsCommand("rupee") || IsCommand("dollar");
  };
  const bool sign = IsSign("$") && at_ + 1 == tokens_.size();
  if (Peek().kind != TokenKind::kText && !currency() && !sign &&
      !BeginsUnitFraction()) {
    return true;
  }
  if (Peek().text == "to" && Peek(1).kind == TokenKind::kNumber) return true;
  if (!Contains(*e, Op::kNumber) && !Contains(*e, Op::kPi)) {
    Fail("a number before the words");
    return false;
  }
  if (BeginsDenial()) {
    Fail("a unit");
    return false;
  }
  std::string unit;
  while (true) {
    if (Peek().kind == TokenKind::kText || currency()) {
      unit += " " + Take().text;
    } else if (IsSign("^")) {
      ++at_;
      if (SkipSign("{")) {
        unit += SkipSign("-") ? "^-" : "^";
        unit += Take().text;
        if (!Expect("}")) return false;
      } else {
        unit += "^" + Take().text;
      }
    } else if (BeginsUnitFraction()) {
      unit += " " + Peek(2).text + "/" + Peek(5).text;
      at_ += 6;
      if (IsSign("^")) unit += "^" + Peek(1).text;
      at_ += IsSign("^") ? 2 : 0;
      if (!Expect("}")) return false;
    } else if (IsSign("/") && (Peek(1).kind == TokenKind::kText ||
                               Peek(1).kind == TokenKind::kLetter)) {
      ++at_;
      unit += "/" + Take().text;
    } else if (IsSign("$") && at_ + 1 == tokens_.size()) {
      ++at_;
      unit += " dollar";
    } else {
      break;
    }
  }
  e = Make(Op::kQuantity, {std::move(e)}, unit);
  return true;
}

}  // namespace espalier
