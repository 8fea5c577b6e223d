#include "base/clock.h"

#include <chrono>
#include <ctime>

namespace espalier {
namespace {

class MonotonicClock : public Clock {
 public:
  double Seconds() const override {
    return std::chrono::duration<double>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
  }
};

}  // namespace

const Clock& Clock::Real() {
  static const MonotonicClock clock;
  return clock;
}

std::string UtcTimestamp() {
  const std::time_t now =
      std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm parts = {};
  gmtime_r(&now, &parts);
  char text[sizeof("9999-12-31T23:59:59Z")];
  std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

}  // namespace espalier
