#include "src/serve/serve_metrics.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace espalier {
namespace {

void Describe(const char* name, const char* type, const char* help,
              std::string& out) {
  absl::StrAppend(&out, "# HELP espalier_", name, " ", help,
                  "\n# TYPE espalier_", name, " ", type, "\n");
}

void Add(const char* name, const char* type, const char* help, int64_t value,
         std::string& out) {
  Describe(name, type, help, out);
  absl::StrAppend(&out, "espalier_", name, " ", value, "\n");
}

}  // namespace

void ServeMetrics::CountSearch(const SearchResult& result) {
  ++searches_;
  seconds_ += result.seconds;
  tokens_ += result.tokens;
  response_tokens_ += result.response_tokens;
  speculated_tokens_ += result.speculated_tokens;
  for (size_t i = 0; i < kBounds.size(); ++i) {
    buckets_[i] += result.seconds <= kBounds[i];
  }
}

std::string ServeMetrics::Text(const Gauges& now) const {
  std::string out;
  Describe("requests_total", "counter", "Replies, by endpoint and status.",
           out);
  for (const auto& [key, count] : requests_) {
    absl::StrAppend(&out, "espalier_requests_total{endpoint=\"", key.first,
                    "\",code=\"", key.second, "\"} ", count, "\n");
  }
  Add("requests_cancelled_total", "counter",
      "Requests whose client went before the reply ended.", cancelled_, out);
  Add("searches_running", "gauge", "Searches under way.", now.running, out);
  Add("searches_waiting", "gauge", "Requests that wait for a search.",
      now.waiting, out);
  Add("connections", "gauge", "Open connections.", now.connections, out);
  Add("search_tokens_total", "counter",
      "Tokens sampled by searches, kept or dropped.", tokens_, out);
  Add("response_tokens_total", "counter", "Tokens of the responses given.",
      response_tokens_, out);
  Add("speculated_tokens_total", "counter",
      "Tokens sampled ahead of searches and not used.", speculated_tokens_,
      out);
  Describe("search_seconds", "histogram", "Time that searches took.", out);
  for (size_t i = 0; i < kBounds.size(); ++i) {
    absl::StrAppend(&out, "espalier_search_seconds_bucket{le=\"", kBounds[i],
                    "\"} ", buckets_[i], "\n");
  }
  absl::StrAppend(&out, "espalier_search_seconds_bucket{le=\"+Inf\"} ",
                  searches_, "\nespalier_search_seconds_sum ",
                  absl::StrFormat("%.3f", seconds_),
                  "\nespalier_search_seconds_count ", searches_, "\n");
  return out;
}

}  // namespace espalier
