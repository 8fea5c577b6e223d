// How a kind of problem is presented to a model and how its output is parsed.
//
// A Task renders a question as the prompt, defines where a step ends, finds the
// answer in a finished response and gives its canonical form, under which equal
// answers count as the same vote. It never sees a reference.
//
//   const Task* task = FindTask("stories").value();
//   std::string prompt = task->Render(problem).value();
//
// Tasks are immutable and thread-safe, and registered by name
// (espalier/registry.h).
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
  int max_step_tokens = 256;     // a longer step is truncated
  int max_steps = 64;            // a longer response is unfinished
  // A complete step that begins with one of these ends the response, as does
  // the model's end token. Empty: only the end token ends it.
  std::vector<std::string> final_prefixes;
  // Text that ends a response and is not part of it. Not recognised across a
  // delimiter.
  std::vector<std::string> stop_strings;
  // A step of max_step_tokens is complete, not truncated: steps are segments of
  // that many tokens.
  bool segments = false;
  // The prompt contains control tokens of the model as text: <|im_start|>.
  bool control_tokens = false;
};

class Task {
 public:
  virtual ~Task() = default;
  virtual std::string_view name() const = 0;

  // The prompt text; the response follows immediately.
  // InvalidArgument for an empty question or one the task cannot parse.
  virtual absl::StatusOr<std::string> Render(const Problem& problem) const = 0;

  virtual const StepFormat& format() const = 0;

  // The answer in `response` in canonical form (equal strings = same vote, see
  // also OneVote), nullopt if there is none yet.
  virtual std::optional<std::string> FindAnswer(
      std::string_view response) const = 0;

  // True if `answer` (canonical form or raw) is equivalent to `gold`.
  virtual bool SameAnswer(std::string_view answer,
                          std::string_view gold) const = 0;

  // True if two different answers of FindAnswer are one vote. A search asks it
  // for each new answer and up to 64 earlier ones.
  virtual bool OneVote(std::string_view, std::string_view) const {
    return false;
  }
};

}  // namespace espalier

#endif  // ESPALIER_API_TASK_H_
