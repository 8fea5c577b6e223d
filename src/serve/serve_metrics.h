// What a server counts, as Prometheus reads it.
//
// Thread-compatible.
#ifndef ESPALIER_SRC_SERVE_SERVE_METRICS_H_
#define ESPALIER_SRC_SERVE_SERVE_METRICS_H_

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "espalier/search_result.h"

namespace espalier {

class ServeMetrics {
 public:
  // Values that are read, not counted.
  struct Gauges {
    int64_t running = 0, waiting = 0, connections = 0;
  };

  // A reply of `code` (200, 404) was given at `endpoint` ("chat").
  void CountRequest(const std::string& endpoint, int code) {
    ++requests_[{endpoint, code}];
  }
  void CountCancelled() { ++cancelled_; }
  void CountSearch(const SearchResult& result);

  // In the text format of Prometheus, version 0.0.4.
  std::string Text(const Gauges& now) const;

 private:
  // Upper bounds of the histogram's buckets, in seconds.
  static constexpr std::array<double, 10> kBounds = {0.05, 0.1, 0.25, 0.5, 1,
                                                     2.5,  5,   10,   30,  120};

  std::map<std::pair<std::string, int>, int64_t> requests_;
  int64_t cancelled_ = 0, tokens_ = 0, response_tokens_ = 0;
  int64_t speculated_tokens_ = 0, searches_ = 0;
  double seconds_ = 0;
  std::array<int64_t, kBounds.size()> buckets_ = {};  // at most the bound
};

}  // namespace espalier

#endif  // ESPALIER_SRC_SERVE_SERVE_METRICS_H_
