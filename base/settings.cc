#include "base/settings.h"

#include <filesystem>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/files.h"
#include "base/json_text.h"
#include "base/parse_json.h"
#include "base/status_macros.h"
#include "base/text.h"
#include "nlohmann/json.hpp"

namespace espalier {

std::string SettingsDifferences(const nlohmann::json& now,
                                const nlohmann::json& before,
                                std::string_view word) {
  if (!now.is_object() || !before.is_object()) return "";
  const auto text = [](const nlohmann::json& object, const std::string& key) {
    return object.contains(key) ? JsonText(object[key]) : std::string("-");
  };
  std::vector<std::string> differences;
  const auto compare = [&](const std::string& key) {
    const std::string a = text(now, key), b = text(before, key);
    if (a == b) return;
    differences.push_back(
        absl::StrCat(key, " is ", a, ", ", AbslView(word), " ", b));
  };
  for (const auto& [key, value] : now.items()) compare(key);
  for (const auto& [key, value] : before.items()) {
    if (!now.contains(key)) compare(key);
  }
  return absl::StrJoin(differences, "; ");
}

absl::Status SettleConfig(const std::string& path,
                          const nlohmann::json& settings, std::string_view what,
                          std::string_view remedy) {
  if (!std::filesystem::exists(path)) {
    return WriteFileAtomic(path, JsonText(settings, 1) + "\n");
  }
  ESP_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  const auto before = ParseJsonOrNull(text);
  std::string differences = SettingsDifferences(settings, before);
  if (before.is_object() && differences.empty()) return absl::OkStatus();
  if (differences.empty()) differences = "it is not a JSON object";
  return absl::FailedPreconditionError(absl::StrCat(
      path, ": belongs to ", AbslView(what), " with other settings (",
      differences, "); ", AbslView(remedy)));
}

}  // namespace espalier
