#include "src/engine/score_text.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace espalier {
namespace {

absl::Status CheckWindows(const Capabilities& can, int context, int stride,
                          size_t tokens) {
  if (!can.score_text) {
    return absl::FailedPreconditionError(
        "this model's backend cannot score given texts; use a model with "
        "weights, or one behind llama-server, vLLM or SGLang");
  }
  if (tokens < 2) {
    return absl::InvalidArgumentError(
        absl::StrCat("the text has ", tokens,
                     " tokens; expected at least two, as the "
                     "first has nothing before it"));
  }
  if (context < 2 || context > can.context_length) {
    return absl::InvalidArgumentError(absl::StrCat("a window of ", context,
                                                   " tokens: expected 2 to the "
                                                   "model's context length, ",
                                                   can.context_length));
  }
  if (stride < 1 || stride >= context) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a stride of ", stride, " tokens between windows: expected 1 to ",
        context - 1, ", less than the window"));
  }
  return absl::OkStatus();
}

// ln p of tokens [from, end), given [begin, from) as context. Empty if `stop`
// came first.
absl::StatusOr<std::vector<float>> ScoreWindow(Backend& backend,
                                               absl::Span<const int32_t> tokens,
                                               size_t begin, size_t from,
                                               size_t end,
                                               const std::atomic<bool>* stop) {
  const SeqId seen =
      backend.Extend(kEmptySeq, tokens.subspan(begin, from - begin));
  const auto given = tokens.subspan(from, end - from);
  backend.Submit(
      {.id = 1,
       .body = TextScoreRequest{.from = seen,
                                .continuations = {std::vector<int32_t>(
                                    given.begin(), given.end())}}});
  std::vector<Completion> done;
  while (done.empty() && !(stop != nullptr && stop->load())) {
    backend.Step(done);
  }
  if (done.empty()) backend.Cancel(1);
  backend.Release(seen);
  if (done.empty()) return std::vector<float>();
  ESP_RETURN_IF_ERROR(done[0].status);
  return std::move(done[0].texts[0].logprobs);
}

}  // namespace

double ScoredText::perplexity() const {
  return std::exp(-logprob / static_cast<double>(scored));
}

double ScoredText::bits_per_byte() const {
  return -logprob / std::log(2.0) /
         static_cast<double>(std::max<int64_t>(1, bytes));
}

absl::StatusOr<ScoredText> ScoreText(Backend& backend,
                                     const Tokenizer& tokenizer,
                                     absl::Span<const int32_t> tokens,
                                     const ScoreTextOptions& options) {
  const Capabilities& can = backend.capabilities();
  const int context =
      options.context > 0 ? options.context : can.context_length;
  const int stride = options.stride > 0 ? options.stride : context / 2;
  ESP_RETURN_IF_ERROR(CheckWindows(can, context, stride, tokens.size()));
  ScoredText out;
  out.tokens.push_back({tokens[0], std::numeric_limits<float>::quiet_NaN()});
  const auto window = static_cast<size_t>(context);
  size_t begin = 0;
  while (out.tokens.size() < tokens.size()) {
    const size_t from = out.tokens.size();
    const size_t end = std::min(begin + window, tokens.size());
    ESP_ASSIGN_OR_RETURN(
        const std::vector<float> logprobs,
        ScoreWindow(backend, tokens, begin, from, end, options.stop));
    if (logprobs.empty()) break;
    for (size_t i = from; i < end; ++i) {
      const float logprob = logprobs[i - from];
      out.tokens.push_back({tokens[i], logprob});
      out.logprob += logprob;
      ++out.scored;
      out.bytes += static_cast<int64_t>(tokenizer.TokenBytes(tokens[i]).size());
    }
    out.computed += static_cast<int64_t>(end - begin);
    if (options.progress) options.progress(static_cast<int64_t>(end));
    begin += static_cast<size_t>(stride);
  }
  return out;
}

}  // namespace espalier
