#include "models/remote/server_key.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

namespace espalier {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

using Environment = std::map<std::string, std::string>;

absl::StatusOr<std::string> Key(const Endpoint& server,
                                const Environment& variables) {
  return KeyOf(server, [&variables](const std::string& name) {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

TEST(ServerKey, NamesTheMostSpecificVariableFirst) {
  EXPECT_THAT(
      KeyVariables({.host = "api.gpu-1.example", .port = 8000}),
      ElementsAre("ESPALIER_API_KEY_API_GPU_1_EXAMPLE_8000",
                  "ESPALIER_API_KEY_API_GPU_1_EXAMPLE", "ESPALIER_API_KEY"));
  EXPECT_THAT(KeyVariables({.https = true, .host = "::1", .port = 443}),
              ElementsAre("ESPALIER_API_KEY___1_443", "ESPALIER_API_KEY___1",
                          "ESPALIER_API_KEY"));
  EXPECT_EQ(KeyVariables({.host = "n\xC3\xA4h", .port = 80})[1],
            "ESPALIER_API_KEY_N__H");
}

TEST(ServerKey, TheMostSpecificOneWins) {
  const Endpoint one = {.host = "One", .port = 8000};
  const Endpoint two = {.host = "two", .port = 8000};
  Environment variables = {{"ESPALIER_API_KEY", "all"}};
  EXPECT_EQ(Key(one, variables).value(), "all");
  variables["ESPALIER_API_KEY_ONE"] = "host";
  EXPECT_EQ(Key(one, variables).value(), "host");
  EXPECT_EQ(Key(two, variables).value(), "all");
  variables["ESPALIER_API_KEY_ONE_8000"] = "port";
  EXPECT_EQ(Key(one, variables).value(), "port");
  EXPECT_EQ(Key({.host = "one", .port = 80}, variables).value(), "host");
  variables.erase("ESPALIER_API_KEY");
  EXPECT_EQ(Key(two, variables).value(), "");
}

TEST(ServerKey, AnEmptyOneKeepsTheOthersFromAHost) {
  const Environment variables = {{"ESPALIER_API_KEY", "all"},
                                 {"ESPALIER_API_KEY_ONE", " "}};
  EXPECT_EQ(Key({.host = "one", .port = 1}, variables).value(), "");
  EXPECT_EQ(Key({.host = "two", .port = 1}, variables).value(), "all");
}

// As `cat` of a file may leave it.
TEST(ServerKey, IsTakenWithoutTheLineEndAroundIt) {
  EXPECT_EQ(
      Key({.host = "a", .port = 1}, {{"ESPALIER_API_KEY", " sk-1\n"}}).value(),
      "sk-1");
}

TEST(ServerKey, RefusesWhatNoHeaderHoldsWithoutRepeatingIt) {
  for (const char* bad : {"a\r\nX-More: 1", "x1 y2", "\xC3\xA4", "a\x7f"}) {
    const auto key =
        Key({.host = "one", .port = 1},
            {{"ESPALIER_API_KEY", "fine"}, {"ESPALIER_API_KEY_ONE", bad}});
    ASSERT_FALSE(key.ok()) << bad;
    const std::string message(key.status().message());
    EXPECT_THAT(message, HasSubstr("ESPALIER_API_KEY_ONE has"));
    EXPECT_THAT(message, Not(HasSubstr(bad)));
  }
}

TEST(ServerKey, MessagesNameEveryPlace) {
  EXPECT_EQ(KeyPlace({.host = "one", .port = 80}),
            "the first of the environment variables ESPALIER_API_KEY_ONE_80, "
            "ESPALIER_API_KEY_ONE and ESPALIER_API_KEY that is set");
}

}  // namespace
}  // namespace espalier
