#include "src/eval/text_plot.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace espalier {
namespace {

constexpr int kLabel = 10;  // width of the longest ShortNumber

// The curve's height in each column; nothing at a gap.
struct Column {
  std::optional<double> value;
  bool joined = false;  // interpolated between columns that have steps
};

std::vector<Column> Columns(const std::vector<Bin>& bins) {
  std::vector<Column> columns(bins.size());
  size_t before = bins.size();  // none since the start or the last gap
  for (size_t i = 0; i < bins.size(); ++i) {
    if (bins[i].points == 0) {
      if (bins[i].missing > 0) before = bins.size();
      continue;
    }
    columns[i].value = bins[i].value;
    for (size_t k = before + 1; k < i; ++k) {
      const double part =
          static_cast<double>(k - before) / static_cast<double>(i - before);
      columns[k] = {bins[before].value * (1 - part) + bins[i].value * part,
                    true};
    }
    before = i;
  }
  return columns;
}

// Row from the bottom: 0 to height - 1.
int RowOf(double value, double low, double high, int height) {
  if (!(high > low)) return 0;
  // Halved, so that no difference overflows.
  const double part = (value / 2 - low / 2) / (high / 2 - low / 2);
  return std::clamp(static_cast<int>(std::lround(part * (height - 1))), 0,
                    height - 1);
}

// Characters of the curve, rows from the bottom.
std::vector<std::string> Draw(const std::vector<Column>& columns, double low,
                              double high, int height) {
  std::vector<std::string> rows(static_cast<size_t>(height),
                                std::string(columns.size(), ' '));
  int before = -1;  // row of the previous column, if it has one
  for (size_t i = 0; i < columns.size(); ++i) {
    if (!columns[i].value) {
      before = -1;
      continue;
    }
    const int row = RowOf(*columns[i].value, low, high, height);
    // Fills in a steep jump from the previous column.
    const int last = before < 0 ? row : before;
    for (int r = std::min(last, row) + 1; r < std::max(last, row); ++r) {
      rows[static_cast<size_t>(r)][i] = '.';
    }
    rows[static_cast<size_t>(row)][i] = columns[i].joined ? '.' : '*';
    before = row;
  }
  return rows;
}

std::string Trimmed(std::string line) {
  line.resize(line.find_last_not_of(' ') + 1);
  return line;
}

}  // namespace

std::string TextPlot(const Series& series, const TextPlotOptions& options) {
  const std::optional<SeriesFigures> figures = FiguresOf(series);
  if (!figures) return "";
  const int width = std::max(options.width, 30) - kLabel - 2;
  const int64_t first = series.steps.front(), last = series.steps.back();
  const std::vector<Bin> bins = BinMeans(series, first, last, width);
  double low = figures->max, high = figures->min;
  for (const Bin& bin : bins) {
    if (bin.points == 0) continue;
    low = std::min(low, bin.value);
    high = std::max(high, bin.value);
  }
  // A flat curve is one line.
  const int height = high > low ? std::max(options.height, 2) : 1;
  const std::vector<std::string> rows = Draw(Columns(bins), low, high, height);
  std::string text;
  for (int r = height - 1; r >= 0; --r) {
    std::string label;
    if (r == height - 1) label = ShortNumber(high);
    if (r == 0) label = ShortNumber(low);
    absl::StrAppend(&text,
                    Trimmed(absl::StrFormat("%*s |%s", kLabel, label,
                                            rows[static_cast<size_t>(r)])),
                    "\n");
  }
  const std::string indent(kLabel + 1, ' ');
  absl::StrAppend(&text, indent, "+", std::string(bins.size(), '-'), "\n");
  std::string axis = absl::StrCat(indent, " ", first);
  if (last != first) {
    const std::string end = absl::StrCat(last);
    axis.resize(
        std::max(axis.size() + 1, indent.size() + 1 + bins.size() -
                                      std::min(bins.size(), end.size())),
        ' ');
    absl::StrAppend(&axis, end);
  }
  absl::StrAppend(&text, axis, "\n");
  return text;
}

}  // namespace espalier
