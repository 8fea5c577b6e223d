// The architectures of Hugging Face folders: their classes, the defaults of
// their configurations in transformers, and what their keys in config.json say
// about the network.
//
//   for (const HfClass& row : HfClasses()) Print(row.name);
//   ReadHfNetwork(in, Architecture::kGranite, config);
//
// A further architecture is a row of the table in hf_network.cc, with a
// function for the keys that only it has, and the tensor names in which it
// differs (hf_names.cc).
//
// Stateless functions: thread-safe.
#ifndef ESPALIER_MODELS_CHECKPOINT_HF_NETWORK_H_
#define ESPALIER_MODELS_CHECKPOINT_HF_NETWORK_H_

#include <string>
#include <string_view>

#include "absl/types/span.h"
#include "models/checkpoint/config_reader.h"
#include "models/checkpoint/trunk_config.h"

namespace espalier {

struct HfClass {
  std::string_view name, model_type;
  Architecture architecture;
  HeadKind head = HeadKind::kNone;
};

// A class of networks that also read images; its text part is a network here,
// with its keys under "text_config".
inline constexpr std::string_view kGemma3WithImages =
    "Gemma3ForConditionalGeneration";

// Causal language models first.
absl::Span<const HfClass> HfClasses();

// Reads all that describes the network from its embedding to its logits. Errors
// stay in `in`.
void ReadHfNetwork(ConfigReader& in, Architecture architecture,
                   TrunkConfig& config);

// The end token if config.json names none, -1: no default.
int DefaultEndToken(Architecture architecture);

}  // namespace espalier

#endif  // ESPALIER_MODELS_CHECKPOINT_HF_NETWORK_H_
