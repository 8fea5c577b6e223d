#include "datasets/tasks/sudoku_rules.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/text.h"

namespace espalier {
namespace {

constexpr bool IsEmptyCell(char c) { return c == '.' || c == '0' || c == '_'; }

// Rows, columns and boxes of one grid size, and the cells that see a cell.
struct Units {
  explicit Units(int box) {
    const int side = box * box;
    for (int i = 0; i < side; ++i) {
      std::vector<int> row, column, square;
      for (int k = 0; k < side; ++k) {
        row.push_back(i * side + k);
        column.push_back(k * side + i);
        square.push_back((i / box * box + k / box) * side + i % box * box +
                         k % box);
      }
      units.push_back(row);
      units.push_back(column);
      units.push_back(square);
    }
    of_cell.resize(static_cast<size_t>(side * side));
    for (size_t u = 0; u < units.size(); ++u) {
      for (const int cell : units[u]) {
        of_cell[static_cast<size_t>(cell)].push_back(static_cast<int>(u));
      }
    }
  }
  static const Units& Of(int box) {
    static const Units two(2), three(3);
    return box == 2 ? two : three;
  }
  std::vector<std::vector<int>> units;    // row, column, box in turn
  std::vector<std::vector<int>> of_cell;  // indices of its row, column, box
};

// A grid with the digits that each row, column and box still lacks, as bits.
class Search {
 public:
  Search(const Sudoku& sudoku, int most, const std::array<uint8_t, 9>* order)
      : units_(Units::Of(sudoku.box)),
        grid_(sudoku),
        side_(sudoku.side()),
        most_(most),
        order_(order) {
    lacks_.fill(static_cast<uint16_t>((1u << side_) - 1));
    for (int cell = 0; cell < grid_.size(); ++cell) {
      if (grid_.cells[cell] == 0) {
        empty_.push_back(cell);
      } else if (!Put(cell, grid_.cells[cell] - 1)) {
        possible_ = false;
      }
    }
  }

  int Run(Sudoku* solution) {
    solution_ = solution;
    if (possible_) Go(empty_.size());
    return found_;
  }

 private:
  uint32_t Candidates(int cell) const {
    const auto& of = units_.of_cell[static_cast<size_t>(cell)];
    return lacks_[of[0]] & lacks_[of[1]] & lacks_[of[2]];
  }

  bool Put(int cell, int digit) {
    const uint32_t bit = 1u << digit;
    if ((Candidates(cell) & bit) == 0) return false;
    for (const int unit : units_.of_cell[static_cast<size_t>(cell)]) {
      lacks_[unit] = static_cast<uint16_t>(lacks_[unit] & ~bit);
    }
    return true;
  }
  void Take(int cell, int digit) {
    for (const int unit : units_.of_cell[static_cast<size_t>(cell)]) {
      lacks_[unit] = static_cast<uint16_t>(lacks_[unit] | 1u << digit);
    }
  }

  // empty_[0, left) are the cells to fill.
  void Go(size_t left) {
    if (left == 0) {
      if (found_++ == 0 && solution_ != nullptr) *solution_ = grid_;
      return;
    }
    size_t best = 0;
    int fewest = 10;
    for (size_t i = 0; i < left && fewest > 1; ++i) {
      const int count = std::popcount(Candidates(empty_[i]));
      if (count < fewest) {
        fewest = count;
        best = i;
      }
    }
    if (fewest == 0) return;
    if (fewest > 1 && TryHiddenSingle(left)) return;
    Branch(left, best, Candidates(empty_[best]));
  }

  void Branch(size_t left, size_t place, uint32_t digits) {
    const int cell = empty_[place];
    std::swap(empty_[place], empty_[left - 1]);
    for (int k = 0; k < side_ && found_ < most_; ++k) {
      const int digit = order_ == nullptr ? k : (*order_)[k];
      if ((digits >> digit & 1) == 0 || !Put(cell, digit)) continue;
      grid_.cells[cell] = static_cast<uint8_t>(digit + 1);
      Go(left - 1);
      grid_.cells[cell] = 0;
      Take(cell, digit);
    }
    std::swap(empty_[place], empty_[left - 1]);
  }

  // If a digit has only one cell left in some row, column or box, continues
  // there.
  bool TryHiddenSingle(size_t left) {
    std::array<uint16_t, 27> once{}, more{};
    for (size_t i = 0; i < left; ++i) {
      const auto bits = static_cast<uint16_t>(Candidates(empty_[i]));
      for (const int unit : units_.of_cell[static_cast<size_t>(empty_[i])]) {
        more[unit] = static_cast<uint16_t>(more[unit] | (once[unit] & bits));
        once[unit] = static_cast<uint16_t>(once[unit] | bits);
      }
    }
    for (size_t unit = 0; unit < units_.units.size(); ++unit) {
      if (once[unit] != lacks_[unit]) return true;  // a digit has no cell
    }
    for (size_t i = 0; i < left; ++i) {
      uint32_t single = 0;
      for (const int unit : units_.of_cell[static_cast<size_t>(empty_[i])]) {
        single |= once[unit] & ~more[unit];
      }
      single &= Candidates(empty_[i]);
      if (single == 0) continue;
      // Two of them in one cell contradict each other.
      if (std::has_single_bit(single)) Branch(left, i, single);
      return true;
    }
    return false;
  }

