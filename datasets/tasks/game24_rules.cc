#include "datasets/tasks/game24_rules.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/check.h"
#include "base/text.h"
#include "datasets/tasks/countdown_rules.h"

namespace espalier {
namespace {

constexpr Fraction kTarget = {24, 1};
constexpr int64_t kMost = int64_t{1} << 31;
constexpr std::string_view kOperations = "+-*/";

// An integer of at most nine digits at the beginning of `text`.
std::optional<int64_t> TakeWhole(std::string_view& text) {
  size_t n = 0;
  while (n < text.size() && absl::ascii_isdigit(text[n])) ++n;
  int64_t number = 0;
  if (n == 0 || n > 9 ||
      !absl::SimpleAtoi(AbslView(text.substr(0, n)), &number)) {
    return std::nullopt;
  }
  text.remove_prefix(n);
  return number;
}

// A fraction as FormatFraction writes it, up to a blank or the end.
std::optional<Fraction> TakeFraction(std::string_view& text) {
  const std::string_view word = text.substr(0, text.find(' '));
  std::string_view rest = word;
  const bool negative = rest.starts_with('-');
  if (negative) rest.remove_prefix(1);
  const std::optional<int64_t> num = TakeWhole(rest);
  std::optional<int64_t> den = 1;
  if (rest.starts_with('/')) {
    rest.remove_prefix(1);
    den = TakeWhole(rest);
  }
  if (!num || !den || *den == 0 || !rest.empty()) return std::nullopt;
  const Fraction value{negative ? -*num : *num, *den};
  // One spelling per number: lowest terms, no leading zeros.
  if (std::gcd(*num, *den) != 1 || FormatFraction(value) != word) {
    return std::nullopt;
  }
  text.remove_prefix(word.size());
  return value;
}

bool TakeText(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

// Up to four numbers, on the stack: the solver visits thousands of states.
struct Hand {
  std::array<Fraction, 4> numbers;
  int size = 0;
};

Hand HandOf(const std::vector<Fraction>& numbers) {
  ESP_CHECK(!numbers.empty() && numbers.size() <= 4);
  Hand hand;
  for (const Fraction& number : numbers) hand.numbers[hand.size++] = number;
  return hand;
}

// Calls `visit` with the hand after each move, the result last, and with the
// positions and the operation; moves of equal value are visited more than once.
// Stops if `visit` returns true, and returns whether it did.
template <typename Visit>
bool ForEachMove(const Hand& hand, const Visit& visit) {
  for (int i = 0; i < hand.size; ++i) {
    for (int j = 0; j < hand.size; ++j) {
      if (i == j) continue;
      Hand next;
      for (int k = 0; k < hand.size; ++k) {
        if (k != i && k != j) next.numbers[next.size++] = hand.numbers[k];
      }
      ++next.size;
      for (const char op : kOperations) {
        if (j < i && (op == '+' || op == '*')) continue;
        const auto result = Apply(hand.numbers[i], op, hand.numbers[j]);
        if (!result) continue;
        next.numbers[next.size - 1] = *result;
        if (visit(next, i, op, j)) return true;
      }
    }
  }
  return false;
}

// Last moves (of two numbers): how many there are, and how many make 24.
// Compares by cross-multiplication, as most of the solver's time is spent here.
struct LastMoves {
  int all = 0;
  int right = 0;
};
LastMoves CountLastMoves(const Fraction& a, const Fraction& b) {
  LastMoves moves{.all = 4};
  const auto count = [&](int64_t num, int64_t den) {
    moves.right += num == kTarget.num * den;
  };
  const int64_t den = a.den * b.den;
  const int64_t left = a.num * b.den, right = b.num * a.den;
  count(left + right, den);
  count(left - right, den);
  count(right - left, den);
  count(a.num * b.num, den);
  for (const auto& [over, under] : {std::pair(left, right), {right, left}}) {
    if (under == 0) continue;
    ++moves.all;
    count(over, under);
  }
  return moves;
}

bool Reach(const Hand& hand) {
  if (hand.size == 1) return hand.numbers[0] == kTarget;
  if (hand.size == 2) {
    return CountLastMoves(hand.numbers[0], hand.numbers[1]).right > 0;
  }
  return ForEachMove(
      hand, [](const Hand& next, int, char, int) { return Reach(next); });
}

double Odds(const Hand& hand) {
  if (hand.size == 1) return hand.numbers[0] == kTarget ? 1 : 0;
  if (hand.size == 2) {
    const LastMoves last = CountLastMoves(hand.numbers[0], hand.numbers[1]);
    return static_cast<double>(last.right) / last.all;
  }
  double sum = 0;
  int moves = 0;
  ForEachMove(hand, [&](const Hand& next, int, char, int) {
    sum += Odds(next);
    ++moves;
    return false;
  });
  return sum / moves;
}

// Adds to `found` the solutions from `hand`, whose numbers are spelled by
// `texts`.
void Solutions(const Hand& hand, const std::array<std::string, 4>& texts,
               std::set<std::string>& found) {
  if (hand.size == 1) {
    if (hand.numbers[0] == kTarget) found.insert(texts[0]);
    return;
  }
  ForEachMove(hand, [&](const Hand& next, int i, char op, int j) {
    if (!Reach(next)) return false;
    std::array<std::string, 4> spelled;
    int n = 0;
    for (int k = 0; k < hand.size; ++k) {
      if (k != i && k != j) spelled[n++] = texts[k];
    }
    std::string a = texts[i], b = texts[j];
    if ((op == '+' || op == '*') && b < a) std::swap(a, b);
    spelled[n] = absl::StrCat("(", a, " ", std::string(1, op), " ", b, ")");
    Solutions(next, spelled, found);
    return false;
  });
}

// Recursive descent; the text is short, which bounds the depth.
class ExpressionParser {
 public:
  explicit ExpressionParser(std::string_view text) : text_(text) {}

  std::optional<Fraction> Parse(std::vector<Fraction>* numbers) {
    const std::optional<Fraction> value = Sum();
    Space();
    if (!value || !text_.empty()) return std::nullopt;
    *numbers = std::move(numbers_);
    std::sort(numbers->begin(), numbers->end());
    return value;
  }

 private:
  void Space() {
    while (text_.starts_with(' ')) text_.remove_prefix(1);
  }

  std::optional<Fraction> Sum() { return Chain("+-", true); }

  // Operands joined left-associatively by any of `operations`.
  std::optional<Fraction> Chain(std::string_view operations, bool sum) {
    std::optional<Fraction> value = sum ? Chain("*/", false) : Operand();
    while (value) {
      Space();
      if (text_.empty() ||
          operations.find(text_[0]) == std::string_view::npos) {
        break;
      }
      const char op = text_[0];
      text_.remove_prefix(1);
      const std::optional<Fraction> right =
          sum ? Chain("*/", false) : Operand();
      if (!right) return std::nullopt;
      value = Apply(*value, op, *right);
    }
    return value;
  }

  std::optional<Fraction> Operand() {
    Space();
    if (TakeText(text_, "(")) {
      const std::optional<Fraction> value = Sum();
      Space();
      if (!TakeText(text_, ")")) return std::nullopt;
      return value;
    }
    const std::optional<int64_t> number = TakeWhole(text_);
    if (!number) return std::nullopt;
    numbers_.push_back({*number, 1});
    return numbers_.back();
  }

  std::string_view text_;
  std::vector<Fraction> numbers_;
};

// `numbers` without one `a` and one `b`; nothing if they are not in it.
std::optional<std::vector<Fraction>> Without(std::vector<Fraction> numbers,
                                             const Fraction& a,
                                             const Fraction& b) {
  for (const Fraction& used : {a, b}) {
    const auto it = std::find(numbers.begin(), numbers.end(), used);
    if (it == numbers.end()) return std::nullopt;
    numbers.erase(it);
  }
  return numbers;
}

void InsertSorted(std::vector<Fraction>& numbers, const Fraction& number) {
  numbers.insert(std::upper_bound(numbers.begin(), numbers.end(), number),
                 number);
}

}  // namespace

std::string FormatFraction(const Fraction& value) {
  if (value.den == 1) return absl::StrCat(value.num);
  return absl::StrCat(value.num, "/", value.den);
}

std::optional<Fraction> Apply(Fraction left, char op, Fraction right) {
  Fraction out;
  switch (op) {
    case '-':
      right.num = -right.num;
      [[fallthrough]];
    case '+':
      out = {left.num * right.den + right.num * left.den, left.den * right.den};
      break;
    case '/':
      if (right.num == 0) return std::nullopt;
      std::swap(right.num, right.den);
      if (right.den < 0) right = {-right.num, -right.den};
      [[fallthrough]];
    case '*':
      out = {left.num * right.num, left.den * right.den};
      break;
    default:
      return std::nullopt;
  }
  const int64_t divisor = std::gcd(out.num, out.den);
  out = {out.num / divisor, out.den / divisor};
  if (out.num >= kMost || out.num <= -kMost || out.den >= kMost) {
    return std::nullopt;
  }
  return out;
}

absl::StatusOr<std::vector<Fraction>> ParseGame24(std::string_view question) {
  const auto error = [&](std::string_view found) {
    return absl::InvalidArgumentError(absl::StrCat(
        "question \"", AbslView(question.substr(0, 200)),
        "\" for the Game of 24: expected four whole numbers from 1 to ",
        kMaxGame24Number, " (\"Make 24 from 4, 9, 10 and 13.\"), found ",
        AbslView(found)));
  };
  constexpr std::string_view kFrom = "24 from";
  std::string_view text = question;
  const size_t from = text.find(kFrom);
  if (from != std::string_view::npos) text.remove_prefix(from + kFrom.size());
  std::vector<Fraction> numbers;
  char before = ' ';
  while (!text.empty()) {
    if (!absl::ascii_isdigit(text[0])) {
      before = text[0];
      text.remove_prefix(1);
      continue;
    }
    const std::optional<int64_t> number = TakeWhole(text);
    const bool more = text.size() > 1 && absl::ascii_isdigit(text[1]) &&
                      (text[0] == '.' || text[0] == '/');
    if (!number || more || before == '-' || *number < 1 ||
        *number > kMaxGame24Number) {
      return error("a number of another form or size");
    }
    numbers.push_back({*number, 1});
    before = ' ';
  }
  if (numbers.size() != 4)
    return error(absl::StrCat(numbers.size(), " of them"));
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

std::string FormatNumbers(const std::vector<Fraction>& numbers) {
  return absl::StrJoin(numbers, " ", [](std::string* out, const Fraction& f) {
    out->append(FormatFraction(f));
  });
}

std::string FormatMove(const Game24Move& move) {
  return absl::StrCat(FormatFraction(move.left), " ", std::string(1, move.op),
                      " ", FormatFraction(move.right), " = ",
                      FormatFraction(move.result), " : ",
                      FormatNumbers(move.rest));
}

std::optional<Game24Move> ParseGame24Move(std::string_view line) {
  Game24Move move;
  const auto left = TakeFraction(line);
  if (!left || line.size() < 3 || line[0] != ' ' || line[2] != ' ') {
    return std::nullopt;
  }
  move.op = line[1];
  if (kOperations.find(move.op) == std::string_view::npos) return std::nullopt;
  line.remove_prefix(3);
  const auto right = TakeFraction(line);
  if (!right || !TakeText(line, " = ")) return std::nullopt;
  const auto result = TakeFraction(line);
  if (!result || !TakeText(line, " :")) return std::nullopt;
  move.left = *left;
  move.right = *right;
  move.result = *result;
  while (TakeText(line, " ")) {
    const auto number = TakeFraction(line);
    if (!number) return std::nullopt;
    move.rest.push_back(*number);
  }
  if (!line.empty() || move.rest.empty()) return std::nullopt;
  return move;
}

std::vector<Game24Move> Game24Moves(const std::vector<Fraction>& numbers) {
  std::vector<Game24Move> moves;
  const Hand hand = HandOf(numbers);
  ForEachMove(hand, [&](const Hand& next, int i, char op, int j) {
    Game24Move move{hand.numbers[i], op, hand.numbers[j],
                    next.numbers[next.size - 1],
                    std::vector<Fraction>(next.numbers.begin(),
                                          next.numbers.begin() + next.size)};
    std::sort(move.rest.begin(), move.rest.end());
    if (std::find(moves.begin(), moves.end(), move) == moves.end()) {
      moves.push_back(std::move(move));
    }
    return false;
  });
  return moves;
}

bool Makes24(const std::vector<Fraction>& numbers) {
  return Reach(HandOf(numbers));
}

double RandomPlayOdds(const std::vector<Fraction>& numbers) {
  return Odds(HandOf(numbers));
}

std::set<std::string> Game24Solutions(const std::vector<Fraction>& numbers) {
  std::array<std::string, 4> texts;
  for (size_t i = 0; i < numbers.size(); ++i) {
    texts[i] = FormatFraction(numbers[i]);
  }
  std::set<std::string> found;
  Solutions(HandOf(numbers), texts, found);
  return found;
}

std::optional<Fraction> EvaluateExpression(std::string_view text,
                                           std::vector<Fraction>* numbers) {
  constexpr size_t kLongest = 200;  // bounds the depth of brackets
  if (text.size() > kLongest) return std::nullopt;
  return ExpressionParser(text).Parse(numbers);
}

bool Game24Judge::JudgeMove(const Game24Move& move) {
  std::optional<std::vector<Fraction>> rest =
      Without(left_, move.left, move.right);
  bool ok = rest && Apply(move.left, move.op, move.right) == move.result;
  if (ok) {
    InsertSorted(*rest, move.result);
    ok = *rest == move.rest;
  }
  if (move.rest.size() + 1 == left_.size()) {
    left_ = move.rest;
    std::sort(left_.begin(), left_.end());
  }
  return ok;
}

bool Game24Judge::JudgeAnswer(std::string_view answer) const {
  if (answer == "24") return left_.size() == 1 && left_[0] == kTarget;
  std::vector<Fraction> used;
  return EvaluateExpression(answer, &used) == kTarget && used == left_;
}

StepVerdict Game24Judge::Next(std::string_view line) {
  StepVerdict verdict;
  bool reachable = false;
  if (ended_) {
    // Nothing may follow.
  } else if (line == kGiveUpLine) {
    verdict.step_ok = !Makes24(left_);
    ended_ = true;
  } else if (const auto move = ParseGame24Move(line)) {
    verdict.step_ok = JudgeMove(*move);
    reachable = right_so_far_ && verdict.step_ok && Makes24(left_);
  } else if (line.starts_with("= ")) {
    verdict.step_ok = reachable = JudgeAnswer(line.substr(2));
    ended_ = true;
  }
  right_so_far_ = right_so_far_ && verdict.step_ok;
  verdict.path_ok = right_so_far_ && reachable;
  return verdict;
}

}  // namespace espalier
