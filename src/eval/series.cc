#include "src/eval/series.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_format.h"

namespace espalier {

std::optional<SeriesFigures> FiguresOf(const Series& series) {
  SeriesFigures f;
  for (size_t i = 0; i < series.values.size(); ++i) {
    const double value = series.values[i];
    if (std::isnan(value)) continue;
    if (f.points++ == 0) {
      f.first = f.min = f.max = value;
      f.min_step = f.max_step = series.steps[i];
    }
    f.last = value;
    if (value < f.min) {
      f.min = value;
      f.min_step = series.steps[i];
    }
    if (value > f.max) {
      f.max = value;
      f.max_step = series.steps[i];
    }
  }
  if (f.points == 0) return std::nullopt;
  return f;
}

std::vector<Bin> BinMeans(const Series& series, int64_t first, int64_t last,
                          int bins) {
  std::vector<Bin> out(static_cast<size_t>(bins));
  // Wide enough that no sum of doubles overflows.
  std::vector<long double> sums(out.size());
  const double span = std::max(1.0, static_cast<double>(last - first));
  for (size_t i = 0; i < series.steps.size(); ++i) {
    const double part = static_cast<double>(series.steps[i] - first) / span;
    const auto at = static_cast<size_t>(std::lround(part * (bins - 1)));
    Bin& bin = out[at];
    if (std::isnan(series.values[i])) {
      ++bin.missing;
      continue;
    }
    ++bin.points;
    bin.step += static_cast<double>(series.steps[i]);
    sums[at] += static_cast<long double>(series.values[i]);
  }
  for (size_t i = 0; i < out.size(); ++i) {
    if (out[i].points == 0) continue;
    out[i].step /= static_cast<double>(out[i].points);
    out[i].value =
        static_cast<double>(sums[i] / static_cast<long double>(out[i].points));
  }
  return out;
}

std::string ShortNumber(double value) {
  if (std::abs(value) >= 9999.5 && std::abs(value) < 1e9) {
    return absl::StrFormat("%.0f", value);
  }
  return absl::StrFormat("%.4g", value);
}

}  // namespace espalier
