// How a search ends that was stopped before it had an answer.
#include "search/finish.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "search/parts/rollout.h"
#include "tests/search/tree_world.h"

namespace espalier {
namespace {

class NeverStops : public Stopper {
  bool Stops(const SearchView&, std::string&) override { return false; }
};

// Writes what the test specifies for the path so far. Every step has four
// tokens.
class WrittenModel : public InlineModel {
 public:
  struct Written {
    std::string text;
    float logprob = -0.1f;
    bool last = false;
  };
  using Writer = std::function<Written(const std::string& path, int sample)>;
  explicit WrittenModel(Writer writer) : writer_(std::move(writer)) {}

  void Expand(SearchContext& ctx, NodeId node, const ExpandOptions& options,
              int first, Expansion& out) override {
    for (int i = 0; i < options.n; ++i) {
      const Written step = writer_(ctx.tree().Response(node), first + i);
      const int32_t k = ++made_;
      const int32_t tokens[] = {k, k, k, k};
      out.samples.push_back(
          ctx.AddSample(node, {.text = step.text,
                               .tokens = absl::MakeConstSpan(tokens),
                               .logprob = step.logprob,
                               .terminal = step.last}));
    }
  }
  StepScores Evaluate(const Tree& tree, NodeId node) override {
    const float score = tree.Response(node).rfind("good", 0) == 0 ? 0.9f : 0.1f;
    return {score, score};
  }
  bool Verify(const Tree&, NodeId) override { return false; }

 private:
  const Writer writer_;
  int32_t made_ = 0;
};

struct Ended {
  std::string answer;
  AnswerStage stage = AnswerStage::kNone;
  int64_t tokens = 0;
  bool terminal = false;
};

// Runs `method` and the finishing stage over `writer` with `tokens`, where a
// response is known to take ten steps of four tokens.
Ended Finish(const std::function<Co<>(SearchContext&)>& method,
             WrittenModel::Writer writer, int64_t tokens,
             const FinishPlan& plan = {.scores = true}) {
  const Problem problem{.id = "p", .question = "?"};
  const TreeWorldTask task(4);
  NeverStops stopper;
  WrittenModel model(std::move(writer));
  SearchContext ctx(problem, task, stopper,
                    {.tokens = tokens, .response_tokens = 40}, 1, &model);
  SearchDriver driver(ctx);
  Co<> search = RunAndFinish(ctx, method(ctx), plan);
  search.Start();
  driver.Advance();
  EXPECT_TRUE(search.done());
  Ended ended{.stage = driver.best_stage(), .tokens = ctx.usage().tokens};
  if (driver.best_node() != kNoNode) {
    ended.terminal = ctx.tree()[driver.best_node()].terminal();
    if (driver.best_answer() >= 0) {
      ended.answer = ctx.tree().answer_text(driver.best_answer());
    }
  }
  return ended;
}

// Ten steps of a path that is identified by its first step, then "= <it>".
WrittenModel::Written TenSteps(const std::string& path, int sample) {
  const int64_t steps = std::count(path.begin(), path.end(), '\n');
  if (steps == 0) return {sample == 0 ? "good\n" : "poor\n"};
  if (steps < 9) return {absl::StrCat("step ", steps, "\n")};
  return {absl::StrCat("= ", path.substr(0, 4), "\n"), -0.1f, true};
}

// Two first steps; the second path continues for `steps` more.
Co<> GrowTheSecond(SearchContext& ctx, int steps) {
  const Expansion both = co_await ctx.Expand(kRoot, {.n = 2});
  NodeId node = both.samples[1];
  for (int i = 0; i < steps; ++i) {
    const Expansion next = co_await ctx.Expand(node, {});
    if (next.samples.empty()) co_return;
    node = next.samples[0];
  }
}

Co<> Nothing(SearchContext&) { co_return; }

Co<> TwoSteps(SearchContext& ctx) { co_await ctx.Expand(kRoot, {.n = 2}); }

Co<> TwoInARow(SearchContext& ctx) {
  const Expansion first = co_await ctx.Expand(kRoot, {});
  co_await ctx.Expand(first.samples[0], {});
}

Co<> OneResponse(SearchContext& ctx) {
  const NodeId end = co_await Rollout(ctx, kRoot, 1);
  if (end != kNoNode) ctx.Offer(end, 1);
}

TEST(FinishTest, TakesTheMostPromisingThatCanBeFinished) {
  const auto grow = [](SearchContext& ctx) { return GrowTheSecond(ctx, 4); };
  // 24 tokens are spent; the good path needs 36 more, the poor one 20. Either
  // needs eight more in reserve.
  const Ended rich = Finish(grow, TenSteps, 24 + 36 + 8);
  EXPECT_EQ(rich.answer, "good");
  EXPECT_EQ(rich.stage, AnswerStage::kFinish);
  EXPECT_EQ(rich.tokens, 24 + 36);
  const Ended poor = Finish(grow, TenSteps, 24 + 36 + 7);
  EXPECT_EQ(poor.answer, "poor");
  EXPECT_EQ(poor.stage, AnswerStage::kFinish);
}

TEST(FinishTest, WithoutScoresThePolicysSurestGoesOn) {
  const auto unsure = [](const std::string& path, int sample) {
    WrittenModel::Written step = TenSteps(path, sample);
    if (path.rfind("good", 0) == 0 || step.text == "good\n") step.logprob = -9;
    return step;
  };
  EXPECT_EQ(Finish(TwoSteps, TenSteps, 100, {.scores = false}).answer, "good");
  EXPECT_EQ(Finish(TwoSteps, unsure, 100, {.scores = false}).answer, "poor");
  // With a reward model they are scored first.
  EXPECT_EQ(Finish(TwoSteps, unsure, 100, {.scores = true}).answer, "good");
}

TEST(FinishTest, ResponsesThatGiveUpAreToldFromNone) {
  const auto give_up = [](const std::string& path, int) {
    return path.empty() ? WrittenModel::Written{"step\n"}
                        : WrittenModel::Written{"give up\n", -0.1f, true};
  };
  const Ended ended = Finish(TwoInARow, give_up, 100);
  EXPECT_EQ(ended.stage, AnswerStage::kUnanswered);
  EXPECT_TRUE(ended.terminal);
  EXPECT_EQ(ended.answer, "");
  const Ended none = Finish(Nothing, TenSteps, 6);  // of the 40 it needs
  EXPECT_EQ(none.stage, AnswerStage::kNone);
  const Ended exempt = Finish(Nothing, TenSteps, 100, {.exempt = true});
  EXPECT_EQ(exempt.stage, AnswerStage::kNone);
  EXPECT_EQ(exempt.tokens, 0);
}

TEST(FinishTest, AnAnswerOfTheMethodsOwnStands) {
  const Ended ended = Finish(OneResponse, TenSteps, 400);
  EXPECT_EQ(ended.stage, AnswerStage::kMethod);
  EXPECT_EQ(ended.tokens, 40);
}

}  // namespace
}  // namespace espalier
