// A reply with the outputs of a reward model's head, for heads of one and of
// several outputs.
#include <cmath>
#include <string>
#include <vector>

#include "base/check.h"
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

}  // namespace

ESPALIER_FUZZ(pooled_reply) {
  const std::string body(bytes);
  for (const int labels : {1, 2, 3}) {
    ReadReply(body, {.path = "/pooling", .task = "token_classify"}, labels);
    ReadReply(body, {.path = "/classify"}, labels);
  }
}

}  // namespace espalier
