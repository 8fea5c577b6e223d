#include "src/serve/serve_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace espalier {
namespace {

using testing::HasSubstr;

TEST(ServeMetrics, CountsAsPrometheusReads) {
  ServeMetrics metrics;
  metrics.CountRequest("chat", 200);
  metrics.CountRequest("chat", 200);
  metrics.CountRequest("chat", 429);
  metrics.CountCancelled();
  metrics.CountSearch({.tokens = 600, .response_tokens = 40, .seconds = 0.2});
  metrics.CountSearch({.tokens = 1000,
                       .speculated_tokens = 7,
                       .response_tokens = 60,
                       .seconds = 2000000});
  const std::string text =
      metrics.Text({.running = 2, .waiting = 1, .connections = 9});
  for (const char* line :
       {"\nespalier_requests_total{endpoint=\"chat\",code=\"200\"} 2\n",
        "\nespalier_requests_total{endpoint=\"chat\",code=\"429\"} 1\n",
        "\nespalier_requests_cancelled_total 1\n",
        "\nespalier_searches_running 2\n", "\nespalier_searches_waiting 1\n",
        "\nespalier_connections 9\n", "\nespalier_search_tokens_total 1600\n",
        "\nespalier_response_tokens_total 100\n",
        "\nespalier_speculated_tokens_total 7\n",
        "\nespalier_search_seconds_bucket{le=\"0.1\"} 0\n",
        "\nespalier_search_seconds_bucket{le=\"0.25\"} 1\n",
        "\nespalier_search_seconds_bucket{le=\"120\"} 1\n",
        "\nespalier_search_seconds_bucket{le=\"+Inf\"} 2\n",
        "\nespalier_search_seconds_sum 2000000.200\n",
        "\nespalier_search_seconds_count 2\n",
        "\n# TYPE espalier_search_seconds histogram\n"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
}

}  // namespace
}  // namespace espalier
