// The tables of a run database, their versions and migrations.
//
//   ESP_ASSIGN_OR_RETURN(Sqlite db, Sqlite::Open("run.db", Sqlite::kRead));
//   ESP_RETURN_IF_ERROR(CheckRunDatabase(db, Sqlite::kRead));
//
// A run database is an ordinary SQLite file (application id "Espa") in WAL
// mode: any number of readers, including the sqlite3 shell, while one program
// writes. docs/run-database.md describes the tables and shows queries.
#ifndef ESPALIER_SRC_TRACE_SCHEMA_H_
#define ESPALIER_SRC_TRACE_SCHEMA_H_

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "src/trace/sqlite.h"

namespace espalier {

// Step i migrates from version i to version i + 1.
absl::Span<const char* const> SchemaSteps();
inline int SchemaVersion() { return static_cast<int>(SchemaSteps().size()); }

// Checks an open file: InvalidArgument for another program's database,
// FailedPrecondition for one of a newer version of Espalier. For writing, an
// older one (or an empty file) is migrated, all steps or none.
absl::Status CheckRunDatabase(Sqlite& db, Sqlite::Mode mode);

// Applies the steps from `db`'s version on.
absl::Status Migrate(Sqlite& db, absl::Span<const char* const> steps);

}  // namespace espalier

#endif  // ESPALIER_SRC_TRACE_SCHEMA_H_
