#include "src/trace/merge.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <tuple>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/json_text.h"
#include "base/parse_json.h"
#include "base/progress.h"
#include "base/status_macros.h"
#include "nlohmann/json.hpp"
#include "src/trace/schema.h"
#include "src/trace/stored_tree.h"

namespace espalier {
namespace {

struct Shard {
  int index = 0;
  int count = 1;
};

// Takes the shard out of a run's configuration, which is then that of the whole
// run.
Shard TakeShard(RunInfo& info) {
  Shard shard;
  nlohmann::json config = ParseJsonOrNull(info.config);
  if (!config.is_object() || !config.contains("shard") ||
      !config["shard"].is_string()) {
    return shard;
  }
  const std::vector<std::string> parts =
      absl::StrSplit(config["shard"].get<std::string>(), '/');
  if (parts.size() != 2 || !absl::SimpleAtoi(parts[0], &shard.index) ||
      !absl::SimpleAtoi(parts[1], &shard.count)) {
    return {};
  }
  config["shard"] = "0/1";
  info.config = JsonText(config);
  return shard;
}

// A run in one file.
struct Part {
  RunDb* db = nullptr;
  RunRow row;
  Shard shard;
};

// The parts of one run, and the run of `out` that they become.
struct Whole {
  RunInfo info;
  std::vector<Part> parts;
  int64_t run_id = 0;
};

// A search that is to be copied, in the order of the whole run.
struct MergeCandidate {
  uint64_t seed = 0;
  int64_t rank = 0;  // of its problem among those of its part
  int shard = 0;
  const Part* part = nullptr;
  SearchRow row;
  bool operator<(const MergeCandidate& other) const {
    return std::tie(seed, rank, shard) <
           std::tie(other.seed, other.rank, other.shard);
  }
};

absl::Status CheckVersion(RunDb& db) {
  ESP_ASSIGN_OR_RETURN(Statement s, db.sqlite().Prepare("PRAGMA user_version"));
  ESP_ASSIGN_OR_RETURN(const bool found, s.Step());
  if (found && s.Int(0) == SchemaVersion()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      db.sqlite().path(),
      ": written by an older Espalier; upgrade it with espalier db upgrade"));
}

// Columns of a table in the order of its definition.
absl::StatusOr<std::vector<std::string>> Columns(RunDb& db, const char* table) {
  ESP_ASSIGN_OR_RETURN(Statement s, db.sqlite().Prepare(absl::StrCat(
                                        "PRAGMA table_info(", table, ")")));
  std::vector<std::string> names;
  while (true) {
    ESP_ASSIGN_OR_RETURN(const bool more, s.Step());
    if (!more) return names;
    names.push_back(s.Text(1));
  }
}

// The columns of a search that are the same whenever and wherever it is made.
absl::StatusOr<std::vector<std::string>> ResultOf(RunDb& db,
                                                  int64_t search_id) {
  ESP_ASSIGN_OR_RETURN(
      Statement s,
      db.sqlite().Prepare(
          "SELECT quote(cached), quote(answer), quote(correct), quote(score), "
          "quote(stop_reason), quote(stage), quote(tokens), quote(nodes) "
          "FROM searches WHERE search_id=?"));
  s.BindInt(1, search_id);
  ESP_ASSIGN_OR_RETURN(const bool found, s.Step());
  std::vector<std::string> cells;
  for (int i = 0; found && i < 8; ++i) cells.push_back(s.Text(i));
  return cells;
}

absl::StatusOr<StoredTree> TreeOf(RunDb& db, int64_t search_id) {
  absl::StatusOr<StoredTree> tree = db.LoadTree(search_id);
  if (tree.ok() || absl::IsNotFound(tree.status())) return tree;
  return absl::Status(tree.status().code(),
                      absl::StrCat(db.sqlite().path(), ": search ", search_id,
                                   ": ", tree.status().message()));
}

void BindCell(Statement& to, int parameter, const Statement& from, int column) {
  if (from.IsNull(column)) {
    to.BindNull(parameter);
  } else if (from.IsInt(column)) {
    to.BindInt(parameter, from.Int(column));
  } else if (from.IsReal(column)) {
    to.BindReal(parameter, from.Real(column));
  } else {
    to.BindText(parameter, from.Text(column));
  }
}

class Merger {
 public:
  explicit Merger(RunDb& out) : out_(out) {}

