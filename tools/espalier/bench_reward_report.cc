#include "tools/espalier/bench_reward_report.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/text.h"
#include "nlohmann/json.hpp"

namespace espalier {
namespace {

struct PublishedFigure {
  const char* model;
  double value;
};

// Mean F1 of the four subsets (Zhang et al. 2025, arXiv:2501.07301).
constexpr PublishedFigure kProcessBench[] = {
    {"Qwen2.5-Math-PRM-7B", 73.5},
    {"Qwen2.5-Math-PRM-72B", 78.3},
};

// PRM-score in per cent, from the benchmark's repository
// (ssmisya/PRMBench, mr_visualize/eval_res_view/draw_tabs,
// form_latex_appendix.ipynb).
constexpr PublishedFigure kPrmBench[] = {
    {"Math-Shepherd-Mistral-7B", 47.0}, {"Llemma-PRM800K-7B", 52.0},
    {"MATH-Minos-Mistral-7B", 54.2},    {"RLHFlow-PRM-Deepseek-8B", 54.2},
    {"RLHFlow-PRM-Mistral-8B", 54.4},   {"ReasonEval-7B", 60.1},
    {"ReasonEval-34B", 60.5},           {"Skywork-PRM-1.5B", 61.1},
    {"Skywork-PRM-7B", 65.1},           {"PURE-PRM-7B", 65.3},
    {"Qwen2.5-Math-PRM-7B", 65.5},      {"Qwen2.5-Math-PRM-72B", 68.2},
};

template <size_t n>
std::string Published(const char* what, const PublishedFigure (&figures)[n]) {
  std::string text = absl::StrCat("published ", what, ":\n");
  for (const PublishedFigure& one : figures) {
    absl::StrAppendFormat(&text, "  %-26s %5.1f\n", one.model, one.value);
  }
  return text;
}

std::string ThresholdText(const ThresholdOrigin& origin) {
  std::string text =
      absl::StrFormat("a step is right above %.4g", origin.threshold);
  if (origin.tuned_on.empty()) return text + "\n";
  absl::StrAppend(&text, ", tuned on ", origin.tuned_on);
  if (origin.measured_there) {
    text.append(", which is measured here, too: its figures are optimistic");
  }
  return text + "\n";
}

// A share or percentage; "-" where there is none.
std::string Cell(double value, double scale) {
  return std::isnan(value) || value < 0
             ? absl::StrFormat("%8s", "-")
             : absl::StrFormat("%8.1f", value * scale);
}

nlohmann::json Number(double value) {
  return std::isnan(value) ? nlohmann::json() : nlohmann::json(value);
}

void PutThreshold(const ThresholdOrigin& origin, nlohmann::json& json) {
  json["threshold"] = origin.threshold;
  if (origin.tuned_on.empty()) return;
  json["tuned_on"] = origin.tuned_on;
  json["tuned_on_measured"] = origin.measured_there;
}

// The mean without the subset that the threshold was tuned on; NaN if there is
// no such figure.
double MeanElsewhere(const ProcessBenchReport& report,
                     const ThresholdOrigin& origin) {
  double sum = 0;
  int count = 0;
  for (const auto& [name, score] : report.subsets) {
    if (name == origin.tuned_on) continue;
    sum += score.f1();
    ++count;
  }
  const bool other = origin.measured_there && count > 0 &&
                     count < static_cast<int>(report.subsets.size());
  return other ? sum / count : NAN;
}

std::string PrmRow(const std::string& name, const PrmBenchScore& score) {
  const bool unchanged = name == kUnchanged;
  return absl::StrFormat("  %-22s", name) +
         Cell(unchanged ? NAN : score.prm_score, 100) + Cell(score.f1, 100) +
         Cell(score.negative_f1, 100) + Cell(score.first_error_accuracy, 100) +
         Cell(score.similarity, 100) + Cell(score.step_accuracy, 100) + "\n";
}

nlohmann::json PrmJson(const PrmBenchScore& score) {
  return {{"right_kept", score.right_kept},
          {"wrong_kept", score.wrong_kept},
          {"wrong_found", score.wrong_found},
          {"right_lost", score.right_lost},
          {"step_accuracy", score.step_accuracy},
          {"right_accuracy", score.right_accuracy},
          {"wrong_accuracy", score.wrong_accuracy},
          {"first_error_accuracy", score.first_error_accuracy},
          {"similarity", score.similarity},
          {"f1", score.f1},
          {"negative_f1", score.negative_f1},
          {"prm_score", score.prm_score}};
}

std::string WithInterval(const MeanWithInterval& figure) {
  return absl::StrFormat("  %5.1f [%5.1f, %5.1f]", 100 * figure.mean,
                         100 * figure.interval.low, 100 * figure.interval.high);
}

nlohmann::json IntervalJson(const MeanWithInterval& figure) {
  return {{"accuracy", figure.mean},
          {"low", figure.interval.low},
          {"high", figure.interval.high}};
}

}  // namespace

std::string ProcessBenchText(const ProcessBenchReport& report,
                             const ThresholdOrigin& origin, bool published) {
  std::string text = absl::StrFormat("  %-22s%8s%8s%8s%8s\n", "per cent", "n",
                                     "error", "correct", "F1");
  for (const auto& [name, score] : report.subsets) {
    absl::StrAppendFormat(&text, "  %-22s%8d", name,
                          score.with_error + score.without_error);
    absl::StrAppend(&text, Cell(score.error_accuracy(), 1),
                    Cell(score.correct_accuracy(), 1), Cell(score.f1(), 1),
                    "\n");
  }
  absl::StrAppendFormat(&text, "  %-22s%8s%8s%8s", "mean of subsets", "", "",
                        "");
  absl::StrAppend(&text, Cell(report.mean_f1, 1), "\n");
  const double elsewhere = MeanElsewhere(report, origin);
  if (!std::isnan(elsewhere)) {
    absl::StrAppendFormat(&text, "  %-46s", "mean of the other subsets");
    absl::StrAppend(&text, Cell(elsewhere, 1), "\n");
  }
  absl::StrAppend(&text, ThresholdText(origin));
  if (published) absl::StrAppend(&text, Published("mean F1", kProcessBench));
  return text;
}

nlohmann::json ProcessBenchJson(const ProcessBenchReport& report,
                                const ThresholdOrigin& origin) {
  nlohmann::json subsets = nlohmann::json::object();
  for (const auto& [name, score] : report.subsets) {
    subsets[name] = {{"with_error", score.with_error},
                     {"error_found", score.error_found},
                     {"without_error", score.without_error},
                     {"none_found", score.none_found},
                     {"error_accuracy", Number(score.error_accuracy())},
                     {"correct_accuracy", Number(score.correct_accuracy())},
                     {"f1", Number(score.f1())}};
  }
  nlohmann::json json = {{"benchmark", "processbench"},
                         {"subsets", std::move(subsets)},
                         {"mean_f1", Number(report.mean_f1)},
                         {"not_judged", report.not_judged}};
  PutThreshold(origin, json);
  const double elsewhere = MeanElsewhere(report, origin);
  if (!std::isnan(elsewhere)) json["mean_f1_elsewhere"] = elsewhere;
  return json;
}

std::string PrmBenchText(const PrmBenchReport& report,
                         const ThresholdOrigin& origin, bool published) {
  std::string text =
      absl::StrFormat("  %-22s%8s%8s%8s%8s%8s%8s\n", "per cent", "score", "F1",
                      "neg. F1", "first", "similar", "steps");
  for (const auto& [name, score] : report.classes) {
    absl::StrAppend(&text, PrmRow(name, score));
  }
  absl::StrAppend(&text, PrmRow("all with errors", report.total),
                  ThresholdText(origin));
  if (published) absl::StrAppend(&text, Published("PRM-score", kPrmBench));
  return text;
}

nlohmann::json PrmBenchJson(const PrmBenchReport& report,
                            const ThresholdOrigin& origin) {
  nlohmann::json classes = nlohmann::json::object();
  for (const auto& [name, score] : report.classes) {
    classes[name] = PrmJson(score);
  }
  nlohmann::json json = {{"benchmark", "prmbench"},
                         {"total", PrmJson(report.total)},
                         {"classes", std::move(classes)},
                         {"not_judged", report.not_judged}};
  PutThreshold(origin, json);
  return json;
}

std::string ReplayText(const ReplayReport& report) {
  std::string text = absl::StrFormat(
      "%d problems, %d responses; per cent right, 95 %% intervals over "
      "problems\n%6s%9s  %-22s%-22s\n",
      report.problems, report.samples, "n", "problems", "one is right",
      "majority");
  for (const ReplayRow& row : report.rows) {
    absl::StrAppendFormat(&text, "%6d%9d", row.n, row.problems);
    absl::StrAppend(&text, WithInterval(row.any), WithInterval(row.majority),
                    "\n");
  }
  const auto table = [&](const char* what, PerAggregate ReplayRow::*figures) {
    absl::StrAppendFormat(&text, "%s, score of a response by the\n%6s", what,
                          "n");
    for (const std::string_view name : kReplayAggregates) {
      absl::StrAppendFormat(&text, "  %-20s", std::string(name));
    }
    text += "\n";
    for (const ReplayRow& row : report.rows) {
      absl::StrAppendFormat(&text, "%6d", row.n);
      for (const MeanWithInterval& figure : row.*figures) {
        absl::StrAppend(&text, WithInterval(figure));
      }
      text += "\n";
    }
  };
  table("best of n", &ReplayRow::best);
  table("weighted vote", &ReplayRow::weighted);
  return text;
}

nlohmann::json ReplayJson(const ReplayReport& report) {
  nlohmann::json rows = nlohmann::json::array();
  for (const ReplayRow& row : report.rows) {
    nlohmann::json best = nlohmann::json::object();
    nlohmann::json weighted = nlohmann::json::object();
    for (size_t a = 0; a < kReplayAggregates.size(); ++a) {
      const std::string name(kReplayAggregates[a]);
      best[name] = IntervalJson(row.best[a]);
      weighted[name] = IntervalJson(row.weighted[a]);
    }
    rows.push_back({{"n", row.n},
                    {"problems", row.problems},
                    {"any", IntervalJson(row.any)},
                    {"majority", IntervalJson(row.majority)},
                    {"best", std::move(best)},
                    {"weighted", std::move(weighted)}});
  }
  return {{"benchmark", "best_of_n"},
          {"problems", report.problems},
          {"samples", report.samples},
          {"rows", std::move(rows)}};
}

}  // namespace espalier
