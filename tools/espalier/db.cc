// espalier db: queries, merges and prunes run databases and queues.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/json_text.h"
#include "base/status_macros.h"
#include "nlohmann/json.hpp"
#include "src/queue/postgres.h"
#include "src/trace/merge.h"
#include "src/trace/run_db.h"
#include "src/trace/schema.h"
#include "src/trace/tree_nodes.h"
#include "tools/espalier/command.h"
#include "tools/espalier/db_queue.h"
#include "tools/espalier/option_checks.h"
#include "tools/espalier/output_file.h"
#include "tools/espalier/printable.h"

namespace espalier {
namespace {

struct DbFlags {
  std::string database;
  std::vector<std::string> inputs;
  std::string out;
  std::string query;
  JsonOutput json;
  bool logs = false;
  int64_t run = 0;
};

// A cell on one line: tabs, newlines and backslashes as \t, \n, \\.
std::string Cell(const std::string& text) {
  return ForOutput(absl::StrReplaceAll(
      text, {{"\\", "\\\\"}, {"\t", "\\t"}, {"\n", "\\n"}}));
}

// Rows as tab-separated text under a heading, or one JSON object per line.
absl::Status PrintRows(Statement& s, bool json) {
  bool first = true;
  while (true) {
    ESP_ASSIGN_OR_RETURN(const bool more, s.Step());
    if (first && !json) {
      for (int c = 0; c < s.columns(); ++c) {
        std::printf("%s%s", c > 0 ? "\t" : "", Cell(s.ColumnName(c)).c_str());
      }
      if (s.columns() > 0) std::printf("\n");
    }
    first = false;
    if (!more) return absl::OkStatus();
    nlohmann::ordered_json row = nlohmann::ordered_json::object();
    for (int c = 0; c < s.columns(); ++c) {
      if (!json) {
        std::printf("%s%s", c > 0 ? "\t" : "", Cell(s.Text(c)).c_str());
      } else if (s.IsNull(c)) {
        row[s.ColumnName(c)] = nullptr;
      } else if (s.IsInt(c)) {
        row[s.ColumnName(c)] = s.Int(c);
      } else if (s.IsReal(c)) {
        row[s.ColumnName(c)] = s.Real(c);
      } else {
        row[s.ColumnName(c)] = s.Text(c);
      }
    }
    if (json) {
      std::printf("%s\n", row.dump(-1, ' ', false,
                                   nlohmann::json::error_handler_t::replace)
                              .c_str());
    } else {
      std::printf("\n");
    }
  }
}

absl::Status RunSql(const DbFlags& flags) {
  ESP_ASSIGN_OR_RETURN(const auto db,
                       RunDb::Open(flags.database, Sqlite::kRead));
  ESP_RETURN_IF_ERROR(AddTreeNodes(*db));
  ESP_ASSIGN_OR_RETURN(Statement s, db->sqlite().Prepare(flags.query));
  if (!s.ReadsOnly()) {
    return absl::InvalidArgumentError(absl::StrCat(
        flags.database,
        ": db sql only reads; expected a query (SELECT ...), found: ",
        flags.query,
        "\n  remedy: espalier db prune deletes runs and logs; sqlite3 changes "
        "anything else"));
  }
  ESP_RETURN_IF_ERROR(flags.json.TakeStdout());
  return PrintRows(s, flags.json.wanted());
}

absl::Status RunInfoCommand(const DbFlags& flags) {
  ESP_ASSIGN_OR_RETURN(const auto db,
                       RunDb::Open(flags.database, Sqlite::kRead));
  ESP_ASSIGN_OR_RETURN(const std::vector<RunRow> runs, db->Runs());
  const auto count = [&](const std::string& sql) -> absl::StatusOr<int64_t> {
    ESP_ASSIGN_OR_RETURN(Statement s, db->sqlite().Prepare(sql));
    ESP_ASSIGN_OR_RETURN(const bool row, s.Step());
    return row ? s.Int(0) : 0;
  };
  ESP_ASSIGN_OR_RETURN(const int64_t problems,
                       count("SELECT count(*) FROM problems"));
  ESP_ASSIGN_OR_RETURN(const int64_t solutions,
                       count("SELECT count(*) FROM solutions"));
  ESP_ASSIGN_OR_RETURN(const int64_t nodes,
                       count("SELECT sum(nodes) FROM searches"));
  ESP_ASSIGN_OR_RETURN(const int64_t tokens,
                       count("SELECT sum(tokens) FROM searches"));
  ESP_ASSIGN_OR_RETURN(const int64_t trees,
                       count("SELECT sum(length(tree)) FROM trees"));
  ESP_ASSIGN_OR_RETURN(const int64_t logs,
                       count("SELECT sum(length(log)) FROM trees"));
  std::printf(
      "%s: run database, tables of version %d\n"
      "%lld problems, %lld solutions, %lld nodes, %lld tokens; trees %.2f MB, "
      "logs "
      "%.2f MB\n",
      Printable(flags.database).c_str(), SchemaVersion(),
      static_cast<long long>(problems), static_cast<long long>(solutions),
      static_cast<long long>(nodes), static_cast<long long>(tokens),
      static_cast<double>(trees) / 1e6, static_cast<double>(logs) / 1e6);
  for (const RunRow& run : runs) {
    const auto of_run = [&](const char* state) {
      return count(absl::StrCat("SELECT count(*) FROM searches WHERE run_id=",
                                run.run_id, " AND state", state));
    };
    ESP_ASSIGN_OR_RETURN(const int64_t done, of_run("='done'"));
    ESP_ASSIGN_OR_RETURN(const int64_t failed, of_run("='failed'"));
    ESP_ASSIGN_OR_RETURN(const int64_t running, of_run("='running'"));
    std::printf(
        "\nrun %d: %s, started %s, %s\n  method %s\n  model %s (%s)\n  %lld "
        "searches done, %lld failed, %lld running\n  %s\n",
        static_cast<int>(run.run_id), Printable(run.info.kind).c_str(),
        Printable(run.started_at).c_str(),
        run.finished_at.empty()
            ? "not finished"
            : Printable("finished " + run.finished_at).c_str(),
        Printable(run.info.method).c_str(), Printable(run.info.model).c_str(),
        Printable(run.info.model_hash).c_str(), static_cast<long long>(done),
        static_cast<long long>(failed), static_cast<long long>(running),
        Printable(run.info.config).c_str());
  }
  return absl::OkStatus();
}

absl::Status RunPrune(const DbFlags& flags) {
  if (IsPostgresUrl(flags.database)) {
    if (flags.logs || flags.run == 0) {
      return UsageError(
          absl::InvalidArgumentError("of a queue only whole runs are deleted: "
                                     "give --run N without --logs"));
    }
    return DropFromQueue(flags.database, flags.run);
  }
  if (!flags.logs && flags.run == 0) {
    return UsageError(absl::InvalidArgumentError(
        "nothing to prune: give --logs, or --run N, or both for the logs of "
        "one run"));
  }
  ESP_ASSIGN_OR_RETURN(const auto db,
                       RunDb::Open(flags.database, Sqlite::kWrite));
  if (flags.run != 0) {
    ESP_ASSIGN_OR_RETURN(const std::vector<RunRow> runs, db->Runs());
    bool found = false;
    for (const RunRow& run : runs) found |= run.run_id == flags.run;
    if (!found) {
      return absl::NotFoundError(
          absl::StrCat(flags.database, ": no run ", flags.run));
    }
  }
  if (flags.logs) {
    ESP_RETURN_IF_ERROR(db->PruneLogs(flags.run));
  } else {
    ESP_RETURN_IF_ERROR(db->DropRun(flags.run));
  }
  return db->Compact();
}

absl::Status RunMerge(const DbFlags& flags) {
  ESP_RETURN_IF_ERROR(flags.json.Check());
  std::error_code error;
  const bool there = std::filesystem::exists(flags.out, error);
  if (!there) ESP_RETURN_IF_ERROR(CheckOutputFile(flags.out, /*force=*/true));
  // Opened before the output is created, so that a wrong name leaves no file.
  for (const std::string& path : flags.inputs) {
    ESP_RETURN_IF_ERROR(RunDb::Open(path, Sqlite::kRead).status());
  }
  ESP_ASSIGN_OR_RETURN(
      auto out,
      RunDb::Open(flags.out, there ? Sqlite::kWrite : Sqlite::kCreate));
  const absl::StatusOr<MergeReport> merged = MergeRuns(flags.inputs, *out);
  out.reset();
  if (!merged.ok()) {
    if (!there) std::filesystem::remove(flags.out, error);
    // The remedies in errors of run databases are for programs that record.
    return absl::Status(
        merged.status().code(),
        absl::StrReplaceAll(merged.status().message(),
                            {{"what was recorded before is kept: ", ""},
                             {"What was recorded before is kept: ", ""},
                             {"continue with --resume", "merge again"}}));
  }
  const MergeReport& report = *merged;
  const auto count = [](int64_t n, const char* one, const char* many) {
    return absl::StrCat(n, " ", n == 1 ? one : many);
  };
  std::fprintf(flags.json.report(),
               "%s: %s, %s, %s and %s added; %s continued, %lld already "
               "there\n",
               Printable(flags.out).c_str(),
               count(report.runs, "run", "runs").c_str(),
               count(report.problems, "problem", "problems").c_str(),
               count(report.searches, "search", "searches").c_str(),
               count(report.solutions, "solution", "solutions").c_str(),
               count(report.continued, "search", "searches").c_str(),
               static_cast<long long>(report.same));
  ESP_RETURN_IF_ERROR(flags.json.Write(
      nlohmann::ordered_json{{"out", flags.out},
                             {"runs", report.runs},
                             {"problems", report.problems},
                             {"searches", report.searches},
                             {"solutions", report.solutions},
                             {"continued", report.continued},
                             {"same", report.same},
                             {"conflicts", report.conflicts}}));
  if (report.conflicts.empty()) return absl::OkStatus();
  constexpr size_t kShown = 5;
  std::string text = absl::StrCat(
      report.conflicts.size(),
      " searches are recorded differently in two files; everything else was "
      "merged:");
  for (size_t i = 0; i < std::min(kShown, report.conflicts.size()); ++i) {
    absl::StrAppend(&text, "\n  ", report.conflicts[i]);
  }
  if (report.conflicts.size() > kShown) {
    absl::StrAppend(&text, "\n  and ", report.conflicts.size() - kShown,
                    " more; --json has all");
  }
  return absl::AlreadyExistsError(text);
}

// Files that are named must not be queues, whose address may hold a password
// that no message may repeat.
absl::Status CheckFiles(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (!IsPostgresUrl(name)) continue;
    return UsageError(absl::InvalidArgumentError(
        "expected the file of a run database, found the address of a queue; "
        "espalier db pull writes a run of a queue to a file"));
  }
  return absl::OkStatus();
}

absl::Status RunUpgrade(const DbFlags& flags) {
  return RunDb::Open(flags.database, Sqlite::kWrite).status();
}

}  // namespace

