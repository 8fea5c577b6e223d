#include "src/base/config_file.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/reflection.h>
#include <google/protobuf/text_format.h>

#include "absl/strings/str_cat.h"
#include "src/base/config.pb.h"
#include "src/base/files.h"
#include "src/base/status_macros.h"

namespace espalier {
namespace {

// Keeps the first error; lines and columns count from 0.
class FirstError : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int line, google::protobuf::io::ColumnNumber column,
                const std::string& message) override {
    if (text.empty()) {
      text = absl::StrCat(line + 1, ":", column + 1, ": ", message);
    }
  }
  std::string text;
};

}  // namespace

absl::StatusOr<Config> ReadConfig(const std::string& path) {
  ESP_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  ConfigFile file;
  FirstError error;
  google::protobuf::TextFormat::Parser parser;
  parser.RecordErrorsTo(&error);
  if (!parser.ParseFromString(text, &file)) {
    return absl::InvalidArgumentError(absl::StrCat(
        path, ":", error.text,
        "; expected lines like  option { key: \"rounds\" value: \"3\" }"));
  }
  Config config{.name = file.name()};
  // In the order of the file; a map alone would let the last one win.
  const auto* reflection = file.GetReflection();
  const auto* field = file.GetDescriptor()->FindFieldByName("option");
  for (int i = 0; i < reflection->FieldSize(file, field); ++i) {
    const auto& entry = reflection->GetRepeatedMessage(file, field, i);
    const auto* d = entry.GetDescriptor();
    const std::string key =
        entry.GetReflection()->GetString(entry, d->FindFieldByNumber(1));
    const std::string value =
        entry.GetReflection()->GetString(entry, d->FindFieldByNumber(2));
    if (!config.options.emplace(key, value).second) {
      return absl::InvalidArgumentError(
          absl::StrCat(path, ": option ", key, " is given twice"));
    }
  }
  return config;
}

}  // namespace espalier
