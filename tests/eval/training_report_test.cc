#include "src/eval/training_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"
#include "src/eval/metrics_file.h"
#include "src/eval/training_page.h"

namespace espalier {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class TrainingReportTest : public ::testing::Test {
 protected:
  TrainingReportTest()
      : folder_(testing::TempDir() + "/espalier_training_report") {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  ~TrainingReportTest() override { fs::remove_all(folder_); }

  std::string Write(const std::string& name, const std::string& text) const {
    const fs::path path = folder_ / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text;
    return path.string();
  }
  std::string ErrorOf(const std::string& text) const {
    const auto file = ReadMetricsFile(Write("metrics.jsonl", text));
    EXPECT_FALSE(file.ok());
    return std::string(file.status().message());
  }
  // Names of all series, by training.
  static std::vector<std::string> Names(const TrainingReport& report) {
    std::vector<std::string> names;
    for (const TrainingCurves& training : report.trainings) {
      for (const Series& s : training.series) {
        names.push_back(absl::StrCat(
            training.name, training.name.empty() ? "" : ": ", s.name));
      }
    }
    return names;
  }

  fs::path folder_;
};

constexpr char kTwoSteps[] =
    "{\"step\":1,\"loss\":2.5,\"kl\":0.0,\"tokens\":10,\"own\":\"text\"}\n"
    "{\"step\":2,\"loss\":1.5,\"kl\":0.0,\"tokens\":12,\"entropy\":0.5}\n";

constexpr char kRound[] =
    R"({"round":1,"searches":300,"solved":140,"tokens":120000,"examples":259,
"reward_examples":0,"n":100,"right_before":35,"right_after":38,"gained":12,
"lost":9,"p_value":0.3318,"promote":false,"reason":"kept the old model",
"generate_seconds":15.99,"reward_seconds":0.0,"policy_seconds":3.15,
"gate_seconds":0.91})";

TEST_F(TrainingReportTest, LossesComeFirstAndWhatVaries) {
  const auto report = ReadTrainingReport(Write("m.jsonl", kTwoSteps));
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_THAT(Names(*report), ElementsAre("loss", "entropy", "kl", "tokens"));
  const Series& loss = report->trainings[0].series[0];
  EXPECT_THAT(loss.steps, ElementsAre(1, 2));
  EXPECT_THAT(loss.values, ElementsAre(2.5, 1.5));
  EXPECT_THAT(report->trainings[0].series[1].steps, ElementsAre(2));
  std::vector<TrainingReport> reports = {*report};
  ASSERT_TRUE(ChooseMetrics({}, reports).ok());
  EXPECT_THAT(Names(reports[0]), ElementsAre("loss"));
  reports = {*report};
  ASSERT_TRUE(ChooseMetrics({"kl", "tokens"}, reports).ok());
  EXPECT_THAT(Names(reports[0]), ElementsAre("kl", "tokens"));
  reports = {*report};
  EXPECT_THAT(std::string(ChooseMetrics({"entorpy"}, reports).message()),
              HasSubstr("did you mean \"entropy\"?"));
}

