#include "src/queue/pull_run.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/progress.h"
#include "base/status_macros.h"
#include "src/queue/queue_schema.h"
#include "src/trace/stored_tree.h"

namespace espalier {
namespace {

// Rows read at once.
constexpr int64_t kRows = 200;

class Puller {
 public:
  Puller(Postgres& db, const QueueRun& run, RunDb& out)
      : db_(db), run_(run), out_(out) {}

  absl::StatusOr<PullReport> Run() {
    constexpr int64_t kMost = int64_t{1} << 31;
    if (run_.problems < 0 || run_.problems > kMost || run_.searches < 0 ||
        run_.searches > kMost) {
      return absl::DataLossError(absl::StrCat(
          db_.name(), ": run ", run_.row.run_id, " is said to have ",
          run_.problems, " problems and ", run_.searches, " searches of each"));
    }
    ESP_RETURN_IF_ERROR(AddRun());
    ESP_RETURN_IF_ERROR(AddProblems());
    report_.problems = run_.problems;
    report_.searches = run_.problems * run_.searches;
    Progress progress("pull", report_.searches, "searches");
    for (int64_t begin = 0; begin < report_.searches; begin += kRows) {
      ESP_RETURN_IF_ERROR(AddSearches(begin));
      progress.Set(std::min(begin + kRows, report_.searches), 0);
    }
    if (!report_.damaged.empty()) ESP_RETURN_IF_ERROR(MarkUnfinished());
    ESP_RETURN_IF_ERROR(out_.Commit());
    progress.Finish();
    return report_;
  }

 private:
  PgValue run() const { return PgValue::Int(run_.row.run_id); }
  // From `begin`, at most kRows.
  std::vector<PgValue> Range(int64_t begin) const {
    return {run(), PgValue::Int(begin), PgValue::Int(begin + kRows)};
  }

  absl::Status AddRun() {
    ESP_ASSIGN_OR_RETURN(run_id_, out_.AddRun(run_.row.info));
    ESP_ASSIGN_OR_RETURN(
        Statement s,
        out_.sqlite().Prepare("UPDATE runs SET version=?, started_at=?, "
                              "finished_at=? WHERE run_id=?"));
    s.BindText(1, run_.row.version);
    s.BindText(2, run_.row.started_at);
    if (run_.row.finished_at.empty()) {
      s.BindNull(3);
    } else {
      s.BindText(3, run_.row.finished_at);
    }
    s.BindInt(4, run_id_);
    return s.Run();
  }

  absl::Status AddProblems() {
    for (int64_t begin = 0; begin < run_.problems; begin += kRows) {
      ESP_ASSIGN_OR_RETURN(
          const PgRows rows,
          db_.Run("SELECT name, set_name, task, question, answer FROM "
                  "espalier.problems WHERE run_id=$1 AND problem_no >= $2 AND "
                  "problem_no < $3 ORDER BY problem_no",
                  Range(begin)));
      if (rows.size() == 0) break;
      for (int r = 0; r < rows.size(); ++r) {
        const std::string set = rows.Bytes(r, 1);
        names_.push_back(rows.Bytes(r, 0));
        ESP_ASSIGN_OR_RETURN(
            problems_.emplace_back(),
            out_.AddProblem({{rows.Bytes(r, 0), set, rows.Bytes(r, 3)},
                             {rows.Bytes(r, 4), {}}},
                            set, rows.Bytes(r, 2)));
      }
    }
    if (static_cast<int64_t>(problems_.size()) == run_.problems) {
      return absl::OkStatus();
    }
    return absl::DataLossError(
        absl::StrCat(db_.name(), ": run ", run_.row.run_id, " holds ",
                     problems_.size(), " problems of ", run_.problems));
  }

  absl::Status AddSearches(int64_t begin) {
    ESP_ASSIGN_OR_RETURN(
        const PgRows rows,
        db_.Run("SELECT search_no, problem_no, seed, state, answer, correct, "
                "score, stop_reason, error, stage, tokens, prompt_tokens, "
                "reward_tokens, verdict_tokens, model_calls, simulations, "
                "nodes, seconds, responses FROM espalier.searches "
                "WHERE run_id=$1 AND search_no >= $2 AND search_no < $3 ORDER "
                "BY search_no",
                Range(begin)));
    for (int r = 0; r < rows.size(); ++r) {
      const auto problem = static_cast<size_t>(rows.Int(r, 1));
      if (problem >= problems_.size()) {
        return absl::DataLossError(absl::StrCat(
            db_.name(), ": search ", rows.Int(r, 0), " is of no problem"));
      }
      ESP_ASSIGN_OR_RETURN(
          const SearchRow search,
          out_.BeginSearch(run_id_, problems_[problem],
                           static_cast<uint64_t>(rows.Int(r, 2))));
      const std::string state = rows.Bytes(r, 3);
      if (state == "done" || state == "failed") {
        ESP_RETURN_IF_ERROR(End(rows, r, search.search_id, state == "failed"));
      } else if (rows.Int(r, 18) > 0) {
        ESP_ASSIGN_OR_RETURN(const int64_t lost,
                             AddResponses(rows.Int(r, 0), search.search_id));
        if (lost > 0) {
          AddDamage(rows, r,
                    absl::StrCat(lost, " of its responses cannot be read"));
        }
      }
    }
    return absl::OkStatus();
  }

