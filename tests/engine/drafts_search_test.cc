// Searches of the shipped models are the same, byte for byte, with and without
// drafts (EngineOptions::drafts).
#include <algorithm>
#include <cstdint>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "datasets/tasks/task_registry.h"
#include "espalier/engine.h"
#include "espalier/engine_options.h"
#include "gtest/gtest.h"
#include "src/trace/search_recorder.h"
#include "src/trace/stored_tree.h"
#include "tests/engine/every_method.h"

namespace espalier {
namespace {

// What the run database would hold of each search: the bytes of its completions
// in order of their requests (they are appended in order of arrival, which
// depends on the batches) and of its tree.
class Bytes : public SearchRecorder {
 public:
  absl::StatusOr<std::optional<SearchCompletion>> Recall(
      size_t, const SearchRequest&) override {
    return std::nullopt;
  }
  absl::Status Append(size_t index, const SearchRequest& request,
                      const SearchCompletion& completion) override {
    log_[index].push_back({.number = request.number,
                           .kind = request.kind,
                           .fingerprint = Fingerprint(request),
                           .nodes = request.nodes,
                           .completion = completion});
    return absl::OkStatus();
  }
  void Stop(size_t index, uint64_t number, std::string_view reason) override {
    log_[index].push_back(
        {.number = number, .stop_reason = std::string(reason)});
  }
  absl::Status Finish(size_t index, const Tree& tree,
                      const SearchResult& result) override {
    std::vector<LogEntry>& log = log_[index];
    std::stable_sort(log.begin(), log.end(),
                     [](const LogEntry& a, const LogEntry& b) {
                       return a.number < b.number;
                     });
    std::string& out = bytes[index];
    for (const LogEntry& entry : log) out += EncodeEntry(entry);
    out += EncodeTree(ToStored(tree, {}, log));
    absl::StrAppend(&out, result.answer, "|", result.response, "|",
                    result.tokens, "|", result.score, "|", result.model_calls);
    return absl::OkStatus();
  }
  absl::Status Flush() override { return absl::OkStatus(); }

  std::map<size_t, std::string> bytes;

 private:
  std::map<size_t, std::vector<LogEntry>> log_;
};

constexpr const char* kDraftStories[] = {
    "Ann has 23 shells. She finds 48 more. She gives 17 to Tom. How many "
    "shells does Ann have now?",
    "Tom has 12 books. He buys 39 more. Now he gets twice as many. How many "
    "books does Tom have now?",
};
constexpr const char* kCountdowns[] = {"Use 3, 7 and 25 to reach 46.",
                                       "Use 2, 5 and 6 to reach 28."};

std::vector<Problem> ProblemsOf(const std::string& task) {
  std::vector<Problem> problems;
  const bool stories = task == "stories";
  for (const char* text : stories ? kDraftStories : kCountdowns) {
    problems.push_back({absl::StrCat(problems.size()), task, text});
  }
  return problems;
}

struct Made {
  explicit Made(const std::string& model, bool drafts, int live)
      : engine(Engine::Create(
                   {.policy = absl::StrCat("models/zoo/", model),
                    .more_policies = {absl::StrCat("models/zoo/", model)},
                    .threads = 1,
                    .live = live,
                    .drafts = drafts,
                    .kv_bytes = 64 << 20})
                   .value()) {}
  // What `method` leaves behind, or its error.
  std::string Run(const std::string& task, const std::string& method,
                  int64_t tokens) {
    Bytes bytes;
    const RunHooks hooks{.recorder = &bytes};
    std::string text;
    const absl::Status status =
        engine->SolveAll(ProblemsOf(task), *FindTask(task).value(),
                         {.method = method, .max_tokens = tokens, .seed = 7},
                         hooks, [&](size_t, SearchResult r) {
                           if (!r.status.ok())
                             absl::StrAppend(&text, r.status.ToString());
                         });
    if (!status.ok()) absl::StrAppend(&text, status.ToString());
    ok = text.empty();
    for (const auto& [index, of] : bytes.bytes) absl::StrAppend(&text, of);
    return text;
  }
  std::unique_ptr<Engine> engine;
  bool ok = false;  // of the last run
};

std::set<std::string> AllMethods() {
  std::set<std::string> methods;
  for (const AlgorithmInfo* info : ListAlgorithms()) methods.insert(info->name);
  for (const std::string& method : EveryMethod()) methods.insert(method);
  return methods;
}

void ExpectSameTrees(const std::string& model, int live, size_t least) {
  const std::string task = model.starts_with("stories") ? model : "countdown";
  Made with(model, true, live), without(model, false, live);
  size_t ran = 0;
  for (const std::string& method : AllMethods()) {
    const std::string expected = without.Run(task, method, 250);
    const bool ok = without.ok;
    EXPECT_TRUE(with.Run(task, method, 250) == expected) << method;
    EXPECT_EQ(with.ok, ok) << method << (ok ? "" : expected);
    ran += ok ? 1 : 0;
  }
  EXPECT_GE(ran, least);
  const EngineStats stats = with.engine->stats();
  std::cout << "figure: " << model << ", " << live
            << " searches at once: " << stats.drafts_accepted << " of "
            << stats.tokens_drafted << " drafts accepted, " << stats.batches
            << " batches, " << without.engine->stats().batches << " without\n";
  EXPECT_EQ(stats.tokens_generated, without.engine->stats().tokens_generated);
  EXPECT_GT(stats.drafts_accepted, stats.tokens_generated / 10);
  EXPECT_GT(stats.tokens_drafted, stats.drafts_accepted);
  EXPECT_LT(stats.batches, without.engine->stats().batches);
  EXPECT_EQ(without.engine->stats().tokens_drafted, 0);
}

TEST(DraftsSearchTest, EveryMethodGrowsTheSameTreeOnStories) {
  ExpectSameTrees("stories", 1, 55);
}

TEST(DraftsSearchTest, EveryMethodGrowsTheSameTreeSideBySide) {
  ExpectSameTrees("stories", 2, 55);
}

TEST(DraftsSearchTest, EveryMethodGrowsTheSameTreeOnCountdown) {
  ExpectSameTrees("countdown", 1, 50);
}

// A budget that ends within what a step guessed.
TEST(DraftsSearchTest, EveryBudgetGrowsTheSameTree) {
  Made with("stories", true, 2), without("stories", false, 2);
  for (const char* method : {"majority", "beam", "puct:in_flight=4"}) {
    for (int64_t tokens = 20; tokens <= 260; tokens += 7) {
      const std::string expected = without.Run("stories", method, tokens);
      EXPECT_TRUE(with.Run("stories", method, tokens) == expected)
          << method << " " << tokens;
    }
  }
  EXPECT_GT(with.engine->stats().drafts_accepted, 1000);
}

}  // namespace
}  // namespace espalier
