// The lines of a story's solution, and the rule that judges them.
//
//   a 23          the opening: the sentence's tag and the quantity
//   b 23+48=71    sentence b changes 23 to 71; operations are + - * /
//   wait b 23+48=71   corrects the last line about sentence b
//   = 71          the answer
//
// The rule. A line is right given the lines above it (step_ok) if it is the
// line that should come next after the sentence that the line above refers to,
// continues from the value that the line above states, and computes correctly.
// The answer is right if it repeats the value above and no sentence is left.
// After a skipped or repeated sentence the rule continues from there, so an
// error is counted once. A line that does not parse is wrong and changes
// nothing else.
//
// A correction takes back the last line about its sentence and all lines after
// that one, and is judged as the line that it replaces. path_ok says that no
// error is left: it is false from the first wrong line on, until a right line
// corrects that line or an earlier one. A correction of a sentence that no line
// is about is wrong.
#ifndef ESPALIER_DATASETS_TASKS_STORY_LINES_H_
#define ESPALIER_DATASETS_TASKS_STORY_LINES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "espalier/verifier.h"

namespace espalier {

struct StoryLine {
  enum class Kind { kOpening, kStep, kAnswer };
  Kind kind = Kind::kOpening;
  std::string tag;          // sentence; empty for an answer
  int64_t left = 0;         // kStep only
  char op = 0;              // kStep only: + - * /
  int64_t right = 0;        // kStep only
  int64_t value = 0;        // the quantity after this line
  bool correction = false;  // of an earlier line; never kAnswer

  bool operator==(const StoryLine&) const = default;
};

// Parses a line (no newline). Strict: only what FormatStoryLine writes for
// values in [0, 10^15).
std::optional<StoryLine> ParseStoryLine(std::string_view line);
std::string FormatStoryLine(const StoryLine& line);

// `left op right`; nothing for an inexact division, a division by zero, a
// negative result or an unknown operation.
std::optional<int64_t> ApplyStoryOperation(int64_t left, char op,
                                           int64_t right);

// Judges the lines of one response in order. Copyable: a copy continues from
// the same state. Thread-compatible.
class StoryJudge {
 public:
  // `expected` holds a reference's steps: an opening, steps, the answer.
  // InvalidArgument if it does not.
  static absl::StatusOr<StoryJudge> Create(
      const std::vector<std::string>& expected);

  // The verdict on the next line of the response (without newline).
  StepVerdict Next(std::string_view line);

  // The index in `expected` of the line that should come next.
  size_t next() const { return state_.next; }
  // The quantity that the response stated last.
  std::optional<int64_t> value() const { return state_.value; }

 private:
  // What the lines so far have led to.
  struct State {
    size_t next = 0;  // index of the line of expected_ that should come next
    std::optional<int64_t> value;  // as the response stated it last
    bool path_ok = true;
  };
  // A line that has not been taken back.
  struct Written {
    size_t sentence;
    State before;
  };

  // Takes back the last line about `sentence` and all after it; false if there
  // is none.
  bool TakeBack(size_t sentence);

  std::vector<StoryLine> expected_;
  std::vector<size_t> sentences_;  // of expected_, without the answer
  State state_;
  std::vector<Written> written_;
  bool answered_ = false;
};

}  // namespace espalier

#endif  // ESPALIER_DATASETS_TASKS_STORY_LINES_H_
