// Searches for programs may run only the tests that a question shows; the final
// verdict comes from hidden tests, which no search sees.
#include <gtest/gtest.h>

#include <cmath>
#include <deque>
#include <map>

#include "absl/strings/str_cat.h"
#include "datasets/sets/problem_set.h"
#include "datasets/tasks/python_task.h"
#include "datasets/tasks/task_registry.h"
#include "espalier/engine.h"
#include "models/fake/byte_tokenizer.h"
#include "nlohmann/json.hpp"
#include "src/engine/generate.h"
#include "src/engine/runner.h"
#include "src/engine/verifier_reward.h"
#include "src/eval/sweep.h"
#include "src/trace/labels/examples.h"
#include "tests/datasets/programs/test_sandbox.h"

namespace espalier {
namespace {

// Continues every prompt with one of a few equally likely lines, then ends.
class LinesBackend : public Backend {
 public:
  explicit LinesBackend(std::vector<std::string> lines)
      : lines_(std::move(lines)) {}
  const Capabilities& capabilities() const override { return capabilities_; }
  const BackendStats& stats() const override { return stats_; }

  SeqId Extend(SeqId parent, absl::Span<const int32_t> tokens) override {
    std::vector<int32_t> text = texts_[parent];
    text.insert(text.end(), tokens.begin(), tokens.end());
    const auto [it, fresh] =
        ids_.emplace(std::move(text), static_cast<SeqId>(texts_.size()));
    if (fresh) texts_.push_back(it->first);
    // A prompt extends the empty sequence.
    if (fresh) ended_.push_back(parent != kEmptySeq);
    return it->second;
  }
  void Release(SeqId) override {}
  void Submit(Request request) override {
    queue_.push_back(std::move(request));
  }
  void Cancel(RequestId) override { FAIL() << "nothing is cancelled here"; }

  bool Step(std::vector<Completion>& done) override {
    if (queue_.empty()) return false;
    const Request request = std::move(queue_.front());
    queue_.pop_front();
    const auto& ask = std::get<GenerateRequest>(request.body);
    Completion completion{.id = request.id};
    for (int i = 0; i < ask.n; ++i) {
      Continuation out;
      out.finish = Finish::kEnd;
      out.tokens = {ByteTokenizer::kEnd};
      float logprob = 0;
      if (!ended_[static_cast<size_t>(ask.from)]) {
        const StreamKey key = SampleKey(ask.stream, ask.first_sample + i);
        const auto count = static_cast<double>(lines_.size());
        const auto drawn =
            static_cast<size_t>(RandomStream::UniformAt(key, 0) * count);
        const std::string& line = lines_[drawn];
        out.tokens.assign(line.begin(), line.end());
        out.finish = Finish::kDelimiter;
        logprob = static_cast<float>(-std::log(count));
        out.text_bytes = line.size();
      }
      out.logprobs.assign(out.tokens.size(), 0);
      out.logprobs[0] = logprob;
      out.sampler_logprobs = out.logprobs;
      out.seq = Extend(ask.from, out.tokens);
      stats_.tokens_generated += static_cast<int64_t>(out.tokens.size());
      completion.continuations.push_back(std::move(out));
    }
    done.push_back(std::move(completion));
    return true;
  }

 private:
  const std::vector<std::string> lines_;
  const Capabilities capabilities_{.context_length = 1 << 16};
  BackendStats stats_;
  std::deque<std::vector<int32_t>> texts_ = {{}};
  std::deque<bool> ended_ = {false};
  std::map<std::vector<int32_t>, SeqId> ids_;
  std::deque<Request> queue_;
};

// An engine over LinesBackend that checks what it is given.
class LinesEngine : public Engine {
 public:
  explicit LinesEngine(std::vector<std::string> lines)
      : lines_(std::move(lines)) {}
  absl::Status SolveAll(
      absl::Span<const Problem> problems, const Task& task,
      const SearchOptions& options, const RunHooks& hooks,
      const std::function<void(size_t, SearchResult)>& on_done) override {
    handed = hooks.verifier;
    graded = static_cast<bool>(hooks.grade);
    slow = hooks.background_checks;
    LinesBackend backend(lines_);
    const ByteTokenizer tokenizer;
    Executor executor(1);
    Runner runner({&backend, &tokenizer, nullptr, nullptr}, executor, 4);
    const auto algorithm = MakeAlgorithm(options.method).value();
    return runner.Run({.problems = problems,
                       .task = &task,
                       .algorithm = algorithm.get(),
                       .options = &options,
                       .hooks = &hooks,
                       .on_done = [&](size_t i, SearchResult result) {
                         reasons.push_back(result.stop_reason);
                         on_done(i, std::move(result));
                       }});
  }
  EngineStats stats() const override { return {}; }

  const Verifier* handed = nullptr;
  bool graded = false;
  bool slow = false;
  std::vector<std::string> reasons;

