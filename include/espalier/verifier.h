// Verdicts on answers and steps.
//
// An intrinsic verifier reads the question alone (Countdown, Sudoku, public
// tests) and may be asked by a search at test time. A gold verifier reads the
// reference and serves grading, labels and `--oracle` rows only; the engine
// refuses to hand one to a test-time search. It may name an intrinsic one for
// searches: programs are judged by hidden tests, and searched by those that the
// question shows.
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

// What is known of one step (a line) of a response.
struct StepVerdict {
  // This step is right given the steps above it, even if those are wrong.
  bool step_ok = false;
  // The response up to and including this step can still be completed to a
  // correct answer by continuing correctly.
  bool path_ok = false;
};

struct Verdict {
  bool correct = false;
  std::string reason;  // why, in words: "expected 142, found 124"
  // Neither right nor wrong as far as can be told; `correct` is false. Such a
  // response is not counted as right, and no label is made of it.
  bool undecided = false;
};

class Verifier {
 public:
  virtual ~Verifier() = default;
  virtual std::string_view name() const = 0;

  // True if Check and CheckSteps ignore the reference.
  virtual bool intrinsic() const = 0;

  // The intrinsic verifier that a search may ask about the problems that this
  // one judges: itself if it is one; null if there is none. Outlives this one.
  virtual const Verifier* ForSearch() const {
    return intrinsic() ? this : nullptr;
  }

  // Why this machine cannot judge, as where programs cannot be held; asked once
  // before a run, whose verdicts would otherwise all be "not correct".
  virtual absl::Status Ready() const { return absl::OkStatus(); }

  // Whether a check takes so long, since a program runs, that the models should
  // compute meanwhile. Check may then be called from several threads at once.
  virtual bool slow() const { return false; }

  // False if `reference` lacks what Check compares with (a gold answer, hidden
  // tests): its verdict would say nothing about the response.
  virtual bool CanCheck(const Reference& reference) const {
    return intrinsic() || !reference.answer.empty();
  }

  // Verdict on a finished response.
  virtual Verdict Check(const Problem& problem, const Reference& reference,
                        std::string_view response) const = 0;

  // One verdict per step of `response` as the task cuts it, the last step
  // included if it is complete. Unimplemented where steps cannot be judged.
  virtual absl::StatusOr<std::vector<StepVerdict>> CheckSteps(
      const Problem& problem, const Reference& reference,
      std::string_view response) const = 0;
};

}  // namespace espalier

#endif  // ESPALIER_API_VERIFIER_H_
