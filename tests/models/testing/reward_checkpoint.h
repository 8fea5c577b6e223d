// Small random reward models in the folders that their authors publish: class
// names, tensor names, tokenizer with the format's own tags, chat template.
//
//   const RewardCheckpoint model = WriteRewardCheckpoint("qwen_prm", 1);
//   auto trunk = Trunk::Load(model.folder, {.part = TrunkPart::kBody});
//   const PlainNetwork body(model.plain);
//
// Written from the published descriptions of the formats and not from the code
// that reads them.
#ifndef ESPALIER_TESTS_MODELS_TESTING_REWARD_CHECKPOINT_H_
#define ESPALIER_TESTS_MODELS_TESTING_REWARD_CHECKPOINT_H_

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "nlohmann/json_fwd.hpp"

namespace espalier {

struct RewardCheckpoint {
  std::string folder;  // as published
  std::string plain;   // the same body as a plain causal language model
  // The head's tensors by name.
  std::map<std::string, std::vector<float>> head;
  int hidden_size = 0;
};

// The names of all formats that are written.
std::vector<std::string> RewardCheckpointNames();
// Without those that compare two models or write their verdicts.
std::vector<std::string> OneReadingNames();

// A checkpoint of the format `name`. Its weights are fp32. `tokenizer`: a
// folder whose tokenizer.json it has instead of RewardTokenizerJson.
RewardCheckpoint WriteRewardCheckpoint(const std::string& name, uint64_t seed,
                                       const std::string& tokenizer = "");

// A byte-level tokenizer.json with Qwen's splitting of words, the tags and
// choices of every format as single tokens, merges over line ends, and control
// tokens of ChatML and Llama 3.
nlohmann::json RewardTokenizerJson();

// Writes tokenizer.json and tokenizer_config.json with a chat template:
// "chatml", "qwen3", "llama3" or "" for none.
void WriteRewardTokenizer(const std::string& folder,
                          const std::string& chat_template);

}  // namespace espalier

#endif  // ESPALIER_TESTS_MODELS_TESTING_REWARD_CHECKPOINT_H_
