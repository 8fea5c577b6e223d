// espalier calibrate: fits the curves that make probabilities of a reward
// model's scores, on labelled steps or on recorded searches, and measures them
// on problems that they were not fitted on.
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/parse_json.h"
#include "base/progress.h"
#include "base/random.h"
#include "base/status_macros.h"
#include "base/text.h"
#include "datasets/sets/labelled_steps.h"
#include "datasets/sets/problem_set.h"
#include "datasets/tasks/task_registry.h"
#include "espalier/engine_options.h"
#include "nlohmann/json.hpp"
#include "src/engine/score_solutions.h"
#include "src/eval/fit_calibration.h"
#include "src/trace/labels/examples.h"
#include "src/trace/labels/held_out.h"
#include "src/trace/labels/reference_of.h"
#include "src/trace/labels/solution_labels.h"
#include "src/trace/labels/tree_labels.h"
#include "src/trace/run_db.h"
#include "tools/espalier/command.h"
#include "tools/espalier/option_checks.h"
#include "tools/espalier/output_file.h"
#include "tools/espalier/printable.h"

namespace espalier {
namespace {

struct CalibrateFlags {
  std::vector<std::string> steps;
  std::vector<std::string> runs;
  std::vector<std::string> measure_on;  // of the same kind
  ModelFlags models;
  std::string task = "qa";
  std::string kind = "platt";
  std::vector<std::string> levels = {"step", "path"};
  double held_out = 0.3;
  uint64_t seed = 0;
  std::string out;
  JsonOutput json;
};

// A level's scores, those of held-out problems apart.
struct Parts {
  std::vector<LabelledScore> fit, held_out;
};
using ByLevel = std::map<std::string, Parts>;

class Collector {
 public:
  // `held_out`: the share of questions whose labels are not fitted on.
  Collector(uint64_t seed, double held_out) : seed_(seed), share_(held_out) {}

  // Whether a question's labels are held out: all of them are, or none.
  void Add(const std::string& question, const std::string& level, double score,
           double label) {
    if (std::isnan(score) || std::isnan(label)) return;
    Parts& parts = levels_[level];
    (IsHeldOut(StableHash(question), share_, seed_) ? parts.held_out
                                                    : parts.fit)
        .push_back({score, label});
  }
  const ByLevel& levels() const { return levels_; }

