// A curve in plain text, for terminals and logs.
//
//   std::printf("%s", TextPlot(loss, {.width = 41, .height = 4}).c_str());
//
//          2.5 |*..
//              |   .....                    *
//              |        ....       .........
//          1.5 |            ..*....
//              +-----------------------------
//               1                           3
//
// A column shows the mean of its steps as `*`; `.` joins columns that have
// steps. The curve has a gap where the file has only null. ASCII only.
// Stateless functions: thread-safe.
#ifndef ESPALIER_SRC_EVAL_TEXT_PLOT_H_
#define ESPALIER_SRC_EVAL_TEXT_PLOT_H_

#include <string>

#include "src/eval/series.h"

namespace espalier {

struct TextPlotOptions {
  int width = 80;   // total columns, at least 30
  int height = 10;  // lines of the curve, at least 2
};

// Lines, each with its newline; "" for a series without a number. Labels are
// the lowest and highest of the columns' means, and the first and last step.
std::string TextPlot(const Series& series, const TextPlotOptions& options = {});

}  // namespace espalier

#endif  // ESPALIER_SRC_EVAL_TEXT_PLOT_H_
