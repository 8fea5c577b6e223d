// The problems of a set one at a time; LoadSet (problem_set.h) reads them all.
//
//   ESP_ASSIGN_OR_RETURN(auto stream, ProblemStream::Open("countdown:4", {}));
//   while (true) {
//     ESP_ASSIGN_OR_RETURN(std::optional<GradedProblem> one, stream->Next());
//     if (!one) break;
//   }
//
// Memory: that of SetReader for files, one problem for generated sets.
#ifndef ESPALIER_DATASETS_SETS_PROBLEM_STREAM_H_
#define ESPALIER_DATASETS_SETS_PROBLEM_STREAM_H_

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "datasets/sets/set_reader.h"
#include "espalier/problem.h"

namespace espalier {

// Thread-compatible.
class ProblemStream {
 public:
  // `spec` as in LoadSet.
  static absl::StatusOr<std::unique_ptr<ProblemStream>> Open(
      const std::string& spec, const SetOptions& options);
  virtual ~ProblemStream() = default;

  // Nothing at the end. InvalidArgument names file, line and what was expected
  // there.
  virtual absl::StatusOr<std::optional<GradedProblem>> Next() = 0;

  const std::string& name() const { return name_; }
  // For what was read so far: the task that renders and grades it, where gold
  // answers were expected, notes for the user (ProblemSet).
  virtual std::string task() const = 0;
  virtual std::string gold() const { return ""; }
  virtual std::vector<std::string> Notes() const { return {}; }

 protected:
  explicit ProblemStream(std::string name) : name_(std::move(name)) {}

 private:
  const std::string name_;
};

}  // namespace espalier

#endif  // ESPALIER_DATASETS_SETS_PROBLEM_STREAM_H_
