// Safetensors files: what was read can be written and read back equal.
#include <cstring>
#include <vector>

#include "base/check.h"
#include "models/checkpoint/safetensors.h"
#include "tests/fuzz/fuzz_target.h"

namespace espalier {

ESPALIER_FUZZ(safetensors) {
  const auto file = SafetensorsFile::Open(FuzzFile("a.safetensors", bytes));
  if (!file.ok()) return;
  std::vector<NamedTensor> tensors;
  for (const auto& [name, info] : file->tensors()) {
    const auto data = file->data(name);
    Touch({reinterpret_cast<const char*>(data.data()), data.size()});
    file->Floats(name).status().IgnoreError();
    tensors.push_back({name, info.dtype, info.shape, data});
  }
  const std::string path = FuzzFolder() + "/b.safetensors";
  const absl::Status written =
      WriteSafetensors(path, tensors, file->metadata());
  ESP_CHECK_OK(written);
  const auto again = SafetensorsFile::Open(path);
  ESP_CHECK_OK(again.status());
  ESP_CHECK(again->metadata() == file->metadata());
  ESP_CHECK(again->tensors().size() == file->tensors().size());
  for (const NamedTensor& tensor : tensors) {
    const auto found = again->tensors().find(tensor.name);
    ESP_CHECK(found != again->tensors().end());
    ESP_CHECK(found->second.dtype == tensor.dtype);
    ESP_CHECK(found->second.shape == tensor.shape);
    const auto data = again->data(tensor.name);
    ESP_CHECK(data.size() == tensor.data.size());
    ESP_CHECK(data.empty() ||
              std::memcmp(data.data(), tensor.data.data(), data.size()) == 0);
  }
  for (const auto& [name, info] : file->tensors()) file->Release(name);
}

}  // namespace espalier
