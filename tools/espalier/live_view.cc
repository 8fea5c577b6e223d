#include "tools/espalier/live_view.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/clock.h"
#include "base/utf8.h"
#include "tools/espalier/show_tree.h"

namespace espalier {
namespace {

constexpr double kRedraw = 0.1;  // seconds; faster is not visible
constexpr double kLine = 1;      // seconds between lines in a log
constexpr int kBar = 12;         // width of the most visited step's bar

// `text` in exactly or (not `fill`) at most `columns`, cut between characters.
std::string Fit(const std::string& text, int columns, bool fill) {
  std::string out;
  int used = 0;
  for (size_t i = 0; i < text.size();) {
    const Utf8Char c = NextUtf8(std::string_view(text).substr(i));
    // Invalid UTF-8 and control characters must not reach a terminal.
    const bool shown = c.valid && !IsControl(c.code);
    const int wide = shown ? Utf8Columns(c.code) : 1;
    if (used + wide > columns) break;
    out += shown ? text.substr(i, c.size) : "?";
    i += c.size;
    used += wide;
  }
  if (fill) out.append(static_cast<size_t>(std::max(0, columns - used)), ' ');
  return out;
}

std::string CountsLine(const SearchSnapshot& shot) {
  const double rate =
      shot.seconds > 0 ? static_cast<double>(shot.tokens) / shot.seconds : 0;
  return absl::StrFormat("%d tokens  %.0f/s  %d nodes  %d simulations  %.1f s",
                         shot.tokens, rate, shot.nodes, shot.simulations,
                         shot.seconds);
}

std::string AnswerText(const SearchSnapshot& shot) {
  return shot.answer.empty() ? "no answer yet"
                             : "answer " + OneLine(shot.answer);
}

std::string FirstStep(const TreeNode& node, uint32_t most, int width) {
  // Methods without visit counts are shown by their draws.
  const uint32_t count = node.visits > 0 ? node.visits : node.draws;
  const auto bar = static_cast<size_t>(
      most > 0 ? (uint64_t{count} * kBar + most - 1) / most : 0);
  std::string tail = absl::StrFormat(
      " %5u %-12s ", count, std::string(std::min<size_t>(bar, kBar), '#'));
  absl::StrAppend(&tail, node.visits > 0
                             ? absl::StrFormat("Q %.2f", node.q)
                             : absl::StrCat("path ", Score(node.path_score)));
  const int room = std::max(8, width - static_cast<int>(tail.size()) - 2);
  return "  " + Fit(OneLine(node.text), std::min(room, 48), true) + tail;
}

// Columns and lines of the terminal on stderr.
void TerminalSize(int* width, int* height) {
  winsize size{};
  *width = 80;
  *height = 24;
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0) return;
  if (size.ws_col > 0) *width = size.ws_col;
  if (size.ws_row > 0) *height = size.ws_row;
}

bool CanRedraw() {
  const char* term = std::getenv("TERM");
  return isatty(STDERR_FILENO) != 0 && term != nullptr &&
         std::string(term) != "dumb";
}

}  // namespace

std::vector<std::string> LiveLines(const std::string& title,
                                   const SearchSnapshot& shot, int width,
                                   int height) {
  std::vector<std::string> lines = {absl::StrCat(title, "  ", CountsLine(shot)),
                                    AnswerText(shot)};
  // The end of the path matters most; half of the lines are for the first
  // steps.
  const int room = std::max(0, height - 3);
  const size_t steps =
      std::min(shot.steps.size(),
               static_cast<size_t>(room) - static_cast<size_t>(room / 2));
  for (size_t i = shot.steps.size() - steps; i < shot.steps.size(); ++i) {
    const TreeNode& step = shot.steps[i];
    lines.push_back(absl::StrCat(
        "  ", Fit(OneLine(step.text), std::clamp(width - 24, 8, 48), true), " ",
        LevelScores(step)));
  }
  if (!shot.first.empty()) lines.push_back("first steps");
  uint32_t most = 0;
  for (const TreeNode& node : shot.first) {
    most = std::max(most, node.visits > 0 ? node.visits : node.draws);
  }
  for (const TreeNode& node : shot.first) {
    lines.push_back(FirstStep(node, most, width));
  }
  if (lines.size() > static_cast<size_t>(std::max(1, height))) {
    lines.resize(static_cast<size_t>(std::max(1, height)));
  }
  for (std::string& line : lines) line = Fit(line, width, false);
  return lines;
}

LiveView::LiveView(size_t questions)
    : questions_(questions), terminal_(CanRedraw()), done_(questions) {}

void LiveView::Show(size_t index, const SearchSnapshot& shot) {
  const double now = Clock::Real().Seconds();
  if (index != first_ || now < next_) return;
  next_ = now + (terminal_ ? kRedraw : kLine);
  const std::string title =
      absl::StrCat("question ", index + 1, "/", questions_);
  if (!terminal_) {
    std::fprintf(stderr, "%s  %s  %s\n", title.c_str(),
                 CountsLine(shot).c_str(), AnswerText(shot).c_str());
    return;
  }
  int width = 0, height = 0;
  TerminalSize(&width, &height);
  // One write per picture, to avoid flicker: moves up to its first line, clears
  // each line to its end, then clears the rest of the previous picture.
  std::string out;
  if (drawn_ > 0) absl::StrAppend(&out, "\x1b[", drawn_, "A");
  // One line less than the screen has: the last line feed would scroll.
  const auto lines = LiveLines(title, shot, width - 1, height - 1);
  for (const std::string& line : lines) {
    absl::StrAppend(&out, "\r", line, "\x1b[K\n");
  }
  out += "\x1b[J";
  std::fputs(out.c_str(), stderr);
  std::fflush(stderr);
  drawn_ = static_cast<int>(lines.size());
}

void LiveView::Done(size_t index) {
  done_[index] = true;
  while (first_ < questions_ && done_[first_]) ++first_;
}

void LiveView::Clear() {
  if (drawn_ > 0) std::fprintf(stderr, "\x1b[%dA\r\x1b[J", drawn_);
  std::fflush(stderr);
  drawn_ = 0;
}

}  // namespace espalier
