#include "src/eval/pass_at_k.h"

#include <algorithm>
#include <unordered_set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/check.h"
#include "base/parse_json.h"
#include "base/random.h"
#include "base/status_macros.h"
#include "nlohmann/json.hpp"
#include "search/algorithm.h"

namespace espalier {
namespace {

std::vector<double> Estimates(const PassReport& report, int k) {
  std::vector<double> out;
  out.reserve(report.right.size());
  for (size_t i = 0; i < report.right.size(); ++i) {
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
                    .oracle = first.oracle,
                    .ids = TextList(first.ids.scratch()),
                    .errors = TextList(first.errors.scratch())};
  std::unordered_set<uint64_t> errors;  // hashes of those reported
  double tokens = 0, responses = 0;
  for (const ResultRow& row : rows) {
    ESP_CHECK(row.method == first.method &&
              row.budget_tokens == first.budget_tokens);
    report.complete &= row.complete;
    report.seconds += row.seconds;
    const auto n = static_cast<double>(row.n());
    tokens += row.tokens_per_problem * n;
    responses += n;
    // A text that cannot be read again is missing in the report, no more.
    row.errors
        .ForEach([&](std::string_view error) {
          if (errors.insert(StableHash(error)).second) {
            report.errors.push_back(error);
          }
          return absl::OkStatus();
        })
        .IgnoreError();
  }
  const int32_t largest = *std::max_element(ks.begin(), ks.end());
  const size_t positions = first.done.size();
  std::vector<bool> enough(positions);
  for (size_t i = 0; i < positions; ++i) {
    int32_t given = 0, right = 0;
    for (const ResultRow& row : rows) {
      if (i >= row.done.size() || !row.done[i]) continue;
      ++given;
      right += row.right[i] ? 1 : 0;
    }
    if (given < largest) continue;
    enough[i] = true;
    report.responses.push_back(given);
    report.right.push_back(right);
  }
  size_t position = 0;
  first.ids
      .ForEach([&](std::string_view id) {
        while (!first.done[position]) ++position;
        if (enough[position++]) report.ids.push_back(id);
        return absl::OkStatus();
      })
      .IgnoreError();
  report.ids.Seal();
  report.errors.Seal();
  report.tokens_per_response = tokens / std::max(responses, 1.0);
  report.tokens_per_problem =
      tokens / std::max(static_cast<double>(first.n()), 1.0);
  if (report.right.empty()) {
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
      report.complete || report.right.empty()
          ? ""
          : absl::StrFormat(
                "; stopped early, only the %d problems with enough responses",
                report.right.size()),
      "pass@", "correct", "95 % interval");
  if (report.right.empty()) table += "     no problem had enough responses\n";
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

LongJson PassJson(const PassReport& report) {
  nlohmann::json at = nlohmann::json::array();
  for (const PassAt& pass : report.at) {
    at.push_back({{"k", pass.k},
                  {"share", pass.share},
                  {"ci_low", pass.interval.low},
                  {"ci_high", pass.interval.high}});
  }
  LongJson out;
  const auto texts = [&](const TextList& list) {
    return out.Array([&list](const LongJson::Put& put) {
      return list.ForEach([&](std::string_view text) { return put(text); });
    });
  };
  const auto numbers = [&](const std::vector<int32_t>& list) {
    return out.Array([&list](const LongJson::Put& put) -> absl::Status {
      for (const int32_t number : list) ESP_RETURN_IF_ERROR(put(number));
      return absl::OkStatus();
    });
  };
  out.json = {{"set", report.set},
              {"method", report.method},
              {"configuration", report.configuration},
              {"config_hash", MethodHash(report.configuration)},
              {"budget_tokens", report.budget_tokens},
              {"limits", ParseJsonOrNull(report.limits)},
              {"seed", report.seed},
              {"samples", report.samples},
              {"oracle", report.oracle},
              {"complete", report.complete},
              {"n", report.right.size()},
              {"pass_at", at},
              {"ids", texts(report.ids)},
              {"responses", numbers(report.responses)},
              {"right", numbers(report.right)},
              {"tokens_per_problem", report.tokens_per_problem},
              {"tokens_per_response", report.tokens_per_response},
              {"seconds", report.seconds},
              {"errors", texts(report.errors)}};
  return out;
}

}  // namespace espalier
