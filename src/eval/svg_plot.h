// Several curves in one SVG picture, to embed in an HTML page.
//
//   page += SvgPlot("loss", {{"run a", 0, &a}, {"run b", 1, &b}});
//
// Self-contained: no scripts, no styles except CurveStyle's, no downloads.
// Hovering over a point shows its step and value. Stateless functions:
// thread-safe.
#ifndef ESPALIER_SRC_EVAL_SVG_PLOT_H_
#define ESPALIER_SRC_EVAL_SVG_PLOT_H_

#include <string>
#include <string_view>
#include <vector>

#include "src/eval/series.h"

namespace espalier {

struct SvgCurve {
  std::string name;
  size_t style = 0;  // the same for one run in all pictures
  const Series* series = nullptr;
};

// "" if no curve has a number.
std::string SvgPlot(std::string_view title,
                    const std::vector<SvgCurve>& curves);

// SVG attributes of a curve's line: eight colours that colour-blind readers can
// distinguish, then the same ones dashed.
std::string CurveStyle(size_t style);

// Escapes text for HTML and SVG; bytes that are not UTF-8 become U+FFFD, so
// that the page is well-formed.
std::string HtmlText(std::string_view text);

}  // namespace espalier

#endif  // ESPALIER_SRC_EVAL_SVG_PLOT_H_
