#include "datasets/tasks/sudoku.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "datasets/tasks/sudoku_task.h"
#include "tests/base/one_thread.h"

namespace espalier {
namespace {

Sudoku Grid(std::string_view digits) { return ParseSudoku(digits).value(); }

// Every 4x4 grid, by trying all digits in all cells in turn; rows, columns and
// boxes are computed independently.
std::vector<std::string> AllSmallGrids() {
  std::vector<std::string> grids;
  std::string cells;
  const auto fill = [&](const auto& self) -> void {
    if (cells.size() == 16) {
      grids.push_back(cells);
      return;
    }
    const size_t at = cells.size();
    for (char digit = '1'; digit <= '4'; ++digit) {
      bool free = true;
      for (size_t i = 0; i < at; ++i) {
        const bool sees = i / 4 == at / 4 || i % 4 == at % 4 ||
                          (i / 8 == at / 8 && i % 4 / 2 == at % 4 / 2);
        free = free && !(sees && cells[i] == digit);
      }
      if (!free) continue;
      cells.push_back(digit);
      self(self);
      cells.pop_back();
    }
  };
  fill(fill);
  return grids;
}

TEST(SudokuSolver, CountsThe288GridsOf4x4) {
  EXPECT_EQ(AllSmallGrids().size(), 288u);  // the published number
  EXPECT_EQ(CountSudokuSolutions(Sudoku{.box = 2}, 1000), 288);
}

TEST(SudokuSolver, AgreesWithBruteForceOn4x4) {
  const std::vector<std::string> grids = AllSmallGrids();
  RandomStream rng(StreamKey(7, 0, 0, Purpose::kTest));
  std::map<int, int> seen;
  for (int round = 0; round < 3000; ++round) {
    std::string puzzle = grids[rng.Below(288)];
    const uint32_t holes = rng.Below(22);
    for (uint32_t k = 0; k < holes; ++k) puzzle[rng.Below(16)] = '.';
    // Now and then a digit from elsewhere: usually no solution.
    if (rng.Below(3) == 0) {
      puzzle[rng.Below(16)] = static_cast<char>('1' + rng.Below(4));
    }
    int expected = 0;
    std::string first;
    for (const std::string& grid : grids) {
      bool agrees = true;
      for (size_t i = 0; i < 16; ++i) {
        agrees = agrees && (puzzle[i] == '.' || puzzle[i] == grid[i]);
      }
      if (agrees && expected++ == 0) first = grid;
    }
    Sudoku solution;
    EXPECT_EQ(CountSudokuSolutions(Grid(puzzle), 1000, &solution), expected)
        << puzzle;
    if (expected == 1) {
      EXPECT_EQ(SudokuDigits(solution), first);
    }
    ++seen[std::min(expected, 3)];
  }
  for (int kind = 0; kind <= 3; ++kind) EXPECT_GT(seen[kind], 100) << kind;
}

// Plain backtracking over the cells, for 9x9.
int CountPlainly(std::string& cells, size_t at, int most) {
  while (at < 81 && cells[at] != '.') ++at;
  if (at == 81) return 1;
  int found = 0;
  for (char digit = '1'; digit <= '9' && found < most; ++digit) {
    bool free = true;
    for (size_t i = 0; i < 81; ++i) {
      const bool sees = i / 9 == at / 9 || i % 9 == at % 9 ||
                        (i / 27 == at / 27 && i % 9 / 3 == at % 9 / 3);
      free = free && !(sees && cells[i] == digit);
    }
    if (!free) continue;
    cells[at] = digit;
    found += CountPlainly(cells, at + 1, most - found);
    cells[at] = '.';
  }
  return found;
}

TEST(SudokuSolver, AgreesWithPlainBacktrackingOn9x9) {
  RandomStream rng(StreamKey(8, 0, 0, Purpose::kTest));
  int unique = 0, several = 0;
  for (int round = 0; round < 60; ++round) {
    std::string puzzle = SudokuDigits(RandomGrid(3, rng));
    const int holes = rng.Range(40, 52);
    for (int k = 0; k < holes; ++k) puzzle[rng.Below(81)] = '.';
    std::string work = puzzle;
    const int expected = CountPlainly(work, 0, 50);
    EXPECT_EQ(CountSudokuSolutions(Grid(puzzle), 50), expected) << puzzle;
    (expected == 1 ? unique : several) += 1;
  }
  EXPECT_GT(unique, 10);
  EXPECT_GT(several, 5);
}

// A widely printed puzzle with its solution, and one with 17 clues.
TEST(SudokuSolver, KnownPuzzles) {
  Sudoku solution;
  EXPECT_EQ(CountSudokuSolutions(Grid("53..7....6..195....98....6.8...6...34.."
                                      "8.3..17...2...6.6....28...."
                                      "419..5....8..79"),
                                 2, &solution),
            1);
  EXPECT_EQ(SudokuDigits(solution),
            "534678912672195348198342567859761423426853791713924856961537284287"
            "419635345286179");
  EXPECT_EQ(CountSudokuSolutions(
                Grid("000000010400000000020000000000050407008000300001090000300"
                     "400200050100000000806000"),
                2),
            1);
}

TEST(SudokuTechniques, WhatSufficesIsFoundAndSolves) {
  // The printed puzzle above is solved by single candidates.
  EXPECT_EQ(
      HardestTechnique(Grid(
          "53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28...."
          "419..5....8..79")),
      SudokuTechnique::kNakedSingle);
  // Known to need guesses or long chains.
  EXPECT_EQ(
      HardestTechnique(Grid(
          "8..........36......7..9.2...5...7.......457.....1...3...1....68."
          ".85...1..9....4..")),
      SudokuTechnique::kSearch);
}

TEST(SudokuGenerator, PuzzlesHaveOneSolutionAndTheirBand) {
  std::map<SudokuTechnique, int> techniques;
  for (const std::string_view band : SudokuBands()) {
    const bool small = band.starts_with("4");
    for (uint64_t i = 0; i < (small ? 60 : 15); ++i) {
      const GradedProblem p = MakeSudoku(band, 1, i);
      const Sudoku puzzle = ParseSudoku(p.problem.question).value();
      Sudoku solution;
      EXPECT_EQ(CountSudokuSolutions(puzzle, 2, &solution), 1);
      EXPECT_EQ(SudokuDigits(solution), p.reference.answer);
      const SudokuTechnique technique = HardestTechnique(puzzle);
      ++techniques[technique];
      const int clues = puzzle.clues();
      if (band == "4-easy") {
        EXPECT_TRUE(8 <= clues && clues <= 10) << clues;
        EXPECT_EQ(technique, SudokuTechnique::kNakedSingle);
      } else if (band == "9-easy") {
        EXPECT_TRUE(36 <= clues && clues <= 40) << clues;
        EXPECT_LE(technique, SudokuTechnique::kHiddenSingle);
      } else if (band == "9-middle") {
        EXPECT_TRUE(28 <= clues && clues <= 32) << clues;
        EXPECT_LE(technique, SudokuTechnique::kHiddenSingle);
      } else {
        EXPECT_TRUE(small || technique > SudokuTechnique::kHiddenSingle);
        // The clues are minimal: removing any of them gives more solutions.
        for (int cell = 0; cell < puzzle.size(); ++cell) {
          if (puzzle.cells[cell] == 0) continue;
          Sudoku less = puzzle;
          less.cells[cell] = 0;
          EXPECT_EQ(CountSudokuSolutions(less, 2), 2);
        }
      }
    }
  }
  EXPECT_EQ(techniques.size(), 4u);
}

TEST(SudokuGenerator, AllSmallGridsAreDrawn) {
  ESP_ONE_THREAD();
  std::set<std::string> seen;
  for (uint64_t i = 0; i < 20000; ++i) {
    RandomStream rng(StreamKey(9, 0, i, Purpose::kTest));
    seen.insert(SudokuDigits(RandomGrid(2, rng)));
  }
  EXPECT_EQ(seen.size(), 288u);
}

TEST(SudokuVerifier, JudgesLines) {
  const Problem problem{"", "", "1 . . 4\n. . 2 .\n. 1 . .\n4 . . 2\n"};
  Sudoku solution;
  const Sudoku puzzle = ParseSudoku(problem.question).value();
  ASSERT_EQ(CountSudokuSolutions(puzzle, 5, &solution), 1);
  const std::string digits = SudokuDigits(solution);
  const auto judge = [&](const std::string& response) {
    const auto verdicts =
        SudokuVerifier().CheckSteps(problem, Reference{}, response);
    std::string text;
    for (const StepVerdict& v : *verdicts) {
      text += v.path_ok ? 'P' : v.step_ok ? 's' : 'x';
    }
    const bool correct =
        SudokuVerifier().Check(problem, Reference{}, response).correct;
    return text + (correct ? " right" : "");
  };
  const std::string right = "r1c2=" + digits.substr(1, 1) + "\n";
  EXPECT_EQ(judge("= " + digits), "P right");
  EXPECT_EQ(judge(right + "= " + digits + "\n"), "PP right");
  EXPECT_EQ(judge(right + right), "Px");  // taken
  EXPECT_EQ(judge("r1c2=1\n"), "x");      // already in the row
  EXPECT_EQ(judge("r1c1=2\n"), "x");      // a clue
  EXPECT_EQ(judge("r5c1=2\n"), "x");      // no such row
  EXPECT_EQ(judge("r1c2=5\n"), "x");
  EXPECT_EQ(judge("r1c2 = 2\n"), "x");
  // Allowed, but leads to no complete grid.
  const std::string other = digits[1] == '2' ? "3" : "2";
  EXPECT_EQ(judge("r1c2=" + other + "\n"), "s");
  EXPECT_EQ(judge("r1c2=" + other + "\n= " + digits + "\n"), "sx");
  std::string wrong = digits;
  std::swap(wrong[1], wrong[2]);
  EXPECT_EQ(judge("= " + wrong), "x");
  EXPECT_EQ(judge("= " + digits + "\n" + right), "Px");
  EXPECT_EQ(judge("= 1234"), "x");
  EXPECT_EQ(judge("hello\n"), "x");
}

TEST(SudokuRules, QuestionsThatAreNoneAreRefused) {
  for (const char* bad : {"", "1 2 3 4\n", "hello", "5...............",
                          "1234\n1234\n1234\n12345\n"}) {
    EXPECT_FALSE(ParseSudoku(bad).ok()) << bad;
  }
  EXPECT_FALSE(ParseSudoku(std::string(1000000, '1')).ok());
}

}  // namespace
}  // namespace espalier
