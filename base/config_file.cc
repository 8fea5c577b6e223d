#include "base/config_file.h"

#include "absl/strings/str_cat.h"
#include "base/config.pb.h"
#include "base/files.h"
#include "base/status_macros.h"
#include "base/text_proto.h"

namespace espalier {
absl::StatusOr<Config> ParseConfig(const std::string& text,
                                   const std::string& where) {
  ConfigFile file;
  ESP_RETURN_IF_ERROR(ParseTextProto(
      text, where, "option { key: \"rounds\" value: \"3\" }", file));
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
