#include "models/prompt/streamed_text.h"

#include <algorithm>

namespace espalier {
namespace {

// Length of the longest suffix of `text` that is a prefix of `stop`.
size_t BegunBytes(std::string_view text, std::string_view stop) {
  for (size_t n = std::min(text.size(), stop.size()); n > 0; --n) {
    if (text.ends_with(stop.substr(0, n))) return n;
  }
  return 0;
}

}  // namespace

std::string StreamedText::Push(std::string_view bytes) {
  held_ += bytes;
  size_t begun = 0;
  for (const std::string& stop : stops_) {
    begun = std::max(begun, BegunBytes(held_, stop));
  }
  const size_t ready = held_.size() - begun;
  decoded_ += ready;
  std::string shown = decoder_.Push(std::string_view(held_).substr(0, ready));
  held_.erase(0, ready);
  return shown;
}

std::string StreamedText::Finish(size_t size) {
  const size_t rest = std::min(size - std::min(size, decoded_), held_.size());
  std::string shown = decoder_.Push(std::string_view(held_).substr(0, rest));
  held_.clear();
  return shown + decoder_.Finish();
}

}  // namespace espalier
