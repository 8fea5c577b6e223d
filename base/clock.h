// The only place where time is read.
//
// No decision of a search may depend on time. Code that reports progress,
// measures speed or ends a run at a time limit takes a Clock, and tests pass a
// ManualClock.
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
  // Seconds since an arbitrary fixed moment; never decreases.
  virtual double Seconds() const = 0;
  // The machine's monotonic clock.
  static const Clock& Real();
};

// A clock that moves only by Advance.
class ManualClock : public Clock {
 public:
  double Seconds() const override { return seconds_; }
  void Advance(double seconds) { seconds_ += seconds; }

 private:
  double seconds_ = 0;
};

// The date and time in UTC, e.g. "2026-11-21T01:31:26Z", for records and logs
// only.
std::string UtcTimestamp();

}  // namespace espalier

#endif  // ESPALIER_BASE_CLOCK_H_
