// The tables of a queue in PostgreSQL, in the schema "espalier".
#ifndef ESPALIER_SRC_QUEUE_QUEUE_SCHEMA_H_
#define ESPALIER_SRC_QUEUE_QUEUE_SCHEMA_H_

#include "absl/status/status.h"
#include "src/queue/postgres.h"

namespace espalier {

// Creates the tables if `create` and there are none. NotFound: there are none.
// FailedPrecondition: those of another version, or another program's.
absl::Status CheckQueue(Postgres& db, bool create);

}  // namespace espalier

#endif  // ESPALIER_SRC_QUEUE_QUEUE_SCHEMA_H_
