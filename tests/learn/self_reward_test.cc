// Last-token self-rewards: what is fitted to what. Expected values are worked
// out by hand from the formulas of RUCBM/LaSeR (ray_trainer.py, dp_actor.py).
#include "src/learn/self_reward.h"

#include <gmock/gmock.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "base/files.h"
#include "models/reward/reward_format.h"

namespace espalier {
namespace {

using testing::HasSubstr;

constexpr char kJudgeModel[] = "models/zoo/stories";
constexpr int32_t kEnd = 511, kJudge = 0;

// Four tokens, the first two of which are the prompt's.
GroupSequence Response(bool right, bool ends, float advantage) {
  GroupSequence g;
  g.sequence.Append({7, 8}, 0);
  g.sequence.Append({9, ends ? kEnd : 10}, 1);
  g.advantage = advantage;
  g.old_logprobs = {0, 0, -1, -2};
  g.outcome = right ? 1 : 0;
  return g;
}

// Two problems: right, wrong, and wrong without an end; right and wrong.
TrainData Data() {
  TrainData data;
  const auto add = [&](int problem, GroupSequence g) {
    data.groups.push_back({std::move(g)});
    data.problems.push_back(problem);
  };
  add(0, Response(true, true, 0.75f));
  add(0, Response(false, true, -0.25f));
  add(0, Response(false, false, -0.25f));
  add(1, Response(true, true, 0.5f));
  add(1, Response(false, true, -0.5f));
  return data;
}

TEST(SelfRewardTest, TheTokenFollowsTheEndOfResponses) {
  TrainData data = Data();
  data.groups[0][0].advantages = {0, 0, 1, 2};
  ASSERT_TRUE(AppendSelfRewards(kJudge, kEnd, 5, data).ok());
  const GroupSequence& ended = data.groups[0][0];
  EXPECT_EQ(ended.sequence.tokens, (std::vector<int32_t>{7, 8, 9, kEnd, 0}));
  EXPECT_EQ(ended.old_logprobs.size(), 5u);
  EXPECT_EQ(ended.advantages.size(), 5u);
  EXPECT_TRUE(ended.self_reward.has_value());
  const GroupSequence& unjudged = data.groups[2][0];
  EXPECT_EQ(unjudged.sequence.tokens.size(), 4u);
  EXPECT_FALSE(unjudged.self_reward.has_value());
  TrainData roomy = Data();
  ASSERT_TRUE(AppendSelfRewards(kJudge, kEnd, 6, roomy).ok());
  const GroupSequence& ended_by_task = roomy.groups[2][0];
  EXPECT_EQ(ended_by_task.sequence.tokens,
            (std::vector<int32_t>{7, 8, 9, 10, kEnd, 0}));
  EXPECT_EQ(ended_by_task.sequence.lm_weight,
            (std::vector<float>{0, 0, 1, 1, 0, 1}));
  EXPECT_EQ(ended_by_task.old_logprobs.size(), 6u);
  TrainData full = Data();
  EXPECT_THAT(std::string(AppendSelfRewards(kJudge, kEnd, 4, full).message()),
              HasSubstr("fills the model's context"));
}

TEST(SelfRewardTest, TargetsClassesAndAdvantagesByHand) {
  TrainData data = Data();
  ASSERT_TRUE(AppendSelfRewards(kJudge, kEnd, 5, data).ok());
  const double none = std::numeric_limits<double>::quiet_NaN();
  SelfRewardOptions options{.token = "!"};
  // Judgements .8, .2, 0 (does not fit); 1 (bounded) and .95, which vary too
  // little.
  options.base = -23;
  const double base =
      SetSelfRewards(options, {-15, -21, none, -10, -13.5}, data);
  EXPECT_EQ(base, -23);
  // 4 judged, 2 right: both classes weigh 1; 2 tokens a response.
  for (const size_t i : {0u, 1u, 3u, 4u}) {
    const SelfReward& of = *data.groups[i][0].self_reward;
    EXPECT_NEAR(of.weight, 0.1 * 2, 1e-12);
    EXPECT_EQ(of.target, data.groups[i][0].outcome);
    EXPECT_EQ(of.factor, 0.1);
    EXPECT_EQ(of.base, -23);
  }
  // Mean 1/3 of .8, .2, 0.
  EXPECT_NEAR(data.groups[0][0].advantage, .9 * .75 + .1 * (.8 - 1. / 3), 1e-6);
  EXPECT_NEAR(data.groups[1][0].advantage, -.9 * .25 + .1 * (.2 - 1. / 3),
              1e-6);
  EXPECT_NEAR(data.groups[2][0].advantage, -.9 * .25 - .1 / 3, 1e-6);
  EXPECT_EQ(data.groups[3][0].advantage, 0.5f);
  EXPECT_EQ(data.groups[4][0].advantage, -0.5f);
}

TEST(SelfRewardTest, ClassesAreWeighedEquallyAndTheBaseIsTheMean) {
  TrainData data = Data();
  data.groups[4][0].outcome = 1;  // 3 right, 1 wrong
  ASSERT_TRUE(AppendSelfRewards(kJudge, kEnd, 5, data).ok());
  const double none = std::numeric_limits<double>::quiet_NaN();
  EXPECT_NEAR(SetSelfRewards({.token = "!"}, {-20, -21, none, -22, -23}, data),
              -21.5, 1e-12);
  EXPECT_NEAR(data.groups[0][0].self_reward->weight, 0.2 * 4 / 6, 1e-12);
  EXPECT_NEAR(data.groups[1][0].self_reward->weight, 0.2 * 4 / 2, 1e-12);
  // Judgements of an untrained model hardly vary.
  EXPECT_EQ(data.groups[0][0].advantage, 0.75f);
}

TEST(SelfRewardTest, TokensThatCannotJudgeAreRefused) {
  const auto tokenizer = Tokenizer::Load(kJudgeModel).value();
  const auto find = [&](const std::string& token, int32_t end = kEnd) {
    return FindSelfRewardToken({.token = token}, *tokenizer, end);
  };
  EXPECT_EQ(find("!").value(), 33);
  EXPECT_THAT(std::string(find("!\"#$").status().message()),
              HasSubstr("expected one token"));
  EXPECT_THAT(std::string(find("<|end|>").status().message()),
              HasSubstr("ends responses"));
  EXPECT_THAT(std::string(find("!", -1).status().message()),
              HasSubstr("no eos_token_id"));
}

TEST(SelfRewardTest, TheWrittenFormatIsReadAgain) {
  std::string folder =
      (std::filesystem::temp_directory_path() / "self_XXXXXX").string();
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  const SelfRewardOptions options{.token = "!", .factor = 0.25};
  const std::string path = folder + "/" + kSelfRewardFile;
  ASSERT_TRUE(WriteFileAtomic(path, SelfRewardFormat(options, -12.5)).ok());
  const auto format = ReadRewardFormat(path);
  ASSERT_TRUE(format.ok()) << format.status();
  EXPECT_EQ(format->choices, std::vector<std::string>{"!"});
  EXPECT_EQ(format->log_prob, 0.25);
  EXPECT_EQ(format->log_prob_base, -12.5);

  SelfRewardOptions next = options;
  ASSERT_TRUE(TakeStoredBase(folder, next).ok());
  EXPECT_EQ(next.base, -12.5);
  next.factor = 0.1;
  EXPECT_THAT(std::string(TakeStoredBase(folder, next).message()),
              HasSubstr("--self-reward-factor 0.25"));
  SelfRewardOptions none{.token = "!"};
  EXPECT_TRUE(TakeStoredBase("models/zoo/stories", none).ok());
  EXPECT_EQ(none.base, 0);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace espalier
