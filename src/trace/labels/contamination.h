// Whether training questions are among the questions of an evaluation.
//
//   OverlapChecker checker(13);
//   for (const std::string& q : evaluation) checker.AddEvaluation(q);
//   if (checker.Overlaps(training_question)) ...
//
// Questions are compared as words: letters and digits in lower case,
// everything else parts words. Two questions overlap if they share a run of n
// words (13 as in the GPT-3 report, Brown et al. 2020); one with fewer words
// overlaps only with its equal. Generated sets repeat their own phrases: among
// their questions only equal ones (kWholeQuestion) tell.
//
// Thread-compatible.
#ifndef ESPALIER_SRC_TRACE_LABELS_CONTAMINATION_H_
#define ESPALIER_SRC_TRACE_LABELS_CONTAMINATION_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "src/trace/labels/examples.h"

namespace espalier {

inline constexpr int kWholeQuestion = 1 << 30;

class OverlapChecker {
 public:
  explicit OverlapChecker(int n) : n_(n) {}
  void AddEvaluation(std::string_view question);
  bool Overlaps(std::string_view question) const;
  int64_t questions() const { return questions_; }

 private:
  std::vector<uint64_t> Runs(std::string_view question) const;

  const int n_;
  int64_t questions_ = 0;
  absl::flat_hash_set<uint64_t> runs_;
};

struct ContaminationOptions {
  // Sets or files. Empty: the test problems of the searched sets themselves.
  std::vector<std::string> eval_sets;
  int64_t eval_limit = 2000;  // problems of each generated set
  int ngram = 13;             // for files
  // Questions beside those of the sets, compared whole.
  std::vector<std::string> questions;
  bool off = false;
};
// Drops the problems whose questions an evaluation holds, and logs how many.
// FailedPrecondition if there is nothing to check against.
absl::Status DropContaminated(const ContaminationOptions& options,
                              std::vector<ProblemTrees>& trees, FilterLog& log);

}  // namespace espalier

#endif  // ESPALIER_SRC_TRACE_LABELS_CONTAMINATION_H_
