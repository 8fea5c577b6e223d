// Shows searches on a terminal while they run (`solve --watch`).
//
//   LiveView view(problems.size());
//   hooks.on_progress = [&](size_t i, const SearchSnapshot& shot) {
//     view.Show(i, shot);
//   };
//   ... view.Clear();  // before anything else is printed
//
// On a terminal the first unfinished search is redrawn continuously:
//
//   question 1/1   240 tokens  1180/s  31 nodes  12 simulations  0.2 s
//   answer 54
//     s 23+48=71                          path 0.98  step 0.99
//   first steps
//     s 23+48=71                             9 ########     Q 0.93
//     s 23+17=40                             3 ###          Q 0.21
//
// Elsewhere only the first of these lines is printed, with the answer, at most
// once a second. Output goes to stderr: stdout stays the program's result.
//
// Externally synchronised.
#ifndef ESPALIER_TOOLS_ESPALIER_LIVE_VIEW_H_
#define ESPALIER_TOOLS_ESPALIER_LIVE_VIEW_H_

#include <cstddef>
#include <string>
#include <vector>

#include "espalier/search_result.h"

namespace espalier {

// Draws a search in at most `height` lines of `width` columns.
std::vector<std::string> LiveLines(const std::string& title,
                                   const SearchSnapshot& shot, int width,
                                   int height);

class LiveView {
 public:
  explicit LiveView(size_t questions);
  ~LiveView() { Clear(); }
  LiveView(const LiveView&) = delete;
  LiveView& operator=(const LiveView&) = delete;

  void Show(size_t index, const SearchSnapshot& shot);
  // Question `index` is answered.
  void Done(size_t index);
  // Removes the picture from the screen.
  void Clear();

 private:
  const size_t questions_;
  const bool terminal_;
  std::vector<bool> done_;
  size_t first_ = 0;  // first unfinished question
  int drawn_ = 0;     // lines of the picture on the screen
  double next_ = 0;   // earliest time of the next line or picture
};

}  // namespace espalier

#endif  // ESPALIER_TOOLS_ESPALIER_LIVE_VIEW_H_
