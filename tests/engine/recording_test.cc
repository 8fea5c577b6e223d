// Recorded searches: the database holds what ran, replay reproduces it, and an
// interrupted run resumes where it stopped.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <memory>

#include "absl/strings/str_cat.h"
#include "base/random.h"
#include "models/fake/byte_tokenizer.h"
#include "models/fake/script_task.h"
#include "models/fake/scripted_backend.h"
#include "src/engine/runner.h"
#include "src/trace/replay.h"
#include "src/trace/run_db.h"
#include "src/trace/run_recorder.h"
#include "tests/engine/every_method.h"

namespace espalier {
namespace {

namespace fs = std::filesystem;

constexpr int kProblems = 12;

const char* const kMethods[] = {
    "greedy",
    "sample",
    "majority",
    "best_of_n",
    "weighted",
    "beam",
    "beam:width=3:branch=2",
    "puct",
    "puct:in_flight=4",
    "puct:descend=false:in_flight=3:widen=false",
    "gumbel:in_flight=3",
    "frontier:in_flight=4:width=3",
    "best_first:score=logprob:branch=2:in_flight=3",
    "ab_mcts_a",
};

// Forwards everything and interrupts the run at a chosen Flush, by a stop or by
// an error. After an error nothing is committed, as after a kill.
class BreakingRecorder : public SearchRecorder {
 public:
  BreakingRecorder(SearchRecorder& inner, int flushes, bool kill,
                   std::atomic<bool>& stop)
      : inner_(inner), flushes_(flushes), kill_(kill), stop_(stop) {}
  absl::StatusOr<std::optional<SearchCompletion>> Recall(
      size_t index, const SearchRequest& request) override {
    auto known = inner_.Recall(index, request);
    if (known.ok() && known->has_value()) ++recalled_;
    return known;
  }
  absl::Status Append(size_t index, const SearchRequest& request,
                      const SearchCompletion& completion) override {
    return inner_.Append(index, request, completion);
  }
  void Stop(size_t index, uint64_t number, std::string_view reason) override {
    inner_.Stop(index, number, reason);
  }
  absl::Status Finish(size_t index, const Tree& tree,
                      const SearchResult& result) override {
    return inner_.Finish(index, tree, result);
  }
  absl::Status Flush() override {
    if (flushes_ >= 0 && flushes_-- == 0) {
      if (kill_) return absl::AbortedError("killed");
      stop_ = true;
    }
    return inner_.Flush();
  }
  int recalled() const { return recalled_; }

