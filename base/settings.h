// Refuses to continue work with other settings than those it was begun with.
//
//   ESP_RETURN_IF_ERROR(SettleConfig(work + "/config.json", settings,
//                                    "a training",
//                                    "give those, or another --work"));
//
// Stateless: thread-safe where no two calls settle the same file.
#ifndef ESPALIER_BASE_SETTINGS_H_
#define ESPALIER_BASE_SETTINGS_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "nlohmann/json_fwd.hpp"

namespace espalier {

// "seed is 2, was 1; width is 4, was -": the keys whose values differ in two
// objects, a missing one shown as "-". "" where none differs, or where either
// is no object. `word` stands before the earlier value.
std::string SettingsDifferences(const nlohmann::json& now,
                                const nlohmann::json& before,
                                std::string_view word = "was");

// Writes `settings` to `path` where there is no such file. Otherwise
// FailedPrecondition if the file holds others: "PATH: belongs to WHAT with
// other settings (seed is 2, was 1); REMEDY".
absl::Status SettleConfig(const std::string& path,
                          const nlohmann::json& settings, std::string_view what,
                          std::string_view remedy);

}  // namespace espalier

#endif  // ESPALIER_BASE_SETTINGS_H_
