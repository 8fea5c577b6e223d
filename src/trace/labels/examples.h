// Training examples from the trees of a run: solutions to imitate, pairs of
// steps to prefer, steps to judge.
//
//   ESP_ASSIGN_OR_RETURN(auto trees, TreesByProblem(*db, run_id));
//   FilterLog log;
//   std::vector<PathExample> paths = SelectPaths(trees, {}, log);
//   log.Text();   // "distinct: 812 in, 640 out" ...
//
// Every filter says how many went in and how many came out. Examples come in
// the order of problems, so equal databases give equal sets.
// Thread-compatible.
#ifndef ESPALIER_SRC_TRACE_LABELS_EXAMPLES_H_
#define ESPALIER_SRC_TRACE_LABELS_EXAMPLES_H_

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

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
  // Adds to the filter of that name.
  void Count(const std::string& name, int64_t in, int64_t out);
  const std::vector<FilterCount>& counts() const { return counts_; }
  // A line a filter, in order of first use.
  std::string Text() const;

 private:
  std::vector<FilterCount> counts_;
};

// The finished, uncached searches of one problem.
struct ProblemTrees {
  GradedProblem problem;
  std::string task;
  std::string prompt;  // that put it, as the run's config has it; "": the task
  std::vector<StoredTree> trees;
};
// `run_id` 0: of all runs. A problem comes once for each prompt that put it.
absl::StatusOr<std::vector<ProblemTrees>> TreesByProblem(RunDb& db,
                                                         int64_t run_id);
// Of one database after another: `more` put to `trees`, a problem that both
// hold once with the trees of both.
void JoinTrees(std::vector<ProblemTrees> more,
               std::vector<ProblemTrees>& trees);

// A response with a correct end, to be imitated.
struct PathExample {
  size_t problem = 0;                             // index in the trees
  std::vector<std::string> steps;                 // texts, delimiters included
  std::vector<std::vector<int32_t>> step_tokens;  // as the policy drew them
  std::vector<bool> train;                        // imitate this step
  double logprob = 0;  // ln p under the policy that wrote it
  int64_t tokens = 0;
};
struct PathOptions {
  int per_problem = 4;    // distinct ones at most; 0: all
  bool by_value = false;  // those of highest mean q first, else the likeliest
  // Only steps whose perplexity, exp(-ln p / tokens), lies within are
  // imitated: what is trivial teaches nothing, what is very unlikely harms
  // (BFS-Prover-V2). A path without such a step is dropped.
  double min_perplexity = 0;
  double max_perplexity = std::numeric_limits<double>::infinity();
};
// Expert iteration (ReST-EM): verified responses, equal texts once.
std::vector<PathExample> SelectPaths(const std::vector<ProblemTrees>& trees,
                                     const PathOptions& options,
                                     FilterLog& log);

// Two steps after one prefix, the first the better one.
struct PairExample {
  size_t problem = 0;
  std::string prefix;  // response text above them
  std::string chosen, rejected;
  std::vector<int32_t> prefix_tokens, chosen_tokens, rejected_tokens;
  float chosen_value = 0, rejected_value = 0;
  float weight = 1;  // 1 / (n+ n-) of its prefix
};
struct PairOptions {
  int top = 2;  // best against as many of the worst
  float margin = 0.5f;
  int min_edit_distance = 20;  // bytes
  bool by_q = false;  // value of a step: the search's q, else its outcomes
};
// rStar-Math: the steps of highest value that lead to a correct end against
// those of lowest value that lead to a wrong one.
std::vector<PairExample> SelectPairs(const std::vector<ProblemTrees>& trees,
                                     const PairOptions& options,
                                     FilterLog& log);

// A response of a group and how it compares with the others.
struct GroupResponse {
  std::vector<int32_t> tokens;
  std::vector<float> logprobs;  // [tokens], of the policy that drew it
  bool correct = false;
  float advantage = 0;  // reward less the group's mean reward
};
struct GroupExample {
  size_t problem = 0;
  std::vector<GroupResponse> responses;
};
// GRPO's groups: every graded response to a problem, as often as it was drawn,
// with the advantage of Dr.GRPO (no division by the standard deviation).
// Groups whose rewards have a standard deviation below `min_std` say nothing
// and are dropped (ReST-GRPO). Meant for independent samples, as `majority`
// and `sample` draw them.
std::vector<GroupExample> SelectGroups(const std::vector<ProblemTrees>& trees,
                                       float min_std, FilterLog& log);

// A path from the root with what its steps are worth.
struct StepExample {
  size_t problem = 0;
  std::vector<std::string> steps;
  std::vector<std::vector<int32_t>> step_tokens;
  std::vector<float> values;  // in [0, 1]
  // The label counts here. Of examples of a problem that begin alike the first
  // has the labels of the beginning.
  std::vector<bool> counts;
  std::vector<uint32_t> correct, finished;  // outcomes below each
};
struct StepOptions {
  bool quality = false;  // ReST-MCTS* quality values, else outcome shares
  int min_outcomes = 1;  // steps with fewer ends below end a path
};
// One a path that no other contains; equal texts once, and every label counts
// once, however many paths share its step.
std::vector<StepExample> SelectSteps(const std::vector<ProblemTrees>& trees,
                                     const StepOptions& options,
                                     FilterLog& log);

}  // namespace espalier

#endif  // ESPALIER_SRC_TRACE_LABELS_EXAMPLES_H_