  absl::StatusOr<MergeReport> Merge(const std::vector<std::string>& inputs) {
    ESP_RETURN_IF_ERROR(Open(inputs));
    ESP_RETURN_IF_ERROR(out_.BeginWriting());
    ESP_ASSIGN_OR_RETURN(last_problem_, Total("max(problem_id)", "problems"));
    ESP_ASSIGN_OR_RETURN(last_search_, Total("max(search_id)", "searches"));
    for (Whole& whole : wholes_) ESP_RETURN_IF_ERROR(FindRun(whole));
    int64_t searches = 0;
    for (const Whole& whole : wholes_) {
      ESP_ASSIGN_OR_RETURN(todo_.emplace_back(), CandidatesOf(whole));
      searches += static_cast<int64_t>(todo_.back().size());
    }
    Progress progress("merge", searches, "searches");
    for (size_t i = 0; i < wholes_.size(); ++i) {
      for (const MergeCandidate& candidate : todo_[i]) {
        ESP_RETURN_IF_ERROR(Copy(wholes_[i], candidate));
        progress.Add(1);
      }
      ESP_RETURN_IF_ERROR(CopySolutions(wholes_[i]));
      ESP_RETURN_IF_ERROR(Finish(wholes_[i]));
    }
    ESP_RETURN_IF_ERROR(out_.Commit());
    progress.Finish();
    return std::move(report_);
  }

 private:
  absl::Status Open(const std::vector<std::string>& inputs) {
    ESP_ASSIGN_OR_RETURN(search_columns_, Columns(out_, "searches"));
    for (const std::string& path : inputs) {
      std::error_code error;
      if (std::filesystem::equivalent(path, out_.sqlite().path(), error)) {
        return absl::InvalidArgumentError(absl::StrCat(
            path, ": is the database that is merged into; name the others"));
      }
      ESP_ASSIGN_OR_RETURN(auto db, RunDb::Open(path, Sqlite::kRead));
      ESP_RETURN_IF_ERROR(CheckVersion(*db));
      ESP_ASSIGN_OR_RETURN(const std::vector<RunRow> runs, db->Runs());
      for (const RunRow& row : runs) {
        Part part{.db = db.get(), .row = row};
        RunInfo info = row.info;
        part.shard = TakeShard(info);
        WholeOf(info).parts.push_back(std::move(part));
      }
      inputs_.push_back(std::move(db));
    }
    return absl::OkStatus();
  }

  Whole& WholeOf(const RunInfo& info) {
    for (Whole& whole : wholes_) {
      if (ConfigHash(whole.info) == ConfigHash(info)) return whole;
    }
    wholes_.push_back({.info = info});
    return wholes_.back();
  }

  // The run of `out` with these settings; adds it if there is none.
  absl::Status FindRun(Whole& whole) {
    ESP_ASSIGN_OR_RETURN(const std::vector<RunRow> runs, out_.Runs());
    for (const RunRow& run : runs) {
      if (run.config_hash == ConfigHash(whole.info)) {
        whole.run_id = run.run_id;
        return absl::OkStatus();
      }
    }
    ESP_ASSIGN_OR_RETURN(whole.run_id, out_.AddRun(whole.info));
    ++report_.runs;
    const auto first =
        std::min_element(whole.parts.begin(), whole.parts.end(),
                         [](const Part& a, const Part& b) {
                           return a.row.started_at < b.row.started_at;
                         });
    ESP_ASSIGN_OR_RETURN(
        Statement s,
        out_.sqlite().Prepare(
            "UPDATE runs SET version=?, started_at=? WHERE run_id=?"));
    s.BindText(1, first->row.version);
    s.BindText(2, first->row.started_at);
    s.BindInt(3, whole.run_id);
    return s.Run();
  }

  absl::StatusOr<std::vector<MergeCandidate>> CandidatesOf(const Whole& whole) {
    std::vector<MergeCandidate> candidates;
    for (const Part& part : whole.parts) {
      ESP_ASSIGN_OR_RETURN(const std::vector<SearchRow> rows,
                           part.db->Searches(part.row.run_id));
      std::set<int64_t> ids;
      for (const SearchRow& row : rows) ids.insert(row.problem_id);
      std::map<int64_t, int64_t> ranks;
      for (const int64_t id : ids) {
        const auto rank = static_cast<int64_t>(ranks.size());
        ranks[id] = rank;
      }
      for (const SearchRow& row : rows) {
        candidates.push_back(
            {row.seed, ranks[row.problem_id], part.shard.index, &part, row});
      }
    }
    std::stable_sort(candidates.begin(), candidates.end());
    return candidates;
  }

  // The problem's row in `out`; adds it if its name is new.
  absl::StatusOr<int64_t> ProblemOf(const MergeCandidate& from) {
    const auto key = std::make_pair(from.part->db, from.row.problem_id);
    const auto known = problems_.find(key);
    if (known != problems_.end()) return known->second;
    std::string task;
    ESP_ASSIGN_OR_RETURN(
        const GradedProblem problem,
        from.part->db->LoadProblem(from.row.problem_id, &task));
    ESP_ASSIGN_OR_RETURN(const int64_t id,
                         out_.AddProblem(problem, problem.problem.set, task));
    if (id > last_problem_) {
      last_problem_ = id;
      ++report_.problems;
    }
    problems_[key] = id;
    return id;
  }

