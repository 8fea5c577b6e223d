// A reward model's scores of solutions that are given, without a policy.
//
//   auto scorer = SolutionScorer::Load({.critic = folder}).value();
//   status = scorer->Score(solutions, *task, {}, on_done);
//
// The scores are those that a search gets for the same steps: solutions run as
// searches whose steps are set, so every kind of reward model that a search can
// read is read here, and many solutions share a batch.
#ifndef ESPALIER_SRC_ENGINE_SCORE_SOLUTIONS_H_
#define ESPALIER_SRC_ENGINE_SCORE_SOLUTIONS_H_

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "espalier/engine_options.h"
#include "espalier/scores.h"
#include "espalier/task.h"

namespace espalier {

struct GivenSolution {
  std::string question;
  std::vector<std::string> steps;  // at least one
};

// A given step as a search ends it: without line ends of its own, and with the
// task's delimiter.
std::string EndedStep(std::string step, const std::string& delimiter);

// Externally synchronised.
class SolutionScorer {
 public:
  // `models.critic` names the reward model, or `models.policy` if it is empty;
  // no other model is loaded. Errors as from Engine::Create.
  static absl::StatusOr<std::unique_ptr<SolutionScorer>> Load(
      const EngineOptions& models);
  virtual ~SolutionScorer() = default;

  // The levels that the model gives.
  virtual LevelSet levels() const = 0;

  // Calls on_done(i, scores) once per solution, in order of completion: one
  // entry per step, or why the solution cannot be judged (it is longer than the
  // context, a step contains the format's tag, ...). `task` renders the prompt
  // of Espalier's own heads, and its delimiter ends a step that has no line end
  // of its own. After `stop` is set, the rest is not judged.
  virtual absl::Status Score(
      absl::Span<const GivenSolution> solutions, const Task& task,
      const std::atomic<bool>* stop,
      const std::function<
          void(size_t, absl::StatusOr<std::vector<StepScores>>)>& on_done) = 0;
};

}  // namespace espalier

#endif  // ESPALIER_SRC_ENGINE_SCORE_SOLUTIONS_H_
