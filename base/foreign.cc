#include "base/foreign.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/text.h"

namespace espalier {
namespace {

struct Packed {
  std::string_view magic;  // the file's first bytes
  const char* what;
  const char* unpack;  // a command
};

constexpr Packed kPacked[] = {
    {{"PK\x03\x04", 4}, "a zip archive", "unzip FILE"},
    {{"\x28\xB5\x2F\xFD", 4}, "packed by zstd", "zstd -d FILE"},
    {{"\xFD"
      "7zXZ\0",
      6},
     "packed by xz",
     "xz -d FILE"},
    {{"BZh", 3}, "packed by bzip2", "bzip2 -d FILE"},
    {{"7z\xBC\xAF\x27\x1C", 6}, "a 7z archive", "7z x FILE"},
};

// What to do about a packed file or an Arrow file; "" for any other.
std::string PackedNote(std::string_view head) {
  for (const Packed& packed : kPacked) {
    if (!head.starts_with(packed.magic)) continue;
    return absl::StrCat("this file is ", packed.what,
                        "; only gzip is read as it is: unpack it first (",
                        packed.unpack, ")");
  }
  // An Arrow stream, which the library datasets writes, begins with the length
  // of its schema.
  constexpr std::string_view kStream("\xFF\xFF\xFF\xFF", 4);
  if (!head.starts_with("ARROW1") && !head.starts_with(kStream)) return "";
  return "this is an Arrow file: convert it to JSON lines first, e.g. with "
         "python3 -c \"import datasets; "
         "datasets.Dataset.from_file('IN.arrow').to_json('OUT.jsonl')\"";
}

}  // namespace

std::string ForeignBytes(std::string_view head, Wanted wanted) {
  if (head.starts_with("version https://git-lfs.github.com/spec/")) {
    return "this is the pointer that Git LFS leaves in place of the file: run "
           "\"git lfs pull\" in its repository, or download the file itself";
  }
  if (!head.starts_with("PAR1")) {
    return wanted == Wanted::kData ? PackedNote(head) : "";
  }
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
  constexpr std::string_view kShortHub = "hf.co/";
  constexpr std::string_view kShortAddress = "://hf.co/";
  std::string_view repository = name;
  const bool address = name.find("://") != name.npos;
  if (const size_t at = name.find(kHub); at != name.npos) {
    repository = name.substr(at + kHub.size());
  } else if (name.starts_with(kShortHub) ||
             name.find(kShortAddress) != name.npos) {
    repository = name.substr(name.find(kShortHub) + kShortHub.size());
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
