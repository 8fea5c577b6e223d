// The log-prob of each token of a text under a model.
//
//   ESP_ASSIGN_OR_RETURN(ScoredText text,
//                        ScoreText(*model.backend, *model.tokenizer, ids, {}));
//   text.perplexity();
//
// A text longer than the context is read in windows of `context` tokens, each
// `stride` tokens after the previous one. A window scores the tokens that
// earlier windows did not, so every token is scored once, with at least context
// - stride tokens before it (except the text's first ones):
//
//   tokens    0 ........................................... n
//   window 0  [scored scored scored]
//   window 1            [context    scored]        stride -->
//   window 2                     [context    scored]
#ifndef ESPALIER_SRC_ENGINE_SCORE_TEXT_H_
#define ESPALIER_SRC_ENGINE_SCORE_TEXT_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "models/backend/backend.h"
#include "models/tokenizer/tokenizer.h"

namespace espalier {

struct ScoreTextOptions {
  int context = 0;  // tokens of a window; 0: the model's context length
  int stride = 0;   // 0: half of it
  // Set to true to end early with what has been scored so far.
  const std::atomic<bool>* stop = nullptr;
  std::function<void(int64_t tokens)> progress;  // tokens scored; may be empty
};

struct ScoredToken {
  int32_t token = 0;
  float logprob = 0;  // ln p; NaN for the first token, which has no context
};

struct ScoredText {
  std::vector<ScoredToken> tokens;
  int64_t scored = 0;    // tokens with a logprob
  int64_t bytes = 0;     // of those tokens
  int64_t computed = 0;  // tokens run through the model, overlaps included
  double logprob = 0;    // sum over those tokens

  // exp(- mean logprob).
  double perplexity() const;
  double bits_per_byte() const;
};

// InvalidArgument for fewer than two tokens, and for a window longer than the
// context.
absl::StatusOr<ScoredText> ScoreText(Backend& backend,
                                     const Tokenizer& tokenizer,
                                     absl::Span<const int32_t> tokens,
                                     const ScoreTextOptions& options);

}  // namespace espalier

#endif  // ESPALIER_SRC_ENGINE_SCORE_TEXT_H_
