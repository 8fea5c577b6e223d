#include "src/eval/sweep.h"

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "espalier/engine.h"
#include "models/fake/byte_tokenizer.h"
#include "models/fake/script_task.h"
#include "models/fake/scripted_backend.h"
#include "nlohmann/json.hpp"
#include "src/engine/runner.h"

namespace espalier {
namespace {

std::vector<std::string> SweepTexts(const TextList& list) {
  return list.First(list.size());
}

class ScriptVerifier : public Verifier {
 public:
  std::string_view name() const override { return "script"; }
  bool intrinsic() const override { return false; }
  Verdict Check(const Problem&, const Reference& reference,
                std::string_view response) const override {
    return {ScriptTask().FindAnswer(response) == reference.answer, ""};
  }
  absl::StatusOr<std::vector<StepVerdict>> CheckSteps(
      const Problem&, const Reference&, std::string_view) const override {
    return absl::UnimplementedError("steps are not judged");
  }
};

// An engine that uses the scripted backend.
class ScriptEngine : public Engine {
 public:
  absl::Status SolveAll(
      absl::Span<const Problem> problems, const Task& task,
      const SearchOptions& options, const RunHooks& hooks,
      const std::function<void(size_t, SearchResult)>& on_done) override {
    ScriptedBackend backend({.depth = 5});
    const ByteTokenizer tokenizer;
    Executor executor(2);
    Runner runner({&backend, &tokenizer, &backend, &tokenizer}, executor, 16);
    const auto algorithm = MakeAlgorithm(options.method).value();
    return runner.Run({.problems = problems,
                       .task = &task,
                       .algorithm = algorithm.get(),
                       .options = &options,
                       .hooks = &hooks,
                       .on_done = on_done});
  }
  EngineStats stats() const override { return {}; }
};

std::vector<GradedProblem> Problems() {
  ScriptedBackend truth({.depth = 5});
  const ByteTokenizer tokenizer;
  std::vector<GradedProblem> problems;
  for (int i = 0; i < 40; ++i) {
    const std::string question = absl::StrCat("problem ", i);
    const auto prompt = tokenizer.Encode(question + "\n").value();
    const int gold = truth.Gold(truth.Extend(kEmptySeq, prompt));
    problems.push_back(
        {{absl::StrCat(i), "script", question}, {absl::StrCat(gold), {}}});
  }
  return problems;
}

TEST(SweepTest, ShuffledGoldChangesVerdictsAndNoAnswer) {
  const SweepOptions options{.methods = {"greedy", "majority", "best_of_n",
                                         "weighted", "beam", "puct"},
                             .budgets = {60, 150}};
  ScriptEngine engine;
  const std::vector<GradedProblem> problems = Problems();
  std::vector<GradedProblem> shuffled = problems;
  for (size_t i = 0; i < problems.size(); ++i) {
    shuffled[i].reference = problems[(i + 7) % problems.size()].reference;
  }
  const auto a = RunSweep(engine, "script", problems, ScriptTask(),
                          ScriptVerifier(), options);
  const auto b = RunSweep(engine, "script", shuffled, ScriptTask(),
                          ScriptVerifier(), options);
  ASSERT_TRUE(a.ok() && b.ok());
  ASSERT_EQ(a->size(), 12u);
  int64_t right = 0, right_shuffled = 0;
  for (size_t i = 0; i < a->size(); ++i) {
    EXPECT_EQ(SweepTexts((*a)[i].answers), SweepTexts((*b)[i].answers))
        << (*a)[i].method;
    right += (*a)[i].successes();
    right_shuffled += (*b)[i].successes();
  }
  EXPECT_GT(right, 4 * (right_shuffled + 1));
}

TEST(SweepTest, RowsCarryWhatTheirReadersNeed) {
  ScriptEngine engine;
  const auto rows =
      RunSweep(engine, "script", Problems(), ScriptTask(), ScriptVerifier(),
               {.methods = {"sample"}, .budgets = {99}, .seeds = 3});
  ASSERT_TRUE(rows.ok());
  const nlohmann::json json = SweepJson(*rows).Whole();
  ASSERT_EQ(json["results"].size(), 3u);
  for (const auto& row : json["results"]) {
    for (const char* key :
         {"set", "method", "budget_tokens", "n", "accuracy", "ci_low",
          "ci_high", "tokens_per_problem", "prompt_tokens", "reward_tokens",
          "verdict_tokens", "model_calls", "seconds", "seed", "ids", "correct",
          "oracle"}) {
      EXPECT_TRUE(row.contains(key)) << key;
    }
    EXPECT_EQ(row["ids"].size(), 40u);
    EXPECT_EQ(row["correct"].size(), 40u);
  }
  EXPECT_NE(SweepTable(*rows).find("sample"), std::string::npos);
}

// Answers half of the problems; one in four is interrupted by a signal.
class StoppedEngine : public Engine {
 public:
  absl::Status SolveAll(
      absl::Span<const Problem> problems, const Task&, const SearchOptions&,
      const RunHooks&,
      const std::function<void(size_t, SearchResult)>& on_done) override {
    for (size_t i = 0; i < problems.size(); ++i) {
      SearchResult result{.configuration = "sample",
                          .answer = "1",
                          .response = "= 1\n",
                          .tokens = 10};
      if (i % 4 == 1) {
        result = {.configuration = "sample",
                  .stop_reason = std::string(kStoppedFromOutside),
                  .tokens = 3};
      }
      if (i % 4 == 3) continue;  // never started
      on_done(i, std::move(result));
    }
    return absl::OkStatus();
  }
  EngineStats stats() const override { return {}; }
};

// Fails from its third run onwards.
class FailingEngine : public Engine {
 public:
  absl::Status SolveAll(
      absl::Span<const Problem> problems, const Task&, const SearchOptions&,
      const RunHooks&,
      const std::function<void(size_t, SearchResult)>& on_done) override {
    if (problems.empty()) return absl::OkStatus();
    if (++runs_ > 2) return absl::ResourceExhaustedError("no memory");
    for (size_t i = 0; i < problems.size(); ++i) {
      on_done(i, {.answer = "1", .response = "= 1\n", .tokens = 10});
    }
    return absl::OkStatus();
  }
  EngineStats stats() const override { return {}; }

