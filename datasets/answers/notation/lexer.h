// Cuts an answer in LaTeX or plain text into tokens.
//
//   Lex("2\\sqrt{3}", {})   // number 2, command sqrt, {, number 3, }
//
// Plain words that name something mathematical become commands ("sqrt", "pi",
// "and"), words of the language become texts, and other letters are one token
// each. Stateless: thread-safe.
#ifndef ESPALIER_DATASETS_ANSWERS_NOTATION_LEXER_H_
#define ESPALIER_DATASETS_ANSWERS_NOTATION_LEXER_H_

#include <string>
#include <string_view>
#include <vector>

namespace espalier {

enum class TokenKind { kEnd, kNumber, kLetter, kCommand, kText, kSign };

struct Token {
  TokenKind kind = TokenKind::kEnd;
  // A number's digits without separators ("1234.5e3"; "0.1(6)" repeats), a
  // letter, a command's name, a text's words, or the sign's characters.
  std::string text;
  bool space_before = false;
};

struct LexOptions {
  // Inside brackets and the braces of sets "(1,234)" is a pair unless this is
  // set; elsewhere "1,234" is one number unless `commas_part_items`.
  bool thousands_in_brackets = false;
  bool commas_part_items = false;
};

// `text` is the result of CleanMath. Empty for more than kMostTokens tokens.
inline constexpr size_t kMostTokens = 2000;
std::vector<Token> Lex(std::string_view text, const LexOptions& options);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_ANSWERS_NOTATION_LEXER_H_
