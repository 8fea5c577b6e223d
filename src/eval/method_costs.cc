#include "src/eval/method_costs.h"

#include <cctype>
#include <filesystem>
#include <set>

#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"
#include "src/base/files.h"
#include "src/base/status_macros.h"

namespace espalier {
namespace {

// "BM_MctsStar/sims:8000" -> "mcts_star"
std::string MethodOfRow(const std::string& row) {
  std::string name = row.substr(0, row.find('/'));
  if (name.rfind("BM_", 0) == 0) name = name.substr(3);
  std::string method;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isupper(byte) != 0 && !method.empty()) method += '_';
    method += static_cast<char>(std::tolower(byte));
  }
  return method;
}

std::string Text(const nlohmann::json& row, const char* key) {
  const auto it = row.find(key);
  return it == row.end() || !it->is_string() ? "" : it->get<std::string>();
}

}  // namespace

absl::StatusOr<MethodCosts> ParseMethodCosts(const std::string& text,
                                             const std::string& where) {
  const auto json = nlohmann::json::parse(text, nullptr, false);
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
    const auto rate = row.find("sims_per_s");
    if (rate == row.end() || !rate->is_number()) continue;
    const double sims_per_s = rate->get<double>();
    if (!(sims_per_s > 0)) continue;
    const std::string label = Text(row, "label");
    const std::string method = label.empty() ? MethodOfRow(Text(row, "name"))
                                             : label.substr(0, label.find(':'));
    const MethodCost cost{.microseconds = 1e6 / sims_per_s,
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
