// config.json and generation_config.json, cut at the first NUL.
#include "base/check.h"
#include "models/checkpoint/llama_config.h"
#include "models/checkpoint/tensor_source.h"
#include "models/checkpoint/trunk_config_json.h"
#include "tests/fuzz/fuzz_target.h"

namespace espalier {

ESPALIER_FUZZ(trunk_config) {
  const auto [text, generation] = CutAt(bytes, '\0');
  auto config = ParseTrunkConfig(text, "config.json");
  if (!config.ok()) {
    ESP_CHECK(config.status().message().find("config.json") !=
              absl::string_view::npos);
    return;
  }
  for (int i = 0; i < kTensorRoles; ++i) {
    const TensorShape shape = ShapeOf(*config, static_cast<TensorRole>(i));
    ESP_CHECK(shape.rows >= 0 && shape.columns >= 1);
  }
  ESP_CHECK(!ClassName(*config).empty());
  AddEndTokens(generation, "generation_config.json", *config).IgnoreError();
  const auto llama = ParseLlamaConfig(text, "config.json");
  if (!llama.ok()) return;
  const std::string written = LlamaConfigJson(*llama);
  const auto again = ParseLlamaConfig(written, "config.json");
  ESP_CHECK_OK(again.status());
  ESP_CHECK(LlamaConfigJson(*again) == written);
}

}  // namespace espalier
