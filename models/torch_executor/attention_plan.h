// Plans which rows of a pass read which pages together, as rectangles for
// tensor operations.
//
// Adjacent segments whose page tables share a prefix read those pages once, for
// the queries of all their rows; where the tables diverge, the rows are split:
//
//   rows       pages of their tables      units (rows x pages)
//   0  . . .   0 1 2 3                    {0 1 2} x {0 1}
//   1          0 1 2 4                      {0 1} x {2}    {0} x {3}, {1} x {4}
//   2          0 1 5                          {2} x {5}
//
// A row's attention over several units is merged by log-sum-exp. Units of
// similar size are padded to one size and computed as a batch; a unit whose
// scores and keys would take more than `most_bytes` is cut between pages, so
// that scratch memory is bounded however long texts are.
//
//   const AttentionPlan plan = PlanAttention(segments, limits);
//   for (const AttentionBatch& batch : plan.batches) ...
//
// Stateless: thread-safe. Independent of LibTorch.
#ifndef ESPALIER_MODELS_TORCH_EXECUTOR_ATTENTION_PLAN_H_
#define ESPALIER_MODELS_TORCH_EXECUTOR_ATTENTION_PLAN_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "models/trunk/trunk.h"

namespace espalier {

struct AttentionLimits {
  int window = 0;                          // TrunkConfig::sliding_window
  int64_t row_key_bytes = 1;               // scratch per row and key, all heads
  int64_t key_bytes = 1;                   // scratch per gathered key and value
  int64_t most_bytes = int64_t{64} << 20;  // per batch
  // Batches up to this size are padded rather than split: starting another
  // costs more.
  int64_t small_bytes = 0;
};

// `units` rectangles of `rows` rows and `pages` pages. Padding repeats a unit's
// last row, whose result is unused, and its last page, at kNowhere.
struct AttentionBatch {
  // Position of a page that no row sees: beyond all rows.
  static constexpr int64_t kNowhere = int64_t{1} << 40;

  int units = 0, rows = 0, pages = 0;
  bool masked = false;                  // some rows do not see all keys
  std::vector<int64_t> row_index;       // [units, rows], into the pass's rows
  std::vector<int64_t> row_positions;   // [units, rows]
  std::vector<int64_t> page_ids;        // [units, pages]
  std::vector<int64_t> page_positions;  // [units, pages], of each slot 0
  int64_t first_result = 0;             // sum of results() of earlier batches
  int64_t results() const { return int64_t{units} * rows; }
};

struct AttentionPlan {
  std::vector<AttentionBatch> batches;
  int64_t rows = 0;     // in the pass
  int64_t results = 0;  // in all batches
  int parts = 0;        // most results per row
  // [parts, rows]: indices of each row's results; `results` as filler if it has
  // fewer.
  std::vector<int64_t> part_index;
};

AttentionPlan PlanAttention(absl::Span<const Segment> segments,
                            const AttentionLimits& limits);

}  // namespace espalier

#endif  // ESPALIER_MODELS_TORCH_EXECUTOR_ATTENTION_PLAN_H_
