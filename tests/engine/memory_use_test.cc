// How whole searches use the KV memory and the batches of a trunk.
#include <gtest/gtest.h>

#include <iostream>

#include "absl/strings/str_cat.h"
#include "models/schedule/trunk_backend.h"
#include "search/tree/check_tree.h"
#include "src/engine/runner.h"
#include "tests/engine/line_world.h"

namespace espalier {
namespace {

struct Use {
  BackendStats stats;
  int64_t leaves = 0;  // over all trees
  int64_t needed = 0;  // token positions, according to the trees
  double fill = 0;     // mean fill of batches of 64
  int pages = 0;       // held at the end of a search
};

// Tokens that the tree requires to be computed: the prompt; for every draw all
// tokens but the last; and the last token of a node once if it was scored or
// continued.
int64_t Needed(const Tree& tree, int64_t prompt) {
  int64_t needed = prompt;
  for (NodeId id = 1; id < tree.size(); ++id) {
    const Step& step = tree.step(id);
    needed += int64_t{step.draws} * (step.num_tokens - 1);
    if (tree[id].scored() || tree[id].expanded()) ++needed;
  }
  return needed;
}

Use Search(const std::string& method, int problems, int live,
           const SearchOptions& options, const TrunkBackendOptions& backing) {
  LineTrunk trunk;
  const LineTokenizer tokenizer;
  Executor executor(1);
  TrunkBackend backend(trunk, tokenizer, executor, backing);
  Runner runner({&backend, &tokenizer, &backend, &tokenizer}, executor, live);
  std::vector<Problem> questions;
  for (int i = 0; i < problems; ++i) {
    questions.push_back({absl::StrCat(i), "lines",
                         absl::StrCat("question ", i, std::string(90, 'x'))});
  }
  const LineWorldTask task;
  const auto algorithm = MakeAlgorithm(method);
  EXPECT_TRUE(algorithm.ok()) << algorithm.status();
  const RunHooks hooks;
  Use use;
  const absl::Status status = runner.Run(
      {.problems = questions,
       .task = &task,
       .algorithm = algorithm->get(),
       .options = &options,
       .hooks = &hooks,
       .on_done =
           [](size_t, SearchResult r) {
             EXPECT_TRUE(r.status.ok()) << r.status;
           },
       .on_tree =
           [&](size_t i, const Tree& tree) {
             for (NodeId id = 0; id < tree.size(); ++id) {
               use.leaves += tree[id].num_children == 0;
             }
             use.needed += Needed(
                 tree, static_cast<int64_t>(questions[i].question.size()) + 1);
             use.pages = backend.pool().used();
           }});
  EXPECT_TRUE(status.ok()) << status;
  use.stats = backend.stats();
  use.fill = static_cast<double>(trunk.rows_to_64) /
             static_cast<double>(64 * trunk.forwards);
  EXPECT_EQ(backend.pool().used(), 0) << method;
  EXPECT_EQ(backend.sequences().live(), 0) << method;
  return use;
}

double Share(int64_t part, int64_t whole) {
  return static_cast<double>(part) / static_cast<double>(whole);
}

// 256 MB are 341 pages: one leaf in thirty can keep its pages.
TEST(MemoryUseTest, TenThousandLeavesIn256MegabytesAreRarelyComputedTwice) {
  for (const char* method :
       {"best_first:score=logprob:branch=16", "best_first:score=reward",
        "best_first:score=logprob:branch=16:in_flight=8", "frontier",
        "frontier:width=4:in_flight=4"}) {
    const Use use = Search(method, 1, 1, {.max_tokens = 0, .max_nodes = 13500},
                           {.kv_bytes = int64_t{256} << 20});
    const BackendStats& s = use.stats;
    const double share = Share(s.tokens_recomputed, s.tokens_computed);
    std::cout << "figure: " << method << ": " << use.leaves << " leaves, "
              << s.tokens_computed << " tokens computed, " << 100 * share
              << " % again\n";
    EXPECT_LE(share, 0.15) << method;
    EXPECT_GE(use.leaves, 10000) << method;
    EXPECT_LE(use.pages, 341);
  }
}

TEST(MemoryUseTest, SixteenSearchesWithEightRequestsFillABatchOf64) {
  // This model's responses rarely end: finishing one would take half of the
  // budget, one row per search.
  for (const char* method :
       {"particle:particles=8:finish=false",
        "best_first:score=logprob:branch=16:in_flight=8:finish=false",
        "frontier:in_flight=8:finish=false"}) {
    const Use use =
        Search(method, 64, 16, {.max_tokens = 2000}, {.max_rows = 64});
    std::cout << "figure: " << method << ": batch fill " << 100 * use.fill
              << " %\n";
    EXPECT_GE(use.fill, 0.9) << method;
  }
}

TEST(MemoryUseTest, EveryTokenThatIsNeededIsComputedOnceOrShared) {
  for (const char* method :
       {"greedy", "majority", "weighted", "beam", "guided:width=2:accept=0.9",
        "dvts", "puct", "puct:in_flight=3", "uct:in_flight=4",
        // Finishing may continue from sequences that these had released.
        "best_first:score=logprob:branch=16:finish=false",
        "best_first:score=reward:in_flight=3:finish=false",
        "astar:finish=false", "frontier:finish=false",
        "frontier:in_flight=4:width=3:finish=false", "particle", "tot_bfs"}) {
    const Use use = Search(method, 12, 6, {.max_tokens = 3000},
                           {.kv_bytes = int64_t{8} << 30});
    const BackendStats& s = use.stats;
    EXPECT_EQ(s.tokens_needed, use.needed) << method;
    EXPECT_EQ(s.tokens_recomputed, 0) << method;
    EXPECT_EQ(s.tokens_computed, use.needed - s.tokens_shared) << method;
    std::cout << "figure: " << method << ": computed / needed "
              << Share(s.tokens_computed, use.needed) << ", shared "
              << 100 * Share(s.tokens_shared, use.needed) << " %\n";
  }
}

}  // namespace
}  // namespace espalier
