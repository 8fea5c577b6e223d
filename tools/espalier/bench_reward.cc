// espalier bench-reward: measures a reward model, or recorded scores, by the
// field's protocols.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/progress.h"
#include "base/status_macros.h"
#include "base/text.h"
#include "datasets/sets/step_benchmarks.h"
#include "datasets/tasks/task_registry.h"
#include "espalier/engine_options.h"
#include "nlohmann/json.hpp"
#include "search/tree/score_rule.h"
#include "src/engine/score_solutions.h"
#include "src/eval/best_of_n.h"
#include "src/eval/step_benchmark.h"
#include "tools/espalier/bench_reward_report.h"
#include "tools/espalier/command.h"
#include "tools/espalier/option_checks.h"
#include "tools/espalier/output_file.h"
#include "tools/espalier/printable.h"
#include "tools/espalier/replay_samples.h"
#include "tools/espalier/step_scores.h"

namespace espalier {
namespace {

struct BenchRewardFlags {
  std::vector<std::string> processbench;
  std::string prmbench;
  std::string samples;
  ModelFlags models;
  std::string scores;
  std::vector<std::string> subsets;
  int64_t limit = 0;
  std::string task;
  std::optional<std::string> level;
  bool difference = false;
  std::optional<double> threshold;
  std::string tune_on;
  std::optional<int64_t> run;
  std::optional<uint64_t> seed;
  std::string out;
  JsonOutput json;

