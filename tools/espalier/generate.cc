// espalier generate: searches a problem set and records every search.
#include "src/engine/generate.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/clock.h"
#include "base/progress.h"
#include "base/status_macros.h"
#include "datasets/sets/problem_set.h"
#include "espalier/engine.h"
#include "nlohmann/json.hpp"
#include "search/presets.h"
#include "src/engine/model_place.h"
#include "src/engine/prompted_task.h"
#include "src/engine/verifier_reward.h"
#include "src/queue/postgres.h"
#include "src/trace/run_file.h"
#include "tools/espalier/command.h"
#include "tools/espalier/launched_shard.h"
#include "tools/espalier/option_checks.h"
#include "tools/espalier/output_file.h"
#include "tools/espalier/printable.h"
#include "tools/espalier/queue_worker.h"
#include "tools/espalier/response_tokens.h"
#include "tools/espalier/set_flags.h"

namespace espalier {
namespace {

namespace fs = std::filesystem;

struct GenerateFlags {
  ModelFlags models;
  PromptFlags prompt;
  std::optional<int64_t> budget;  // --budget-tokens
  // Seed 1: tests are drawn from seeds 2000 on, which must not be trained on.
  SetFlags set{.options = {.seed = 1}};
  std::string task;
  GenerateOptions generate{.search = {.method = "majority"}};
  std::string out;
  QueueFlags queue;
  JsonOutput json;
  bool resume = false;
  bool append = false;
  bool ungraded = false;
  bool dry_run = false;
  double unlisted = 1;  // of a dry run: problems per listed problem
};

// A queue replaces the database, and shares the work out by itself.
absl::Status CheckQueueFlags(const GenerateFlags& flags) {
  if (flags.queue.url.empty()) return absl::OkStatus();
  ESP_RETURN_IF_ERROR(CheckQueueUrl(flags.queue.url));
  const std::pair<bool, const char*> others[] = {
      {!flags.out.empty(), "--out (espalier db pull writes the database)"},
      {flags.resume, "--resume (a queue continues by itself)"},
      {flags.append, "--append (a queue holds any number of runs)"},
      {flags.generate.reuse_solutions, "--reuse-solutions"},
      {flags.set.options.shards > 1, "--shard (workers claim searches)"},
      {flags.dry_run, "--dry-run"}};
  for (const auto& [given, name] : others) {
    if (given) {
      return absl::InvalidArgumentError(
          absl::StrCat("--queue does not go with ", name, "; leave it out"));
    }
  }
  return absl::OkStatus();
}

// Refuses everything that can be refused before a model is loaded.
absl::Status CheckFlags(GenerateFlags& flags) {
  SearchOptions& search = flags.generate.search;
  FlagErrors errors;
  errors.AddAsIs(ReadSetFlags(flags.set));
  if (flags.set.shard_is_launched) {
    flags.out = FileOfShard(flags.out, {.index = flags.set.options.shard,
                                        .count = flags.set.options.shards});
  }
  if (search.method == "auto") {
    errors.Add(
        "generate records methods by name; replace auto by the name of a "
        "method");
  }
  absl::StatusOr<std::string> read = ReadMethodFile(search.method);
  errors.AddAsIs(FileFlagError("--search", kMethodFile, read.status()));
  if (read.ok()) {
    search.method = *std::move(read);
    errors.Add(CheckSearchFlags(search, /*graded=*/true, flags.models));
  }
  errors.Add(CheckQueueFlags(flags));
  if (IsPostgresUrl(flags.out)) {
    errors.Add(
        "--out is the address of a database; expected the file of a run "
        "database; --queue takes the address");
  }
  if (flags.out.empty() && !flags.dry_run && flags.queue.url.empty()) {
    errors.Add("--out FILE is missing: where should the searches be recorded?");
  }
  errors.Add(CheckTaskFlag(flags.task));
  errors.AddAsIs(CheckPromptFlags(flags.prompt));
  errors.AddAsIs(CheckRewardFormat(flags.models));
  // A resumed run writes its totals again.
  if (flags.json.wanted()) {
    errors.AddAsIs(
        CheckOutputFile(flags.json.where, flags.json.force || flags.resume));
  }
  errors.Add(CheckSeeds(flags.generate.search.seed, flags.generate.searches));
  if (flags.out == "-") {
    errors.Add(
        "--out -: a database cannot be written to standard output; name a "
        "file, e.g. run.db");
  }
  ESP_RETURN_IF_ERROR(errors.Status());
  std::error_code error;
  const fs::file_status there = fs::status(flags.out, error);
  if (flags.dry_run || !flags.queue.url.empty()) return absl::OkStatus();
  // Its folder must be there and writable.
  if (!fs::exists(there)) return CheckOutputFile(flags.out, /*force=*/true);
  if (!fs::is_regular_file(there)) {
    return absl::FailedPreconditionError(absl::StrCat(
        "--out ", flags.out, ": is not a file; name a file, e.g. run.db"));
  }
  if (flags.resume || flags.append || flags.json.force) return absl::OkStatus();
  return absl::AlreadyExistsError(
      absl::StrCat(flags.out,
                   ": the file already exists; --resume continues the run in "
                   "it, --append adds a run to it, --force overwrites it"));
}

// An estimate does not need a list of all problems of a generated set.
void ShortenForDryRun(GenerateFlags& flags) {
  constexpr int64_t kListed = 1000;
  SetOptions& options = flags.set.options;
  std::error_code error;
  if (!flags.dry_run || !flags.set.ids.empty() || options.limit <= kListed ||
      fs::exists(flags.set.set, error)) {
    return;
  }
  flags.unlisted = static_cast<double>(options.limit) / kListed;
  options.limit = kListed;
}

std::string TotalsText(const GenerateTotals& totals) {
  std::string text = absl::StrFormat("%d of %d searches recorded", totals.done,
                                     totals.searches);
  if (totals.graded > 0) {
    absl::StrAppendFormat(&text, ", %d of %d solved (%.1f %%)", totals.solved,
                          totals.graded,
                          100.0 * static_cast<double>(totals.solved) /
                              static_cast<double>(totals.graded));
  }
  if (totals.cached > 0) {
    absl::StrAppendFormat(&text, ", %d answered from solutions found before",
                          totals.cached);
  }
  if (totals.failed > 0)
    absl::StrAppendFormat(&text, ", %d failed", totals.failed);
  if (totals.speculated_tokens > 0) {
    absl::StrAppendFormat(&text,
                          ", %d tokens sampled (%d more ahead and not used)",
                          totals.tokens, totals.speculated_tokens);
  }
  return text;
}

// Searches that failed; all of them: an error.
absl::Status ReportFailed(const GenerateTotals& totals) {
  if (totals.failed == 0) return absl::OkStatus();
  const std::string text = absl::StrFormat(
      "%d of %d searches failed, the first because %s; the same command with "
      "--resume tries them again",
      totals.failed, totals.done, totals.first_error);
  if (totals.failed == totals.done) return absl::InternalError(text);
  std::fprintf(stderr, "warning: %s\n", Printable(text).c_str());
  return absl::OkStatus();
}

// A few searches, recorded to a temporary file.
absl::Status DryRun(GenerateFlags& flags, Engine& engine,
                    const ProblemSet& set) {
  constexpr size_t kPilot = 16;
  const auto all = static_cast<double>(set.problems.size()) *
                   flags.generate.searches * flags.unlisted;
  ProblemSet pilot = set;
  if (pilot.problems.size() > kPilot) pilot.problems.resize(kPilot);
  std::error_code error;
  std::string folder =
      (fs::temp_directory_path(error) / "espalier-dry-run-XXXXXX").string();
  if (error || mkdtemp(folder.data()) == nullptr) {
    return absl::UnavailableError(
        "cannot create a temporary folder; set TMPDIR to one that is writable");
  }
  const std::string path = folder + "/run.db";
  GenerateOptions options = flags.generate;
  options.searches = 1;
  const double start = Clock::Real().Seconds();
  const auto record = [&]() -> absl::StatusOr<GenerateTotals> {
    ESP_ASSIGN_OR_RETURN(const auto db, RunDb::Open(path, Sqlite::kCreate));
    ESP_ASSIGN_OR_RETURN(
        const int64_t run,
        OpenRun(*db, {.kind = "generate", .config = "{}"}, false));
    ESP_ASSIGN_OR_RETURN(
        GenerateTotals totals,
        Generate(engine, *db, run, pilot, options, {&StopRequested(), {}}));
    ESP_RETURN_IF_ERROR(
        db->sqlite().Execute("PRAGMA wal_checkpoint(TRUNCATE)"));
    return totals;
  };
  const absl::StatusOr<GenerateTotals> totals = record();
  const double seconds = Clock::Real().Seconds() - start;
  const auto bytes = static_cast<double>(fs::file_size(path, error));
  fs::remove_all(folder, error);
  if (!totals.ok()) return totals.status();
  if (totals->done == 0) return absl::CancelledError("stopped");
  const double times = all / static_cast<double>(totals->done);
  std::fprintf(flags.json.report(),
               "%.0f searches of %s by %s, estimated from %d of them:\n"
               "  tokens  %.3g\n  time    %s\n  file    %.3g MB\n",
               all, Printable(set.name).c_str(),
               Printable(flags.generate.search.method).c_str(),
               static_cast<int>(totals->done),
               times * static_cast<double>(totals->tokens),
               HumanSeconds(times * seconds).c_str(), times * bytes / 1e6);
  return flags.json.Write(
      {{"searches", all},
       {"estimated_from", totals->done},
       {"tokens", times * static_cast<double>(totals->tokens)},
       {"seconds", times * seconds},
       {"file_bytes", times * bytes}});
}

absl::Status WriteJson(const GenerateFlags& flags, const GenerateTotals& totals,
                       const EngineStats& stats, double seconds) {
  nlohmann::json json = {
      {"run_database", flags.out},
      {"searches", totals.searches},
      {"done", totals.done},
      {"cached", totals.cached},
      {"failed", totals.failed},
      {"graded", totals.graded},
      {"solved", totals.solved},
      {"tokens", totals.tokens},
      {"stopped", totals.stopped},
      {"seconds", seconds},
      {"speculated_tokens", totals.speculated_tokens},
  };
  json.update(WorkJson(stats));
  return flags.json.Write(json);
}

// The runs of a database; none if the program was killed when it created it.
absl::StatusOr<std::vector<RunRow>> RunsOf(const std::string& path) {
  const auto db = RunDb::Open(path, Sqlite::kRead);
  if (absl::IsNotFound(db.status())) return std::vector<RunRow>();
  ESP_RETURN_IF_ERROR(db.status());
  return (*db)->Runs();
}

// What `before`, a run's options, reserve for an answer, and its budget, unless
// the command line says.
void TakeReserved(const GenerateFlags& flags, const SearchOptions& before,
                  SearchOptions& search) {
  const bool measured = search.response_tokens > 0 || search.max_tokens == 0;
  if (measured && flags.budget) return;
  if (!flags.budget) search.max_tokens = before.max_tokens;
  search.response_tokens = before.response_tokens;
  search.response_tokens_per_byte = before.response_tokens_per_byte;
}

// What searches reserve for an answer: the value of one of `runs`, which is
// then continued, else measured on the set.
absl::Status SetResponseTokens(GenerateFlags& flags, Engine& engine,
                               const ProblemSet& set, const PromptedTask& put,
                               const ResolvedModels& models,
                               const std::vector<RunRow>& runs) {
  SearchOptions& search = flags.generate.search;
  const bool measured = search.response_tokens > 0 || search.max_tokens == 0;
  if (measured && flags.budget) return absl::OkStatus();
  const SearchOptions unmeasured = search;
  for (const RunRow& run : runs) {
    const auto before = OptionsOfRun(run.info);
    if (!before.ok()) continue;
    search = unmeasured;
    TakeReserved(flags, before->search, search);
    ESP_ASSIGN_OR_RETURN(
        const RunInfo info,
        DescribeRun(flags.generate, set, flags.set.options, models.options()));
    if (run.config_hash == ConfigHash(info)) return absl::OkStatus();
  }
  search = unmeasured;
  ESP_ASSIGN_OR_RETURN(const std::vector<Problem> first,
                       FirstOfAllShards(flags.set, ProblemsOf(set.problems)));
  if (!flags.budget && !first.empty()) {
    ESP_ASSIGN_OR_RETURN(
        search.max_tokens,
        DefaultBudget("generate", engine, first.front(), *put.task));
  }
  ESP_RETURN_IF_ERROR(MeasureResponseTokens(engine, first, *put.task,
                                            &StopRequested(), search));
  // A run without its measurement could only be resumed without it.
  if (StopRequested().load()) {
    return absl::CancelledError(
        "stopped before a search began; nothing was recorded");
  }
  return absl::OkStatus();
}

// Searches without a judge must be requested explicitly.
absl::Status CheckGold(const Verifier& verifier, ProblemSet& set) {
  const absl::Status status = LeaveOutUnjudged(verifier, set);
  if (status.ok()) return status;
  return absl::Status(
      status.code(),
      absl::StrCat(status.message(),
                   ", or record searches without verdicts by --ungraded"));
}

// Does what is left of the run, and reports all of it.
absl::Status Record(const GenerateFlags& flags, Engine& engine, RunDb& db,
                    int64_t run_id, const ProblemSet& set) {
  const double start = Clock::Real().Seconds();
  // Measuring response lengths is not part of the run.
  const int64_t before = engine.stats().tokens_generated;
  Progress progress(
      "generate " + Printable(set.name),
      static_cast<int64_t>(set.problems.size()) * flags.generate.searches,
      "searches");
  const auto show = [&](const GenerateTotals& totals) {
    progress.Set(totals.done, totals.done - totals.searched);
    const double seconds = Clock::Real().Seconds() - start;
    const auto tokens =
        static_cast<double>(engine.stats().tokens_generated - before);
    std::string note =
        absl::StrFormat("%.0f tokens/s", tokens / std::max(seconds, 1e-3));
    if (totals.graded > 0) {
      absl::StrAppendFormat(&note, " solved %.0f %%",
                            100.0 * static_cast<double>(totals.solved) /
                                static_cast<double>(totals.graded));
    }
    progress.SetNote(note);
  };
  const absl::StatusOr<GenerateTotals> generated = Generate(
      engine, db, run_id, set, flags.generate,
      {.stop = &StopRequested(), .progress = show, .retry_failed = true});
  if (absl::IsUnavailable(generated.status()) ||
      absl::IsUnauthenticated(generated.status())) {
    return absl::Status(
        generated.status().code(),
        absl::StrCat(generated.status().message(),
                     "; what was searched is kept, and the same command with "
                     "--resume continues from here"));
  }
  if (!generated.ok()) return generated.status();
  const GenerateTotals& totals = *generated;
  show(totals);  // even if there was nothing left to search
  progress.Finish();
  ESP_RETURN_IF_ERROR(WriteJson(flags, totals, engine.stats(),
                                Clock::Real().Seconds() - start));
  std::fprintf(flags.json.report(), "%s: %s\n%s", Printable(flags.out).c_str(),
               TotalsText(totals).c_str(), WorkText(engine.stats()).c_str());
  const absl::Status failed = ReportFailed(totals);
  if (totals.stopped) {
    return absl::CancelledError(
        "stopped; the same command with --resume continues from here");
  }
  return failed;
}

// In place of models that nothing is left for.
class IdleEngine : public Engine {
 public:
  absl::Status SolveAll(
      absl::Span<const Problem> problems, const Task&, const SearchOptions&,
      const RunHooks&,
      const std::function<void(size_t, SearchResult)>&) override {
    if (problems.empty()) return absl::OkStatus();
    return absl::InternalError("searches are left after all");
  }
  EngineStats stats() const override { return {}; }
};

// The run of --resume, if all of it was searched: it then needs no model, and
// asks no server. Sets what it reserved for answers.
absl::StatusOr<std::optional<RunRow>> FindWholeRun(
    GenerateFlags& flags, const ProblemSet& set, const ResolvedModels& models) {
  const std::optional<RunRow> none;
  std::error_code error;
  if (!flags.resume || flags.dry_run || !flags.queue.url.empty() ||
      !fs::exists(flags.out, error)) {
    return none;
  }
  ESP_ASSIGN_OR_RETURN(const std::vector<RunRow> runs, RunsOf(flags.out));
  for (const RunRow& run : runs) {
    const auto before = OptionsOfRun(run.info);
    if (run.finished_at.empty() || !before.ok()) continue;
    GenerateOptions options = flags.generate;
    TakeReserved(flags, before->search, options.search);
    const absl::StatusOr<RunInfo> info = DescribeRun(
        options, set, flags.set.options, models.options(), &run.info);
    if (!info.ok() || ConfigHash(*info) != run.config_hash) continue;
    ESP_ASSIGN_OR_RETURN(const auto db, RunDb::Open(flags.out, Sqlite::kRead));
    ESP_ASSIGN_OR_RETURN(const std::vector<SearchRow> searches,
                         db->Searches(run.run_id));
    std::set<std::pair<std::string, uint64_t>> done;
    for (const SearchRow& search : searches) {
      if (search.state != SearchState::kDone) continue;
      done.emplace(search.problem, search.seed);
    }
    for (int i = 0; i < options.searches; ++i) {
      for (const GradedProblem& graded : set.problems) {
        const uint64_t seed = options.search.seed + static_cast<uint64_t>(i);
        if (!done.contains({graded.problem.id, seed})) return none;
      }
    }
    flags.generate = std::move(options);
    return run;
  }
  return none;
}

absl::Status RunGenerate(GenerateFlags& flags) {
  if (flags.budget) flags.generate.search.max_tokens = *flags.budget;
  ESP_RETURN_IF_ERROR(CheckFlags(flags));
  ShortenForDryRun(flags);
  ESP_ASSIGN_OR_RETURN(ProblemSet set, LoadSet(flags.set));
  if (!flags.task.empty()) set.task = flags.task;
  ESP_ASSIGN_OR_RETURN(const ResolvedModels models,
                       ResolveModels(flags.models, set.task));
  ESP_ASSIGN_OR_RETURN(
      flags.generate.prompt,
      ResolvePromptText(flags.prompt, PolicyFolder(models.options())));
  ESP_ASSIGN_OR_RETURN(const PromptedTask put,
                       PutTaskBy(set.task, flags.generate.prompt));
  // Check before the file exists, which a second try would have to resume.
  ESP_RETURN_IF_ERROR(put.verifier->Ready());
  ESP_RETURN_IF_ERROR(
      UsageError(CheckVerifier(flags.generate.search.method, *put.verifier)));
  if (!flags.ungraded) {
    ESP_RETURN_IF_ERROR(CheckGold(*put.verifier, set));
  }
  if (flags.generate.verifier_reward) {
    ESP_RETURN_IF_ERROR(VerifierReward::Create(*put.verifier).status());
  }
  ESP_ASSIGN_OR_RETURN(const std::optional<RunRow> whole,
                       FindWholeRun(flags, set, models));
  if (whole) {
    IdleEngine idle;
    ESP_ASSIGN_OR_RETURN(const auto there,
                         RunDb::Open(flags.out, Sqlite::kWrite));
    return Record(flags, idle, *there, whole->run_id, set);
  }
  ESP_ASSIGN_OR_RETURN(const auto engine, models.Load());
  StopRequested();
  std::unique_ptr<RunDb> db;
  int64_t run_id = 0;
  ESP_RETURN_IF_ERROR(
      CheckGenerate(*engine, *put.task, *put.verifier, flags.generate));
  const SearchOptions asked = flags.generate.search;
  const auto describe =
      [&](const std::vector<RunRow>& runs) -> absl::StatusOr<RunInfo> {
    flags.generate.search = asked;  // after an earlier call, too
    ESP_RETURN_IF_ERROR(
        SetResponseTokens(flags, *engine, set, put, models, runs));
    ShortBudget budget(flags.generate.search);
    for (const GradedProblem& graded : set.problems) {
      budget.Add(graded.problem);
    }
    PrintNote("generate", budget);
    return DescribeRun(flags.generate, set, flags.set.options,
                       models.options());
  };
  if (!flags.queue.url.empty()) {
    return RunQueueWorker(flags.queue, flags.json, *engine, set, flags.generate,
                          describe);
  }
  std::vector<RunRow> runs;
  std::error_code error;
  if (flags.resume && fs::exists(flags.out, error)) {
    ESP_ASSIGN_OR_RETURN(runs, RunsOf(flags.out));
  }
  ESP_ASSIGN_OR_RETURN(const RunInfo info, describe(runs));
  if (!flags.dry_run) {
    if (flags.json.force && !flags.resume && !flags.append) {
      ESP_RETURN_IF_ERROR(RemoveRunFile(flags.out));
    }
    const bool there = fs::exists(flags.out, error);
    ESP_ASSIGN_OR_RETURN(
        db, RunDb::Open(flags.out, there ? Sqlite::kWrite : Sqlite::kCreate));
    ESP_ASSIGN_OR_RETURN(run_id, OpenRun(*db, info, flags.resume));
  }
  if (flags.dry_run) return DryRun(flags, *engine, set);

  return Record(flags, *engine, *db, run_id, set);
}

}  // namespace

void AddGenerate(CLI::App& app, RunFunction& run) {
  auto flags = std::make_shared<GenerateFlags>();
  SearchOptions& search = flags->generate.search;
  AddSetFlags(app, flags->set)->required();
  AddMethodFlags(app, search.method,
                 "Method with options, e.g. puct:branch=4 (espalier methods "
                 "lists them), or a method file NAME.textproto");
  app.add_option("--out", flags->out, "Run database to write (SQLite)");
  AddQueueFlags(app, flags->queue);
  app.add_option("--budget-tokens", flags->budget,
                 absl::StrCat("Tokens sampled per search, including discarded "
                              "ones; 0: no limit. ",
                              kDefaultBudgetHelp))
      ->check(WholeFrom(0));
  AddBudgetFlags(app, search);
  AddSecondsFlag(app, search.max_seconds);
  app.add_option("--searches", flags->generate.searches,
                 "Searches per problem, with seeds --seed, --seed + 1, ...")
      ->capture_default_str()
      ->check(WholeFrom(1, 1000000));
  app.add_option("--seed", search.seed, "Seed of the first search")
      ->capture_default_str();
  app.add_option(
      "--task", flags->task,
      "Task that prompts and grades the problems. Default: the set's own");
  app.add_flag("--resume", flags->resume,
               "Continue the run in --out that has these settings");
  app.add_flag(
      "--ungraded", flags->ungraded,
      "Also search problems without a gold answer; they get no verdicts");
  app.add_flag("--append", flags->append, "Add a run to an existing --out");
  app.add_flag("--reuse-solutions", flags->generate.reuse_solutions,
               "Answer problems from correct solutions recorded in --out; "
               "these are marked and excluded from accuracy");
  app.add_flag("--dry-run", flags->dry_run,
               "Search a few problems and estimate tokens, time and file size");
  AddJsonOutput(app, flags->json, "totals");
  AddPromptFlags(app, flags->prompt);
  AddModelFlags(app, flags->models);
  AddVerifierReward(app, flags->generate.verifier_reward);
  run = [flags] { return RunGenerate(*flags); };
}

}  // namespace espalier
