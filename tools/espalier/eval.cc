// espalier eval: methods at equal token budgets on a problem set, or pass@k of
// one of them.
#include <algorithm>
#include <cstdio>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/progress.h"
#include "base/status_macros.h"
#include "base/version.h"
#include "datasets/sets/problem_set.h"
#include "espalier/engine.h"
#include "nlohmann/json.hpp"
#include "search/algorithm.h"
#include "search/presets.h"
#include "src/engine/model_place.h"
#include "src/engine/prompted_task.h"
#include "src/eval/judges.h"
#include "src/eval/pass_at_k.h"
#include "src/eval/sweep.h"
#include "tools/espalier/command.h"
#include "tools/espalier/option_checks.h"
#include "tools/espalier/output_file.h"
#include "tools/espalier/printable.h"
#include "tools/espalier/response_tokens.h"
#include "tools/espalier/set_blocks.h"
#include "tools/espalier/set_flags.h"

namespace espalier {
namespace {

// The methods to run without --methods.
const std::vector<std::string> kCompared = {"greedy",   "majority", "best_of_n",
                                            "weighted", "guided",   "puct"};
const std::vector<std::string> kSampled = {"sample"};

struct EvalFlags {
  ModelFlags models;
  PromptFlags prompt;
  SetFlags set;
  std::string task;
  SweepOptions sweep;
  std::vector<int> pass_at;  // empty: compare methods
  int samples = 0;           // responses for pass@k; 0: the largest k
  JsonOutput json;
  std::string compare;
  std::string prompt_text;  // of `prompt`, resolved
  bool oracle = false;
  bool constant = false;
  bool verifier_reward = false;
};

// True for "sample:temperature=0" and similar.
bool AlwaysGreedy(const std::string& method) {
  std::string name;
  OptionMap given;
  double temperature = 1;
  if (!ResolveMethod(method, &name, &given).ok()) return false;
  const auto it = given.find("temperature");
  return it != given.end() && absl::SimpleAtod(it->second, &temperature) &&
         temperature == 0;
}

// pass@k takes one method at one budget; each response is a separate search.
absl::Status CheckPassAt(EvalFlags& flags) {
  std::vector<int>& ks = flags.pass_at;
  const std::vector<std::string>& methods = flags.sweep.methods;
  std::sort(ks.begin(), ks.end());
  ks.erase(std::unique(ks.begin(), ks.end()), ks.end());
  if (flags.samples == 0) flags.samples = ks.back();
  if (flags.samples < ks.back()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--samples ", flags.samples, ": pass@", ks.back(),
                     " needs at least ", ks.back(), " responses per problem"));
  }
  if (methods.size() != 1 || flags.sweep.budgets.size() > 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--pass-at takes one method and at most one budget, found --methods ",
        absl::StrJoin(methods, ","), " and --budget-tokens ",
        absl::StrJoin(flags.sweep.budgets, ",")));
  }
  if (methods[0] == "greedy" || AlwaysGreedy(methods[0])) {
    return absl::InvalidArgumentError(
        absl::StrCat("--pass-at needs independent responses, but ", methods[0],
                     " always gives the same response; use --methods sample"));
  }
  flags.sweep.seeds = flags.samples;
  return absl::OkStatus();
}

