// Sudoku of 4x4 and 9x9: grids, an exact solver, the techniques a puzzle
// requires, and the rule that judges lines.
//
//   1 . . 4          the puzzle: each row, column and 2x2 box has each of 1 to
//   . . 2 .          4 once
//   . 1 . .
//   4 . . 2
//
//   r1c2=2           a line puts a digit into an empty cell
//   = 1234...        the last line is the whole grid, row by row
//
// Stateless functions are thread-safe; SudokuJudge is thread-compatible.
#ifndef ESPALIER_DATASETS_TASKS_SUDOKU_RULES_H_
#define ESPALIER_DATASETS_TASKS_SUDOKU_RULES_H_

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "espalier/verifier.h"

namespace espalier {

struct Sudoku {
  int box = 3;                      // side of a box: 2 or 3
  std::array<uint8_t, 81> cells{};  // row-major; 0: empty

  int side() const { return box * box; }
  int size() const { return side() * side(); }
  int clues() const;
  bool operator==(const Sudoku&) const = default;
};

// Parses a question: its lines that hold only digits, blanks, "|" and, for
// empty cells, "." or "0" or "_", 16 or 81 cells in all.
absl::StatusOr<Sudoku> ParseSudoku(std::string_view question);

// Rows of cells separated by blanks, a newline after each.
std::string FormatSudoku(const Sudoku& sudoku);
// The cells as one run of digits and dots.
std::string SudokuDigits(const Sudoku& sudoku);

struct SudokuMove {
  int row = 0;  // from 0
  int column = 0;
  int digit = 1;

  bool operator==(const SudokuMove&) const = default;
};
std::string FormatMove(const SudokuMove& move);  // "r1c2=3"
// Strict in form; row, column and digit are 1 to 9.
std::optional<SudokuMove> ParseSudokuMove(std::string_view line);

// True if the digit does not occur in the cell's row, column and box.
bool MayStand(const Sudoku& sudoku, const SudokuMove& move);

// Number of grids that complete `sudoku`, up to `most`; the first one found
// goes to *solution unless that is null. Searches over the cell with fewest
// candidates (or the digit with fewest cells in a row, column or box), in the
// order of the digits or of `order`.
int CountSudokuSolutions(const Sudoku& sudoku, int most,
                         Sudoku* solution = nullptr,
                         const std::array<uint8_t, 9>* order = nullptr);

// What suffices to solve a puzzle step by step; each includes those above it.
enum class SudokuTechnique {
  kNakedSingle,   // a cell has one candidate
  kHiddenSingle,  // a digit has one cell in a row, column or box
  kLocked,        // candidates locked in a box and a line; naked pairs
  kSearch,        // none of these suffices
};
SudokuTechnique HardestTechnique(const Sudoku& sudoku);

// Judges the lines of one response in order.
//
// A placement is right (step_ok) if the cell is empty and the digit is allowed
// there; the answer is right if it completes the grid as the lines have left
// it. path_ok: all lines so far are right and the resulting grid can still be
// completed. A wrong line places nothing.
class SudokuJudge {
 public:
  explicit SudokuJudge(const Sudoku& puzzle) : grid_(puzzle) {}

  StepVerdict Next(std::string_view line);

  const Sudoku& grid() const { return grid_; }
  bool ended() const { return ended_; }

 private:
  Sudoku grid_;
  bool ended_ = false;
  bool right_so_far_ = true;
};

}  // namespace espalier

#endif  // ESPALIER_DATASETS_TASKS_SUDOKU_RULES_H_
