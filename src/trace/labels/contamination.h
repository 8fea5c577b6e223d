// Finds training questions that are among the questions of an evaluation.
//
//   OverlapChecker checker(13);
//   for (const std::string& q : evaluation) checker.AddEvaluation(q);
//   if (checker.Overlaps(training_question)) ...
//
// Questions are compared as words: runs of letters and digits in lower case.
// Two questions overlap if they share a run of n words (13 as in the GPT-3
// report, Brown et al. 2020); one with fewer words overlaps only with an equal
// one. Generated sets repeat their own phrases, so their questions overlap only
// if equal (kWholeQuestion).
//
// Thread-compatible.
#ifndef ESPALIER_SRC_TRACE_LABELS_CONTAMINATION_H_
#define ESPALIER_SRC_TRACE_LABELS_CONTAMINATION_H_

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "espalier/problem.h"
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

  int n_;
  int64_t questions_ = 0;
  absl::flat_hash_set<uint64_t> runs_;
};

struct ContaminationOptions {
  // Sets or files. Empty: the test problems of the searched sets, or of all
  // generated sets if it is unknown what was searched.
  std::vector<std::string> eval_sets;
  int64_t eval_limit = 2000;  // problems per generated set
  int ngram = 13;             // for files
  // Questions in addition to those of the sets, compared whole.
  std::vector<std::string> questions;
  bool off = false;
};

// All questions of an evaluation.
//
// A prompt is text as a task renders it, possibly followed by the beginning of
// a response. It is a question of the evaluation if it begins with what some
// task renders for one, if it or one of its lines equals such a question in
// words, or, for files, if it shares a run of `ngram` words.
class EvaluationQuestions {
 public:
  static absl::StatusOr<EvaluationQuestions> Load(
      const std::vector<std::string>& sets,
      const ContaminationOptions& options);

  bool Hold(std::string_view question) const;
  bool HoldPrompt(std::string_view prompt) const;
  // Name of a filter that uses these questions; `what` is what it lets through.
  std::string FilterName(std::string_view what) const;

 private:
  explicit EvaluationQuestions(int ngram) : phrases_(ngram) {}
  void AddPrompts(const Problem& problem);

  OverlapChecker phrases_;
  OverlapChecker wholes_{kWholeQuestion};
  absl::flat_hash_set<uint64_t> prompts_;  // hashes
  std::set<size_t> prompt_sizes_;          // in bytes
  std::string sets_;                       // names, for messages
};

// Drops the problems whose questions are in an evaluation, and logs how many.
// FailedPrecondition if there is nothing to check against.
absl::Status DropContaminated(const ContaminationOptions& options,
                              std::vector<ProblemTrees>& trees, FilterLog& log);

}  // namespace espalier

#endif  // ESPALIER_SRC_TRACE_LABELS_CONTAMINATION_H_
