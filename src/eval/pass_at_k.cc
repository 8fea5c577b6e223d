#include "src/eval/pass_at_k.h"

#include <algorithm>
#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/check.h"
#include "base/parse_json.h"
#include "nlohmann/json.hpp"
#include "search/algorithm.h"

namespace espalier {
namespace {

struct Counts {
  int64_t responses = 0;
  int64_t right = 0;
};

std::vector<double> Estimates(const PassReport& report, int k) {
  std::vector<double> out;
  for (size_t i = 0; i < report.ids.size(); ++i) {
    out.push_back(PassAtK(report.responses[i], report.right[i], k));
  }
  return out;
}

// The number of responses per problem: one number, or "least to most".
std::string ResponsesText(const PassReport& report) {
  if (report.complete || report.responses.empty()) {
    return absl::StrCat(report.samples);
  }
  const auto [least, most] =
      std::minmax_element(report.responses.begin(), report.responses.end());
  return *least == *most ? absl::StrCat(*least)
                         : absl::StrCat(*least, " to ", *most);
}

}  // namespace

double PassAtK(int64_t responses, int64_t right, int64_t k) {
  ESP_CHECK(right >= 0 && right <= responses && k >= 1 && k <= responses);
  // The ratio of the binomials, factor by factor, so that no factorial
  // overflows. With fewer than k wrong ones a factor is 0.
  double none = 1;
  for (int64_t i = responses - right + 1; i <= responses; ++i) {
    if (i <= k) return 1;
    none *= 1 - static_cast<double>(k) / static_cast<double>(i);
  }
  return 1 - none;
}

PassReport MakePassReport(const std::vector<ResultRow>& rows,
                          const std::vector<int>& ks) {
  ESP_CHECK(!rows.empty() && !ks.empty());
  const ResultRow& first = rows.front();
  PassReport report{.set = first.set,
                    .method = first.method,
                    .configuration = first.configuration,
                    .budget_tokens = first.budget_tokens,
                    .limits = first.limits,
                    .seed = first.seed,
                    .samples = static_cast<int>(rows.size()),
                    .oracle = first.oracle};
  std::vector<std::string> order;
  std::map<std::string, Counts> by_id;
  std::set<std::string> errors;
  double tokens = 0, responses = 0;
  for (const ResultRow& row : rows) {
    ESP_CHECK(row.method == first.method &&
              row.budget_tokens == first.budget_tokens);
    report.complete &= row.complete;
    report.seconds += row.seconds;
    const auto n = static_cast<double>(row.ids.size());
    tokens += row.tokens_per_problem * n;
    responses += n;
    for (size_t i = 0; i < row.ids.size(); ++i) {
      const std::string id(row.ids[i]);
      Counts& counts = by_id[id];
      if (counts.responses == 0) order.push_back(id);
      ++counts.responses;
      counts.right += row.correct[i];
    }
    for (const std::string& error : row.errors) {
      if (errors.insert(error).second) report.errors.push_back(error);
    }
  }
  const int largest = *std::max_element(ks.begin(), ks.end());
  for (const std::string& id : order) {
    const Counts& counts = by_id[id];
    if (counts.responses < largest) continue;
    report.ids.push_back(id);
    report.responses.push_back(counts.responses);
    report.right.push_back(counts.right);
  }
  report.tokens_per_response = tokens / std::max(responses, 1.0);
  report.tokens_per_problem =
      tokens / std::max(static_cast<double>(order.size()), 1.0);
  if (report.ids.empty()) {
    report.complete = false;
    return report;
  }
  for (const int k : ks) {
    const std::vector<double> estimates = Estimates(report, k);
    const MeanWithInterval mean = BootstrapMean(estimates, 0);
    report.at.push_back({k, mean.mean, mean.interval});
  }
  return report;
}

std::string PassTable(const PassReport& report) {
  std::string table = absl::StrFormat(
      "%s%s, %s responses per problem%s\n%8s %8s %16s\n", report.method,
      report.oracle ? " (oracle)" : "", ResponsesText(report),
      report.complete || report.ids.empty()
          ? ""
          : absl::StrFormat(
                "; stopped early, only the %d problems with enough responses",
                report.ids.size()),
      "pass@", "correct", "95 % interval");
  if (report.ids.empty()) table += "     no problem had enough responses\n";
  for (const PassAt& at : report.at) {
    absl::StrAppendFormat(&table, "%8d %7.1f%% %6.1f%% - %5.1f%%\n", at.k,
                          100 * at.share, 100 * at.interval.low,
                          100 * at.interval.high);
  }
  absl::StrAppendFormat(
      &table, "%.1f tokens per problem, %.1f per response; %.1f s\n",
      report.tokens_per_problem, report.tokens_per_response, report.seconds);
  return table;
}

nlohmann::json PassJson(const PassReport& report) {
  nlohmann::json at = nlohmann::json::array();
  for (const PassAt& pass : report.at) {
    at.push_back({{"k", pass.k},
                  {"share", pass.share},
                  {"ci_low", pass.interval.low},
                  {"ci_high", pass.interval.high}});
  }
  return {{"set", report.set},
          {"method", report.method},
          {"configuration", report.configuration},
          {"config_hash", MethodHash(report.configuration)},
          {"budget_tokens", report.budget_tokens},
          {"limits", ParseJsonOrNull(report.limits)},
          {"seed", report.seed},
          {"samples", report.samples},
          {"oracle", report.oracle},
          {"complete", report.complete},
          {"n", report.ids.size()},
          {"pass_at", at},
          {"ids", report.ids},
          {"responses", report.responses},
          {"right", report.right},
          {"tokens_per_problem", report.tokens_per_problem},
          {"tokens_per_response", report.tokens_per_response},
          {"seconds", report.seconds},
          {"errors", report.errors}};
}

}  // namespace espalier
