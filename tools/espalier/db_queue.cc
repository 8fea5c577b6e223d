#include "tools/espalier/db_queue.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "base/progress.h"
#include "base/status_macros.h"
#include "nlohmann/json.hpp"
#include "src/queue/pull_run.h"
#include "src/queue/queue_status.h"
#include "src/queue/work_queue.h"
#include "src/trace/merge.h"
#include "tools/espalier/command.h"
#include "tools/espalier/printable.h"

namespace espalier {
namespace {

namespace fs = std::filesystem;

// The run of that number, or the only one.
absl::StatusOr<QueueRun> FindRun(WorkQueue& queue, int64_t number) {
  ESP_ASSIGN_OR_RETURN(std::vector<QueueRun> runs, queue.Runs());
  const std::string& name = queue.db().name();
  if (runs.empty()) {
    return absl::NotFoundError(absl::StrCat(name, ": the queue has no run"));
  }
  if (number == 0 && runs.size() == 1) return std::move(runs.front());
  for (QueueRun& run : runs) {
    if (run.row.run_id == number) return std::move(run);
  }
  if (number == 0) {
    return UsageError(absl::InvalidArgumentError(
        absl::StrCat(name, ": the queue has ", runs.size(),
                     " runs; name one by --run (espalier db status lists "
                     "them)")));
  }
  return absl::NotFoundError(absl::StrCat(name, ": no run ", number));
}

void RemoveFiles(const std::string& path) {
  std::error_code error;
  for (const char* suffix : {"", "-wal", "-shm", "-journal"}) {
    fs::remove(path + suffix, error);
  }
}

// The remedies in errors of run databases are for programs that record one.
absl::Status AsPull(const absl::Status& error) {
  if (error.ok()) return error;
  return absl::Status(
      error.code(),
      absl::StrReplaceAll(error.message(),
                          {{"what was recorded before is kept: ", ""},
                           {"What was recorded before is kept: ", ""},
                           {"continue with --resume", "pull again"}}));
}

absl::StatusOr<PullReport> PullToFile(WorkQueue& queue, const QueueRun& run,
                                      const std::string& path) {
  absl::StatusOr<PullReport> report = [&]() -> absl::StatusOr<PullReport> {
    ESP_ASSIGN_OR_RETURN(const auto db, RunDb::Open(path, Sqlite::kCreate));
    return PullRun(queue, run, *db);
  }();
  if (report.ok()) return report;
  RemoveFiles(path);
  return AsPull(report.status());
}

// Adds the run to a database that is there.
absl::StatusOr<PullReport> PullInto(WorkQueue& queue, const QueueRun& run,
                                    const std::string& out,
                                    std::vector<std::string>& conflicts) {
  ESP_ASSIGN_OR_RETURN(const auto db, RunDb::Open(out, Sqlite::kWrite));
  const std::string part = out + ".pull";
  RemoveFiles(part);
  ESP_ASSIGN_OR_RETURN(const PullReport report, PullToFile(queue, run, part));
  absl::StatusOr<MergeReport> merged = MergeRuns({part}, *db);
  RemoveFiles(part);
  ESP_RETURN_IF_ERROR(AsPull(merged.status()));
  conflicts = std::move(merged->conflicts);
  return report;
}

// A few of many.
std::string FirstOf(const std::vector<std::string>& all) {
  constexpr size_t kShown = 5;
  std::string text;
  for (size_t i = 0; i < std::min(kShown, all.size()); ++i) {
    absl::StrAppend(&text, "\n  ", all[i]);
  }
  if (all.size() > kShown) {
    absl::StrAppend(&text, "\n  and ", all.size() - kShown,
                    " more; --json has all");
  }
  return text;
}

nlohmann::ordered_json StatusJson(const QueueRunStatus& status) {
  nlohmann::ordered_json workers = nlohmann::ordered_json::array();
  for (const QueueWorkerStatus& worker : status.workers) {
    workers.push_back({{"worker", worker.worker},
                       {"host", worker.host},
                       {"pid", worker.pid},
                       {"state", worker.state},
                       {"held", worker.held},
                       {"done", worker.done},
                       {"tokens", worker.tokens},
                       {"seconds", worker.seconds},
                       {"seconds_silent", worker.seconds_silent},
                       {"searches_per_hour", worker.searches_per_hour},
                       {"tokens_per_second", worker.tokens_per_second}});
  }
  const RunRow& row = status.run.row;
  nlohmann::ordered_json json = {
      {"run", row.run_id},
      {"method", row.info.method},
      {"started_at", row.started_at},
      {"finished_at", nullptr},
      {"searches", status.run.problems * status.run.searches},
      {"waiting", status.waiting},
      {"running", status.running},
      {"done", status.done},
      {"failed", status.failed},
      {"graded", status.graded},
      {"solved", status.solved},
      {"continued", status.continued},
      {"tokens", status.tokens},
      {"searches_per_hour", status.searches_per_hour},
      {"seconds_left", nullptr},
      {"workers", std::move(workers)}};
  if (!row.finished_at.empty()) json["finished_at"] = row.finished_at;
  if (status.seconds_left >= 0) json["seconds_left"] = status.seconds_left;
  return json;
}

void PrintRun(std::FILE* to, const QueueRunStatus& status) {
  const RunRow& row = status.run.row;
  const int64_t all = status.run.problems * status.run.searches;
  const int64_t ended = status.done + status.failed;
  absl::FPrintF(to, "\nrun %d: %s, begun %s%s\n", row.run_id,
                Printable(row.info.method), row.started_at,
                row.finished_at.empty() ? "" : ", over " + row.finished_at);
  absl::FPrintF(to,
                "  %d of %d searches ended (%.0f %%), %d under way, %d waiting",
                ended, all,
                100 * static_cast<double>(ended) /
                    static_cast<double>(std::max<int64_t>(all, 1)),
                status.running, status.waiting);
  if (status.failed > 0) absl::FPrintF(to, ", %d failed", status.failed);
  if (status.graded > 0) {
    absl::FPrintF(to, "; %d of %d solved", status.solved, status.graded);
  }
  absl::FPrintF(to, "\n  %d tokens", status.tokens);
  if (status.searches_per_hour > 0) {
    absl::FPrintF(to, ", %.0f searches/h", status.searches_per_hour);
  }
  if (status.seconds_left > 0) {
    absl::FPrintF(to, ", %s left", HumanSeconds(status.seconds_left));
  }
  if (status.continued > 0) {
    absl::FPrintF(to, "; %d times a worker continued another's search",
                  status.continued);
  }
  absl::FPrintF(to, "\n");
  for (const QueueWorkerStatus& worker : status.workers) {
    absl::FPrintF(to,
                  "  worker %d  %s:%d  %s, %d searches done, %d held, %.0f/h, "
                  "%.0f tokens/s, heard of %s ago\n",
                  worker.worker, Printable(worker.host), worker.pid,
                  worker.state, worker.done, worker.held,
                  worker.searches_per_hour, worker.tokens_per_second,
                  HumanSeconds(worker.seconds_silent));
  }
}

}  // namespace

absl::Status PullFromQueue(const std::string& url, int64_t run,
                           const std::string& out, const JsonOutput& json) {
  ESP_RETURN_IF_ERROR(json.Check());
  std::error_code error;
  const bool there = fs::exists(out, error);
  if (!there) ESP_RETURN_IF_ERROR(CheckOutputFile(out, /*force=*/true));
  ESP_RETURN_IF_ERROR(UsageError(CheckPostgresUrl(url)));
  ESP_ASSIGN_OR_RETURN(const auto queue,
                       WorkQueue::Open(url, /*create=*/false));
  ESP_ASSIGN_OR_RETURN(const QueueRun found, FindRun(*queue, run));
  std::vector<std::string> conflicts;
  ESP_ASSIGN_OR_RETURN(const PullReport report,
                       there ? PullInto(*queue, found, out, conflicts)
                             : PullToFile(*queue, found, out));
  absl::FPrintF(json.report(),
                "%s: run %d with %d problems, %d of %d searches ended\n",
                Printable(out), found.row.run_id, report.problems, report.ended,
                report.searches);
  ESP_RETURN_IF_ERROR(
      json.Write(nlohmann::ordered_json{{"out", out},
                                        {"run", found.row.run_id},
                                        {"problems", report.problems},
                                        {"searches", report.searches},
                                        {"ended", report.ended},
                                        {"conflicts", conflicts},
                                        {"damaged", report.damaged}}));
  if (!report.damaged.empty()) {
    return absl::DataLossError(absl::StrCat(
        report.damaged.size(),
        " searches are damaged in the queue; the others were written, and "
        "generate --resume with this file searches these again:",
        FirstOf(report.damaged)));
  }
  if (conflicts.empty()) return absl::OkStatus();
  return absl::AlreadyExistsError(
      absl::StrCat(conflicts.size(),
                   " searches are recorded differently in the file, which "
                   "keeps its own:",
                   FirstOf(conflicts)));
}

absl::Status PrintQueueStatus(const std::string& url, int64_t run,
                              const JsonOutput& json) {
  ESP_RETURN_IF_ERROR(json.Check());
  ESP_RETURN_IF_ERROR(UsageError(CheckPostgresUrl(url)));
  ESP_ASSIGN_OR_RETURN(const auto queue,
                       WorkQueue::Open(url, /*create=*/false));
  if (run != 0) ESP_RETURN_IF_ERROR(FindRun(*queue, run).status());
  ESP_ASSIGN_OR_RETURN(const std::vector<QueueRunStatus> runs,
                       QueueStatus(*queue, run));
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  absl::FPrintF(json.report(), "%s: queue with %d %s\n",
                Printable(queue->db().name()), runs.size(),
                runs.size() == 1 ? "run" : "runs");
  for (const QueueRunStatus& status : runs) {
    PrintRun(json.report(), status);
    list.push_back(StatusJson(status));
  }
  return json.Write(
      nlohmann::ordered_json{{"queue", queue->db().name()}, {"runs", list}});
}

absl::Status DropFromQueue(const std::string& url, int64_t run) {
  ESP_RETURN_IF_ERROR(UsageError(CheckPostgresUrl(url)));
  ESP_ASSIGN_OR_RETURN(const auto queue,
                       WorkQueue::Open(url, /*create=*/false));
  ESP_ASSIGN_OR_RETURN(const QueueRun found, FindRun(*queue, run));
  return queue->DropRun(found.row.run_id);
}

}  // namespace espalier
