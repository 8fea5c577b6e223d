#include "base/config_file.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

namespace espalier {
namespace {

class ConfigFileTest : public testing::Test {
 protected:
  absl::StatusOr<Config> Read(const std::string& text) {
    const std::string path =
        (std::filesystem::temp_directory_path() / "config_file_test").string();
    std::ofstream(path) << text;
    auto config = ReadConfig(path);
    std::remove(path.c_str());
    return config;
  }
};

TEST_F(ConfigFileTest, NameAndOptionsAreRead) {
  const auto config = Read(
      "# a comment\nname: \"x\"\noption { key: \"rounds\" value: \"3\" }\n"
      "option { key: \"set\" value: \"countdown:3\" }\n");
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->name, "x");
  EXPECT_EQ(config->options.at("rounds"), "3");
  EXPECT_EQ(config->options.at("set"), "countdown:3");
  EXPECT_TRUE(Read("").ok());
}

TEST_F(ConfigFileTest, MistakesAreNamedWithTheirPlace) {
  const auto broken = Read("name: \"x\"\noption { key: \"a\" \n");
  ASSERT_FALSE(broken.ok());
  EXPECT_NE(broken.status().message().find("config_file_test:"),
            std::string::npos);
  const auto unknown = Read("name: \"x\"\n\nrounds: 3\n");
  EXPECT_NE(unknown.status().message().find(":3:"), std::string::npos)
      << unknown.status();
  const auto twice = Read(
      "option { key: \"a\" value: \"1\" }\noption { key: \"a\" value: \"2\" }");
  EXPECT_NE(twice.status().message().find("twice"), std::string::npos)
      << twice.status();
  EXPECT_EQ(ReadConfig("/no/such/config").status().code(),
            absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace espalier
