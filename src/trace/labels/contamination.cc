#include "src/trace/labels/contamination.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "datasets/readers/problem_set.h"
#include "src/base/random.h"
#include "src/base/status_macros.h"

namespace espalier {
namespace {

bool IsWordByte(unsigned char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (c >= '0' && c <= '9') || c >= 0x80;
}

std::vector<uint64_t> WordHashes(std::string_view text) {
  std::vector<uint64_t> hashes;
  std::string word;
  for (size_t i = 0; i <= text.size(); ++i) {
    const auto c = i < text.size() ? static_cast<unsigned char>(text[i]) : ' ';
    if (IsWordByte(c)) {
      word += static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    } else if (!word.empty()) {
      hashes.push_back(StableHash(word));
      word.clear();
    }
  }
  return hashes;
}

}  // namespace

std::vector<uint64_t> OverlapChecker::Runs(std::string_view question) const {
  const std::vector<uint64_t> words = WordHashes(question);
  const size_t n = std::min(words.size(), static_cast<size_t>(n_));
  std::vector<uint64_t> runs;
  if (n == 0) return runs;
  for (size_t i = 0; i + n <= words.size(); ++i) {
    // The length is part of it: a short question is not a run of a long one.
    uint64_t hash = n;
    for (size_t k = 0; k < n; ++k) hash = MixHash(hash, words[i + k]);
    runs.push_back(hash);
  }
  return runs;
}

void OverlapChecker::AddEvaluation(std::string_view question) {
  ++questions_;
  for (const uint64_t run : Runs(question)) runs_.insert(run);
}

bool OverlapChecker::Overlaps(std::string_view question) const {
  const std::vector<uint64_t> runs = Runs(question);
  return std::any_of(runs.begin(), runs.end(),
                     [&](uint64_t run) { return runs_.contains(run); });
}

absl::Status DropContaminated(const ContaminationOptions& options,
                              std::vector<ProblemTrees>& trees,
                              FilterLog& log) {
  if (options.off) return absl::OkStatus();
  const std::vector<std::string> generated = SetNames();
  const auto is_generated = [&](const std::string& name) {
    return std::find(generated.begin(), generated.end(), name) !=
           generated.end();
  };
  std::vector<std::string> sets = options.eval_sets;
  if (sets.empty()) {
    for (const ProblemTrees& entry : trees) {
      const std::string& set = entry.problem.problem.set;
      if (is_generated(set) &&
          std::find(sets.begin(), sets.end(), set) == sets.end()) {
        sets.push_back(set);
      }
    }
  }
  if (sets.empty()) {
    return absl::FailedPreconditionError(
        "which problems must not be trained on? Name the evaluation's sets or "
        "files by --eval-set, or say --no-contamination-check");
  }
  OverlapChecker phrases(options.ngram), wholes(kWholeQuestion);
  for (const std::string& name : sets) {
    ESP_ASSIGN_OR_RETURN(const ProblemSet set,
                         LoadSet(name, {.limit = options.eval_limit}));
    OverlapChecker& checker = is_generated(name) ? wholes : phrases;
    for (const GradedProblem& graded : set.problems) {
      checker.AddEvaluation(graded.problem.question);
    }
  }
  for (const std::string& question : options.questions) {
    wholes.AddEvaluation(question);
  }
  const auto before = static_cast<int64_t>(trees.size());
  std::erase_if(trees, [&](const ProblemTrees& entry) {
    const std::string& question = entry.problem.problem.question;
    return phrases.Overlaps(question) || wholes.Overlaps(question);
  });
  log.Count(absl::StrCat("problems that ", absl::StrJoin(sets, ", "), " (",
                         phrases.questions() + wholes.questions(),
                         " questions) does not hold"),
            before, static_cast<int64_t>(trees.size()));
  return absl::OkStatus();
}

}  // namespace espalier
