// How a kind of problem is put to a model and how its text is read back.
//
// A Task renders a question as the prompt, says where a step ends, finds the
// answer in a finished response and gives the form under which two answers
// count as the same vote. It never sees a reference.
//
//   const Task* task = FindTask("stories").value();
//   std::string prompt = task->Render(problem).value();
//
// Tasks are immutable and thread-safe. They register by name (task_registry.h
// in datasets/tasks).
#ifndef ESPALIER_API_TASK_H_
#define ESPALIER_API_TASK_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "espalier/problem.h"

namespace espalier {

// Where a step ends and what ends a response.
struct StepFormat {
  std::string delimiter = "\n";  // a step ends with these bytes
  int max_step_tokens = 256;     // a longer step is cut and marked as such
  int max_steps = 64;            // a response with more steps is unfinished
  // A complete step that begins with one of these ends the response, as the
  // model's end token does. Empty: only the end token ends it.
  std::vector<std::string> final_prefixes;
  // Text that ends a response and is no part of it. One that the delimiter
  // cuts in two is not seen.
  std::vector<std::string> stop_strings;
  // A step of max_step_tokens is complete, not cut: steps are segments of so
  // many tokens.
  bool segments = false;
  // The prompt spells control tokens of the model, as <|im_start|>.
  bool control_tokens = false;
};

class Task {
 public:
  virtual ~Task() = default;
  virtual std::string_view name() const = 0;

  // The prompt text, which the response follows immediately.
  // InvalidArgument for an empty question or one the task cannot read.
  virtual absl::StatusOr<std::string> Render(const Problem& problem) const = 0;

  virtual const StepFormat& format() const = 0;

  // The answer in `response` in canonical form (equal strings = same vote),
  // or nothing while there is none.
  virtual std::optional<std::string> FindAnswer(
      std::string_view response) const = 0;

  // True if `answer` (canonical form or raw) is equivalent to `gold`.
  virtual bool SameAnswer(std::string_view answer,
                          std::string_view gold) const = 0;
};

}  // namespace espalier

#endif  // ESPALIER_API_TASK_H_
