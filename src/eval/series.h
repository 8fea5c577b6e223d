// A metric over the steps of a training, and what plots need of it.
//
//   Series loss{.name = "loss", .steps = {1, 2, 3}, .values = {2.5, 1.5, 2}};
//   const auto figures = FiguresOf(loss);  // first 2.5, last 2, min 1.5, ...
//   for (const Bin& bin : BinMeans(loss, 0, 3, 80)) ...
//
// Stateless functions: thread-safe.
#ifndef ESPALIER_SRC_EVAL_SERIES_H_
#define ESPALIER_SRC_EVAL_SERIES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace espalier {

struct Series {
  std::string name;
  std::vector<int64_t> steps;  // ascending
  // One per step; NaN where the file has null. Never infinite.
  std::vector<double> values;
};

// Over the values that are not NaN.
struct SeriesFigures {
  int64_t points = 0;
  double first = 0, last = 0, min = 0, max = 0;
  int64_t min_step = 0, max_step = 0;  // the first step with that value
};
// Nothing if all values are NaN.
std::optional<SeriesFigures> FiguresOf(const Series& series);

// The steps nearest to one of several evenly spaced ones.
struct Bin {
  int64_t points = 0;   // values that are numbers
  int64_t missing = 0;  // NaN values
  double step = 0;      // mean step of the numbers
  double value = 0;     // their mean
};
// Assigns each step to the nearest of `bins` (at least 1) evenly spaced steps
// from `first` to `last`. All steps of the series are in this range.
std::vector<Bin> BinMeans(const Series& series, int64_t first, int64_t last,
                          int bins);

// Four significant digits, without an exponent where that is readable:
// "0.2845", "32339", "2.161e-05".
std::string ShortNumber(double value);

}  // namespace espalier

#endif  // ESPALIER_SRC_EVAL_SERIES_H_
