// Finds where a text that grows token by token has to stop: at a delimiter or a
// stop string, which may span tokens. Each byte is examined a bounded number of
// times, however long the text.
//
//   StopMatcher matcher;
//   matcher.Add(rule, "He"); matcher.Add(rule, "llo\nthere");  // kDelimiter
//
// Externally synchronised; a copy continues from the same text.
#ifndef ESPALIER_MODELS_SCHEDULE_STOP_MATCHER_H_
#define ESPALIER_MODELS_SCHEDULE_STOP_MATCHER_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "models/backend/backend.h"

namespace espalier {

class StopMatcher {
 public:
  enum class Found : uint8_t { kNothing, kDelimiter, kStop };

  // Takes a token's bytes. If they complete several matches, the first to be
  // complete counts; of those that end together, a stop string, the longest.
  Found Add(const StopRule& rule, std::string_view bytes);
  // Bytes of the text: all, except after kStop, where those before the stop
  // string count.
  size_t text_bytes() const { return text_bytes_; }

 private:
  std::string tail_;  // last bytes, enough for any match to begin in
  size_t text_bytes_ = 0;
};

}  // namespace espalier

#endif  // ESPALIER_MODELS_SCHEDULE_STOP_MATCHER_H_
