// Methods that are written against include/espalier alone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "absl/strings/str_cat.h"
#include "espalier/method.h"
#include "espalier/registry.h"
#include "tests/search/tree_world.h"

namespace espalier {
namespace {

using ::testing::HasSubstr;

struct NoOptions {
  void Visit(OptionVisitor&) {}
};

// What the project's own `greedy` does.
Co<> Greedy(MethodContext& search, const NoOptions&) {
  uint32_t node = kRoot;
  while (!search.tree().terminal(node) && !search.ShouldStop()) {
    const std::vector<uint32_t> steps =
        co_await search.Expand(node, {.temperature = 0});
    if (steps.empty()) break;
    node = steps[0];
  }
  search.Offer(node, 1);
}
const RegisterMethod<NoOptions> kGreedy(
    {.name = "outside_greedy",
     .summary = "one response at temperature 0",
     .when_to_use = "a test compares it with greedy"},
    &Greedy);

struct StepsOptions {
  int width = 4;
  int workers = 1;
  void Visit(OptionVisitor& v) {
    v.Int("width", &width, 1, 64, "steps to choose among");
    v.Int("workers", &workers, 1, 8, "paths written at the same time");
  }
  std::vector<std::string> Check() const {
    if (width * workers <= 128) return {};
    return {"width times workers is above 128"};
  }
};

// A part of a method that is a coroutine itself.
Co<uint32_t> BestStep(MethodContext& search, uint32_t node, int width) {
  const std::vector<uint32_t> steps =
      co_await search.Expand(node, {.n = width});
  if (steps.empty()) co_return node;
  co_await search.Score(steps);
  uint32_t best = steps[0];
  for (const uint32_t step : steps) {
    if (search.tree().scores(step).path > search.tree().scores(best).path) {
      best = step;
    }
  }
  co_return best;
}

Co<> Worker(MethodContext& search, const StepsOptions& options, float* best) {
  uint32_t node = kRoot;
  while (!search.tree().terminal(node) && !search.ShouldStop()) {
    const uint32_t next = co_await BestStep(search, node, options.width);
    if (next == node) co_return;
    node = next;
  }
  const float score = search.tree().scores(node).path;
  if (!search.tree().terminal(node) || score <= *best) co_return;
  *best = score;
  search.Offer(node, score);
}

Co<> BestSteps(MethodContext& search, const StepsOptions& options) {
  float best = -1;
  std::vector<Co<>> workers;
  for (int i = 0; i < options.workers; ++i) {
    workers.push_back(Worker(search, options, &best));
  }
  WhenAll all(workers);
  co_await all;
}
const RegisterMethod<StepsOptions> kBestSteps(
    {.name = "outside_best_steps",
     .summary = "the best of several steps, again and again",
     .when_to_use = "a test needs scores and workers",
     .scores = true},
    &BestSteps);

struct ThrowOptions {
  bool on = false;
  void Visit(OptionVisitor& v) { v.Flag("on", &on, "whether to throw"); }
};
Co<> Throws(MethodContext& search, const ThrowOptions& options) {
  const std::vector<uint32_t> steps = co_await search.Expand(kRoot, {});
  if (options.on) throw std::runtime_error("no such luck");
  if (!steps.empty()) search.Offer(steps[0], 0);
}
const RegisterMethod<ThrowOptions> kThrows(
    {.name = "outside_throws",
     .summary = "throws if told to",
     .when_to_use = "a test wants an exception"},
    &Throws);

TEST(OutsideMethodTest, GreedyFromOutsideIsTheBuiltInOne) {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    const TreeWorld world({.seed = seed, .branching = 3, .depth = 5});
    const SearchRun own = RunSearch("greedy", world, {.tokens = 100});
    const SearchRun outside =
        RunSearch("outside_greedy", world, {.tokens = 100});
    EXPECT_EQ(own.tree_text, outside.tree_text);
    EXPECT_EQ(own.answer, outside.answer);
    EXPECT_FALSE(own.answer.empty());
  }
}

TEST(OutsideMethodTest, WithAPerfectValueItFindsTheBestLeaf) {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    const TreeWorld world({.seed = seed,
                           .branching = 3,
                           .depth = 4,
                           .enumerate = true,
                           .scores = Scores::kBest});
    const SearchRun run =
        RunSearch("outside_best_steps:width=3", world, {.tokens = 1000});
    ASSERT_TRUE(run.status.ok()) << run.status;
    EXPECT_EQ(run.answer, world.best_answer());
  }
}

TEST(OutsideMethodTest, TheTreeDoesNotDependOnTheOrderOfReplies) {
  const TreeWorld world({.seed = 4, .branching = 4, .depth = 4});
  const auto tree = [&](uint64_t shuffle) {
    return RunSearch("outside_best_steps:workers=4", world,
                     {.tokens = 500, .shuffle = shuffle})
        .tree_text;
  };
  const std::string in_order = tree(0);
  for (uint64_t shuffle = 1; shuffle <= 5; ++shuffle) {
    EXPECT_EQ(tree(shuffle), in_order);
  }
}

TEST(OutsideMethodTest, BudgetsHoldAndOpenResponsesAreFinished) {
  const TreeWorld world({.seed = 4, .branching = 4, .depth = 6});
  for (const int64_t tokens : {6, 9, 20, 40}) {
    const SearchRun run =
        RunSearch("outside_best_steps:workers=4", world,
                  {.tokens = tokens, .more = {.response_tokens = 6}});
    EXPECT_LE(run.usage.tokens, tokens);
    EXPECT_FALSE(run.answer.empty()) << tokens;
  }
}

TEST(OutsideMethodTest, AnExceptionFailsTheSearch) {
  const TreeWorld world({});
  const SearchRun run =
      RunSearch("outside_throws:on=true", world, {.tokens = 100});
  EXPECT_THAT(std::string(run.status.message()), HasSubstr("no such luck"));
}

TEST(OutsideMethodTest, WrongOptionsAreRefused) {
  EXPECT_THAT(
      std::string(
          MakeAlgorithm("outside_best_steps:widht=3").status().message()),
      HasSubstr("width"));
  EXPECT_THAT(std::string(MakeAlgorithm("outside_best_steps:width=64:workers=8")
                              .status()
                              .message()),
              HasSubstr("above 128"));
}

TEST(OutsideMethodTest, ItIsListedWithItsOptions) {
  for (const MethodSummary& method : ListMethods()) {
    if (method.name != "outside_best_steps") continue;
    ASSERT_EQ(method.options.size(), 3u);  // width, workers, finish
    EXPECT_EQ(method.options[0].name, "width");
    EXPECT_EQ(method.options[0].value, "4");
    EXPECT_TRUE(method.scores);
    EXPECT_FALSE(method.verifies || method.grades);
    return;
  }
  FAIL() << "not listed";
}

}  // namespace
}  // namespace espalier