 private:
  const std::vector<std::string> lines_;
};

constexpr char kQuestion[] =
    "def double(x):\n"
    "    \"\"\"Twice x.\n"
    "    >>> double(2)\n"
    "    4\n"
    "    \"\"\"\n";
const char* const kWrong = "    return x\n";      // fails the example
const char* const kShown = "    return x * x\n";  // passes it, but is wrong
const char* const kRight = "    return x + x\n";
constexpr char kMethod[] = "best_first:branch=4:score=logprob:verify=true";

// `test` is the hidden test.
ProblemSet Doubling(const std::string& test) {
  ProblemSet set{.name = "own", .task = "python"};
  set.problems.push_back(
      {{.id = "own/0", .set = "own", .question = kQuestion},
       {.fields = {{"task_id", "own/0"},
                   {"prompt", kQuestion},
                   {"entry_point", "double"},
                   {"test", "def check(f):\n    assert " + test + "\n"}}}});
  return set;
}

ResultRow Sweep(Engine& engine, const ProblemSet& set,
                const std::string& method = kMethod,
                RewardSource reward = RewardSource::kModel) {
  const auto rows =
      RunSweep(engine, set.name, set.problems, PythonTask(), PythonVerifier(),
               {.methods = {method}, .budgets = {2000}, .reward = reward});
  EXPECT_TRUE(rows.ok()) << rows.status();
  return rows.ok() ? rows->at(0) : ResultRow();
}

TEST(ProgramSearch, ShownTestsGuideItAndHiddenOnesJudge) {
  ESPALIER_NEED_SANDBOX(sandbox);
  const ProblemSet set = Doubling("f(21) == 42");
  // The search sees "passes", the final verdict is "wrong".
  LinesEngine fooled({kWrong, kShown});
  ResultRow row = Sweep(fooled, set);
  EXPECT_EQ(fooled.handed, &PublicTestsVerifier());
  EXPECT_FALSE(fooled.graded);
  EXPECT_TRUE(fooled.slow);
  ASSERT_EQ(row.answers.size(), 1u);
  EXPECT_EQ(row.answers.First(1)[0], "    return x * x");
  EXPECT_FALSE(row.right[0]);
  // The search finds the one program that passes.
  LinesEngine guided({kWrong, kWrong, kWrong, kRight});
  for (const char* method :
       {kMethod, "preset=bfs_prover_v2", "preset=deepsearch"}) {
    row = Sweep(guided, set, method);
    ASSERT_EQ(row.answers.size(), 1u) << method;
    EXPECT_EQ(row.answers.First(1)[0], "    return x + x") << method;
    EXPECT_TRUE(row.right[0]) << method;
  }
  EXPECT_FALSE(Sweep(guided, set, "majority").right[0]);
  // With other hidden tests, the same search gets another verdict.
  row = Sweep(fooled, Doubling("f(3) == 9"));
  EXPECT_EQ(row.answers.First(1)[0], "    return x * x");
  EXPECT_TRUE(row.right[0]);
}

TEST(ProgramSearch, ShownTestsAreARewardForMethodsOfWholeResponses) {
  ESPALIER_NEED_SANDBOX(sandbox);
  const ProblemSet set = Doubling("f(21) == 42");
  for (const char* method :
       {"best_of_n", "weighted", "preset=treequest_a", "mctsr", "vm_mcts"}) {
    LinesEngine guided({kWrong, kWrong, kWrong, kRight});
    const ResultRow right = Sweep(guided, set, method, RewardSource::kVerifier);
    ASSERT_EQ(right.answers.size(), 1u) << method;
    EXPECT_EQ(right.answers.First(1)[0], "    return x + x") << method;
    EXPECT_TRUE(right.right[0]) << method;
    EXPECT_FALSE(right.oracle);
    LinesEngine fooled({kWrong, kWrong, kWrong, kShown});
    const ResultRow wrong = Sweep(fooled, set, method, RewardSource::kVerifier);
    ASSERT_EQ(wrong.answers.size(), 1u) << method;
    EXPECT_EQ(wrong.answers.First(1)[0], "    return x * x") << method;
    EXPECT_FALSE(wrong.right[0]) << method;
  }
  const absl::Status none =
      VerifierReward::Create(*FindVerifier("stories").value()).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(none)) << none;
}

TEST(ProgramSearch, RecordedRunsKeepHiddenVerdicts) {
  ESPALIER_NEED_SANDBOX(sandbox);
  for (const char* line : {kShown, kRight}) {
    LinesEngine engine({kWrong, line});
    const std::string path = testing::TempDir() + "/programs" +
                             std::to_string(line == kRight) + ".db";
    const auto db = RunDb::Open(path, Sqlite::kCreate);
    ASSERT_TRUE(db.ok()) << db.status();
    const auto run = (*db)->AddRun({.kind = "test", .config = "{}"});
    ASSERT_TRUE(run.ok()) << run.status();
    const auto totals = Generate(
        engine, **db, *run, Doubling("f(21) == 42"),
        {.search = {.method = kMethod, .max_tokens = 2000}}, GenerateHooks());
    ASSERT_TRUE(totals.ok()) << totals.status();
    EXPECT_EQ(engine.handed, &PublicTestsVerifier());
    EXPECT_TRUE(engine.slow);
    EXPECT_EQ(totals->graded, 1);
    EXPECT_EQ(totals->solved, line == kRight ? 1 : 0);
    const auto second = (*db)->AddRun({.kind = "test", .config = "{\"n\": 2}"});
    ASSERT_TRUE(second.ok()) << second.status();
    const auto scored =
        Generate(engine, **db, *second, Doubling("f(21) == 42"),
                 {.search = {.method = "best_of_n", .max_tokens = 2000},
                  .verifier_reward = true},
                 GenerateHooks());
    ASSERT_TRUE(scored.ok()) << scored.status();
    EXPECT_EQ(scored->failed, 0);
    EXPECT_EQ(scored->solved, line == kRight ? 1 : 0);
  }
}

// If programs cannot be run, no share of right answers is reported.
class UnreadyVerifier : public Verifier {
 public:
  std::string_view name() const override { return "unready"; }
  bool intrinsic() const override { return true; }
  absl::Status Ready() const override {
    return absl::FailedPreconditionError("no sandbox");
  }
  Verdict Check(const Problem&, const Reference&,
                std::string_view) const override {
    return {};
  }
  absl::StatusOr<std::vector<StepVerdict>> CheckSteps(
      const Problem&, const Reference&, std::string_view) const override {
    return absl::UnimplementedError("");
  }
};

TEST(ProgramSearch, AVerifierThatCannotJudgeIsAnErrorAndNoVerdict) {
  const ProblemSet set = Doubling("True");
  const UnreadyVerifier unready;
  LinesEngine engine({kRight});
  const auto rows =
      RunSweep(engine, set.name, set.problems, PythonTask(), unready,
               {.methods = {"greedy"}, .budgets = {100}});
  EXPECT_EQ(rows.status().message(), "no sandbox");
  EXPECT_EQ(engine.handed, nullptr);
  const SearchOptions options{.method = kMethod, .max_tokens = 100};
  const RunHooks hooks{.verifier = &unready};
  EXPECT_EQ(engine.Solve(set.problems[0].problem, PythonTask(), options, hooks)
                .status.message(),
            "no sandbox");
}

// An undecidable answer is not right, and no label is made of it.
TEST(UndecidedAnswers, AreCountedAndLeftOutOfLabels) {
  const ProblemSet set{
      .name = "own",
      .task = "qa",
      .problems = {
          {{.id = "own/0", .set = "own", .question = "1?"}, {.answer = "1"}}}};
  const auto sweep = [&](const char* line) {
    LinesEngine engine({line});
    const auto rows = RunSweep(engine, set.name, set.problems, **FindTask("qa"),
                               **FindVerifier("qa"),
                               {.methods = {"sample"}, .budgets = {2000}});
    EXPECT_TRUE(rows.ok()) << rows.status();
    return rows.ok() ? rows->at(0) : ResultRow();
  };
  const char* const kUndecided = " \\boxed{\\tanh(1000)}\n";
  const ResultRow row = sweep(kUndecided);
  EXPECT_EQ(row.successes(), 0);
  EXPECT_EQ(row.undecided, 1);
  EXPECT_NE(SweepTable({row}).find("1 answers are undecided"),
            std::string::npos);
  const std::vector<ResultRow> rows = {row};
  EXPECT_EQ(SweepJson(rows).json["results"][0]["undecided"], 1);
  EXPECT_EQ(sweep(" \\boxed{2}\n").undecided, 0);

  int kept = 0;
  for (const char* line : {kUndecided, " \\boxed{2}\n", " \\boxed{1}\n"}) {
    LinesEngine engine({line});
    const std::string path =
        testing::TempDir() + "/undecided" + std::to_string(kept++) + ".db";
    const auto db = RunDb::Open(path, Sqlite::kCreate);
    ASSERT_TRUE(db.ok()) << db.status();
    const auto run = (*db)->AddRun({.kind = "test", .config = "{}"});
    ASSERT_TRUE(run.ok()) << run.status();
    const auto totals = Generate(
        engine, **db, *run, set,
        {.search = {.method = "sample", .max_tokens = 2000}}, GenerateHooks());
    ASSERT_TRUE(totals.ok()) << totals.status();
    const auto trees = TreesByProblem(**db, *run);
    ASSERT_TRUE(trees.ok()) << trees.status();
    std::vector<NodeVerdict> ends;
    for (const StoredNode& node : trees->at(0).trees.at(0).nodes) {
      if (node.verdict != NodeVerdict::kNotAsked) ends.push_back(node.verdict);
    }
    const bool right = std::string(line).find("{1}") != std::string::npos;
    if (line == kUndecided) {
      EXPECT_TRUE(ends.empty());
    } else {
      ASSERT_EQ(ends.size(), 1u) << line;
      EXPECT_EQ(ends[0], right ? NodeVerdict::kCorrect : NodeVerdict::kWrong);
    }
    EXPECT_EQ(totals->solved, right ? 1 : 0);
  }
}

}  // namespace
}  // namespace espalier
