#include "src/queue/postgres.h"

#include <libpq-fe.h>
#include <sys/socket.h>

#include <algorithm>
#include <bit>

#include "absl/strings/ascii.h"
#include "absl/strings/cord.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/clock.h"
#include "base/status_macros.h"
#include "base/text.h"

namespace espalier {
namespace {

// Of PostgreSQL's built-in types (pg_type.dat).
constexpr uint32_t kBool = 16, kBytea = 17, kInt8 = 20, kText = 25,
                   kFloat8 = 701;

constexpr char kPassing[] = "espalier/passing";

std::string BigEndian(uint64_t bits) {
  std::string bytes(8, '\0');
  for (int i = 0; i < 8; ++i) {
    bytes[static_cast<size_t>(i)] = static_cast<char>(bits >> (56 - 8 * i));
  }
  return bytes;
}

uint64_t FromBigEndian(std::string_view bytes) {
  uint64_t bits = 0;
  for (const char c : bytes) bits = bits << 8 | static_cast<uint8_t>(c);
  return bits;
}

// Classes of SQLSTATE: the connection, resources, another session's locks, an
// operator who ends the server. 57P04: the database was dropped; 57014: a
// statement took too long; 25006: a standby that takes over; 25P03: this
// session was silent within a transaction.
bool MayPass(std::string_view state) {
  return state.starts_with("08") || state.starts_with("53") ||
         state.starts_with("40") || state.starts_with("55P03") ||
         (state.starts_with("57P0") && state != "57P04") || state == "57014" ||
         state == "25006" || state == "25P03";
}

absl::Status Passing(absl::Status status) {
  status.SetPayload(kPassing, absl::Cord());
  return status;
}

// What a server said when it refused a connection: "FATAL:  28P01: password
// authentication failed", with SQLSTATE, as libpq's verbose errors have it.
struct Refusal {
  std::string state;  // "": it said nothing, or could not be reached
  std::string text;   // the line, without the state
};

// Of several hosts, what the last one said.
Refusal ReadRefusal(std::string_view errors) {
  Refusal refusal;
  for (const absl::string_view line : absl::StrSplit(AbslView(errors), '\n')) {
    for (size_t at = line.find(":  "); at != line.npos && at + 10 < line.size();
         at = line.find(":  ", at + 1)) {
      const absl::string_view state = line.substr(at + 3, 5);
      if (line.substr(at + 8, 2) != ": " ||
          !std::all_of(state.begin(), state.end(), [](char c) {
            return absl::ascii_isdigit(static_cast<unsigned char>(c)) ||
                   absl::ascii_isupper(static_cast<unsigned char>(c));
          })) {
        continue;
      }
      refusal = {
          .state = std::string(state),
          .text = absl::StrCat(line.substr(0, at + 2), line.substr(at + 10))};
      break;
    }
  }
  return refusal;
}

// The first line of libpq's text, which has several and ends with a newline.
std::string FirstLine(const char* text) {
  const std::string_view all = text == nullptr ? "" : text;
  return std::string(
      absl::StripAsciiWhitespace(AbslView(all.substr(0, all.find('\n')))));
}

std::string NameOf(const pg_conn* connection) {
  const auto or_empty = [](const char* text) {
    return std::string(text == nullptr ? "" : text);
  };
  const std::string user = or_empty(PQuser(connection));
  return absl::StrCat("postgres://", user, user.empty() ? "" : "@",
                      or_empty(PQhost(connection)), ":",
                      or_empty(PQport(connection)), "/",
                      or_empty(PQdb(connection)));
}

// Why the second try failed; `first`: the error of the first.
absl::Status NotConnected(const pg_conn* connection, const std::string& name,
                          const std::string& first) {
  if (PQconnectionNeedsPassword(connection) != 0) {
    return absl::UnauthenticatedError(absl::StrCat(
        name,
        ": cannot connect: the server asks for a password; put it into "
        "the environment variable PGPASSWORD or into ~/.pgpass"));
  }
  const Refusal refusal = ReadRefusal(PQerrorMessage(connection));
  if (refusal.state.empty() || MayPass(refusal.state)) {
    return absl::UnavailableError(
        absl::StrCat(name, ": cannot connect: ", first));
  }
  return absl::UnauthenticatedError(
      absl::StrCat(name, ": cannot connect: ", refusal.text));
}

}  // namespace

PgValue PgValue::Int(int64_t value) {
  return PgValue(kInt8, BigEndian(static_cast<uint64_t>(value)));
}
PgValue PgValue::Real(double value) {
  return PgValue(kFloat8, BigEndian(std::bit_cast<uint64_t>(value)));
}
PgValue PgValue::Bool(bool value) {
  return PgValue(kBool, std::string(1, value ? '\1' : '\0'));
}
PgValue PgValue::Text(std::string_view text) {
  return PgValue(kText, std::string(text));
}
PgValue PgValue::Bytes(std::string_view bytes) {
  return PgValue(kBytea, std::string(bytes));
}

void PgRows::Clear::operator()(pg_result* result) const { PQclear(result); }

int PgRows::size() const { return PQntuples(result_.get()); }

bool PgRows::IsNull(int row, int column) const {
  return PQgetisnull(result_.get(), row, column) != 0;
}

std::string PgRows::Bytes(int row, int column) const {
  return std::string(
      PQgetvalue(result_.get(), row, column),
      static_cast<size_t>(PQgetlength(result_.get(), row, column)));
}

int64_t PgRows::Int(int row, int column) const {
  const std::string bytes = Bytes(row, column);
  const uint64_t bits = FromBigEndian(bytes);
  // Of two's complement in fewer bytes.
  if (bytes.size() == 4) return static_cast<int32_t>(bits);
  if (bytes.size() == 2) return static_cast<int16_t>(bits);
  return static_cast<int64_t>(bits);
}

double PgRows::Real(int row, int column) const {
  return std::bit_cast<double>(FromBigEndian(Bytes(row, column)));
}

bool PgRows::Bool(int row, int column) const {
  return FromBigEndian(Bytes(row, column)) != 0;
}

bool IsPostgresUrl(std::string_view text) {
  return text.starts_with("postgres://") || text.starts_with("postgresql://");
}

absl::Status CheckPostgresUrl(const std::string& url) {
  // libpq's messages may quote a password, or a part of one that holds a slash.
  PQconninfoOption* options =
      IsPostgresUrl(url) ? PQconninfoParse(url.c_str(), nullptr) : nullptr;
  bool right = options != nullptr;
  bool password = false;
  for (const PQconninfoOption* o = options; right && o->keyword != nullptr;
       ++o) {
    const std::string_view name = o->keyword;
    const std::string_view value = o->val == nullptr ? "" : o->val;
    password |= name.ends_with("password") && !value.empty();
    if (name == "port")
      right = value.find_first_not_of("0123456789,") == value.npos;
    // libpq takes the first "@" for the end of the password.
    if (name == "dbname" || name == "host" || name == "user") {
      right = value.find('@') == value.npos;
    }
  }
  PQconninfoFree(options);
  if (right && password) {
    return absl::InvalidArgumentError(
        "a password in the address of a database is refused, since everyone on "
        "this machine can read command lines; leave it out, and put it into "
        "the environment variable PGPASSWORD or into ~/.pgpass");
  }
  if (right) return absl::OkStatus();
  return absl::InvalidArgumentError(
      "not the address of a PostgreSQL database; expected "
      "postgres://USER@HOST:PORT/DATABASE, with the password in PGPASSWORD or "
      "~/.pgpass");
}

bool IsPassing(const absl::Status& status) {
  return status.GetPayload(kPassing).has_value();
}

absl::StatusOr<std::unique_ptr<Postgres>> Postgres::Connect(
    const std::string& url) {
  ESP_RETURN_IF_ERROR(CheckPostgresUrl(url));
  // A dead peer or a cut cable is noticed after 20 to 30 s. The URL, which
  // comes last, may say otherwise.
  const char* const names[] = {
      "connect_timeout",  "keepalives_idle",  "keepalives_interval",
      "keepalives_count", "tcp_user_timeout", "client_encoding",
      "application_name", "dbname",           nullptr};
  const char* const values[] = {
      "10", "10", "5", "2", "20000", "UTF8", "espalier", url.c_str(), nullptr};
  const double start = Clock::Real().Seconds();
  pg_conn* connection = PQconnectdbParams(names, values, /*expand_dbname=*/1);
  if (connection == nullptr) {
    return absl::ResourceExhaustedError("no memory for a database connection");
  }
  auto db = std::unique_ptr<Postgres>(new Postgres(connection));
  db->name_ = NameOf(connection);
  if (PQstatus(connection) != CONNECTION_OK) {
    const std::string error = FirstLine(PQerrorMessage(connection));
    // libpq tells the SQLSTATE of a refusal only in verbose errors, which a new
    // connection does not have yet: the second try does. A server that refuses
    // does so soon.
    if (Clock::Real().Seconds() < start + 5) {
      PQsetErrorVerbosity(connection, PQERRORS_VERBOSE);
      PQreset(connection);
      PQsetErrorVerbosity(connection, PQERRORS_DEFAULT);
    }
    if (PQstatus(connection) != CONNECTION_OK) {
      return Passing(NotConnected(connection, db->name_, error));
    }
  }
  db->socket_ = PQsocket(connection);
  // A client that is stopped or cut off must not keep its locks: the server
  // ends its session. Waits for locks and long statements end, too.
  ESP_RETURN_IF_ERROR(db->Script(
      "SET idle_in_transaction_session_timeout='10s'; SET lock_timeout='10s'; "
      "SET statement_timeout='120s'; SET tcp_keepalives_idle=10; SET "
      "tcp_keepalives_interval=5; SET tcp_keepalives_count=2; SET "
      "tcp_user_timeout=20000"));
  // Notices are for people at a terminal of the database.
  PQsetNoticeProcessor(
      connection, [](void*, const char*) {}, nullptr);
  return db;
}

Postgres::~Postgres() { PQfinish(connection_); }

absl::StatusOr<PgRows> Postgres::Run(const std::string& sql,
                                     const std::vector<PgValue>& values) {
  std::vector<Oid> types;
  std::vector<const char*> bytes;
  std::vector<int> sizes;
  for (const PgValue& value : values) {
    types.push_back(value.type());
    bytes.push_back(value.bytes() ? value.bytes()->data() : nullptr);
    sizes.push_back(value.bytes() ? static_cast<int>(value.bytes()->size())
                                  : 0);
  }
  const std::vector<int> binary(values.size(), 1);
  PgRows rows(PQexecParams(connection_, sql.c_str(),
                           static_cast<int>(values.size()), types.data(),
                           bytes.data(), sizes.data(), binary.data(),
                           /*resultFormat=*/1));
  ESP_RETURN_IF_ERROR(ErrorOf(rows.result_.get()));
  return rows;
}

void Postgres::Interrupt() { shutdown(socket_, SHUT_RDWR); }

absl::StatusOr<Postgres::Session> Postgres::session() {
  ESP_ASSIGN_OR_RETURN(
      const PgRows rows,
      Run("SELECT pid::bigint, backend_start::text FROM pg_stat_activity WHERE "
          "pid=pg_backend_pid()"));
  if (rows.size() == 0) return Session();
  return Session{rows.Int(0, 0), rows.Bytes(0, 1)};
}

absl::Status Postgres::TerminateSession(const Session& session) {
  return Run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE "
             "pid=$1 AND backend_start::text=$2 AND usename=current_user",
             {PgValue::Int(session.pid), PgValue::Text(session.started)})
      .status();
}

absl::Status Postgres::Script(const std::string& sql) {
  const PgRows rows(PQexec(connection_, sql.c_str()));
  return ErrorOf(rows.result_.get());
}

absl::Status Postgres::ErrorOf(const pg_result* result) const {
  const ExecStatusType status = PQresultStatus(result);
  if (status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK ||
      status == PGRES_EMPTY_QUERY) {
    return absl::OkStatus();
  }
  const char* state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
  const char* primary = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
  const std::string text = absl::StrCat(
      name_, ": ",
      FirstLine(primary != nullptr ? primary : PQerrorMessage(connection_)));
  // Without a state the connection broke.
  const std::string_view code = state == nullptr ? "08000" : state;
  if (MayPass(code)) return Passing(absl::UnavailableError(text));
  if (code == "42501") {
    return absl::PermissionDeniedError(text);
  }
  const std::string with_code = absl::StrCat(text, " (", AbslView(code), ")");
  // Damaged pages, indices or values.
  if (code.starts_with("XX")) return absl::DataLossError(with_code);
  return absl::FailedPreconditionError(with_code);
}

}  // namespace espalier
