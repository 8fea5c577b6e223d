// The engine: loads models once and runs many searches over them at a time.
//
//   EngineOptions models{.policy = "models/zoo/stories"};
//   auto engine = Engine::Create(models).value();
//   SearchOptions search{.method = "beam:branch=4", .max_tokens = 600};
//   SearchResult result = engine->Solve(problem, task, search);
//   std::cout << result.answer << "\n";
//
// The same seed gives the same trees and answers whatever `threads` and `live`
// are (on the device "cpu"; on others sums may be rounded otherwise). An engine
// is externally synchronised: one Solve or SolveAll at a time.
#ifndef ESPALIER_ENGINE_H_
#define ESPALIER_ENGINE_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "espalier/problem.h"
#include "espalier/reward_model.h"
#include "espalier/task.h"
#include "espalier/verifier.h"

namespace espalier {

struct EngineOptions {
  std::string policy;  // checkpoint folder
  std::string critic;  // "": the reward heads of the policy's trunk
  // Checkpoints that write beside the policy, with its tokenizer, for methods
  // that choose among several models: their roles second, planner, prover.
  std::vector<std::string> more_policies = {};
  // What models run on: "cpu"; in a program with LibTorch also "cuda",
  // "cuda:1", and "torch-cpu", which computes the same on the processor.
  std::string device = "cpu";
  int threads = 0;                      // 0: one a core
  int live = 32;                        // searches under way at once
  int64_t kv_bytes = int64_t{2} << 30;  // key/value memory of each trunk
  // What weights are kept as: "auto" (as stored; fp16 and quantised ones as
  // bf16), "fp32", "bf16", "int8".
  std::string weights = "auto";
};

struct SearchOptions {
  // "auto", a method with options, "beam:width=2:branch=4", or a preset,
  // "preset=rest_mcts_star".
  std::string method = "auto";
  // Budgets of one problem; 0: none. At least one must bound the method.
  int64_t max_tokens = 600;  // sampled from the policy, kept or dropped
  int64_t max_model_calls = 0;
  int64_t max_simulations = 0;
  int64_t max_nodes = 0;
  int64_t max_bytes = 0;   // what the tree's nodes, texts and tokens take
  double max_seconds = 0;  // ends a search; never steers it
  // Tokens that one response takes, as far as is known, for every question and
  // for every byte of it: as long as a search has no answer it holds back what
  // is needed to finish its best response. Both 0: unknown, then half of
  // max_tokens is taken for it.
  int64_t response_tokens = 0;
  double response_tokens_per_byte = 0;
  // A search also ends on its answer, never before it has one; 0: not.
  float stop_confidence = 0;   // the method's own confidence in it is so high
  int64_t stop_responses = 4;  // ... and so many responses have voted
  bool stop_decided = false;   // no vote still to come can change it
  float stop_kl = 0;  // the root's visits move by fewer nats a simulation
  int64_t stop_interval = 16;  // ... over so many simulations
  // What may be sampled of the policy's distribution, whatever the method.
  int top_k = 0;    // the likeliest so many tokens; 0: all
  float top_p = 1;  // the likeliest tokens that make up so much; 1: all
  float min_p =
      0;  // tokens at least so likely relative to the likeliest; 0: all
  uint64_t seed = 0;
  bool keep_tree = false;  // fill SearchResult::tree
};

// A node of the search tree as text, for showing and storing.
struct TreeNode {
  int parent = -1;  // index in SearchResult::tree; the root is 0
  std::string kind;
  std::string text;
  float logprob = 0;     // ln p of its tokens, summed
  float step_score = 0;  // NaN if not scored
  float path_score = 0;  // NaN if not scored
  float q = 0;
  uint32_t visits = 0;
  uint32_t draws = 0;
  bool terminal = false;
};

// The answer held once `tokens` had been sampled.
struct AnswerAt {
  int64_t tokens = 0;
  std::string answer;
};

// Where an answer came from.
enum class AnswerStage : uint8_t {
  kNone,    // there is none
  kMethod,  // the method's own choice
  kTree,    // the best of the tree's finished responses: the method had ended
            // before it chose
  kFinish,  // the best unfinished response, finished at temperature 0 from
            // what was held back of the token budget
  kUnanswered,  // from none: responses ended, but without one, as where the
                // policy gives up
};
std::string_view AnswerStageName(AnswerStage stage);  // "method" ...

// SearchResult::stop_reason of searches that RunHooks::stop cut short.
inline constexpr std::string_view kStoppedFromOutside = "stopped from outside";

struct SearchResult {
  absl::Status status;          // of this problem; others are not affected
  std::string configuration;    // the method that ran, with all its options
  std::string answer;           // canonical; "" if none was found
  std::string response;         // the text behind it
  std::vector<TreeNode> steps;  // its steps, parents not set
  float score = 0;              // the method's own
  AnswerStage stage = AnswerStage::kNone;
  std::vector<AnswerAt> anytime;
  std::vector<TreeNode> tree;
  std::string stop_reason;  // "" if the method came to its own end
  int64_t tokens = 0;       // sampled
  int64_t prompt_tokens = 0;
  int64_t reward_tokens = 0;  // tokens of scored steps
  int64_t model_calls = 0;
  int64_t simulations = 0;
  int64_t nodes = 0;
  double seconds = 0;
};

// A search under way, for showing it.
struct SearchSnapshot {
  int64_t tokens = 0;
  int64_t model_calls = 0;
  int64_t simulations = 0;
  int64_t nodes = 0;
  double seconds = 0;
  std::string answer;           // held now; "" if there is none
  float score = 0;              // the method's own, of the answer
  std::vector<TreeNode> steps;  // to it; without one the path most visited
  std::vector<TreeNode> first;  // first steps, the most visited first
};

// Keeps searches as they run (src/trace/search_recorder.h).
class SearchRecorder;

// What a run may use beside the models. All outlive the run.
struct RunHooks {
  const Verifier* verifier = nullptr;  // intrinsic: ForSearch() of one
  RewardModel* reward = nullptr;       // in place of the critic's heads
  // Set to true (by a signal handler, say) to end all searches; each returns
  // its best answer so far.
  const std::atomic<bool>* stop = nullptr;
  // Records the run. A stop then leaves searches as they are, for a later run
  // to go on with: they return nothing.
  SearchRecorder* recorder = nullptr;
  // Whether a response to problem `index` of the run is right by its
  // reference; nothing where nobody can tell. For methods that label training
  // problems (omega_prm), hence set by Generate alone: a search whose answers
  // count has none.
  std::function<std::optional<bool>(size_t index, std::string_view response)>
      grade;
  // Called for searches under way, between batches and on the calling thread,
  // at most once in `progress_interval` seconds for each. It only looks: what
  // a search does is the same without it.
  std::function<void(size_t index, const SearchSnapshot&)> on_progress;
  double progress_interval = 0.1;
  // The verifier, `reward` and `grade` may take long: they are asked from
  // threads beside the calling one, several at once, while models compute. What
  // searches return is the same.
  bool slow_checks = false;
};

// Totals over the engine's life.
struct EngineStats {
  int64_t tokens_generated = 0;
  int64_t tokens_computed = 0;    // token positions run through trunks
  int64_t tokens_recomputed = 0;  // of them, again after eviction
  int64_t tokens_shared = 0;      // saved: samples that agreed were one row
  int64_t batches = 0;
  int64_t rows = 0;  // requests' rows in all batches: rows / batches = fill
};

// Refuses impossible options before any model is loaded, with all problems in
// one message: an unknown method or option, values that do not go together, no
// budget, a request that nothing can serve. `graded`: responses are graded
// while the search runs (RunHooks::grade). `models`: that may write.
absl::Status CheckSearch(const SearchOptions& options, bool graded = false,
                         int models = 1);

class Engine {
 public:
  static absl::StatusOr<std::unique_ptr<Engine>> Create(
      const EngineOptions& options);
  virtual ~Engine() = default;

  // Calls on_done(i, result) once for every problem, in order of completion,
  // on the calling thread.
  virtual absl::Status SolveAll(
      absl::Span<const Problem> problems, const Task& task,
      const SearchOptions& options, const RunHooks& hooks,
      const std::function<void(size_t, SearchResult)>& on_done) = 0;

  SearchResult Solve(const Problem& problem, const Task& task,
                     const SearchOptions& options, const RunHooks& hooks = {});

  virtual EngineStats stats() const = 0;
};

}  // namespace espalier

#endif  // ESPALIER_ENGINE_H_
