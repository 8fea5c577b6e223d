#include "datasets/tasks/countdown.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "datasets/tasks/split.h"

namespace espalier {
namespace {

constexpr int kMaxTarget = 100;

const CountdownMove& PickMove(const std::vector<CountdownMove>& moves,
                              RandomStream& rng) {
  return moves[rng.Below(static_cast<uint32_t>(moves.size()))];
}

// Writes one response line by line.
class Walker {
 public:
  Walker(const CountdownPuzzle& puzzle, const CountdownWalkOptions& options,
         RandomStream& rng)
      : judge_(puzzle), options_(options), rng_(rng) {}

  std::vector<CorruptedLine> Write() {
    const size_t limit = 4 * (judge_.left().size() + 1);
    std::vector<CorruptedLine> out;
    while (!judge_.ended() && out.size() < limit) {
      std::string text;
      const bool planted =
          rng_.UniformDouble() < options_.corrupt && WrongLine(text);
      if (!planted) text = RightLine();
      const StepVerdict verdict = judge_.Next(text);
      ESP_CHECK(verdict.step_ok == !planted);
      out.push_back({std::move(text), verdict, planted});
    }
    return out;
  }

 private:
  std::string AnswerLine() const { return absl::StrCat("= ", judge_.target()); }

  std::string RightLine() {
    const std::vector<int64_t>& left = judge_.left();
    const std::vector<CountdownMove> moves = CountdownMoves(left);
    if (moves.empty()) {
      // One number, or several that wrong lines made unusable.
      const bool reached = left.size() == 1 && left[0] == judge_.target();
      return reached ? AnswerLine() : std::string(kGiveUpLine);
    }
    const std::vector<CountdownMove> solving =
        SolvingMoves(left, judge_.target());
    if (solving.empty() && rng_.UniformDouble() < options_.give_up_early) {
      return std::string(kGiveUpLine);
    }
    const bool solve =
        !solving.empty() && rng_.UniformDouble() < options_.solving;
    return FormatMove(PickMove(solve ? solving : moves, rng_));
  }

  // Sets `text` to a line that the judge calls wrong; false if none was found.
  bool WrongLine(std::string& text) {
    for (int attempt = 0; attempt < 20; ++attempt) {
      text = Attempt();
      CountdownJudge judge = judge_;
      if (!text.empty() && !judge.Next(text).step_ok) return true;
    }
    return false;
  }

  std::string Attempt() {
    const uint32_t draw = rng_.Below(10);
    if (draw == 0) return AnswerLine();
    if (draw == 1) return std::string(kGiveUpLine);
    if (draw == 2) return BreakArithmeticRule();
    const std::vector<CountdownMove> moves = CountdownMoves(judge_.left());
    if (moves.empty()) return "";
    CountdownMove move = PickMove(moves, rng_);
    switch (draw) {
      case 3:
      case 4:
        return WithResult(move, move.result + rng_.Range(-3, 3));
      case 5:
        // A last move altered to reach the target.
        return WithResult(move, judge_.target());
      case 6:
        return WithForeignNumber(std::move(move));
      default:
        return WithWrongRest(std::move(move));
    }
  }

  // A move with a zero, negative or inexact result, written as if it were
  // whole.
  std::string BreakArithmeticRule() {
    const std::vector<int64_t>& left = judge_.left();
    if (left.size() < 2) return "";
    const uint32_t n = static_cast<uint32_t>(left.size());
    const uint32_t i = rng_.Below(n);
    const uint32_t j = (i + 1 + rng_.Below(n - 1)) % n;
    const int64_t small = std::min(left[i], left[j]);
    const int64_t large = std::max(left[i], left[j]);
    CountdownMove move{small, '-', large, large - small, left};
    if (rng_.Below(2) == 0) {
      if (small == 0) return "";
      move = {large, '/', small, large / small, left};
    }
    move.rest.erase(move.rest.begin() + std::max(i, j));
    move.rest.erase(move.rest.begin() + std::min(i, j));
    return FormatMove(WithInserted(std::move(move), move.result));
  }