 private:
  int runs_ = 0;
};

TEST(SweepTest, RowsThatAreDoneAreKeptWhateverComesThen) {
  const std::vector<GradedProblem> problems = {
      {{"0", "script", "q"}, {"1", {}}}};
  FailingEngine engine;
  std::vector<ResultRow> rows;
  const absl::Status status = RunSweep(
      engine, "script", [&](const UseProblems& use) { return use(problems); },
      1, ScriptTask(), ScriptVerifier(),
      {.methods = {"sample", "majority", "beam"},
       .budgets = {99},
       .search = {.response_tokens = 10}},
      rows);
  EXPECT_EQ(status.message(), "no memory");
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].method, "sample");
  EXPECT_EQ(rows[1].method, "majority");
}

// Blocks of any size give the same rows as one run over all problems.
TEST(SweepTest, BlocksOfProblemsChangeNothing) {
  const SweepOptions options{.methods = {"greedy", "majority", "beam", "puct"},
                             .budgets = {60, 150}};
  const std::vector<GradedProblem> problems = Problems();
  ScriptEngine engine;
  const auto whole = RunSweep(engine, "script", problems, ScriptTask(),
                              ScriptVerifier(), options);
  ASSERT_TRUE(whole.ok()) << whole.status();
  for (const size_t size : {1u, 7u, 25u, 39u}) {
    const ProblemBlocks blocks = [&](const UseProblems& use) -> absl::Status {
      for (size_t i = 0; i < problems.size(); i += size) {
        const absl::Status status =
            use(absl::MakeConstSpan(problems).subspan(i, size));
        if (!status.ok()) return status;
      }
      return absl::OkStatus();
    };
    std::vector<ResultRow> rows;
    ASSERT_TRUE(RunSweep(engine, "script", blocks, 40, ScriptTask(),
                         ScriptVerifier(), options, rows)
                    .ok());
    nlohmann::json expected = SweepJson(*whole).Whole();
    nlohmann::json found = SweepJson(rows).Whole();
    for (auto* json : {&expected, &found}) {
      for (auto& row : (*json)["results"]) row.erase("seconds");
    }
    EXPECT_EQ(found, expected) << size;
  }
}

TEST(SweepTest, SearchesCutShortAreNoPartOfARow) {
  std::vector<GradedProblem> problems;
  for (int i = 0; i < 40; ++i) {
    problems.push_back(
        {{absl::StrCat(i), "script", "q"}, {i % 4 == 0 ? "1" : "2", {}}});
  }
  StoppedEngine engine;
  const auto rows =
      RunSweep(engine, "script", problems, ScriptTask(), ScriptVerifier(),
               {.methods = {"sample"}, .budgets = {99}});
  ASSERT_TRUE(rows.ok()) << rows.status();
  const ResultRow& row = rows->front();
  EXPECT_FALSE(row.complete);
  EXPECT_EQ(row.ids.size(), 20u);
  EXPECT_EQ(row.n(), 20);
  EXPECT_EQ(row.accuracy(), 0.5);
  EXPECT_EQ(row.answered(), 1);
  EXPECT_NE(
      SweepTable(*rows).find("stopped after the first 20 finished problems"),
      std::string::npos);
  ResultRow whole = row;
  whole.method = "greedy";
  whole.complete = true;
  EXPECT_TRUE(CompareWith("greedy", {whole, row}).empty());
  EXPECT_TRUE(CompareWith("sample", {whole, row}).empty());
  EXPECT_EQ(row.tokens_per_problem, 10);
}

