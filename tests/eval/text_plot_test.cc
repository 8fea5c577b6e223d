#include "src/eval/text_plot.h"

#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

namespace espalier {
namespace {

TEST(TextPlotTest, StepsAreMarkedAndJoined) {
  EXPECT_EQ(TextPlot({.steps = {1, 2, 3}, .values = {2.5, 1.5, 2}},
                     {.width = 41, .height = 4}),
            R"(       2.5 |*..
           |   .....                    *
           |        ....       .........
       1.5 |            ..*....
           +-----------------------------
            1                           3
)");
}

TEST(TextPlotTest, NullIsAGap) {
  EXPECT_EQ(TextPlot({.steps = {1, 2, 3, 4, 5}, .values = {1, 2, NAN, 4, 3}},
                     {.width = 32, .height = 4}),
            R"(         4 |              *..
           |                 ..*
           |   ..*
         1 |*..
           +--------------------
            1                  5
)");
}

TEST(TextPlotTest, SteepWaysAreFilledIn) {
  Series s{.name = "right"};
  for (int i = 0; i < 20; ++i) {
    s.steps.push_back(i);
    s.values.push_back(i < 10 ? 0 : 1);
  }
  EXPECT_EQ(TextPlot(s, {.width = 32, .height = 4}),
            R"(         1 |          **********
           |          .
           |          .
         0 |**********
           +--------------------
            0                 19
)");
}

TEST(TextPlotTest, FlatCurvesAndSingleStepsTakeOneLine) {
  EXPECT_EQ(TextPlot({.steps = {10, 20}, .values = {3, 3}}, {.width = 32}),
            R"(         3 |*..................*
           +--------------------
            10                20
)");
  EXPECT_EQ(TextPlot({.steps = {7}, .values = {3}}, {.width = 32}),
            R"(         3 |*
           +--------------------
            7
)");
  EXPECT_EQ(TextPlot({.steps = {7}, .values = {NAN}}), "");
  EXPECT_EQ(TextPlot({}), "");
}

TEST(TextPlotTest, ManyStepsAreAveragedIntoTheWidth) {
  // Alternates by +-1 about a line that falls from 10 to 0: the means of the
  // columns show only the line.
  Series s{.name = "loss"};
  for (int i = 0; i < 100000; ++i) {
    s.steps.push_back(i);
    s.values.push_back(10 - i / 1e4 + (i % 2 == 0 ? 1 : -1));
  }
  const std::string text = TextPlot(s, {.width = 60, .height = 5});
  std::istringstream lines(text);
  std::string line;
  int count = 0;
  while (std::getline(lines, line)) {
    EXPECT_LE(line.size(), 60u);
    ++count;
  }
  EXPECT_EQ(count, 7);
  // Means of the half columns at both ends.
  EXPECT_EQ(text.substr(0, 14), "     9.947 |**") << text;
  EXPECT_NE(text.find("0.05"), std::string::npos) << text;
}

}  // namespace
}  // namespace espalier
