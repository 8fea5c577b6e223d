// A run database as SQLite's file: reading all that is in it, and opening it
// for writing.
#include <cstddef>
#include <filesystem>
#include <string>
#include <system_error>

#include "src/trace/run_db.h"
#include "src/trace/tree_nodes.h"
#include "tests/fuzz/fuzz_target.h"

namespace espalier {
namespace {

void ReadAll(RunDb& db) {
  const auto runs = db.Runs();
  if (!runs.ok()) return;
  for (size_t i = 0; i < runs->size() && i < 4; ++i) {
    const auto searches = db.Searches((*runs)[i].run_id);
    if (!searches.ok()) continue;
    for (size_t j = 0; j < searches->size() && j < 4; ++j) {
      const SearchRow& row = (*searches)[j];
      std::string task;
      db.LoadProblem(row.problem_id, &task).status().IgnoreError();
      db.BestSolution(row.problem_id).status().IgnoreError();
      db.Responses(row.search_id).status().IgnoreError();
      db.LoadTree(row.search_id).status().IgnoreError();
      db.LoadLog(row.search_id).status().IgnoreError();
      auto nodes = db.sqlite().Prepare(
          "SELECT node, text, verdict, depth FROM tree_nodes(?)");
      if (!nodes.ok()) continue;
      nodes->BindInt(1, row.search_id);
      for (int n = 0; n < 100; ++n) {
        const auto more = nodes->Step();
        if (!more.ok() || !*more) break;
        Touch(nodes->Text(1));
      }
    }
  }
}

}  // namespace

ESPALIER_FUZZ(run_db) {
  const std::string path = FuzzFile("run.db", bytes);
  // What SQLite may have left behind of the last input.
  for (const char* ending : {"-wal", "-shm", "-journal"}) {
    std::error_code error;
    std::filesystem::remove(path + ending, error);
  }
  {
    const auto db = RunDb::Open(path, Sqlite::kRead);
    if (!db.ok()) return;
    AddTreeNodes(**db).IgnoreError();
    ReadAll(**db);
  }
  const auto db = RunDb::Open(path, Sqlite::kWrite);
  if (!db.ok()) return;
  if ((*db)->PruneLogs(0).ok()) (*db)->Commit().IgnoreError();
}

}  // namespace espalier
