#include "models/checkpoint/reward_head_config.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "nlohmann/json.hpp"

namespace espalier {
namespace {

TEST(RewardHeadConfigTest, WhatIsWrittenIsRead) {
  for (
      const char* text :
      {R"({"reward":["step","path"]})", R"({"reward":["window4"]})",
       R"({"reward":["step"],"ensemble":2})",
       R"({"reward":["step"],"ensemble":16,"weights":{"bias":0.0,"step":1.0}})",
       R"({"reward":["path+outcome","step","window2"],)"
       R"("weights":{"bias":-0.5,"step":2.0,"window2":1.25}})"}) {
    const auto entry = nlohmann::json::parse(text);
    const auto read = ParseRewardHead(entry);
    ASSERT_TRUE(read.has_value()) << text;
    EXPECT_EQ(RewardHeadJson(read->outputs, read->weights, read->ensemble),
              entry);
    EXPECT_EQ(read->ensemble, entry.value("ensemble", 1));
  }
  const auto read = ParseRewardHead(nlohmann::json::parse(
      R"({"reward":["window3","outcome"],"weights":{"outcome":3}})"));
  EXPECT_EQ(read->outputs,
            (std::vector<LevelSet>{Level::kWindow3, Level::kOutcome}));
  EXPECT_EQ(read->weights.weight[IndexOf(Level::kOutcome)], 3);
}

TEST(RewardHeadConfigTest, OtherFormsAreRefused) {
  for (const char* text :
       {"[]", "{}", R"({"reward":[]})", R"({"reward":"step"})",
        R"({"reward":["stp"]})", R"({"reward":["step","step"]})",
        R"({"reward":["step+path","path"]})", R"({"reward":["step+"]})",
        R"({"reward":["step"],"value":["path"]})",
        R"({"reward":["step"],"ensemble":1})",
        R"({"reward":["step"],"ensemble":17})",
        R"({"reward":["step"],"ensemble":2.5})",
        R"({"reward":["step"],"ensemble":"2"})", R"({"ensemble":2})",
        R"({"reward":["step"],"weights":{"path":1}})",
        R"({"reward":["step"],"weights":{"step":"1"}})",
        R"({"reward":["step"],"weights":[1]})"}) {
    EXPECT_FALSE(ParseRewardHead(nlohmann::json::parse(text)).has_value())
        << text;
  }
}

}  // namespace
}  // namespace espalier
