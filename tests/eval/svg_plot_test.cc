#include "src/eval/svg_plot.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

namespace espalier {
namespace {

TEST(SvgPlotTest, CurvesShareTheAxes) {
  const Series a{.name = "loss", .steps = {0, 100}, .values = {4, 2}};
  const Series b{.name = "loss", .steps = {0, 50}, .values = {3, 1}};
  const std::string svg = SvgPlot("loss", {{"a", 0, &a}, {"b", 1, &b}});
  // The frame is 64..628 by 28..252: 4 is the top, 1 the bottom, 50 halfway.
  EXPECT_NE(svg.find("d=\"M64.0 28.0L628.0 177.3\"><title>a</title>"),
            std::string::npos)
      << svg;
  EXPECT_NE(svg.find("d=\"M64.0 102.7L346.0 252.0\"><title>b</title>"),
            std::string::npos)
      << svg;
  EXPECT_NE(svg.find("<title>b: 1 at step 50</title>"), std::string::npos);
  EXPECT_NE(svg.find(">step 100<"), std::string::npos);
}

TEST(SvgPlotTest, GapsFlatCurvesAndNothing) {
  const Series gap{.steps = {1, 2, 3, 4}, .values = {1, NAN, 1, 1}};
  const std::string svg = SvgPlot("x", {{"a", 0, &gap}});
  EXPECT_NE(svg.find("d=\"M64.0 140.0M440.0 140.0L628.0 140.0\""),
            std::string::npos)
      << svg;
  EXPECT_EQ(svg.find("nan"), std::string::npos);
  const Series none{.steps = {1}, .values = {NAN}};
  EXPECT_EQ(SvgPlot("x", {{"a", 0, &none}}), "");
  EXPECT_EQ(SvgPlot("x", {}), "");
}

TEST(SvgPlotTest, ManyStepsStaySmall) {
  Series s;
  for (int i = 0; i < 200000; ++i) {
    s.steps.push_back(i);
    s.values.push_back(std::sin(i / 1000.0));
  }
  EXPECT_LT(SvgPlot("x", {{"a", 0, &s}}).size(), 30000u);
}

TEST(SvgPlotTest, StylesDiffer) {
  std::set<std::string> styles;
  for (size_t i = 0; i < 32; ++i) styles.insert(CurveStyle(i));
  EXPECT_EQ(styles.size(), 32u);
}

TEST(SvgPlotTest, TextIsMarkedUp) {
  EXPECT_EQ(HtmlText("a<b>&\"c\"\x01\xff\xc3\xa9"),
            "a&lt;b&gt;&amp;&quot;c&quot; \xEF\xBF\xBD\xc3\xa9");
}

}  // namespace
}  // namespace espalier
