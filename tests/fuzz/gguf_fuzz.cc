// GGUF files: the header, the network's configuration, the tensors, the
// tokenizer and the chat template.
#include <algorithm>
#include <vector>

#include "base/check.h"
#include "models/checkpoint/gguf.h"
#include "models/checkpoint/gguf_blocks.h"
#include "models/prompt/find_template.h"
#include "models/tokenizer/tokenizer.h"
#include "tests/fuzz/checkpoint_use.h"
#include "tests/fuzz/fuzz_target.h"

namespace espalier {
namespace {

// Every value of a key, as every type.
void ReadValue(const GgufValue& value) {
  Touch(value.Describe());
  const size_t most = std::min<size_t>(value.size(), 64);
  for (size_t i = 0; i < most; ++i) {
    value.Whole(i);
    value.Number(i);
    value.Flag(i);
    if (const auto text = value.Text(i)) Touch(*text);
  }
  ESP_CHECK(!value.Whole(value.size()) && !value.Number(value.size()) &&
            !value.Flag(value.size()) && !value.Text(value.size()));
}

void ReadTensor(const GgufFile& file, const GgufTensor& tensor) {
  const std::span<const std::byte> data = file.data(tensor);
  Touch({reinterpret_cast<const char*>(data.data()), data.size()});
  const GgufBlock block = BlockOf(static_cast<uint32_t>(tensor.type));
  ESP_CHECK(block.elements > 0);
  std::vector<float> values(static_cast<size_t>(block.elements));
  ReadGgufBlocks(tensor.type, data.data(), block.elements, values.data());
  ESP_CHECK(tensor.rows() * tensor.columns() / block.elements * block.bytes ==
            static_cast<int64_t>(tensor.bytes));
}

}  // namespace

ESPALIER_FUZZ(gguf) {
  const std::string path = FuzzFile("model.gguf", bytes);
  const auto file = GgufFile::Open(path);
  if (!file.ok()) return;
  for (const char* key :
       {"general.architecture", "general.alignment", "llama.block_count",
        "tokenizer.ggml.tokens", "tokenizer.ggml.token_type",
        "tokenizer.ggml.scores", "tokenizer.ggml.add_bos_token"}) {
    if (const GgufValue* value = file->Find(key)) ReadValue(*value);
  }
  for (const auto& [name, tensor] : file->tensors()) ReadTensor(*file, tensor);
  UseCheckpoint(path);
  const auto tokenizer = Tokenizer::Load(path);
  if (tokenizer.ok()) UseTokenizer(**tokenizer);
  FindTemplate(path, "auto").status().IgnoreError();
}

}  // namespace espalier
