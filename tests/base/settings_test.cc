#include "base/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "nlohmann/json.hpp"

namespace espalier {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

TEST(SettingsTest, DifferencesNameBothValues) {
  const Json before = {{"seed", 1}, {"set", "a"}, {"old", true}};
  EXPECT_EQ(SettingsDifferences(before, before), "");
  EXPECT_EQ(
      SettingsDifferences({{"seed", 2}, {"set", "a"}, {"new", 3}}, before),
      "new is 3, was -; seed is 2, was 1; old is -, was true");
  EXPECT_EQ(SettingsDifferences({{"seed", 2}}, {{"seed", 1}}, "recorded"),
            "seed is 2, recorded 1");
}

TEST(SettingsTest, TheFirstCallDecides) {
  const std::string path = testing::TempDir() + "/settings_test.json";
  const Json settings = {{"seed", 1}};
  EXPECT_TRUE(SettleConfig(path, settings, "a run", "remove it").ok());
  EXPECT_TRUE(SettleConfig(path, settings, "a run", "remove it").ok());
  const absl::Status other =
      SettleConfig(path, {{"seed", 2}}, "a run", "remove it");
  EXPECT_EQ(other.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(other.message()),
              HasSubstr("belongs to a run with other settings (seed is 2, was "
                        "1); remove it"));
  ASSERT_TRUE(WriteFileAtomic(path, "not JSON").ok());
  EXPECT_THAT(
      std::string(SettleConfig(path, settings, "a run", "remove it").message()),
      HasSubstr("not a JSON object"));
}

}  // namespace
}  // namespace espalier
