// Verdicts on answers and steps.
//
// An intrinsic verifier reads only the question (Countdown, Sudoku, public
// tests), so a search may call it at test time. A gold verifier reads the
// reference and is for grading, labels and `--oracle` rows only; the engine
// refuses to pass one to a test-time search. It may name an intrinsic one for
// searches: programs are graded by hidden tests, but searched with the tests
// shown in the question.
//
//   RunHooks hooks{.verifier = verifier.ForSearch(),
//                  .background_checks = verifier.slow()};
#ifndef ESPALIER_API_VERIFIER_H_
#define ESPALIER_API_VERIFIER_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "espalier/problem.h"

namespace espalier {

// The verdict on one step (a line) of a response.
struct StepVerdict {
  // This step is correct given the steps before it, even if those are wrong.
  bool step_ok = false;
  // The response up to and including this step can still be completed to a
  // correct answer.
  bool path_ok = false;
};

struct Verdict {
  bool correct = false;
  std::string reason;  // in words: "expected 142, found 124"
  // Neither correctness nor an error could be shown; `correct` is false. The
  // response does not count as correct and yields no label.
  bool undecided = false;
};

class Verifier {
 public:
  virtual ~Verifier() = default;
  virtual std::string_view name() const = 0;

  // True if Check and CheckSteps ignore the reference.
  virtual bool intrinsic() const = 0;

  // The intrinsic verifier that a search may call on this verifier's problems:
  // itself if intrinsic; null if there is none. Outlives this one.
  virtual const Verifier* ForSearch() const {
    return intrinsic() ? this : nullptr;
  }

  // Why this machine cannot give verdicts, e.g. because programs cannot be
  // sandboxed. Called once before a run, whose verdicts would otherwise all be
  // "not correct".
  virtual absl::Status Ready() const { return absl::OkStatus(); }

  // True if a check is slow because it runs a program, so that models should
  // compute meanwhile. Check may then be called from several threads at once.
  virtual bool slow() const { return false; }

  // False if `reference` lacks what Check needs (a gold answer, hidden tests):
  // its verdict would be meaningless.
  virtual bool CanCheck(const Reference& reference) const {
    return intrinsic() || !reference.answer.empty();
  }

  // Verdict on a finished response.
  virtual Verdict Check(const Problem& problem, const Reference& reference,
                        std::string_view response) const = 0;

  // One verdict per step of `response` as the task splits it, including the
  // last step if it is complete. Unimplemented if steps cannot be judged.
  virtual absl::StatusOr<std::vector<StepVerdict>> CheckSteps(
      const Problem& problem, const Reference& reference,
      std::string_view response) const = 0;
};

}  // namespace espalier

#endif  // ESPALIER_API_VERIFIER_H_
