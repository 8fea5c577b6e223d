#include "models/schedule/row_sampler.h"

#include <algorithm>

#include "base/check.h"

namespace espalier {
namespace {

// Rows whose logits are held at once: 64 x 151,936 floats are 39 MB.
constexpr int kLogitsRows = 64;
// Logits per chunk of work, about 15 us.
constexpr int kChunkLogits = 16384;

// Memory reused by all draws of a thread.
TokenDistribution& Scratch() {
  thread_local TokenDistribution distribution;
  return distribution;
}

}  // namespace

void RowSampler::ForLogits(
    const float* hidden, int n,
    const std::function<void(int, absl::Span<const float>)>& each) {
  const size_t d = static_cast<size_t>(trunk_.config().hidden_size);
  const int vocab = trunk_.config().vocab_size;
  const size_t v = static_cast<size_t>(vocab);
  logits_.resize(std::max(logits_.size(),
                          static_cast<size_t>(std::min(n, kLogitsRows)) * v));
  const int grain = std::max(1, kChunkLogits / vocab);
  for (int at = 0; at < n; at += kLogitsRows) {
    const int count = std::min(kLogitsRows, n - at);
    trunk_.Logits(hidden + static_cast<size_t>(at) * d, count, logits_.data(),
                  executor_);
    executor_.ParallelFor(count, grain, [&](int begin, int end) {
      for (int i = begin; i < end; ++i) {
        each(at + i, absl::MakeConstSpan(
                         logits_.data() + static_cast<size_t>(i) * v, v));
      }
    });
  }
}

std::vector<RowSampler::Output>& RowSampler::Draw(
    const float* hidden, absl::Span<const Place> places) {
  if (outputs_.size() < places.size()) outputs_.resize(places.size());
  const auto hidden_size = static_cast<size_t>(trunk_.config().hidden_size);
  for (size_t i = 0; i < places.size(); ++i) {
    outputs_[i].hidden = {hidden + i * hidden_size, hidden_size};
  }
  ForLogits(
      hidden, static_cast<int>(places.size()),
      [&](int i, absl::Span<const float> logits) {
        const auto [of, ahead] = places[static_cast<size_t>(i)];
        const Row& row = *of;
        const size_t at = row.tokens.size() + static_cast<size_t>(ahead);
        const GenerateRequest& request = row.job->generation;
        Output& out = outputs_[static_cast<size_t>(i)];
        out.drawn.clear();
        out.alternatives.clear();
        TokenDistribution& d = Scratch();
        out.status = d.Assign(logits, request.sampling, row.seen);
        if (!out.status.ok()) return;
        for (const Member& member : row.members) {
          out.drawn.push_back(d.Draw(RandomStream::UniformAt(member.key, at)));
        }
        if (request.top_alternatives > 0) {
          out.alternatives = d.Alternatives(request.top_alternatives);
        }
        if (request.top_logprobs > 0) {
          out.confidence = d.Confidence(request.top_logprobs);
        }
      });
  return outputs_;
}

RowSampler::TokenScore RowSampler::ScoreOne(const TokenDistribution& d,
                                            int32_t token) {
  return {.logprob = d.Logprob(token), .greedy = d.Draw(0).token == token};
}

absl::Span<const RowSampler::TokenScore> RowSampler::Score(
    const float* hidden, absl::Span<const int32_t> tokens) {
  scores_.resize(tokens.size());
  ForLogits(hidden, static_cast<int>(tokens.size()),
            [&](int at, absl::Span<const float> logits) {
              const size_t i = static_cast<size_t>(at);
              TokenDistribution& d = Scratch();
              const absl::Status status = d.Assign(logits, {.temperature = 0});
              scores_[i] = status.ok() ? ScoreOne(d, tokens[i])
                                       : TokenScore{.status = status};
            });
  return scores_;
}

absl::Span<const RowSampler::TokenScore> RowSampler::ScoreNext(
    const float* hidden, absl::Span<const int32_t> tokens) {
  scores_.resize(tokens.size());
  ForLogits(hidden, 1, [&](int, absl::Span<const float> logits) {
    TokenDistribution& d = Scratch();
    const absl::Status status = d.Assign(logits, {.temperature = 0});
    for (size_t i = 0; i < tokens.size(); ++i) {
      scores_[i] =
          status.ok() ? ScoreOne(d, tokens[i]) : TokenScore{.status = status};
    }
  });
  return scores_;
}

}  // namespace espalier
