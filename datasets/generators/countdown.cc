#include "datasets/generators/countdown.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "datasets/tasks/countdown_rules.h"
#include "src/base/check.h"

namespace espalier {
namespace {

constexpr int kMaxTarget = 100;

std::string Question(const std::vector<int64_t>& numbers, int64_t target) {
  std::string text = "Use ";
  for (size_t i = 0; i < numbers.size(); ++i) {
    const bool last = i + 1 == numbers.size();
    absl::StrAppend(&text, i == 0 ? "" : last ? " and " : ", ", numbers[i]);
  }
  return absl::StrCat(text, " to reach ", target, ".");
}

}  // namespace

std::vector<std::string> DrawCountdownSolution(
    const std::vector<int64_t>& numbers, int64_t target, RandomStream& rng) {
  std::vector<std::string> lines;
  std::vector<int64_t> left = numbers;
  while (left.size() > 1) {
    const std::vector<CountdownMove> moves = SolvingMoves(left, target);
    ESP_CHECK(!moves.empty());
    const CountdownMove& move =
        moves[rng.Below(static_cast<uint32_t>(moves.size()))];
    lines.push_back(FormatMove(move));
    left = move.rest;
  }
  lines.push_back(absl::StrCat("= ", target));
  return lines;
}

GradedProblem MakeCountdown(int count, uint64_t seed, uint64_t index) {
  ESP_CHECK(count >= 3 && count <= 5);
  const std::string set = absl::StrCat("countdown:", count);
  RandomStream rng(StreamKey(seed, StableHash(set), index, Purpose::kGenerate));
  const int highest = count == 3 ? 25 : 50;
  std::vector<int64_t> numbers(static_cast<size_t>(count));
  int64_t target = 0;
  do {
    for (int64_t& number : numbers) number = rng.Range(1, highest);
    std::sort(numbers.begin(), numbers.end());
    target = rng.Range(1, kMaxTarget);
  } while (!Solvable(numbers, target));
  GradedProblem out;
  out.problem = {absl::StrCat(set, "/", seed, "/", index), set,
                 Question(numbers, target)};
  out.reference.answer = absl::StrCat(target);
  out.reference.steps = DrawCountdownSolution(numbers, target, rng);
  return out;
}

}  // namespace espalier
