#include "search/presets.h"

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/config_file.h"
#include "base/status_macros.h"
#include "base/text.h"
#include "search/algorithm.h"

namespace espalier {
namespace {

std::string SpecOf(const std::string& method, const OptionMap& options) {
  std::string spec = method;
  for (const auto& [name, value] : options) {
    absl::StrAppend(&spec, ":", name, "=", value);
  }
  return spec;
}

}  // namespace

std::string Preset::Spec() const { return SpecOf(method, options); }

const std::vector<Preset>& ListPresets() {
  static const auto* presets = [] {
    auto* all = new std::vector<Preset>();
    for (const PresetFile& file : PresetFiles()) {
      std::string text(file.text);
      auto config =
          ParseConfig(text, absl::StrCat("preset ", AbslView(file.name)));
      ESP_CHECK_OK(config.status());  // a test parses them all
      all->push_back({.name = std::string(file.name),
                      .method = std::move(config->name),
                      .options = std::move(config->options),
                      .summary = std::move(config->summary),
                      .source = std::move(config->source),
                      .text = std::move(text)});
    }
    return all;
  }();
  return *presets;
}

absl::StatusOr<const Preset*> FindPreset(std::string_view name) {
  std::vector<std::string> names;
  for (const Preset& preset : ListPresets()) {
    if (preset.name == name) return &preset;
    names.push_back(preset.name);
  }
  return absl::NotFoundError(UnknownName("preset", name, names));
}

absl::StatusOr<std::string> ReadMethodFile(const std::string& spec) {
  constexpr std::string_view kEnding = ".textproto";
  const size_t ending = spec.find(kEnding);
  if (ending == std::string::npos) return spec;
  const std::string path = spec.substr(0, ending + kEnding.size());
  OptionMap options;
  std::string unused;
  ESP_RETURN_IF_ERROR(ParseMethod(spec.substr(path.size()), &unused, &options));
  ESP_ASSIGN_OR_RETURN(const Config config, ReadConfig(path));
  if (config.name.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        path, ": no method is named; expected a line like  name: \"beam\""));
  }
  for (const auto& [name, value] : config.options) {
    if (absl::StrCat(name, value).find(':') == std::string::npos) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": option ", name, "=", value,
                     ": names and values of options must not contain a colon"));
  }
  options.insert(config.options.begin(), config.options.end());
  return SpecOf(config.name, options);
}

}  // namespace espalier
