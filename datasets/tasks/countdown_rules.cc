#include "datasets/tasks/countdown_rules.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/check.h"
#include "base/text.h"
#include "datasets/tasks/response_lines.h"

namespace espalier {
namespace {

constexpr int kMaxNumbers = 6;  // 2.8 million leaves; seven take a minute
constexpr int64_t kMaxNumber = 9999;
constexpr int64_t kMaxTarget = 1000000;
constexpr int64_t kMaxResult = 1000000000000;  // times 9999 fits 64 bits

// A number as the formats write it: 1 to 13 digits, no leading zero.
std::optional<int64_t> TakeNumber(std::string_view& text) {
  size_t n = 0;
  while (n < text.size() && absl::ascii_isdigit(text[n])) ++n;
  if (n == 0 || n > 13 || (n > 1 && text[0] == '0')) return std::nullopt;
  int64_t number = 0;
  if (!absl::SimpleAtoi(AbslView(text.substr(0, n)), &number)) {
    return std::nullopt;
  }
  text.remove_prefix(n);
  return number;
}

bool TakeText(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

absl::Status BadQuestion(std::string_view question, std::string_view found) {
  return absl::InvalidArgumentError(absl::StrCat(
      "countdown question \"", AbslView(question),
      "\": expected 2 to 6 whole numbers from 1 to ", kMaxNumber,
      " and then a target from 1 to ", kMaxTarget,
      " (\"Use 3, 7 and 25 to reach 46.\"), found ", AbslView(found)));
}

// Solvable for the first n of `numbers`.
bool Reach(const std::array<int64_t, kMaxNumbers>& numbers, int n,
           int64_t target) {
  if (n == 1) return numbers[0] == target;
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < i; ++j) {
      const int64_t a = std::max(numbers[i], numbers[j]);
      const int64_t b = std::min(numbers[i], numbers[j]);
      // The others move to the front; the result comes last.
      std::array<int64_t, kMaxNumbers> next;
      int m = 0;
      for (int k = 0; k < n; ++k) {
        if (k != i && k != j) next[m++] = numbers[k];
      }
      for (const char op : {'+', '-', '*', '/'}) {
        const std::optional<int64_t> result = CountdownResult(a, op, b);
        if (!result) continue;
        next[m] = *result;
        if (Reach(next, n - 1, target)) return true;
      }
    }
  }
  return false;
}

// The last word of `text` in lower case, which is cut off; "" if a number
// stands there.
std::string TakeLastWord(std::string_view& text) {
  while (!text.empty() && !absl::ascii_isalnum(text.back())) {
    text.remove_suffix(1);
  }
  size_t begin = text.size();
  while (begin > 0 && absl::ascii_isalpha(text[begin - 1])) --begin;
  std::string word = absl::AsciiStrToLower(AbslView(text.substr(begin)));
  text.remove_suffix(text.size() - begin);
  return word;
}

// True if the number after `text` is the target: "make ", "the target is ".
bool EndsInAGoal(std::string_view text) {
  while (true) {
    const std::string word = TakeLastWord(text);
    if (IsGoalWord(word)) return true;
    if (!IsWordBehindGoal(word)) return false;
  }
}

// True if the number between these texts names the puzzle: "the game of 24",
// "a 24 game".
bool BetweenNamesOfAGame(std::string_view above, std::string_view below) {
  if (absl::StartsWithIgnoreCase(AbslView(below), " game") ||
      absl::StartsWithIgnoreCase(AbslView(below), " puzzle")) {
    return true;
  }
  return TakeLastWord(above) == "of" && TakeLastWord(above) == "game";
}

// `numbers` without one `a` and one `b`; nothing if they are not in it.
std::optional<std::vector<int64_t>> Without(std::vector<int64_t> numbers,
                                            int64_t a, int64_t b) {
  for (const int64_t used : {a, b}) {
    const auto it = std::find(numbers.begin(), numbers.end(), used);
    if (it == numbers.end()) return std::nullopt;
    numbers.erase(it);
  }
  return numbers;
}

void InsertSorted(std::vector<int64_t>& numbers, int64_t number) {
  numbers.insert(std::upper_bound(numbers.begin(), numbers.end(), number),
                 number);
}

}  // namespace

