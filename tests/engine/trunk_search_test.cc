// Searches over a real trunk with random weights: trees do not depend on the
// threads, the live searches or the KV memory, and no token is computed twice.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "absl/strings/str_cat.h"
#include "models/schedule/trunk_backend.h"
#include "models/trunk/trunk.h"
#include "search/tree/check_tree.h"
#include "src/engine/runner.h"
#include "tests/engine/one_coroutine.h"
#include "tests/models/testing/plain_network.h"
#include "tests/models/testing/random_checkpoint.h"

namespace espalier {
namespace {

constexpr int32_t kEnd = 15;

// Sixteen tokens: the output of a random model splits into short lines.
class SmallTokenizer : public Tokenizer {
 public:
  absl::StatusOr<std::vector<int32_t>> Encode(std::string_view text,
                                              bool) const override {
    std::vector<int32_t> ids;
    for (const char c : text) {
      ids.push_back(static_cast<int32_t>(kBytes.find(c)));
    }
    return ids;
  }
  std::string_view TokenBytes(int32_t id) const override {
    if (id == kEnd) return "";
    return std::string_view(kBytes).substr(static_cast<size_t>(id), 1);
  }
  int vocab_size() const override { return 16; }

 private:
  const std::string kBytes = "\n= 0123456789+-";
};

class LineTask : public Task {
 public:
  std::string_view name() const override { return "lines"; }
  absl::StatusOr<std::string> Render(const Problem& p) const override {
    return p.question + "\n";
  }
  const StepFormat& format() const override { return format_; }
  std::optional<std::string> FindAnswer(std::string_view r) const override {
    return std::string(r.substr(0, 3));
  }
  bool SameAnswer(std::string_view a, std::string_view b) const override {
    return a == b;
  }

