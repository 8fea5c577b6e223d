// A format file of reward models, as people write them for models of their own.
#include <vector>

#include "base/check.h"
#include "models/reward/reward_format.h"
#include "models/reward/reward_head.h"
#include "tests/fuzz/fuzz_target.h"

namespace espalier {

ESPALIER_FUZZ(reward_format) {
  const std::string text(bytes);
  const auto format = ParseRewardFormat(text, "own.textproto", "own");
  if (!format.ok()) {
    // Errors name the file.
    ESP_CHECK(format.status().message().find("own.textproto") !=
              absl::string_view::npos);
    return;
  }
  // What a recorded run keeps of it says the same.
  const auto again = ParseRewardFormat(format->text, "kept", "own");
  ESP_CHECK_OK(again.status());
  ESP_CHECK(again->text == format->text);
  ESP_CHECK(again->labels == format->labels && again->tag == format->tag &&
            again->choices == format->choices && again->label == format->label);
  // Any outputs of its head give a number, between 0 and 1 where they are
  // squashed.
  constexpr int kMost = 64;
  if (format->labels > kMost) return;
  for (const double at : {-1e300, -40.0, 0.0, 0.5, 3.0, 1e300}) {
    std::vector<double> outputs;
    for (int i = 0; i < format->labels; ++i) outputs.push_back(i == 0 ? at : i);
    const double value = RewardValue(*format, outputs);
    ESP_CHECK(value == value);
    if (format->squash == RewardSquash::kNone) continue;
    const double score = SearchScore(*format, value);
    ESP_CHECK(score >= -1e-9 && score <= 1 + 1e-9);
    if (format->path_label >= 0) PathValue(*format, outputs);
  }
}

}  // namespace espalier
