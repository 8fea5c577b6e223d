// espalier replay: reruns a recorded search from its log, without a model.
#include <cstdio>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "src/engine/generate.h"
#include "src/trace/run_db.h"
#include "tools/espalier/command.h"
#include "tools/espalier/option_checks.h"
#include "tools/espalier/printable.h"
#include "tools/espalier/show_tree.h"

namespace espalier {
namespace {

struct ReplayFlags {
  std::string database;
  std::string problem;
  int64_t run = 0;
  bool show_tree = false;
};

absl::Status RunReplay(const ReplayFlags& flags) {
  ESP_ASSIGN_OR_RETURN(const auto db,
                       RunDb::Open(flags.database, Sqlite::kRead));
  ESP_ASSIGN_OR_RETURN(const std::vector<RunRow> runs, db->Runs());
  int64_t same = 0, other = 0, unfinished = 0, nodes = 0;
  std::string nearby;
  for (const RunRow& run : runs) {
    if (flags.run != 0 && run.run_id != flags.run) continue;
    ESP_ASSIGN_OR_RETURN(const std::vector<SearchRow> searches,
                         db->Searches(run.run_id));
    for (const SearchRow& search : searches) {
      if (nearby.empty()) nearby = search.problem;
      if (!flags.problem.empty() && search.problem != flags.problem) continue;
      if (search.state == SearchState::kRunning || search.cached) {
        ++unfinished;
        continue;
      }
      StoredTree tree;
      ESP_ASSIGN_OR_RETURN(const std::string difference,
                           ReplaySearch(*db, run, search, &tree));
      ++(difference.empty() ? same : other);
      nodes += static_cast<int64_t>(tree.nodes.size());
      if (!difference.empty() || !flags.problem.empty()) {
        std::printf(
            "run %lld, %s, seed %llu: %s\n", static_cast<long long>(run.run_id),
            Printable(search.problem).c_str(),
            static_cast<unsigned long long>(search.seed),
            difference.empty() ? "identical" : Printable(difference).c_str());
      }
      if (flags.show_tree) std::printf("%s", TreeText(Describe(tree)).c_str());
    }
  }
  if (same + other == 0) {
    return absl::NotFoundError(absl::StrCat(
        flags.database, ": no finished search",
        flags.problem.empty()
            ? ""
            : absl::StrCat(" of problem \"", flags.problem, "\""),
        flags.run == 0 ? "" : absl::StrCat(" in run ", flags.run),
        nearby.empty() ? "" : absl::StrCat("; it holds ", nearby, " ..."),
        unfinished > 0 ? "; searches that are running or were answered from a "
                         "solution have no tree"
                       : ""));
  }
  std::printf("%lld %s replayed, %lld %s: %lld identical\n",
              static_cast<long long>(same + other),
              same + other == 1 ? "search" : "searches",
              static_cast<long long>(nodes), nodes == 1 ? "node" : "nodes",
              static_cast<long long>(same));
  if (other == 0) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat(
      other,
      " replays differ from the record: the program has changed since, "
      "or the record was altered"));
}

}  // namespace

void AddReplay(CLI::App& app, RunFunction& run) {
  auto flags = std::make_shared<ReplayFlags>();
  app.add_option("database", flags->database, "Run database")->required();
  app.add_option("--problem", flags->problem,
                 "Problem name, e.g. stories:hard/1/12. Default: all");
  app.add_option("--run", flags->run, "Run number. Default: all")
      ->check(WholeFrom(1));
  app.add_flag("--show-tree", flags->show_tree, "Print the trees");
  run = [flags] { return RunReplay(*flags); };
}

}  // namespace espalier
