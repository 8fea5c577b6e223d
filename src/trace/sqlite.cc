#include "src/trace/sqlite.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/files.h"
#include "base/text.h"

namespace espalier {
namespace {

namespace fs = std::filesystem;

// True if the file that `db` has open was moved or deleted. SQLite's error code
// then depends on the moment at which that happened.
bool HasMoved(sqlite3* db) {
  int moved = 0;
  return db != nullptr &&
         sqlite3_file_control(db, "main", SQLITE_FCNTL_HAS_MOVED, &moved) ==
             SQLITE_OK &&
         moved != 0;
}

absl::Status NotADatabase(const std::string& path) {
  return absl::InvalidArgumentError(absl::StrCat(
      path,
      ": this is not a run database; expected a file that espalier generate "
      "--out wrote; name such a file, or for --out one that does not exist"));
}

absl::Status SqliteError(const std::string& path, sqlite3* db, int code) {
  const std::string said =
      db != nullptr ? sqlite3_errmsg(db) : sqlite3_errstr(code);
  const int kind = code & 0xff;
  if ((kind == SQLITE_IOERR || kind == SQLITE_READONLY ||
       kind == SQLITE_CANTOPEN || kind == SQLITE_CORRUPT) &&
      HasMoved(db)) {
    return MovedError(path);
  }
  switch (kind) {
    case SQLITE_FULL:
      return absl::ResourceExhaustedError(
          absl::StrCat(path,
                       ": the disk is full; what was recorded before is kept: "
                       "free some space and continue with --resume"));
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_CANTOPEN:
      return absl::PermissionDeniedError(
          absl::StrCat(path, ": ", said,
                       "; the file and its folder must be readable, and "
                       "writable for a run that records"));
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return absl::UnavailableError(absl::StrCat(
          path,
          ": another program is writing to it; wait until it is done, "
          "or record to another file"));
    case SQLITE_NOTADB:
      return NotADatabase(path);
    case SQLITE_CORRUPT:
      return absl::DataLossError(
          absl::StrCat(path, ": the database is damaged (", said,
                       "); sqlite3's .recover saves what can be read"));
    case SQLITE_IOERR:
      return absl::UnavailableError(absl::StrCat(
          path, ": the system could not read or write (", said,
          "); a full disk or a file size limit may be the cause. What was "
          "recorded before is kept: fix that and continue with --resume"));
    case SQLITE_CONSTRAINT:
      return absl::AlreadyExistsError(absl::StrCat(path, ": ", said));
    default:
      return absl::InvalidArgumentError(absl::StrCat(path, ": ", said));
  }
}

}  // namespace

absl::Status MovedError(const std::string& path) {
  return absl::DataLossError(absl::StrCat(
      path,
      ": the file was moved, removed or replaced while searches were recorded "
      "to "
      "it. If it was moved, move it back to this name, where its log is (",
      path,
      "-wal), and continue with --resume; otherwise what was recorded is "
      "lost, and the run must begin again"));
}

absl::Status CutError(const std::string& path) {
  return absl::DataLossError(absl::StrCat(
      path,
      ": the file was cut short while searches were recorded to it; what was "
      "recorded may be lost. Begin the run again"));
}

void Statement::Finalise::operator()(sqlite3_stmt* s) const {
  sqlite3_finalize(s);
}

void Statement::Check(int code) {
  if (code != SQLITE_OK && bind_error_ == 0) bind_error_ = code;
}

void Statement::BindInt(int parameter, int64_t value) {
  Check(sqlite3_bind_int64(statement_.get(), parameter, value));
}

void Statement::BindReal(int parameter, double value) {
  Check(sqlite3_bind_double(statement_.get(), parameter, value));
}

void Statement::BindText(int parameter, std::string_view text) {
  Check(sqlite3_bind_text64(statement_.get(), parameter, text.data(),
                            text.size(), SQLITE_TRANSIENT, SQLITE_UTF8));
}

void Statement::BindBlob(int parameter, std::string_view bytes) {
  Check(sqlite3_bind_blob64(statement_.get(), parameter, bytes.data(),
                            bytes.size(), SQLITE_TRANSIENT));
}

void Statement::BindNull(int parameter) {
  Check(sqlite3_bind_null(statement_.get(), parameter));
}

absl::StatusOr<bool> Statement::Step() {
  if (bind_error_ != 0) {
    return SqliteError(*path_, db_, std::exchange(bind_error_, 0));
  }
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  absl::Status status;
  if (code != SQLITE_DONE) status = SqliteError(*path_, db_, code);
  sqlite3_reset(statement_.get());
  if (!status.ok()) return status;
  return false;
}

absl::Status Statement::Run() {
  while (true) {
    const absl::StatusOr<bool> row = Step();
    if (!row.ok()) return row.status();
    if (!*row) return absl::OkStatus();
  }
}

void Statement::Reset() { sqlite3_reset(statement_.get()); }

bool Statement::ReadsOnly() const {
  return columns() > 0 && sqlite3_stmt_readonly(statement_.get()) != 0;
}

int Statement::columns() const {
  return sqlite3_column_count(statement_.get());
}

std::string Statement::ColumnName(int column) const {
  const char* name = sqlite3_column_name(statement_.get(), column);
  return name == nullptr ? "" : name;
}

bool Statement::IsNull(int column) const {
  return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL;
}

bool Statement::IsInt(int column) const {
  return sqlite3_column_type(statement_.get(), column) == SQLITE_INTEGER;
}

bool Statement::IsReal(int column) const {
  return sqlite3_column_type(statement_.get(), column) == SQLITE_FLOAT;
}

int64_t Statement::Int(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}

double Statement::Real(int column) const {
  return sqlite3_column_double(statement_.get(), column);
}

std::string Statement::Text(int column) const {
  const void* bytes = sqlite3_column_blob(statement_.get(), column);
  const int size = sqlite3_column_bytes(statement_.get(), column);
  if (bytes == nullptr) return "";
  return std::string(static_cast<const char*>(bytes),
                     static_cast<size_t>(size));
}

Sqlite::Close::Close() : file(-1) {}

namespace {

// True if this process has the file at `path` open.
bool HasOpen(const std::string& path) {
  struct stat named, open;
  std::error_code error;
  if (::stat(path.c_str(), &named) != 0) return false;
  for (const auto& entry : fs::directory_iterator("/proc/self/fd", error)) {
    if (::stat(entry.path().c_str(), &open) == 0 &&
        open.st_dev == named.st_dev && open.st_ino == named.st_ino) {
      return true;
    }
  }
  return false;
}

}  // namespace

void Sqlite::Close::operator()(sqlite3* db) const {
  // When its file was moved or deleted, SQLite leaves the log and its index
  // behind. They are useful if the file was renamed and garbage if it was
  // removed; another database that has its name now would even be read with
  // this one's log.
  struct stat info;
  const bool removed =
      file >= 0 && ::fstat(file, &info) == 0 && info.st_nlink == 0;
  std::vector<std::string> left;
  for (const char* ending : {"-wal", "-shm"}) {
    if (removed && HasOpen(path + ending)) left.push_back(path + ending);
  }
  sqlite3_close_v2(db);
  if (file >= 0) ::close(file);
  std::error_code error;
  for (const std::string& name : left) fs::remove(name, error);
}

namespace {

bool CannotWriteBeside(const std::string& path) {
  const fs::path folder = fs::path(path).parent_path();
  return ::access(folder.empty() ? "." : folder.c_str(), W_OK) != 0;
}

std::string EscapedForUri(const std::string& path) {
  return absl::StrReplaceAll(path, {{"%", "%25"}, {"?", "%3f"}, {"#", "%23"}});
}

}  // namespace

absl::StatusOr<Sqlite> Sqlite::Open(const std::string& path, Mode mode) {
  std::error_code error;
  const bool there = fs::exists(path, error);
  if (error) return FileError("open", path, error.value());
  if (mode == kCreate && there) {
    return absl::AlreadyExistsError(
        absl::StrCat(path, ": the file already exists"));
  }
  if (mode != kCreate && !there) {
    return absl::NotFoundError(
        absl::StrCat(path,
                     ": no such file; expected a run database, as "
                     "espalier generate --out writes it"));
  }
  if (there && !fs::is_regular_file(path, error)) {
    return NotADatabase(path);
  }
  Sqlite out;
  out.path_ = std::make_unique<std::string>(path);
  int flags = SQLITE_OPEN_READWRITE;
  if (mode == kRead) flags = SQLITE_OPEN_READONLY;
  if (mode == kCreate) flags |= SQLITE_OPEN_CREATE;
  // In a read-only folder SQLite has no place for the index of its log; a
  // database without a log is read as is.
  std::string name = path;
  const bool log = fs::exists(path + "-wal", error) &&
                   fs::file_size(path + "-wal", error) > 0;
  // If log and index exist, as while a program records, SQLite reads both.
  const bool indexed = log && fs::exists(path + "-shm", error);
  if (mode == kRead && !indexed && CannotWriteBeside(path)) {
    if (log) {
      return absl::FailedPreconditionError(
          absl::StrCat(path, ": its last searches are in ", path,
                       "-wal, which can only be read in a writable folder; "
                       "copy both files to one"));
    }
    name = absl::StrCat("file:", EscapedForUri(fs::absolute(path).string()),
                        "?immutable=1");
    flags |= SQLITE_OPEN_URI;
  }
  sqlite3* db = nullptr;
  const int code = sqlite3_open_v2(name.c_str(), &db, flags, nullptr);
  out.db_.reset(db);
  if (code != SQLITE_OK) return SqliteError(path, db, code);
  sqlite3_extended_result_codes(db, 1);
  // Readers in the shell lock the file only for moments.
  sqlite3_busy_timeout(db, 2000);
  if (mode == kWrite && sqlite3_db_readonly(db, "main") == 1) {
    return SqliteError(path, nullptr, SQLITE_READONLY);
  }
  if (mode != kRead) {
    Close& close = out.db_.get_deleter();
    close.path = sqlite3_db_filename(db, "main");
    // O_PATH, because closing an ordinary descriptor would drop SQLite's locks.
    close.file = ::open(close.path.c_str(), O_PATH | O_CLOEXEC);
  }
  return out;
}

absl::StatusOr<Statement> Sqlite::Prepare(std::string_view sql) {
  sqlite3_stmt* statement = nullptr;
  const char* rest = nullptr;
  const int code = sqlite3_prepare_v2(
      db_.get(), sql.data(), static_cast<int>(sql.size()), &statement, &rest);
  if (code != SQLITE_OK) return SqliteError(path(), db_.get(), code);
  Statement prepared(db_.get(), statement, path_.get());
  if (statement == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat(path(), ": expected an SQL statement, found none"));
  }
  // Blanks and comments may follow.
  sqlite3_stmt* second = nullptr;
  const auto left = static_cast<int>(sql.data() + sql.size() - rest);
  const int more = sqlite3_prepare_v2(db_.get(), rest, left, &second, nullptr);
  sqlite3_finalize(second);
  if (more != SQLITE_OK || second != nullptr) {
    return absl::InvalidArgumentError(absl::StrCat(
        path(), ": expected one SQL statement, found another after the first: ",
        absl::StripAsciiWhitespace(
            absl::string_view(rest, static_cast<size_t>(left)))));
  }
  return prepared;
}

absl::Status Sqlite::Execute(const std::string& sql) {
  const int code =
      sqlite3_exec(db_.get(), sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return SqliteError(path(), db_.get(), code);
  return absl::OkStatus();
}

int64_t Sqlite::last_insert_id() const {
  return sqlite3_last_insert_rowid(db_.get());
}

int64_t Sqlite::changes() const { return sqlite3_changes64(db_.get()); }

}  // namespace espalier
