// A trained net as a Hugging Face folder: config.json, model.safetensors (bf16)
// and tokenizer.json.
#ifndef ESPALIER_SRC_LEARN_EXPORT_H_
#define ESPALIER_SRC_LEARN_EXPORT_H_

#include <string>

#include "absl/status/status.h"
#include "models/net/llama_net.h"

namespace espalier {

// Makes the folder if it is not there; every file is replaced atomically.
absl::Status ExportCheckpoint(const net::LlamaNet& net,
                              const std::string& tokenizer_json,
                              const std::string& folder);

}  // namespace espalier

#endif  // ESPALIER_SRC_LEARN_EXPORT_H_
