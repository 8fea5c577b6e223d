// SQLite with statuses and typed columns; the only code that calls its C API.
//
//   ESP_ASSIGN_OR_RETURN(Sqlite db, Sqlite::Open("run.db", Sqlite::kRead));
//   ESP_ASSIGN_OR_RETURN(Statement s, db.Prepare("SELECT a FROM t WHERE b=?"));
//   s.BindInt(1, 7);
//   while (true) {
//     ESP_ASSIGN_OR_RETURN(const bool row, s.Step());
//     if (!row) break;
//     use(s.Int(0));
//   }
//
// Errors name the file and say what to do about a full disk, a file without
// write permission, another writer, or a file that is not a database.
// Thread-compatible.
#ifndef ESPALIER_SRC_TRACE_SQLITE_H_
#define ESPALIER_SRC_TRACE_SQLITE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

struct sqlite3;
struct sqlite3_stmt;

namespace espalier {

// For a database whose file was moved or deleted: writes to it are lost.
absl::Status MovedError(const std::string& path);
// For one that another program truncated.
absl::Status CutError(const std::string& path);

class Statement {
 public:
  // Parameters count from 1, columns from 0. Text and blobs are copied in.
  void BindInt(int parameter, int64_t value);
  void BindReal(int parameter, double value);
  void BindText(int parameter, std::string_view text);
  void BindBlob(int parameter, std::string_view bytes);
  void BindNull(int parameter);

  // Runs to the next row; false at the end, after which the statement may be
  // bound and run again.
  absl::StatusOr<bool> Step();
  // Runs a statement without rows to its end.
  absl::Status Run();
  void Reset();

  // True for a query, which returns rows and changes nothing.
  bool ReadsOnly() const;
  int columns() const;
  std::string ColumnName(int column) const;
  bool IsNull(int column) const;
  bool IsInt(int column) const;
  bool IsReal(int column) const;
  int64_t Int(int column) const;
  double Real(int column) const;
  // Text or blob; numbers as SQLite prints them.
  std::string Text(int column) const;

 private:
  friend class Sqlite;
  struct Finalise {
    void operator()(sqlite3_stmt* s) const;
  };
  Statement(sqlite3* db, sqlite3_stmt* statement, const std::string* path)
      : db_(db), statement_(statement), path_(path) {}
  void Check(int code);

  sqlite3* db_;
  std::unique_ptr<sqlite3_stmt, Finalise> statement_;
  const std::string* path_;
  int bind_error_ = 0;
};

class Sqlite {
 public:
  enum Mode {
    kRead,    // the file must exist
    kWrite,   // the file must exist
    kCreate,  // the file must not exist
  };
  static absl::StatusOr<Sqlite> Open(const std::string& path, Mode mode);
  Sqlite(Sqlite&&) = default;
  Sqlite& operator=(Sqlite&&) = default;

  // InvalidArgument unless `sql` is one statement.
  absl::StatusOr<Statement> Prepare(std::string_view sql);
  // Runs any number of statements separated by semicolons.
  absl::Status Execute(const std::string& sql);
  int64_t last_insert_id() const;
  int64_t changes() const;
  sqlite3* handle() { return db_.get(); }
  const std::string& path() const { return *path_; }

 private:
  struct Close {
    void operator()(sqlite3* db) const;
    // For a database opened for writing: a descriptor that refers to its file
    // even after a removal, and its path. -1 if opened for reading.
    int file;
    std::string path;
    Close();
  };
  Sqlite() = default;

  std::unique_ptr<std::string> path_;
  std::unique_ptr<sqlite3, Close> db_;
};

}  // namespace espalier

#endif  // ESPALIER_SRC_TRACE_SQLITE_H_