// Refuses everything that can be refused before a model is loaded, all at once.
absl::Status CheckFlags(EvalFlags& flags) {
  FlagErrors errors;
  if (flags.sweep.methods.empty()) {
    flags.sweep.methods = flags.pass_at.empty() ? kCompared : kSampled;
  }
  for (const int64_t budget : flags.sweep.budgets) {
    if (budget > 0) continue;
    errors.Add(absl::StrCat("--budget-tokens ", budget,
                            ": expected a whole number of 1 or more"));
  }
  for (std::string& method : flags.sweep.methods) {
    if (method == "auto") {
      errors.Add(
          "eval compares methods by name; replace auto by the name of a "
          "method");
    }
    absl::StatusOr<std::string> read = ReadMethodFile(method);
    errors.AddAsIs(FileFlagError("--methods", kMethodFile, read.status()));
    if (!read.ok()) continue;
    // The rows, and --compare, name a method from a file by its content.
    if (flags.compare == method) flags.compare = *read;
    method = *std::move(read);
    SearchOptions search = flags.sweep.search;
    search.method = method;
    if (!flags.sweep.budgets.empty()) {
      search.max_tokens = std::max<int64_t>(1, flags.sweep.budgets[0]);
    }
    errors.Add(CheckSearchFlags(search, /*graded=*/false, flags.models));
  }
  const std::vector<std::string>& methods = flags.sweep.methods;
  if (!flags.compare.empty() && std::find(methods.begin(), methods.end(),
                                          flags.compare) == methods.end()) {
    errors.Add(absl::StrCat("--compare ", flags.compare,
                            ": not among --methods ",
                            absl::StrJoin(methods, ",")));
  }
  if (flags.oracle + flags.constant + flags.verifier_reward > 1) {
    errors.Add(
        "--oracle, --constant-reward and --verifier-reward exclude each other");
  }
  errors.Add(CheckRepeats(flags.sweep));
  if (!flags.pass_at.empty()) errors.Add(CheckPassAt(flags));
  errors.Add(CheckSeeds(flags.sweep.seed, flags.sweep.seeds));
  errors.Add(CheckTaskFlag(flags.task));
  errors.AddAsIs(CheckPromptFlags(flags.prompt));
  errors.AddAsIs(CheckRewardFormat(flags.models));
  errors.AddAsIs(flags.json.Check());
  ESP_RETURN_IF_ERROR(errors.Status());
  flags.sweep.reward = flags.oracle            ? RewardSource::kOracle
                       : flags.constant        ? RewardSource::kConstant
                       : flags.verifier_reward ? RewardSource::kVerifier
                                               : RewardSource::kModel;
  return absl::OkStatus();
}

void PrintErrors(const std::string& method, const TextList& errors) {
  constexpr size_t kShown = 3;
  for (const std::string& error : errors.First(kShown)) {
    std::fprintf(stderr, "%s: %s\n", Printable(method).c_str(),
                 Printable(error).c_str());
  }
  if (errors.size() > kShown) {
    std::fprintf(stderr, "%s: ... and %zu more problems\n",
                 Printable(method).c_str(), errors.size() - kShown);
  }
}

absl::Status WriteResults(const EvalFlags& flags, const ResolvedModels& models,
                          const EngineStats& stats, LongJson results) {
  nlohmann::json& json = results.json;
  json["version"] = Version();
  json["model"] = models.policy();
  if (flags.verifier_reward) json["reward"] = "verifier";
  if (flags.constant) json["reward"] = "constant";
  if (!flags.prompt_text.empty()) json["prompt"] = flags.prompt_text;
  json["set_seed"] = flags.set.options.seed;
  json.update(ChoiceJson(flags.set.options));
  json.update(WorkJson(stats));
  return flags.json.WriteLong(results);
}

absl::Status ReportPassAt(const EvalFlags& flags, const ResolvedModels& models,
                          const EngineStats& stats,
                          const std::vector<ResultRow>& rows) {
  const PassReport report = MakePassReport(rows, flags.pass_at);
  std::fprintf(flags.json.report(), "%s, %zu problems, model %s\n%s%s",
               Printable(report.set).c_str(), report.right.size(),
               Printable(models.policy()).c_str(),
               Printable(PassTable(report)).c_str(), WorkText(stats).c_str());
  if (flags.json.wanted()) {
    ESP_RETURN_IF_ERROR(WriteResults(flags, models, stats, PassJson(report)));
  }
  PrintErrors(report.method, report.errors);
  return absl::OkStatus();
}

absl::Status ReportSweep(const EvalFlags& flags, const ResolvedModels& models,
                         const SetBlocks& set, const EngineStats& stats,
                         const std::vector<ResultRow>& rows) {
  std::FILE* const report = flags.json.report();
  std::fprintf(
      report, "%s, %lld problems, model %s\n%s", Printable(set.name()).c_str(),
      static_cast<long long>(set.count()), Printable(models.policy()).c_str(),
      Printable(SweepTable(rows)).c_str());
  std::vector<Comparison> comparisons;
  if (!flags.compare.empty()) {
    comparisons = CompareWith(flags.compare, rows);
    std::fprintf(report, "%s", Printable(ComparisonTable(comparisons)).c_str());
  }
  std::fprintf(report, "%s", WorkText(stats).c_str());
  if (flags.json.wanted()) {
    LongJson json = SweepJson(rows);
    if (!flags.compare.empty()) {
      json.json["comparisons"] = ComparisonJson(comparisons);
    }
    ESP_RETURN_IF_ERROR(WriteResults(flags, models, stats, std::move(json)));
  }
  for (const ResultRow& row : rows) PrintErrors(row.method, row.errors);
  return absl::OkStatus();
}