  bool replay() const { return !samples.empty(); }
  // Requires a level that exists.
  Level Read() const {
    return level ? ParseLevel(*level).value() : Level::kStep;
  }
};

absl::Status CheckFlags(const BenchRewardFlags& flags) {
  FlagErrors errors;
  const int sources = static_cast<int>(!flags.processbench.empty()) +
                      static_cast<int>(!flags.prmbench.empty()) +
                      static_cast<int>(flags.replay());
  if (sources != 1) {
    errors.Add(
        "expected one of --processbench, --prmbench and --samples: what is "
        "measured");
  }
  const bool model = !flags.models.reward_model.empty();
  if (model && !flags.scores.empty()) {
    errors.Add("--reward-model and --scores exclude each other");
  } else if (!model && flags.scores.empty() && !flags.replay()) {
    errors.Add(
        "expected --reward-model FOLDER, or --scores FILE with scores of "
        "another program");
  }
  if (!model && !flags.models.calibration.empty()) {
    errors.Add(
        "--calibration: maps a model's scores to probabilities; name the model "
        "by --reward-model, or leave it out");
  }
  // What a mode has no use for is not passed over in silence.
  if (flags.replay()) {
    const std::pair<const char*, bool> others[] = {
        {"--scores", !flags.scores.empty()},
        {"--threshold", flags.threshold.has_value()},
        {"--subset", !flags.subsets.empty()},
        {"--tune-on", !flags.tune_on.empty()},
        {"--out", !flags.out.empty()},
        {"--difference", flags.difference}};
    for (const auto& [name, given] : others) {
      if (given) errors.Add(absl::StrCat(name, ": is not for --samples"));
    }
  }
  if (!flags.replay() && sources == 1) {
    if (flags.run) errors.Add("--run: is for --samples, a run database");
    if (flags.seed) {
      errors.Add("--seed: is for --samples, whose sets of responses are drawn");
    }
  }
  if (!model && flags.replay() && !flags.task.empty()) {
    errors.Add("--task: is the prompt of a model; name it by --reward-model");
  }
  if (!model && !flags.scores.empty()) {
    const std::pair<const char*, bool> others[] = {
        {"--level", flags.level.has_value()}, {"--task", !flags.task.empty()}};
    for (const auto& [name, given] : others) {
      if (given) {
        errors.Add(absl::StrCat(
            name, ": is not for --scores, which has one score per step"));
      }
    }
  }
  if (flags.level) errors.Add(UsageError(ParseLevel(*flags.level).status()));
  errors.AddAsIs(CheckRewardFormat(flags.models));
  errors.AddAsIs(flags.json.Check());
  if (!flags.out.empty()) {
    errors.AddAsIs(CheckOutputFile(flags.out, flags.json.force));
  }
  if (flags.out == "-" && flags.json.where == "-") {
    errors.Add(
        "--out - and --json would both write to standard output; name a file "
        "for one of them");
  }
  errors.AddAsIs(UsageError(CheckTaskFlag(flags.task)));
  return errors.Status();
}

using Solutions = std::vector<BenchSolution>;

absl::StatusOr<Solutions> ReadSolutions(const BenchRewardFlags& flags,
                                        const std::vector<std::string>& paths) {
  return flags.prmbench.empty() ? ReadFirstErrors(paths)
                                : ReadPrmBench(paths[0]);
}

std::vector<std::string> GroupsOf(const Solutions& solutions) {
  std::vector<std::string> groups;
  for (const BenchSolution& solution : solutions) {
    if (std::find(groups.begin(), groups.end(), solution.group) ==
        groups.end()) {
      groups.push_back(solution.group);
    }
  }
  return groups;
}

// The solutions of the named subsets, and of each the first `limit`.
absl::StatusOr<Solutions> Choose(const BenchRewardFlags& flags,
                                 Solutions solutions) {
  const std::vector<std::string> groups = GroupsOf(solutions);
  for (const std::string& name : flags.subsets) {
    if (std::find(groups.begin(), groups.end(), name) != groups.end()) continue;
    return UsageError(absl::InvalidArgumentError(
        absl::StrCat("--subset: ", UnknownName("subset", name, groups))));
  }
  std::map<std::string, int64_t> taken;
  Solutions out;
  for (BenchSolution& solution : solutions) {
    const auto& wanted = flags.subsets;
    // An original is what changed solutions are compared with.
    if (!wanted.empty() && solution.group != kUnchanged &&
        std::find(wanted.begin(), wanted.end(), solution.group) ==
            wanted.end()) {
      continue;
    }
    if (flags.limit > 0 && ++taken[solution.group] > flags.limit) continue;
    out.push_back(std::move(solution));
  }
  return out;
}

// Solutions that could not be judged.
struct NotJudged {
  int64_t count = 0;
  std::string first;  // which, and why
};

// Scores given solutions. `name` says which the i-th is.
absl::StatusOr<std::vector<StepValues>> ScoreAll(
    const BenchRewardFlags& flags, SolutionScorer& model,
    const std::vector<GivenSolution>& solutions, const std::string& task_name,
    const std::function<std::string(size_t)>& name, NotJudged& not_judged) {
  ESP_ASSIGN_OR_RETURN(const Task* task, FindTask(task_name));
  std::vector<StepValues> values(solutions.size());
  size_t done = 0;
  Progress progress("bench-reward", static_cast<int64_t>(solutions.size()),
                    "solutions");
  ESP_RETURN_IF_ERROR(model.Score(
      solutions, *task, &StopRequested(),
      [&](size_t i, const absl::StatusOr<std::vector<StepScores>>& scores) {
        ++done;
        progress.Add(1);
        if (!scores.ok()) {
          if (++not_judged.count == 1) {
            not_judged.first =
                absl::StrCat(name(i), ": ", scores.status().message());
          }
          return;
        }
        for (const StepScores& one : *scores) {
          values[i].push_back(one[flags.Read()]);
        }
      }));
  progress.Finish();
  if (done < solutions.size()) {
    return absl::CancelledError(absl::StrCat("stopped after ", done, " of ",
                                             solutions.size(), " solutions"));
  }
  if (not_judged.count == static_cast<int64_t>(solutions.size())) {
    return absl::FailedPreconditionError(
        absl::StrCat("none of the ", solutions.size(),
                     " solutions could be judged; ", not_judged.first));
  }
  return values;
}

void TellNotJudged(const NotJudged& not_judged, const char* effect) {
  if (not_judged.count == 0) return;
  std::fprintf(stderr, "%lld solutions could not be judged and %s; %s\n",
               static_cast<long long>(not_judged.count), effect,
               Printable(not_judged.first).c_str());
}

absl::StatusOr<std::vector<StepValues>> ValuesOf(const BenchRewardFlags& flags,
                                                 SolutionScorer* model,
                                                 const Solutions& solutions) {
  std::vector<StepValues> values;
  if (model == nullptr) {
    ESP_ASSIGN_OR_RETURN(values, ReadStepScores(flags.scores, solutions));
  } else {
    std::vector<GivenSolution> given;
    for (const BenchSolution& solution : solutions) {
      given.push_back({solution.problem, solution.steps});
    }
    NotJudged not_judged;
    ESP_ASSIGN_OR_RETURN(
        values,
        ScoreAll(
            flags, *model, given, flags.task.empty() ? "qa" : flags.task,
            [&](size_t i) { return solutions[i].place; }, not_judged));
    TellNotJudged(not_judged,
                  flags.prmbench.empty() ? "count as wrong" : "are left out");
  }
  return values;
}

// Each step's value less the one before it; the first stays.
void TakeDifferences(std::vector<StepValues>& all) {
  for (StepValues& values : all) {
    for (size_t i = values.size(); i-- > 1;) values[i] -= values[i - 1];
  }
}

// The threshold of the flags, or the best one on --tune-on: a subset of what is
// measured, or files of its own.
absl::StatusOr<ThresholdOrigin> FindThreshold(
    const BenchRewardFlags& flags, SolutionScorer* model,
    const Solutions& solutions, const std::vector<StepValues>& values) {
  ThresholdOrigin origin{.threshold = flags.threshold.value_or(0.5)};
  if (flags.tune_on.empty()) return origin;
  origin.tuned_on = flags.tune_on;
  const std::vector<std::string> groups = GroupsOf(solutions);
  Solutions chosen;
  std::vector<StepValues> of_chosen;
  if (std::find(groups.begin(), groups.end(), flags.tune_on) != groups.end()) {
    origin.measured_there = true;
    for (size_t i = 0; i < solutions.size(); ++i) {
      if (solutions[i].group != flags.tune_on) continue;
      chosen.push_back(solutions[i]);
      of_chosen.push_back(values[i]);
    }
  } else {
    std::error_code error;
    if (!std::filesystem::exists(flags.tune_on, error)) {
      return UsageError(absl::InvalidArgumentError(
          absl::StrCat("--tune-on: expected a file, or a subset of what is "
                       "measured; ",
                       UnknownName("subset", flags.tune_on, groups))));
    }
    ESP_ASSIGN_OR_RETURN(chosen, ReadSolutions(flags, {flags.tune_on}));
    ESP_ASSIGN_OR_RETURN(of_chosen, ValuesOf(flags, model, chosen));
    if (flags.difference) TakeDifferences(of_chosen);
    // The same solutions under another file name count, too.
    for (const BenchSolution& one : chosen) {
      origin.measured_there |= std::any_of(
          solutions.begin(), solutions.end(), [&](const BenchSolution& other) {
            return other.problem == one.problem && other.steps == one.steps;
          });
      if (origin.measured_there) break;
    }
  }
  origin.threshold = flags.prmbench.empty()
                         ? TuneProcessBench(chosen, of_chosen)
                         : TunePrmBench(chosen, of_chosen);
  return origin;
}

absl::Status MeasureSteps(const BenchRewardFlags& flags,
                          SolutionScorer* model) {
  const std::vector<std::string> paths =
      flags.prmbench.empty() ? flags.processbench
                             : std::vector<std::string>{flags.prmbench};
  ESP_ASSIGN_OR_RETURN(Solutions read, ReadSolutions(flags, paths));
  ESP_ASSIGN_OR_RETURN(const Solutions solutions,
                       Choose(flags, std::move(read)));
  ESP_ASSIGN_OR_RETURN(std::vector<StepValues> values,
                       ValuesOf(flags, model, solutions));
  if (!flags.out.empty()) {
    ESP_RETURN_IF_ERROR(
        WriteOutput(flags.out, StepScoreLines(solutions, values)));
  }
  if (flags.difference) TakeDifferences(values);
  ESP_ASSIGN_OR_RETURN(const ThresholdOrigin origin,
                       FindThreshold(flags, model, solutions, values));
  nlohmann::json json;
  // A published figure stands beside the whole benchmark's only.
  constexpr size_t kProcessBenchSize = 3400, kPrmBenchSize = 6216;
  const bool whole =
      flags.limit == 0 && flags.subsets.empty() &&
      solutions.size() >=
          (flags.prmbench.empty() ? kProcessBenchSize : kPrmBenchSize);
  std::string text =
      absl::StrCat(model != nullptr ? flags.models.reward_model : flags.scores,
                   ", ", solutions.size(), " solutions\n");
  if (flags.prmbench.empty()) {
    const ProcessBenchReport report =
        MeasureProcessBench(solutions, values, origin.threshold);
    absl::StrAppend(&text,
                    ProcessBenchText(report, origin,
                                     whole && report.subsets.size() ==
                                                  kProcessBenchSubsets.size()));
    json = ProcessBenchJson(report, origin);
  } else {
    const PrmBenchReport report =
        MeasurePrmBench(solutions, values, origin.threshold);
    absl::StrAppend(&text, PrmBenchText(report, origin, whole));
    json = PrmBenchJson(report, origin);
  }
  std::FILE* const where = flags.out == "-" ? stderr : flags.json.report();
  std::fprintf(where, "%s", Printable(text).c_str());
  return flags.json.Write(json);
}

absl::Status MeasureSamples(const BenchRewardFlags& flags,
                            SolutionScorer* model) {
  ESP_ASSIGN_OR_RETURN(
      RecordedSamples recorded,
      ReadSamplesFile(
          flags.samples,
          {.texts = model != nullptr,
           .level = flags.level ? std::optional(flags.Read()) : std::nullopt,
           .run = flags.run.value_or(0)}));
  if (recorded.not_graded > 0) {
    std::fprintf(stderr, "%lld responses without a verdict are left out\n",
                 static_cast<long long>(recorded.not_graded));
  }
  auto& problems = recorded.problems;
  if (flags.limit > 0 && problems.size() > static_cast<size_t>(flags.limit)) {
    problems.resize(static_cast<size_t>(flags.limit));
    recorded.texts.resize(problems.size());
  }
  if (model != nullptr) {
    std::vector<GivenSolution> given;
    std::vector<std::pair<size_t, size_t>> owners;
    for (size_t p = 0; p < problems.size(); ++p) {
      for (size_t k = 0; k < recorded.texts[p].size(); ++k) {
        given.push_back(std::move(recorded.texts[p][k]));
        owners.emplace_back(p, k);
      }
    }
    const std::string task = !flags.task.empty()     ? flags.task
                             : recorded.task.empty() ? "qa"
                                                     : recorded.task;
    NotJudged not_judged;
    ESP_ASSIGN_OR_RETURN(
        std::vector<StepValues> values,
        ScoreAll(
            flags, *model, given, task,
            [&](size_t i) { return problems[owners[i].first].id; },
            not_judged));
    TellNotJudged(not_judged, "have the score 0");
    for (size_t i = 0; i < values.size(); ++i) {
      if (values[i].empty()) values[i] = {0};
      const auto [p, k] = owners[i];
      problems[p].samples[k].scores = std::move(values[i]);
    }
  }
  const ReplayReport report = ReplayBestOfN(problems, flags.seed.value_or(0));
  std::fprintf(flags.json.report(), "%s\n%s", Printable(flags.samples).c_str(),
               Printable(ReplayText(report)).c_str());
  return flags.json.Write(ReplayJson(report));
}

absl::Status RunBenchReward(const BenchRewardFlags& flags) {
  ESP_RETURN_IF_ERROR(CheckFlags(flags));
  std::unique_ptr<SolutionScorer> model;
  if (!flags.models.reward_model.empty()) {
    ESP_ASSIGN_OR_RETURN(model,
                         SolutionScorer::Load(RewardModelOf(flags.models)));
    ESP_RETURN_IF_ERROR(CheckLevel("--level", flags.Read(), model->levels()));
  }
  return flags.replay() ? MeasureSamples(flags, model.get())
                        : MeasureSteps(flags, model.get());
}

}  // namespace

void AddBenchReward(CLI::App& app, RunFunction& run) {
  auto flags = std::make_shared<BenchRewardFlags>();
  app.description(
      "Measure a reward model, or recorded scores, by the field's "
      "protocols.\n\n"
      "  espalier bench-reward --processbench ProcessBench/ --reward-model "
      "DIR\n"
      "  espalier bench-reward --prmbench prmtest_classified/data --scores "
      "S.jsonl\n"
      "  espalier bench-reward --samples run.db\n\n"
      "--processbench: F1 per subset; the prediction is the first step judged\n"
      "wrong. --prmbench: F1 of right and of wrong steps per class of error.\n"
      "--samples: accuracy of best of n, weighted vote and majority.\n"
      "docs/guide/reward-models.md describes files and figures.");
  app.add_option("--processbench", flags->processbench,
                 "Files or folders of ProcessBench; also PRM800K, "
                 "Math-Shepherd and TRL's stepwise files");
  app.add_option("--prmbench", flags->prmbench, "A file or folder of PRMBench");
  app.add_option("--samples", flags->samples,
                 "Recorded responses: a run database, or lines {\"id\", "
                 "\"answer\", \"correct\", \"scores\"}");
  app.add_option("--scores", flags->scores,
                 "Scores from another program: lines {\"id\", \"scores\": [one "
                 "per step]}");
  app.add_option("--subset", flags->subsets,
                 "Only these subsets or classes of error, comma-separated")
      ->delimiter(',');
  app.add_option("--limit", flags->limit,
                 "Use only this many solutions of each subset, or problems of "
                 "--samples; 0: all")
      ->capture_default_str()
      ->check(WholeFrom(0));
  CLI::Option* threshold =
      app.add_option("--threshold", flags->threshold,
                     "A step is right if its score is above this")
          ->default_str("0.5")
          ->check(RealFrom(-std::numeric_limits<double>::max()));
  app.add_option("--tune-on", flags->tune_on,
                 "Take the threshold that is best on this subset, or on this "
                 "file")
      ->excludes(threshold);
  app.add_flag("--difference", flags->difference,
               "Judge a step by its score minus that of the step before, as "
               "PRMBench judges Skywork's (with --threshold -0.05)");
  app.add_option("--level", flags->level,
                 "Which of the reward model's scores: step, path, outcome, "
                 "window2, window3, window4")
      ->default_str("step");
  app.add_option("--task", flags->task,
                 "Task whose prompt Espalier's own heads read. Default: qa, or "
                 "that of the run database");
  app.add_option("--run", flags->run, "Run of the database; 0: all of them")
      ->default_str("0")
      ->check(WholeFrom(0));
  app.add_option("--seed", flags->seed,
                 "Seed for drawing the sets of n responses")
      ->default_str("0");
  app.add_option("--out", flags->out,
                 "Write the scores, as --scores reads them");
  AddJsonOutput(app, flags->json, "the report");
  app.add_option("--reward-model", flags->models.reward_model,
                 "Checkpoint folder with Espalier's reward heads, or a "
                 "published reward model")
      ->check(ModelPlace());
  app.add_option("--reward-format", flags->models.reward_format,
                 "How --reward-model is read: a shipped format or a file "
                 "NAME.textproto. Default: recognised from its folder")
      ->needs("--reward-model");
  app.add_option("--reward-tokenizer", flags->models.reward_tokenizer,
                 "Folder or GGUF file with the tokenizer of a --reward-model "
                 "behind a server")
      ->needs("--reward-model");
  AddReferenceFlag(app, flags->models.reference_model);
  AddCalibrationFlag(app, flags->models.calibration);
  app.add_option("--live", flags->models.live, "Solutions judged at a time")
      ->capture_default_str()
      ->check(WholeFrom(1, 65536));
  AddServerFlags(app, flags->models.server);
  AddMachineFlags(app, flags->models);
  run = [flags] { return RunBenchReward(*flags); };
}

}  // namespace espalier
