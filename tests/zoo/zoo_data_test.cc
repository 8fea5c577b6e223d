#include "tools/zoo/zoo_data.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "absl/strings/str_split.h"
#include "datasets/tasks/task_registry.h"
#include "nlohmann/json.hpp"
#include "tools/zoo/zoo_family.h"

namespace espalier {
namespace {

std::vector<nlohmann::json> Lines(const ZooDataOptions& options) {
  const auto text = ZooDataLines(options);
  EXPECT_TRUE(text.ok()) << text.status();
  EXPECT_EQ(*text, *ZooDataLines(options));
  std::vector<nlohmann::json> lines;
  for (const absl::string_view line :
       absl::StrSplit(*text, '\n', absl::SkipEmpty())) {
    lines.push_back(nlohmann::json::parse(line.begin(), line.end()));
    EXPECT_EQ(lines.back().size(), 2u);
  }
  return lines;
}

// Every line is the solution of the problem at its position.
TEST(ZooDataTest, SolutionsAreJudgedCorrect) {
  for (const std::string& name : ZooFamilyNames()) {
    const ZooFamily* family = FindZooFamily(name).value();
    const Task* task = FindTask(family->task()).value();
    const Verifier* verifier = FindVerifier(family->task()).value();
    const auto lines = Lines({.family = name, .limit = 300, .solutions = true});
    ASSERT_EQ(lines.size(), 300u) << name;
    for (size_t i = 0; i < lines.size(); ++i) {
      const GradedProblem graded = family->Example(i, true).problem;
      EXPECT_EQ(lines[i]["prompt"], task->Render(graded.problem).value());
      const std::string response = lines[i]["completion"];
      const Verdict verdict =
          verifier->Check(graded.problem, graded.reference, response);
      EXPECT_TRUE(verdict.correct) << name << " " << i << verdict.reason;
      const auto steps =
          verifier->CheckSteps(graded.problem, graded.reference, response);
      ASSERT_TRUE(steps.ok()) << steps.status();
      for (const StepVerdict& step : *steps) {
        EXPECT_TRUE(step.step_ok && step.path_ok) << name << " " << i;
      }
    }
  }
}

// The base model was trained on 5,000 puzzles; a fifth of their walks was drawn
// so as to fail more often than not.
TEST(ZooDataTest, TheBaseHasAnEnd) {
  const auto all = Lines({.solutions = true});
  EXPECT_EQ(all.size(), 5000u);
  const auto seen = Lines({});
  EXPECT_GT(seen.size(), 4000u);
  EXPECT_LT(seen.size(), 4600u);
  // The lines used in training are the written ones, except for failing walks
  // and alternative solutions of the same puzzles.
  std::set<std::string> solutions;
  for (const auto& line : all) solutions.insert(line.dump());
  size_t same = 0;
  for (const auto& line : seen) same += solutions.contains(line.dump());
  EXPECT_GT(same, seen.size() * 9 / 10);
}

// Every written line is imitated in training from end to end.
TEST(ZooDataTest, LinesAreWhatTrainingImitates) {
  const ZooFamily* family = FindZooFamily("countdown-base").value();
  std::set<std::string> imitated;
  for (int i = 0; i < 20000; ++i) {
    RandomStream rng(
        StreamKey(1, static_cast<uint64_t>(i), 0, Purpose::kTrain));
    const ZooExample drawn = family->Draw(1, family->recipe().planted, rng);
    std::string response;
    for (const JudgedLine& line : drawn.lines) {
      response += line.imitate ? line.text + "\n" : "<not this>";
    }
    imitated.insert(drawn.problem.problem.question + "|" + response);
  }
  const Task* task = FindTask("countdown").value();
  const auto lines = Lines({.limit = 50});
  ASSERT_EQ(lines.size(), 50u);
  size_t found = 0;
  for (uint64_t i = 0; i < 100 && found < 50; ++i) {
    const Problem problem = family->Example(i, false).problem.problem;
    if (lines[found]["prompt"] != task->Render(problem).value()) continue;
    const std::string completion = lines[found]["completion"];
    EXPECT_TRUE(imitated.contains(problem.question + "|" + completion))
        << completion;
    ++found;
  }
  EXPECT_EQ(found, 50u);
}

TEST(ZooDataTest, WrongInputIsNamed) {
  const auto refused = [](const ZooDataOptions& options, const char* word) {
    const auto lines = ZooDataLines(options);
    ASSERT_FALSE(lines.ok());
    EXPECT_NE(lines.status().message().find(word), std::string::npos)
        << lines.status();
  };
  refused({.family = "countdown-bas"}, "\"countdown-base\"");
  refused({.family = "stories"}, "without end");
  refused({.limit = -3}, "--limit -3");
}

}  // namespace
}  // namespace espalier
