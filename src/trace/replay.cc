#include "src/trace/replay.h"

#include <limits>
#include <map>

#include "absl/strings/str_cat.h"
#include "base/text.h"

namespace espalier {

namespace {

// Requests in order of issue, each with its completion in the log.
class LogFeeder {
 public:
  LogFeeder(SearchDriver& driver, absl::Span<const LogEntry> log)
      : driver_(driver) {
    for (const LogEntry& entry : log) {
      if (entry.stop_reason.empty()) {
        by_number_[entry.number] = &entry;
      } else {
        stop_ = &entry;
      }
    }
  }

  // Delivers the next completion and resumes the search; false if no request is
  // open.
  absl::StatusOr<bool> Feed() {
    for (SearchRequest& request : driver_.TakeRequests()) {
      open_.emplace(request.number, std::move(request));
    }
    if (open_.empty()) return false;
    const auto next = open_.begin();
    const uint64_t number = next->first;
    if (stop_ != nullptr && !stopped_ && number >= stop_->number) {
      stopped_ = true;
      driver_.Stop(stop_->stop_reason);
    }
    const auto found = by_number_.find(number);
    SearchCompletion completion{.number = number};
    if (found == by_number_.end()) {
      if (!stopped_) {
        return absl::DataLossError(
            absl::StrCat("request ", number, " (",
                         AbslView(RequestKindName(next->second.kind)),
                         ") has no completion in the log"));
      }
      completion.status = absl::CancelledError("search stopped");
    } else if (found->second->fingerprint != Fingerprint(next->second)) {
      return absl::DataLossError(absl::StrCat(
          "request ", number, " (",
          AbslView(RequestKindName(next->second.kind)),
          ") is not the one that the log answers: the method, its options or "
          "the program differ from the run's"));
    } else {
      completion = found->second->completion;
    }
    open_.erase(next);
    driver_.Put(std::move(completion));
    driver_.Advance();
    return true;
  }

 private:
  SearchDriver& driver_;
  std::map<uint64_t, const LogEntry*> by_number_;
  std::map<uint64_t, SearchRequest> open_;
  const LogEntry* stop_ = nullptr;
  bool stopped_ = false;
};

}  // namespace

absl::StatusOr<StoredTree> Replay(const Problem& problem, const Task& task,
                                  const SearchAlgorithm& algorithm,
                                  const SearchOptions& options,
                                  absl::Span<const LogEntry> log,
                                  const VerdictCost& verdicts) {
  Stoppers stoppers = MakeStoppers(options);
  SearchContext context(problem, task, stoppers, BudgetOf(options, problem),
                        options.seed);
  context.SetVerdictCost(verdicts);
  SearchDriver driver(context);
  Co<> search = algorithm.Run(context);
  search.Start();
  driver.Advance();
  LogFeeder feeder(driver, log);
  while (driver.failure().ok() && !search.done()) {
    const absl::StatusOr<bool> fed = feeder.Feed();
    if (!fed.ok()) return fed.status();
    if (!*fed) {
      return absl::InternalError(
          "the search has not ended and has no open request");
    }
  }
  return ToStored(context.tree(), {}, log);
}

}  // namespace espalier
