#include "src/learn/self_train.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "absl/strings/str_cat.h"
#include "base/config_file.h"
#include "base/files.h"
#include "datasets/tasks/task_registry.h"

namespace espalier {
namespace {

namespace fs = std::filesystem;

std::vector<bool> Bits(const std::string& text) {
  std::vector<bool> bits;
  for (const char c : text) bits.push_back(c == '1');
  return bits;
}

// Tails of Bin(n, 1/2) by hand: 5 of 5 is 1/32, 4 or more of 5 is 6/32.
TEST(GateTest, TheSignTestIsExact) {
  const GateVerdict all =
      CompareOneSided(Bits("1111100"), Bits("0000000"), 0.05);
  EXPECT_DOUBLE_EQ(all.p_value, 1.0 / 32);
  EXPECT_TRUE(all.promote);
  EXPECT_EQ(all.right_after, 5);
  const GateVerdict most =
      CompareOneSided(Bits("1111000"), Bits("0000100"), 0.05);
  EXPECT_DOUBLE_EQ(most.p_value, 6.0 / 32);
  EXPECT_EQ(most.gained, 4);
  EXPECT_EQ(most.lost, 1);
  EXPECT_FALSE(most.promote);
  EXPECT_TRUE(CompareOneSided(Bits("1111000"), Bits("0000100"), 0.2).promote);
}

TEST(GateTest, EqualOrWorseIsNotPromotedAtAnyLevel) {
  for (const double alpha : {0.05, 1.0}) {
    EXPECT_FALSE(CompareOneSided(Bits("10"), Bits("10"), alpha).promote);
    EXPECT_FALSE(CompareOneSided(Bits("10"), Bits("01"), alpha).promote);
    EXPECT_FALSE(CompareOneSided(Bits("00"), Bits("11"), alpha).promote);
  }
  EXPECT_NE(CompareOneSided(Bits("00"), Bits("11"), 0.05).reason.find("kept"),
            std::string::npos);
}

TEST(RecipeTest, ShippedRecipesAreReadAndComplete) {
  for (const char* name : {"expert_iteration", "rest_mcts_star"}) {
    const auto config =
        ReadConfig(std::string("tools/recipes/") + name + ".textproto");
    ASSERT_TRUE(config.ok()) << config.status();
    EXPECT_EQ(config->name, name);
    OptionParser parser(config->options);
    SelfTrainOptions options;
    options.Visit(parser);
    EXPECT_TRUE(parser.Finish(name).ok()) << parser.Finish(name);
  }
}

class SelfTrainTest : public testing::Test {
 protected:
  SelfTrainTest() {
    std::string name = (fs::temp_directory_path() / "self_XXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  ~SelfTrainTest() override { fs::remove_all(folder_); }
  std::string Path(const std::string& name) const {
    return (folder_ / name).string();
  }
  SelfTrainOptions Small(const std::string& out) const {
    SelfTrainOptions options;
    options.model = "models/zoo/countdown-base";
    options.out = Path(out);
    options.rounds = 2;
    options.problems = 20;
    options.budget_tokens = 150;
    options.batch_tokens = 400;
    options.epochs = 1;
    options.gate_problems = 30;
    options.gate_tokens = 200;
    options.alpha = 1;
    return options;
  }
  std::string Weights(const std::string& out) const {
    return ReadFile(Path(out) + "/model.safetensors").value();
  }

  fs::path folder_;
};

// Sets the stop flag at the `looks`-th request for a grade.
class StoppingVerifier : public Verifier {
 public:
  StoppingVerifier(const Verifier& inner, int looks, std::atomic<bool>& stop)
      : inner_(inner), looks_(looks), stop_(stop) {}
  std::string_view name() const override { return inner_.name(); }
  bool intrinsic() const override { return inner_.intrinsic(); }
  Verdict Check(const Problem& p, const Reference& r,
                std::string_view response) const override {
    if (looks_-- == 0) stop_ = true;
    return inner_.Check(p, r, response);
  }
  absl::StatusOr<std::vector<StepVerdict>> CheckSteps(
      const Problem& p, const Reference& r,
      std::string_view response) const override {
    return inner_.CheckSteps(p, r, response);
  }

 private:
  const Verifier& inner_;
  mutable int looks_;
  std::atomic<bool>& stop_;
};

TEST_F(SelfTrainTest, RoundsSearchTrainAndAreGated) {
  SelfTrainOptions options = Small("out");
  options.train_reward = true;
  options.quality = false;
  const auto rounds = SelfTrain(options, {});
  ASSERT_TRUE(rounds.ok()) << rounds.status();
  ASSERT_EQ(rounds->size(), 2u);
  for (const RoundSummary& s : *rounds) {
    EXPECT_EQ(s.searches, 20);
    EXPECT_GT(s.examples, 0);
    EXPECT_GT(s.reward_examples, s.examples);
    EXPECT_EQ(s.gate.n, 30);
  }
  EXPECT_TRUE(fs::exists(Path("out") + "/config.json"));
  // A second call finds everything done, or refuses different options.
  const auto again = SelfTrain(options, {});
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->size(), rounds->size());
  SelfTrainOptions foreign = options;
  foreign.work = Path("elsewhere");
  EXPECT_EQ(SelfTrain(foreign, {}).status().code(),
            absl::StatusCode::kAlreadyExists);
  fs::remove_all(Path("out"));
  ASSERT_TRUE(SelfTrain(options, {}).ok());
  fs::remove_all(Path("out"));
  options.problems = 21;
  EXPECT_EQ(SelfTrain(options, {}).status().code(),
            absl::StatusCode::kFailedPrecondition);
}

// Refused before a folder is created, so that the corrected command can run
// there.
TEST_F(SelfTrainTest, WrongInputIsRefusedBeforeWorkBegins) {
  const auto refused = [&](const SelfTrainOptions& options, const char* word) {
    const auto rounds = SelfTrain(options, {});
    ASSERT_FALSE(rounds.ok()) << word;
    EXPECT_NE(rounds.status().message().find(word), std::string::npos)
        << rounds.status();
    EXPECT_FALSE(fs::exists(Path("out.work"))) << word;
  };
  SelfTrainOptions options = Small("out");
  options.model = Path("none");
  refused(options, "none");
  options = Small("out");
  options.reward_model = "models/zoo/stories";
  refused(options, "tokenizer");
  std::string lines;
  for (int i = 1; i <= 40; ++i) {
    lines += "{\"question\":\"Use 1, 2 and " + std::to_string(i) +
             " to reach 3.\",\"answer\":\"3\"}\n";
  }
  ASSERT_TRUE(WriteFileAtomic(Path("set.jsonl"), lines).ok());
  options = Small("out");
  options.set = Path("set.jsonl");
  refused(options, "lower gate_problems");
  options.gate_problems = 5;
  options.rounds = 3;
  refused(options, "where round 3 begins");
  ASSERT_TRUE(WriteFileAtomic(Path("empty.jsonl"), "").ok());
  options.set = Path("empty.jsonl");
  refused(options, "no problems in it");
}

TEST_F(SelfTrainTest, PolicyAndRewardModelMayBeTrainedByAdapters) {
  SelfTrainOptions options = Small("out");
  options.rounds = 1;
  options.train_reward = true;
  options.lora_rank = 4;
  const auto rounds = SelfTrain(options, {});
  ASSERT_TRUE(rounds.ok()) << rounds.status();
  for (const char* model : {"round1-policy", "round1-reward"}) {
    const auto config = ReadFile(absl::StrCat(Path("out.work"), "/", model,
                                              "/adapter/adapter_config.json"));
    ASSERT_TRUE(config.ok()) << config.status();
    EXPECT_NE(config->find("\"r\": 4"), std::string::npos);
  }
}

TEST_F(SelfTrainTest, StoppedInAnyPhaseItEndsTheSame) {
  const auto whole = SelfTrain(Small("whole"), {});
  ASSERT_TRUE(whole.ok()) << whole.status();
  int stops = 0, calls = 0;
  // Work that restarts after each stop must eventually finish, on a busy
  // machine too: the time grows by a tenth.
  double wait = 8;  // ms
  while (true) {
    // First while searches are graded, later at any time, in any phase.
    ASSERT_LT(++calls, 200);
    std::atomic<bool> stop{false};
    std::thread clock([&] {
      if (calls < 8) return;
      std::this_thread::sleep_for(
          std::chrono::duration<double, std::milli>(wait));
      stop = true;
    });
    StoppingVerifier verifier(*FindVerifier("countdown").value(), 3 * calls,
                              stop);
    const auto rounds = SelfTrain(
        Small("broken"),
        {.stop = &stop, .search_verifier = calls < 8 ? &verifier : nullptr});
    clock.join();
    if (calls >= 8) wait *= 1.1;
    if (rounds.ok()) break;
    ASSERT_EQ(rounds.status().code(), absl::StatusCode::kCancelled)
        << rounds.status();
    ++stops;
  }
  EXPECT_GT(stops, 8);  // after the searches
  EXPECT_EQ(Weights("whole"), Weights("broken"));
}

// Rewards length: long responses count as correct.
class LengthVerifier : public Verifier {
 public:
  std::string_view name() const override { return "length"; }
  bool intrinsic() const override { return true; }
  Verdict Check(const Problem&, const Reference&,
                std::string_view response) const override {
    return {.correct = response.size() > 40};
  }
  absl::StatusOr<std::vector<StepVerdict>> CheckSteps(
      const Problem&, const Reference&, std::string_view) const override {
    return absl::UnimplementedError("no steps");
  }
};

TEST_F(SelfTrainTest, ARewardThatPaysForLengthIsCaughtByTheGate) {
  SelfTrainOptions options = Small("out");
  options.rounds = 1;
  options.problems = 100;
  options.epochs = 6;
  options.gate_problems = 100;
  options.alpha = 0.05f;
  const LengthVerifier length;
  const auto rounds = SelfTrain(options, {.search_verifier = &length});
  ASSERT_TRUE(rounds.ok()) << rounds.status();
  const GateVerdict& gate = (*rounds)[0].gate;
  EXPECT_LT(gate.right_after, gate.right_before) << gate.reason;
  EXPECT_FALSE(gate.promote);
  EXPECT_EQ(Weights("out"), ReadFile("models/zoo/countdown-base/"
                                     "model.safetensors")
                                .value());
}

TEST_F(SelfTrainTest, WrongSettingsAreRefusedBeforeAnythingIsWritten) {
  const auto refused = [&](SelfTrainOptions options, const std::string& word) {
    const auto rounds = SelfTrain(options, {});
    EXPECT_FALSE(rounds.ok()) << word;
    EXPECT_NE(rounds.status().message().find(word), std::string::npos)
        << rounds.status();
    EXPECT_FALSE(fs::exists(Path("out.work"))) << word;
  };
  SelfTrainOptions options = Small("out");
  options.set = "countdwn:3";
  refused(options, "countdown:3");
  options = Small("out");
  options.search = "majorty";
  refused(options, "majority");
  options = Small("out");
  options.gate_method = "gredy";
  refused(options, "greedy");
}

}  // namespace
}  // namespace espalier