// Measures response lengths, and sets the budget if none is given.
absl::Status SetBudgets(EvalFlags& flags, const SetBlocks& set, Engine& engine,
                        const Task& task) {
  ESP_ASSIGN_OR_RETURN(const std::vector<Problem> first,
                       set.First(kMeasuredProblems));
  SearchOptions& search = flags.sweep.search;
  ESP_RETURN_IF_ERROR(
      MeasureResponseTokens(engine, first, task, &StopRequested(), search));
  if (flags.sweep.budgets.empty() && !first.empty()) {
    ESP_ASSIGN_OR_RETURN(const int64_t budget,
                         DefaultBudget("eval", engine, first.front(), task));
    flags.sweep.budgets = {budget};
  }
  std::vector<ShortBudget> budgets;
  for (const int64_t tokens : flags.sweep.budgets) {
    SearchOptions one = search;
    one.max_tokens = tokens;
    one.method = "auto";
    budgets.emplace_back(one);  // settings that apply to every method
    for (const std::string& method : flags.sweep.methods) {
      one.method = method;
      if (ShortBudget(one).responses() > 1) budgets.emplace_back(one);
    }
  }
  ESP_RETURN_IF_ERROR(set.Read([&](absl::Span<const GradedProblem> block) {
    for (const GradedProblem& graded : block) {
      for (ShortBudget& budget : budgets) budget.Add(graded.problem);
    }
    return absl::OkStatus();
  }));
  for (const ShortBudget& budget : budgets) PrintNote("eval", budget);
  return absl::OkStatus();
}

// Refuses methods that the models cannot serve before anything is measured.
absl::Status CheckModels(const EvalFlags& flags, Engine& engine,
                         const PromptedTask& put) {
  ConstantReward constant;
  RunHooks hooks{.verifier = put.verifier->ForSearch()};
  if (flags.sweep.reward != RewardSource::kModel) hooks.reward = &constant;
  FlagErrors errors;
  for (const std::string& method : flags.sweep.methods) {
    SearchOptions search = flags.sweep.search;
    search.method = method;
    search.max_tokens = 1;
    errors.AddAsIs(engine.SolveAll({}, *put.task, search, hooks,
                                   [](size_t, const SearchResult&) {}));
  }
  return errors.Status();
}

absl::Status RunEval(EvalFlags& flags) {
  ESP_RETURN_IF_ERROR(CheckFlags(flags));
  ESP_ASSIGN_OR_RETURN(SetBlocks set, SetBlocks::Open(flags.set));
  const std::string task = flags.task.empty() ? set.task() : flags.task;
  ESP_ASSIGN_OR_RETURN(const ResolvedModels models,
                       ResolveModels(flags.models, task));
  ESP_ASSIGN_OR_RETURN(
      flags.prompt_text,
      ResolvePromptText(flags.prompt, PolicyFolder(models.options())));
  ESP_ASSIGN_OR_RETURN(const PromptedTask put,
                       PutTaskBy(task, flags.prompt_text));
  FlagErrors errors;
  for (const std::string& method : flags.sweep.methods) {
    errors.Add(CheckVerifier(method, *put.verifier));
  }
  ESP_RETURN_IF_ERROR(errors.Status());
  ESP_RETURN_IF_ERROR(set.KeepJudged(*put.verifier));
  ESP_ASSIGN_OR_RETURN(const auto engine, models.Load());
  flags.sweep.stop = &StopRequested();
  flags.sweep.lists = flags.json.wanted();
  ESP_RETURN_IF_ERROR(CheckModels(flags, *engine, put));
  ESP_RETURN_IF_ERROR(SetBudgets(flags, set, *engine, *put.task));
  const int64_t all = set.count() *
                      static_cast<int64_t>(flags.sweep.methods.size() *
                                           flags.sweep.budgets.size()) *
                      flags.sweep.seeds;
  Progress progress("eval " + Printable(set.name()), all,
                    flags.pass_at.empty() ? "problems" : "responses");
  int64_t shown = 0;
  flags.sweep.progress = [&](int64_t done, int64_t) {
    progress.Add(done - shown);
    shown = done;
  };
  std::vector<ResultRow> rows;
  const absl::Status swept = RunSweep(
      *engine, set.name(),
      [&](const UseProblems& use) { return set.Read(use); }, set.count(),
      *put.task, *put.verifier, flags.sweep, rows);
  progress.Finish();
  // Reports what was done, even after an error.
  if (!rows.empty()) {
    ESP_RETURN_IF_ERROR(
        flags.pass_at.empty()
            ? ReportSweep(flags, models, set, engine->stats(), rows)
            : ReportPassAt(flags, models, engine->stats(), rows));
  }
  ESP_RETURN_IF_ERROR(swept);
  if (StopRequested().load()) {
    return absl::CancelledError(
        "stopped; the figures above cover what was done until then");
  }
  for (const ResultRow& row : rows) {
    const std::vector<std::string> errors = row.errors.First(1);
    if (errors.empty() || static_cast<int64_t>(row.errors.size()) < row.n()) {
      continue;
    }
    return absl::FailedPreconditionError(
        absl::StrCat(row.method,
                     ": every search failed, so its accuracy says "
                     "nothing; the first because ",
                     errors.front()));
  }
  return absl::OkStatus();
}

}  // namespace

