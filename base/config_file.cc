#include "base/config_file.h"

#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/text_format.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/config.pb.h"
#include "base/files.h"
#include "base/status_macros.h"

namespace espalier {
namespace {

// Keeps the first error. protobuf counts lines and columns from 0.
class FirstError : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int line, google::protobuf::io::ColumnNumber column,
                const std::string& message) override {
    if (text.empty()) {
      // Without the full stop: the sentence goes on.
      text = absl::StrCat(line + 1, ":", column + 1, ": ",
                          absl::StripSuffix(message, "."));
    }
  }
  std::string text;
};

}  // namespace

absl::StatusOr<Config> ParseConfig(const std::string& text,
                                   const std::string& where) {
  ConfigFile file;
  FirstError error;
  google::protobuf::TextFormat::Parser parser;
  parser.RecordErrorsTo(&error);
  if (!parser.ParseFromString(text, &file)) {
    return absl::InvalidArgumentError(absl::StrCat(
        where, ":", error.text,
        "; expected lines like  option { key: \"rounds\" value: \"3\" }"));
  }
  Config config{
      .name = file.name(), .summary = file.summary(), .source = file.source()};
  for (const ConfigOption& option : file.option()) {
    if (!config.options.emplace(option.key(), option.value()).second) {
      return absl::InvalidArgumentError(
          absl::StrCat(where, ": option ", option.key(), " is given twice"));
    }
  }
  return config;
}

absl::StatusOr<Config> ReadConfig(const std::string& path) {
  ESP_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  return ParseConfig(text, path);
}

}  // namespace espalier
