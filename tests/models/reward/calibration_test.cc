#include "models/reward/calibration.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

namespace espalier {
namespace {

std::string ErrorOf(const std::string& text) {
  const auto read = Calibration::Parse(text, "mine.textproto");
  return read.ok() ? "" : std::string(read.status().message());
}

Calibration Read(const std::string& text) {
  const auto read = Calibration::Parse(text, "mine.textproto");
  EXPECT_TRUE(read.ok()) << read.status();
  return *read;
}

TEST(CalibrationTest, LogisticCurvesAreAppliedToTheLogit) {
  const Calibration curve =
      Read("level { name: \"step\" slope: 2 intercept: -1 }");
  // logit(.8) = ln 4: odds 16 / e.
  const double odds = 16 / std::exp(1);
  const StepScores out = curve.Apply({.step = .8f, .path = .3f}, false);
  EXPECT_NEAR(out.step, odds / (1 + odds), 1e-6);
  EXPECT_EQ(out.path, .3f);  // has no curve
  EXPECT_TRUE(std::isnan(curve.Apply({}, false).step));
  EXPECT_GE(curve.Apply({.step = 0}, false).step, 0);
  EXPECT_LE(curve.Apply({.step = 1}, false).step, 1);
}

TEST(CalibrationTest, PathsMadeOfStepsFollowTheStepsCurve) {
  const Calibration curve =
      Read("level { name: \"step\" slope: 2 intercept: -1 }");
  const StepScores both = curve.Apply({.step = .8f, .path = .8f}, true);
  EXPECT_EQ(both.step, both.path);
  const Calibration own = Read(
      "level { name: \"step\" slope: 2 intercept: -1 }"
      "level { name: \"path\" score: 0 score: 1 probability: .2 "
      "probability: .4 }");
  EXPECT_NEAR(own.Apply({.step = .8f, .path = .5f}, true).path, .3, 1e-6);
}

TEST(CalibrationTest, PointsAreJoinedByLines) {
  const Calibration curve = Read(
      "level { name: \"path\" score: [.2, .4, .9] "
      "probability: [.1, .5, .5] }");
  const auto at = [&](float score) {
    return curve.Apply({.path = score}, false).path;
  };
  EXPECT_NEAR(at(0), .1, 1e-6);
  EXPECT_NEAR(at(.2f), .1, 1e-6);
  EXPECT_NEAR(at(.25f), .2, 1e-6);
  EXPECT_NEAR(at(.4f), .5, 1e-6);
  EXPECT_NEAR(at(1), .5, 1e-6);
  for (int i = 0; i < 1000; ++i) {
    EXPECT_LE(at(i / 1000.f), at((i + 1) / 1000.f));
  }
}

TEST(CalibrationTest, TextIsReadBack) {
  const Calibration curve = Read(
      "# a comment\n"
      "level { name: \"step\" slope: 0.123456789 intercept: -1.5 labels: 7 }\n"
      "level { name: \"path\" score: .25 score: .5 probability: 0 "
      "probability: 1 }");
  EXPECT_EQ(Read(curve.Text()).Text(), curve.Text());
  EXPECT_EQ(Read(curve.Text()).levels()[0].labels, 7);
  EXPECT_EQ(Read(curve.Text()).levels()[0].slope, 0.123456789);
}

TEST(CalibrationTest, WrongFilesAreRefusedWithPlace) {
  const auto expect = [](const std::string& text, const std::string& word) {
    const std::string error = ErrorOf(text);
    EXPECT_NE(error.find(word), error.npos) << text << ": " << error;
    EXPECT_NE(error.find("mine.textproto"), error.npos) << error;
  };
  const std::string good = "level { name: \"step\" slope: 1 }\n";
  EXPECT_EQ(ErrorOf(good), "");
  expect(good + good, "mine.textproto:2: level: step is given twice");
  expect("", "expected a level");
  expect("level { name: \"setp\" slope: 1 }", "step");
  expect("level { name: \"step\" slop: 1 }", "slop");
  expect("level { name: \"step\" }", "slope");
  expect("level { name: \"step\" slope: 0 }", "above 0");
  expect("level { name: \"step\" slope: nan }", "above 0");
  expect("level { name: \"step\" slope: 1 intercept: inf }", "finite");
  expect("level { name: \"step\" slope: 1 score: 1 probability: 1 }", "either");
  expect("level { name: \"step\" score: [.1, .2] probability: 1 }", "as many");
  expect("level { name: \"step\" score: [.2, .1] probability: [0, 1] }",
         "point 2");
  expect("level { name: \"step\" score: [.1, .2] probability: [1, 0] }",
         "point 2");
  expect("level { name: \"step\" score: 1.5 probability: 1 }", "from 0 to 1");
}

TEST(CalibrationTest, ASpreadFollowsTheCurve) {
  const Calibration curve = Read(
      "level { name: \"path\" score: [0, .5, 1] probability: [0, .25, 1] }");
  const auto spread = [&](float mean, float of) {
    StepScores scores{.step = mean, .path = mean};
    scores.spread_of(Level::kStep) = scores.spread_of(Level::kPath) = of;
    const StepScores out = curve.Apply(scores, false);
    EXPECT_EQ(out.spread_of(Level::kStep), of);  // has no curve
    return out.spread_of(Level::kPath);
  };
  EXPECT_NEAR(spread(.25f, .1f), .05, 1e-6);  // slope 1/2
  EXPECT_NEAR(spread(.75f, .1f), .15, 1e-6);  // slope 3/2
  // .4 becomes .2 and .6 becomes .4.
  EXPECT_NEAR(spread(.5f, .1f), .1, 1e-6);
  // .9 becomes .85, and 1.1 is cut to 1.
  EXPECT_NEAR(spread(1, .1f), .075, 1e-6);
  EXPECT_EQ(spread(.3f, 0), 0);
}

}  // namespace
}  // namespace espalier
