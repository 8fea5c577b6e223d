#include "tools/espalier/queue_worker.h"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/clock.h"
#include "base/progress.h"
#include "base/status_macros.h"
#include "nlohmann/json.hpp"
#include "src/queue/generate_queue.h"
#include "src/queue/queue_worker.h"
#include "tools/espalier/command.h"
#include "tools/espalier/option_checks.h"
#include "tools/espalier/printable.h"

namespace espalier {

void AddQueueFlags(CLI::App& app, QueueFlags& flags) {
  app.add_option("--queue", flags.url,
                 "Instead of --out: share the work with every other worker "
                 "that is started with this command, through a PostgreSQL "
                 "database postgres://USER@HOST/DATABASE (password only in "
                 "PGPASSWORD or ~/.pgpass); espalier db pull writes the run "
                 "database")
      ->type_name("URL");
  app.add_option("--lease", flags.lease,
                 "With --queue: seconds after which the searches of a worker "
                 "that is silent go to others, who continue them")
      ->capture_default_str()
      ->check(RealFrom(1, 86400));
  app.add_option("--queue-patience", flags.patience,
                 "With --queue: seconds that the database may be away, when "
                 "the worker starts or later, before it gives up")
      ->capture_default_str()
      ->check(RealFrom(0, 1e9));
}

absl::Status CheckQueueUrl(const std::string& url) {
  const absl::Status status = CheckPostgresUrl(url);
  if (status.ok()) return status;
  return absl::InvalidArgumentError(
      absl::StrCat("--queue: ", status.message()));
}

absl::Status RunQueueWorker(
    const QueueFlags& flags, const JsonOutput& json, Engine& engine,
    const ProblemSet& set, const GenerateOptions& options,
    const std::function<absl::StatusOr<RunInfo>(const std::vector<RunRow>&)>&
        describe) {
  const auto away = [&](const absl::Status& error) {
    if (error.ok()) {
      std::fprintf(stderr, "generate: the database is there again\n");
      return;
    }
    std::fprintf(stderr, "generate: %s; trying again for up to %s\n",
                 Printable(std::string(error.message())).c_str(),
                 HumanSeconds(flags.patience).c_str());
  };
  ESP_ASSIGN_OR_RETURN(const JoinedRun joined,
                       JoinRun(
                           {.url = flags.url,
                            .lease = flags.lease,
                            .patience = flags.patience,
                            .stop = &StopRequested(),
                            .away = away},
                           [&](const std::vector<QueueRun>& runs) {
                             std::vector<RunRow> rows;
                             for (const QueueRun& run : runs)
                               rows.push_back(run.row);
                             return describe(rows);
                           },
                           set, options.searches));
  const std::string name = Printable(joined.queue);
  std::fprintf(stderr, "generate: %s run %lld of %s\n",
               joined.added ? "added" : "joined",
               static_cast<long long>(joined.run), name.c_str());
  QueueWorker& worker = *joined.worker;
  const double start = Clock::Real().Seconds();
  const int64_t all =
      static_cast<int64_t>(set.problems.size()) * options.searches;
  Progress progress("generate " + Printable(set.name), all, "searches");
  const auto show = [&](const GenerateTotals& totals) {
    const QueueCounts counts = worker.counts();
    // What others have ended is known from time to time.
    const int64_t ended = counts.left < 0
                              ? totals.searched
                              : std::max(all - counts.left, totals.searched);
    progress.Set(ended, ended - totals.searched);
    progress.SetNote(absl::StrFormat(
        "%d by this worker of %d%s", totals.searched, counts.workers,
        counts.away.empty() ? "" : "; away: " + Printable(counts.away)));
  };
  const absl::StatusOr<GenerateTotals> generated =
      GenerateFromQueue(engine, worker, set, options, {&StopRequested(), show});
  const bool stopped = StopRequested().load();
  // Another worker would end on the same search, unless a server is away.
  const bool blame = !generated.ok() &&
                     !absl::IsUnavailable(generated.status()) &&
                     !absl::IsUnauthenticated(generated.status());
  const absl::Status left = worker.Leave(stopped ? 10 : 60, blame);
  ESP_RETURN_IF_ERROR(generated.status());
  if (!left.ok() && stopped) {
    return absl::CancelledError(
        absl::StrCat("stopped; what was not uploaded is searched again by "
                     "others, as the database does not answer (",
                     left.message(), ")"));
  }
  if (!left.ok()) {
    return absl::Status(
        left.code(),
        absl::StrCat(left.message(),
                     "; what was not uploaded is searched again by others"));
  }
  const GenerateTotals& totals = *generated;
  show(totals);
  progress.Finish();
  const int64_t open = std::max<int64_t>(0, worker.counts().left);
  ESP_RETURN_IF_ERROR(json.Write(nlohmann::ordered_json{
      {"queue", name},
      {"run", joined.run},
      {"searches", totals.searches},
      {"done_here", totals.searched},
      {"failed_here", totals.failed},
      {"graded_here", totals.graded},
      {"solved_here", totals.solved},
      {"tokens_here", totals.tokens},
      {"speculated_tokens_here", totals.speculated_tokens},
      {"left", open},
      {"stopped", totals.stopped},
      {"seconds", Clock::Real().Seconds() - start}}));
  std::string text = absl::StrFormat("%s run %d: %d searches by this worker",
                                     name, joined.run, totals.searched);
  if (totals.graded > 0) {
    absl::StrAppendFormat(&text, ", %d of %d solved", totals.solved,
                          totals.graded);
  }
  if (totals.failed > 0) {
    absl::StrAppendFormat(&text, ", %d failed, the first because %s",
                          totals.failed, Printable(totals.first_error));
  }
  std::fprintf(json.report(), "%s\n", text.c_str());
  if (totals.stopped) {
    return absl::CancelledError(
        "stopped; other workers, or the same command, continue from here");
  }
  std::fprintf(json.report(),
               "the run is over; espalier db pull URL --run %lld --out run.db "
               "writes its run database\n",
               static_cast<long long>(joined.run));
  return absl::OkStatus();
}

}  // namespace espalier
