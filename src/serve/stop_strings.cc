#include "src/serve/stop_strings.h"

#include <algorithm>

namespace espalier {

std::string_view BeforeStop(std::string_view text,
                            const std::vector<std::string>& stops) {
  size_t first_end = text.npos, cut = text.size();
  for (const std::string& stop : stops) {
    const size_t begin = text.find(stop);
    if (begin == text.npos) continue;
    const size_t end = begin + stop.size();
    if (end > first_end || (end == first_end && begin > cut)) continue;
    first_end = end;
    cut = begin;
  }
  return text.substr(0, cut);
}

size_t MayBecomeStop(std::string_view text,
                     const std::vector<std::string>& stops) {
  size_t longest = 0;
  for (const std::string& stop : stops) {
    size_t size = std::min(text.size(), stop.size() - 1);
    while (size > longest &&
           !text.ends_with(std::string_view(stop).substr(0, size))) {
      --size;
    }
    longest = std::max(longest, size);
  }
  return longest;
}

}  // namespace espalier
