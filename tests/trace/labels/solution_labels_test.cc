#include "src/trace/labels/solution_labels.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

namespace espalier {
namespace {

// "1", "0", or "." for none, one per step.
std::string Column(const LabelledSolution& solution, Level level) {
  std::string out;
  for (const LevelLabels& labels : LabelsOfSolution(solution)) {
    const float label = labels[IndexOf(level)];
    out += std::isnan(label) ? '.' : label == 1 ? '1' : '0';
  }
  return out;
}

// '+' right, '=' neutral, '-' wrong, '?' unknown.
LabelledSolution Make(const std::string& labels,
                      std::optional<bool> final_correct) {
  LabelledSolution out{.final_correct = final_correct};
  for (const char c : labels) {
    out.steps.emplace_back("s");
    out.labels.push_back(c == '+'   ? StepLabel::kRight
                         : c == '=' ? StepLabel::kNeutral
                         : c == '-' ? StepLabel::kWrong
                                    : StepLabel::kUnknown);
    if (c == '-' && out.first_error < 0) {
      out.first_error = static_cast<int>(out.steps.size()) - 1;
    }
  }
  return out;
}

TEST(SolutionLabelsTest, SharedStepsCountOnce) {
  LabelledSolution other = Make("++-", std::nullopt);
  other.other = true;
  other.shared = 2;
  EXPECT_EQ(Column(other, Level::kStep), "..0");
  EXPECT_EQ(Column(other, Level::kPath), "..0");
  EXPECT_EQ(Column(other, Level::kWindow2), "..0");
  other = Make("+-+", std::nullopt);
  other.shared = 2;
  // What follows an error may be right, the path is not.
  EXPECT_EQ(Column(other, Level::kStep), "..1");
  EXPECT_EQ(Column(other, Level::kPath), "..0");
  EXPECT_EQ(Column(other, Level::kWindow2), "...");
}

TEST(SolutionLabelsTest, LevelsFollowTheTable) {
  // ProcessBench: nothing is said after the first error.
  const LabelledSolution bench = Make("++-??", false);
  EXPECT_EQ(Column(bench, Level::kStep), "110..");
  EXPECT_EQ(Column(bench, Level::kWindow2), "110..");
  EXPECT_EQ(Column(bench, Level::kPath), "11000");
  EXPECT_EQ(Column(bench, Level::kOutcome), "00000");
  // Steps go on after an error: whether a later one corrects it is not known.
  const LabelledSolution on = Make("+-=++", std::nullopt);
  EXPECT_EQ(Column(on, Level::kStep), "10111");
  EXPECT_EQ(Column(on, Level::kWindow2), "10.11");
  EXPECT_EQ(Column(on, Level::kWindow3), "10..1");
  EXPECT_EQ(Column(on, Level::kWindow4), "10...");
  EXPECT_EQ(Column(on, Level::kPath), "10000");
  EXPECT_EQ(Column(on, Level::kOutcome), ".....");
  // A step without a label leaves open whether all are right.
  const LabelledSolution open = Make("+?+", true);
  EXPECT_EQ(Column(open, Level::kStep), "1.1");
  EXPECT_EQ(Column(open, Level::kWindow2), "1..");
  EXPECT_EQ(Column(open, Level::kPath), "1..");
  EXPECT_EQ(Column(open, Level::kOutcome), "111");
}

}  // namespace
}  // namespace espalier
