#include "search/parts/aggregate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/search/tree_world.h"

namespace espalier {
namespace {

NodeId AddScored(Tree& tree, NodeId parent, int token, float path, float step) {
  const int32_t tokens[] = {token};
  const NodeId node = tree.Add(parent, {.tokens = tokens});
  tree.step(node).path_score = path;
  tree.step(node).step_score = step;
  tree[node].flags |= kScored;
  return node;
}

constexpr Aggregate kAll[] = {Aggregate::kLast, Aggregate::kMin,
                              Aggregate::kProduct, Aggregate::kMean};

TEST(PathScoresTest, AreWhatTheWholePathComesTo) {
  Tree tree;
  RandomStream random(StreamKey(1, 2, 3, Purpose::kSelect));
  std::vector<NodeId> nodes = {kRoot};
  for (int i = 0; i < 300; ++i) {
    const NodeId parent = nodes[static_cast<size_t>(
        random.UniformDouble() * static_cast<double>(nodes.size()))];
    nodes.push_back(AddScored(tree, parent, i,
                              static_cast<float>(random.UniformDouble()),
                              static_cast<float>(random.UniformDouble())));
  }
  for (const Level level : {Level::kPath, Level::kStep}) {
    for (const Aggregate aggregate : kAll) {
      // Computed from the leaves up and from the root down.
      PathScores up(tree, level, aggregate), down(tree, level, aggregate);
      for (const NodeId node : nodes) {
        EXPECT_EQ(down.Of(node), AggregatePath(tree, node, level, aggregate));
      }
      for (size_t i = nodes.size(); i-- > 0;) {
        EXPECT_EQ(up.Of(nodes[i]),
                  AggregatePath(tree, nodes[i], level, aggregate));
      }
    }
  }
}

TEST(PathScoresTest, SeeNodesThatCameLater) {
  Tree tree;
  PathScores lowest(tree, Level::kPath, Aggregate::kMin);
  EXPECT_EQ(lowest.Of(kRoot), 1);
  NodeId node = kRoot;
  for (const float score : {0.9f, 0.4f, 0.6f}) {
    node = AddScored(tree, node, 1, score, 0);
    lowest.Of(node);
  }
  EXPECT_EQ(lowest.Of(node), 0.4f);
  EXPECT_EQ(lowest.Of(AddScored(tree, kRoot, 2, 0.7f, 0)), 0.7f);
}

// One move per node, so that a response has as many steps as allowed.
double Seconds(const std::string& method, int steps) {
  const Problem problem{.id = "p", .question = "?"};
  class LongTask : public TreeWorldTask {
   public:
    explicit LongTask(int steps) : format_{.max_steps = steps} {}
    const StepFormat& format() const override { return format_; }
    StepFormat format_;
  };
  class LongModel : public InlineModel {
   public:
    void Expand(SearchContext& ctx, NodeId node, const ExpandOptions& options,
                int, Expansion& out) override {
      const bool last =
          ctx.tree().step(node).depth + 1 == ctx.format().max_steps;
      for (int i = 0; i < options.n; ++i) {
        const int32_t token = ++made_;
        out.samples.push_back(
            ctx.AddSample(node, {.text = last ? "= 1\n" : "s\n",
                                 .tokens = absl::MakeConstSpan(&token, 1),
                                 .logprob = -0.1f,
                                 .terminal = last}));
      }
    }
    StepScores Evaluate(const Tree& tree, NodeId node) override {
      const float score = 0.5f + 0.3f * static_cast<float>(node % 7) / 7;
      return {score, tree[node].terminal() ? 0.9f : score};
    }
    bool Verify(const Tree&, NodeId) override { return false; }
    int32_t made_ = 0;
  };
  const LongTask task(steps);
  LongModel model;
  class Never : public Stopper {
    bool Stops(const SearchView&, std::string&) override { return false; }
  } stopper;
  SearchContext ctx(problem, task, stopper, SearchBudget(), 1, &model);
  SearchDriver driver(ctx);
  const auto algorithm = MakeAlgorithm(method);
  // CPU time of this process, as others use the machine too.
  const std::clock_t begin = std::clock();
  Co<> search = (*algorithm)->Run(ctx);
  search.Start();
  driver.Advance();
  EXPECT_TRUE(search.done());
  EXPECT_NE(driver.best_node(), kNoNode) << method;
  EXPECT_GE(ctx.usage().tokens, 2 * steps) << method;
  return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

TEST(PathScoresTest, TimeGrowsWithTheStepsAndNotWithTheirSquare) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  // Under sanitizers a coroutine that resumes at once stays on the stack of the
  // previous one, so times mean nothing.
  GTEST_SKIP() << "not under a sanitizer";
#endif
  constexpr int kSteps = 1000, kTimes = 32;
  for (const char* method :
       {"dvts:n=2:width=2:rounds=1", "lookahead:n=2:width=2:k=0:rounds=1",
        "particle:particles=2:rounds=1", "particle_gibbs:particles=2",
        "best_of_n:n=2", "weighted:n=2"}) {
    const std::string with =
        absl::StrCat(method, ":aggregate=product:finish=false");
    double few = 1e9, many = 1e9;
    for (int i = 0; i < 5; ++i) few = std::min(few, Seconds(with, kSteps));
    for (int i = 0; i < 2; ++i) {
      many = std::min(many, Seconds(with, kTimes * kSteps));
    }
    // Walking the path again at every step would take a thousand times as long.
    EXPECT_LT(many, 8 * kTimes * few) << method << " " << few << " " << many;
  }
}

}  // namespace
}  // namespace espalier