  const Units& units_;
  Sudoku grid_;
  const int side_;
  const int most_;
  const std::array<uint8_t, 9>* order_;
  std::array<uint16_t, 27> lacks_{};
  std::vector<int> empty_;
  bool possible_ = true;
  int found_ = 0;
  Sudoku* solution_ = nullptr;
};

// Candidates of every cell, reduced by one technique after another.
class Techniques {
 public:
  explicit Techniques(const Sudoku& sudoku)
      : units_(Units::Of(sudoku.box)), grid_(sudoku) {
    const int side = sudoku.side();
    candidates_.resize(static_cast<size_t>(sudoku.size()));
    for (uint32_t& bits : candidates_) bits = (1u << side) - 1;
    for (int cell = 0; cell < sudoku.size(); ++cell) {
      if (sudoku.cells[cell] != 0) Place(cell, sudoku.cells[cell] - 1);
    }
  }

  SudokuTechnique Solve() {
    auto hardest = SudokuTechnique::kNakedSingle;
    while (left_ > 0) {
      if (NakedSingle()) continue;
      hardest = std::max(hardest, SudokuTechnique::kHiddenSingle);
      if (HiddenSingle()) continue;
      hardest = std::max(hardest, SudokuTechnique::kLocked);
      if (Locked() || NakedPair()) continue;
      return SudokuTechnique::kSearch;
    }
    return hardest;
  }

 private:
  uint32_t& Bits(int cell) { return candidates_[static_cast<size_t>(cell)]; }

  void Place(int cell, int digit) {
    --left_;
    for (const int unit : units_.of_cell[static_cast<size_t>(cell)]) {
      for (const int other : units_.units[static_cast<size_t>(unit)]) {
        Bits(other) &= ~(1u << digit);
      }
    }
    Bits(cell) = 0;  // filled
  }

  bool NakedSingle() {
    for (int cell = 0; cell < grid_.size(); ++cell) {
      if (!std::has_single_bit(Bits(cell))) continue;
      Place(cell, std::countr_zero(Bits(cell)));
      return true;
    }
    return false;
  }

  bool HiddenSingle() {
    for (const std::vector<int>& unit : units_.units) {
      uint32_t once = 0, more = 0;
      for (const int cell : unit) {
        more |= once & Bits(cell);
        once |= Bits(cell);
      }
      once &= ~more;
      if (once == 0) continue;
      for (const int cell : unit) {
        const uint32_t single = Bits(cell) & once;
        if (single == 0) continue;
        Place(cell, std::countr_zero(single));
        return true;
      }
    }
    return false;
  }

  // If a digit's cells in one unit all lie in another, removes it from the rest
  // of the other.
  bool Locked() {
    bool changed = false;
    for (const std::vector<int>& unit : units_.units) {
      for (const std::vector<int>& other : units_.units) {
        if (&unit == &other) continue;
        uint32_t inside = 0, outside = 0;
        for (const int cell : unit) {
          const bool shared =
              std::find(other.begin(), other.end(), cell) != other.end();
          (shared ? inside : outside) |= Bits(cell);
        }
        const uint32_t locked = inside & ~outside;
        if (locked == 0) continue;
        for (const int cell : other) {
          const bool shared =
              std::find(unit.begin(), unit.end(), cell) != unit.end();
          if (shared || (Bits(cell) & locked) == 0) continue;
          Bits(cell) &= ~locked;
          changed = true;
        }
      }
    }
    return changed;
  }

  // If two cells of a unit have the same two candidates, removes those from the
  // rest.
  bool NakedPair() {
    bool changed = false;
    for (const std::vector<int>& unit : units_.units) {
      for (size_t i = 0; i < unit.size(); ++i) {
        const uint32_t pair = Bits(unit[i]);
        if (std::popcount(pair) != 2) continue;
        for (size_t j = i + 1; j < unit.size(); ++j) {
          if (Bits(unit[j]) != pair) continue;
          for (size_t k = 0; k < unit.size(); ++k) {
            if (k == i || k == j || (Bits(unit[k]) & pair) == 0) continue;
            Bits(unit[k]) &= ~pair;
            changed = true;
          }
        }
      }
    }
    return changed;
  }

