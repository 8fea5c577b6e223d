// The tables of a queue in PostgreSQL, in the schema "espalier".
#ifndef ESPALIER_SRC_QUEUE_QUEUE_SCHEMA_H_
#define ESPALIER_SRC_QUEUE_QUEUE_SCHEMA_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "src/queue/postgres.h"

namespace espalier {

// Creates the tables if `create` and there are none. NotFound: there are none.
// FailedPrecondition: those of another version, or another program's.
absl::Status CheckQueue(Postgres& db, bool create);

// SQL for the digest of a search's tree and log, as `searches` has it: the
// arguments are SQL as well, e.g. "$1" or "tree".
std::string DigestSql(std::string_view tree, std::string_view log);

}  // namespace espalier

#endif  // ESPALIER_SRC_QUEUE_QUEUE_SCHEMA_H_
