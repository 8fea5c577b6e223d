#include "src/trace/run_db.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "base/files.h"
#include "base/random.h"
#include "base/status_macros.h"
#include "base/version.h"
#include "src/trace/run_file.h"
#include "src/trace/schema.h"

namespace espalier {
namespace {

SearchState StateOf(const std::string& name) {
  if (name == "done") return SearchState::kDone;
  return name == "failed" ? SearchState::kFailed : SearchState::kRunning;
}

constexpr char kSearchColumns[] =
    "s.search_id, s.run_id, s.problem_id, p.name, s.seed, s.state, s.cached, "
    "s.answer, s.correct, s.tokens, s.nodes";

SearchRow ReadSearch(const Statement& s) {
  SearchRow row{.search_id = s.Int(0),
                .run_id = s.Int(1),
                .problem_id = s.Int(2),
                .problem = s.Text(3),
                .seed = static_cast<uint64_t>(s.Int(4)),
                .state = StateOf(s.Text(5)),
                .cached = s.Int(6) != 0,
                .answer = s.Text(7),
                .tokens = s.Int(9),
                .nodes = s.Int(10)};
  if (!s.IsNull(8)) row.correct = s.Int(8) != 0;
  return row;
}

void BindBool(Statement& s, int parameter, std::optional<bool> value) {
  if (value) {
    s.BindInt(parameter, *value ? 1 : 0);
  } else {
    s.BindNull(parameter);
  }
}

}  // namespace

std::string ConfigHash(const RunInfo& info) {
  uint64_t hash = MixHash(StableHash(info.kind), StableHash(info.config));
  for (const std::string* part :
       {&info.method, &info.model_hash, &info.tokenizer_hash,
        &info.reward_model_hash}) {
    hash = MixHash(hash, StableHash(*part));
  }
  return absl::StrCat(absl::Hex(MixHash(hash, info.seed), absl::kZeroPad16));
}

absl::StatusOr<std::unique_ptr<RunDb>> RunDb::Open(const std::string& path,
                                                   Sqlite::Mode mode) {
  ESP_ASSIGN_OR_RETURN(Sqlite opened, Sqlite::Open(path, mode));
  auto db = std::unique_ptr<RunDb>(new RunDb(std::move(opened)));
  // Locks before any change, including migrations.
  if (mode != Sqlite::kRead) ESP_RETURN_IF_ERROR(db->LockForWriting());
  ESP_RETURN_IF_ERROR(CheckRunDatabase(db->db_, mode));
  return db;
}

RunDb::~RunDb() {
  prepared_.clear();
  if (in_transaction_) db_.Execute("ROLLBACK").IgnoreError();
  // Closing any descriptor of the file drops SQLite's own locks in this
  // process, so the database is closed first.
  { const Sqlite closing = std::move(db_); }
  if (lock_ >= 0) close(lock_);
}

absl::Status RunDb::LockForWriting() {
  const std::string& path = db_.path();
  // SQLite creates the file at first use, but it must exist here.
  ESP_ASSIGN_OR_RETURN(lock_, LockRunFile(path));
  return absl::OkStatus();
}

absl::Status RunDb::BeginWriting() {
  if (in_transaction_) return absl::OkStatus();
  ESP_RETURN_IF_ERROR(db_.Execute("BEGIN IMMEDIATE"));
  in_transaction_ = true;
  return absl::OkStatus();
}

absl::Status RunDb::Commit() {
  if (!in_transaction_) return absl::OkStatus();
  ESP_RETURN_IF_ERROR(db_.Execute("COMMIT"));
  in_transaction_ = false;
  return CheckStillThere();
}

absl::Status RunDb::CheckStillThere() {
  struct stat locked;
  struct stat named;
  if (lock_ < 0 || fstat(lock_, &locked) != 0) return absl::OkStatus();
  if (stat(db_.path().c_str(), &named) == 0 && named.st_dev == locked.st_dev &&
      named.st_ino == locked.st_ino) {
    // SQLite only grows the file; if it was truncated, what SQLite writes
    // beyond the end stays unread.
    if (locked.st_size < size_) return CutError(db_.path());
    size_ = locked.st_size;
    return absl::OkStatus();
  }
  return MovedError(db_.path());
}

absl::StatusOr<Statement*> RunDb::Prepared(const char* sql) {
  for (auto& [text, statement] : prepared_) {
    if (text == sql) {
      statement->Reset();
      return statement.get();
    }
  }
  ESP_ASSIGN_OR_RETURN(Statement statement, db_.Prepare(sql));
  prepared_.emplace_back(sql,
                         std::make_unique<Statement>(std::move(statement)));
  return prepared_.back().second.get();
}

absl::StatusOr<int64_t> RunDb::AddRun(const RunInfo& info) {
  ESP_RETURN_IF_ERROR(BeginWriting());
  ESP_ASSIGN_OR_RETURN(
      Statement s,
      db_.Prepare("INSERT INTO runs(kind, config, config_hash, seed, method, "
                  "model, model_hash, tokenizer_hash, reward_model_hash, "
                  "version, started_at) VALUES (?,?,?,?,?,?,?,?,?,?,?)"));
  s.BindText(1, info.kind);
  s.BindText(2, info.config);
  s.BindText(3, ConfigHash(info));
  s.BindInt(4, static_cast<int64_t>(info.seed));
  s.BindText(5, info.method);
  s.BindText(6, info.model);
  s.BindText(7, info.model_hash);
  s.BindText(8, info.tokenizer_hash);
  s.BindText(9, info.reward_model_hash);
  s.BindText(10, Version());
  s.BindText(11, UtcTimestamp());
  ESP_RETURN_IF_ERROR(s.Run());
  return db_.last_insert_id();
}

absl::StatusOr<std::vector<RunRow>> RunDb::Runs() {
  ESP_ASSIGN_OR_RETURN(
      Statement s,
      db_.Prepare("SELECT run_id, kind, config, seed, method, model, "
                  "model_hash, tokenizer_hash, reward_model_hash, config_hash, "
                  "version, started_at, finished_at FROM runs ORDER BY 1"));
  std::vector<RunRow> rows;
  while (true) {
    ESP_ASSIGN_OR_RETURN(const bool more, s.Step());
    if (!more) return rows;
    rows.push_back({.run_id = s.Int(0),
                    .info = {.kind = s.Text(1),
                             .config = s.Text(2),
                             .seed = static_cast<uint64_t>(s.Int(3)),
                             .method = s.Text(4),
                             .model = s.Text(5),
                             .model_hash = s.Text(6),
                             .tokenizer_hash = s.Text(7),
                             .reward_model_hash = s.Text(8)},
                    .config_hash = s.Text(9),
                    .version = s.Text(10),
                    .started_at = s.Text(11),
                    .finished_at = s.Text(12)});
  }
}

absl::Status RunDb::FinishRun(int64_t run_id) {
  ESP_RETURN_IF_ERROR(BeginWriting());
  ESP_ASSIGN_OR_RETURN(
      Statement s,
      db_.Prepare("UPDATE runs SET finished_at = ? WHERE run_id = ?"));
  s.BindText(1, UtcTimestamp());
  s.BindInt(2, run_id);
  ESP_RETURN_IF_ERROR(s.Run());
  return Commit();
}

absl::StatusOr<int64_t> RunDb::AddProblem(const GradedProblem& problem,
                                          const std::string& set,
                                          const std::string& task) {
  ESP_ASSIGN_OR_RETURN(
      Statement * find,
      Prepared("SELECT problem_id, question, coalesce(answer, '') "
               "FROM problems WHERE name = ?"));
  find->BindText(1, problem.problem.id);
  ESP_ASSIGN_OR_RETURN(const bool known, find->Step());
  if (known) {
    const int64_t id = find->Int(0);
    const bool same = find->Text(1) == problem.problem.question;
    const std::string answer = find->Text(2);
    find->Reset();
    if (same && answer == problem.reference.answer) return id;
    return absl::InvalidArgumentError(absl::StrCat(
        db_.path(), ": already holds a different problem named ",
        problem.problem.id,
        same ? absl::StrCat(" (reference answer \"", answer, "\", not \"",
                            problem.reference.answer, "\")")
             : "",
        "; record this set to another file"));
  }
  ESP_RETURN_IF_ERROR(BeginWriting());
  ESP_ASSIGN_OR_RETURN(
      Statement * add,
      Prepared("INSERT INTO problems(name, set_name, task, question, answer) "
               "VALUES (?,?,?,?,?)"));
  add->BindText(1, problem.problem.id);
  add->BindText(2, set);
  add->BindText(3, task);
  add->BindText(4, problem.problem.question);
  if (problem.reference.answer.empty()) {
    add->BindNull(5);
  } else {
    add->BindText(5, problem.reference.answer);
  }
  ESP_RETURN_IF_ERROR(add->Run());
  return db_.last_insert_id();
}

absl::StatusOr<GradedProblem> RunDb::LoadProblem(int64_t problem_id,
                                                 std::string* task) {
  ESP_ASSIGN_OR_RETURN(Statement * s,
                       Prepared("SELECT name, set_name, question, answer, task "
                                "FROM problems WHERE problem_id = ?"));
  s->BindInt(1, problem_id);
  ESP_ASSIGN_OR_RETURN(const bool found, s->Step());
  if (!found) {
    return absl::NotFoundError(
        absl::StrCat(db_.path(), ": no problem ", problem_id));
  }
  GradedProblem problem{{s->Text(0), s->Text(1), s->Text(2)}, {s->Text(3), {}}};
  if (task != nullptr) *task = s->Text(4);
  s->Reset();
  return problem;
}

absl::StatusOr<SearchRow> RunDb::BeginSearch(int64_t run_id, int64_t problem_id,
                                             uint64_t seed) {
  static const std::string find_sql =
      absl::StrCat("SELECT ", kSearchColumns,
                   " FROM searches s JOIN problems p USING(problem_id) "
                   "WHERE s.run_id = ? AND s.problem_id = ? AND s.seed = ?");
  ESP_ASSIGN_OR_RETURN(Statement * find, Prepared(find_sql.c_str()));
  for (int attempt = 0;; ++attempt) {
    find->BindInt(1, run_id);
    find->BindInt(2, problem_id);
    find->BindInt(3, static_cast<int64_t>(seed));
    ESP_ASSIGN_OR_RETURN(const bool found, find->Step());
    if (found) {
      SearchRow row = ReadSearch(*find);
      find->Reset();
      return row;
    }
    if (attempt > 0) return absl::InternalError("a row was not inserted");
    ESP_RETURN_IF_ERROR(BeginWriting());
    ESP_ASSIGN_OR_RETURN(
        Statement * add,
        Prepared("INSERT INTO searches(run_id, problem_id, seed, state) "
                 "VALUES (?,?,?,'running')"));
    add->BindInt(1, run_id);
    add->BindInt(2, problem_id);
    add->BindInt(3, static_cast<int64_t>(seed));
    ESP_RETURN_IF_ERROR(add->Run());
  }
}

absl::StatusOr<std::vector<SearchRow>> RunDb::Searches(int64_t run_id) {
  ESP_ASSIGN_OR_RETURN(
      Statement s, db_.Prepare(absl::StrCat(
                       "SELECT ", kSearchColumns,
                       " FROM searches s JOIN problems p USING(problem_id) "
                       "WHERE s.run_id = ? ORDER BY s.seed, s.problem_id")));
  s.BindInt(1, run_id);
  std::vector<SearchRow> rows;
  while (true) {
    ESP_ASSIGN_OR_RETURN(const bool more, s.Step());
    if (!more) return rows;
    rows.push_back(ReadSearch(s));
  }
}

absl::StatusOr<std::vector<std::string>> RunDb::Responses(int64_t search_id) {
  ESP_ASSIGN_OR_RETURN(
      Statement * s,
      Prepared("SELECT entry FROM responses WHERE search_id = ? ORDER BY seq"));
  s->BindInt(1, search_id);
  std::vector<std::string> entries;
  while (true) {
    ESP_ASSIGN_OR_RETURN(const bool more, s->Step());
    if (!more) return entries;
    entries.push_back(s->Text(0));
  }
}

absl::Status RunDb::AddResponse(int64_t search_id, uint64_t number,
                                std::string_view entry) {
  ESP_RETURN_IF_ERROR(BeginWriting());
  ESP_ASSIGN_OR_RETURN(
      Statement * s,
      Prepared("INSERT INTO responses(search_id, seq, entry) VALUES (?,?,?)"));
  s->BindInt(1, search_id);
  s->BindInt(2, static_cast<int64_t>(number));
  s->BindBlob(3, entry);
  return s->Run();
}

absl::Status RunDb::FinishSearch(int64_t search_id,
                                 const FinishedSearch& finished) {
  ESP_RETURN_IF_ERROR(BeginWriting());
  ESP_ASSIGN_OR_RETURN(
      Statement * s,
      Prepared("UPDATE searches SET state=?, answer=?, correct=?, score=?, "
               "stop_reason=?, error=?, tokens=?, prompt_tokens=?, "
               "reward_tokens=?, model_calls=?, simulations=?, nodes=?, "
               "seconds=?, stage=?, verdict_tokens=? WHERE search_id=?"));
  s->BindText(1, SearchStateName(finished.state));
  if (finished.answer.empty()) {
    s->BindNull(2);
  } else {
    s->BindText(2, finished.answer);
  }
  BindBool(*s, 3, finished.correct);
  s->BindReal(4, finished.score);
  s->BindText(5, finished.stop_reason);
  if (finished.state == SearchState::kFailed) {
    s->BindText(6, finished.error);
  } else {
    s->BindNull(6);
  }
  s->BindInt(7, finished.tokens);
  s->BindInt(8, finished.prompt_tokens);
  s->BindInt(9, finished.reward_tokens);
  s->BindInt(10, finished.model_calls);
  s->BindInt(11, finished.simulations);
  s->BindInt(12, finished.nodes);
  s->BindReal(13, finished.seconds);
  s->BindText(14, finished.stage);
  s->BindInt(15, finished.verdict_tokens);
  s->BindInt(16, search_id);
  ESP_RETURN_IF_ERROR(s->Run());
  ESP_RETURN_IF_ERROR(AddTree(search_id, finished));
  for (const Solution& solution : finished.solutions) {
    ESP_RETURN_IF_ERROR(AddSolutionOf(search_id, solution));
  }
  return DropResponses(search_id);
}

absl::Status RunDb::ReopenSearch(int64_t search_id) {
  const absl::StatusOr<std::vector<LogEntry>> log = LoadLog(search_id);
  // A search may have failed before its first completion.
  if (!log.ok() && !absl::IsNotFound(log.status())) return log.status();
  ESP_RETURN_IF_ERROR(BeginWriting());
  if (log.ok()) {
    for (const LogEntry& entry : *log) {
      if (!entry.stop_reason.empty()) continue;  // reached anew
      ESP_RETURN_IF_ERROR(
          AddResponse(search_id, entry.number, EncodeEntry(entry)));
    }
  }
  for (const char* sql :
       {"DELETE FROM trees WHERE search_id=?",
        "UPDATE searches SET state='running', error=NULL WHERE search_id=?"}) {
    ESP_ASSIGN_OR_RETURN(Statement * s, Prepared(sql));
    s->BindInt(1, search_id);
    ESP_RETURN_IF_ERROR(s->Run());
  }
  return absl::OkStatus();
}

absl::Status RunDb::AddTree(int64_t search_id, const FinishedSearch& finished) {
  if (finished.tree.empty()) return absl::OkStatus();
  ESP_ASSIGN_OR_RETURN(
      Statement * s,
      Prepared("INSERT INTO trees(search_id, tree, log) VALUES (?,?,?)"));
  s->BindInt(1, search_id);
  s->BindBlob(2, finished.tree);
  s->BindBlob(3, finished.log);
  return s->Run();
}

absl::Status RunDb::AddSolutionOf(int64_t search_id, const Solution& solution) {
  ESP_ASSIGN_OR_RETURN(
      Statement * s,
      Prepared("INSERT OR IGNORE INTO solutions(problem_id, response, logprob, "
               "tokens, run_id) SELECT problem_id, ?, ?, ?, run_id FROM "
               "searches WHERE search_id=?"));
  s->BindText(1, solution.response);
  s->BindReal(2, solution.logprob);
  s->BindInt(3, solution.tokens);
  s->BindInt(4, search_id);
  return s->Run();
}

absl::Status RunDb::DropResponses(int64_t search_id) {
  ESP_ASSIGN_OR_RETURN(Statement * drop,
                       Prepared("DELETE FROM responses WHERE search_id = ?"));
  drop->BindInt(1, search_id);
  return drop->Run();
}

absl::Status RunDb::FinishFromCache(int64_t search_id,
                                    const std::string& answer) {
  ESP_RETURN_IF_ERROR(BeginWriting());
  ESP_ASSIGN_OR_RETURN(
      Statement * s,
      Prepared("UPDATE searches SET state='done', cached=1, answer=?, "
               "correct=1, stop_reason='answered from a solution found "
               "before', tokens=0, nodes=0, seconds=0 WHERE search_id=?"));
  s->BindText(1, answer);
  s->BindInt(2, search_id);
  ESP_RETURN_IF_ERROR(s->Run());
  return DropResponses(search_id);
}

absl::StatusOr<StoredTree> RunDb::LoadTree(int64_t search_id) {
  ESP_ASSIGN_OR_RETURN(Statement * s,
                       Prepared("SELECT tree FROM trees WHERE search_id = ?"));
  s->BindInt(1, search_id);
  ESP_ASSIGN_OR_RETURN(const bool found, s->Step());
  if (!found) {
    return absl::NotFoundError(
        absl::StrCat(db_.path(), ": search ", search_id, " has no tree"));
  }
  const std::string bytes = s->Text(0);
  s->Reset();
  ESP_ASSIGN_OR_RETURN(const std::string plain, Decompress(bytes));
  return DecodeTree(plain);
}

absl::StatusOr<std::vector<LogEntry>> RunDb::LoadLog(int64_t search_id) {
  ESP_ASSIGN_OR_RETURN(Statement * s,
                       Prepared("SELECT log FROM trees WHERE search_id = ?"));
  s->BindInt(1, search_id);
  ESP_ASSIGN_OR_RETURN(const bool found, s->Step());
  if (!found || s->IsNull(0)) {
    s->Reset();
    return absl::NotFoundError(
        absl::StrCat(db_.path(), ": search ", search_id, " has no log",
                     found ? "; it was pruned, and replay needs it" : ""));
  }
  const std::string bytes = s->Text(0);
  s->Reset();
  ESP_ASSIGN_OR_RETURN(const std::string plain, Decompress(bytes));
  return DecodeLog(plain);
}

absl::Status RunDb::AddSolution(int64_t problem_id, int64_t run_id,
                                const Solution& solution) {
  ESP_RETURN_IF_ERROR(BeginWriting());
  ESP_ASSIGN_OR_RETURN(
      Statement * s,
      Prepared("INSERT OR IGNORE INTO solutions(problem_id, response, logprob, "
               "tokens, run_id) VALUES (?,?,?,?,?)"));
  s->BindInt(1, problem_id);
  s->BindText(2, solution.response);
  s->BindReal(3, solution.logprob);
  s->BindInt(4, solution.tokens);
  s->BindInt(5, run_id);
  return s->Run();
}

absl::StatusOr<std::optional<Solution>> RunDb::BestSolution(
    int64_t problem_id) {
  ESP_ASSIGN_OR_RETURN(
      Statement * s,
      Prepared("SELECT response, logprob, tokens FROM solutions WHERE "
               "problem_id = ? ORDER BY logprob DESC, response LIMIT 1"));
  s->BindInt(1, problem_id);
  ESP_ASSIGN_OR_RETURN(const bool found, s->Step());
  std::optional<Solution> solution;
  if (found) solution = Solution{s->Text(0), s->Real(1), s->Int(2)};
  s->Reset();
  return solution;
}

absl::Status RunDb::PruneLogs(int64_t run_id) {
  ESP_RETURN_IF_ERROR(BeginWriting());
  return db_.Execute(absl::StrCat(
      "UPDATE trees SET log = NULL WHERE log IS NOT NULL",
      run_id == 0 ? ""
                  : absl::StrCat(" AND search_id IN (SELECT search_id FROM "
                                 "searches WHERE run_id = ",
                                 run_id, ")")));
}

absl::Status RunDb::DropRun(int64_t run_id) {
  ESP_RETURN_IF_ERROR(BeginWriting());
  const std::string searches = absl::StrCat(
      " WHERE search_id IN (SELECT search_id FROM searches WHERE run_id = ",
      run_id, ");");
  return db_.Execute(
      absl::StrCat("DELETE FROM responses", searches, "DELETE FROM trees",
                   searches, "DELETE FROM solutions WHERE run_id = ", run_id,
                   ";DELETE FROM searches WHERE run_id = ", run_id,
                   ";DELETE FROM runs WHERE run_id = ", run_id));
}

absl::Status RunDb::Compact() {
  ESP_RETURN_IF_ERROR(Commit());
  size_ = 0;
  return db_.Execute("VACUUM;PRAGMA wal_checkpoint(TRUNCATE)");
}

}  // namespace espalier
