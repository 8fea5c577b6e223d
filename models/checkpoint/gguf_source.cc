#include "models/checkpoint/gguf_source.h"

#include "absl/strings/str_cat.h"

namespace espalier {

absl::StatusOr<std::unique_ptr<TensorSource>> OpenGguf(
    const std::string& path) {
  return absl::UnimplementedError(
      absl::StrCat(path,
                   ": expected a Hugging Face folder, found a GGUF file; use "
                   "the folder it was made from"));
}

}  // namespace espalier
