// What a comparison of an answer with gold came to.
#ifndef ESPALIER_DATASETS_ANSWERS_VERDICT_H_
#define ESPALIER_DATASETS_ANSWERS_VERDICT_H_

#include <string>
#include <utility>

namespace espalier {

struct GradeVerdict {
  bool equal = false;
  std::string reason;
  // Neither proven equal nor different; `equal` is false, and the reason says
  // why.
  bool undecided = false;

  static GradeVerdict Equal(std::string reason) {
    return {.equal = true, .reason = std::move(reason)};
  }
  static GradeVerdict Different(std::string reason) {
    return {.reason = std::move(reason)};
  }
  static GradeVerdict Undecided(std::string reason) {
    return {.reason = "undecided: " + std::move(reason), .undecided = true};
  }
};

}  // namespace espalier

#endif  // ESPALIER_DATASETS_ANSWERS_VERDICT_H_
