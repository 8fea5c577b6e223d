#include "src/engine/response_length.h"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "espalier/engine.h"
#include "models/fake/script_task.h"

namespace espalier {
namespace {

// A response takes as many tokens as the test specifies for its question.
class LengthEngine : public Engine {
 public:
  explicit LengthEngine(std::function<int64_t(const std::string&)> tokens)
      : tokens_(std::move(tokens)) {}
  absl::Status SolveAll(
      absl::Span<const Problem> problems, const Task&,
      const SearchOptions& options, const RunHooks&,
      const std::function<void(size_t, SearchResult)>& on_done) override {
    EXPECT_EQ(options.method, "greedy");
    asked_ += problems.size();
    for (size_t i = problems.size(); i-- > 0;) {
      const int64_t tokens = tokens_(problems[i].question);
      on_done(i, {.answer = tokens > 0 ? "1" : "", .tokens = tokens});
    }
    return absl::OkStatus();
  }
  EngineStats stats() const override { return {}; }
  size_t asked() const { return asked_; }

 private:
  std::function<int64_t(const std::string&)> tokens_;
  size_t asked_ = 0;
};

std::vector<Problem> Questions(std::vector<int> bytes) {
  std::vector<Problem> problems;
  for (const int n : bytes) {
    problems.push_back({.id = "p", .question = std::string(n, 'x')});
  }
  return problems;
}

SearchOptions Measured(LengthEngine& engine,
                       const std::vector<Problem>& problems,
                       SearchOptions search = {}) {
  EXPECT_TRUE(
      MeasureResponseTokens(engine, problems, ScriptTask(), nullptr, search)
          .ok());
  return search;
}

TEST(ResponseLengthTest, IsTheLineThatNoResponseLiesAbove) {
  LengthEngine line([](const std::string& q) { return 20 + q.size() / 2; });
  const SearchOptions search = Measured(line, Questions({100, 200, 300, 400}));
  EXPECT_EQ(search.response_tokens_per_byte, 0.5);
  EXPECT_EQ(search.response_tokens, 20);
  // A longer response raises the estimate; the slope stays the least-squares
  // one.
  LengthEngine longer([](const std::string& q) {
    return 20 + q.size() / 2 + (q.size() == 250 ? 30 : 0);
  });
  const SearchOptions lifted =
      Measured(longer, Questions({100, 200, 250, 300, 400}));
  EXPECT_EQ(lifted.response_tokens_per_byte, 0.5);
  EXPECT_EQ(lifted.response_tokens, 50);
}

TEST(ResponseLengthTest, NeverFallsWithTheQuestion) {
  LengthEngine falling([](const std::string& q) { return 500 - q.size(); });
  const SearchOptions search = Measured(falling, Questions({100, 200, 300}));
  EXPECT_EQ(search.response_tokens_per_byte, 0);
  EXPECT_EQ(search.response_tokens, 400);
}

TEST(ResponseLengthTest, AsksOfTheFirstProblemsWhereThereIsSomethingToLearn) {
  LengthEngine engine([](const std::string&) { return 70; });
  EXPECT_EQ(
      Measured(engine, Questions(std::vector<int>(300, 9))).response_tokens,
      70);
  EXPECT_EQ(engine.asked(), 24u);
  EXPECT_EQ(
      Measured(engine, Questions({9}), {.response_tokens = 5}).response_tokens,
      5);
  EXPECT_EQ(Measured(engine, Questions({9}), {.max_tokens = 0}).response_tokens,
            0);
  EXPECT_EQ(engine.asked(), 24u);
  LengthEngine silent([](const std::string&) { return 0; });
  EXPECT_EQ(Measured(silent, Questions({9, 10})).response_tokens, 0);
}

// A fit over only some of the lengths would differ, and a resumed run would
// search differently.
TEST(ResponseLengthTest, AStopLeavesItUnknown) {
  std::atomic<bool> stop = false;
  LengthEngine engine([&](const std::string&) {
    stop = true;
    return 70;
  });
  SearchOptions search;
  EXPECT_TRUE(MeasureResponseTokens(engine, Questions({9, 10, 11}),
                                    ScriptTask(), &stop, search)
                  .ok());
  EXPECT_EQ(search.response_tokens, 0);
  EXPECT_EQ(search.response_tokens_per_byte, 0);
}

std::string ShortBudgetNote(const std::vector<Problem>& problems,
                            const SearchOptions& search) {
  ShortBudget budget(search);
  for (const Problem& problem : problems) budget.Add(problem);
  return budget.Note();
}

TEST(ResponseLengthTest, ABudgetBelowOneResponseIsTold) {
  const std::vector<Problem> problems = Questions({100, 200, 300});
  // Responses take 70, 120 and 170 tokens; 255 is half as much again as the
  // longest.
  SearchOptions search{.max_tokens = 255,
                       .response_tokens = 20,
                       .response_tokens_per_byte = 0.5};
  EXPECT_EQ(ShortBudgetNote(problems, search), "");
  search.max_tokens = 179;
  EXPECT_EQ(ShortBudgetNote(problems, search),
            "a budget of 179 tokens is less than one response and a half for 2 "
            "of 3 problems, which may get no answer; 255 tokens are enough for "
            "one response to each");
  search.max_tokens = 0;
  EXPECT_EQ(ShortBudgetNote(problems, search), "");
}

// Of eight responses written in parallel none ends before all are nearly done.
TEST(ResponseLengthTest, ABudgetBelowAllResponsesSideBySideIsTold) {
  const std::vector<Problem> problems = Questions({100, 200, 300});
  SearchOptions search{.method = "preset=its_hub_particle",
                       .max_tokens = 1360,
                       .response_tokens = 20,
                       .response_tokens_per_byte = 0.5};
  EXPECT_EQ(ShortBudgetNote(problems, search), "");
  search.max_tokens = 1359;
  EXPECT_EQ(ShortBudgetNote(problems, search),
            "preset=its_hub_particle samples as many tokens as 8 responses "
            "before it has an answer; a budget of 1359 tokens is too small for "
            "that on 1 of 3 problems, which may get no answer; a budget of "
            "1360 or more tokens is enough for all");
  for (const char* method :
       {"preset=search_and_learn_beam", "preset=search_and_learn_dvts"}) {
    search.method = method;
    EXPECT_NE(ShortBudgetNote(problems, search).find("16 responses"),
              std::string::npos);
  }
  // The maximum that the options allow, where the method may use less.
  search.max_tokens = 1;
  for (const auto& [method, responses] :
       std::vector<std::pair<std::string, std::string>>{
           {"guided:finish=false:width=4:accept=0", "16 responses"},
           {"tot_bfs:finish=false", "25 responses"},
           {"preset=tree_of_thoughts:finish=false", "40 responses"},
           {"phi:finish=false", "16 responses"},
           {"guided:finish=false:width=4", "4 responses"},
           {"confidence:finish=false:parallel=8", "8 responses"},
           {"preset=deepconf_online:finish=false:parallel=8", "8 responses"},
           {"astar:finish=false", "8 responses"},
           {"best_first:finish=false:in_flight=8", "32 responses"},
           {"frontier:finish=false:in_flight=8", "32 responses"},
           {"mcts_star:finish=false", "5 responses"},
           {"td_mcts:finish=false", "4 responses"},
           {"tot_dfs:finish=false", "5 responses"},
           {"preset=alphazero:finish=false", "4 responses"},
           {"preset=tree_po:finish=false", "16 responses"},
           {"preset=gumbel_muzero:finish=false", "4 responses"},
           {"preset=x1:finish=false", "2 responses"},
           {"preset=rstar_math:finish=false", "32 responses"}}) {
    search.method = method;
    EXPECT_NE(ShortBudgetNote(problems, search).find(responses),
              std::string::npos)
        << method;
  }
  search.max_tokens = 1359;
  // The chosen response is carried to its end, or one response is the first
  // answer.
  search.max_tokens = 255;
  for (const char* method :
       {"guided:finish=false", "preset=rest_mcts_star:finish=false",
        "puct:descend=true:finish=false",
        "guided:finish=false:width=4:draft=true"}) {
    search.method = method;
    EXPECT_EQ(ShortBudgetNote(problems, search), "") << method;
  }
  search.max_tokens = 1359;
  // The finishing stage completes one of them.
  for (const char* method : {"particle", "lookahead", "preset=openr_beam",
                             "preset=its_hub_particle:finish=true"}) {
    search.method = method;
    EXPECT_EQ(ShortBudgetNote(problems, search), "") << method;
  }
}

}  // namespace
}  // namespace espalier
