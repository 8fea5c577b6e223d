// One round of a recorded run: the searches of one seed, with verdicts.
//
//   SearchRound round(engine, task, verifier, options, problems);
//   RunRecorder recorder(store, round.grade());
//   round.Run(seed, recorder, &stop, on_done);
#ifndef ESPALIER_SRC_ENGINE_SEARCH_ROUND_H_
#define ESPALIER_SRC_ENGINE_SEARCH_ROUND_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "datasets/sets/problem_set.h"
#include "espalier/engine.h"
#include "src/engine/generate.h"
#include "src/trace/run_recorder.h"

namespace espalier {

// All arguments outlive it. Thread-compatible.
class SearchRound {
 public:
  SearchRound(Engine& engine, const Task& task, const Verifier& verifier,
              const GenerateOptions& options,
              std::vector<const GradedProblem*> problems)
      : engine_(engine),
        task_(task),
        verifier_(verifier),
        options_(options),
        problems_(std::move(problems)) {}

  // Judges a response to problem `index` by its reference. A response that
  // nobody can judge gets no label.
  RunRecorder::Grade grade() const;

  // Searches the problems that `recorder` gives; in this order if it does not
  // choose. Errors: as Engine::SolveAll.
  absl::Status Run(
      uint64_t seed, SearchRecorder& recorder, const std::atomic<bool>* stop,
      const std::function<void(size_t, const SearchResult&)>& on_done);

 private:
  std::optional<Verdict> Check(size_t i, std::string_view response) const;

  Engine& engine_;
  const Task& task_;
  const Verifier& verifier_;
  const GenerateOptions& options_;
  const std::vector<const GradedProblem*> problems_;
};

}  // namespace espalier

#endif  // ESPALIER_SRC_ENGINE_SEARCH_ROUND_H_
