// A finite, fully known tree of steps for search tests, and a driver that runs
// a search over it without the engine.
//
//   TreeWorld world({.seed = 3, .branching = 3, .depth = 4});
//   SearchRun run = RunSearch("beam:width=2", world, {.tokens = 500});
//   EXPECT_EQ(run.answer, world.best_answer());
//
// A step is one token, the index of the move: "s2\n"; the last one, at
// `depth`, also states its leaf: "= 17\n". Every leaf has a reward in [0, 1],
// no two alike, known only to the world; the best leaf is found by brute
// force. The search sees samples drawn by the moves' probabilities from the
// stream of the request, or every move in turn (`enumerate`), and scores of
// nodes by `Scores`.
//
// Externally synchronised.
#ifndef ESPALIER_TESTS_SEARCH_TREE_WORLD_H_
#define ESPALIER_TESTS_SEARCH_TREE_WORLD_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "espalier/search_options.h"
#include "espalier/search_result.h"
#include "search/algorithm.h"
#include "search/search_context.h"
#include "search/tree/check_tree.h"

namespace espalier {

// "s2\n" lines, then "= 17\n". The question is not used.
class TreeWorldTask : public Task {
 public:
  explicit TreeWorldTask(int max_step_tokens = 1)
      : format_{.max_step_tokens = max_step_tokens,
                .max_steps = 64,
                .final_prefixes = {"= "}} {}
  std::string_view name() const override { return "tree_world"; }
  absl::StatusOr<std::string> Render(const Problem& problem) const override {
    return problem.question;
  }
  const StepFormat& format() const override { return format_; }
  std::optional<std::string> FindAnswer(
      std::string_view response) const override;
  bool SameAnswer(std::string_view a, std::string_view b) const override {
    return a == b;
  }

 private:
  const StepFormat format_;
};

// How the reward model scores a node.
enum class Scores : uint8_t {
  kBest,   // the highest reward of the leaves below it: a perfect value
  kMean,   // the mean reward of the leaves below it
  kNoisy,  // kMean plus uniform noise of +-0.25, clipped to [0, 1]
  kLeaf,   // the reward of a leaf; 0.5 for other nodes
  kEqual,  // 0.5 everywhere
};

struct WorldOptions {
  uint64_t seed = 1;
  int branching = 3;  // moves per node
  int depth = 4;      // of the leaves
  // The chance that a node above `depth` is a leaf.
  double early_leaf = 0;
  bool enumerate = false;  // sample i of a node is its move i mod branching
  Scores scores = Scores::kMean;
  // Steps have 1 to `step_tokens` tokens; a limit may truncate them.
  int step_tokens = 1;
};

class TreeWorld {
 public:
  explicit TreeWorld(const WorldOptions& options);

  struct Place {
    std::vector<int> children;  // by move; empty: a leaf
    std::vector<float> logprobs;
    int parent = -1;
    int move = 0;
    float reward = 0;  // of a leaf
    float best = 0;    // of the leaves below
    float mean = 0;
    float noisy = 0;
    int best_leaf = -1;
  };
  const Place& operator[](int place) const {
    return places_[static_cast<size_t>(place)];
  }
  int size() const { return static_cast<int>(places_.size()); }
  // The place at the end of a tree path.
  int Find(const Tree& tree, NodeId node) const;
  // The answers of a leaf and of the best one.
  std::string Answer(int leaf) const { return std::to_string(leaf); }
  std::string best_answer() const { return Answer(places_[0].best_leaf); }
  float Score(int place) const;
  // The move taken by sample `index` of a request with this stream.
  int Move(int place, const StreamKey& stream, int index,
           float temperature) const;
  // Text of the move to `place`.
  std::string Text(int place) const;
  // Tokens of that move.
  int StepTokens(int place) const;

  SearchCompletion Reply(const Tree& tree, const SearchRequest& request) const;
  const WorldOptions& options() const { return options_; }
  const Task& task() const { return task_; }

 private:
  int Grow(int parent, int move, int depth);
  // Fills in entropy and confidence of `tokens` tokens drawn at `place`: those
  // of its moves, all of which count as top tokens.
  void Tell(int place, int tokens, SampledStep& step) const;

  const WorldOptions options_;
  const TreeWorldTask task_;
  std::vector<Place> places_;
};

struct SearchRun {
  absl::Status status;
  std::string answer;
  NodeId node = kNoNode;
  float score = 0;
  std::string stop_reason;
  AnswerStage stage = AnswerStage::kNone;
  Usage usage;
  int64_t largest_reply_bytes = 0;  // added to the tree by one delivery
  size_t most_open = 0;             // requests in flight at once
  std::vector<AnytimeAnswer> anytime;
  // The most sample requests that were open at once, and their samples.
  int open_requests = 0;
  int open_samples = 0;
  int replies = 0;     // received by the search
  bool ended = false;  // finished, not destroyed midway
  // The complete result as text: equal texts mean equal trees.
  std::string tree_text;
  std::unique_ptr<SearchContext> context;
  const Tree& tree() const { return context->tree(); }
};

struct RunLimits {
  int64_t tokens = 0;  // 0: no limit
  int64_t simulations = 0;
  int64_t nodes = 0;
  uint64_t seed = 1;
  // Delivers replies in another order; 0: in order of issue.
  uint64_t shuffle = 0;
  CheckTreeOptions check = {};
  // Further budgets and stoppers.
  SearchOptions more = {};
  // Destroys the search after this many replies; -1: never.
  int destroy_after = -1;
  // Replaces the world's replies if set.
  std::function<SearchCompletion(const Tree&, const SearchRequest&)> reply = {};
};

// Runs one search to its end and checks its tree (a gtest failure if broken).
SearchRun RunSearch(const std::string& method, const TreeWorld& world,
                    const RunLimits& limits = {});

// The best leaf's reward minus that of the answer's leaf; no answer counts as
// 0.
double Regret(const TreeWorld& world, const SearchRun& run);
// Mean regret for each token budget over 30 enumerated worlds of branching 3
// and depth 4. Also printed.
std::vector<double> RegretCurve(const std::string& method,
                                const std::vector<int64_t>& tokens,
                                RunLimits limits = {});

}  // namespace espalier

#endif  // ESPALIER_TESTS_SEARCH_TREE_WORLD_H_
