#include "tools/zoo/train_zoo.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "base/files.h"
#include "datasets/tasks/task_registry.h"
#include "espalier/engine.h"
#include "espalier/engine_options.h"
#include "espalier/search_result.h"
#include "nlohmann/json.hpp"

namespace espalier {
namespace {

// An empty folder for one test; otherwise the state of the stages would
// persist.
std::string Folder(const std::string& name) {
  const std::string folder = testing::TempDir() + "/zoo_" + name;
  std::filesystem::remove_all(folder);
  std::filesystem::remove_all(folder + ".work");
  return folder;
}

ZooOptions SmallOptions(const std::string& family, const std::string& name) {
  const std::string folder = Folder(name);
  return {.family = family,
          .out = folder,
          .work = folder + ".work",
          .grow_steps = 80,
          .judge_steps = 20,
          .judge_rounds = family == "countdown-base" ? 0 : 1,
          .own_responses = 60,
          .batch_tokens = 4096,
          .hidden_size = 64,
          .layers = 3};
}

// A loss on the held-out batch at the start and the end of a stage.
struct Trend {
  double first = 0, last = 0;
};
std::map<std::string, Trend> Trends(const std::string& work,
                                    const std::string& stage) {
  std::ifstream file(work + "/metrics.jsonl");
  std::map<std::string, Trend> out;
  for (std::string line; std::getline(file, line);) {
    const auto row = nlohmann::json::parse(line);
    if (row.at("stage") != stage || !row.at("held_out")) continue;
    for (const char* loss : {"lm_loss", "step_bce", "path_bce"}) {
      if (row.at("step") == 0) out[loss].first = row.at(loss);
      out[loss].last = row.at(loss);
    }
  }
  return out;
}

class ZooTest : public testing::TestWithParam<const char*> {};

// Every stage runs, the losses fall, and the folder is a model that answers.
TEST_P(ZooTest, LossesFallAndTheModelIsServed) {
  const std::string family = GetParam();
  const ZooOptions options = SmallOptions(family, family);
  const auto report = TrainZooModel(options);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->stages.size(), options.judge_rounds + 1u);
  for (const ZooReport::Stage& stage : report->stages) {
    EXPECT_GT(stage.seconds, 0);
    EXPECT_GE(stage.tokens, stage.steps * options.batch_tokens);
  }
  auto grow = Trends(options.work, "grow");
  EXPECT_LT(grow["lm_loss"].last, grow["lm_loss"].first * 0.5);
  // A loss with a tenth of the weight is not learned in 80 steps.
  if (FindZooFamily(family).value()->recipe().reward_coef >= 0.3) {
    EXPECT_LT(grow["step_bce"].last, grow["step_bce"].first);
    EXPECT_LT(grow["path_bce"].last, grow["path_bce"].first);
  }

  const auto engine = Engine::Create({.policy = options.out, .threads = 2});
  ASSERT_TRUE(engine.ok()) << engine.status();
  const std::string task = std::string(FindZooFamily(family).value()->task());
  const SearchResult result =
      (*engine)->Solve(FindZooFamily(family).value()->OwnProblem(1, 1).problem,
                       **FindTask(task), {.method = "beam", .max_tokens = 200});
  EXPECT_TRUE(result.status.ok()) << result.status;
  EXPECT_GT(result.tokens, 0);
}

INSTANTIATE_TEST_SUITE_P(Families, ZooTest,
                         testing::Values("stories", "countdown",
                                         "countdown-base"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::erase(name, '-');
                           return name;
                         });

// Stopped between stages and called again: the same weights.
TEST(ZooResumeTest, SecondCallGoesOnWhereTheFirstStopped) {
  ZooOptions options = SmallOptions("stories", "whole");
  options.grow_steps = 20;
  options.judge_steps = 5;
  ASSERT_TRUE(TrainZooModel(options).ok());
  ZooOptions halves = SmallOptions("stories", "halves");
  halves.grow_steps = 20;
  halves.judge_steps = 5;
  halves.judge_rounds = 0;
  ASSERT_TRUE(TrainZooModel(halves).ok());
  halves.judge_rounds = 1;
  ASSERT_TRUE(TrainZooModel(halves).ok());
  EXPECT_EQ(ReadFile(options.out + "/model.safetensors").value(),
            ReadFile(halves.out + "/model.safetensors").value());
}

TEST(ZooRefusalTest, NamesWhatIsWrong) {
  ZooOptions options = SmallOptions("storys", "refused");
  const auto unknown = TrainZooModel(options);
  EXPECT_NE(std::string(unknown.status().message()).find("\"stories\""),
            std::string::npos);
  options.family = "stories";
  options.hidden_size = 100;
  EXPECT_NE(std::string(TrainZooModel(options).status().message())
                .find("multiple of 64"),
            std::string::npos);
}

}  // namespace
}  // namespace espalier
