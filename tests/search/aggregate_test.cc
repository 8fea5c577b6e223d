#include "search/parts/aggregate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>
#include <functional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/search/tree_world.h"

namespace espalier {
namespace {

NodeId AddScored(Tree& tree, NodeId parent, int token, float path, float step) {
  const int32_t tokens[] = {token};
  const NodeId node = tree.Add(parent, {.tokens = tokens});
  StepScores scores{.step = step, .path = path, .outcome = 1 - path};
  for (size_t w = 0; w < scores.windows.size(); ++w) {
    scores.windows[w] = path * static_cast<float>(w + 1) / 4;
  }
  tree.SetScores(node, scores);
  return node;
}

constexpr Aggregate kAll[] = {
    Aggregate::kLast, Aggregate::kMin,    Aggregate::kProduct, Aggregate::kMean,
    Aggregate::kMax,  Aggregate::kWindow, Aggregate::kLearned, Aggregate::kSum};

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
  tree.set_level_weights(ParseLevelWeights("step=1/window2=2").value());
  for (const Level level :
       {Level::kPath, Level::kStep, Level::kOutcome, Level::kWindow3}) {
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

// Every method that reads scores ranks nodes by the rule that is named.
TEST(TreeScoreTest, IsTheRulesValueInEveryMethod) {
  const Problem problem{.id = "p", .question = "?"};
  // Scores of the node: a function of its index.
  const auto scores_of = [](NodeId node) {
    StepScores scores;
    for (size_t l = 0; l < kLevels; ++l) {
      scores[static_cast<Level>(l)] =
          0.05f + 0.9f * static_cast<float>((node * 7 + l * 5) % 11) / 11;
    }
    return scores;
  };
  class Model : public InlineModel {
   public:
    explicit Model(std::function<StepScores(NodeId)> scores)
        : scores_(std::move(scores)) {}
    void Expand(SearchContext& ctx, NodeId node, const ExpandOptions& options,
                int, Expansion& out) override {
      const bool last = ctx.tree().step(node).depth == 5;
      for (int i = 0; i < options.n; ++i) {
        const int32_t token = ++made_;
        out.samples.push_back(
            ctx.AddSample(node, {.text = last ? "= 1\n" : "s\n",
                                 .tokens = absl::MakeConstSpan(&token, 1),
                                 .logprob = -0.1f,
                                 .terminal = last}));
      }
    }
    StepScores Evaluate(const Tree&, NodeId node) override {
      order.push_back(node);
      return scores_(node);
    }
    bool Verify(const Tree&, NodeId) override { return false; }
    std::vector<NodeId> order;

   private:
    std::function<StepScores(NodeId)> scores_;
    int32_t made_ = 0;
  };
  class Never : public Stopper {
    bool Stops(const SearchView&, std::string&) override { return false; }
  } stopper;
  const TreeWorldTask task;
  const LevelWeights weights = ParseLevelWeights("bias=1/window2=2").value();
  int changed = 0;
  for (const char* method :
       {"puct", "uct", "best_first", "tot_bfs", "ab_mcts_a", "mctsr",
        "mcts_star", "vm_mcts", "td_mcts", "rap", "astar", "frontier", "beam",
        "tot_dfs", "guided", "dvts", "lookahead", "particle"}) {
    for (const auto& [options, level, aggregate] :
         {std::tuple(":level=window2", Level::kWindow2, Aggregate::kLast),
          std::tuple(":level=outcome:aggregate=min", Level::kOutcome,
                     Aggregate::kMin),
          std::tuple(":aggregate=window", Level::kPath, Aggregate::kWindow),
          std::tuple(":aggregate=learned:weights=bias=1/window2=2",
                     Level::kPath, Aggregate::kLearned)}) {
      const auto algorithm =
          MakeAlgorithm(absl::StrCat(method, options)).value();
      Model model(scores_of);
      SearchContext ctx(problem, task, stopper, SearchBudget{.tokens = 60}, 1,
                        &model);
      SearchDriver driver(ctx);
      Co<> search = algorithm->Run(ctx);
      search.Start();
      driver.Advance();
      ASSERT_TRUE(driver.failure().ok()) << driver.failure();
      const Tree& tree = ctx.tree();
      int scored = 0;
      for (NodeId node = 1; node < tree.size(); ++node) {
        if (!tree[node].scored()) continue;
        std::vector<StepScores> path;
        for (const NodeId at : tree.Path(node)) {
          // Some methods score a step after those below it.
          const auto until =
              std::find(model.order.begin(), model.order.end(), node);
          if (std::find(model.order.begin(), until + 1, at) != until + 1) {
            path.push_back(scores_of(at));
          }
        }
        EXPECT_EQ(tree.score(node),
                  CombineScores(path, {level, aggregate}, weights))
            << method << options << " node " << node;
        EXPECT_EQ(tree.scores(node).path, scores_of(node).path);
        changed += tree.score(node) != tree.step(node).path_score;
        ++scored;
      }
      EXPECT_GT(scored, 5) << method;
    }
  }
  EXPECT_GT(changed, 500);
}

TEST(TreeScoreTest, GeneralOptionsAreNamedOnlyIfSet) {
  // Names of recorded runs stay what they were.
  const auto usual = MakeAlgorithm("puct").value();
  EXPECT_EQ(CanonicalMethod(*usual).find("level"), std::string::npos);
  EXPECT_EQ(CanonicalMethod(*usual).find("weights"), std::string::npos);
  const auto other = MakeAlgorithm("puct:level=step:aggregate=min").value();
  EXPECT_NE(CanonicalMethod(*other).find(":level=step:aggregate=min"),
            std::string::npos);
  EXPECT_EQ(CanonicalMethod(*MakeAlgorithm(CanonicalMethod(*other)).value()),
            CanonicalMethod(*other));
  EXPECT_FALSE(MakeAlgorithm("majority:level=path").ok());
  EXPECT_FALSE(MakeAlgorithm("puct:aggregate=sum").ok());
  EXPECT_TRUE(MakeAlgorithm("beam:aggregate=sum").ok());
  EXPECT_FALSE(MakeAlgorithm("beam:weights=stp=1").ok());
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
