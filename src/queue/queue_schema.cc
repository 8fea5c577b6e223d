#include "src/queue/queue_schema.h"

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/text.h"

namespace espalier {
namespace {

constexpr int64_t kVersion = 2;

// Text that comes from models, problems and folders may be any bytes, so it is
// bytea. Times are the server's.
constexpr char kTables[] = R"sql(
CREATE SCHEMA espalier;
CREATE TABLE espalier.queue(version bigint NOT NULL);
-- Numbers claims: a worker that lost a search holds an older number.
CREATE SEQUENCE espalier.claims;
CREATE TABLE espalier.runs(
  run_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  config_hash text NOT NULL UNIQUE,
  kind text NOT NULL,            -- generate
  config text NOT NULL,          -- JSON: all that decides what is recorded
  seed bigint NOT NULL,
  method text NOT NULL,          -- with all its options
  model bytea NOT NULL,
  model_hash text NOT NULL,
  tokenizer_hash text NOT NULL,
  reward_model_hash text NOT NULL,
  version text NOT NULL,         -- of Espalier
  set_hash text NOT NULL,        -- of the problems
  problems bigint NOT NULL,
  searches bigint NOT NULL,      -- per problem
  started_at timestamptz NOT NULL DEFAULT now(),
  finished_at timestamptz        -- NULL while there is work left
);
CREATE TABLE espalier.problems(
  run_id bigint NOT NULL REFERENCES espalier.runs ON DELETE CASCADE,
  problem_no bigint NOT NULL,    -- in the order of the set, from 0
  name bytea NOT NULL,
  set_name bytea NOT NULL,
  task bytea NOT NULL,
  question bytea NOT NULL,
  answer bytea,                  -- the reference; NULL: unknown
  PRIMARY KEY(run_id, problem_no)
);
CREATE TABLE espalier.workers(
  worker_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  run_id bigint NOT NULL REFERENCES espalier.runs ON DELETE CASCADE,
  host text NOT NULL,
  pid bigint NOT NULL,
  lease double precision NOT NULL,  -- seconds
  started_at timestamptz NOT NULL DEFAULT now(),
  seen_at timestamptz NOT NULL DEFAULT now(),
  ended_at timestamptz,          -- NULL: it runs, or it was killed
  done bigint NOT NULL DEFAULT 0,
  tokens bigint NOT NULL DEFAULT 0
);
CREATE TABLE espalier.searches(
  run_id bigint NOT NULL REFERENCES espalier.runs ON DELETE CASCADE,
  search_no bigint NOT NULL,     -- from 0: all problems with the first seed ...
  problem_no bigint NOT NULL,
  seed bigint NOT NULL,
  state text NOT NULL DEFAULT 'waiting'
    CHECK(state IN ('waiting', 'running', 'done', 'failed')),
  claim bigint NOT NULL DEFAULT 0,
  worker_id bigint,              -- of the last claim
  lease_until timestamptz,
  claims bigint NOT NULL DEFAULT 0,
  continued bigint NOT NULL DEFAULT 0,   -- claims that began with responses
  responses bigint NOT NULL DEFAULT 0,   -- recorded so far
  responses_at_claim bigint NOT NULL DEFAULT 0,
  stalls bigint NOT NULL DEFAULT 0,      -- workers lost in turn that added none
  finished_at timestamptz,
  answer bytea,
  correct boolean,
  score double precision,
  stop_reason bytea,
  error bytea,
  stage bytea,
  tokens bigint,
  prompt_tokens bigint,
  reward_tokens bigint,
  verdict_tokens bigint,
  model_calls bigint,
  simulations bigint,
  nodes bigint,
  seconds double precision,
  tree bytea,                    -- as in a run database
  log bytea,
  digest bytea,                  -- SHA-256 of those of tree and log, as uploaded
  PRIMARY KEY(run_id, search_no)
);
CREATE INDEX open_searches ON espalier.searches(run_id, search_no)
  WHERE state IN ('waiting', 'running');
CREATE TABLE espalier.responses(
  run_id bigint NOT NULL,
  search_no bigint NOT NULL,
  number bigint NOT NULL,        -- of the request
  entry bytea NOT NULL,          -- LogEntry of trace.proto
  PRIMARY KEY(run_id, search_no, number),
  FOREIGN KEY(run_id, search_no) REFERENCES espalier.searches ON DELETE CASCADE
);
CREATE TABLE espalier.solutions(
  run_id bigint NOT NULL,
  search_no bigint NOT NULL,
  solution_no bigint NOT NULL,
  response bytea NOT NULL,       -- verified correct
  logprob double precision NOT NULL,
  tokens bigint NOT NULL,
  PRIMARY KEY(run_id, search_no, solution_no),
  FOREIGN KEY(run_id, search_no) REFERENCES espalier.searches ON DELETE CASCADE
);
)sql";

// Whoever creates the tables holds it: two programs may start at once.
constexpr int64_t kCreation = 0x45737061'00000000;

absl::StatusOr<bool> Exists(Postgres& db, const char* sql) {
  ESP_ASSIGN_OR_RETURN(const PgRows rows, db.Run(sql));
  return rows.size() > 0;
}

absl::Status Create(Postgres& db) {
  ESP_RETURN_IF_ERROR(db.Script("BEGIN ISOLATION LEVEL READ COMMITTED"));
  absl::Status status =
      db.Run("SELECT pg_advisory_xact_lock($1)", {PgValue::Int(kCreation)})
          .status();
  if (status.ok()) {
    const absl::StatusOr<bool> there =
        Exists(db, "SELECT 1 FROM pg_namespace WHERE nspname='espalier'");
    status = there.status();
    if (there.ok() && !*there) {
      status = db.Script(absl::StrCat(
          kTables, "INSERT INTO espalier.queue VALUES (", kVersion, ")"));
    }
  }
  if (status.ok()) return db.Script("COMMIT");
  db.Script("ROLLBACK").IgnoreError();
  return status;
}

}  // namespace

