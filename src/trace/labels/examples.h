// Training examples from the trees of a run: solutions to imitate, preference
// pairs of steps, steps to judge.
//
//   ESP_ASSIGN_OR_RETURN(auto trees, TreesByProblem(*db, run_id));
//   FilterLog log;
//   std::vector<PathExample> paths = SelectPaths(trees, {}, log);
//   log.Text();   // "distinct: 812 in, 640 out" ...
//
// Every filter logs how many examples went in and came out. Examples are in the
// order of problems, so equal databases give equal sets. Thread-compatible.
#ifndef ESPALIER_SRC_TRACE_LABELS_EXAMPLES_H_
#define ESPALIER_SRC_TRACE_LABELS_EXAMPLES_H_

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "espalier/problem.h"
#include "src/trace/run_db.h"
#include "src/trace/stored_tree.h"

namespace espalier {

struct FilterCount {
  std::string name;
  int64_t in = 0;
  int64_t out = 0;
};

class FilterLog {
 public:
  // Adds to the filter of this name.
  void Count(const std::string& name, int64_t in, int64_t out);
  const std::vector<FilterCount>& counts() const { return counts_; }
  // One line per filter, in order of first use.
  std::string Text() const;

 private:
  std::vector<FilterCount> counts_;
};

// The finished, uncached searches of one problem.
struct ProblemTrees {
  GradedProblem problem;
  std::string task;
  std::string prompt;  // as in the run's config; "": the task's own
  std::vector<StoredTree> trees;
};
// `run_id` 0: all runs. A problem appears once for each prompt it was put with.
absl::StatusOr<std::vector<ProblemTrees>> TreesByProblem(RunDb& db,
                                                         int64_t run_id);
// Merges databases: adds `more` to `trees`; a problem in both appears once with
// the trees of both.
void JoinTrees(std::vector<ProblemTrees> more,
               std::vector<ProblemTrees>& trees);

// A correct response to imitate.
struct PathExample {
  size_t problem = 0;                             // index in the trees
  std::vector<std::string> steps;                 // texts, delimiters included
  std::vector<std::vector<int32_t>> step_tokens;  // as the policy drew them
  std::vector<bool> train;                        // imitate each step?
  double logprob = 0;  // ln p under the policy that wrote it
  int64_t tokens = 0;
};
struct PathOptions {
  int per_problem = 4;    // at most this many distinct ones; 0: all
  bool by_value = false;  // those with the highest mean q, else the most likely
  // Imitates only steps whose perplexity, exp(-ln p / tokens), is in this
  // range: trivial steps teach nothing, very unlikely ones harm
  // (BFS-Prover-V2). A path without such a step is dropped.
  double min_perplexity = 0;
  double max_perplexity = std::numeric_limits<double>::infinity();
};
// Expert iteration (ReST-EM): verified responses without duplicate texts.
std::vector<PathExample> SelectPaths(const std::vector<ProblemTrees>& trees,
                                     const PathOptions& options,
                                     FilterLog& log);

// Two steps after the same prefix, the better one first.
struct PairExample {
  size_t problem = 0;
  std::string prefix;  // response text before them
  std::string chosen, rejected;
  std::vector<int32_t> prefix_tokens, chosen_tokens, rejected_tokens;
  float chosen_value = 0, rejected_value = 0;
  float weight = 1;  // 1 / (n+ n-) of the prefix
};
struct PairOptions {
  int top = 2;  // this many best against as many worst
  float margin = 0.5f;
  int min_edit_distance = 20;  // bytes
  bool by_q = false;  // value of a step: the search's q, else its outcomes
};
// rStar-Math: the highest-valued steps that lead to a correct end against the
// lowest-valued ones that lead to a wrong one.
std::vector<PairExample> SelectPairs(const std::vector<ProblemTrees>& trees,
                                     const PairOptions& options,
                                     FilterLog& log);

// A response of a group and its advantage over the others.
struct GroupResponse {
  std::vector<int32_t> tokens;
  std::vector<float> logprobs;  // [tokens], under the policy that drew it
  bool correct = false;
  // Recorded step scores, one per step; empty if one is missing. `step_ends`:
  // the number of tokens up to each step's end.
  std::vector<float> step_scores;
  std::vector<size_t> step_ends;
  float advantage = 0;  // reward minus the group's mean reward
  // [tokens] with process rewards, else empty.
  std::vector<float> advantages;
};
struct GroupExample {
  size_t problem = 0;
  std::vector<GroupResponse> responses;
};
// Step scores as rewards of a policy. A policy learns to please a reward model
// where its steps' rewards simply add up, e.g. by repeating right steps, so
// they are bounded first:
//
//   clip   r_k = min(s_k - clip, 0)                    (Gao et al. 2024)
//   delta  r_k - r_(k+1), and the last step its r_K    (Gao et al. 2024)
//   gate   0 in a wrong response                       (Sun et al. 2025, G-RA)
//
// in this order. With G_k the sum of the rewards of step k and those after it
// (with delta: r_k), and M the mean of G over the steps of the group's
// responses that the gate lets pass, the tokens of step k have the advantage
//
//   A + weight (G_k - M),
//
// and those of a response that it stops, or whose steps were not all scored, A.
struct ProcessRewards {
  float weight = 0;  // 0: process rewards feed no loss
  float clip = 0.5f;
  bool delta = true;
  bool gate = true;
};
// PROF (Ye et al. 2025): of the right responses those with the lowest mean step
// score are dropped, of the wrong ones those with the highest, from the class
// that has more until both have as many. kCorrect, for a weak reward model,
// drops right ones only. A response without scores is not dropped.
enum class ConsistencyFilter : uint8_t { kOff, kBoth, kCorrect };
inline constexpr std::array<std::string_view, 3> kConsistencyFilterNames = {
    "off", "both", "correct"};
struct GroupOptions {
  // Groups whose rewards have a lower standard deviation carry no signal and
  // are dropped (ReST-GRPO).
  float min_std = 0.05f;
  ProcessRewards process;
  ConsistencyFilter filter = ConsistencyFilter::kOff;
};
// GRPO's groups: every graded response to a problem, as often as it was drawn,
// with the advantage of Dr.GRPO (no division by the standard deviation). Meant
// for independent samples, as `majority` and `sample` draw them.
std::vector<GroupExample> SelectGroups(const std::vector<ProblemTrees>& trees,
                                       const GroupOptions& options,
                                       FilterLog& log);

// FailedPrecondition, which names `path`, if the options read scores and no
// response has them.
absl::Status CheckScored(const std::string& path, const GroupOptions& options,
                         const std::vector<GroupExample>& groups);

// A path from the root with the values of its steps.
struct StepExample {
  size_t problem = 0;
  std::vector<std::string> steps;
  std::vector<std::vector<int32_t>> step_tokens;
  std::vector<float> values;  // in [0, 1]
  // True if this example trains on the step's label. If examples of a problem
  // share a prefix, only the first trains on the prefix's labels.
  std::vector<bool> counts;
  std::vector<uint32_t> correct, finished;  // outcomes below each
  std::vector<StepScores> scores;           // recorded; NaN: not scored
};
struct StepOptions {
  bool quality = false;  // ReST-MCTS* quality values, else outcome shares
  int min_outcomes = 1;  // a path ends at a step with fewer outcomes below it
};
// One per path that is not a prefix of another; equal texts appear once, and
// every label counts once, however many paths share its step.
std::vector<StepExample> SelectSteps(const std::vector<ProblemTrees>& trees,
                                     const StepOptions& options,
                                     FilterLog& log);

}  // namespace espalier

#endif  // ESPALIER_SRC_TRACE_LABELS_EXAMPLES_H_
