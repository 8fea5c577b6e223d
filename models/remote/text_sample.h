// Tokens of texts that servers return without ids.
//
//   TextTokens taken =
//       TokensOfText(tokenizer, path, text, end_token, rule).value();
//   misses += taken.missed;
//
// The whole path and the sample are encoded together, since that is how the
// server reads them. If the result does not begin with the path's ids, the
// tokens of the path and the server's differ from here on (a miss), and the
// sample is encoded by itself.
//
// Stateless functions: thread-safe.
#ifndef ESPALIER_MODELS_REMOTE_TEXT_SAMPLE_H_
#define ESPALIER_MODELS_REMOTE_TEXT_SAMPLE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "models/remote/dialect.h"
#include "models/tokenizer/tokenizer.h"

namespace espalier {

// The text of a path as a server takes it: with the names of special tokens,
// without a token that begins texts, which servers put there themselves.
std::string PromptText(const Tokenizer& tokenizer,
                       absl::Span<const int32_t> path);

// The token that ends texts; -1 if the tokenizer names none.
int32_t EndToken(const Tokenizer& tokenizer);

struct TextTokens {
  std::vector<int32_t> tokens;
  // Those of the server where its pieces are these tokens one by one; otherwise
  // each piece's is spread over the bytes that it covers, so that the sum is
  // the server's. 0 for what the server does not tell.
  std::vector<float> logprobs;
  bool missed = false;
};

// `text`: whose end is told (TextEnd), and which has its stop. kEnd adds
// `end_token`.
absl::StatusOr<TextTokens> TokensOfText(const Tokenizer& tokenizer,
                                        absl::Span<const int32_t> path,
                                        const RemoteText& text,
                                        int32_t end_token);

// Puts the stop that ended a text of kStop at its end if it is missing there:
// RemoteText::stop, or else the first of `stops`.
void RestoreStop(const std::vector<std::string>& stops, RemoteText& text);

// Sets the end of a text of kUntold where the text, its pieces or the lack of
// `stops` tell it. False: ask how the text goes on without stops.
bool TellEnd(const std::vector<std::string>& stops, RemoteText& text);
// The same by `next`, the next token without stops: a stop begins there, or the
// text ends.
void TellEnd(const std::vector<std::string>& stops, const RemoteText& next,
             RemoteText& text);

}  // namespace espalier

#endif  // ESPALIER_MODELS_REMOTE_TEXT_SAMPLE_H_
