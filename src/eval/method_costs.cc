#include "src/eval/method_costs.h"

#include <filesystem>
#include <set>

#include "absl/strings/str_cat.h"
#include "base/files.h"
#include "base/parse_json.h"
#include "base/status_macros.h"
#include "nlohmann/json.hpp"

namespace espalier {
namespace {

std::string Text(const nlohmann::json& row, const char* key) {
  const auto it = row.find(key);
  return it == row.end() || !it->is_string() ? "" : it->get<std::string>();
}

}  // namespace

absl::StatusOr<MethodCosts> ParseMethodCosts(const std::string& text,
                                             const std::string& where) {
  const auto json = ParseJsonOrNull(text);
  const auto benchmarks =
      json.is_object() ? json.find("benchmarks") : json.end();
  if (!json.is_object() || benchmarks == json.end() ||
      !benchmarks->is_array()) {
    return absl::InvalidArgumentError(absl::StrCat(
        where,
        ": expected what --benchmark_out=FILE writes, a JSON object "
        "with \"benchmarks\""));
  }
  MethodCosts costs;
  std::set<std::string> have_median;
  for (const nlohmann::json& row : *benchmarks) {
    if (!row.is_object()) continue;
    const bool aggregate = Text(row, "run_type") == "aggregate";
    if (aggregate && Text(row, "aggregate_name") != "median") continue;
    const auto rate = row.find("steps_per_s");
    if (rate == row.end() || !rate->is_number()) continue;
    const double steps_per_s = rate->get<double>();
    if (!(steps_per_s > 0)) continue;
    const std::string method = Text(row, "label");
    if (method.empty()) continue;
    const MethodCost cost{.microseconds = 1e6 / steps_per_s,
                          .row = Text(row, "name")};
    if (aggregate && have_median.insert(method).second) {
      costs[method] = cost;
    } else {
      costs.emplace(method, cost);
    }
  }
  return costs;
}

absl::StatusOr<MethodCosts> ReadMethodCosts(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return MethodCosts();
  ESP_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  return ParseMethodCosts(text, path);
}

}  // namespace espalier
