#include "base/foreign.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/text.h"

namespace espalier {

std::string ForeignBytes(std::string_view head, Wanted wanted) {
  if (head.starts_with("version https://git-lfs.github.com/spec/")) {
    return "this is the pointer that Git LFS leaves in place of the file: run "
           "\"git lfs pull\" in its repository, or download the file itself";
  }
  if (!head.starts_with("PAR1")) return "";
  if (wanted == Wanted::kModel) {
    return "this is a Parquet file, which holds data, not a model; name a "
           "folder with config.json and model.safetensors, or a GGUF file";
  }
  return "this is a Parquet file: convert it to JSON lines first, e.g. with "
         "python3 -c \"import pandas; "
         "pandas.read_parquet('IN.parquet').to_json('OUT.jsonl', "
         "orient='records', lines=True)\"";
}

std::string ForeignName(std::string_view name, Wanted wanted) {
  const bool model = wanted == Wanted::kModel;
  const std::string address_note =
      model ? "; URLs are not supported: download the model's files to a "
              "folder and name the folder"
            : "; URLs are not supported: download the file and name it";
  constexpr std::string_view kHub = "huggingface.co/";
  std::string_view repository = name;
  const bool address = name.find("://") != name.npos;
  if (const size_t at = name.find(kHub); at != name.npos) {
    repository = name.substr(at + kHub.size());
  } else if (name.starts_with("hf://")) {
    repository = name.substr(5);
  } else if (address) {
    return address_note;
  }
  constexpr std::string_view kDatasets = "datasets/";
  if (!model && (address || repository.size() < name.size()) &&
      repository.starts_with(kDatasets)) {
    repository.remove_prefix(kDatasets.size());
  }
  const auto slashes = std::count(repository.begin(), repository.end(), '/');
  if (slashes != 1 || repository.front() == '/' || repository.front() == '.' ||
      repository.front() == '~' || repository.back() == '/') {
    return address ? address_note : "";
  }
  const std::string_view last = repository.substr(repository.find('/') + 1);
  return absl::StrCat(
      "; if this is a repository of the Hugging Face hub, get its ",
      model ? "folder" : "files", " first:\n  hf download ",
      model ? "" : "--repo-type dataset ", AbslView(repository),
      " --local-dir ", AbslView(last), "\n  and then ",
      model ? "--model " : "--set ", AbslView(last), model ? "" : "/FILE");
}

}  // namespace espalier
