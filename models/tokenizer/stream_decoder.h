// Text from tokens as they arrive: a character whose bytes are spread over
// several tokens is held back until it is complete.
//
//   StreamDecoder decoder;
//   for (int32_t id : ids) Show(decoder.Push(tokenizer.TokenBytes(id)));
//   Show(decoder.Finish());
//
// Output is valid UTF-8, and the same however the bytes were divided: each
// longest run of bytes that begins a character but does not finish it, and each
// byte that begins none, becomes one U+FFFD (the practice recommended by the
// Unicode standard, section 3.9).
//
// Thread-compatible.
#ifndef ESPALIER_MODELS_TOKENIZER_STREAM_DECODER_H_
#define ESPALIER_MODELS_TOKENIZER_STREAM_DECODER_H_

#include <string>
#include <string_view>

namespace espalier {

class StreamDecoder {
 public:
  // Adds `bytes`; returns the characters that are complete now.
  std::string Push(std::string_view bytes);
  // Returns what was held back, as U+FFFD, and resets the decoder.
  std::string Finish();

 private:
  std::string held_;  // at most 3 bytes: the beginning of a character
};

}  // namespace espalier

#endif  // ESPALIER_MODELS_TOKENIZER_STREAM_DECODER_H_
