#include "src/engine/background_checks.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <set>

#include "absl/strings/str_cat.h"
#include "models/fake/byte_tokenizer.h"
#include "models/fake/script_task.h"
#include "models/fake/scripted_backend.h"
#include "src/engine/runner.h"

namespace espalier {
namespace {

// Blocks each caller until another one arrives, or for ten seconds.
class Meeting {
 public:
  void Wait() {
    std::unique_lock<std::mutex> lock(mutex_);
    const int turn = arrived_++ / 2;
    if (arrived_ % 2 == 0) {
      met_ = turn + 1;
      changed_.notify_all();
      return;
    }
    missed_ |= !changed_.wait_for(lock, std::chrono::seconds(10),
                                  [&] { return met_ > turn; });
  }
  int meetings() const {
    std::lock_guard<std::mutex> lock(mutex_);
    return met_;
  }
  bool missed() const {
    std::lock_guard<std::mutex> lock(mutex_);
    return missed_;
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  int arrived_ = 0, met_ = 0;
  bool missed_ = false;
};

TEST(BackgroundChecksTest, SeveralRunAtATimeAndAreTakenOnce) {
  Meeting meeting;
  BackgroundChecks checks(2);
  EXPECT_TRUE(checks.Take(/*wait=*/false).empty());
  EXPECT_TRUE(checks.Take(/*wait=*/true).empty());  // nothing requested
  constexpr RequestId kCount = 10;
  for (RequestId id = 0; id < kCount; ++id) {
    checks.Ask(id, [&, id] {
      meeting.Wait();
      return SearchCompletion{.number = 100 + static_cast<uint64_t>(id)};
    });
  }
  std::set<RequestId> taken;
  while (taken.size() < kCount) {
    const auto answers = checks.Take(/*wait=*/true);
    ASSERT_FALSE(answers.empty());
    for (const auto& [id, completion] : answers) {
      EXPECT_TRUE(taken.insert(id).second);
      EXPECT_EQ(completion.number, 100 + static_cast<uint64_t>(id));
    }
  }
  EXPECT_FALSE(meeting.missed()) << "one check at a time";
  EXPECT_TRUE(checks.Take(/*wait=*/true).empty());
}

TEST(BackgroundChecksTest, WhatIsCancelledBeforeItBeginsIsNeverAsked) {
  Meeting meeting;
  BackgroundChecks checks(1);
  std::set<RequestId> asked;  // on the single thread
  for (RequestId id = 0; id < 6; ++id) {
    checks.Ask(id, [&, id] {
      if (id == 0) meeting.Wait();
      asked.insert(id);
      return SearchCompletion();
    });
  }
  checks.Cancel(2);
  checks.Cancel(5);
  checks.Cancel(77);
  meeting.Wait();
  std::set<RequestId> taken;
  while (taken.size() < 4) {
    for (const auto& answer : checks.Take(/*wait=*/true)) {
      taken.insert(answer.first);
    }
  }
  const std::set<RequestId> expected = {0, 1, 3, 4};
  EXPECT_TRUE(checks.Take(/*wait=*/true).empty());
  EXPECT_EQ(taken, expected);
  EXPECT_EQ(asked, expected);
}

TEST(BackgroundChecksTest, ClearForgetsWhatIsAskedAndWaitsForTheRest) {
  std::atomic<int> ended{0};
  std::atomic<bool> begun{false};
  BackgroundChecks checks(1);
  for (RequestId id = 0; id < 50; ++id) {
    checks.Ask(id, [&] {
      begun = true;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      ++ended;
      return SearchCompletion();
    });
  }
  while (!begun) std::this_thread::yield();
  checks.Clear();
  const int after = ended;
  EXPECT_GE(after, 1);
  EXPECT_LT(after, 50);
  EXPECT_TRUE(checks.Take(/*wait=*/true).empty());
  checks.Ask(7, [] { return SearchCompletion{.correct = true}; });
  const auto answers = checks.Take(/*wait=*/true);
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_EQ(answers[0].first, 7);
  EXPECT_TRUE(answers[0].second.correct);
  EXPECT_EQ(ended, after);
}

// Accepts about a third of the responses; takes as long as `wait` says.
class WaitingVerifier : public Verifier {
 public:
  explicit WaitingVerifier(std::function<void()> wait)
      : wait_(std::move(wait)) {}
  std::string_view name() const override { return "waiting"; }
  bool intrinsic() const override { return true; }
  bool slow() const override { return true; }
  Verdict Check(const Problem&, const Reference&,
                std::string_view response) const override {
    ++under_way;
    wait_();
    ++calls;
    --under_way;
    unsigned sum = 0;
    for (const char c : response) sum = sum * 31 + static_cast<uint8_t>(c);
    return {.correct = sum % 3 == 0};
  }
  absl::StatusOr<std::vector<StepVerdict>> CheckSteps(
      const Problem&, const Reference&, std::string_view) const override {
    return absl::UnimplementedError("");
  }

