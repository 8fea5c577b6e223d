// The set of a command that goes through it more than once, without all of it
// in memory: it is read anew each time.
//
//   ESP_ASSIGN_OR_RETURN(SetBlocks set, SetBlocks::Open(flags));
//   ESP_RETURN_IF_ERROR(set.KeepJudged(verifier));  // of set.task()
//   set.Read([](absl::Span<const GradedProblem> block) { ... });
//
// What can be read only once, as a pipe, is kept.
#ifndef ESPALIER_TOOLS_ESPALIER_SET_BLOCKS_H_
#define ESPALIER_TOOLS_ESPALIER_SET_BLOCKS_H_

#include <cstdint>
#include <functional>
#include <optional>
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

  // ReadSetFlags, and a look at the first problem.
  static absl::StatusOr<SetBlocks> Open(SetFlags& flags);

  const std::string& name() const { return name_; }
  const std::string& task() const { return task_; }
  // Problems that Read hands out; known after KeepJudged.
  int64_t count() const { return count_; }

  // Reads the set, leaves out from now on what `verifier`, which outlives this,
  // cannot judge, and says so on stderr, with what else a user should know of
  // the reading (KeepJudged in problem_set.h).
  absl::Status KeepJudged(const Verifier& verifier);

  // All problems in their order, 1,024 at a time. FailedPrecondition if the set
  // is no longer what KeepJudged read.
  absl::Status Read(const Use& use) const;

  // The first n problems; of the whole set where the flags choose a shard, so
  // that all shards get the same.
  absl::StatusOr<std::vector<Problem>> First(size_t n) const;

 private:
  SetBlocks() = default;

  bool Judged(const GradedProblem& graded) const {
    return verifier_ == nullptr || verifier_->CanCheck(graded.reference);
  }

  std::string spec_, name_, task_;
  SetOptions options_;
  const Verifier* verifier_ = nullptr;
  std::optional<std::vector<GradedProblem>> kept_;
  std::string gold_;                // of what is kept
  std::vector<std::string> notes_;  // likewise
  int64_t count_ = 0;
  uint64_t hash_ = 0;  // of the problems that were counted
};

}  // namespace espalier

#endif  // ESPALIER_TOOLS_ESPALIER_SET_BLOCKS_H_
