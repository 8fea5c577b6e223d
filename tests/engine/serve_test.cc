// Searches that come one by one, each with its own method, budget and seed.
#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "models/fake/byte_tokenizer.h"
#include "models/fake/script_task.h"
#include "models/fake/scripted_backend.h"
#include "src/engine/runner.h"
#include "tests/engine/every_method.h"

namespace espalier {
namespace {

// A job with all that it refers to.
struct TestedJob {
  TestedJob(const std::string& method, int number, int64_t tokens)
      : problem{absl::StrCat("p", number), "script",
                absl::StrCat("problem ", number)},
        options{.method = method,
                .max_tokens = tokens,
                .seed = static_cast<uint64_t>(number),
                .keep_tree = true} {
    auto made = MakeAlgorithm(method);
    EXPECT_TRUE(made.ok()) << made.status();
    algorithm = *std::move(made);
    hooks.stop = &stop;
  }

  RunnerJob AsRunnerJob() {
    return {.problems = absl::MakeConstSpan(&problem, 1),
            .task = &task,
            .algorithm = algorithm.get(),
            .options = &options,
            .hooks = &hooks,
            .on_done = [this](size_t, SearchResult r) {
              ++done;
              result = std::move(r);
            }};
  }

  Problem problem;
  SearchOptions options;
  ScriptTask task;
  std::unique_ptr<SearchAlgorithm> algorithm;
  RunHooks hooks;
  std::atomic<bool> stop = false;
  int done = 0;
  SearchResult result;
};

std::string TextOf(const SearchResult& result) {
  std::string text = absl::StrCat(result.answer, "|", result.response, "|",
                                  result.tokens, "|", result.score);
  for (const TreeNode& node : result.tree) {
    absl::StrAppend(&text, ";", node.parent, "|", node.text, "|", node.visits,
                    "|", node.draws, "|", node.path_score);
  }
  return text;
}

class World {
 public:
  explicit World(int live = 4, int max_delay = 0)
      : backend_({.max_delay = max_delay}),
        executor_(2),
        runner_({&backend_, &tokenizer_, &backend_, &tokenizer_}, executor_,
                live) {}
  ~World() { EXPECT_EQ(backend_.live_sequences(), 0); }

  // Serves the jobs; `free`: how many calls give none between two.
  void Serve(const std::vector<TestedJob*>& jobs, int free) {
    size_t next = 0;
    int pause = 0;
    runner_.Serve([&](bool wait) -> std::shared_ptr<const RunnerJob> {
      if (next == jobs.size() || (!wait && ++pause % (free + 1) != 0)) {
        return nullptr;
      }
      return std::make_shared<RunnerJob>(jobs[next++]->AsRunnerJob());
    });
  }
  Runner& runner() { return runner_; }

 private:
  ScriptedBackend backend_;
  ByteTokenizer tokenizer_;
  Executor executor_;
  Runner runner_;
};

TEST(Serve, EveryMethodAnswersAsAlone) {
  std::vector<std::unique_ptr<TestedJob>> jobs;
  std::vector<TestedJob*> all;
  std::vector<std::string> alone;
  int number = 0;
  for (const std::string& method : EveryMethod()) {
    if ((*MakeAlgorithm(method))->models() > 1) continue;
    ++number;
    TestedJob one(method, number, 150 + 10 * (number % 7));
    {
      World world(1);
      ASSERT_TRUE(world.runner().Run(one.AsRunnerJob()).ok()) << method;
    }
    alone.push_back(TextOf(one.result));
    jobs.push_back(
        std::make_unique<TestedJob>(method, number, one.options.max_tokens));
    all.push_back(jobs.back().get());
  }
  ASSERT_GT(all.size(), 30u);
  World world(/*live=*/5, /*max_delay=*/3);
  world.Serve(all, /*free=*/2);
  for (size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(all[i]->done, 1) << all[i]->options.method;
    EXPECT_EQ(TextOf(all[i]->result), alone[i]) << all[i]->options.method;
  }
}

TEST(Serve, AJobThatCannotRunLeavesTheOthersAlone) {
  TestedJob good("greedy", 1, 100), bad("omega_prm", 2, 100),
      other("beam", 3, 100);
  World world;
  world.Serve({&good, &bad, &other}, 0);
  EXPECT_TRUE(good.result.status.ok());
  EXPECT_FALSE(bad.result.status.ok());
  EXPECT_EQ(bad.done, 1);
  EXPECT_TRUE(other.result.status.ok());
  EXPECT_FALSE(other.result.answer.empty());
}

TEST(Serve, AStopEndsOneSearch) {
  TestedJob stopped("puct", 1, 1000000), other("beam", 2, 100);
  int calls = 0;
  stopped.hooks.progress_interval = 0;
  stopped.hooks.on_progress = [&](size_t, const SearchSnapshot& shot) {
    if (++calls == 3) stopped.stop = true;
    EXPECT_GE(shot.tokens, 0);
  };
  World world;
  world.Serve({&stopped, &other}, 0);
  EXPECT_EQ(stopped.result.stop_reason, kStoppedFromOutside);
  EXPECT_LT(stopped.result.tokens, 1000000);
  EXPECT_NE(other.result.stop_reason, kStoppedFromOutside);
}

// The longest response of the tree in tokens: the script's are bytes.
size_t LongestPath(const std::vector<TreeNode>& tree) {
  std::vector<size_t> length(tree.size());
  size_t longest = 0;
  for (size_t i = 1; i < tree.size(); ++i) {
    length[i] =
        length[static_cast<size_t>(tree[i].parent)] + tree[i].text.size();
    longest = std::max(longest, length[i]);
  }
  return longest;
}

TEST(Serve, NoResponseIsLongerThanAsked) {
  size_t cut = 0;
  for (const std::string& method : EveryMethod()) {
    if ((*MakeAlgorithm(method))->models() > 1) continue;
    for (const int64_t most : {7, 25}) {
      TestedJob job(method, 1, 400);
      job.options.max_response_tokens = most;
      World world(1);
      ASSERT_TRUE(world.runner().Run(job.AsRunnerJob()).ok()) << method;
      EXPECT_TRUE(job.result.status.ok()) << method << job.result.status;
      EXPECT_LE(job.result.response_tokens, most) << method;
      EXPECT_LE(LongestPath(job.result.tree), static_cast<size_t>(most))
          << method;
      cut += LongestPath(job.result.tree) == static_cast<size_t>(most);
    }
  }
  EXPECT_GT(cut, 10u);
}

TEST(Serve, CountsTheResponsesTokens) {
  TestedJob job("greedy", 1, 400);
  World world(1);
  ASSERT_TRUE(world.runner().Run(job.AsRunnerJob()).ok());
  EXPECT_FALSE(job.result.response.empty());
  EXPECT_EQ(job.result.response_tokens, job.result.tokens);
}

}  // namespace
}  // namespace espalier