 private:
  SearchRecorder& inner_;
  int flushes_;
  const bool kill_;
  std::atomic<bool>& stop_;
  int recalled_ = 0;
};

struct Attempt {
  int flushes = -1;  // interrupt after this many; -1: never
  bool kill = false;
  int live = 6;
  int max_delay = 3;
  double seconds = 0;
};

struct AttemptOutcome {
  absl::Status status;
  int recalled = 0;
  int64_t tokens = 0;  // sampled by the backend
};

class RecordingTest : public testing::Test {
 protected:
  RecordingTest() {
    std::string name =
        (fs::temp_directory_path() / "recording_XXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  ~RecordingTest() override { fs::remove_all(folder_); }

  std::string Path(const std::string& name) const {
    return (folder_ / name).string();
  }

  // One process lifetime of a program that records kProblems searches by
  // `method`.
  AttemptOutcome Live(const std::string& file, const std::string& method,
                      const Attempt& attempt) {
    const std::string path = Path(file);
    const bool there = fs::exists(path);
    auto db = RunDb::Open(path, there ? Sqlite::kWrite : Sqlite::kCreate);
    EXPECT_TRUE(db.ok()) << db.status();
    int64_t run = 1;
    if ((*db)->Runs()->empty()) {
      run = (*db)->AddRun({.kind = "test", .config = "{}"}).value();
    }
    std::vector<Problem> problems;
    for (int i = 0; i < kProblems; ++i) {
      problems.push_back(
          {absl::StrCat("p", i), "script", absl::StrCat("problem ", i)});
    }
    const auto grade = [](size_t, std::string_view response) {
      return std::optional<bool>(response.find('7') != response.npos);
    };
    RunRecorder recorder(**db, grade);
    std::vector<Problem> pending;
    for (const Problem& problem : problems) {
      const int64_t id =
          (*db)->AddProblem({problem, {}}, "script", "script").value();
      const SearchRow row = (*db)->BeginSearch(run, id, 3).value();
      if (row.state != SearchState::kRunning) continue;
      const auto responses = (*db)->Responses(row.search_id).value();
      EXPECT_TRUE(
          recorder.Begin(pending.size(), row.search_id, responses).ok());
      pending.push_back(problem);
    }
    EXPECT_TRUE((*db)->Commit().ok());
    std::atomic<bool> stop{false};
    BreakingRecorder breaking(recorder, attempt.flushes, attempt.kill, stop);
    ScriptedBackend backend({.max_delay = attempt.max_delay});
    const auto algorithm = MakeAlgorithm(method);
    std::vector<std::unique_ptr<ScriptedBackend>> more;
    std::vector<Backend*> writers;
    for (int k = 1; k < (*algorithm)->models(); ++k) {
      more.push_back(std::make_unique<ScriptedBackend>(
          ScriptedOptions{.skill = 2, .max_delay = attempt.max_delay}));
      writers.push_back(more.back().get());
    }
    const ByteTokenizer tokenizer;
    Executor executor(2);
    Runner runner({&backend, &tokenizer, &backend, &tokenizer, writers},
                  executor, attempt.live);
    SearchOptions options = Options(method);
    options.max_seconds = attempt.seconds;
    const RunHooks hooks{.stop = &stop, .recorder = &breaking};
    const ScriptTask task;
    AttemptOutcome outcome;
    outcome.status = runner.Run({.problems = pending,
                                 .task = &task,
                                 .algorithm = algorithm->get(),
                                 .options = &options,
                                 .hooks = &hooks,
                                 .on_done = [](size_t, SearchResult) {}});
    EXPECT_EQ(backend.live_sequences(), 0) << method << " leaks sequences";
    outcome.recalled = breaking.recalled();
    outcome.tokens = backend.stats().tokens_generated;
    return outcome;
  }

  static SearchOptions Options(const std::string& method) {
    return {.method = method, .max_tokens = 200, .seed = 3};
  }

  std::vector<SearchRow> Rows(const std::string& file) const {
    auto db = RunDb::Open(Path(file), Sqlite::kRead);
    EXPECT_TRUE(db.ok()) << db.status();
    return (*db)->Searches(1).value();
  }

  // Both files hold the same searches, trees and solutions.
  void ExpectSameContent(const std::string& a, const std::string& b,
                         const std::string& method) {
    auto left = RunDb::Open(Path(a), Sqlite::kRead).value();
    auto right = RunDb::Open(Path(b), Sqlite::kRead).value();
    const std::vector<SearchRow> rows = left->Searches(1).value();
    const std::vector<SearchRow> others = right->Searches(1).value();
    ASSERT_EQ(rows.size(), others.size());
    for (size_t i = 0; i < rows.size(); ++i) {
      EXPECT_EQ(rows[i].problem, others[i].problem);
      EXPECT_EQ(rows[i].state, others[i].state);
      EXPECT_EQ(rows[i].answer, others[i].answer);
      EXPECT_EQ(rows[i].correct, others[i].correct);
      EXPECT_EQ(rows[i].tokens, others[i].tokens);
      EXPECT_EQ(FirstDifference(left->LoadTree(rows[i].search_id).value(),
                                right->LoadTree(others[i].search_id).value()),
                "")
          << method;
    }
    for (const char* table : {"solutions", "responses"}) {
      EXPECT_EQ(Dump(*left, table), Dump(*right, table)) << method;
    }
  }

  static std::string Dump(RunDb& db, const std::string& table) {
    auto s = db.sqlite().Prepare("SELECT * FROM " + table);
    std::string text;
    while (s->Step().value()) {
      for (int c = 0; c < s->columns(); ++c) text += s->Text(c) + "|";
      text += "\n";
    }
    return text;
  }

  // Every finished search replays from its log bit for bit.
  void ExpectReplays(const std::string& file, const std::string& method) {
    auto db = RunDb::Open(Path(file), Sqlite::kRead).value();
    const auto algorithm = MakeAlgorithm(method);
    const ScriptTask task;
    const auto rows = db->Searches(1);
    ASSERT_TRUE(rows.ok());
    for (const SearchRow& row : *rows) {
      ASSERT_EQ(row.state, SearchState::kDone);
      const GradedProblem problem =
          db->LoadProblem(row.problem_id, nullptr).value();
      const auto again =
          Replay(problem.problem, task, **algorithm, Options(method),
                 db->LoadLog(row.search_id).value());
      ASSERT_TRUE(again.ok()) << method << " " << again.status();
      EXPECT_EQ(FirstDifference(*again, db->LoadTree(row.search_id).value()),
                "")
          << method << " " << row.problem;
    }
  }

  fs::path folder_;
};

TEST_F(RecordingTest, EveryMethodReplaysBitForBit) {
  for (const std::string& method : EveryMethod()) {
    const std::string file = absl::StrCat(StableHash(method), ".db");
    ASSERT_TRUE(Live(file, method, {}).status.ok());
    ExpectReplays(file, method);
    auto db = RunDb::Open(Path(file), Sqlite::kRead).value();
    EXPECT_EQ(Dump(*db, "responses"), "");
  }
}

TEST_F(RecordingTest, ThreadsDelaysAndConcurrentSearchesLeaveTheSameRecord) {
  for (const char* method : {"beam", "puct:in_flight=4", "weighted"}) {
    const std::string name = absl::StrCat(StableHash(method));
    ASSERT_TRUE(
        Live(name + "a", method, {.live = 1, .max_delay = 0}).status.ok());
    ASSERT_TRUE(
        Live(name + "b", method, {.live = 12, .max_delay = 7}).status.ok());
    ExpectSameContent(name + "a", name + "b", method);
  }
}

// Interrupted repeatedly, by a stop or a simulated kill, at every point.
TEST_F(RecordingTest, ARunBrokenOffAnywhereEndsAsIfItHadNotBeen) {
  RandomStream rng(StreamKey(5, 0, 0, Purpose::kTest));
  for (const char* method : kMethods) {
    const std::string name = absl::StrCat(StableHash(method));
    const AttemptOutcome whole = Live(name + "whole", method, {});
    ASSERT_TRUE(whole.status.ok());
    for (const bool kill : {false, true}) {
      const std::string file = absl::StrCat(name, kill ? "killed" : "stopped");
      int lives = 0, recalled = 0;
      int64_t tokens = 0;
      while (true) {
        ASSERT_LT(++lives, 1000) << method;
        // Rounds that only recall count too, so later runs must be longer.
        const AttemptOutcome outcome = Live(
            file, method, {.flushes = rng.Range(1, 4 * lives), .kill = kill});
        recalled += outcome.recalled;
        tokens += outcome.tokens;
        const auto rows = Rows(file);
        if (std::all_of(rows.begin(), rows.end(), [](const SearchRow& row) {
              return row.state == SearchState::kDone;
            })) {
          break;
        }
      }
      EXPECT_GT(lives, 3) << method;
      EXPECT_GT(recalled, 0) << method;
      ExpectSameContent(name + "whole", file, method);
      ExpectReplays(file, method);
      // Resampled tokens are bounded: what was in flight at each interruption
      // (six live searches with at most four requests of four samples each),
      // and after a kill also the last uncommitted round.
      EXPECT_LE(tokens - whole.tokens, lives * 6 * 16 * 16) << method;
    }
  }
}

TEST_F(RecordingTest, ATimeLimitIsInTheRecordAndReplays) {
  int stopped = 0;
  for (const char* method : kMethods) {
    for (const double seconds : {1e-9, 2e-4, 1e-3}) {
      const std::string file =
          absl::StrCat(StableHash(method), "-", seconds * 1e9, ".db");
      ASSERT_TRUE(
          Live(file, method, {.max_delay = 7, .seconds = seconds}).status.ok());
      ExpectReplays(file, method);
      auto db = RunDb::Open(Path(file), Sqlite::kRead).value();
      auto s = db->sqlite().Prepare(
          "SELECT count(*) FROM searches WHERE stop_reason LIKE 'time limit%'");
      ASSERT_TRUE(s->Step().value());
      stopped += static_cast<int>(s->Int(0));
    }
  }
  EXPECT_GT(stopped, 20);
}

// A record made with other options is detected at once.
TEST_F(RecordingTest, AnotherProgramsRecordIsRefused) {
  const AttemptOutcome broken =
      Live("run.db", "majority", {.flushes = 4, .kill = false});
  ASSERT_TRUE(broken.status.ok());
  const AttemptOutcome other = Live("run.db", "majority:temperature=0.5", {});
  EXPECT_EQ(other.status.code(), absl::StatusCode::kFailedPrecondition);
}

TEST_F(RecordingTest, AReplayWithOtherOptionsOrAShortLogSaysSo) {
  ASSERT_TRUE(Live("run.db", "beam", {}).status.ok());
  auto db = RunDb::Open(Path("run.db"), Sqlite::kRead).value();
  const SearchRow row = db->Searches(1).value()[0];
  const GradedProblem problem =
      db->LoadProblem(row.problem_id, nullptr).value();
  std::vector<LogEntry> log = db->LoadLog(row.search_id).value();
  const ScriptTask task;
  const auto other = MakeAlgorithm("beam:branch=2");
  EXPECT_EQ(Replay(problem.problem, task, **other, Options("beam"), log)
                .status()
                .code(),
            absl::StatusCode::kDataLoss);
  const auto same = MakeAlgorithm("beam");
  log.pop_back();
  EXPECT_EQ(Replay(problem.problem, task, **same, Options("beam"), log)
                .status()
                .code(),
            absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace espalier
