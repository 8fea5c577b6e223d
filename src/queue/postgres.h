// PostgreSQL with statuses and typed values; the only code that calls libpq.
//
//   ESP_ASSIGN_OR_RETURN(auto db, Postgres::Connect("postgres://host/work"));
//   ESP_ASSIGN_OR_RETURN(PgRows rows, db->Run("SELECT a FROM t WHERE b=$1",
//                                             {PgValue::Int(7)}));
//   for (int r = 0; r < rows.size(); ++r) use(rows.Int(r, 0));
//
// Errors name the server, the database and the user, never a password, which
// libpq takes from PGPASSWORD, PGPASSFILE or ~/.pgpass. Unavailable: the server
// cannot be reached or is about to end, and the same may work later
// (IsPassing). DataLoss: its files are damaged. Thread-compatible.
#ifndef ESPALIER_SRC_QUEUE_POSTGRES_H_
#define ESPALIER_SRC_QUEUE_POSTGRES_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

struct pg_conn;
struct pg_result;

namespace espalier {

// A parameter of a statement.
class PgValue {
 public:
  static PgValue Null() { return PgValue(0, std::nullopt); }
  static PgValue Int(int64_t value);
  static PgValue Real(double value);
  static PgValue Bool(bool value);
  // Valid UTF-8 without zero bytes.
  static PgValue Text(std::string_view text);
  static PgValue Bytes(std::string_view bytes);

  uint32_t type() const { return type_; }
  const std::optional<std::string>& bytes() const { return bytes_; }

 private:
  PgValue(uint32_t type, std::optional<std::string> bytes)
      : type_(type), bytes_(std::move(bytes)) {}

  uint32_t type_;  // OID
  std::optional<std::string> bytes_;
};

// Rows and columns count from 0. Columns are of the types smallint to bigint,
// double precision, boolean, text or bytea.
class PgRows {
 public:
  int size() const;
  bool IsNull(int row, int column) const;
  int64_t Int(int row, int column) const;  // NULL: 0
  double Real(int row, int column) const;  // NULL: 0
  bool Bool(int row, int column) const;    // NULL: false
  std::string Bytes(int row, int column) const;

 private:
  friend class Postgres;
  struct Clear {
    void operator()(pg_result* result) const;
  };
  explicit PgRows(pg_result* result) : result_(result) {}
  std::unique_ptr<pg_result, Clear> result_;
};

// "postgres://..." or "postgresql://...".
bool IsPostgresUrl(std::string_view text);

// InvalidArgument, which does not repeat the text, if libpq cannot read it or
// it holds a password.
absl::Status CheckPostgresUrl(const std::string& url);

// True if the same may succeed later: of a server that restarts, cannot be
// reached, is full or breaks a deadlock.
bool IsPassing(const absl::Status& status);

class Postgres {
 public:
  // Gives up after 10 to 15 s. Unauthenticated: the server refuses this user,
  // password or database. That may pass, too, for a program that was connected
  // before: an administrator may be at work.
  static absl::StatusOr<std::unique_ptr<Postgres>> Connect(
      const std::string& url);
  ~Postgres();
  Postgres(const Postgres&) = delete;
  Postgres& operator=(const Postgres&) = delete;

  // One statement with parameters $1, $2, ...
  absl::StatusOr<PgRows> Run(const std::string& sql,
                             const std::vector<PgValue>& values = {});
  // Any number of statements without parameters.
  absl::Status Script(const std::string& sql);

  // Ends what is under way, and this connection, with an error that may pass.
  // From any thread.
  void Interrupt();

  // Of a session, for TerminateSession.
  struct Session {
    int64_t pid = 0;
    std::string started;
  };
  absl::StatusOr<Session> session();
  // Ends a session of this user that lost its client, with its locks.
  absl::Status TerminateSession(const Session& session);

  // e.g. "postgres://ann@host:5432/work"
  const std::string& name() const { return name_; }

 private:
  explicit Postgres(pg_conn* connection) : connection_(connection) {}
  absl::Status ErrorOf(const pg_result* result) const;

  pg_conn* const connection_;
  int socket_ = -1;
  std::string name_;
};

}  // namespace espalier

#endif  // ESPALIER_SRC_QUEUE_POSTGRES_H_
