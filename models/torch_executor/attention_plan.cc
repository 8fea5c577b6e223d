#include "models/torch_executor/attention_plan.h"

#include <algorithm>

namespace espalier {
namespace {

// Most that a batch may compute, relative to what its units need.
constexpr int kMostPadding = 2;

struct Unit {
  int row = 0, rows = 0;  // adjacent rows of the pass
  const PageId* table = nullptr;
  int page = 0, pages = 0;  // table[page .. page + pages)
  int64_t area() const { return int64_t{rows} * pages; }
};

class Planner {
 public:
  Planner(absl::Span<const Segment> segments, const AttentionLimits& limits)
      : segments_(segments), limits_(limits) {
    for (const Segment& s : segments) {
      first_row_.push_back(static_cast<int>(positions_.size()));
      for (size_t t = 0; t < s.tokens.size(); ++t) {
        positions_.push_back(s.start + static_cast<int>(t));
      }
    }
    first_row_.push_back(static_cast<int>(positions_.size()));
  }

  AttentionPlan Run() {
    if (!positions_.empty()) Group(0, segments_.size(), 0);
    // Largest first, similar ones next to each other; equal ones keep their
    // order.
    std::stable_sort(
        units_.begin(), units_.end(), [](const Unit& a, const Unit& b) {
          return a.rows != b.rows ? a.rows > b.rows : a.pages > b.pages;
        });
    AttentionPlan plan;
    plan.rows = static_cast<int64_t>(positions_.size());
    for (size_t begin = 0; begin < units_.size();) {
      const size_t end = BatchEnd(begin);
      plan.batches.push_back(MakeBatch(begin, end));
      plan.batches.back().first_result = plan.results;
      plan.results += plan.batches.back().results();
      begin = end;
    }
    IndexParts(plan);
    return plan;
  }

 private:
  // Pages that segment `i` has tokens on.
  int Pages(size_t i) const {
    const Segment& s = segments_[i];
    const int end = s.start + static_cast<int>(s.tokens.size());
    return (end + kPageSlots - 1) / kPageSlots;
  }

  // Plans pages from `page` on for segments [begin, end), whose earlier pages
  // are equal.
  void Group(size_t begin, size_t end, int page) {
    if (end - begin == 1) return Add(begin, end, page, Pages(begin));
    int common = page;
    while (SharePage(begin, end, common)) ++common;
    Add(begin, end, page, common);
    for (size_t i = begin; i < end;) {
      size_t next = i + 1;
      while (next < end && Pages(i) > common && Pages(next) > common &&
             segments_[next].pages[static_cast<size_t>(common)] ==
                 segments_[i].pages[static_cast<size_t>(common)]) {
        ++next;
      }
      Group(i, next, common);
      i = next;
    }
  }

  bool SharePage(size_t begin, size_t end, int page) const {
    const size_t at = static_cast<size_t>(page);
    for (size_t i = begin; i < end; ++i) {
      if (Pages(i) <= page ||
          segments_[i].pages[at] != segments_[begin].pages[at]) {
        return false;
      }
    }
    return true;
  }

  // Adds pages [page, end_page) for the rows of segments [begin, end), cut to
  // fit into scratch memory.
  void Add(size_t begin, size_t end, int page, int end_page) {
    Unit unit{.row = first_row_[begin],
              .rows = first_row_[end] - first_row_[begin],
              .table = segments_[begin].pages.data()};
    if (unit.rows == 0) return;
    if (limits_.window > 0) {
      const auto first = positions_.begin() + unit.row;
      const int seen =
          *std::min_element(first, first + unit.rows) - limits_.window + 1;
      page = std::max(page, seen / kPageSlots);
    }
    const int pages = end_page - page;
    if (pages <= 0) return;
    const int most = static_cast<int>(std::clamp<int64_t>(
        limits_.most_bytes / BatchBytes(1, unit.rows, 1), 1, pages));
    const int pieces = (pages + most - 1) / most;
    for (int i = 0; i < pieces; ++i) {
      unit.page = page + pages * i / pieces;
      unit.pages = page + pages * (i + 1) / pieces - unit.page;
      units_.push_back(unit);
    }
  }