 private:
  const uint64_t seed_;
  const double share_;
  ByLevel levels_;
};

absl::Status CheckCalibrateFlags(const CalibrateFlags& flags) {
  FlagErrors errors;
  if (flags.steps.empty() == flags.runs.empty()) {
    errors.Add(
        "expected either --steps, files with labelled steps, or --runs, run "
        "databases");
  }
  if (flags.steps.empty() != flags.models.reward_model.empty()) {
    errors.Add(flags.steps.empty()
                   ? "--reward-model: is not for --runs, whose scores are "
                     "recorded"
                   : "--steps: name the model that scores them by "
                     "--reward-model");
  }
  // A label that counts twice, or is measured where it was fitted, says less
  // than it seems to.
  std::set<std::string> files;
  for (const auto* paths : {&flags.steps, &flags.runs, &flags.measure_on}) {
    for (const std::string& path : *paths) {
      std::error_code error;
      const auto whole = std::filesystem::weakly_canonical(path, error);
      if (!files.insert(error ? path : whole.string()).second) {
        errors.Add(absl::StrCat(path, ": is named twice"));
      }
    }
  }
  errors.AddAsIs(CheckRewardFormat(flags.models));
  errors.AddAsIs(UsageError(CheckTaskFlag(flags.task)));
  errors.AddAsIs(CheckOutputFile(flags.out, flags.json.force));
  errors.AddAsIs(flags.json.Check());
  return errors.Status();
}

// The levels step and path (solution_labels.h).
void AddLabels(const LabelledSolution& solution,
               const std::vector<StepScores>& scores, Collector& into) {
  const std::vector<LevelLabels> labels = LabelsOfSolution(solution);
  for (size_t i = 0; i < scores.size(); ++i) {
    for (const Level level : {Level::kStep, Level::kPath}) {
      into.Add(solution.problem, std::string(kLevelNames[IndexOf(level)]),
               scores[i][level], labels[i][IndexOf(level)]);
    }
  }
}

absl::Status CollectSteps(const CalibrateFlags& flags,
                          const std::vector<std::string>& paths,
                          Collector& into) {
  std::vector<LabelledSolution> solutions;
  std::vector<GivenSolution> given;
  for (const std::string& path : paths) {
    ESP_ASSIGN_OR_RETURN(const auto reader,
                         StepSetReader::Open(path, {.strict = true}));
    while (true) {
      ESP_ASSIGN_OR_RETURN(std::optional<LabelledSolution> one, reader->Next());
      if (!one) break;
      given.push_back({one->problem, one->steps});
      solutions.push_back(*std::move(one));
    }
  }
  ESP_ASSIGN_OR_RETURN(const Task* task, FindTask(flags.task));
  ESP_ASSIGN_OR_RETURN(
      const auto scorer,
      SolutionScorer::Load({.critic = flags.models.reward_model,
                            .reward_format = flags.models.reward_format,
                            .reference = flags.models.reference_model,
                            .calibration = "none",
                            .device = flags.models.device,
                            .threads = flags.models.threads,
                            .live = flags.models.live,
                            .kv_bytes = int64_t{flags.models.kv_mib} << 20,
                            .weights = flags.models.weights}));
  Progress progress("calibrate", static_cast<int64_t>(given.size()),
                    "solutions");
  // In the order of the file, so that the fit is the same each time.
  std::vector<std::vector<StepScores>> all(given.size());
  size_t done = 0, left_out = 0;
  std::string why;
  ESP_RETURN_IF_ERROR(scorer->Score(
      given, *task, &StopRequested(),
      [&](size_t i, absl::StatusOr<std::vector<StepScores>> scores) {
        ++done;
        progress.Add(1);
        if (scores.ok()) {
          all[i] = *std::move(scores);
        } else if (++left_out == 1) {
          why =
              absl::StrCat(solutions[i].place, ": ", scores.status().message());
        }
      }));
  progress.Finish();
  if (done < given.size()) return absl::CancelledError("stopped");
  if (left_out > 0) {
    std::fprintf(stderr,
                 "%zu solutions could not be judged and are left out; %s\n",
                 left_out, Printable(why).c_str());
  }
  for (size_t i = 0; i < all.size(); ++i) AddLabels(solutions[i], all[i], into);
  return absl::OkStatus();
}

// Exact labels where the task judges lines; else the share of right ends below
// a node for its path, and none for its step.
absl::Status AddTree(const ProblemTrees& entry, const StoredTree& tree,
                     const Verifier& verifier, Collector& into) {
  const GradedProblem& graded = entry.problem;
  const Reference reference = ReferenceOf(graded);
  const std::vector<OutcomeCount> outcomes = CountOutcomes(tree);
  for (size_t node = 1; node < tree.nodes.size(); ++node) {
    const StoredNode& stored = tree.nodes[node];
    if (stored.truncated()) continue;
    const auto verdicts =
        verifier.CheckSteps(graded.problem, reference, tree.Response(node));
    const std::string& question = graded.problem.question;
    if (verdicts.ok() && !verdicts->empty()) {
      into.Add(question, "step", stored.step_score, verdicts->back().step_ok);
      into.Add(question, "path", stored.path_score, verdicts->back().path_ok);
    } else if (!verdicts.ok()) {
      into.Add(question, "path", stored.path_score, outcomes[node].share());
    }
  }
  return absl::OkStatus();
}

absl::Status CollectRuns(const std::vector<std::string>& paths,
                         Collector& into) {
  for (const std::string& path : paths) {
    ESP_ASSIGN_OR_RETURN(const auto db, RunDb::Open(path, Sqlite::kRead));
    ESP_ASSIGN_OR_RETURN(const std::vector<RunRow> runs, db->Runs());
    for (const RunRow& run : runs) {
      const nlohmann::json config = ParseJsonOrNull(run.info.config);
      if (config.is_object() && config.contains("calibration")) {
        return absl::FailedPreconditionError(absl::StrCat(
            path, ": run ", run.run_id,
            " was recorded with a calibration, so its scores are no longer "
            "the model's; record it with --calibration none"));
      }
    }
    ESP_ASSIGN_OR_RETURN(const std::vector<ProblemTrees> all,
                         TreesByProblem(*db, 0));
    for (const ProblemTrees& entry : all) {
      ESP_ASSIGN_OR_RETURN(const Verifier* verifier, FindVerifier(entry.task));
      for (const StoredTree& tree : entry.trees) {
        ESP_RETURN_IF_ERROR(AddTree(entry, tree, *verifier, into));
      }
    }
  }
  return absl::OkStatus();
}

struct LevelReport {
  LevelCalibration curve;
  ScoreQuality before, after;              // of held-out problems
  ScoreQuality other_before, other_after;  // of --measure-on
};

CurveKind KindOf(const std::string& name) {
  for (size_t i = 0; i < kCurveKindNames.size(); ++i) {
    if (kCurveKindNames[i] == name) return static_cast<CurveKind>(i);
  }
  return CurveKind::kPlatt;
}

absl::StatusOr<std::vector<LevelReport>> FitLevels(const CalibrateFlags& flags,
                                                   const ByLevel& levels,
                                                   const ByLevel& other) {
  std::vector<LevelReport> out;
  for (const std::string& name : flags.levels) {
    const auto found = levels.find(name);
    if (found == levels.end()) continue;
    const Parts& parts = found->second;
    LevelReport& report = out.emplace_back();
    ESP_ASSIGN_OR_RETURN(report.curve,
                         FitCalibration(KindOf(flags.kind), name, parts.fit));
    report.before = MeasureScores(parts.held_out);
    report.after = MeasureScores(Calibrated(report.curve, parts.held_out));
    const auto elsewhere = other.find(name);
    if (elsewhere == other.end()) continue;
    report.other_before = MeasureScores(elsewhere->second.held_out);
    report.other_after =
        MeasureScores(Calibrated(report.curve, elsewhere->second.held_out));
  }
  if (out.empty()) {
    return absl::FailedPreconditionError(
        "no labels of these levels with scores were found; searches that "
        "score no steps, and ends without a verdict, give none");
  }
  return out;
}

std::string QualityRow(const std::string& level, int64_t fitted,
                       const ScoreQuality& before, const ScoreQuality& after) {
  return absl::StrFormat("  %-8s%10d%10d  %.4f -> %.4f    %.4f -> %.4f\n",
                         level, fitted, before.labels, before.ece, after.ece,
                         before.brier, after.brier);
}

std::string ReportText(const std::vector<LevelReport>& levels) {
  std::string text =
      absl::StrFormat("  %-8s%10s%10s  %-20s%s\n", "level", "fitted on",
                      "held out", "ECE before, after", "Brier before, after");
  std::string other;
  for (const LevelReport& one : levels) {
    const LevelCalibration& curve = one.curve;
    absl::StrAppend(
        &text, QualityRow(curve.level, curve.labels, one.before, one.after));
    if (one.other_before.labels == 0) continue;
    absl::StrAppend(&other, QualityRow(curve.level, curve.labels,
                                       one.other_before, one.other_after));
  }
  if (!other.empty()) absl::StrAppend(&text, "on --measure-on:\n", other);
  return text;
}

nlohmann::json QualityJson(const ScoreQuality& quality) {
  if (quality.labels == 0) return nullptr;
  return {{"ece", quality.ece}, {"brier", quality.brier}};
}

nlohmann::json LevelsJson(const CalibrateFlags& flags,
                          const std::vector<LevelReport>& levels) {
  nlohmann::json json = {{"kind", flags.kind}, {"levels", nullptr}};
  for (const LevelReport& one : levels) {
    json["levels"][one.curve.level] = {{"fitted_on", one.curve.labels},
                                       {"held_out", one.before.labels},
                                       {"before", QualityJson(one.before)},
                                       {"after", QualityJson(one.after)}};
    if (one.other_before.labels == 0) continue;
    json["levels"][one.curve.level]["measured_on"] = {
        {"labels", one.other_before.labels},
        {"before", QualityJson(one.other_before)},
        {"after", QualityJson(one.other_after)}};
  }
  return json;
}

absl::Status RunCalibrate(const CalibrateFlags& flags) {
  ESP_RETURN_IF_ERROR(CheckCalibrateFlags(flags));
  Collector fit(flags.seed, flags.held_out), other(flags.seed, 1);
  const auto collect = [&](const std::vector<std::string>& paths,
                           Collector& into) {
    return flags.steps.empty() ? CollectRuns(paths, into)
                               : CollectSteps(flags, paths, into);
  };
  ESP_RETURN_IF_ERROR(
      collect(flags.steps.empty() ? flags.runs : flags.steps, fit));
  if (!flags.measure_on.empty()) {
    ESP_RETURN_IF_ERROR(collect(flags.measure_on, other));
  }
  ESP_ASSIGN_OR_RETURN(const std::vector<LevelReport> reports,
                       FitLevels(flags, fit.levels(), other.levels()));
  std::vector<LevelCalibration> curves;
  for (const LevelReport& one : reports) curves.push_back(one.curve);
  ESP_RETURN_IF_ERROR(WriteOutput(
      flags.out, absl::StrCat("# Written by espalier calibrate.\n",
                              Calibration(std::move(curves)).Text())));
  std::FILE* const where = flags.out == "-" ? stderr : flags.json.report();
  std::fprintf(where, "%s", ReportText(reports).c_str());
  return flags.json.Write(LevelsJson(flags, reports));
}

}  // namespace

void AddCalibrate(CLI::App& app, RunFunction& run) {
  auto flags = std::make_shared<CalibrateFlags>();
  app.description(
      "Fit the curve that makes probabilities of a reward model's scores.\n\n"
      "  espalier calibrate --steps gsm8k.jsonl --reward-model DIR --out "
      "my.textproto\n"
      "  espalier calibrate --runs trees.db --out my.textproto\n"
      "  espalier solve ... --reward-model DIR --calibration my.textproto\n\n"
      "The file may be named calibration.textproto in the model's folder, "
      "where\n"
      "it is found by itself. The printed errors are of problems that the "
      "curve\n"
      "was not fitted on.");
  app.add_option("--steps", flags->steps,
                 "Files with labelled steps: ProcessBench, PRM800K, "
                 "Math-Shepherd");
  app.add_option("--runs", flags->runs,
                 "Run databases: scores as recorded, labels by the task's "
                 "verifier of lines, else the share of right ends below");
  app.add_option("--measure-on", flags->measure_on,
                 "Further files or databases of the same kind, of other "
                 "problems: the errors there");
  app.add_option("--kind", flags->kind,
                 "platt: slope and intercept on the logit; temperature: the "
                 "slope only; isotonic: any curve that does not fall")
      ->capture_default_str()
      ->check(OneOf({"platt", "temperature", "isotonic"}));
  app.add_option("--levels", flags->levels,
                 "Levels to fit, comma-separated: step, path")
      ->delimiter(',')
      ->check(OneOf({"step", "path"}));
  app.add_option("--held-out", flags->held_out,
                 "Share of the problems that the errors are measured on")
      ->capture_default_str()
      ->check(RealFrom(0, 0.9));
  app.add_option("--seed", flags->seed, "Seed of their choice")
      ->capture_default_str();
  app.add_option("--out", flags->out, "The file to write; -: standard output")
      ->required();
  AddJsonOutput(app, flags->json, "the report");
  app.add_option("--reward-model", flags->models.reward_model,
                 "The reward model that scores --steps");
  app.add_option("--reward-format", flags->models.reward_format,
                 "How --reward-model is read. Default: recognised from its "
                 "folder")
      ->needs("--reward-model");
  AddReferenceFlag(app, flags->models.reference_model);
  app.add_option("--task", flags->task,
                 "Task whose prompt Espalier's own heads read")
      ->capture_default_str();
  app.add_option("--live", flags->models.live, "Solutions judged at a time")
      ->capture_default_str()
      ->check(CLI::Range(1, 65536));
  AddMachineFlags(app, flags->models);
  run = [flags] { return RunCalibrate(*flags); };
}

}  // namespace espalier
