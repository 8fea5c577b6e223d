#include "src/learn/held_out.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/random.h"
#include "base/status_macros.h"
#include "nlohmann/json.hpp"
#include "search/tree/score_rule.h"
#include "src/eval/fit_calibration.h"
#include "src/eval/statistics.h"
#include "src/eval/step_benchmark.h"
#include "src/trace/labels/held_out.h"

namespace espalier {
namespace {

// Of the first `t` tokens, for all t.
std::vector<uint64_t> PrefixHashes(const TrainSequence& s) {
  std::vector<uint64_t> out = {0};
  for (const int32_t token : s.tokens) {
    out.push_back(MixHash(out.back(), static_cast<uint64_t>(token)));
  }
  return out;
}

// A path's labels and scores of one level, in the order of its steps.
struct Judged {
  std::vector<double> labels, scores;
};

double F1OfFirstErrors(const std::vector<Judged>& paths) {
  std::vector<BenchSolution> solutions;
  std::vector<StepValues> values;
  for (const Judged& path : paths) {
    if (path.labels.empty()) continue;
    BenchSolution& solution = solutions.emplace_back();
    const int first = FirstWrong(path.labels, 0.5);
    if (first >= 0) solution.errors = {first};
    values.push_back(path.scores);
  }
  if (solutions.empty()) return kUndefined;
  return MeasureProcessBench(solutions, values, 0.5).mean_f1;
}

LevelQuality MeasureLevel(Level level, absl::Span<const SequenceGroup> groups,
                          absl::Span<const std::vector<StepScores>> scores,
                          const std::vector<std::vector<uint64_t>>& prefixes,
                          const std::set<uint64_t>& ends) {
  std::map<uint64_t, float> known;  // labels by what they judge
  for (size_t g = 0; g < groups.size(); ++g) {
    const TrainSequence& s = groups[g][0].sequence;
    for (size_t t = 0; t < s.tokens.size(); ++t) {
      const float label = s.Label(level, t);
      if (!std::isnan(label)) known.emplace(prefixes[g][t + 1], label);
    }
  }
  std::vector<std::pair<double, bool>> all;
  std::vector<std::vector<std::pair<double, bool>>> by_step;
  std::vector<LabelledScore> scored;
  std::vector<Judged> paths;
  for (size_t g = 0; g < groups.size(); ++g) {
    const TrainSequence& s = groups[g][0].sequence;
    Judged& path = paths.emplace_back();
    size_t step = 0;
    for (size_t t = 0; t < s.tokens.size(); ++t) {
      const uint64_t prefix = prefixes[g][t + 1];
      if (!ends.contains(prefix)) continue;
      const size_t index = step++;
      const auto score = static_cast<double>(scores[g][t][level]);
      if (const auto found = known.find(prefix); found != known.end()) {
        path.labels.push_back(static_cast<double>(found->second));
        path.scores.push_back(score);
      }
      const auto label = static_cast<double>(s.Label(level, t));
      if (std::isnan(label)) continue;
      all.emplace_back(score, label > 0.5);
      scored.push_back({score, label});
      if (by_step.size() <= index) by_step.resize(index + 1);
      by_step[index].emplace_back(score, label > 0.5);
    }
  }
  const ScoreQuality quality = MeasureScores(scored);
  LevelQuality out{.level = level,
                   .labels = static_cast<int64_t>(all.size()),
                   .auc = AreaUnderCurve(all),
                   .brier = quality.brier,
                   .ece = quality.ece};
  for (const auto& of_step : by_step) {
    out.auc_by_step.push_back(AreaUnderCurve(of_step));
  }
  if (level != Level::kOutcome) out.first_error_f1 = F1OfFirstErrors(paths);
  return out;
}

// The figures of a level by name; `visit` gets the name's end and the value.
template <class Quality, class Visit>
void VisitFigures(Quality& quality, const Visit& visit) {
  visit("_auc", quality.auc);
  visit("_first_error_f1", quality.first_error_f1);
  visit("_brier", quality.brier);
  visit("_ece", quality.ece);
}

nlohmann::json NumberOrNull(double value) {
  return std::isnan(value) ? nlohmann::json() : nlohmann::json(value);
}

}  // namespace

absl::StatusOr<TrainData> TakeHeldOut(double share, uint64_t seed,
                                      TrainData& data) {
  TrainData held{.problem_hashes = data.problem_hashes,
                 .published = data.published,
                 .outputs = data.outputs};
  TrainData kept = held;
  for (size_t i = 0; i < data.groups.size(); ++i) {
    const auto problem = static_cast<size_t>(data.problems[i]);
    TrainData& to =
        IsHeldOut(data.problem_hashes[problem], share, seed) ? held : kept;
    to.groups.push_back(std::move(data.groups[i]));
    to.names.push_back(std::move(data.names[i]));
    to.problems.push_back(data.problems[i]);
  }
  data = std::move(kept);
  if (!held.groups.empty() && !data.groups.empty()) return held;
  return absl::FailedPreconditionError(
      absl::StrCat("--held-out ", share, ": ",
                   held.groups.empty() ? "no problem is held out"
                                       : "no problem is left to train on",
                   "; name another share, or give more problems"));
}

std::vector<LevelQuality> MeasureLevels(
    absl::Span<const SequenceGroup> groups,
    absl::Span<const std::vector<StepScores>> scores,
    absl::Span<const LevelSet> outputs) {
  std::vector<std::vector<uint64_t>> prefixes;
  std::set<uint64_t> ends;  // of steps: what has a label of any level
  for (const SequenceGroup& group : groups) {
    const TrainSequence& s = group[0].sequence;
    prefixes.push_back(PrefixHashes(s));
    for (size_t t = 0; t < s.tokens.size(); ++t) {
      if (s.Labelled(t)) ends.insert(prefixes.back()[t + 1]);
    }
  }
  std::vector<LevelQuality> out;
  for (const LevelSet output : outputs) {
    out.push_back(MeasureLevel(output.first(), groups, scores, prefixes, ends));
  }
  return out;
}

nlohmann::json FiguresJson(const HeldOutFigures& figures) {
  nlohmann::json line = {{"held_out", true},
                         {"step", figures.step},
                         {"problems", figures.problems},
                         {"loss", figures.loss},
                         {"right", figures.right}};
  for (const LevelQuality& quality : figures.levels) {
    const std::string name(kLevelNames[IndexOf(quality.level)]);
    line[name + "_labels"] = quality.labels;
    VisitFigures(quality, [&](const char* end, double value) {
      if (!std::isnan(value)) line[name + end] = value;
    });
    nlohmann::json& by_step = line[name + "_auc_by_step"];
    by_step = nlohmann::json::array();
    for (const double auc : quality.auc_by_step) {
      by_step.push_back(NumberOrNull(auc));
    }
  }
  return line;
}

absl::StatusOr<HeldOutFigures> ParseFigures(const nlohmann::json& line) {
  HeldOutFigures out;
  try {
    out.step = line.at("step");
    out.problems = line.at("problems");
    out.loss = line.at("loss");
    out.right = line.at("right");
    for (size_t l = 0; l < kLevels; ++l) {
      const std::string name(kLevelNames[l]);
      if (!line.contains(name + "_labels")) continue;
      LevelQuality& quality = out.levels.emplace_back();
      quality.level = static_cast<Level>(l);
      quality.labels = line.at(name + "_labels");
      VisitFigures(quality, [&](const char* end, double& value) {
        if (line.contains(name + end)) value = line.at(name + end);
      });
      for (const nlohmann::json& auc : line.at(name + "_auc_by_step")) {
        quality.auc_by_step.push_back(auc.is_null() ? kUndefined
                                                    : auc.get<double>());
      }
    }
  } catch (const nlohmann::json::exception& e) {
    return absl::DataLossError(
        absl::StrCat("figures of held-out problems: damaged: ", e.what()));
  }
  return out;
}

std::string FiguresText(const HeldOutFigures& figures) {
  std::string text =
      absl::StrFormat("held out: %d problems, loss %.4f at step %d\n",
                      figures.problems, figures.loss, figures.step);
  if (figures.levels.empty()) return text;
  absl::StrAppendFormat(&text, "  %-8s%8s%8s%16s%8s%8s\n", "level", "labels",
                        "AUC", "first-error F1", "Brier", "ECE");
  const auto number = [](double value, int digits) {
    return std::isnan(value) ? std::string("-")
                             : absl::StrFormat("%.*f", digits, value);
  };
  for (const LevelQuality& quality : figures.levels) {
    absl::StrAppendFormat(&text, "  %-8s%8d%8s%16s%8s%8s\n",
                          std::string(kLevelNames[IndexOf(quality.level)]),
                          quality.labels, number(quality.auc, 3),
                          number(quality.first_error_f1, 1),
                          number(quality.brier, 3), number(quality.ece, 3));
  }
  return text;
}

bool HeldOutWatch::Count(double loss) {
  if (lowest_ && !(loss < *lowest_)) {
    ++without_;
    return false;
  }
  lowest_ = loss;
  without_ = 0;
  return true;
}

absl::StatusOr<HeldOutFigures> HeldOutWatch::Figures(const Objective& objective,
                                                     Trainer& trainer) const {
  ESP_ASSIGN_OR_RETURN(const ObjectiveMetrics m,
                       trainer.EvaluateObjective(objective, data_.groups));
  HeldOutFigures out{
      .step = trainer.steps_done(),
      .problems = static_cast<int64_t>(
          std::set<int>(data_.problems.begin(), data_.problems.end()).size()),
      .loss = m.loss,
      .right = m.right};
  if (objective.group_size() != 1) return out;
  std::vector<TrainSequence> sequences;
  for (const SequenceGroup& group : data_.groups) {
    sequences.push_back(group[0].sequence);
  }
  ESP_ASSIGN_OR_RETURN(const auto scores, trainer.Rewards(sequences));
  out.levels = MeasureLevels(data_.groups, scores, data_.outputs);
  return out;
}

absl::StatusOr<HeldOutFigures> HeldOutWatch::Measure(const Objective& objective,
                                                     Trainer& trainer) {
  ESP_ASSIGN_OR_RETURN(HeldOutFigures figures, Figures(objective, trainer));
  if (Count(figures.loss)) ESP_RETURN_IF_ERROR(trainer.Save(best_));
  return figures;
}

absl::StatusOr<HeldOutFigures> HeldOutWatch::LoadBest(
    const Objective& objective, Trainer& trainer) const {
  ESP_RETURN_IF_ERROR(trainer.Load(best_));
  return Figures(objective, trainer);
}

}  // namespace espalier
