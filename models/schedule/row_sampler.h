// From hidden rows to drawn tokens: logits in bounded memory, then each row's
// distribution and its samples' draws, in parallel on the executor.
//
// Externally synchronised.
#ifndef ESPALIER_MODELS_SCHEDULE_ROW_SAMPLER_H_
#define ESPALIER_MODELS_SCHEDULE_ROW_SAMPLER_H_

#include <functional>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "base/executor.h"
#include "models/sampling/sampler.h"
#include "models/schedule/row.h"
#include "models/trunk/trunk.h"

namespace espalier {

class RowSampler {
 public:
  struct Output {
    absl::Status status;
    std::vector<Sampled> drawn;  // one per member
    std::vector<TokenLogprob> alternatives;
    float confidence = 0;            // with top_logprobs
    absl::Span<const float> hidden;  // the input row
  };

  RowSampler(Trunk& trunk, Executor& executor)
      : trunk_(trunk), executor_(executor) {}

  // A token to draw.
  struct Place {
    Row* row = nullptr;
    int ahead = 0;  // tokens that are guessed before it
  };
  // Draws the tokens at places[i] of all members of its row from hidden row i;
  // outputs are valid until the next call. hidden: [places, d], fp32.
  std::vector<Output>& Draw(const float* hidden,
                            absl::Span<const Place> places);

  struct TokenScore {
    absl::Status status;  // error if logits are NaN
    float logprob = 0;    // at temperature 1
    bool greedy = false;
  };
  // Scores tokens[i] after hidden row i; valid until the next call.
  absl::Span<const TokenScore> Score(const float* hidden,
                                     absl::Span<const int32_t> tokens);
  // Scores all `tokens` after one hidden row.
  absl::Span<const TokenScore> ScoreNext(const float* hidden,
                                         absl::Span<const int32_t> tokens);

 private:
  // Calls each(i, logits) for hidden rows 0 .. n-1, in parallel.
  void ForLogits(const float* hidden, int n,
                 const std::function<void(int, absl::Span<const float>)>& each);

  static TokenScore ScoreOne(const TokenDistribution& d, int32_t token);

  Trunk& trunk_;
  Executor& executor_;
  std::vector<float> logits_;
  std::vector<Output> outputs_;
  std::vector<TokenScore> scores_;
};

}  // namespace espalier

#endif  // ESPALIER_MODELS_SCHEDULE_ROW_SAMPLER_H_
