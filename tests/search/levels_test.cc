// With a reward model whose levels disagree, the answer of every method that
// reads scores is the one that the named level likes best: at whatever stage of
// the search it is chosen.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "search/tree/score_rule.h"
#include "tests/search/tree_world.h"

namespace espalier {
namespace {

constexpr int kSteps = 4;

// The first step of a response is one of two, and the last one states which:
// "= 1". The named level likes the responses that begin with step 1, and every
// other level, by a little, those that begin with step 0.
class DisagreeingModel : public InlineModel {
 public:
  static constexpr int kLiked = 1;

  explicit DisagreeingModel(Level named) : named_(named) {}
  void Expand(SearchContext& ctx, NodeId node, const ExpandOptions& options,
              int first_sample, Expansion& out) override {
    const Tree& tree = ctx.tree();
    const int depth = tree.step(node).depth;
    const bool begins = FirstStep(tree, node) < 0;
    for (int i = 0; i < options.n; ++i) {
      const int32_t token =
          begins ? (first_sample + i) % (kLiked + 1) : kLiked + 1 + depth;
      const std::string text =
          depth + 1 == kSteps ? absl::StrCat("= ", FirstStep(tree, node), "\n")
                              : absl::StrCat("s", token, "\n");
      out.samples.push_back(
          ctx.AddSample(node, {.text = text,
                               .tokens = absl::MakeConstSpan(&token, 1),
                               .logprob = -1.0f}));
    }
  }
  StepScores Evaluate(const Tree& tree, NodeId node) override {
    StepScores scores;
    const int first = FirstStep(tree, node);
    for (size_t l = 0; l < kLevels; ++l) {
      const auto level = static_cast<Level>(l);
      if (level == named_) {
        scores[level] = first == kLiked ? 0.9f : 0.3f;
      } else {
        scores[level] = first == 0 ? 0.52f : 0.5f;
      }
    }
    return scores;
  }
  bool Verify(const Tree&, NodeId) override { return false; }

 private:
  // -1: none yet. Some methods begin with a step of their own, without tokens.
  static int FirstStep(const Tree& tree, NodeId node) {
    for (const NodeId id : tree.Path(node)) {
      const auto tokens = tree.tokens(id);
      if (!tokens.empty() && tokens[0] <= kLiked) return tokens[0];
    }
    return -1;
  }
  const Level named_;
};

class LevelsNeverStop : public Stopper {
  bool Stops(const SearchView&, std::string&) override { return false; }
};

struct Outcome {
  std::string answer;
  AnswerStage stage = AnswerStage::kNone;
};

Outcome AnswerOf(const std::string& method, Level level,
                 const SearchBudget& budget) {
  const Problem problem{.id = "p", .question = "?"};
  const TreeWorldTask task;
  LevelsNeverStop stopper;
  DisagreeingModel model(level);
  SearchContext ctx(problem, task, stopper, budget, 3, &model);
  SearchDriver driver(ctx);
  const auto algorithm = MakeAlgorithm(method);
  EXPECT_TRUE(algorithm.ok()) << algorithm.status();
  Co<> search = (*algorithm)->Run(ctx);
  search.Start();
  driver.Advance();
  EXPECT_TRUE(driver.failure().ok()) << method << driver.failure();
  return {driver.best_answer() < 0
              ? ""
              : ctx.tree().answer_text(driver.best_answer()),
          driver.best_stage()};
}

// Methods whose options name a level.
std::vector<std::string> MethodsWithLevels() {
  std::vector<std::string> methods;
  for (const AlgorithmInfo* info : ListAlgorithms()) {
    const auto algorithm = info->make({});
    EXPECT_TRUE(algorithm.ok()) << info->name;
    const auto& needs = (*algorithm)->needs();
    const bool others =
        std::any_of(needs.begin(), needs.end(), [](RequestKind kind) {
          return kind != RequestKind::kExpand && kind != RequestKind::kEvaluate;
        });
    const auto options = (*algorithm)->options();
    const bool named =
        std::any_of(options.begin(), options.end(),
                    [](const OptionInfo& o) { return o.name == "level"; });
    // By their definitions the costs of A* and the rewards of RAP are scores of
    // steps.
    if (named && !others && info->name != "astar" && info->name != "rap") {
      methods.push_back(info->name);
    }
  }
  return methods;
}

const std::string& Name(Level level) {
  static const auto& names =
      *new std::vector<std::string>(kLevelNames.begin(), kLevelNames.end());
  return names[IndexOf(level)];
}

TEST(LevelsTest, EveryMethodChoosesByTheNamedLevel) {
  const std::vector<std::string> methods = MethodsWithLevels();
  EXPECT_GT(methods.size(), 20u);
  for (const std::string& method : methods) {
    for (size_t l = 0; l < kLevels; ++l) {
      const auto level = static_cast<Level>(l);
      const std::string spec = absl::StrCat(method, ":level=", Name(level));
      EXPECT_EQ(AnswerOf(spec, level, {.tokens = 400}).answer,
                absl::StrCat(DisagreeingModel::kLiked))
          << spec;
    }
  }
}

// Tokens for the first steps and one response: the most promising open path is
// finished.
TEST(LevelsTest, TheFinishingStageFollowsTheNamedLevel) {
  for (const std::string method : {"beam:branch=8", "tot_dfs:states=1", "dvts",
                                   "lookahead:k=0", "best_first"}) {
    for (size_t l = 0; l < kLevels; ++l) {
      const auto level = static_cast<Level>(l);
      const std::string spec = absl::StrCat(method, ":level=", Name(level));
      const Outcome outcome =
          AnswerOf(spec, level, {.tokens = 12, .response_tokens = kSteps});
      EXPECT_EQ(outcome.answer, absl::StrCat(DisagreeingModel::kLiked)) << spec;
      EXPECT_EQ(outcome.stage, AnswerStage::kFinish) << spec;
    }
  }
}

}  // namespace
}  // namespace espalier
