// The one place where time is read.
//
// Nothing that decides what a search does may depend on time; what reports
// progress, measures speed or ends a run at a limit takes a Clock, and tests
// give it a ManualClock.
//
//   const Clock& clock = Clock::Real();
//   const double start = clock.Seconds();
//   ...
//   result.seconds = clock.Seconds() - start;
//
// Real is thread-safe; ManualClock is thread-compatible.
#ifndef ESPALIER_BASE_CLOCK_H_
#define ESPALIER_BASE_CLOCK_H_

#include <string>

namespace espalier {

class Clock {
 public:
  virtual ~Clock() = default;
  // Seconds since some fixed moment; never goes back.
  virtual double Seconds() const = 0;
  // The machine's monotonic clock.
  static const Clock& Real();
};

// A clock that stands still until it is told to move.
class ManualClock : public Clock {
 public:
  double Seconds() const override { return seconds_; }
  void Advance(double seconds) { seconds_ += seconds; }

 private:
  double seconds_ = 0;
};

// The date and time in UTC, as in "2026-11-21T01:31:26Z", for records and
// logs alone.
std::string UtcTimestamp();

}  // namespace espalier

#endif  // ESPALIER_BASE_CLOCK_H_
