// Joins the run databases of several workers.
//
//   ESP_ASSIGN_OR_RETURN(MergeReport report, MergeRuns({"a.db", "b.db"},
//   *out));
//
// Runs are one run if they differ only in which problems they searched (their
// shard i/n); the joined run has the shard 0/1, so it can be resumed as if one
// program had recorded it. Of problems that shards searched, the order is that
// of the whole set. Joining a file again changes nothing.
#ifndef ESPALIER_SRC_TRACE_MERGE_H_
#define ESPALIER_SRC_TRACE_MERGE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "src/trace/run_db.h"

namespace espalier {

struct MergeReport {
  int64_t runs = 0;      // added
  int64_t problems = 0;  // added
  int64_t searches = 0;  // added
  // Searches that `out` had not finished, and a file has got further with.
  int64_t continued = 0;
  int64_t same = 0;  // that `out` had already
  int64_t solutions = 0;
  // Two finished searches of one problem, run and seed that differ: `out` keeps
  // what it had. In words, with the names of file, problem and seed.
  std::vector<std::string> conflicts;
};

// Adds everything in the files `inputs` to `out` and commits once at the end:
// after an error `out` is as it was. A run is marked as finished if the files
// hold all of its shards, each finished. Errors: as RunDb::Open gives them for
// a file; InvalidArgument for an input that is `out`, a file of a version that
// `espalier db upgrade` must bring up to date first, and two different
// questions of one name.
absl::StatusOr<MergeReport> MergeRuns(const std::vector<std::string>& inputs,
                                      RunDb& out);

}  // namespace espalier

#endif  // ESPALIER_SRC_TRACE_MERGE_H_
