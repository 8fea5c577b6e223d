#include "src/eval/svg_plot.h"

#include <algorithm>
#include <iterator>
#include <limits>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "base/json_text.h"
#include "base/parse_json.h"
#include "nlohmann/json.hpp"

namespace espalier {
namespace {

// Size of the picture and of the plot area in it, in SVG units.
constexpr double kWidth = 640, kHeight = 280;
constexpr double kLeft = 64, kRight = 12, kTop = 28, kBottom = 28;
constexpr int kBins = 400;  // means of a curve: finer than a screen shows
constexpr int kDots = 80;   // points of a curve with a tooltip

// The range of the axes.
struct Frame {
  int64_t first = std::numeric_limits<int64_t>::max();
  int64_t last = std::numeric_limits<int64_t>::min();
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();

  double X(double step) const {
    const double span = static_cast<double>(last - first);
    const double part =
        span > 0 ? (step - static_cast<double>(first)) / span : 0.5;
    return kLeft + part * (kWidth - kLeft - kRight);
  }
  double Y(double value) const {
    // Halved, so that no difference overflows.
    const double part =
        high > low ? (value / 2 - low / 2) / (high / 2 - low / 2) : 0.5;
    return kHeight - kBottom - part * (kHeight - kTop - kBottom);
  }
};

std::vector<Bin> Means(const Series& series, int bins) {
  return BinMeans(series, series.steps.front(), series.steps.back(), bins);
}

std::string Label(double x, double y, const char* anchor,
                  const std::string& text) {
  return absl::StrFormat(
      "<text x=\"%.0f\" y=\"%.0f\" text-anchor=\"%s\">%s</text>\n", x, y,
      anchor, text);
}

std::string Axes(const Frame& frame) {
  const double right = kWidth - kRight, bottom = kHeight - kBottom;
  std::string svg =
      absl::StrFormat("<path class=\"axis\" d=\"M%.0f %.0fV%.0fH%.0f\"/>\n",
                      kLeft, kTop, bottom, right);
  absl::StrAppend(
      &svg, Label(kLeft, bottom + 16, "start", absl::StrCat(frame.first)));
  if (frame.last > frame.first) {
    absl::StrAppend(&svg, Label(right, bottom + 16, "end",
                                absl::StrCat("step ", frame.last)));
  }
  // A flat curve is in the middle and has one label.
  if (frame.high > frame.low) {
    absl::StrAppend(&svg,
                    Label(kLeft - 6, bottom, "end", ShortNumber(frame.low)),
                    Label(kLeft - 6, kTop + 8, "end", ShortNumber(frame.high)));
  } else {
    absl::StrAppend(&svg, Label(kLeft - 6, frame.Y(frame.low) + 4, "end",
                                ShortNumber(frame.low)));
  }
  return svg;
}

// Joins neighbours; leaves a gap where the file has only null.
std::string Line(const SvgCurve& curve, const std::vector<Bin>& bins,
                 const Frame& frame) {
  std::string path;
  bool gap = true;
  for (const Bin& bin : bins) {
    if (bin.points == 0) {
      gap |= bin.missing > 0;
      continue;
    }
    absl::StrAppendFormat(&path, "%s%.1f %.1f", gap ? "M" : "L",
                          frame.X(bin.step), frame.Y(bin.value));
    gap = false;
  }
  return absl::StrCat("<path class=\"curve\" ", CurveStyle(curve.style),
                      " d=\"", path, "\"><title>", HtmlText(curve.name),
                      "</title></path>\n");
}

// Invisible until hovered.
std::string Dots(const SvgCurve& curve, const Frame& frame) {
  std::string svg;
  for (const Bin& bin : Means(*curve.series, kDots)) {
    if (bin.points == 0) continue;
    absl::StrAppendFormat(
        &svg,
        "<circle %s cx=\"%.1f\" cy=\"%.1f\" r=\"4\"><title>%s: %s at step "
        "%.0f%s</title></circle>\n",
        CurveStyle(curve.style), frame.X(bin.step), frame.Y(bin.value),
        HtmlText(curve.name), ShortNumber(bin.value), bin.step,
        bin.points > 1 ? absl::StrCat(", mean of ", bin.points) : "");
  }
  return svg;
}

}  // namespace

std::string SvgPlot(std::string_view title,
                    const std::vector<SvgCurve>& curves) {
  Frame frame;
  std::string lines, dots;
  std::vector<std::vector<Bin>> means;
  for (const SvgCurve& curve : curves) {
    means.emplace_back();
    if (!FiguresOf(*curve.series)) continue;
    frame.first = std::min(frame.first, curve.series->steps.front());
    frame.last = std::max(frame.last, curve.series->steps.back());
    means.back() = Means(*curve.series, kBins);
    for (const Bin& bin : means.back()) {
      if (bin.points == 0) continue;
      frame.low = std::min(frame.low, bin.value);
      frame.high = std::max(frame.high, bin.value);
    }
  }
  if (frame.low > frame.high) return "";
  for (size_t i = 0; i < curves.size(); ++i) {
    if (means[i].empty()) continue;
    absl::StrAppend(&lines, Line(curves[i], means[i], frame));
    absl::StrAppend(&dots, Dots(curves[i], frame));
  }
  return absl::StrCat(
      absl::StrFormat("<svg viewBox=\"0 0 %.0f %.0f\" role=\"img\">\n", kWidth,
                      kHeight),
      "<text class=\"name\" x=\"", kLeft, "\" y=\"18\">", HtmlText(title),
      "</text>\n", Axes(frame), lines, dots, "</svg>\n");
}

std::string CurveStyle(size_t style) {
  // Okabe and Ito 2008, with grey instead of black: visible on light and dark.
  static constexpr const char* kColours[] = {"#0072b2", "#d55e00", "#009e73",
                                             "#cc79a7", "#e69f00", "#56b4e9",
                                             "#888888", "#b8a800"};
  static constexpr const char* kDashes[] = {"", "6 3", "2 2", "9 3 2 3"};
  const std::string colour = kColours[style % std::size(kColours)];
  const std::string dash =
      kDashes[style / std::size(kColours) % std::size(kDashes)];
  return absl::StrCat("stroke=\"", colour, "\"",
                      dash.empty() ? "" : " stroke-dasharray=\"", dash,
                      dash.empty() ? "" : "\"");
}

std::string HtmlText(std::string_view text) {
  // The JSON round trip replaces bytes that are not UTF-8.
  std::string valid =
      ParseJsonOrNull(JsonText(std::string(text))).get<std::string>();
  for (char& c : valid) {
    if (static_cast<unsigned char>(c) < 0x20 && c != '\n') c = ' ';
  }
  return absl::StrReplaceAll(
      valid, {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}});
}

}  // namespace espalier
