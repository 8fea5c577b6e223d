// The reports of bench-reward, for people and as JSON.
//
// Stateless functions: thread-safe.
#ifndef ESPALIER_TOOLS_ESPALIER_BENCH_REWARD_REPORT_H_
#define ESPALIER_TOOLS_ESPALIER_BENCH_REWARD_REPORT_H_

#include <string>

#include "nlohmann/json_fwd.hpp"
#include "src/eval/best_of_n.h"
#include "src/eval/step_benchmark.h"

namespace espalier {

// Where the threshold comes from.
struct ThresholdOrigin {
  double threshold = 0.5;
  std::string tuned_on;         // a subset or file; "": given
  bool measured_there = false;  // it is part of what was measured
};

// `published`: beside the figures that its authors' sources give for others.
std::string ProcessBenchText(const ProcessBenchReport& report,
                             const ThresholdOrigin& origin, bool published);
nlohmann::json ProcessBenchJson(const ProcessBenchReport& report,
                                const ThresholdOrigin& origin);

std::string PrmBenchText(const PrmBenchReport& report,
                         const ThresholdOrigin& origin, bool published);
nlohmann::json PrmBenchJson(const PrmBenchReport& report,
                            const ThresholdOrigin& origin);

std::string ReplayText(const ReplayReport& report);
nlohmann::json ReplayJson(const ReplayReport& report);

}  // namespace espalier

#endif  // ESPALIER_TOOLS_ESPALIER_BENCH_REWARD_REPORT_H_