  absl::Status End(const PgRows& rows, int r, int64_t search_id, bool failed) {
    FinishedSearch end{
        .state = failed ? SearchState::kFailed : SearchState::kDone,
        .answer = rows.Bytes(r, 4),
        .score = rows.Real(r, 6),
        .stop_reason = rows.Bytes(r, 7),
        .error = rows.Bytes(r, 8),
        .stage = rows.Bytes(r, 9),
        .tokens = rows.Int(r, 10),
        .prompt_tokens = rows.Int(r, 11),
        .reward_tokens = rows.Int(r, 12),
        .verdict_tokens = rows.Int(r, 13),
        .model_calls = rows.Int(r, 14),
        .simulations = rows.Int(r, 15),
        .nodes = rows.Int(r, 16),
        .seconds = rows.Real(r, 17)};
    if (!rows.IsNull(r, 5)) end.correct = rows.Bool(r, 5);
    const absl::Status whole = ReadLarge(rows.Int(r, 0), end);
    if (absl::IsDataLoss(whole)) {
      // An error of the server ended the transaction, but for what came before
      // the savepoint.
      ESP_RETURN_IF_ERROR(db_.Script("ROLLBACK TO SAVEPOINT whole"));
      AddDamage(rows, r, std::string(whole.message()));
      return absl::OkStatus();
    }
    ESP_RETURN_IF_ERROR(whole);
    ++report_.ended;
    return out_.FinishSearch(search_id, end);
  }

  // Tree, log and solutions, which may be large: of one search at a time.
  absl::Status ReadLarge(int64_t number, FinishedSearch& end) {
    const std::vector<PgValue> key = {run(), PgValue::Int(number)};
    ESP_ASSIGN_OR_RETURN(
        const PgRows blobs,
        db_.Run(absl::StrCat("SELECT tree, log, digest IS NOT DISTINCT FROM "
                             "CASE WHEN tree IS NULL AND log IS NULL THEN NULL "
                             "ELSE ",
                             DigestSql("tree", "log"),
                             " END FROM espalier.searches WHERE run_id=$1 AND "
                             "search_no=$2"),
                key));
    if (!blobs.Bool(0, 2)) {
      return absl::DataLossError("its tree or log is not what was uploaded");
    }
    end.tree = blobs.Bytes(0, 0);
    end.log = blobs.Bytes(0, 1);
    ESP_ASSIGN_OR_RETURN(
        const PgRows solutions,
        db_.Run("SELECT response, logprob, tokens FROM espalier.solutions "
                "WHERE run_id=$1 AND search_no=$2 ORDER BY solution_no",
                key));
    for (int i = 0; i < solutions.size(); ++i) {
      end.solutions.push_back(
          {solutions.Bytes(i, 0), solutions.Real(i, 1), solutions.Int(i, 2)});
    }
    return absl::OkStatus();
  }

  // `rows`: those of AddSearches.
  void AddDamage(const PgRows& rows, int r, const std::string& what) {
    report_.damaged.push_back(
        absl::StrCat(names_[static_cast<size_t>(rows.Int(r, 1))], ", seed ",
                     static_cast<uint64_t>(rows.Int(r, 2)), ": ", what));
  }

  // There is something left to search.
  absl::Status MarkUnfinished() {
    ESP_ASSIGN_OR_RETURN(
        Statement s,
        out_.sqlite().Prepare("UPDATE runs SET finished_at=NULL WHERE "
                              "run_id=?"));
    s.BindInt(1, run_id_);
    return s.Run();
  }

  // How many of them are damaged, and left out.
  absl::StatusOr<int64_t> AddResponses(int64_t number, int64_t search_id) {
    int64_t damaged = 0;
    ESP_ASSIGN_OR_RETURN(
        const PgRows rows,
        db_.Run("SELECT number, entry FROM espalier.responses WHERE "
                "run_id=$1 AND search_no=$2 ORDER BY number",
                {run(), PgValue::Int(number)}));
    for (int r = 0; r < rows.size(); ++r) {
      const std::string entry = rows.Bytes(r, 1);
      if (!DecodeEntry(entry).ok()) {
        ++damaged;
        continue;
      }
      ESP_RETURN_IF_ERROR(out_.AddResponse(
          search_id, static_cast<uint64_t>(rows.Int(r, 0)), entry));
    }
    return damaged;
  }

  Postgres& db_;
  const QueueRun& run_;
  RunDb& out_;
  int64_t run_id_ = 0;              // in out_
  std::vector<int64_t> problems_;   // rows of out_, by number in the set
  std::vector<std::string> names_;  // of these
  PullReport report_;
};

}  // namespace

absl::StatusOr<PullReport> PullRun(WorkQueue& queue, const QueueRun& run,
                                   RunDb& out) {
  // One state of the queue, whatever workers write meanwhile.
  ESP_RETURN_IF_ERROR(
      queue.db().Script("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"));
  ESP_RETURN_IF_ERROR(queue.db().Script("SAVEPOINT whole"));
  const absl::StatusOr<PullReport> report = Puller(queue.db(), run, out).Run();
  queue.db().Script("ROLLBACK").IgnoreError();
  return report;
}

}  // namespace espalier
