#include "src/eval/step_benchmark.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "absl/container/flat_hash_map.h"
#include "base/check.h"

namespace espalier {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

double PerCent(int64_t part, int64_t whole) {
  return whole == 0
             ? kNaN
             : 100 * static_cast<double>(part) / static_cast<double>(whole);
}

// As PRMBench's program shares: -1 of nothing.
double Share(int64_t part, int64_t whole) {
  return whole == 0 ? -1
                    : static_cast<double>(part) / static_cast<double>(whole);
}

double HarmonicMean(double precision, double recall) {
  const double sum = precision + recall;
  return sum == 0 ? -1 : 2 * precision * recall / sum;
}

double PrmScore(const std::string& group, double f1, double negative_f1) {
  const bool one_kind = group == "multi_solutions" || group == kUnchanged;
  return std::max(0.0, one_kind ? f1 : 0.5 * f1 + 0.5 * negative_f1);
}

// Counts and means of one class, or of all.
struct PrmTally {
  PrmBenchScore score;
  int64_t first_errors = 0, first_found = 0;
  double similarity = 0;
  int64_t pairs = 0;

  void Add(const BenchSolution& solution, const StepValues& values,
           double threshold) {
    for (size_t i = 0; i < values.size(); ++i) {
      const bool kept = values[i] > threshold;
      const int at = static_cast<int>(i);
      const bool wrong = std::binary_search(solution.errors.begin(),
                                            solution.errors.end(), at);
      ++(wrong ? (kept ? score.wrong_kept : score.wrong_found)
               : (kept ? score.right_kept : score.right_lost));
      if (at != solution.first_error()) continue;
      ++first_errors;
      first_found += !kept;
    }
  }

  void AddPair(double difference) {
    similarity += difference;
    ++pairs;
  }

  PrmBenchScore Finish(const std::string& group) {
    const int64_t tp = score.right_kept, fp = score.wrong_kept;
    const int64_t tn = score.wrong_found, fn = score.right_lost;
    score.step_accuracy = Share(tp + tn, tp + fp + tn + fn);
    score.right_accuracy = Share(tp, tp + fn);
    score.wrong_accuracy = Share(tn, tn + fp);
    score.first_error_accuracy = Share(first_found, first_errors);
    if (pairs > 0) score.similarity = similarity / static_cast<double>(pairs);
    score.f1 = HarmonicMean(Share(tp, tp + fp), Share(tp, tp + fn));
    score.negative_f1 = HarmonicMean(Share(tn, tn + fn), Share(tn, tn + fp));
    score.prm_score = PrmScore(group, score.f1, score.negative_f1);
    return score;
  }
};

// The best of thresholds, seen in ascending order.
class BestThreshold {
 public:
  // `quality` holds for thresholds in [low, high).
  void See(double low, double high, double quality) {
    if (std::isnan(quality) || low >= high) return;
    double threshold = 0.5 * (low + high);
    if (std::isinf(low)) threshold = high - 0.5;
    if (std::isinf(high)) threshold = low + 0.5;
    if (low <= 0.5 && 0.5 < high) threshold = 0.5;
    // Rounding of the middle of two neighbours.
    if (threshold >= high) threshold = low;
    const bool nearer = std::abs(threshold - 0.5) < std::abs(threshold_ - 0.5);
    if (quality > best_ || (quality == best_ && nearer)) {
      best_ = quality;
      threshold_ = threshold;
    }
  }
  double threshold() const { return threshold_; }

 private:
  double best_ = -kInfinity;
  double threshold_ = 0.5;
};

}  // namespace

int FirstWrong(absl::Span<const double> values, double threshold) {
  const auto wrong = std::find_if(values.begin(), values.end(),
                                  [&](double v) { return !(v > threshold); });
  return wrong == values.end() ? -1 : static_cast<int>(wrong - values.begin());
}

double ProcessBenchScore::error_accuracy() const {
  return PerCent(error_found, with_error);
}

double ProcessBenchScore::correct_accuracy() const {
  return PerCent(none_found, without_error);
}

double ProcessBenchScore::f1() const {
  const double a = error_accuracy(), b = correct_accuracy();
  return a + b == 0 ? 0 : 2 * a * b / (a + b);
}

ProcessBenchReport MeasureProcessBench(
    absl::Span<const BenchSolution> solutions,
    absl::Span<const StepValues> values, double threshold) {
  ESP_CHECK(solutions.size() == values.size());
  ProcessBenchReport report;
  const auto subset = [&](const std::string& name) -> ProcessBenchScore& {
    for (auto& [known, score] : report.subsets) {
      if (known == name) return score;
    }
    return report.subsets.emplace_back(name, ProcessBenchScore()).second;
  };
  for (const std::string_view name : kProcessBenchSubsets) {
    const bool here =
        std::any_of(solutions.begin(), solutions.end(),
                    [&](const BenchSolution& s) { return s.group == name; });
    if (here) subset(std::string(name));
  }
  for (size_t i = 0; i < solutions.size(); ++i) {
    ProcessBenchScore& score = subset(solutions[i].group);
    const bool judged = !values[i].empty();
    report.not_judged += !judged;
    const int first = solutions[i].first_error();
    const bool hit = judged && FirstWrong(values[i], threshold) == first;
    ++(first >= 0 ? score.with_error : score.without_error);
    (first >= 0 ? score.error_found : score.none_found) += hit;
  }
  for (const auto& [name, score] : report.subsets) {
    report.mean_f1 += score.f1() / static_cast<double>(report.subsets.size());
  }
  return report;
}