  mutable std::atomic<int> under_way{0}, calls{0};

 private:
  const std::function<void()> wait_;
};

std::vector<SearchResult> Solve(const WaitingVerifier& verifier, int live,
                                bool slow,
                                const std::atomic<bool>* stop = nullptr) {
  ScriptedBackend backend({.max_delay = 2});
  const ByteTokenizer tokenizer;
  Executor executor(2);
  std::vector<Problem> problems;
  for (int i = 0; i < 12; ++i) {
    problems.push_back(
        {absl::StrCat("p", i), "script", absl::StrCat("problem ", i)});
  }
  std::vector<SearchResult> results(problems.size());
  {
    Runner runner({&backend, &tokenizer, &backend, &tokenizer}, executor, live);
    const SearchOptions options{.method = "puct:verify=true:in_flight=4",
                                .max_tokens = 400,
                                .seed = 5,
                                .keep_tree = true};
    const RunHooks hooks{
        .verifier = &verifier, .stop = stop, .background_checks = slow};
    const ScriptTask task;
    const auto algorithm = MakeAlgorithm(options.method).value();
    const absl::Status status = runner.Run(
        {.problems = problems,
         .task = &task,
         .algorithm = algorithm.get(),
         .options = &options,
         .hooks = &hooks,
         .on_done = [&](size_t i, SearchResult r) { results[i] = r; }});
    EXPECT_TRUE(status.ok()) << status;
    EXPECT_EQ(verifier.under_way, 0);
  }
  EXPECT_EQ(backend.live_sequences(), 0);
  return results;
}

TEST(BackgroundChecksTest, SearchesAreTheSameAndAskSideBySide) {
  const WaitingVerifier quick([] {});
  const auto base = Solve(quick, 1, /*slow=*/false);
  ASSERT_GT(quick.calls, 12);
  Meeting meeting;
  const WaitingVerifier slow([&] {
    if (meeting.meetings() < 5) meeting.Wait();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  });
  for (const int live : {1, 12}) {
    const auto other = Solve(live == 1 ? quick : slow, live, /*slow=*/true);
    for (size_t i = 0; i < base.size(); ++i) {
      EXPECT_EQ(other[i].answer, base[i].answer);
      EXPECT_EQ(other[i].tokens, base[i].tokens);
      ASSERT_EQ(other[i].tree.size(), base[i].tree.size());
      for (size_t n = 0; n < base[i].tree.size(); ++n) {
        EXPECT_EQ(other[i].tree[n].text, base[i].tree[n].text);
        EXPECT_EQ(other[i].tree[n].visits, base[i].tree[n].visits);
        EXPECT_EQ(other[i].tree[n].q, base[i].tree[n].q);
      }
    }
  }
  EXPECT_EQ(slow.calls * 2, quick.calls);
  EXPECT_GE(meeting.meetings(), 5);
  EXPECT_FALSE(meeting.missed()) << "the search waited for one check";
}

TEST(BackgroundChecksTest, AStopWaitsForChecksUnderWayAndLeavesNothing) {
  std::atomic<bool> stop{false};
  const WaitingVerifier verifier([&] {
    stop = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
  });
  const auto results = Solve(verifier, 12, /*slow=*/true, &stop);
  // Twelve searches made requests; few checks had begun.
  EXPECT_LT(verifier.calls, 12);
  int stopped = 0;
  for (const SearchResult& result : results) {
    stopped += result.stop_reason == "stopped from outside";
  }
  EXPECT_GE(stopped, 1);
}

}  // namespace
}  // namespace espalier
