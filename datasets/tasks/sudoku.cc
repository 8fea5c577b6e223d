#include "datasets/tasks/sudoku.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/text.h"
#include "datasets/tasks/split.h"

namespace espalier {
namespace {

struct Band {
  std::string_view name;
  int box;
  int fewest, most;  // clues; emptied until `most` are left or none may go
  SudokuTechnique least, hardest;  // techniques that solve it
};
constexpr Band kBands[] = {
    {"4-easy", 2, 8, 10, SudokuTechnique::kNakedSingle,
     SudokuTechnique::kNakedSingle},
    {"4-hard", 2, 0, 0, SudokuTechnique::kNakedSingle,
     SudokuTechnique::kSearch},
    {"9-easy", 3, 36, 40, SudokuTechnique::kNakedSingle,
     SudokuTechnique::kHiddenSingle},
    {"9-middle", 3, 28, 32, SudokuTechnique::kNakedSingle,
     SudokuTechnique::kHiddenSingle},
    {"9-hard", 3, 0, 0, SudokuTechnique::kLocked, SudokuTechnique::kSearch},
};

template <typename Items>
void Shuffle(Items& items, RandomStream& rng) {
  for (size_t i = items.size(); i > 1; --i) {
    std::swap(items[i - 1], items[rng.Below(static_cast<uint32_t>(i))]);
  }
}

// Whether the solution stays unique without the cell's digit: no other digit
// there leads to a solution.
bool StaysUnique(Sudoku sudoku, int cell) {
  const int digit = sudoku.cells[cell];
  const int side = sudoku.side();
  sudoku.cells[cell] = 0;
  for (int other = 1; other <= side; ++other) {
    if (other == digit) continue;
    if (!MayStand(sudoku, {cell / side, cell % side, other})) continue;
    sudoku.cells[cell] = static_cast<uint8_t>(other);
    if (CountSudokuSolutions(sudoku, 1) > 0) return false;
  }
  return true;
}

// `full` with cells emptied in random order while its solution stays unique,
// down to at least `clues`.
Sudoku Empty(const Sudoku& full, int clues, RandomStream& rng) {
  std::vector<int> cells(static_cast<size_t>(full.size()));
  std::iota(cells.begin(), cells.end(), 0);
  Shuffle(cells, rng);
  Sudoku puzzle = full;
  int left = full.size();
  for (const int cell : cells) {
    if (left == clues) break;
    if (!StaysUnique(puzzle, cell)) continue;
    puzzle.cells[cell] = 0;
    --left;
  }
  return puzzle;
}

bool Fits(const Sudoku& puzzle, const Band& band) {
  if (band.most > 0 && puzzle.clues() > band.most) return false;
  const SudokuTechnique technique = HardestTechnique(puzzle);
  return band.least <= technique && technique <= band.hardest;
}

// Empty cells as 0: questions are told apart by their words, which do not
// include dots.
std::string WithZeros(std::string text) {
  std::replace(text.begin(), text.end(), '.', '0');
  return text;
}

}  // namespace

const std::vector<std::string_view>& SudokuBands() {
  static const std::vector<std::string_view> names = [] {
    std::vector<std::string_view> all;
    for (const Band& band : kBands) all.push_back(band.name);
    return all;
  }();
  return names;
}

Sudoku RandomGrid(int box, RandomStream& rng) {
  Sudoku grid{.box = box};
  const int side = grid.side();
  std::array<uint8_t, 9> order{};
  std::iota(order.begin(), order.end(), uint8_t{0});
  for (int i = side; i > 1; --i) {
    std::swap(order[i - 1], order[rng.Below(static_cast<uint32_t>(i))]);
  }
  // The first row and a few more cells at random, as far as they are
  // consistent; search fills the rest.
  for (int i = 0; i < side; ++i) {
    grid.cells[i] = static_cast<uint8_t>(order[i] + 1);
  }
  for (int tries = 0; tries < 2 * side; ++tries) {
    const int cell = rng.Range(side, grid.size() - 1);
    const int digit = rng.Range(1, side);
    if (grid.cells[cell] != 0 ||
        !MayStand(grid, {cell / side, cell % side, digit})) {
      continue;
    }
    grid.cells[cell] = static_cast<uint8_t>(digit);
    if (CountSudokuSolutions(grid, 1) == 0) grid.cells[cell] = 0;
  }
  Sudoku full;
  ESP_CHECK(CountSudokuSolutions(grid, 1, &full, &order) == 1);
  return full;
}

namespace {

// A grid that `seed` may use. Its digits are permuted at random until it is
// one, which is faster than drawing others.
Sudoku GridOfSeed(int box, uint64_t seed, RandomStream& rng) {
  while (true) {
    Sudoku grid = RandomGrid(box, rng);
    for (int tries = 0; tries < 40; ++tries) {
      if (BelongsToSeed(SudokuDigits(grid), seed)) return grid;
      std::array<uint8_t, 9> names{};
      std::iota(names.begin(), names.end(), uint8_t{1});
      for (int i = grid.side(); i > 1; --i) {
        std::swap(names[i - 1], names[rng.Below(static_cast<uint32_t>(i))]);
      }
      for (int i = 0; i < grid.size(); ++i) {
        grid.cells[i] = names[grid.cells[i] - 1];
      }
    }
  }
}

}  // namespace

GradedProblem MakeSudoku(std::string_view band, uint64_t seed, uint64_t index) {
  const Band* const found =
      std::find_if(std::begin(kBands), std::end(kBands),
                   [&](const Band& b) { return b.name == band; });
  ESP_CHECK(found != std::end(kBands));
  const std::string set = absl::StrCat("sudoku:", AbslView(band));
  RandomStream rng(StreamKey(seed, StableHash(set), index, Purpose::kGenerate));
  Sudoku full;
  Sudoku puzzle;
  do {
    full = GridOfSeed(found->box, seed, rng);
    puzzle = Empty(full, rng.Range(found->fewest, found->most), rng);
  } while (!Fits(puzzle, *found));

  GradedProblem out;
  const int side = full.side();
  out.problem.question = absl::StrCat(
      "Fill the grid so that every row, column and ", found->box, "x",
      found->box, " box has each of 1 to ", side,
      " once; 0 is an empty cell.\n", WithZeros(FormatSudoku(puzzle)));
  out.problem.set = set;
  out.problem.id = absl::StrCat(set, "/", seed, "/", index);
  out.reference.answer = SudokuDigits(full);
  for (int cell = 0; cell < full.size(); ++cell) {
    if (puzzle.cells[cell] != 0) continue;
    out.reference.steps.push_back(
        FormatMove({cell / side, cell % side, full.cells[cell]}));
  }
  Shuffle(out.reference.steps, rng);
  out.reference.steps.push_back("= " + out.reference.answer);
  return out;
}

}  // namespace espalier
