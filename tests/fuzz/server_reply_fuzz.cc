// A reply of a server of each kind, to each of the calls that it may answer;
// also as the header fields Retry-After and, in the second line, Date.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "base/check.h"
#include "models/remote/dialect.h"
#include "models/remote/retry_after.h"
#include "tests/fuzz/fuzz_target.h"

namespace espalier {
namespace {

// The seeds score this text.
const std::vector<int32_t> kReplyText = {5, 7, 9};

void CheckPositions(const std::vector<float>& logprobs,
                    const std::vector<std::vector<TokenLogprob>>& alternatives,
                    size_t count) {
  ESP_CHECK(logprobs.size() == count);
  ESP_CHECK(alternatives.size() == count);
  for (const float logprob : logprobs) {
    ESP_CHECK(logprob <= 0 || std::isnan(logprob));
  }
  for (const std::vector<TokenLogprob>& top : alternatives) {
    for (const TokenLogprob& other : top) {
      ESP_CHECK(other.token >= 0 && other.logprob <= 0);
    }
  }
}

void ReadSamples(const Dialect& dialect, const std::string& body, int n,
                 float temperature) {
  const auto reply =
      dialect.ReadGeneration(body, {.prompt = kReplyText,
                                    .n = n,
                                    .sampling = {.temperature = temperature},
                                    .top = 2});
  if (!reply.ok()) return;
  ESP_CHECK(reply->samples.size() == static_cast<size_t>(n));
  ESP_CHECK(reply->prompt_tokens >= 0 && reply->cached_tokens >= 0);
  for (const RemoteSample& sample : reply->samples) {
    for (const int32_t token : sample.tokens) ESP_CHECK(token >= 0);
    CheckPositions(sample.logprobs, sample.alternatives, sample.tokens.size());
    for (const TextPiece& piece : sample.text.pieces) {
      ESP_CHECK(piece.logprob <= 0);
    }
  }
}

void ReadScores(const Dialect& dialect, const std::string& body, int from,
                bool again) {
  const auto reply = dialect.ReadScore(
      body, {.text = kReplyText, .from = from, .top = 2, .again = again});
  if (!reply.ok()) return;
  ESP_CHECK(reply->prompt_tokens >= 0 && reply->cached_tokens >= 0);
  const size_t count = kReplyText.size() - static_cast<size_t>(from);
  ESP_CHECK(reply->greedy.size() == count);
  CheckPositions(reply->logprobs, reply->alternatives, count);
}

}  // namespace

ESPALIER_FUZZ(server_reply) {
  const std::string body(bytes);
  for (const ServerKind kind : {ServerKind::kLlamaServer, ServerKind::kVllm,
                                ServerKind::kSglang, ServerKind::kOpenAi}) {
    const auto dialect = MakeDialect(
        {.kind = kind, .model = "m", .vocab_size = 12, .plain_token = 3});
    for (int n = 1; n <= std::min(2, dialect->most_samples()); ++n) {
      ReadSamples(*dialect, body, n, 1);
    }
    ReadSamples(*dialect, body, 1, 0.5f);
    if (dialect->scores_texts()) ReadScores(*dialect, body, 1, false);
    ReadScores(*dialect, body, 2, false);
    ReadScores(*dialect, body, 2, true);
  }
  const auto [retry_after, date] = CutAt(bytes, '\n');
  const double seconds = RetryAfterSeconds(retry_after, date);
  ESP_CHECK(seconds >= 0 || seconds == -1);
}

}  // namespace espalier
