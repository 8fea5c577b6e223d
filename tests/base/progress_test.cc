#include "base/progress.h"

#include <string>
#include <vector>

#include "base/clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace espalier {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;

class ProgressTest : public ::testing::Test {
 protected:
  ProgressOptions Options(bool terminal) {
    ProgressOptions options;
    options.write = [this](const std::string& s) { written_.push_back(s); };
    options.terminal = terminal;
    options.clock = &clock_;
    return options;
  }

  ManualClock clock_;
  std::vector<std::string> written_;
};

TEST_F(ProgressTest, LogGetsAPlainLineEveryFiveSeconds) {
  Progress progress("eval", 100, "problems", Options(false));
  for (int second = 1; second <= 4; ++second) {
    clock_.Advance(1);
    progress.Add(5);
  }
  EXPECT_THAT(written_, IsEmpty());
  clock_.Advance(1);
  progress.Add(5);
  EXPECT_THAT(written_,
              ElementsAre("eval  25/100 problems  25 %  5.0/s  15 s left\n"));
  clock_.Advance(1);
  progress.Add(5);
  EXPECT_EQ(written_.size(), 1u);
}

TEST_F(ProgressTest, TerminalLineIsRewrittenAndOldTextIsCovered) {
  Progress progress("train", 10, "steps", Options(true));
  progress.SetNote("loss 1.2345678");
  clock_.Advance(1);
  progress.Add(1);
  progress.SetNote("");
  clock_.Advance(1);
  progress.Add(1);
  ASSERT_EQ(written_.size(), 2u);
  EXPECT_EQ(written_[0],
            "\rtrain  1/10 steps  10 %  1.0/s  9.0 s left  loss 1.2345678");
  EXPECT_EQ(written_[1], "\rtrain  2/10 steps  20 %  1.0/s  8.0 s left" +
                             std::string(16, ' '));
}

TEST_F(ProgressTest, TerminalLineIsNotRewrittenTooOften) {
  Progress progress("train", 1000, "steps", Options(true));
  for (int i = 0; i < 1000; ++i) {
    clock_.Advance(0.001);
    progress.Add(1);
  }
  EXPECT_GE(written_.size(), 9u);
  EXPECT_LE(written_.size(), 11u);
}

TEST_F(ProgressTest, LastLineSaysHowMuchAndTheTime) {
  {
    Progress progress("eval", 100, "problems", Options(false));
    clock_.Advance(200);
    progress.Add(100);
    progress.Finish();
    progress.Finish();
  }
  ASSERT_EQ(written_.size(), 2u);
  EXPECT_EQ(written_[1], "eval  100 problems in 3 min 20 s  30.0/min\n");
}

TEST_F(ProgressTest, RunThatWasCutShortSaysSo) {
  {
    Progress progress("eval", 100, "problems", Options(false));
    clock_.Advance(2);
    progress.Add(7);
  }
  EXPECT_THAT(written_, ElementsAre("eval  7/100 problems in 2.0 s  3.5/s\n"));
}

TEST_F(ProgressTest, WorkOfEarlierCallsCountsInThePercentageAlone) {
  Progress progress("train", 100, "steps", Options(false));
  progress.Set(60, 60);
  clock_.Advance(5);
  progress.Add(10);
  EXPECT_THAT(written_,
              ElementsAre("train  70/100 steps  70 %  2.0/s  15 s left\n"));
  clock_.Advance(5);
  // More of the work turns out to be done already, as in a second round.
  progress.Set(90, 70);
  EXPECT_EQ(written_.back(), "train  90/100 steps  90 %  2.0/s  5.0 s left\n");
  clock_.Advance(2);
  progress.Add(10);
  progress.Finish();
  EXPECT_EQ(written_.back(),
            "train  100 steps, 70 of them earlier, in 12 s  2.5/s\n");
}

TEST_F(ProgressTest, NothingLeftToDoHasNoRate) {
  {
    Progress progress("generate", 100, "searches", Options(false));
    clock_.Advance(6);
    progress.Set(100, 100);
  }
  EXPECT_THAT(written_,
              ElementsAre("generate  100/100 searches  100 %\n",
                          "generate  100 searches, 100 of them earlier, in "
                          "6.0 s\n"));
}

TEST_F(ProgressTest, UnknownTotalShowsNoTimeLeft) {
  Progress progress("read", 0, "lines", Options(true));
  clock_.Advance(10);
  progress.Add(5000);
  EXPECT_THAT(written_, ElementsAre("\rread  5000 lines  500/s"));
}

TEST(HumanSecondsTest, SaysTimeAsPeopleDo) {
  EXPECT_EQ(HumanSeconds(0.41), "0.4 s");
  EXPECT_EQ(HumanSeconds(12.3), "12 s");
  EXPECT_EQ(HumanSeconds(59.7), "1 min 0 s");
  EXPECT_EQ(HumanSeconds(7500), "2 h 5 min");
}

TEST(ClockTest, RealClockNeverGoesBack) {
  double last = Clock::Real().Seconds();
  for (int i = 0; i < 1000; ++i) {
    const double now = Clock::Real().Seconds();
    ASSERT_GE(now, last);
    last = now;
  }
}

TEST(ClockTest, TimestampIsIsoInUtc) {
  EXPECT_THAT(UtcTimestamp(),
              MatchesRegex("[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:"
                           "[0-9]{2}Z"));
}

}  // namespace
}  // namespace espalier
