// A figure over the steps of a training, and what plots need of it.
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
  std::vector<int64_t> steps;  // rising
  // One a step; NaN where the file has null. Never infinite.
  std::vector<double> values;
};

// Of the values that are numbers.
struct SeriesFigures {
  int64_t points = 0;
  double first = 0, last = 0, min = 0, max = 0;
  int64_t min_step = 0, max_step = 0;  // the first step with that value
};
// Nothing where no value is a number.
std::optional<SeriesFigures> FiguresOf(const Series& series);

// The steps next to one of several evenly spaced ones.
struct Bin {
  int64_t points = 0;   // values that are numbers
  int64_t missing = 0;  // values that are not
  double step = 0;      // mean step of the numbers
  double value = 0;     // and their mean
};
// Each step in the nearest of `bins` (1 or more) evenly spaced ones, of which
// the first is `first` and the last `last`. The series has no step outside.
std::vector<Bin> BinMeans(const Series& series, int64_t first, int64_t last,
                          int bins);

// Four digits that count, without an exponent where people do without:
// "0.2845", "32339", "2.161e-05".
std::string ShortNumber(double value);

}  // namespace espalier

#endif  // ESPALIER_SRC_EVAL_SERIES_H_
