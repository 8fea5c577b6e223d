#include "src/trace/schema.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace espalier {
namespace {

constexpr int64_t kApplicationId = 0x45737061;  // "Espa"

// Version 1. Rows of `responses` belong to unfinished searches; when a search
// ends they become one compressed log next to its tree.
constexpr char kFirstTables[] = R"sql(
CREATE TABLE runs(
  run_id INTEGER PRIMARY KEY,
  kind TEXT NOT NULL,            -- generate, self-train ...
  config TEXT NOT NULL,          -- JSON: all that decides what is recorded
  config_hash TEXT NOT NULL,
  seed INTEGER NOT NULL,
  method TEXT NOT NULL,          -- with all its options
  model TEXT NOT NULL,
  model_hash TEXT NOT NULL,
  tokenizer_hash TEXT NOT NULL,
  reward_model_hash TEXT NOT NULL,
  version TEXT NOT NULL,         -- of Espalier
  started_at TEXT NOT NULL,      -- UTC
  finished_at TEXT               -- NULL while there is work left
);
CREATE TABLE problems(
  problem_id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,     -- as stories:hard/2000/12
  set_name TEXT NOT NULL,
  task TEXT NOT NULL,
  question TEXT NOT NULL,
  answer TEXT                    -- the reference; NULL: unknown
);
CREATE TABLE searches(
  search_id INTEGER PRIMARY KEY,
  run_id INTEGER NOT NULL REFERENCES runs,
  problem_id INTEGER NOT NULL REFERENCES problems,
  seed INTEGER NOT NULL,
  state TEXT NOT NULL CHECK(state IN ('running', 'done', 'failed')),
  cached INTEGER NOT NULL DEFAULT 0,  -- answered from solutions: no tree, and
                                      -- never counted in an accuracy
  answer TEXT,                   -- canonical; NULL: none
  correct INTEGER,               -- 0, 1; NULL: not graded
  score REAL,                    -- the method's own
  stop_reason TEXT,              -- '': the method came to its own end
  error TEXT,                    -- of a failed one
  tokens INTEGER,                -- sampled, kept or dropped
  prompt_tokens INTEGER,
  reward_tokens INTEGER,
  model_calls INTEGER,
  simulations INTEGER,
  nodes INTEGER,
  seconds REAL,
  UNIQUE(run_id, problem_id, seed)
);
CREATE TABLE responses(
  search_id INTEGER NOT NULL REFERENCES searches,
  seq INTEGER NOT NULL,          -- of the request
  entry BLOB NOT NULL,           -- LogEntry of trace.proto
  PRIMARY KEY(search_id, seq)
) WITHOUT ROWID;
CREATE TABLE trees(
  search_id INTEGER PRIMARY KEY REFERENCES searches,
  tree BLOB NOT NULL,            -- TreeColumns of trace.proto, zstd
  log BLOB                       -- ResponseLog, zstd; NULL: pruned
);
CREATE TABLE solutions(
  problem_id INTEGER NOT NULL REFERENCES problems,
  response TEXT NOT NULL,        -- verified correct
  logprob REAL NOT NULL,         -- ln p under the policy that wrote it
  tokens INTEGER NOT NULL,
  run_id INTEGER NOT NULL REFERENCES runs,
  PRIMARY KEY(problem_id, response)
) WITHOUT ROWID;
)sql";

// Version 2: views for frequent queries.
constexpr char kViews[] = R"sql(
CREATE INDEX searches_by_problem ON searches(problem_id);
CREATE VIEW accuracy AS
  SELECT r.run_id, r.method, count(*) AS searches,
         avg(s.correct) AS accuracy, avg(s.tokens) AS tokens_per_search,
         sum(s.seconds) AS search_seconds
  FROM searches s JOIN runs r USING(run_id)
  WHERE s.state = 'done' AND s.cached = 0
  GROUP BY r.run_id;
)sql";

// Version 3: the stage that gave an answer.
constexpr char kStage[] = R"sql(
ALTER TABLE searches ADD COLUMN stage TEXT;  -- method, tree, finish ...; NULL:
                                             -- not recorded by older versions
)sql";

