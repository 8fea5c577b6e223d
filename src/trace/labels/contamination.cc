#include "src/trace/labels/contamination.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/random.h"
#include "base/status_macros.h"
#include "base/text.h"
#include "datasets/sets/problem_set.h"
#include "datasets/tasks/task_registry.h"

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

bool IsGenerated(const std::string& set) {
  const std::vector<std::string> names = SetNames();
  return std::find(names.begin(), names.end(), set) != names.end();
}

}  // namespace

std::vector<uint64_t> OverlapChecker::Runs(std::string_view question) const {
  const std::vector<uint64_t> words = WordHashes(question);
  const size_t n = std::min(words.size(), static_cast<size_t>(n_));
  std::vector<uint64_t> runs;
  if (n == 0) return runs;
  for (size_t i = 0; i + n <= words.size(); ++i) {
    // The hash includes the length, so a short question does not match a run of
    // a long one.
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

absl::StatusOr<EvaluationQuestions> EvaluationQuestions::Load(
    const std::vector<std::string>& sets, const ContaminationOptions& options) {
  EvaluationQuestions out(options.ngram);
  out.sets_ =
      sets == SetNames() ? "any generated set" : absl::StrJoin(sets, ", ");
  for (const std::string& name : sets) {
    ESP_ASSIGN_OR_RETURN(
        const ProblemSet set,
        LoadSet(name, {.limit = options.eval_limit, .strict = true}));
    OverlapChecker& checker = IsGenerated(name) ? out.wholes_ : out.phrases_;
    for (const GradedProblem& graded : set.problems) {
      checker.AddEvaluation(graded.problem.question);
      out.AddPrompts(graded.problem);
    }
  }
  for (const std::string& question : options.questions) {
    out.wholes_.AddEvaluation(question);
    out.AddPrompts({.question = question});
  }
  return out;
}

// As every task that can read the problem renders it.
void EvaluationQuestions::AddPrompts(const Problem& problem) {
  for (const std::string& name : TaskNames()) {
    const auto prompt = (*FindTask(name))->Render(problem);
    if (!prompt.ok()) continue;
    prompts_.insert(StableHash(*prompt));
    prompt_sizes_.insert(prompt->size());
  }
}

bool EvaluationQuestions::Hold(std::string_view question) const {
  return phrases_.Overlaps(question) || wholes_.Overlaps(question);
}

bool EvaluationQuestions::HoldPrompt(std::string_view prompt) const {
  for (const size_t size : prompt_sizes_) {
    if (size > prompt.size()) break;
    if (prompts_.contains(StableHash(prompt.substr(0, size)))) return true;
  }
  if (Hold(prompt)) return true;
  for (const absl::string_view line :
       absl::StrSplit(AbslView(prompt), '\n', absl::SkipEmpty())) {
    if (Hold({line.data(), line.size()})) return true;
  }
  return false;
}

std::string EvaluationQuestions::FilterName(std::string_view what) const {
  return absl::StrCat(
      AbslView(what), " that ", sets_.empty() ? "the evaluation" : sets_, " (",
      phrases_.questions() + wholes_.questions(), " questions) does not hold");
}

absl::Status DropContaminated(const ContaminationOptions& options,
                              std::vector<ProblemTrees>& trees,
                              FilterLog& log) {
  if (options.off) return absl::OkStatus();
  std::vector<std::string> sets = options.eval_sets;
  if (sets.empty()) {
    for (const ProblemTrees& entry : trees) {
      const std::string& set = entry.problem.problem.set;
      if (IsGenerated(set) &&
          std::find(sets.begin(), sets.end(), set) == sets.end()) {
        sets.push_back(set);
      }
    }
  }
  if (sets.empty() && options.questions.empty()) {
    return absl::FailedPreconditionError(
        "which problems must not be trained on? Name the evaluation's sets or "
        "files by --eval-set, or add --no-contamination-check");
  }
  ESP_ASSIGN_OR_RETURN(const EvaluationQuestions evaluation,
                       EvaluationQuestions::Load(sets, options));
  const auto before = static_cast<int64_t>(trees.size());
  std::erase_if(trees, [&](const ProblemTrees& entry) {
    return evaluation.Hold(entry.problem.problem.question);
  });
  log.Count(evaluation.FilterName("problems"), before,
            static_cast<int64_t>(trees.size()));
  return absl::OkStatus();
}

}  // namespace espalier
