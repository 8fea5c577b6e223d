#include "datasets/tasks/game24.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/text.h"
#include "datasets/tasks/split.h"

namespace espalier {
namespace {

struct Band {
  std::string_view name;
  int largest;         // number
  double least, most;  // success probability of random play, most excluded
};
constexpr Band kBands[] = {{"easy", 50, 1.0 / 150, 2},
                           {"middle", 99, 1.0 / 750, 1.0 / 150},
                           {"hard", 99, 1e-9, 1.0 / 750},
                           {"", 13, 1e-9, 2}};

bool Fits(const std::vector<Fraction>& numbers, const Band& band) {
  if (!Makes24(numbers)) return false;  // quicker than RandomPlayOdds
  if (band.name.empty()) return true;
  const double odds = RandomPlayOdds(numbers);
  return band.least <= odds && odds < band.most;
}

}  // namespace

const std::vector<std::string_view>& Game24Bands() {
  static const std::vector<std::string_view> names = [] {
    std::vector<std::string_view> all;
    for (const Band& band : kBands) all.push_back(band.name);
    return all;
  }();
  return names;
}

GradedProblem Game24Problem(const std::vector<Fraction>& numbers,
                            RandomStream& rng) {
  ESP_CHECK(numbers.size() == 4);
  GradedProblem out;
  out.problem.question =
      absl::StrCat("Make 24 from ", FormatFraction(numbers[0]), ", ",
                   FormatFraction(numbers[1]), ", ", FormatFraction(numbers[2]),
                   " and ", FormatFraction(numbers[3]), ".");
  out.reference.answer = "24";
  std::vector<Fraction> left = numbers;
  while (left.size() > 1 && Makes24(left)) {
    std::vector<Game24Move> moves = Game24Moves(left);
    std::erase_if(moves,
                  [](const Game24Move& move) { return !Makes24(move.rest); });
    const Game24Move& move =
        moves[rng.Below(static_cast<uint32_t>(moves.size()))];
    out.reference.steps.push_back(FormatMove(move));
    left = move.rest;
  }
  if (!out.reference.steps.empty()) out.reference.steps.push_back("= 24");
  return out;
}

GradedProblem MakeGame24(std::string_view band, uint64_t seed, uint64_t index) {
  const Band* const found =
      std::find_if(std::begin(kBands), std::end(kBands),
                   [&](const Band& b) { return b.name == band; });
  ESP_CHECK(found != std::end(kBands));
  const std::string set =
      absl::StrCat("game24", band.empty() ? "" : ":", AbslView(band));
  RandomStream rng(StreamKey(seed, StableHash(set), index, Purpose::kGenerate));
  std::vector<Fraction> numbers;
  do {
    numbers.clear();
    for (int i = 0; i < 4; ++i) {
      numbers.push_back({rng.Range(1, found->largest), 1});
    }
    std::sort(numbers.begin(), numbers.end());
  } while (!BelongsToSeed(FormatNumbers(numbers), seed) ||
           !Fits(numbers, *found));
  GradedProblem out = Game24Problem(numbers, rng);
  out.problem.set = set;
  out.problem.id = absl::StrCat(set, "/", seed, "/", index);
  return out;
}

}  // namespace espalier