bool IsGoalWord(std::string_view word) {
  static constexpr std::string_view kGoals[] = {
      "make",      "makes",     "making",  "reach",     "reaches",  "reaching",
      "get",       "getting",   "obtain",  "form",      "forms",    "hit",
      "build",     "produce",   "create",  "target",    "equals",   "equal",
      "produces",  "yield",     "yields",  "give",      "gives",    "arrive",
      "goal",      "aim",       "come",    "end",       ">",        "result",
      "turn",      "turned",    "need",    "obtains",   "creates",  "builds",
      "want",      "write",     "express", "represent", "compute",  "calculate",
      "achieve",   "construct", "find",    "forming",   "creating", "producing",
      "obtaining", "building",  "hits",    "hitting"};
  return std::find(std::begin(kGoals), std::end(kGoals), word) !=
         std::end(kGoals);
}

bool IsWordBehindGoal(std::string_view word) {
  static constexpr std::string_view kBetween[] = {
      "the", "a",   "number", "value",  "total", "result",    "exactly", "of",
      "is",  "at",  "up",     "with",   "to",    "precisely", "be",      "as",
      "in",  "out", "into",   "should", "must",  "precise"};
  return std::find(std::begin(kBetween), std::end(kBetween), word) !=
         std::end(kBetween);
}

absl::StatusOr<CountdownPuzzle> ParseCountdown(std::string_view question) {
  std::vector<int64_t> found;
  std::optional<size_t> target;  // index in `found` of the first named goal
  std::optional<int64_t> game;   // "the game of 24", "the 24 game"
  std::string_view text = question;
  char before = ' ';
  while (!text.empty()) {
    if (!absl::ascii_isdigit(text[0])) {
      before = text[0];
      text.remove_prefix(1);
      continue;
    }
    const char* start = text.data();
    const std::optional<int64_t> number = TakeNumber(text);
    const bool decimal =
        text.size() > 1 && text[0] == '.' && absl::ascii_isdigit(text[1]);
    if (!number || before == '-' || decimal) {
      return BadQuestion(question, "a number of another form");
    }
    const std::string_view above =
        question.substr(0, static_cast<size_t>(start - question.data()));
    before = ' ';
    if (BetweenNamesOfAGame(above, text)) {
      game = *number;
      continue;
    }
    if (!target && EndsInAGoal(above)) target = found.size();
    found.push_back(*number);
  }
  if (game && !target) {
    target = found.size();
    found.push_back(*game);
  }
  if (found.size() < 3 || found.size() > kMaxNumbers + 1) {
    return BadQuestion(question, absl::StrCat(found.size(), " in all"));
  }
  CountdownPuzzle puzzle;
  const size_t goal = target.value_or(found.size() - 1);
  puzzle.target = found[goal];
  found.erase(found.begin() + static_cast<std::ptrdiff_t>(goal));
  puzzle.numbers = std::move(found);
  std::sort(puzzle.numbers.begin(), puzzle.numbers.end());
  if (puzzle.target < 1 || puzzle.target > kMaxTarget) {
    return BadQuestion(question, absl::StrCat("target ", puzzle.target));
  }
  if (puzzle.numbers.front() < 1 || puzzle.numbers.back() > kMaxNumber) {
    return BadQuestion(question, absl::StrCat(puzzle.numbers.front() < 1
                                                  ? puzzle.numbers.front()
                                                  : puzzle.numbers.back()));
  }
  return puzzle;
}

std::string FormatCountdown(const CountdownPuzzle& puzzle) {
  return absl::StrCat(absl::StrJoin(puzzle.numbers, " "), " > ", puzzle.target);
}

std::string FormatMove(const CountdownMove& move) {
  return absl::StrCat(move.left, std::string(1, move.op), move.right, "=",
                      move.result, " : ", absl::StrJoin(move.rest, " "));
}

