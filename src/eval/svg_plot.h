// Curves over each other as an SVG picture, to stand in an HTML page.
//
//   page += SvgPlot("loss", {{"run a", 0, &a}, {"run b", 1, &b}});
//
// Complete in itself: no scripts, no styles but CurveStyle's, nothing fetched.
// A point's step and value show while the pointer rests on it.
// Stateless functions: thread-safe.
#ifndef ESPALIER_SRC_EVAL_SVG_PLOT_H_
#define ESPALIER_SRC_EVAL_SVG_PLOT_H_

#include <string>
#include <string_view>
#include <vector>

#include "src/eval/series.h"

namespace espalier {

struct SvgCurve {
  std::string name;
  size_t style = 0;  // the same for the same run in every picture
  const Series* series = nullptr;
};

// "" where no curve has a number.
std::string SvgPlot(std::string_view title,
                    const std::vector<SvgCurve>& curves);

// SVG attributes of a curve's line: eight colours that people who are colour
// blind can tell apart, then the same ones dashed.
std::string CurveStyle(size_t style);

// Text that HTML and SVG show as it stands; bytes that are not UTF-8 become
// U+FFFD, so that the page is well-formed.
std::string HtmlText(std::string_view text);

}  // namespace espalier

#endif  // ESPALIER_SRC_EVAL_SVG_PLOT_H_