  // The value of an aggregate over a table of `out`.
  absl::StatusOr<int64_t> Total(const char* aggregate, const char* table) {
    ESP_ASSIGN_OR_RETURN(
        Statement s, out_.sqlite().Prepare(
                         absl::StrCat("SELECT ", aggregate, " FROM ", table)));
    ESP_ASSIGN_OR_RETURN(const bool found, s.Step());
    return found ? s.Int(0) : 0;
  }

  absl::Status Copy(const Whole& whole, const MergeCandidate& from) {
    ESP_ASSIGN_OR_RETURN(const int64_t problem, ProblemOf(from));
    ESP_ASSIGN_OR_RETURN(
        const SearchRow there,
        out_.BeginSearch(whole.run_id, problem, from.row.seed));
    if (there.search_id <= last_search_) {
      ESP_ASSIGN_OR_RETURN(const bool further, GoesFurther(from, there));
      if (!further) return CompareFinished(from, there);
      ++report_.continued;
      const std::string gone = absl::StrCat(there.search_id);
      ESP_RETURN_IF_ERROR(out_.sqlite().Execute(
          absl::StrCat("DELETE FROM responses WHERE search_id=", gone,
                       ";DELETE FROM trees WHERE search_id=", gone)));
    } else {
      last_search_ = there.search_id;
      ++report_.searches;
    }
    ESP_RETURN_IF_ERROR(CopyRow(from, there.search_id));
    ESP_RETURN_IF_ERROR(CopyTree(from, there.search_id));
    return CopyResponses(from, there.search_id);
  }

  // Whether the file's search is further than the one in `out`: finished where
  // that one is not, or with more responses where neither is.
  absl::StatusOr<bool> GoesFurther(const MergeCandidate& from,
                                   const SearchRow& there) {
    const auto rank = [](SearchState state) {
      return state == SearchState::kDone ? 2 : state == SearchState::kFailed;
    };
    if (rank(from.row.state) != rank(there.state)) {
      return rank(from.row.state) > rank(there.state);
    }
    if (from.row.state != SearchState::kRunning) return false;
    ESP_ASSIGN_OR_RETURN(const auto theirs,
                         from.part->db->Responses(from.row.search_id));
    ESP_ASSIGN_OR_RETURN(const auto ours, out_.Responses(there.search_id));
    return theirs.size() > ours.size();
  }

  absl::Status CompareFinished(const MergeCandidate& from,
                               const SearchRow& there) {
    bool same = from.row.state != SearchState::kDone;
    if (!same) {
      ESP_ASSIGN_OR_RETURN(const std::vector<std::string> theirs,
                           ResultOf(*from.part->db, from.row.search_id));
      ESP_ASSIGN_OR_RETURN(const std::vector<std::string> ours,
                           ResultOf(out_, there.search_id));
      same = theirs == ours;
    }
    if (same && from.row.state == SearchState::kDone && !from.row.cached) {
      ESP_ASSIGN_OR_RETURN(const StoredTree theirs,
                           TreeOf(*from.part->db, from.row.search_id));
      ESP_ASSIGN_OR_RETURN(const StoredTree ours,
                           TreeOf(out_, there.search_id));
      same = EncodeTree(theirs) == EncodeTree(ours);
    }
    if (same) {
      ++report_.same;
    } else {
      report_.conflicts.push_back(absl::StrCat(
          from.part->db->sqlite().path(), ": ", from.row.problem, ", seed ",
          from.row.seed, ": another search of it (answer \"", from.row.answer,
          "\", ", from.row.tokens, " tokens) than the one that is there (\"",
          there.answer, "\", ", there.tokens, " tokens), which is kept"));
    }
    return absl::OkStatus();
  }

  absl::Status CopyRow(const MergeCandidate& from, int64_t search_id) {
    std::vector<std::string> names;
    for (const std::string& name : search_columns_) {
      if (name != "search_id" && name != "run_id" && name != "problem_id" &&
          name != "seed") {
        names.push_back(name);
      }
    }
    ESP_ASSIGN_OR_RETURN(Statement read,
                         from.part->db->sqlite().Prepare(
                             absl::StrCat("SELECT ", absl::StrJoin(names, ", "),
                                          " FROM searches WHERE search_id=?")));
    read.BindInt(1, from.row.search_id);
    ESP_ASSIGN_OR_RETURN(const bool found, read.Step());
    if (!found)
      return absl::DataLossError("a search vanished while it was read");
    ESP_ASSIGN_OR_RETURN(Statement write, out_.sqlite().Prepare(absl::StrCat(
                                              "UPDATE searches SET ",
                                              absl::StrJoin(names, "=?, "),
                                              "=? WHERE search_id=?")));
    const int count = static_cast<int>(names.size());
    for (int i = 0; i < count; ++i) BindCell(write, i + 1, read, i);
    write.BindInt(count + 1, search_id);
    return write.Run();
  }

