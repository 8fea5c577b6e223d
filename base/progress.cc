#include "base/progress.h"

#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace espalier {
namespace {

// At most three significant digits.
std::string HumanRate(double rate) {
  if (rate >= 99.95) return absl::StrFormat("%.0f/s", rate);
  if (rate >= 0.995) return absl::StrFormat("%.1f/s", rate);
  return absl::StrFormat("%.1f/min", rate * 60);
}

}  // namespace

bool ProgressOptions::StderrIsTerminal() { return ::isatty(STDERR_FILENO); }

std::string HumanSeconds(double seconds) {
  if (seconds < 9.95) return absl::StrFormat("%.1f s", seconds);
  const int64_t whole = std::llround(seconds);
  if (whole < 60) return absl::StrCat(whole, " s");
  if (whole < 3600) return absl::StrCat(whole / 60, " min ", whole % 60, " s");
  return absl::StrCat(whole / 3600, " h ", whole % 3600 / 60, " min");
}

Progress::Progress(std::string label, int64_t total, std::string unit,
                   ProgressOptions options)
    : label_(std::move(label)),
      total_(total),
      unit_(std::move(unit)),
      options_(std::move(options)),
      start_(options_.clock->Seconds()),
      next_(start_ + (options_.terminal ? 0 : options_.plain_interval)) {}

Progress::~Progress() { Finish(); }

void Progress::Add(int64_t n) {
  MutexLock lock(mutex_);
  done_ += n;
  Show();
}

void Progress::Set(int64_t done, int64_t earlier) {
  MutexLock lock(mutex_);
  done_ = done;
  earlier_ = earlier;
  Show();
}

void Progress::Show() {
  const double now = options_.clock->Seconds();
  if (finished_ || now < next_) return;
  next_ = now + (options_.terminal ? options_.terminal_interval
                                   : options_.plain_interval);
  Print(Line(now), /*last=*/false);
}

void Progress::SetNote(std::string note) {
  MutexLock lock(mutex_);
  note_ = std::move(note);
}

void Progress::Finish() {
  MutexLock lock(mutex_);
  if (finished_) return;
  finished_ = true;
  const double seconds = options_.clock->Seconds() - start_;
  std::string line = absl::StrCat(label_, "  ", done_);
  if (total_ > 0 && done_ != total_) absl::StrAppend(&line, "/", total_);
  absl::StrAppend(&line, " ", unit_);
  if (earlier_ > 0) absl::StrAppend(&line, ", ", earlier_, " of them earlier,");
  absl::StrAppend(&line, " in ", HumanSeconds(seconds));
  const int64_t now_done = done_ - earlier_;
  if (seconds > 0 && now_done > 0) {
    absl::StrAppend(&line, "  ", HumanRate(now_done / seconds));
  }
  if (!note_.empty()) absl::StrAppend(&line, "  ", note_);
  Print(line, /*last=*/true);
}

std::string Progress::Line(double now) const {
  std::string line = absl::StrCat(label_, "  ", done_);
  if (total_ > 0) absl::StrAppend(&line, "/", total_);
  absl::StrAppend(&line, " ", unit_);
  if (total_ > 0) {
    absl::StrAppend(&line, "  ", done_ * 100 / total_, " %");
  }
  const double seconds = now - start_;
  const int64_t now_done = done_ - earlier_;
  if (seconds > 0 && now_done > 0) {
    const double rate = now_done / seconds;
    absl::StrAppend(&line, "  ", HumanRate(rate));
    if (total_ > done_) {
      absl::StrAppend(&line, "  ", HumanSeconds((total_ - done_) / rate),
                      " left");
    }
  }
  if (!note_.empty()) absl::StrAppend(&line, "  ", note_);
  return line;
}

void Progress::Print(const std::string& line, bool last) {
  std::string out;
  if (options_.terminal) {
    out = absl::StrCat("\r", line);
    if (line.size() < shown_) out.append(shown_ - line.size(), ' ');
    shown_ = line.size();
    if (last) out.push_back('\n');
  } else {
    out = absl::StrCat(line, "\n");
  }
  if (options_.write) {
    options_.write(out);
    return;
  }
  std::fputs(out.c_str(), stderr);
  std::fflush(stderr);
}

}  // namespace espalier
