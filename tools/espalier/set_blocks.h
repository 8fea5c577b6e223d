// A problem set that a command reads more than once without keeping it in
// memory: it is read again each time.
//
//   ESP_ASSIGN_OR_RETURN(SetBlocks set, SetBlocks::Open(flags));
//   ESP_RETURN_IF_ERROR(set.KeepJudged(verifier));  // of set.task()
//   set.Read([](absl::Span<const GradedProblem> block) { ... });
//
// Sources that can be read only once, like a pipe, are kept in memory.
#ifndef ESPALIER_TOOLS_ESPALIER_SET_BLOCKS_H_
#define ESPALIER_TOOLS_ESPALIER_SET_BLOCKS_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "datasets/sets/problem_stream.h"
#include "espalier/verifier.h"
#include "tools/espalier/set_flags.h"

namespace espalier {

// Thread-compatible.
class SetBlocks {
 public:
  using Use = std::function<absl::Status(absl::Span<const GradedProblem>)>;

  // Calls ReadSetFlags and reads the first problem.
  static absl::StatusOr<SetBlocks> Open(SetFlags& flags);

  const std::string& name() const { return name_; }
  const std::string& task() const { return task_; }
  // Number of problems that Read returns; known after KeepJudged.
  int64_t count() const { return count_; }

  // Reads the set and from now on leaves out problems that `verifier`, which
  // outlives this, cannot judge. Reports these, and other notes on the reading,
  // on stderr (KeepJudged in problem_set.h).
  absl::Status KeepJudged(const Verifier& verifier);

  // All problems in order, 1,024 at a time. FailedPrecondition if the set has
  // changed since KeepJudged.
  absl::Status Read(const Use& use) const;

  // The first n problems; of the whole set if the flags choose a shard, so that
  // all shards get the same.
  absl::StatusOr<std::vector<Problem>> First(size_t n) const;

 private:
  SetBlocks() = default;

  bool Judged(const GradedProblem& graded) const;

  std::string spec_, name_, task_;
  SetOptions options_;
  const Verifier* verifier_ = nullptr;
  std::set<uint64_t> broken_;  // hashes of problems whose golds are broken
  std::optional<std::vector<GradedProblem>> kept_;
  std::string gold_;                // of the kept problems
  std::vector<std::string> notes_;  // of the kept problems
  int64_t count_ = 0;
  uint64_t hash_ = 0;  // of the counted problems
};

}  // namespace espalier

#endif  // ESPALIER_TOOLS_ESPALIER_SET_BLOCKS_H_
