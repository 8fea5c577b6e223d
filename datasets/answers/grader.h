// Compares two texts by their readings (find/readings.h).
//
//   Grader grader(policy);
//   const Readings gold = grader.Read("3/4");
//   grader.Compare(gold, grader.Read("so we get \\boxed{0.75}.")).equal
//
// Only what is read as the answer counts; what the words around it say is left
// to the caller. Not thread-safe.
#ifndef ESPALIER_DATASETS_ANSWERS_GRADER_H_
#define ESPALIER_DATASETS_ANSWERS_GRADER_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/answers/find/readings.h"
#include "datasets/answers/value/compare_value.h"
#include "datasets/answers/value/policy.h"
#include "datasets/answers/verdict.h"

namespace espalier {

class Grader {
 public:
  // `policy` outlives this.
  explicit Grader(const GradePolicy& policy)
      : policy_(policy), comparer_(policy), reader_(policy, comparer_) {}

  Readings Read(std::string_view raw) { return reader_.Read(raw); }

  // With the unit found in `raw` behind the number of `side`, if the other side
  // names one as well; else nothing.
  std::optional<Readings> WithUnitBeside(const Readings& side,
                                         std::string_view raw,
                                         const Readings& other);

  // With the base that `raw` names for its digits, if gold names one as well;
  // else nothing.
  std::optional<Readings> WithBaseBeside(const Readings& side,
                                         std::string_view raw,
                                         const Readings& gold);

  GradeVerdict Compare(const Readings& gold, const Readings& answer);

 private:
  GradeVerdict CompareOtherwiseWritten(const Readings& gold,
                                       const Readings& answer);
  GradeVerdict CompareReadings(const Readings& gold, const Readings& answer);
  // Why some uncertain readings agree; empty if none do.
  std::string MightBeEqual(const Readings& gold, const Readings& answer);

  const GradePolicy& policy_;
  ValueComparer comparer_;
  Reader reader_;
};

// Whether the answer names a unit that letters can be compared with.
bool WritesUnit(const Readings& side);

// The unit that a side names; "" if none is known.
std::string UnitOf(const Readings& side);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_ANSWERS_GRADER_H_