  static CountdownMove WithInserted(CountdownMove move, int64_t number) {
    move.rest.insert(
        std::upper_bound(move.rest.begin(), move.rest.end(), number), number);
    return move;
  }

  static CountdownMove WithErased(CountdownMove move, int64_t number) {
    move.rest.erase(std::find(move.rest.begin(), move.rest.end(), number));
    return move;
  }

  // Another result, also used in the numbers left.
  static std::string WithResult(CountdownMove move, int64_t result) {
    if (result < 0) return "";
    move = WithErased(std::move(move), move.result);
    move.result = result;
    return FormatMove(WithInserted(std::move(move), result));
  }

  // Computes correctly, but with an operand that is not among the numbers left.
  std::string WithForeignNumber(CountdownMove move) {
    move.left += rng_.Range(1, 5);
    const std::optional<int64_t> result =
        CountdownResult(move.left, move.op, move.right);
    if (!result) return "";
    return WithResult(std::move(move), *result);
  }

  std::string WithWrongRest(CountdownMove move) {
    const int64_t chosen =
        move.rest[rng_.Below(static_cast<uint32_t>(move.rest.size()))];
    switch (rng_.Below(4)) {
      case 0:  // the result is missing, replaced by an operand
        return FormatMove(
            WithInserted(WithErased(move, move.result), move.left));
      case 1:  // an operand is kept
        return FormatMove(WithInserted(move, move.right));
      case 2:  // a number is forgotten
        if (move.rest.size() == 1) return "";
        return FormatMove(WithErased(move, chosen));
      default:  // a number is miscopied
        const int64_t other = chosen + rng_.Range(-2, 2);
        if (other < 1) return "";
        return FormatMove(WithInserted(WithErased(move, chosen), other));
    }
  }

  CountdownJudge judge_;
  const CountdownWalkOptions& options_;
  RandomStream& rng_;
};

std::string QuestionText(const CountdownPuzzle& puzzle) {
  std::string text = "Use ";
  const size_t n = puzzle.numbers.size();
  for (size_t i = 0; i < n; ++i) {
    absl::StrAppend(&text,
                    i == 0       ? ""
                    : i + 1 == n ? " and "
                                 : ", ",
                    puzzle.numbers[i]);
  }
  absl::StrAppend(&text, " to reach ", puzzle.target, ".");
  return text;
}

}  // namespace

GradedProblem CountdownProblem(const CountdownPuzzle& puzzle,
                               RandomStream& rng) {
  GradedProblem out;
  out.problem.question = QuestionText(puzzle);
  out.reference.answer = absl::StrCat(puzzle.target);
  if (Solvable(puzzle.numbers, puzzle.target)) {
    for (CorruptedLine& line : WalkCountdown(puzzle, {}, rng)) {
      out.reference.steps.push_back(std::move(line.text));
    }
  }
  return out;
}

GradedProblem MakeCountdown(int numbers, uint64_t seed, uint64_t index) {
  ESP_CHECK(3 <= numbers && numbers <= 5);
  const std::string set = absl::StrCat("countdown:", numbers);
  RandomStream rng(StreamKey(seed, StableHash(set), index, Purpose::kGenerate));
  // Three numbers up to 50 would too often leave the target out of reach.
  const int largest = numbers == 3 ? 25 : 50;
  CountdownPuzzle puzzle;
  do {
    puzzle.numbers.clear();
    for (int i = 0; i < numbers; ++i) {
      puzzle.numbers.push_back(rng.Range(1, largest));
    }
    std::sort(puzzle.numbers.begin(), puzzle.numbers.end());
    puzzle.target = rng.Range(1, kMaxTarget);
  } while (!BelongsToSeed(FormatCountdown(puzzle), seed) ||
           !Solvable(puzzle.numbers, puzzle.target));
  GradedProblem out = CountdownProblem(puzzle, rng);
  out.problem.set = set;
  out.problem.id = absl::StrCat(set, "/", seed, "/", index);
  return out;
}

std::vector<CorruptedLine> WalkCountdown(const CountdownPuzzle& puzzle,
                                         const CountdownWalkOptions& options,
                                         RandomStream& rng) {
  return Walker(puzzle, options, rng).Write();
}

}  // namespace espalier
