// Streams a text to a terminal, token by token: only whole characters, and
// nothing that may turn out to begin a stop string.
//
//   StreamedText text({"Question:"});
//   std::fputs(text.Push(bytes).c_str(), stdout);    // for each token
//   std::fputs(text.Finish(size).c_str(), stdout);   // the text's bytes in all
//
// Output is valid UTF-8 (models/tokenizer/stream_decoder.h). Thread-compatible.
#ifndef ESPALIER_MODELS_PROMPT_STREAMED_TEXT_H_
#define ESPALIER_MODELS_PROMPT_STREAMED_TEXT_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/tokenizer/stream_decoder.h"

namespace espalier {

class StreamedText {
 public:
  explicit StreamedText(std::vector<std::string> stops = {})
      : stops_(std::move(stops)) {}

  // Adds `bytes`; returns what can be shown now.
  std::string Push(std::string_view bytes);
  // Returns the rest of a text of `size` bytes in total; what was pushed beyond
  // them is dropped.
  std::string Finish(size_t size);

 private:
  const std::vector<std::string> stops_;
  StreamDecoder decoder_;
  std::string held_;    // may begin a stop string
  size_t decoded_ = 0;  // bytes passed to the decoder
};

}  // namespace espalier

#endif  // ESPALIER_MODELS_PROMPT_STREAMED_TEXT_H_