  absl::Status CopyTree(const MergeCandidate& from, int64_t search_id) {
    ESP_ASSIGN_OR_RETURN(Statement read,
                         from.part->db->sqlite().Prepare(
                             "SELECT tree, log FROM trees WHERE search_id=?"));
    read.BindInt(1, from.row.search_id);
    ESP_ASSIGN_OR_RETURN(const bool found, read.Step());
    if (!found) return absl::OkStatus();
    ESP_ASSIGN_OR_RETURN(
        Statement write,
        out_.sqlite().Prepare(
            "INSERT INTO trees(search_id, tree, log) VALUES (?,?,?)"));
    write.BindInt(1, search_id);
    write.BindBlob(2, read.Text(0));
    if (read.IsNull(1)) {
      write.BindNull(3);
    } else {
      write.BindBlob(3, read.Text(1));
    }
    return write.Run();
  }

  absl::Status CopyResponses(const MergeCandidate& from, int64_t search_id) {
    ESP_ASSIGN_OR_RETURN(
        Statement read,
        from.part->db->sqlite().Prepare(
            "SELECT seq, entry FROM responses WHERE search_id=? ORDER BY seq"));
    read.BindInt(1, from.row.search_id);
    while (true) {
      ESP_ASSIGN_OR_RETURN(const bool more, read.Step());
      if (!more) return absl::OkStatus();
      ESP_RETURN_IF_ERROR(out_.AddResponse(
          search_id, static_cast<uint64_t>(read.Int(0)), read.Text(1)));
    }
  }

  absl::Status CopySolutions(const Whole& whole) {
    ESP_ASSIGN_OR_RETURN(const int64_t before, Total("count(*)", "solutions"));
    for (const Part& part : whole.parts) {
      ESP_ASSIGN_OR_RETURN(
          Statement read,
          part.db->sqlite().Prepare("SELECT problem_id, response, logprob, "
                                    "tokens FROM solutions WHERE run_id=?"));
      read.BindInt(1, part.row.run_id);
      while (true) {
        ESP_ASSIGN_OR_RETURN(const bool more, read.Step());
        if (!more) break;
        const auto problem = problems_.find({part.db, read.Int(0)});
        if (problem == problems_.end()) continue;
        ESP_RETURN_IF_ERROR(
            out_.AddSolution(problem->second, whole.run_id,
                             {read.Text(1), read.Real(2), read.Int(3)}));
      }
    }
    ESP_ASSIGN_OR_RETURN(const int64_t after, Total("count(*)", "solutions"));
    report_.solutions += after - before;
    return absl::OkStatus();
  }

  // Marks the run as finished if the parts are all of its shards, all finished.
  absl::Status Finish(const Whole& whole) {
    std::set<int> finished;
    std::string last;
    const int count = whole.parts.front().shard.count;
    for (const Part& part : whole.parts) {
      if (part.shard.count != count || part.row.finished_at.empty()) continue;
      finished.insert(part.shard.index);
      last = std::max(last, part.row.finished_at);
    }
    if (static_cast<int>(finished.size()) < count) return absl::OkStatus();
    ESP_ASSIGN_OR_RETURN(
        Statement s,
        out_.sqlite().Prepare("UPDATE runs SET finished_at=? WHERE run_id=? "
                              "AND finished_at IS NULL"));
    s.BindText(1, last);
    s.BindInt(2, whole.run_id);
    return s.Run();
  }

  RunDb& out_;
  std::vector<std::unique_ptr<RunDb>> inputs_;
  std::vector<std::string> search_columns_;
  std::vector<Whole> wholes_;
  std::vector<std::vector<MergeCandidate>> todo_;  // by whole
  // Rows of problems in `out`, by file and row there.
  std::map<std::pair<RunDb*, int64_t>, int64_t> problems_;
  // The last rows of `out`: new ones come after them.
  int64_t last_problem_ = 0;
  int64_t last_search_ = 0;
  MergeReport report_;
};

}  // namespace

absl::StatusOr<MergeReport> MergeRuns(const std::vector<std::string>& inputs,
                                      RunDb& out) {
  return Merger(out).Merge(inputs);
}

}  // namespace espalier
