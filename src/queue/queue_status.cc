#include "src/queue/queue_status.h"

#include <algorithm>
#include <utility>

#include "base/status_macros.h"

namespace espalier {
namespace {

constexpr double kWindow = 300;  // seconds, at least
constexpr int64_t kEnough = 20;  // searches that a rate is taken from

absl::Status AddCounts(Postgres& db, QueueRunStatus& status) {
  ESP_ASSIGN_OR_RETURN(
      const PgRows rows,
      db.Run("SELECT count(*) FILTER (WHERE state='waiting'), count(*) FILTER "
             "(WHERE state='running'), count(*) FILTER (WHERE state='done'), "
             "count(*) FILTER (WHERE state='failed'), count(*) FILTER (WHERE "
             "state='done' AND correct IS NOT NULL), count(*) FILTER (WHERE "
             "state='done' AND correct), sum(continued)::bigint, "
             "sum(tokens)::bigint, "
             "(SELECT extract(epoch FROM clock_timestamp() - "
             "started_at)::double precision FROM espalier.runs WHERE "
             "run_id=$1) FROM espalier.searches WHERE run_id=$1",
             {PgValue::Int(status.run.row.run_id)}));
  status.waiting = rows.Int(0, 0);
  status.running = rows.Int(0, 1);
  status.done = rows.Int(0, 2);
  status.failed = rows.Int(0, 3);
  status.graded = rows.Int(0, 4);
  status.solved = rows.Int(0, 5);
  status.continued = rows.Int(0, 6);
  status.tokens = rows.Int(0, 7);
  // The last five minutes, or longer where searches take long.
  ESP_ASSIGN_OR_RETURN(
      const PgRows last,
      db.Run("SELECT extract(epoch FROM clock_timestamp() - "
             "min(finished_at))::double precision, extract(epoch FROM "
             "clock_timestamp() - max(finished_at))::double precision FROM "
             "(SELECT finished_at "
             "FROM espalier.searches WHERE run_id=$1 AND finished_at IS NOT "
             "NULL ORDER BY finished_at DESC LIMIT $2) t",
             {PgValue::Int(status.run.row.run_id), PgValue::Int(kEnough)}));
  // Nothing has happened since the last search ended if none is left.
  const auto left = static_cast<double>(status.waiting + status.running);
  const double idle = left == 0 ? last.Real(0, 1) : 0;
  const double since_start = std::max(rows.Real(0, 8) - idle, 1.0);
  const double seconds =
      std::min(since_start, std::max(kWindow, 1.01 * (last.Real(0, 0) - idle)));
  ESP_ASSIGN_OR_RETURN(
      const PgRows lately,
      db.Run("SELECT count(*) FROM espalier.searches WHERE run_id=$1 AND "
             "finished_at > clock_timestamp() - $2 * interval '1 second'",
             {PgValue::Int(status.run.row.run_id),
              PgValue::Real(idle + seconds)}));
  const auto ended = static_cast<double>(lately.Int(0, 0));
  status.searches_per_hour = 3600 * ended / seconds;
  if (left == 0) {
    status.seconds_left = 0;
  } else if (ended > 0) {
    status.seconds_left = left * seconds / ended;
  }
  return absl::OkStatus();
}

absl::Status AddWorkers(Postgres& db, QueueRunStatus& status) {
  ESP_ASSIGN_OR_RETURN(
      const PgRows rows,
      db.Run("SELECT w.worker_id, host, pid, CASE WHEN ended_at IS NOT NULL "
             "THEN 'left' WHEN seen_at > clock_timestamp() - lease * interval "
             "'1 second' THEN 'working' ELSE 'lost' END, (SELECT count(*) "
             "FROM espalier.searches s WHERE s.run_id=$1 AND "
             "s.state='running' AND s.worker_id=w.worker_id), done, tokens, "
             "extract(epoch FROM seen_at - started_at)::double precision, "
             "extract(epoch FROM clock_timestamp() - seen_at)::double "
             "precision FROM espalier.workers w WHERE run_id=$1 ORDER BY 1",
             {PgValue::Int(status.run.row.run_id)}));
  for (int r = 0; r < rows.size(); ++r) {
    QueueWorkerStatus worker{.worker = rows.Int(r, 0),
                             .host = rows.Bytes(r, 1),
                             .pid = rows.Int(r, 2),
                             .state = rows.Bytes(r, 3),
                             .held = rows.Int(r, 4),
                             .done = rows.Int(r, 5),
                             .tokens = rows.Int(r, 6),
                             .seconds = rows.Real(r, 7),
                             .seconds_silent = rows.Real(r, 8)};
    const double seconds = std::max(worker.seconds, 1.0);
    worker.searches_per_hour =
        3600 * static_cast<double>(worker.done) / seconds;
    worker.tokens_per_second = static_cast<double>(worker.tokens) / seconds;
    status.workers.push_back(std::move(worker));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<QueueRunStatus>> QueueStatus(WorkQueue& queue,
                                                        int64_t run) {
  ESP_ASSIGN_OR_RETURN(std::vector<QueueRun> runs, queue.Runs());
  std::vector<QueueRunStatus> all;
  for (QueueRun& each : runs) {
    if (run != 0 && each.row.run_id != run) continue;
    QueueRunStatus status{.run = std::move(each)};
    ESP_RETURN_IF_ERROR(AddCounts(queue.db(), status));
    ESP_RETURN_IF_ERROR(AddWorkers(queue.db(), status));
    all.push_back(std::move(status));
  }
  return all;
}

}  // namespace espalier
