// A reply with the outputs of a reward model's head, for heads of one and of
// several outputs, or with the probabilities of tokens.
#include <cmath>
#include <string>
#include <vector>

#include "base/check.h"
#include "models/remote/choice_scores.h"
#include "models/remote/pooled_scores.h"
#include "tests/fuzz/fuzz_target.h"

namespace espalier {
namespace {

constexpr int32_t kTag = 9;
const std::vector<int32_t> kText = {5, kTag, 6, 7, kTag};

void ReadReply(const std::string& body, PooledWay way, int labels) {
  const PooledHead head{.labels = labels, .tag = kTag};
  const auto reply = ReadPooledReply(body, way, labels);
  if (!reply.ok()) return;
  ESP_CHECK(!reply->rows.empty() && reply->cached_tokens >= 0);
  const auto rows = RowsOf({*reply}, {kText}, head);
  if (!rows.ok()) return;
  way.rows = *rows;
  for (const bool probabilities : {false, true}) {
    way.probabilities = probabilities;
    const auto logits = PooledLogits(*reply, way, head, kText, kText.size());
    if (!logits.ok()) continue;
    ESP_CHECK(logits->size() == static_cast<size_t>(labels));
    for (const float x : *logits) ESP_CHECK(!std::isnan(x));
  }
}

void ReadChoices(const std::string& body, ServerKind kind,
                 const std::vector<int32_t>& choices) {
  const std::vector<std::vector<int32_t>> texts = {{5, 6, 7}, {5, 8}};
  const auto reply = ReadChoiceReply(
      body, kind, {.texts = texts, .shared = 1, .choices = choices});
  if (!reply.ok()) return;
  ESP_CHECK(reply->size() == texts.size());
  for (const std::vector<float>& logprobs : *reply) {
    ESP_CHECK(logprobs.size() == choices.size());
    double sum = 0;
    for (const float logprob : logprobs) {
      ESP_CHECK(logprob <= 0);
      sum += std::exp(static_cast<double>(logprob));
    }
    ESP_CHECK(choices.size() == 1 || std::abs(sum - 1) < 0.03);
  }
}

}  // namespace

ESPALIER_FUZZ(pooled_reply) {
  const std::string body(bytes);
  for (const int labels : {1, 2, 3}) {
    ReadReply(body, {.path = "/pooling", .task = "token_classify"}, labels);
    ReadReply(body, {.path = "/classify"}, labels);
  }
  for (const ServerKind kind : {ServerKind::kVllm, ServerKind::kSglang}) {
    ReadChoices(body, kind, {9});
    ReadChoices(body, kind, {9, 10});
  }
}

}  // namespace espalier