// Two bits per problem are in memory. Without lists nothing else is kept at
// all.
TEST(SweepTest, RowsWithoutListsHaveTheSameFigures) {
  ScriptEngine engine;
  SweepOptions options{
      .methods = {"greedy", "sample"}, .budgets = {99}, .seeds = 2};
  const auto whole = RunSweep(engine, "script", Problems(), ScriptTask(),
                              ScriptVerifier(), options);
  options.lists = false;
  const auto bare = RunSweep(engine, "script", Problems(), ScriptTask(),
                             ScriptVerifier(), options);
  ASSERT_TRUE(whole.ok() && bare.ok());
  for (size_t i = 0; i < bare->size(); ++i) {
    EXPECT_EQ((*bare)[i].ids.size(), 0u);
    EXPECT_EQ((*whole)[i].ids.size(), 40u);
    EXPECT_EQ((*bare)[i].successes(), (*whole)[i].successes());
    EXPECT_EQ((*bare)[i].answered(), (*whole)[i].answered());
  }
}

TEST(SweepTest, ProgressCountsWhatIsDone) {
  std::vector<GradedProblem> problems;
  for (int i = 0; i < 40; ++i) {
    problems.push_back({{absl::StrCat(i), "script", "q"}, {"1", {}}});
  }
  StoppedEngine engine;  // 20 answered, 10 interrupted
  int64_t last = 0;
  const auto rows =
      RunSweep(engine, "script", problems, ScriptTask(), ScriptVerifier(),
               {.methods = {"sample"},
                .budgets = {99},
                .progress = [&](int64_t done, int64_t) { last = done; }});
  ASSERT_TRUE(rows.ok()) << rows.status();
  EXPECT_EQ(last, 20);
}

TEST(SweepTest, RowsWithoutAFinishedProblemSaySo) {
  ResultRow none;
  none.method = "greedy";
  none.budget_tokens = 700;
  none.complete = false;
  const std::vector<ResultRow> rows = {none};
  const std::string table = SweepTable(rows);
  EXPECT_NE(table.find("700  no problem finished"), std::string::npos) << table;
  EXPECT_EQ(table.find("0.0%"), std::string::npos) << table;
  EXPECT_EQ(table.find("stopped after"), std::string::npos) << table;
  EXPECT_TRUE(SweepJson(rows).json["results"].empty());
}

TEST(SweepTest, TheSameConfigurationTwiceIsRefused) {
  EXPECT_TRUE(
      CheckRepeats({.methods = {"greedy", "sample"}, .budgets = {100, 200}})
          .ok());
  const auto message = [](const SweepOptions& options) {
    ScriptEngine engine;
    const auto rows = RunSweep(engine, "script", Problems(), ScriptTask(),
                               ScriptVerifier(), options);
    return std::string(rows.status().message());
  };
  EXPECT_EQ(message({.methods = {"greedy", "greedy"}, .budgets = {60}}),
            "method greedy is given twice");
  EXPECT_EQ(message({.methods = {"greedy"}, .budgets = {60, 90, 60}}),
            "budget 60 tokens is given twice");
  EXPECT_NE(
      message({.methods = {"sample", "sample:temperature=1"}, .budgets = {60}})
          .find("methods sample and sample:temperature=1 are the same"),
      std::string::npos);
}

TEST(SweepTest, IntervalsAreOverProblemsNotTheirSeeds) {
  std::vector<ResultRow> rows(1);
  rows[0].method = "greedy";
  rows[0].budget_tokens = 60;
  for (int i = 0; i < 10; ++i) {
    rows[0].done.push_back(true);
    rows[0].right.push_back(i < 8);
  }
  // Wilson's interval for 8 of 10, with one seed and with three that agree.
  const std::string interval = "80.0%   49.0% -  94.3%";
  EXPECT_NE(SweepTable(rows).find(interval), std::string::npos)
      << SweepTable(rows);
  for (uint64_t seed = 1; seed < 3; ++seed) {
    rows.push_back(rows[0]);
    rows.back().seed = seed;
  }
  EXPECT_NE(SweepTable(rows).find(interval), std::string::npos)
      << SweepTable(rows);
}

// Means worked out by hand; the interval is tested in statistics_test.
TEST(SweepTest, ComparisonsPairProblemsAndAverageSeeds) {
  const auto row = [](std::string method, int64_t budget,
                      std::vector<bool> done, std::vector<bool> right) {
    ResultRow row;
    row.method = std::move(method);
    row.budget_tokens = budget;
    row.done = std::move(done);
    row.right = std::move(right);
    return row;
  };
  const std::vector<ResultRow> rows = {
      row("a", 10, {true, true, true}, {true, true, false}),
      row("a", 10, {true, true, true}, {true, false, false}),
      row("b", 10, {true, true, false}, {true, false, false}),
      row("a", 20, {true}, {true}),
      row("c", 20, {true}, {false}),
      row("c", 30, {true}, {true}),  // no row to compare with
  };
  const std::vector<Comparison> found = CompareWith("a", rows);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].other, "b");
  EXPECT_EQ(found[0].n, 2);
  EXPECT_DOUBLE_EQ(found[0].difference.mean, 0.25);  // (1 - 1 + 1/2 - 0) / 2
  EXPECT_EQ(found[1].other, "c");
  EXPECT_EQ(found[1].budget_tokens, 20);
  EXPECT_DOUBLE_EQ(found[1].difference.mean, 1);
}

}  // namespace
}  // namespace espalier
