// espalier eval: methods at equal token budgets on a problem set.
#include <algorithm>
#include <cstdio>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "datasets/readers/problem_set.h"
#include "datasets/tasks/task_registry.h"
#include "search/algorithm.h"
#include "src/base/files.h"
#include "src/base/json_text.h"
#include "src/base/progress.h"
#include "src/base/status_macros.h"
#include "src/base/version.h"
#include "src/eval/sweep.h"
#include "tools/espalier/command.h"

namespace espalier {
namespace {

struct EvalFlags {
  ModelFlags models;
  std::string set;
  SetOptions set_options;
  std::string task;
  SweepOptions sweep{.methods = {"greedy", "majority", "best_of_n", "weighted",
                                 "beam", "puct"}};
  std::string json_file;
  std::string compare;
  bool oracle = false;
  bool constant = false;
};

// Everything that can be refused is, before a model is loaded.
absl::Status CheckFlags(EvalFlags& flags) {
  if (flags.sweep.budgets.empty()) flags.sweep.budgets = {600};
  for (const std::string& method : flags.sweep.methods) {
    if (method == "auto") {
      return absl::InvalidArgumentError(
          "eval compares methods by name; auto stands for one of them");
    }
    for (const int64_t budget : flags.sweep.budgets) {
      if (budget <= 0) {
        return absl::InvalidArgumentError(
            absl::StrCat("--budget-tokens ", budget,
                         ": expected a positive number of tokens a problem"));
      }
      ESP_RETURN_IF_ERROR(
          CheckSearch({.method = method, .max_tokens = budget}));
    }
  }
  const std::vector<std::string>& methods = flags.sweep.methods;
  if (!flags.compare.empty() && std::find(methods.begin(), methods.end(),
                                          flags.compare) == methods.end()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--compare ", flags.compare, ": not among --methods ",
                     absl::StrJoin(methods, ",")));
  }
  if (flags.oracle && flags.constant) {
    return absl::InvalidArgumentError(
        "--oracle and --constant-reward exclude each other");
  }
  flags.sweep.reward = flags.oracle     ? RewardSource::kOracle
                       : flags.constant ? RewardSource::kConstant
                                        : RewardSource::kModel;
  return absl::OkStatus();
}

absl::Status RunEval(EvalFlags& flags) {
  ESP_RETURN_IF_ERROR(CheckFlags(flags));
  ESP_ASSIGN_OR_RETURN(ProblemSet set, LoadSet(flags.set, flags.set_options));
  if (!flags.task.empty()) set.task = flags.task;
  ESP_ASSIGN_OR_RETURN(const Task* task, FindTask(set.task));
  ESP_ASSIGN_OR_RETURN(const Verifier* verifier, FindVerifier(set.task));
  ESP_ASSIGN_OR_RETURN(const EngineOptions models,
                       ResolveModels(flags.models, set.task));
  ESP_ASSIGN_OR_RETURN(const auto engine, Engine::Create(models));
  flags.sweep.stop = &StopRequested();
  const auto all = static_cast<int64_t>(
      set.problems.size() * flags.sweep.methods.size() *
      flags.sweep.budgets.size() * static_cast<size_t>(flags.sweep.seeds));
  Progress progress("eval " + set.name, all, "problems");
  int64_t shown = 0;
  flags.sweep.progress = [&](int64_t done, int64_t) {
    progress.Add(done - shown);
    shown = done;
  };
  ESP_ASSIGN_OR_RETURN(
      const std::vector<ResultRow> rows,
      RunSweep(*engine, set.name, set.problems, *task, *verifier, flags.sweep));
  progress.Finish();
  std::printf("%s, %zu problems, model %s\n%s", set.name.c_str(),
              set.problems.size(), models.policy.c_str(),
              SweepTable(rows).c_str());
  std::vector<Comparison> comparisons;
  if (!flags.compare.empty()) comparisons = CompareWith(flags.compare, rows);
  std::printf("%s", ComparisonTable(comparisons).c_str());
  if (!flags.json_file.empty()) {
    nlohmann::json json = SweepJson(rows);
    json["version"] = Version();
    json["model"] = models.policy;
    if (!flags.compare.empty()) {
      json["comparisons"] = ComparisonJson(comparisons);
    }
    json["set_seed"] = flags.set_options.seed;
    ESP_RETURN_IF_ERROR(
        WriteFileAtomic(flags.json_file, JsonText(json, 1) + "\n"));
  }
  for (const ResultRow& row : rows) {
    for (size_t i = 0; i < row.errors.size() && i < 3; ++i) {
      std::fprintf(stderr, "%s: %s\n", row.method.c_str(),
                   row.errors[i].c_str());
    }
    if (row.errors.size() > 3) {
      std::fprintf(stderr, "%s: ... and %zu problems more\n",
                   row.method.c_str(), row.errors.size() - 3);
    }
  }
  if (StopRequested().load()) {
    return absl::CancelledError(
        "stopped; the figures above are of what was "
        "done until then");
  }
  return absl::OkStatus();
}

}  // namespace

void AddEval(CLI::App& app, RunFunction& run) {
  auto flags = std::make_shared<EvalFlags>();
  app.add_option("--set", flags->set,
                 "stories:easy|middle|hard, countdown:3|4|5, or a JSONL file "
                 "(plain or GSM8K)")
      ->required();
  app.add_option("--methods", flags->sweep.methods,
                 "Comma-separated methods with options, as beam:branch=8")
      ->delimiter(',')
      ->capture_default_str();
  app.add_option("--budget-tokens", flags->sweep.budgets,
                 "Comma-separated budgets: tokens sampled a problem, kept or "
                 "dropped. Default 600")
      ->delimiter(',');
  app.add_option("--seeds", flags->sweep.seeds, "Search seeds 0, 1, ...")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000));
  app.add_option("--seed", flags->sweep.seed, "First search seed")
      ->capture_default_str();
  app.add_option("--limit", flags->set_options.limit, "Problems at most")
      ->capture_default_str();
  app.add_option("--set-seed", flags->set_options.seed,
                 "Seed of generated sets; from 2000 on for reported figures")
      ->capture_default_str();
  app.add_option("--task", flags->task,
                 "How problems are put and graded; default by set");
  app.add_option("--compare", flags->compare,
                 "One of --methods: print how far it is ahead of each other, "
                 "with 95 % intervals of the paired difference");
  app.add_option("--json", flags->json_file, "Write results to this file");
  app.add_flag("--oracle", flags->oracle,
               "Score steps by exact labels: an upper bound that reads the "
               "answers; its rows are marked");
  app.add_flag("--constant-reward", flags->constant,
               "Score all steps alike: what the search does without a judge");
  AddModelFlags(app, flags->models);
  run = [flags] { return RunEval(*flags); };
}

}  // namespace espalier