void AddDb(CLI::App& app, RunFunction& run) {
  auto flags = std::make_shared<DbFlags>();
  app.require_subcommand(1);
  const auto add = [&](const char* name, const char* summary,
                       const char* database = "Run database") {
    CLI::App* command = app.add_subcommand(name, summary);
    command->add_option("database", flags->database, database)->required();
    return command;
  };
  const CLI::App* info = add("info", "Show what the database contains");
  CLI::App* sql = add(
      "sql",
      "Run a query; tree_nodes(search_id) returns a tree's nodes as a table");
  sql->add_option("query", flags->query, "One read-only SQL statement")
      ->required();
  AddJsonOutput(*sql, flags->json, "one object per row");
  CLI::App* prune =
      add("prune", "Delete data that is no longer needed",
          "Run database; or a queue, postgres://USER@HOST/DATABASE, of which "
          "--run N deletes a whole run");
  prune->add_flag(
      "--logs", flags->logs,
      "Delete response logs: trees stay, replay becomes impossible");
  prune
      ->add_option("--run", flags->run,
                   "Delete from this run only; without --logs: the whole run")
      ->check(WholeFrom(1));
  add("upgrade", "Upgrade an older database to the current schema");
  CLI::App* merge = app.add_subcommand(
      "merge", "Join the databases of several workers, e.g. of --shard auto");
  merge
      ->add_option("databases", flags->inputs,
                   "Run databases; their runs become one run if they differ "
                   "only in --shard")
      ->required();
  merge
      ->add_option("--out", flags->out,
                   "Run database to write or to add to; what it already has is "
                   "not changed")
      ->required();
  AddJsonOutput(*merge, flags->json, "the counts");
  const auto add_queue = [&](const char* name, const char* summary) {
    CLI::App* command = app.add_subcommand(name, summary);
    command
        ->add_option("queue", flags->database,
                     "postgres://USER@HOST/DATABASE, as of generate --queue")
        ->required();
    command
        ->add_option("--run", flags->run,
                     name == std::string_view("pull")
                         ? "Number of the run. Default: the only one"
                         : "Only this run. Default: all")
        ->check(WholeFrom(1));
    return command;
  };
  CLI::App* pull =
      add_queue("pull", "Download a run from a queue into a run database");
  pull->add_option("--out", flags->out,
                   "Run database to write, or to add the run to")
      ->required();
  AddJsonOutput(*pull, flags->json, "the counts");
  CLI::App* status = add_queue(
      "status", "Show a queue's runs, their workers, rates and time left");
  AddJsonOutput(*status, flags->json, "the same");
  run = [=]() -> absl::Status {
    ESP_RETURN_IF_ERROR(CheckFiles({flags->out}));
    if (pull->parsed()) {
      return PullFromQueue(flags->database, flags->run, flags->out,
                           flags->json);
    }
    if (status->parsed()) {
      return PrintQueueStatus(flags->database, flags->run, flags->json);
    }
    ESP_RETURN_IF_ERROR(CheckFiles(flags->inputs));
    if (merge->parsed()) return RunMerge(*flags);
    if (prune->parsed()) return RunPrune(*flags);
    ESP_RETURN_IF_ERROR(CheckFiles({flags->database}));
    if (info->parsed()) return RunInfoCommand(*flags);
    if (sql->parsed()) return RunSql(*flags);
    return RunUpgrade(*flags);
  };
}

}  // namespace espalier
