// The parser's internals: recursive descent over tokens. parser.cc reads lists,
// relations, sums and products; parser_atoms.cc their parts, parser_units.cc
// units, parser_plain.cc the plain-text spellings of programs. Internal to
// datasets/answers. Not thread-safe.
#ifndef ESPALIER_DATASETS_ANSWERS_NOTATION_PARSER_STATE_H_
#define ESPALIER_DATASETS_ANSWERS_NOTATION_PARSER_STATE_H_

#include <string>
#include <string_view>
#include <vector>

#include "datasets/answers/notation/lexer.h"
#include "datasets/answers/value/expression.h"

namespace espalier {

// Every Read... returns null after an error; `error` holds it.
class Parser {
 public:
  explicit Parser(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

  Expr ReadAnswer();
  const std::string& error() const { return error_; }

 private:
  // parser.cc
  Expr ReadItems(bool top);
  Expr ReadItem();
  bool BeginsQualifier() const;
  Expr ReadSetExpr();
  Expr ReadSum();
  Expr ReadProduct(bool of_function);
  std::string RunFrom(size_t start) const;
  bool ReadOperator(std::string& op);
  Expr ReadWords();
  // parser_units.cc
  Expr ReadTerm();
  bool BeginsUnitFraction() const;
  bool BeginsDenial() const;
  bool ReadUnits(Expr& e);
  // parser_atoms.cc
  Expr ReadFactor();
  Expr ReadPostfix(Expr e);
  std::string TemperatureOr(std::string_view unit);
  Expr ReadExponent(bool& degrees);
  Expr ReadMixed(const Expr& whole);
  static int BaseNamed(std::string_view name);
  Expr Based(std::string_view digits, int base, Expr shown);
  Expr ReadBased(const Expr& digits);
  bool BeginsBase() const;
  size_t BasedLetters() const;
  Expr ReadBasedLetters(size_t tokens);
  bool BeginsDefinition() const;
  bool BesideProgramSigns() const;
  Expr ReadDenominator();
  Expr ReadAtom();
  Expr ReadNumber();
  Expr ReadLetter();
  Expr ReadCommandAtom();
  Expr ReadFunction(const std::string& name);
  Expr ReadBound();
  Expr ReadLetterOrSymbol();
  std::vector<Expr> ReadArguments();
  Expr ReadFraction();
  Expr ReadRoot();
  Expr ReadBigOperator(const std::string& name);
  void MoveDifferential();
  Expr ReadIntegral();
  Expr ReadLimit();
  Expr ReadBracket();
  Expr ReadCurrency(const std::string& unit);
  void SubscriptFirst();
  Expr ReadSymbol(std::string name);
  Expr ReadBraceSet();
  Expr ReadGroup();
  Expr ReadOperand();
  Expr ReadEnvironment();
  std::string ReadSubscript();
  std::string ReadRawGroup();
  // parser_plain.cc
  static bool IsConstructor(std::string_view name);
  Expr ReadConstructor(const std::string& name);
  bool BeginsBinomial() const;
  Expr ReadBinomial();
  Expr ReadSystem();
  Expr ReadPlainBuilder();
  Expr ReadConjugate();
  size_t CalculatorChoice() const;
  Expr ReadChoiceOf(size_t length);
  bool BeginsRows() const;
  Expr ReadRows();

  const Token& Peek(size_t ahead = 0) const {
    const size_t at = at_ + ahead;
    return at < tokens_.size() ? tokens_[at] : end_;
  }
  Token Take() { return at_ < tokens_.size() ? tokens_[at_++] : end_; }
  bool IsSign(std::string_view sign, size_t ahead = 0) const {
    const Token& token = Peek(ahead);
    return token.kind == TokenKind::kSign && token.text == sign;
  }
  bool IsCommand(std::string_view name, size_t ahead = 0) const {
    const Token& token = Peek(ahead);
    return token.kind == TokenKind::kCommand && token.text == name;
  }
  bool IsLetter(std::string_view letter, size_t ahead = 0) const {
    const Token& token = Peek(ahead);
    return token.kind == TokenKind::kLetter && token.text == letter;
  }
  bool IsCapital(size_t ahead) const {
    const Token& token = Peek(ahead);
    return token.kind == TokenKind::kLetter && token.text[0] >= 'A' &&
           token.text[0] <= 'Z';
  }
  bool AtEnd() const { return at_ >= tokens_.size(); }
  bool SkipSign(std::string_view sign) {
    if (!IsSign(sign)) return false;
    ++at_;
    return true;
  }
  bool SkipCommand(std::string_view name) {
    if (!IsCommand(name)) return false;
    ++at_;
    return true;
  }
  bool Expect(std::string_view sign);
  Expr Fail(std::string_view expected);
  // Whether a factor can begin here; "|" only outside of bars.
  bool StartsFactor() const;

  struct Deeper;

  std::vector<Token> tokens_;
  size_t at_ = 0;
  int depth_ = 0;
  int bars_ = 0;              // open |
  int brackets_ = 0;          // open brackets of intervals and tuples
  bool no_colon_ = false;     // ":" stands for "such that"
  bool in_integral_ = false;  // "dx" ends the body
  bool i_is_index_ = false;   // i is an index, not the imaginary unit
  std::string error_;
  const Token end_;
};

// Counts nesting during its lifetime.
struct Parser::Deeper {
  explicit Deeper(Parser& p) : parser(p) { ++parser.depth_; }
  ~Deeper() { --parser.depth_; }
  Parser& parser;
};

}  // namespace espalier

#endif  // ESPALIER_DATASETS_ANSWERS_NOTATION_PARSER_STATE_H_
