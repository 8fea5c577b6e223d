// Reads Hugging Face's tokenizer.json: BPE over bytes (byte_bpe.h) and BPE over
// characters with "▁" for a space (metaspace.h). Unsupported features are
// rejected by name.
#ifndef ESPALIER_MODELS_TOKENIZER_TOKENIZER_JSON_H_
#define ESPALIER_MODELS_TOKENIZER_TOKENIZER_JSON_H_

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "models/tokenizer/tokenizer.h"
#include "models/tokenizer/tokenizer_config.h"
#include "nlohmann/json_fwd.hpp"

namespace espalier {

struct ByteBpeSpec;

// `text` is the content of a tokenizer.json. `config` says whether a text
// begins with a token, else the file's post_processor does.
absl::StatusOr<std::unique_ptr<Tokenizer>> TokenizerFromJson(
    std::string_view text, const TokenizerConfig& config);

// Parts of the file that also occur in the older vocab.json and merges.txt.
absl::Status ReadVocab(const nlohmann::json& vocab, ByteBpeSpec& spec);
absl::Status AddMerge(std::string_view line, ByteBpeSpec& spec);

}  // namespace espalier

#endif  // ESPALIER_MODELS_TOKENIZER_TOKENIZER_JSON_H_