TEST_F(TrainingReportTest, TextHasFiguresAndAPlot) {
  const std::string path = Write("m.jsonl", kTwoSteps);
  std::vector<TrainingReport> reports = {ReadTrainingReport(path).value()};
  ASSERT_TRUE(ChooseMetrics({"kl", "loss"}, reports).ok());
  EXPECT_EQ(TrainingReportText(reports[0], 32), absl::StrCat("== ", path, R"(

loss  first 2.5, last 1.5, min 1.5 at step 2, max 2.5 at step 1
       2.5 |*.
           |  ..
           |    ..
           |      ..
           |        ..
           |          ..
           |            ..
           |              ..
           |                ..
       1.5 |                  .*
           +--------------------
            1                  2

kl  first 0, last 0, min 0 at step 1, max 0 at step 1
         0 |*..................*
           +--------------------
            1                  2
)"));
}

TEST_F(TrainingReportTest, ShippedModelsHaveStagesAndHeldOutLines) {
  Write("metrics.jsonl",
        R"({"stage":"grow","step":0,"held_out":true,"lm_loss":6,"grad_norm":0}
{"stage":"grow","step":10,"held_out":false,"lm_loss":5,"grad_norm":2}
{"stage":"grow","step":20,"held_out":false,"lm_loss":4,"grad_norm":1}
{"stage":"grow","step":20,"held_out":true,"lm_loss":4.5,"grad_norm":0}
{"stage":"judge0","step":10,"held_out":false,"lm_loss":3,"grad_norm":1}
)");
  const auto report = ReadTrainingReport(folder_.string() + "/");
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_THAT(
      Names(*report),
      ElementsAre("grow: lm_loss", "grow: held_out_lm_loss", "grow: grad_norm",
                  "judge0: lm_loss", "judge0: grad_norm"));
  EXPECT_THAT(report->trainings[0].series[1].values, ElementsAre(6, 4.5));
  EXPECT_THAT(report->notes, IsEmpty());
}

TEST_F(TrainingReportTest, WhatAKillLeavesIsNoted) {
  const std::string path =
      Write("m.jsonl", absl::StrCat(kTwoSteps, "{\"step\":3,\"lo"));
  const auto cut = ReadTrainingReport(path);
  ASSERT_TRUE(cut.ok()) << cut.status();
  EXPECT_THAT(cut->trainings[0].series[0].steps, ElementsAre(1, 2));
  EXPECT_THAT(
      cut->notes,
      ElementsAre(path +
                  ":3: incomplete because the writer was killed; ignored"));
  // Repeated steps count once.
  Write("m.jsonl", absl::StrCat(kTwoSteps, "{\"step\":3,\"loss\":9}\n",
                                "{\"step\":2,\"loss\":1}\n",
                                "{\"step\":3,\"loss\":0.5}\n"));
  const auto again = ReadTrainingReport(path);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_THAT(again->trainings[0].series[0].steps, ElementsAre(1, 2, 3));
  EXPECT_THAT(again->trainings[0].series[0].values, ElementsAre(2.5, 1, 0.5));
  EXPECT_THAT(again->notes, ElementsAre(HasSubstr("m.jsonl:4: step 2")));
}

TEST_F(TrainingReportTest, NullIsAGapAndNoted) {
  const std::string path =
      Write("m.jsonl", absl::StrCat(kTwoSteps, "{\"step\":3,\"loss\":null}\n",
                                    "{\"step\":4,\"loss\":null}\n"));
  const auto report = ReadTrainingReport(path);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_TRUE(std::isnan(report->trainings[0].series[0].values[2]));
  EXPECT_THAT(report->notes,
              ElementsAre(HasSubstr("m.jsonl:3: \"loss\" is null")));
  EXPECT_EQ(TrainingReportJson(*report)["trainings"][0]["series"][0].dump(),
            "{\"first\":2.5,\"last\":1.5,\"max\":2.5,\"max_step\":1,"
            "\"min\":1.5,\"min_step\":2,\"name\":\"loss\",\"steps\":[1,2,3,4],"
            "\"values\":[2.5,1.5,null,null]}");
}

TEST_F(TrainingReportTest, BadLinesAreNamed) {
  EXPECT_THAT(ErrorOf(""), HasSubstr("metrics.jsonl: is empty"));
  EXPECT_THAT(ErrorOf("\n \n{\"st"), HasSubstr("has no complete line"));
  const std::string good = "{\"step\":1,\"loss\":1}\n";
  const auto error = [&](const std::string& line) {
    return ErrorOf(absl::StrCat(good, line, "\n", good));
  };
  EXPECT_THAT(error("{\"step\":2,"), HasSubstr("metrics.jsonl:2: is not JSON"));
  EXPECT_THAT(error("{\"step\":2,\"loss\":NaN}"), HasSubstr("write null"));
  EXPECT_THAT(error("{\"step\":2,\"loss\":1e999}"), HasSubstr(":2: is not"));
  EXPECT_THAT(error("[2]"), HasSubstr(":2: expected {\"step\""));
  EXPECT_THAT(error("{\"loss\":2}"), HasSubstr(":2: expected {\"step\""));
  for (const char* step : {"-1", "1.5", "\"2\"", "18446744073709551615"}) {
    EXPECT_THAT(error(absl::StrCat("{\"step\":", step, "}")),
                HasSubstr(absl::StrCat(":2: \"step\" is ", step)));
  }
  EXPECT_THAT(error("{\"step\":2,\"loss\":\"x\"}"),
              HasSubstr(":2: \"loss\" is \"x\", expected a number"));
  EXPECT_THAT(error("{\"step\":2,\"held_out\":1}"), HasSubstr("\"held_out\""));
  EXPECT_THAT(error("{\"step\":2,\"stage\":1}"), HasSubstr("\"stage\""));
  EXPECT_THAT(ErrorOf("{\"step\":2}\n"), HasSubstr("no metrics"));
}

TEST_F(TrainingReportTest, SelfTrainingsHaveRounds) {
  const std::string work = (folder_ / "best.work").string();
  Write("best.work/round1.json", kRound);
  Write("best.work/round1-policy.work/metrics.jsonl", kTwoSteps);
  Write("best.work/round1-reward.work/metrics.jsonl", kTwoSteps);
  Write("best.work/round2-policy.work/metrics.jsonl", "");
  Write("best.work/rounds.json", "not one of them");
  const auto report = ReadTrainingReport(work);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_TRUE(report->self_training);
  ASSERT_EQ(report->trainings.size(), 2u);
  EXPECT_EQ(report->trainings[0].name, "round1 reward");
  EXPECT_THAT(report->notes, ElementsAre(HasSubstr("round2-policy.work"),
                                         "round 2 has not ended yet"));
  const std::string table =
      "round  searches  solved  examples              gate  p value  promoted"
      "  search s  policy s  gate s\n"
      "    1       300  46.7 %       259  35.0 % -> 38.0 %     0.33        no"
      "        16       3.1     0.9\n"
      "round 1: kept the old model\n";
  EXPECT_THAT(TrainingReportText(*report, 80, true), HasSubstr(table));
  EXPECT_EQ(TrainingReportJson(*report)["rounds"][0],
            nlohmann::json::parse(kRound));
  // A checkpoint's own folder: the metrics are next to it.
  fs::create_directories(folder_ / "best");
  EXPECT_THAT(
      std::string(
          ReadTrainingReport((folder_ / "best").string()).status().message()),
      HasSubstr("they are in " + work));
  Write("best.work/round2.json", "{\"round\":2}");
  EXPECT_THAT(std::string(ReadTrainingReport(work).status().message()),
              HasSubstr("round2.json: is not a round's summary"));
}

TEST_F(TrainingReportTest, PageHasEveryRunOncePerMetric) {
  Write("a&b/metrics.jsonl", kTwoSteps);
  Write("c/metrics.jsonl", kTwoSteps);
  std::vector<TrainingReport> reports;
  for (const char* name : {"a&b", "c"}) {
    reports.push_back(ReadTrainingReport((folder_ / name).string()).value());
  }
  ASSERT_TRUE(ChooseMetrics({"loss", "tokens"}, reports).ok());
  const std::string page = TrainingPage(reports);
  const auto count = [&](const std::string& what) {
    int n = 0;
    for (size_t at = page.find(what); at != std::string::npos;
         at = page.find(what, at + 1)) {
      ++n;
    }
    return n;
  };
  EXPECT_EQ(count("role=\"img\""), 2);
  EXPECT_EQ(count("/c</title>"), 2);
  EXPECT_EQ(count("/a&amp;b</title>"), 2);
  EXPECT_EQ(count("a&b"), 0);
  EXPECT_EQ(count("<script"), 0);
  EXPECT_EQ(count("http"), 0);
}

}  // namespace
}  // namespace espalier
