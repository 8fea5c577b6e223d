// A progress line with rate and time left.
//
// On a terminal one line is rewritten; elsewhere (a file, a CI log) a plain
// line is printed every few seconds. Output goes to stderr; stdout is for the
// program's result.
//
//   Progress progress("eval stories:middle", problems.size(), "problems");
//   for (...) { ...; progress.Add(1); }
//   progress.Finish();
//
//   eval stories:middle  120/500 problems  24 %  35.2/s  11 s left
//
// Work done before a resume counts in the percentage, but not in the rate or
// the time left:
//
//   progress.Set(trainer.steps_done(), trainer.steps_done());
//
// Thread-safe.
#ifndef ESPALIER_BASE_PROGRESS_H_
#define ESPALIER_BASE_PROGRESS_H_

#include <cstdint>
#include <functional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "base/clock.h"
#include "base/mutex.h"

namespace espalier {

// Where the line is written and how often. The defaults are for stderr.
struct ProgressOptions {
  // Receives each piece of output; if empty, stderr.
  std::function<void(const std::string&)> write;
  // Whether the line can be rewritten.
  bool terminal = StderrIsTerminal();
  const Clock* clock = &Clock::Real();  // must outlive the Progress
  // Seconds between updates. Ten per second look smooth; a log needs few.
  double terminal_interval = 0.1;
  double plain_interval = 5;

  static bool StderrIsTerminal();
};

class Progress {
 public:
  // `total`: number of `unit`s in all, 0 if unknown.
  Progress(std::string label, int64_t total, std::string unit,
           ProgressOptions options = {});
  // Calls Finish if that was not done.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Counts `n` more as done.
  void Add(int64_t n) ABSL_LOCKS_EXCLUDED(mutex_);
  // Sets how many are done in all, and how many of them before this run.
  void Set(int64_t done, int64_t earlier) ABSL_LOCKS_EXCLUDED(mutex_);
  // Shows `note` at the end of the line from now on ("loss 1.234").
  void SetNote(std::string note) ABSL_LOCKS_EXCLUDED(mutex_);
  // Prints the last line: the total and the time it took.
  void Finish() ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  void Show() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::string Line(double now) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Print(const std::string& line, bool last)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::string label_;
  const int64_t total_;
  const std::string unit_;
  const ProgressOptions options_;
  const double start_;
  Mutex mutex_;
  int64_t done_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t earlier_ ABSL_GUARDED_BY(mutex_) = 0;  // of done_
  std::string note_ ABSL_GUARDED_BY(mutex_);
  double next_ ABSL_GUARDED_BY(mutex_);
  size_t shown_ ABSL_GUARDED_BY(mutex_) = 0;  // bytes of the line on screen
  bool finished_ ABSL_GUARDED_BY(mutex_) = false;
};

// A duration for people: "0.4 s", "12 s", "3 min 20 s", "2 h 5 min".
std::string HumanSeconds(double seconds);

}  // namespace espalier

#endif  // ESPALIER_BASE_PROGRESS_H_