// Version 4: what a reward model wrote.
constexpr char kVerdictTokens[] = R"sql(
ALTER TABLE searches ADD COLUMN verdict_tokens INTEGER;  -- of verdicts; NULL:
                                             -- not recorded by older versions
)sql";

constexpr const char* kSteps[] = {kFirstTables, kViews, kStage, kVerdictTokens};

// The oldest version that has everything that is read here. A database in a
// read-only folder can't be migrated.
constexpr int64_t kOldestRead = 2;

absl::StatusOr<int64_t> Pragma(Sqlite& db, const std::string& name) {
  ESP_ASSIGN_OR_RETURN(Statement s, db.Prepare(absl::StrCat("PRAGMA ", name)));
  ESP_ASSIGN_OR_RETURN(const bool row, s.Step());
  return row ? s.Int(0) : 0;
}

// A program that is killed as it starts leaves an empty file.
absl::StatusOr<bool> IsEmpty(Sqlite& db) {
  ESP_ASSIGN_OR_RETURN(Statement s,
                       db.Prepare("SELECT count(*) FROM sqlite_master"));
  ESP_ASSIGN_OR_RETURN(const bool row, s.Step());
  return row && s.Int(0) == 0;
}

absl::Status NothingWritten(const Sqlite& db) {
  return absl::NotFoundError(
      absl::StrCat(db.path(),
                   ": an empty run database: the program that created it ended "
                   "before it wrote anything"));
}

absl::Status CheckKind(Sqlite& db, Sqlite::Mode mode) {
  ESP_ASSIGN_OR_RETURN(const int64_t id, Pragma(db, "application_id"));
  if (id == kApplicationId) return absl::OkStatus();
  ESP_ASSIGN_OR_RETURN(const bool empty, IsEmpty(db));
  if (id == 0 && empty) {
    if (mode == Sqlite::kRead) return NothingWritten(db);
    return db.Execute(absl::StrCat("PRAGMA application_id=", kApplicationId));
  }
  return absl::InvalidArgumentError(
      absl::StrCat(db.path(),
                   ": this is another program's SQLite file, not "
                   "a run database"));
}

}  // namespace

absl::Span<const char* const> SchemaSteps() { return kSteps; }

absl::Status Migrate(Sqlite& db, absl::Span<const char* const> steps) {
  ESP_ASSIGN_OR_RETURN(const int64_t version, Pragma(db, "user_version"));
  const auto newest = static_cast<int64_t>(steps.size());
  if (version > newest) {
    return absl::FailedPreconditionError(absl::StrCat(
        db.path(), ": written by a newer Espalier (tables of version ", version,
        ", this program knows ", newest, "); use that version"));
  }
  if (version == newest) return absl::OkStatus();
  std::string script = "BEGIN IMMEDIATE;";
  for (int64_t i = version; i < newest; ++i) {
    script += steps[static_cast<size_t>(i)];
  }
  absl::StrAppend(&script, "PRAGMA user_version=", newest, ";COMMIT;");
  const absl::Status status = db.Execute(script);
  if (!status.ok()) db.Execute("ROLLBACK").IgnoreError();
  return status;
}

absl::Status CheckRunDatabase(Sqlite& db, Sqlite::Mode mode) {
  ESP_RETURN_IF_ERROR(CheckKind(db, mode));
  if (mode == Sqlite::kRead) {
    ESP_ASSIGN_OR_RETURN(const int64_t version, Pragma(db, "user_version"));
    if (version == 0) return NothingWritten(db);
    if (version < kOldestRead) {
      return absl::FailedPreconditionError(absl::StrCat(
          db.path(), ": written by an older Espalier (tables of version ",
          version, "); upgrade it with espalier db upgrade"));
    }
    if (version < SchemaVersion()) return absl::OkStatus();
    return Migrate(db, SchemaSteps());
  }
  // NORMAL: a killed process loses no commit; a power cut may lose the last
  // transactions, never the file.
  ESP_RETURN_IF_ERROR(
      db.Execute("PRAGMA journal_mode=WAL;PRAGMA synchronous=NORMAL;"
                 "PRAGMA foreign_keys=ON"));
  return Migrate(db, SchemaSteps());
}

}  // namespace espalier
