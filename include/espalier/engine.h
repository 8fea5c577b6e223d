// The engine: loads models once and runs many searches over them concurrently.
//
//   EngineOptions models{.policy = "models/zoo/stories"};  // engine_options.h
//   auto engine = Engine::Create(models).value();
//   SearchOptions search{.method = "beam:branch=4", .max_tokens = 600};
//   SearchResult result = engine->Solve(problem, task, search);
//   std::cout << result.answer << "\n";
//
// On the device "cpu" the same seed gives the same trees and answers for any
// `threads` and `live`; other devices may round sums differently. An engine is
// externally synchronised: one Solve or SolveAll at a time.
#ifndef ESPALIER_API_ENGINE_H_
#define ESPALIER_API_ENGINE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "espalier/problem.h"
#include "espalier/run_hooks.h"
#include "espalier/search_options.h"
#include "espalier/search_result.h"
#include "espalier/task.h"

namespace espalier {

struct EngineOptions;  // espalier/engine_options.h
class SearchSource;    // espalier/search_source.h

// Totals since the engine was created.
struct EngineStats {
  int64_t tokens_generated = 0;
  // Each prompt's once and each sample's once: what a cache that keeps all
  // would compute.
  int64_t tokens_needed = 0;
  // Token positions run through trunks. Of servers, what they tell: a prompt
  // counts whole in each call where they do not say what they had cached.
  int64_t tokens_computed = 0;
  int64_t tokens_recomputed = 0;  // of those, recomputed after eviction
  int64_t tokens_shared = 0;      // saved: samples equal so far share a row
  // Of those computed: guessed from texts seen before and run ahead of their
  // draw (EngineOptions::drafts), and those of them that were then drawn. A
  // budget counts drawn tokens only.
  int64_t tokens_drafted = 0;
  int64_t drafts_accepted = 0;
  // Tokens computed for paths laid out for a published reward model, and those
  // of them computed again because tokens merge across a step's end or because
  // the format closes the text after each step.
  int64_t reward_tokens = 0;
  int64_t reward_tokens_again = 0;
  int64_t batches = 0;
  int64_t rows = 0;  // summed over batches: rows / batches = mean rows
  // Samples of servers that return texts, and those of them that were encoded
  // apart from their path, since both together give it other tokens.
  int64_t texts_encoded = 0;
  int64_t texts_missed = 0;
  bool asks_servers = false;  // some model stands behind a server
  // What servers said of the weights of the policy, each once, in order.
  std::vector<std::string> server_weights = {};
};

// Checks options before any model is loaded and reports all errors in one
// message: an unknown method or option, values that contradict each other, no
// budget, too few models. `graded`: responses are graded while the search runs
// (RunHooks::grade). `models`: number of policy models.
absl::Status CheckSearch(const SearchOptions& options, bool graded = false,
                         int models = 1);

class Engine {
 public:
  static absl::StatusOr<std::unique_ptr<Engine>> Create(
      const EngineOptions& options);
  virtual ~Engine() = default;

  // Calls on_done(i, result) once per problem, in order of completion, on the
  // calling thread.
  virtual absl::Status SolveAll(
      absl::Span<const Problem> problems, const Task& task,
      const SearchOptions& options, const RunHooks& hooks,
      const std::function<void(size_t, SearchResult)>& on_done) = 0;

  // Runs the searches of `source` until there are none any more, as many at a
  // time as the engine allows; the others wait in the source. A search that
  // cannot run, or whose model's server is gone, ends with its error, and the
  // others go on. With the same seed a search gives the same answer as alone.
  virtual void Serve(SearchSource& source);

  SearchResult Solve(const Problem& problem, const Task& task,
                     const SearchOptions& options, const RunHooks& hooks = {});

  virtual EngineStats stats() const = 0;
};

}  // namespace espalier

#endif  // ESPALIER_API_ENGINE_H_