  int64_t BatchBytes(int64_t units, int64_t rows, int64_t pages) const {
    return units * pages * kPageSlots *
           (rows * limits_.row_key_bytes + limits_.key_bytes);
  }

  // End of the batch that begins with units_[begin].
  size_t BatchEnd(size_t begin) const {
    const int rows = units_[begin].rows;
    int pages = 0;
    int64_t smallest = units_[begin].area();
    size_t end = begin;
    for (; end < units_.size(); ++end) {
      pages = std::max(pages, units_[end].pages);
      smallest = std::min(smallest, units_[end].area());
      const int64_t bytes =
          BatchBytes(static_cast<int64_t>(end - begin) + 1, rows, pages);
      const bool padded = int64_t{rows} * pages > kMostPadding * smallest;
      if (end > begin && (bytes > limits_.most_bytes ||
                          (padded && bytes > limits_.small_bytes))) {
        break;
      }
    }
    return end;
  }

  AttentionBatch MakeBatch(size_t begin, size_t end) const {
    AttentionBatch batch;
    batch.units = static_cast<int>(end - begin);
    for (size_t i = begin; i < end; ++i) {
      batch.rows = std::max(batch.rows, units_[i].rows);
      batch.pages = std::max(batch.pages, units_[i].pages);
    }
    for (size_t i = begin; i < end; ++i) {
      const Unit& unit = units_[i];
      for (int r = 0; r < batch.rows; ++r) {
        const int row = unit.row + std::min(r, unit.rows - 1);
        batch.row_index.push_back(row);
        batch.row_positions.push_back(positions_[static_cast<size_t>(row)]);
      }
      for (int p = 0; p < batch.pages; ++p) {
        const int page = unit.page + std::min(p, unit.pages - 1);
        batch.page_ids.push_back(unit.table[page]);
        batch.page_positions.push_back(p < unit.pages
                                           ? int64_t{page} * kPageSlots
                                           : AttentionBatch::kNowhere);
      }
      batch.masked |= unit.pages < batch.pages || HidesKeys(unit);
    }
    return batch;
  }

  // Whether some row of the unit does not see all its keys.
  bool HidesKeys(const Unit& unit) const {
    const auto first = positions_.begin() + unit.row;
    const auto [low, high] = std::minmax_element(first, first + unit.rows);
    const int begin = unit.page * kPageSlots;
    const int end = begin + unit.pages * kPageSlots;
    return end - 1 > *low ||
           (limits_.window > 0 && *high - begin >= limits_.window);
  }

  void IndexParts(AttentionPlan& plan) const {
    const size_t rows = positions_.size();
    std::vector<std::vector<int64_t>> parts(rows);
    size_t unit = 0;
    for (const AttentionBatch& batch : plan.batches) {
      for (int u = 0; u < batch.units; ++u, ++unit) {
        for (int r = 0; r < units_[unit].rows; ++r) {
          parts[static_cast<size_t>(units_[unit].row + r)].push_back(
              batch.first_result + int64_t{u} * batch.rows + r);
        }
      }
    }
    size_t most = 0;
    for (const auto& row : parts) most = std::max(most, row.size());
    plan.parts = static_cast<int>(most);
    plan.part_index.assign(most * rows, plan.results);
    for (size_t r = 0; r < rows; ++r) {
      for (size_t i = 0; i < parts[r].size(); ++i) {
        plan.part_index[i * rows + r] = parts[r][i];
      }
    }
  }

  const absl::Span<const Segment> segments_;
  const AttentionLimits& limits_;
  std::vector<int> first_row_;  // of each segment, and the end
  std::vector<int> positions_;  // of each row
  std::vector<Unit> units_;
};

}  // namespace

AttentionPlan PlanAttention(absl::Span<const Segment> segments,
                            const AttentionLimits& limits) {
  return Planner(segments, limits).Run();
}

}  // namespace espalier
