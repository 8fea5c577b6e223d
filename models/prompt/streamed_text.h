// A text on its way to a terminal, token by token: never half a character, and
// nothing that may turn out to be the beginning of a stop string.
//
//   StreamedText text({"Question:"});
//   std::fputs(text.Push(bytes).c_str(), stdout);    // for each token
//   std::fputs(text.Finish(size).c_str(), stdout);   // the text's bytes in all
//
// What is shown is valid UTF-8 (models/tokenizer/stream_decoder.h).
// Thread-compatible.
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

  // What can be shown now that `bytes` have come.
  std::string Push(std::string_view bytes);
  // The rest of a text of `size` bytes in all; what was pushed beyond them is
  // dropped.
  std::string Finish(size_t size);

 private:
  const std::vector<std::string> stops_;
  StreamDecoder decoder_;
  std::string held_;    // may begin a stop string
  size_t decoded_ = 0;  // bytes that went to the decoder
};

}  // namespace espalier

#endif  // ESPALIER_MODELS_PROMPT_STREAMED_TEXT_H_
