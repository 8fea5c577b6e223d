#include "tests/fuzz/checkpoint_use.h"

#include <algorithm>
#include <vector>

#include "base/check.h"
#include "models/checkpoint/tensor_source.h"
#include "tests/fuzz/fuzz_target.h"

namespace espalier {

void UseCheckpoint(const std::string& path) {
  const auto source = TensorSource::Open(path);
  if (!source.ok()) return;
  const TrunkConfig& config = (*source)->config();
  const int layers = std::min(config.layers, 3);
  for (int i = 0; i < kTensorRoles; ++i) {
    const auto part = static_cast<TensorRole>(i);
    const TensorShape shape = ShapeOf(config, part);
    if (shape.rows == 0) continue;
    std::vector<float> row(static_cast<size_t>(shape.columns));
    for (int layer = 0; layer < (IsLayerTensor(part) ? layers : 1); ++layer) {
      (*source)->storage(part, layer);
      for (const int64_t at : {int64_t{0}, shape.rows / 2, shape.rows - 1}) {
        (*source)->Read(part, layer, at, at + 1, row.data());
      }
      (*source)->Release(part, layer);
    }
  }
}

void UseTokenizer(const Tokenizer& tokenizer, std::string_view more) {
  const int size = tokenizer.vocab_size();
  for (int32_t id = -1; id <= std::min(size, 4096); ++id) {
    Touch(tokenizer.TokenBytes(id));
  }
  const TextMarks& marks = tokenizer.marks();
  for (const int32_t mark : {marks.bos, marks.eos, marks.pad}) {
    ESP_CHECK(mark >= -1 && mark < size);
  }
  for (const std::string_view text :
       {std::string_view(""), std::string_view("The 2nd  Über-test,\n\tof 3½!"),
        std::string_view("a\xff\xc3(\0b<s><|end|>", 16), more.substr(0, 200)}) {
    for (const bool special : {false, true}) {
      const auto ids = tokenizer.Encode(text, special);
      if (!ids.ok()) continue;
      for (const int32_t id : *ids) ESP_CHECK(id >= 0 && id < size);
      Touch(tokenizer.DecodeText(*ids));
    }
    const auto ids = tokenizer.EncodeContinuation(text);
    if (ids.ok()) Touch(tokenizer.Decode(*ids));
  }
}

}  // namespace espalier
