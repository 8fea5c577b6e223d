#include "base/interrupt.h"

#include <pthread.h>

#include <csignal>
#include <cstdlib>
#include <initializer_list>
#include <thread>

#include "base/clock.h"

namespace espalier {
namespace {

// Both only ever change from false to true.
std::atomic<bool> stop_requested{false};
std::atomic<bool> stop_is_heeded{false};  // StopRequested was called

constexpr double kOneSignal = 0.25;  // seconds

// Ends the program by the signal's default action.
[[noreturn]] void EndBy(int signal) {
  std::signal(signal, SIG_DFL);
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, signal);
  pthread_sigmask(SIG_UNBLOCK, &only, nullptr);
  std::raise(signal);
  std::_Exit(128 + signal);
}

void WaitForSignals(const sigset_t& signals) {
  double first = 0;
  while (true) {
    int signal = 0;
    if (sigwait(&signals, &signal) != 0) continue;
    if (!stop_is_heeded.load()) EndBy(signal);
    const double now = Clock::Real().Seconds();
    if (!stop_requested.exchange(true)) {
      first = now;
    } else if (now - first >= kOneSignal) {
      std::_Exit(130);
    }
  }
}

bool IsIgnored(int signal) {
  struct sigaction now = {};
  sigaction(signal, nullptr, &now);
  return now.sa_handler == SIG_IGN;
}

}  // namespace

void TakeSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    // A shell without job control makes background programs ignore SIGINT, but
    // an explicit `kill -INT` should still stop them.
    if (signal != SIGHUP || !IsIgnored(signal)) sigaddset(&signals, signal);
  }
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  // Exceeding the file size limit (ulimit -f) is then reported as a failed
  // write.
  std::signal(SIGXFSZ, SIG_IGN);
  std::thread([signals] { WaitForSignals(signals); }).detach();
}

const std::atomic<bool>& StopRequested() {
  stop_is_heeded.store(true);
  return stop_requested;
}

}  // namespace espalier
