// The older files of a tokenizer, cut at the first two NULs:
// tokenizer_config.json (which may hold a chat template), vocab.json and
// merges.txt.
#include <filesystem>
#include <system_error>

#include "models/prompt/find_template.h"
#include "models/tokenizer/tokenizer.h"
#include "tests/fuzz/checkpoint_use.h"
#include "tests/fuzz/fuzz_target.h"

namespace espalier {

ESPALIER_FUZZ(tokenizer_folder) {
  const auto [config, rest] = CutAt(bytes, '\0');
  const auto [vocab, merges] = CutAt(rest, '\0');
  const std::string folder = FuzzFolder() + "/tokenizer";
  std::error_code error;
  std::filesystem::create_directory(folder, error);
  FuzzFile("tokenizer/tokenizer_config.json", config);
  FuzzFile("tokenizer/vocab.json", vocab);
  FuzzFile("tokenizer/merges.txt", merges);
  const auto tokenizer = Tokenizer::Load(folder);
  if (tokenizer.ok()) UseTokenizer(**tokenizer);
  FindTemplate(folder, "auto").status().IgnoreError();
}

}  // namespace espalier