std::optional<CountdownMove> ParseMove(std::string_view line) {
  CountdownMove move;
  const std::optional<int64_t> left = TakeNumber(line);
  if (!left || line.empty()) return std::nullopt;
  move.left = *left;
  move.op = line[0];
  line.remove_prefix(1);
  if (std::string_view("+-*/").find(move.op) == std::string_view::npos) {
    return std::nullopt;
  }
  const std::optional<int64_t> right = TakeNumber(line);
  if (!right || !TakeText(line, "=")) return std::nullopt;
  const std::optional<int64_t> result = TakeNumber(line);
  if (!result || !TakeText(line, " :")) return std::nullopt;
  move.right = *right;
  move.result = *result;
  while (TakeText(line, " ")) {
    const std::optional<int64_t> number = TakeNumber(line);
    if (!number) return std::nullopt;
    move.rest.push_back(*number);
  }
  if (!line.empty() || move.rest.empty()) return std::nullopt;
  return move;
}

std::optional<int64_t> CountdownResult(int64_t left, char op, int64_t right) {
  if (left < 1 || left > kMaxResult || right < 1 || right > kMaxResult) {
    return std::nullopt;
  }
  int64_t result = 0;
  switch (op) {
    case '+':
      result = left + right;
      break;
    case '-':
      result = left - right;
      break;
    case '*':
      if (left > kMaxResult / right) return std::nullopt;
      result = left * right;
      break;
    case '/':
      if (left % right != 0) return std::nullopt;
      result = left / right;
      break;
    default:
      return std::nullopt;
  }
  if (result < 1 || result > kMaxResult) return std::nullopt;
  return result;
}

std::vector<CountdownMove> CountdownMoves(const std::vector<int64_t>& numbers) {
  std::vector<CountdownMove> moves;
  std::vector<std::pair<int64_t, int64_t>> seen;
  for (size_t i = 0; i < numbers.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      const int64_t a = numbers[i], b = numbers[j];  // a >= b
      if (std::find(seen.begin(), seen.end(), std::pair(a, b)) != seen.end()) {
        continue;
      }
      seen.emplace_back(a, b);
      for (const char op : {'+', '-', '*', '/'}) {
        const std::optional<int64_t> result = CountdownResult(a, op, b);
        if (!result) continue;
        CountdownMove move{a, op, b, *result, *Without(numbers, a, b)};
        InsertSorted(move.rest, *result);
        moves.push_back(std::move(move));
      }
    }
  }
  return moves;
}

bool Solvable(const std::vector<int64_t>& numbers, int64_t target) {
  ESP_CHECK(!numbers.empty() && numbers.size() <= kMaxNumbers);
  std::array<int64_t, kMaxNumbers> buffer{};
  std::copy(numbers.begin(), numbers.end(), buffer.begin());
  return Reach(buffer, static_cast<int>(numbers.size()), target);
}

std::vector<CountdownMove> SolvingMoves(const std::vector<int64_t>& numbers,
                                        int64_t target) {
  std::vector<CountdownMove> moves = CountdownMoves(numbers);
  std::erase_if(moves, [&](const CountdownMove& move) {
    return !Solvable(move.rest, target);
  });
  return moves;
}

bool CountdownJudge::JudgeMove(const CountdownMove& move) {
  std::optional<std::vector<int64_t>> rest =
      Without(left_, move.left, move.right);
  bool ok =
      rest && CountdownResult(move.left, move.op, move.right) == move.result;
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

StepVerdict CountdownJudge::Next(std::string_view line) {
  StepVerdict verdict;
  bool reachable = false;
  if (ended_) {
    // Nothing may follow.
  } else if (line == kGiveUpLine) {
    verdict.step_ok = !Solvable(left_, target_);
    ended_ = true;
  } else if (const auto move = ParseMove(line)) {
    verdict.step_ok = JudgeMove(*move);
    reachable = right_so_far_ && verdict.step_ok && Solvable(left_, target_);
  } else if (line.starts_with("= ") && CanonicalInteger(line.substr(2))) {
    verdict.step_ok = left_.size() == 1 && left_[0] == target_ &&
                      line == absl::StrCat("= ", target_);
    reachable = verdict.step_ok;
    ended_ = true;
  }
  right_so_far_ = right_so_far_ && verdict.step_ok;
  verdict.path_ok = right_so_far_ && reachable;
  return verdict;
}

}  // namespace espalier