std::string DigestSql(std::string_view tree, std::string_view log) {
  const auto part = [](std::string_view sql) {
    return absl::StrCat("coalesce(sha256(", AbslView(sql), "), ''::bytea)");
  };
  return absl::StrCat("sha256(", part(tree), " || ", part(log), ")");
}

absl::Status CheckQueue(Postgres& db, bool create) {
  constexpr char kThere[] =
      "SELECT 1 FROM pg_namespace WHERE nspname='espalier'";
  ESP_ASSIGN_OR_RETURN(bool there, Exists(db, kThere));
  if (!there && create) {
    ESP_RETURN_IF_ERROR(Create(db));
    there = true;
  }
  if (!there) {
    return absl::NotFoundError(absl::StrCat(
        db.name(), ": holds no queue; espalier generate --queue creates it"));
  }
  ESP_ASSIGN_OR_RETURN(
      const bool ours,
      Exists(db,
             "SELECT 1 FROM pg_class c JOIN pg_namespace n ON "
             "c.relnamespace=n.oid WHERE nspname='espalier' AND "
             "relname='queue'"));
  if (!ours) {
    return absl::FailedPreconditionError(
        absl::StrCat(db.name(),
                     ": its schema \"espalier\" is another program's; name "
                     "another database"));
  }
  ESP_ASSIGN_OR_RETURN(const PgRows rows,
                       db.Run("SELECT version FROM espalier.queue"));
  const int64_t version = rows.size() == 1 ? rows.Int(0, 0) : 0;
  if (version == kVersion) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      db.name(), ": its queue was made by ",
      version > kVersion ? "a newer" : "another",
      " Espalier (tables of version ", version, ", this program knows ",
      kVersion, "); use that version, or name another database"));
}

}  // namespace espalier
