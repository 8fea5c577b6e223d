#include "src/queue/work_queue.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/random.h"
#include "base/status_macros.h"
#include "base/text.h"
#include "base/version.h"
#include "src/queue/queue_schema.h"

namespace espalier {
namespace {

constexpr int64_t kRunsLock = 0x45737061'00000001;

std::string HostName() {
  std::array<char, 256> name = {};
  if (gethostname(name.data(), name.size() - 1) != 0) return "unknown";
  std::string text = name.data();
  for (char& c : text) {
    if (c < ' ' || c > '~') c = '?';
  }
  return text;
}

// The statement that adds rows of `columns` columns to `table`.
std::string InsertRows(const std::string& table, size_t rows, int columns) {
  std::string sql = absl::StrCat("INSERT INTO ", table, " VALUES ");
  int parameter = 1;
  for (size_t r = 0; r < rows; ++r) {
    sql += r == 0 ? "(" : ",(";
    for (int c = 0; c < columns; ++c) {
      absl::StrAppend(&sql, c == 0 ? "$" : ",$", parameter++);
    }
    sql += ")";
  }
  return sql;
}

}  // namespace

std::string HashProblems(const ProblemSet& set) {
  uint64_t hash = StableHash(set.task);
  for (const GradedProblem& graded : set.problems) {
    for (const std::string* part :
         {&graded.problem.id, &graded.problem.question,
          &graded.reference.answer}) {
      hash = MixHash(hash, StableHash(*part));
    }
  }
  return absl::StrCat(absl::Hex(hash, absl::kZeroPad16));
}

absl::StatusOr<std::unique_ptr<WorkQueue>> WorkQueue::Open(
    const std::string& url, bool create) {
  ESP_ASSIGN_OR_RETURN(auto db, Postgres::Connect(url));
  ESP_RETURN_IF_ERROR(CheckQueue(*db, create));
  return std::unique_ptr<WorkQueue>(new WorkQueue(std::move(db)));
}

absl::StatusOr<bool> WorkQueue::TryLockRuns() {
  ESP_ASSIGN_OR_RETURN(
      const PgRows rows,
      db_->Run("SELECT pg_try_advisory_lock($1)", {PgValue::Int(kRunsLock)}));
  return rows.Bool(0, 0);
}

absl::Status WorkQueue::UnlockRuns() {
  return db_->Run("SELECT pg_advisory_unlock($1)", {PgValue::Int(kRunsLock)})
      .status();
}

absl::StatusOr<std::vector<QueueRun>> WorkQueue::Runs() {
  constexpr char kTime[] = "'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"'";
  ESP_ASSIGN_OR_RETURN(
      const PgRows rows,
      db_->Run(absl::StrCat(
          "SELECT run_id, kind, config, seed, method, model, model_hash, "
          "tokenizer_hash, reward_model_hash, config_hash, version, set_hash, "
          "problems, searches, to_char(started_at AT TIME ZONE 'UTC', ",
          kTime, "), to_char(finished_at AT TIME ZONE 'UTC', ", kTime,
          ") FROM espalier.runs ORDER BY run_id")));
  std::vector<QueueRun> runs;
  for (int r = 0; r < rows.size(); ++r) {
    runs.push_back(
        {.row = {.run_id = rows.Int(r, 0),
                 .info = {.kind = rows.Bytes(r, 1),
                          .config = rows.Bytes(r, 2),
                          .seed = static_cast<uint64_t>(rows.Int(r, 3)),
                          .method = rows.Bytes(r, 4),
                          .model = rows.Bytes(r, 5),
                          .model_hash = rows.Bytes(r, 6),
                          .tokenizer_hash = rows.Bytes(r, 7),
                          .reward_model_hash = rows.Bytes(r, 8)},
                 .config_hash = rows.Bytes(r, 9),
                 .version = rows.Bytes(r, 10),
                 .started_at = rows.Bytes(r, 14),
                 .finished_at = rows.Bytes(r, 15)},
         .set_hash = rows.Bytes(r, 11),
         .problems = rows.Int(r, 12),
         .searches = rows.Int(r, 13)});
  }
  return runs;
}

absl::StatusOr<int64_t> WorkQueue::AddRun(const RunInfo& info,
                                          const ProblemSet& set, int searches) {
  const auto add = [&]() -> absl::StatusOr<int64_t> {
    const auto problems = static_cast<int64_t>(set.problems.size());
    ESP_ASSIGN_OR_RETURN(
        const PgRows added,
        db_->Run(
            "INSERT INTO espalier.runs(config_hash, kind, config, seed, "
            "method, model, model_hash, tokenizer_hash, reward_model_hash, "
            "version, set_hash, problems, searches) VALUES ($1,$2,$3,$4,$5,$6,"
            "$7,$8,$9,$10,$11,$12,$13) RETURNING run_id",
            {PgValue::Text(ConfigHash(info)), PgValue::Text(info.kind),
             PgValue::Text(info.config),
             PgValue::Int(static_cast<int64_t>(info.seed)),
             PgValue::Text(info.method), PgValue::Bytes(info.model),
             PgValue::Text(info.model_hash), PgValue::Text(info.tokenizer_hash),
             PgValue::Text(info.reward_model_hash), PgValue::Text(Version()),
             PgValue::Text(HashProblems(set)), PgValue::Int(problems),
             PgValue::Int(searches)}));
    const int64_t run = added.Int(0, 0);
    constexpr size_t kRows = 500;
    for (size_t begin = 0; begin < set.problems.size(); begin += kRows) {
      const size_t end = std::min(begin + kRows, set.problems.size());
      std::vector<PgValue> values;
      for (size_t i = begin; i < end; ++i) {
        const auto& [problem, reference] = set.problems[i];
        values.push_back(PgValue::Int(run));
        values.push_back(PgValue::Int(static_cast<int64_t>(i)));
        values.push_back(PgValue::Bytes(problem.id));
        values.push_back(PgValue::Bytes(set.name));
        values.push_back(PgValue::Bytes(set.task));
        values.push_back(PgValue::Bytes(problem.question));
        values.push_back(reference.answer.empty()
                             ? PgValue::Null()
                             : PgValue::Bytes(reference.answer));
      }
      ESP_RETURN_IF_ERROR(
          db_->Run(InsertRows("espalier.problems", end - begin, 7), values)
              .status());
    }
    ESP_RETURN_IF_ERROR(
        db_->Run("INSERT INTO espalier.searches(run_id, search_no, "
                 "problem_no, seed) SELECT $1, s * $2 + p, p, $3 + s FROM "
                 "generate_series(0, $4 - 1) s, generate_series(0, $2 - 1) p",
                 {PgValue::Int(run), PgValue::Int(problems),
                  PgValue::Int(static_cast<int64_t>(info.seed)),
                  PgValue::Int(searches)})
            .status());
    return run;
  };
  ESP_RETURN_IF_ERROR(db_->Script("BEGIN ISOLATION LEVEL READ COMMITTED"));
  absl::StatusOr<int64_t> run = add();
  if (!run.ok()) {
    db_->Script("ROLLBACK").IgnoreError();
    return run;
  }
  ESP_RETURN_IF_ERROR(db_->Script("COMMIT"));
  return run;
}

absl::Status WorkQueue::DropRun(int64_t run) {
  ESP_ASSIGN_OR_RETURN(
      const PgRows rows,
      db_->Run("SELECT count(*) FROM espalier.workers WHERE run_id=$1 AND "
               "ended_at IS NULL AND seen_at > clock_timestamp() - lease * "
               "interval '1 second'",
               {PgValue::Int(run)}));
  if (rows.Int(0, 0) > 0) {
    return absl::FailedPreconditionError(
        absl::StrCat(db_->name(), ": ", rows.Int(0, 0),
                     " workers are at work on run ", run, "; stop them first"));
  }
  const auto drop = [&]() -> absl::Status {
    // In the order of workers: searches before the run.
    ESP_RETURN_IF_ERROR(
        db_->Run("SELECT 1 FROM espalier.searches WHERE run_id=$1 ORDER BY "
                 "search_no FOR UPDATE",
                 {PgValue::Int(run)})
            .status());
    return db_
        ->Run("DELETE FROM espalier.runs WHERE run_id=$1", {PgValue::Int(run)})
        .status();
  };
  ESP_RETURN_IF_ERROR(db_->Script("BEGIN ISOLATION LEVEL READ COMMITTED"));
  const absl::Status status = drop();
  if (status.ok()) return db_->Script("COMMIT");
  db_->Script("ROLLBACK").IgnoreError();
  return status;
}

absl::StatusOr<int64_t> WorkQueue::AddWorker(int64_t run, double lease) {
  ESP_ASSIGN_OR_RETURN(
      const PgRows rows,
      db_->Run("INSERT INTO espalier.workers(run_id, host, pid, lease) VALUES "
               "($1,$2,$3,$4) RETURNING worker_id",
               {PgValue::Int(run), PgValue::Text(HostName()),
                PgValue::Int(getpid()), PgValue::Real(lease)}));
  return rows.Int(0, 0);
}

}  // namespace espalier