  const Units& units_;
  const Sudoku grid_;
  std::vector<uint32_t> candidates_;
  int left_ = grid_.size();
};

}  // namespace

int Sudoku::clues() const {
  return static_cast<int>(std::count_if(cells.begin(), cells.begin() + size(),
                                        [](uint8_t c) { return c != 0; }));
}

absl::StatusOr<Sudoku> ParseSudoku(std::string_view question) {
  std::string cells;
  std::string_view text = question;
  while (!text.empty() && cells.size() <= 81) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.find_first_not_of("0123456789._| \t\r") != line.npos) continue;
    for (const char c : line) {
      if (IsEmptyCell(c) || absl::ascii_isdigit(c)) cells += c;
    }
  }
  const auto error = [&](std::string_view found) {
    return absl::InvalidArgumentError(absl::StrCat(
        "sudoku: expected lines of 16 or 81 cells in all, a digit or \".\" ",
        "each, found ", AbslView(found)));
  };
  if (cells.size() > 81) return error("more than 81 cells");
  if (cells.size() != 16 && cells.size() != 81) {
    return error(absl::StrCat(cells.size(), " cells"));
  }
  Sudoku sudoku{.box = cells.size() == 16 ? 2 : 3};
  for (size_t i = 0; i < cells.size(); ++i) {
    if (IsEmptyCell(cells[i])) continue;
    const int digit = cells[i] - '0';
    if (digit > sudoku.side()) {
      return error(absl::StrCat("the digit ", digit, " in a grid of ",
                                sudoku.side(), " rows"));
    }
    sudoku.cells[i] = static_cast<uint8_t>(digit);
  }
  return sudoku;
}

std::string FormatSudoku(const Sudoku& sudoku) {
  const std::string digits = SudokuDigits(sudoku);
  std::string text;
  for (size_t i = 0; i < digits.size(); ++i) {
    const bool last = (i + 1) % static_cast<size_t>(sudoku.side()) == 0;
    text += digits[i];
    text += last ? '\n' : ' ';
  }
  return text;
}

std::string SudokuDigits(const Sudoku& sudoku) {
  std::string text;
  for (int i = 0; i < sudoku.size(); ++i) {
    const uint8_t cell = sudoku.cells[i];
    text += cell == 0 ? '.' : static_cast<char>('0' + cell);
  }
  return text;
}

std::string FormatMove(const SudokuMove& move) {
  return absl::StrCat("r", move.row + 1, "c", move.column + 1, "=", move.digit);
}

std::optional<SudokuMove> ParseSudokuMove(std::string_view line) {
  const auto digit = [&](size_t i) { return line[i] >= '1' && line[i] <= '9'; };
  if (line.size() != 6 || line[0] != 'r' || line[2] != 'c' || line[4] != '=' ||
      !digit(1) || !digit(3) || !digit(5)) {
    return std::nullopt;
  }
  return SudokuMove{line[1] - '1', line[3] - '1', line[5] - '0'};
}

bool MayStand(const Sudoku& sudoku, const SudokuMove& move) {
  const int side = sudoku.side();
  if (move.row >= side || move.column >= side || move.digit > side) {
    return false;
  }
  const Units& units = Units::Of(sudoku.box);
  const int cell = move.row * side + move.column;
  for (const int unit : units.of_cell[static_cast<size_t>(cell)]) {
    for (const int other : units.units[static_cast<size_t>(unit)]) {
      if (other != cell && sudoku.cells[other] == move.digit) return false;
    }
  }
  return true;
}

int CountSudokuSolutions(const Sudoku& sudoku, int most, Sudoku* solution,
                         const std::array<uint8_t, 9>* order) {
  return Search(sudoku, most, order).Run(solution);
}

SudokuTechnique HardestTechnique(const Sudoku& sudoku) {
  return Techniques(sudoku).Solve();
}

StepVerdict SudokuJudge::Next(std::string_view line) {
  StepVerdict verdict;
  bool reachable = false;
  const int side = grid_.side();
  if (ended_) {
    // Nothing may follow.
  } else if (const auto move = ParseSudokuMove(line)) {
    const int cell = move->row * side + move->column;
    verdict.step_ok = MayStand(grid_, *move) && grid_.cells[cell] == 0;
    if (verdict.step_ok) {
      grid_.cells[cell] = static_cast<uint8_t>(move->digit);
      reachable = right_so_far_ && CountSudokuSolutions(grid_, 1) == 1;
    }
  } else if (line.starts_with("= ")) {
    ended_ = true;
    const auto answer = ParseSudoku(line.substr(2));
    if (answer.ok() && answer->box == grid_.box &&
        answer->clues() == answer->size()) {
      bool kept = true;
      for (int i = 0; i < grid_.size(); ++i) {
        kept =
            kept && (grid_.cells[i] == 0 || grid_.cells[i] == answer->cells[i]);
      }
      verdict.step_ok = kept && CountSudokuSolutions(*answer, 1) == 1;
      reachable = verdict.step_ok;
    }
  }
  right_so_far_ = right_so_far_ && verdict.step_ok;
  verdict.path_ok = right_so_far_ && reachable;
  return verdict;
}

}  // namespace espalier
