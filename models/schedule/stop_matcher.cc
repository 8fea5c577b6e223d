#include "models/schedule/stop_matcher.h"

#include <algorithm>

namespace espalier {

StopMatcher::Found StopMatcher::Add(const StopRule& rule,
                                    std::string_view bytes) {
  const size_t before = text_bytes_ - tail_.size();  // bytes cut off tail_
  tail_ += bytes;
  text_bytes_ += bytes.size();
  size_t longest = rule.delimiter.size();
  size_t first_end = std::string::npos;
  const size_t at = tail_.find(rule.delimiter);
  Found found = Found::kNothing;
  if (!rule.delimiter.empty() && at != std::string::npos) {
    found = Found::kDelimiter;
    first_end = at + rule.delimiter.size();
  }
  size_t cut = 0;
  for (const std::string& stop : rule.stop_strings) {
    longest = std::max(longest, stop.size());
    const size_t begin = tail_.find(stop);
    if (begin == std::string::npos) continue;
    const size_t end = begin + stop.size();
    const bool longer = end == first_end && begin < cut;
    if (end < first_end || longer ||
        (end == first_end && found == Found::kDelimiter)) {
      found = Found::kStop;
      first_end = end;
      cut = begin;
    }
  }
  if (found == Found::kStop) text_bytes_ = before + cut;
  // Keep what a match may still begin in.
  if (longest > 0 && tail_.size() > longest - 1) {
    tail_.erase(0, tail_.size() - (longest - 1));
  } else if (longest == 0) {
    tail_.clear();
  }
  return found;
}

}  // namespace espalier
