// Letters that options carry before their texts, as in "(A)12" or "b ) 15".
//
//   ListedOptions options{.texts = {"A)12", "C)15"}};
//   TakeMarks(options);   // texts "12", "15"; labels "A", "C"
//
// Stateless functions: thread-safe.
#ifndef ESPALIER_DATASETS_SETS_OPTION_MARKS_H_
#define ESPALIER_DATASETS_SETS_OPTION_MARKS_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace espalier {

inline constexpr size_t kMostOptions = 26;  // one letter each

struct ListedOptions {
  std::vector<std::string> texts;
  // The set's own labels, "B" or "2"; empty if it has none.
  std::vector<std::string> labels;
  // The set itself calls the first option A, the second B.
  bool lettered = false;
  // If the letters before the texts may be labels or parts of the texts, one
  // per option, ' ' if it has none; "" otherwise.
  std::string doubtful;
};

// The letter that is shown for an option, from 0 on.
char OptionLetter(size_t option);

// Length in bytes of the mark `letter` at the start of `text`, with the blanks
// after it: "(B)", "B)", "B.", "B:", also in lower case and with inner blanks.
// 0 if it has none.
size_t MarkAt(std::string_view text, char letter);

// Removes the marks from `options`. Marks other than A, B, C in this order
// become labels, if every option has a different one. "A.", which also begins a
// name, becomes none: such marks are doubtful. So are marks that are given
// twice or that options lack.
void TakeMarks(ListedOptions& options);

// The options that one text holds; none unless it has at least two marks.
std::vector<std::string> SplitOptions(std::string_view text);

// Why the letter `text` does not tell which option is meant; "" if it does.
std::string DoubtAbout(std::string_view text, const ListedOptions& options);

// Why a right option, one of `letters`, is also a wrong one: both have the same
// text. "" otherwise.
std::string EqualToGold(std::string_view letters,
                        const std::vector<std::string>& options);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_SETS_OPTION_MARKS_H_