double TuneProcessBench(absl::Span<const BenchSolution> solutions,
                        absl::Span<const StepValues> values) {
  ESP_CHECK(solutions.size() == values.size());
  // A solution is predicted right for thresholds in [low, high): from the value
  // of its first error on, and below those of all steps before.
  struct Event {
    int error = 0, none = 0;
  };
  std::map<double, Event> events;
  ProcessBenchScore score;
  for (size_t i = 0; i < solutions.size(); ++i) {
    const int first = solutions[i].first_error();
    ++(first >= 0 ? score.with_error : score.without_error);
    if (values[i].empty()) continue;
    const size_t before =
        first < 0 ? values[i].size() : static_cast<size_t>(first);
    double high = kInfinity;
    for (size_t k = 0; k < before; ++k) high = std::min(high, values[i][k]);
    if (first < 0) {
      ++score.none_found;
      --events[high].none;
    } else if (values[i][before] < high) {
      ++events[values[i][before]].error;
      --events[high].error;
    }
  }
  events.erase(kInfinity);  // no threshold reaches it
  BestThreshold best;
  double low = -kInfinity;
  for (const auto& [at, event] : events) {
    best.See(low, at, score.f1());
    score.error_found += event.error;
    score.none_found += event.none;
    low = at;
  }
  best.See(low, kInfinity, score.f1());
  return best.threshold();
}

PrmBenchReport MeasurePrmBench(absl::Span<const BenchSolution> solutions,
                               absl::Span<const StepValues> values,
                               double threshold) {
  ESP_CHECK(solutions.size() == values.size());
  const auto kept_share = [&](const StepValues& steps) {
    return Share(std::count_if(steps.begin(), steps.end(),
                               [&](double v) { return v > threshold; }),
                 static_cast<int64_t>(steps.size()));
  };
  absl::flat_hash_map<std::string, double> originals;
  for (size_t i = 0; i < solutions.size(); ++i) {
    if (solutions[i].group != kUnchanged || values[i].empty()) continue;
    originals[solutions[i].pair] = kept_share(values[i]);
  }
  PrmBenchReport report;
  PrmTally total;
  std::map<std::string, PrmTally> classes;
  for (size_t i = 0; i < solutions.size(); ++i) {
    const BenchSolution& solution = solutions[i];
    PrmTally& tally = classes[solution.group];
    report.not_judged += values[i].empty();
    if (values[i].empty()) continue;
    tally.Add(solution, values[i], threshold);
    if (solution.group == kUnchanged) continue;
    total.Add(solution, values[i], threshold);
    // The published program leaves out originals of which no step is kept.
    const auto original = originals.find(solution.pair);
    if (original == originals.end() || original->second == 0) continue;
    const double difference =
        std::abs(kept_share(values[i]) - original->second);
    tally.AddPair(difference);
    total.AddPair(difference);
  }
  for (auto& [name, tally] : classes) {
    report.classes.emplace_back(name, tally.Finish(name));
  }
  report.total = total.Finish("");
  return report;
}

double TunePrmBench(absl::Span<const BenchSolution> solutions,
                    absl::Span<const StepValues> values) {
  ESP_CHECK(solutions.size() == values.size());
  struct Event {
    int64_t right = 0, wrong = 0;  // steps of this value
  };
  std::map<double, Event> events;
  PrmTally tally;  // below every value: all are judged right
  for (size_t i = 0; i < solutions.size(); ++i) {
    if (solutions[i].group == kUnchanged) continue;
    tally.Add(solutions[i], values[i], -kInfinity);
    for (size_t k = 0; k < values[i].size(); ++k) {
      const bool wrong =
          std::binary_search(solutions[i].errors.begin(),
                             solutions[i].errors.end(), static_cast<int>(k));
      ++(wrong ? events[values[i][k]].wrong : events[values[i][k]].right);
    }
  }
  BestThreshold best;
  double low = -kInfinity;
  for (const auto& [at, event] : events) {
    best.See(low, at, tally.Finish("").prm_score);
    tally.score.right_kept -= event.right;
    tally.score.right_lost += event.right;
    tally.score.wrong_kept -= event.wrong;
    tally.score.wrong_found += event.wrong;
    low = at;
  }
  best.See(low, kInfinity, tally.Finish("").prm_score);
  return best.threshold();
}

}  // namespace espalier