void AddEval(CLI::App& app, RunFunction& run) {
  auto flags = std::make_shared<EvalFlags>();
  AddSetFlags(app, flags->set)->required();
  CLI::Option* methods = app.add_option(
      "--methods", flags->sweep.methods,
      "Comma-separated methods with options (e.g. beam:branch=8), presets "
      "(e.g. preset=rest_mcts_star) or method files NAME.textproto. Default: " +
          absl::StrJoin(kCompared, ",") + "; with --pass-at " + kSampled[0]);
  methods->delimiter(',');
  app.add_option_function<std::vector<std::string>>(
         "--preset",
         [flags](const std::vector<std::string>& names) {
           for (const std::string& name : names) {
             flags->sweep.methods.push_back(absl::StrCat("preset=", name));
           }
         },
         "Comma-separated published systems, e.g. rest_mcts_star, instead of "
         "--methods")
      ->delimiter(',')
      ->excludes(methods);
  app.add_option("--budget-tokens", flags->sweep.budgets,
                 absl::StrCat("Comma-separated budgets: tokens sampled per "
                              "problem, including discarded ones. ",
                              kDefaultBudgetHelp))
      ->delimiter(',')
      ->check(WholeFrom(1));
  AddBudgetFlags(app, flags->sweep.search);
  CLI::Option* seeds =
      app.add_option("--seeds", flags->sweep.seeds,
                     "Number of search seeds: --seed, --seed + 1, ...")
          ->capture_default_str()
          ->check(WholeFrom(1, 1000));
  app.add_option("--seed", flags->sweep.seed, "First search seed")
      ->capture_default_str();
  app.add_option(
      "--task", flags->task,
      "Task that prompts and grades the problems. Default: the set's own");
  CLI::Option* compare =
      app.add_option("--compare", flags->compare,
                     "One of --methods: print its lead over each other method, "
                     "with 95 % intervals of the paired difference");
  CLI::Option* pass_at =
      app.add_option(
             "--pass-at", flags->pass_at,
             "Comma-separated k: the probability that at least one of k "
             "responses is correct (unbiased estimate from --samples)")
          ->delimiter(',')
          ->check(WholeFrom(1, 1000000))
          ->excludes(seeds)
          ->excludes(compare);
  app.add_option("--samples", flags->samples,
                 "With --pass-at: independent responses per problem, with "
                 "seeds --seed, --seed + 1, ... Default: the largest k")
      ->check(WholeFrom(1, 1000000))
      ->needs(pass_at);
  AddJsonOutput(app, flags->json, "results");
  app.add_flag("--oracle", flags->oracle,
               "Score steps by exact labels: an upper bound that reads the "
               "reference answers; its rows are marked");
  app.add_flag(
      "--constant-reward", flags->constant,
      "Give all steps the same score: the search without a reward model");
  AddPromptFlags(app, flags->prompt);
  AddModelFlags(app, flags->models);
  AddVerifierReward(app, flags->verifier_reward);
  run = [flags] { return RunEval(*flags); };
}

}  // namespace espalier
