#include "src/base/interrupt.h"

#include <csignal>
#include <cstdlib>

namespace espalier {
namespace {

// Only ever goes from false to true.
std::atomic<bool> stop_requested{false};

void OnInterrupt(int) {
  if (stop_requested.exchange(true)) std::_Exit(130);
}

}  // namespace

const std::atomic<bool>& StopRequested() {
  static const bool installed = [] {
    std::signal(SIGINT, OnInterrupt);
    std::signal(SIGTERM, OnInterrupt);
    return true;
  }();
  static_cast<void>(installed);
  return stop_requested;
}

}  // namespace espalier
