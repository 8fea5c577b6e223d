// espalier calibrate: fits the curves that make probabilities of a reward
// model's scores, on labelled steps or on recorded searches, and measures them
// on problems that they were not fitted on.
#include <algorithm>
#include <array>
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
#include "absl/strings/str_join.h"
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
#include "search/algorithm.h"
#include "src/engine/score_solutions.h"
#include "src/eval/fit_calibration.h"
#include "src/trace/labels/examples.h"
#include "src/trace/labels/held_out.h"
#include "src/trace/labels/level_targets.h"
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
  std::vector<std::string> levels;  // empty: all that have scores and labels
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

  // Of a step in this third of its path. Whether a question's labels are held
  // out: all of them are, or none.
  void Add(const std::string& question, Level name, int third, float score,
           double label) {
    if (std::isnan(score) || std::isnan(label)) return;
    Parts& parts = levels_[std::string(kLevelNames[IndexOf(name)])];
    (IsHeldOut(StableHash(question), share_, seed_) ? parts.held_out
                                                    : parts.fit)
        .push_back({score, label, third});
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

// Those of the solution's levels (solution_labels.h).
void AddLabels(const LabelledSolution& solution,
               const std::vector<StepScores>& scores, Collector& into) {
  const std::vector<LevelLabels> labels = LabelsOfSolution(solution);
  for (size_t i = 0; i < scores.size(); ++i) {
    const int third =
        ThirdOf(static_cast<int64_t>(i), static_cast<int64_t>(scores.size()));
    for (size_t l = 0; l < kLevels; ++l) {
      const auto level = static_cast<Level>(l);
      into.Add(solution.problem, level, third, scores[i][level], labels[i][l]);
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
  EngineOptions options = RewardModelOf(flags.models);
  options.calibration = "none";
  ESP_ASSIGN_OR_RETURN(const auto scorer, SolutionScorer::Load(options));
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

// ThirdOf every node of a tree, on the longest path through it.
std::vector<int> Thirds(const StoredTree& tree) {
  std::vector<int64_t> depth(tree.nodes.size(), 0);
  for (size_t node = 1; node < depth.size(); ++node) {
    depth[node] = depth[static_cast<size_t>(tree.nodes[node].parent)] + 1;
  }
  std::vector<int64_t> longest = depth;
  for (size_t node = depth.size(); node-- > 1;) {
    int64_t& above = longest[static_cast<size_t>(tree.nodes[node].parent)];
    above = std::max(above, longest[node]);
  }
  std::vector<int> thirds(depth.size(), 0);
  for (size_t node = 1; node < depth.size(); ++node) {
    thirds[node] = ThirdOf(depth[node] - 1, longest[node]);
  }
  return thirds;
}

// Exact labels where the task judges lines; else the share of right ends below
// a node for its path, and none for its step and windows. Of an outcome it is
// always that share.
absl::Status AddTree(const ProblemTrees& entry, const StoredTree& tree,
                     const Verifier& verifier, Collector& into) {
  const GradedProblem& graded = entry.problem;
  const std::string& question = graded.problem.question;
  const Reference reference = ReferenceOf(graded);
  const std::vector<OutcomeCount> outcomes = CountOutcomes(tree);
  const std::vector<int> thirds = Thirds(tree);
  for (size_t node = 1; node < tree.nodes.size(); ++node) {
    const StoredNode& stored = tree.nodes[node];
    if (stored.truncated()) continue;
    const auto add = [&](Level level, float score, double label) {
      into.Add(question, level, thirds[node], score, label);
    };
    add(Level::kOutcome, stored.outcome_score, outcomes[node].share());
    const auto verdicts =
        verifier.CheckSteps(graded.problem, reference, tree.Response(node));
    if (!verdicts.ok()) {
      add(Level::kPath, stored.path_score, outcomes[node].share());
      continue;
    }
    if (verdicts->empty()) continue;
    add(Level::kStep, stored.step_score, verdicts->back().step_ok);
    add(Level::kPath, stored.path_score, verdicts->back().path_ok);
    const std::vector<StepFact> facts = FactsOf(*verdicts);
    for (int w = 2; w <= kMaxWindow; ++w) {
      add(WindowLevel(w), stored.window_scores[static_cast<size_t>(w) - 2],
          WindowTarget(facts, facts.size() - 1, w));
    }
  }
  return absl::OkStatus();
}

// Where scores were recorded, and by which reward model.
struct ScoreSource {
  std::string run;   // "trees.db: run 2"
  std::string hash;  // "": nothing read yet
};

// Scores that are not the model's own are refused, and those of two models.
absl::Status CheckRun(const std::string& path, const RunRow& run,
                      ScoreSource& source) {
  const std::string name = absl::StrCat(path, ": run ", run.run_id);
  const nlohmann::json config = ParseJsonOrNull(run.info.config);
  if (config.is_object() && config.contains("calibration")) {
    return absl::FailedPreconditionError(absl::StrCat(
        name,
        " was recorded with a calibration, so its scores are no longer "
        "the model's; record it with --calibration none"));
  }
  const auto method = MakeAlgorithm(run.info.method);
  if (method.ok() && (*method)->score_rule().lower_confidence > 0) {
    return absl::FailedPreconditionError(absl::StrCat(
        name, " was recorded with lower_confidence=",
        (*method)->score_rule().lower_confidence,
        ", so its scores are below the model's; record it without the option"));
  }
  const std::string& hash = run.info.reward_model_hash;
  if (source.hash.empty()) source = {name, hash};
  if (source.hash == hash) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat(name, " has scores of the reward model ", hash, ", and ",
                   source.run, " those of ", source.hash,
                   "; a curve is for one model, so fit one for each"));
}

absl::Status CollectRuns(const std::vector<std::string>& paths,
                         ScoreSource& source, Collector& into) {
  for (const std::string& path : paths) {
    ESP_ASSIGN_OR_RETURN(const auto db, RunDb::Open(path, Sqlite::kRead));
    ESP_ASSIGN_OR_RETURN(const std::vector<RunRow> runs, db->Runs());
    for (const RunRow& run : runs) {
      ESP_RETURN_IF_ERROR(CheckRun(path, run, source));
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

// What a curve makes of some labels.
struct Change {
  ScoreQuality before, after;
  std::array<ScoreQuality, 3> thirds_before, thirds_after;
};

struct LevelReport {
  LevelCalibration curve;
  Change held_out, other;  // other: of --measure-on
};

Change ChangeOf(const LevelCalibration& curve,
                const std::vector<LabelledScore>& scored) {
  const std::vector<LabelledScore> calibrated = Calibrated(curve, scored);
  return {MeasureScores(scored), MeasureScores(calibrated),
          MeasureThirds(scored), MeasureThirds(calibrated)};
}

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
  const std::vector<std::string> all = {"step",    "path",    "outcome",
                                        "window2", "window3", "window4"};
  for (const std::string& name : flags.levels.empty() ? all : flags.levels) {
    const auto found = levels.find(name);
    if (found == levels.end()) {
      if (flags.levels.empty()) continue;
      std::vector<std::string> known;
      for (const auto& [level, parts] : levels) known.push_back(level);
      return absl::FailedPreconditionError(absl::StrCat(
          "--levels ", name, ": no labels with scores of this level were ",
          "found, but of ", known.empty() ? "none" : absl::StrJoin(known, ", "),
          "; the reward model may not give it, or nobody labelled it"));
    }
    const Parts& parts = found->second;
    LevelReport& report = out.emplace_back();
    ESP_ASSIGN_OR_RETURN(report.curve,
                         FitCalibration(KindOf(flags.kind), name, parts.fit));
    report.held_out = ChangeOf(report.curve, parts.held_out);
    const auto elsewhere = other.find(name);
    if (elsewhere == other.end()) continue;
    report.other = ChangeOf(report.curve, elsewhere->second.held_out);
  }
  if (out.empty()) {
    return absl::FailedPreconditionError(
        "no labels of these levels with scores were found; searches that "
        "score no steps, and ends without a verdict, give none");
  }
  return out;
}

std::string QualityRow(const std::string& name, const std::string& fitted,
                       const ScoreQuality& before, const ScoreQuality& after) {
  return absl::StrFormat("  %-8s%10s%10d  %.4f -> %.4f    %.4f -> %.4f\n", name,
                         fitted, before.labels, before.ece, after.ece,
                         before.brier, after.brier);
}

// A row for the level and one for each third that has labels.
std::string LevelRows(const LevelCalibration& curve, const Change& change) {
  std::string text = QualityRow(curve.level, absl::StrCat(curve.labels),
                                change.before, change.after);
  constexpr std::array<const char*, 3> kThirds = {" first", " middle", " last"};
  for (size_t i = 0; i < kThirds.size(); ++i) {
    if (change.thirds_before[i].labels == 0) continue;
    absl::StrAppend(&text, QualityRow(kThirds[i], "", change.thirds_before[i],
                                      change.thirds_after[i]));
  }
  return text;
}

std::string ReportText(const std::vector<LevelReport>& levels) {
  std::string text =
      absl::StrFormat("  %-8s%10s%10s  %-20s%s\n", "level", "fitted on",
                      "held out", "ECE before, after", "Brier before, after");
  std::string other;
  for (const LevelReport& one : levels) {
    absl::StrAppend(&text, LevelRows(one.curve, one.held_out));
    if (one.other.before.labels == 0) continue;
    absl::StrAppend(&other, LevelRows(one.curve, one.other));
  }
  if (!other.empty()) absl::StrAppend(&text, "on --measure-on:\n", other);
  return text;
}

nlohmann::json QualityJson(const ScoreQuality& quality) {
  if (quality.labels == 0) return nullptr;
  return {{"ece", quality.ece}, {"brier", quality.brier}};
}

// "thirds": of the path's steps, the first, middle and last.
nlohmann::json ChangeJson(const Change& change, const char* count) {
  nlohmann::json json = {{count, change.before.labels},
                         {"before", QualityJson(change.before)},
                         {"after", QualityJson(change.after)}};
  for (size_t i = 0; i < change.thirds_before.size(); ++i) {
    json["thirds"].push_back({{"labels", change.thirds_before[i].labels},
                              {"before", QualityJson(change.thirds_before[i])},
                              {"after", QualityJson(change.thirds_after[i])}});
  }
  return json;
}

nlohmann::json LevelsJson(const CalibrateFlags& flags,
                          const std::vector<LevelReport>& levels) {
  nlohmann::json json = {{"kind", flags.kind}, {"levels", nullptr}};
  for (const LevelReport& one : levels) {
    nlohmann::json& level = json["levels"][one.curve.level];
    level = ChangeJson(one.held_out, "held_out");
    level["fitted_on"] = one.curve.labels;
    if (one.other.before.labels == 0) continue;
    level["measured_on"] = ChangeJson(one.other, "labels");
  }
  return json;
}

absl::Status RunCalibrate(const CalibrateFlags& flags) {
  ESP_RETURN_IF_ERROR(CheckCalibrateFlags(flags));
  Collector fit(flags.seed, flags.held_out), other(flags.seed, 1);
  ScoreSource source;
  const auto collect = [&](const std::vector<std::string>& paths,
                           Collector& into) {
    return flags.steps.empty() ? CollectRuns(paths, source, into)
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
      "Fit the curve that maps a reward model's scores to probabilities.\n\n"
      "  espalier calibrate --steps gsm8k.jsonl --reward-model DIR --out "
      "my.textproto\n"
      "  espalier calibrate --runs trees.db --out my.textproto\n"
      "  espalier solve ... --reward-model DIR --calibration my.textproto\n\n"
      "A file calibration.textproto in the model's folder is found without\n"
      "--calibration. Errors are measured on problems that the curve was not\n"
      "fitted on, and printed for all steps and for the first, middle and\n"
      "last third of a path's steps (in a tree: of the longest path through\n"
      "the step).");
  app.add_option("--steps", flags->steps,
                 "Files with labelled steps: ProcessBench, PRM800K, "
                 "Math-Shepherd, TRL's stepwise lines");
  app.add_option("--runs", flags->runs,
                 "Run databases: their recorded scores. Labels come from the "
                 "task's verifier of lines if it has one, otherwise from the "
                 "share of right responses below a step");
  app.add_option("--measure-on", flags->measure_on,
                 "Further files or databases of the same kind, with other "
                 "problems, on which to measure errors as well");
  app.add_option("--kind", flags->kind,
                 "platt: slope and intercept on the logit; temperature: the "
                 "slope only; isotonic: any curve that does not fall")
      ->capture_default_str()
      ->check(OneOf({"platt", "temperature", "isotonic"}));
  app.add_option("--levels", flags->levels,
                 "Levels to fit, of step, path, outcome, window2, window3, "
                 "window4. Default: all that have scores and labels")
      ->delimiter(',')
      ->check(
          OneOf({"step", "path", "outcome", "window2", "window3", "window4"}));
  app.add_option("--held-out", flags->held_out,
                 "Share of the problems that are not fitted on; errors are "
                 "measured on them")
      ->capture_default_str()
      ->check(RealFrom(0, 0.9));
  app.add_option("--seed", flags->seed,
                 "Seed for choosing the held-out problems")
      ->capture_default_str();
  app.add_option("--out", flags->out, "The file to write; -: standard output")
      ->required();
  AddJsonOutput(app, flags->json, "the report");
  app.add_option("--reward-model", flags->models.reward_model,
                 "The reward model that scores --steps")
      ->check(ModelPlace());
  app.add_option("--reward-format", flags->models.reward_format,
                 "How --reward-model is read. Default: recognised from its "
                 "folder")
      ->needs("--reward-model");
  app.add_option("--reward-tokenizer", flags->models.reward_tokenizer,
                 "Folder or GGUF file with the tokenizer of a --reward-model "
                 "behind a server")
      ->needs("--reward-model");
  AddReferenceFlag(app, flags->models.reference_model);
  app.add_option("--task", flags->task,
                 "Task whose prompt Espalier's own heads read")
      ->capture_default_str();
  app.add_option("--live", flags->models.live, "Solutions judged at a time")
      ->capture_default_str()
      ->check(WholeFrom(1, 65536));
  AddServerFlags(app, flags->models.server);
  AddMachineFlags(app, flags->models);
  run = [flags] { return RunCalibrate(*flags); };
}

}  // namespace espalier