 private:
  const StepFormat format_{.max_step_tokens = 40, .max_steps = 12};
};

struct SearchRun {
  std::map<size_t, std::string> trees;
  int64_t needed = 0;    // token positions that had to be computed
  int64_t computed = 0;  // counted by the backend
  int64_t shared = 0;    // by samples that had the same tokens so far
  int64_t recomputed = 0;
};

// Tokens that the tree requires to be computed: for every draw all tokens but
// the last, and the last token of a node once if it was scored or continued.
int64_t NeededTokens(const Tree& tree, int64_t prompt) {
  int64_t needed = prompt;
  for (NodeId id = 1; id < tree.size(); ++id) {
    const Node& node = tree[id];
    const Step& step = tree.step(id);
    needed += int64_t{step.draws} * (step.num_tokens - 1);
    if (node.scored() || node.expanded()) ++needed;
  }
  return needed;
}

SearchRun RunAll(Trunk& trunk, const std::string& method, int threads, int live,
                 int64_t kv_bytes = 256 << 20) {
  const SmallTokenizer tokenizer;
  Executor executor(threads);
  TrunkBackend backend(trunk, tokenizer, executor, {.kv_bytes = kv_bytes});
  Runner runner({&backend, &tokenizer, &backend, &tokenizer}, executor, live);
  std::vector<Problem> problems;
  for (int i = 0; i < 24; ++i) {
    problems.push_back(
        {absl::StrCat(i), "s", absl::StrCat(100 + i * 7, "+", i, " = 0")});
  }
  const LineTask task;
  const auto algorithm = MakeAlgorithm(method).value();
  const SearchOptions options{.max_tokens = 300, .seed = 5};
  const RunHooks hooks;
  SearchRun run;
  const absl::Status status = runner.Run(
      {.problems = problems,
       .task = &task,
       .algorithm = algorithm.get(),
       .options = &options,
       .hooks = &hooks,
       .on_done =
           [&](size_t, SearchResult r) {
             EXPECT_TRUE(r.status.ok()) << r.status;
           },
       .on_tree =
           [&](size_t i, const Tree& tree) {
             EXPECT_TRUE(CheckTree(tree).ok());
             std::string text;
             for (NodeId id = 0; id < tree.size(); ++id) {
               absl::StrAppend(&text, std::string(tree.text(id)), "|",
                               tree.step(id).logprob, "|",
                               tree.step(id).path_score, "|", tree[id].q, "|",
                               tree[id].visits, ";");
             }
             run.trees[i] = text;
             const int64_t prompt =
                 static_cast<int64_t>(problems[i].question.size() + 1);
             run.needed += NeededTokens(tree, prompt);
           }});
  EXPECT_TRUE(status.ok()) << status;
  run.computed = backend.stats().tokens_computed;
  run.shared = backend.stats().tokens_shared;
  run.recomputed = backend.stats().tokens_recomputed;
  EXPECT_EQ(backend.sequences().live(), 0) << method;
  EXPECT_EQ(backend.pool().used(), 0) << method;
  return run;
}

class RandomTrunk : public testing::Test {
 protected:
  void SetUp() override {
    TrunkConfig config = TinyConfig();
    config.vocab_size = 16;
    config.end_token = kEnd;
    config.reward_head = true;
    config.context_length = 1024;
    const std::string folder = TempFolder();
    ASSERT_TRUE(WriteRandomCheckpoint(folder, config, 21).ok());
    trunk_ = Trunk::Load(folder).value();
  }
  std::unique_ptr<Trunk> trunk_;
};
class TrunkSearchTest : public RandomTrunk,
                        public testing::WithParamInterface<const char*> {};

TEST_P(TrunkSearchTest, SameTreesWhateverTheThreadsAndConcurrentSearches) {
  const SearchRun base = RunAll(*trunk_, GetParam(), 1, 1);
  EXPECT_EQ(base.trees.size(), 24u);
  EXPECT_EQ(RunAll(*trunk_, GetParam(), 2, 32).trees, base.trees);
  EXPECT_EQ(RunAll(*trunk_, GetParam(), 1, 7).trees, base.trees);
}

TEST_P(TrunkSearchTest, EveryTokenIsComputedOnce) {
  for (const int live : {1, 32}) {
    const SearchRun run = RunAll(*trunk_, GetParam(), 2, live);
    EXPECT_EQ(run.computed, run.needed - run.shared);
    EXPECT_EQ(run.recomputed, 0);
  }
}

TEST_P(TrunkSearchTest, LittleMemoryCostsTimeAndChangesNothing) {
  const SearchRun base = RunAll(*trunk_, GetParam(), 1, 1);
  const TrunkConfig& c = trunk_->config();
  const int64_t page =
      int64_t{c.layers} * c.kv_heads * c.head_dim * 2 * kPageSlots * 4;
  const SearchRun small = RunAll(*trunk_, GetParam(), 1, 1, 40 * page);
  EXPECT_EQ(small.trees, base.trees);
}

// Scores that were read step by step, in one pass over the new tokens, are
// those of a plain pass over the whole path at every level.
TEST(LevelSearchTest, EveryLevelIsThatOfOneFullPass) {
  TrunkConfig config = TinyConfig();
  config.vocab_size = 16;
  config.end_token = kEnd;
  config.reward_outputs = {Level::kWindow2, Level::kStep,
                           LevelSet(Level::kPath) | Level::kOutcome};
  config.head_labels = 3;
  const std::string folder = TempFolder();
  ASSERT_TRUE(WriteRandomCheckpoint(folder, config, 22).ok());
  const auto trunk = Trunk::Load(folder, {.weights = WeightChoice::kFp32});
  ASSERT_TRUE(trunk.ok()) << trunk.status();
  const PlainNetwork plain(folder);
  const SmallTokenizer tokenizer;
  const LineTask task;
  const std::vector<Problem> problems = {{"0", "s", "12+3 = 0"}};
  const auto logistic = [](double z) { return 1 / (1 + std::exp(-z)); };
  Executor executor(1);
  TrunkBackend backend(**trunk, tokenizer, executor);
  EXPECT_EQ(backend.capabilities().levels,
            kStepAndPath | Level::kOutcome | Level::kWindow2);
  Runner runner({&backend, &tokenizer, &backend, &tokenizer}, executor, 1);
  const RunHooks hooks;
  int compared = 0;
  for (const char* method : {"beam:level=window2:aggregate=min",
                             "puct:level=outcome", "uct:aggregate=window"}) {
    const auto algorithm = MakeAlgorithm(method).value();
    const SearchOptions options{.max_tokens = 150, .seed = 5};
    const absl::Status status = runner.Run(
        {.problems = problems,
         .task = &task,
         .algorithm = algorithm.get(),
         .options = &options,
         .hooks = &hooks,
         .on_done =
             [](size_t, SearchResult r) {
               EXPECT_TRUE(r.status.ok()) << r.status;
             },
         .on_tree =
             [&](size_t, const Tree& tree) {
               for (NodeId id = 1; id < tree.size(); ++id) {
                 if (!tree[id].scored()) continue;
                 std::vector<int32_t> tokens =
                     tokenizer.Encode(task.Render(problems[0]).value(), true)
                         .value();
                 for (const NodeId at : tree.Path(id)) {
                   const auto more = tree.tokens(at);
                   tokens.insert(tokens.end(), more.begin(), more.end());
                 }
                 const PlainNetwork::Row z =
                     plain.Scores(plain.Hidden(tokens).back());
                 ASSERT_EQ(z.size(), 3u);
                 const StepScores scores = tree.scores(id);
                 EXPECT_NEAR(scores.windows[0], logistic(z[0]), 1e-4);
                 EXPECT_NEAR(scores.step, logistic(z[1]), 1e-4);
                 EXPECT_NEAR(scores.path, logistic(z[2]), 1e-4);
                 EXPECT_EQ(scores.outcome, scores.path);
                 EXPECT_TRUE(std::isnan(scores.windows[1]));
                 ++compared;
               }
             }});
    EXPECT_TRUE(status.ok()) << method << status;
  }
  EXPECT_GT(compared, 20);
  // Levels that it lacks.
  const auto algorithm = MakeAlgorithm("puct:level=window3").value();
  const SearchOptions options{.max_tokens = 50};
  const absl::Status refused =
      runner.Run({.problems = problems,
                  .task = &task,
                  .algorithm = algorithm.get(),
                  .options = &options,
                  .hooks = &hooks,
                  .on_done = [](size_t, SearchResult) {}});
  EXPECT_EQ(refused.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_NE(refused.message().find("window3"), absl::string_view::npos);
}

// An ensemble is read in the same pass; a search with lower_confidence sees the
// mean of the heads' probabilities less their standard deviations.
TEST(LevelSearchTest, AnEnsembleLowersWhatItsHeadsDisagreeAbout) {
  TrunkConfig config = TinyConfig();
  config.vocab_size = 16;
  config.end_token = kEnd;
  config.reward_outputs = {Level::kStep, Level::kPath};
  config.reward_ensemble = 3;
  config.head_labels = 6;
  const std::string folder = TempFolder();
  ASSERT_TRUE(WriteRandomCheckpoint(folder, config, 23).ok());
  const auto trunk = Trunk::Load(folder, {.weights = WeightChoice::kFp32});
  ASSERT_TRUE(trunk.ok()) << trunk.status();
  const PlainNetwork plain(folder);
  const SmallTokenizer tokenizer;
  const LineTask task;
  const std::vector<Problem> problems = {
      {"0", "s", "12+3 = 0"}, {"1", "s", "3+12 = 0"}, {"2", "s", "1+2 = 0"}};
  Executor executor(1);
  TrunkBackend backend(**trunk, tokenizer, executor);
  EXPECT_EQ(backend.capabilities().levels, kStepAndPath.WithSpread());
  Runner runner({&backend, &tokenizer, &backend, &tokenizer}, executor, 1);
  const RunHooks hooks;
  int compared = 0;
  double widest = 0;
  // A method with a rule of its own, one with a general rule, one that reads
  // scores as they are.
  for (const auto& [method, b] :
       {std::pair("beam:aggregate=mean", 0.0),
        std::pair("beam:aggregate=mean:lower_confidence=1.5", 1.5),
        std::pair("puct:aggregate=min:lower_confidence=1", 1.0),
        std::pair("rap:lower_confidence=4", 4.0)}) {
    const auto algorithm = MakeAlgorithm(method).value();
    const SearchOptions options{.max_tokens = 150, .seed = 5};
    const auto compare = [&, b = b](size_t i, const Tree& tree) {
      for (NodeId id = 1; id < tree.size(); ++id) {
        if (!tree[id].scored()) continue;
        std::vector<int32_t> tokens =
            tokenizer.Encode(task.Render(problems[i]).value(), true).value();
        for (const NodeId at : tree.Path(id)) {
          const auto more = tree.tokens(at);
          tokens.insert(tokens.end(), more.begin(), more.end());
        }
        const PlainNetwork::Row z = plain.Scores(plain.Hidden(tokens).back());
        ASSERT_EQ(z.size(), 6u);
        const auto lower = [&](size_t output) {
          double sum = 0, squares = 0;
          for (size_t head = 0; head < 3; ++head) {
            const double p = 1 / (1 + std::exp(-z[2 * head + output]));
            sum += p;
            squares += p * p;
          }
          const double mean = sum / 3;
          const double spread =
              std::sqrt(std::max(0.0, squares / 3 - mean * mean));
          widest = std::max(widest, spread);
          return std::max(0.0, mean - b * spread);
        };
        EXPECT_NEAR(tree.scores(id).step, lower(0), 1e-4);
        EXPECT_NEAR(tree.scores(id).path, lower(1), 1e-4);
        ++compared;
      }
    };
    const absl::Status status = runner.Run({.problems = problems,
                                            .task = &task,
                                            .algorithm = algorithm.get(),
                                            .options = &options,
                                            .hooks = &hooks,
                                            .on_done =
                                                [](size_t, SearchResult r) {
                                                  EXPECT_TRUE(r.status.ok())
                                                      << r.status;
                                                },
                                            .on_tree = compare});
    EXPECT_TRUE(status.ok()) << method << status;
  }
  EXPECT_GT(compared, 20);
  EXPECT_GT(widest, 0.01);
}

// A tree of single tokens: the hidden state that each was drawn from must
// reproduce its log-prob.
Co<> AskTrunkForHidden(SearchContext& ctx) {
  const Expansion first =
      co_await ctx.Expand(kRoot, {.n = 3, .max_tokens = 1, .hidden = true});
  for (const NodeId node : first.samples) {
    const Expansion second =
        co_await ctx.Expand(node, {.n = 2, .max_tokens = 1, .hidden = true});
    co_await ctx.Expand(second.samples[0], {.max_tokens = 1});
  }
}

// ln p of every token.
std::vector<double> LogProbs(Trunk& trunk, absl::Span<const float> hidden,
                             Executor& executor) {
  std::vector<float> logits(16);
  trunk.Logits(hidden.data(), 1, logits.data(), executor);
  double sum = 0;
  for (const float one : logits) sum += std::exp(static_cast<double>(one));
  std::vector<double> out;
  for (const float one : logits) out.push_back(one - std::log(sum));
  return out;
}

// Passes the tree that `coroutine` grows with `trunk` to `look`.
void GrowTree(Trunk& trunk, Co<> (*coroutine)(SearchContext&),
              const std::function<void(const Tree&, Executor&)>& look) {
  Executor executor(1);
  const SmallTokenizer tokenizer;
  TrunkBackend backend(trunk, tokenizer, executor);
  Runner runner({&backend, &tokenizer, &backend, &tokenizer}, executor, 1);
  const std::vector<Problem> problems = {{"p", "lines", "1+2"}};
  const RunHooks hooks;
  const SearchOptions options;
  const LineTask task;
  const OneCoroutine algorithm(coroutine);
  ASSERT_TRUE(
      runner
          .Run({.problems = problems,
                .task = &task,
                .algorithm = &algorithm,
                .options = &options,
                .hooks = &hooks,
                .on_done =
                    [](size_t, SearchResult r) {
                      EXPECT_TRUE(r.status.ok()) << r.status;
                    },
                .on_tree = [&](size_t,
                               const Tree& tree) { look(tree, executor); }})
          .ok());
}

TEST_F(RandomTrunk, HiddenStatesAreThoseThatTheTokensWereDrawnFrom) {
  int told = 0, silent = 0;
  GrowTree(*trunk_, &AskTrunkForHidden,
           [&](const Tree& tree, Executor& executor) {
             for (NodeId id = 1; id < tree.size(); ++id) {
               const auto hidden = tree.hidden(id);
               ++(hidden.empty() ? silent : told);
               if (hidden.empty()) continue;
               ASSERT_EQ(static_cast<int>(hidden.size()),
                         trunk_->config().hidden_size);
               const auto token = static_cast<size_t>(tree.tokens(id)[0]);
               EXPECT_NEAR(tree.step(id).logprob,
                           LogProbs(*trunk_, hidden, executor)[token], 1e-5);
             }
           });
  EXPECT_GT(told, 1);
  EXPECT_GT(silent, 0);  // tokens without requested hidden states
}

// Steps of several tokens, then single tokens with their hidden state.
Co<> AskForAlternatives(SearchContext& ctx) {
  const Expansion first = co_await ctx.Expand(
      kRoot, {.n = 8, .temperature = 20, .max_tokens = 5, .alternatives = 3});
  for (const NodeId node : first.samples) {
    co_await ctx.Expand(node, {.n = 2,
                               .temperature = 20,
                               .max_tokens = 1,
                               .alternatives = 40,
                               .hidden = true});
    co_await ctx.Expand(node, {.temperature = 0, .max_tokens = 1});
  }
}

TEST_F(RandomTrunk, AlternativesAreTheTopTokensOfEachPlace) {
  int several = 0, all = 0, silent = 0;
  GrowTree(
      *trunk_, &AskForAlternatives, [&](const Tree& tree, Executor& executor) {
        for (NodeId id = 1; id < tree.size(); ++id) {
          const auto top = tree.alternatives(id);
          const auto tokens = tree.tokens(id);
          if (top.empty()) {
            ++silent;
          } else if (tree[id].parent == kRoot) {
            several += tokens.size() > 1 ? 1 : 0;
            ASSERT_EQ(top.size(), 3 * tokens.size());
            // ln p of a drawn token where it is among them.
            double sum = 0;
            bool every = true;
            for (size_t i = 0; i < tokens.size(); ++i) {
              const auto place = top.subspan(3 * i, 3);
              EXPECT_GE(place[0].logprob, place[1].logprob);
              EXPECT_GE(place[1].logprob, place[2].logprob);
              const auto drawn = std::find_if(
                  place.begin(), place.end(),
                  [&](TokenLogprob t) { return t.token == tokens[i]; });
              every &= drawn != place.end();
              if (drawn != place.end()) sum += drawn->logprob;
            }
            if (every) {
              EXPECT_NEAR(sum, tree.step(id).logprob, 1e-5);
            }
          } else {
            // More than there are tokens: all 16, most likely first.
            ++all;
            ASSERT_EQ(top.size(), 16u);
            const auto logprobs = LogProbs(*trunk_, tree.hidden(id), executor);
            for (size_t i = 0; i < top.size(); ++i) {
              EXPECT_NEAR(top[i].logprob,
                          logprobs[static_cast<size_t>(top[i].token)], 1e-5);
              if (i > 0) {
                EXPECT_GE(top[i - 1].logprob, top[i].logprob);
              }
            }
          }
        }
      });
  EXPECT_GT(several, 0);
  EXPECT_GT(all, 1);
  EXPECT_GT(silent, 0);  // tokens without requested alternatives
}

INSTANTIATE_TEST_SUITE_P(Methods, TrunkSearchTest,
                         testing::Values("greedy", "majority", "weighted",
                                         "beam", "guided:width=2:accept=0.9",
                                         "puct", "puct:in_flight=3"));

}  // namespace
}  // namespace espalier
