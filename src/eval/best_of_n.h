// What a reward model makes of n recorded responses to a question.
//
//   std::vector<ReplayProblem> problems = ...;
//   const ReplayReport report = ReplayBestOfN(problems, /*seed=*/1);
//   report.rows.back().best[0].mean;   // best of the most n, by the last step
//
// For each n = 1, 2, 4, ... and the most that a problem has, figures are the
// expected accuracy over all sets of n of a problem's responses: computed for
// the best of n; for votes over all sets if there are at most kMostSets of
// them, else over so many random ones. A problem with fewer than n responses
// does not count for n.
//
// The best is the response of the highest score, of equals the first. A vote
// goes to the answer with the highest sum of scores (weighted) or the most
// responses (majority), of equals the one that came first; its response is the
// best of those, and the first, respectively. Responses without an answer vote
// only if no response has one. Stateless: thread-safe.
#ifndef ESPALIER_SRC_EVAL_BEST_OF_N_H_
#define ESPALIER_SRC_EVAL_BEST_OF_N_H_

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "search/tree/score_rule.h"
#include "src/eval/statistics.h"

namespace espalier {

inline constexpr int kMostSets = 256;

// How the scores of a response's steps become its score
// (search/tree/score_rule.h).
inline constexpr std::array<Aggregate, 4> kReplayed = {
    Aggregate::kLast, Aggregate::kMin, Aggregate::kProduct, Aggregate::kMean};
inline constexpr std::array<std::string_view, kReplayed.size()>
    kReplayAggregates = {"last", "min", "product", "mean"};

struct ReplaySample {
  std::string answer;  // canonical: equal texts are one answer; "": none
  bool correct = false;
  std::vector<double> scores;  // of its steps, at least one; read as floats,
                               // as a search has them
};

struct ReplayProblem {
  std::string id;
  std::vector<ReplaySample> samples;  // in the order in which they were drawn
};

// One figure per aggregate.
using PerAggregate = std::array<MeanWithInterval, kReplayAggregates.size()>;

struct ReplayRow {
  int n = 0;
  int64_t problems = 0;   // with at least n responses
  PerAggregate best;      // best of n
  PerAggregate weighted;  // weighted vote
  MeanWithInterval majority;
  MeanWithInterval any;  // a right one is among the n
};

struct ReplayReport {
  int64_t problems = 0, samples = 0;
  std::vector<ReplayRow> rows;  // n ascending
};

// Intervals are over problems. Deterministic for a seed. Problems without
// responses count for no n.
ReplayReport ReplayBestOfN(absl::Span<const ReplayProblem> problems,
                           uint64_t seed);

}  // namespace espalier

#endif  // ESPALIER_SRC_EVAL_BEST_OF_N_H_
