#include "models/remote/endpoint.h"

#include <gtest/gtest.h>

#include <string>

namespace espalier {
namespace {

TEST(Endpoint, ReadsUrlsAndNames) {
  const auto one = ParseRemoteModel("http://localhost:8080");
  ASSERT_TRUE(one.ok()) << one.status();
  EXPECT_EQ(one->servers,
            std::vector<Endpoint>({{.host = "localhost", .port = 8080}}));
  EXPECT_EQ(one->name, "");
  const auto several = ParseRemoteModel(
      "https://a.example/proxy/v1/,http://[::1]:99#org/model#2");
  ASSERT_TRUE(several.ok()) << several.status();
  EXPECT_EQ(
      several->servers,
      std::vector<Endpoint>(
          {{.https = true, .host = "a.example", .port = 443, .path = "/proxy"},
           {.host = "::1", .port = 99}}));
  EXPECT_EQ(several->name, "org/model#2");
  EXPECT_EQ(several->servers[0].Url(), "https://a.example:443/proxy");
  EXPECT_EQ(several->servers[1].Url(), "http://[::1]:99");
}

TEST(Endpoint, TellsModelsBehindServersFromFolders) {
  EXPECT_TRUE(IsRemoteModel("http://a"));
  EXPECT_TRUE(IsRemoteModel("HTTPS://a"));
  EXPECT_EQ(ParseRemoteModel("HTTP://a:80")->servers[0].Url(), "http://a:80");
  EXPECT_TRUE(IsRemoteModel("https://a"));
  EXPECT_FALSE(IsRemoteModel("models/http"));
  EXPECT_FALSE(IsRemoteModel("ftp://a"));
  EXPECT_FALSE(IsRemoteModel(""));
}

TEST(Endpoint, RefusesWhatIsNoUrl) {
  for (const char* text :
       {"http://", "http:///v1", "http://:80", "http://a:0", "http://a:65536",
        "http://a:x", "http://a:80,", "http://a#", "http://[::1",
        "http://[::1]x", "http://a b", "http://a/\x01", "a,http://b",
        "http://a:", "http://a#m,http://b#m", "http://a#m,https://b", ""}) {
    EXPECT_FALSE(ParseRemoteModel(text).ok()) << text;
  }
}

// They would be recorded with the run.
TEST(Endpoint, RefusesKeysInUrlsWithoutRepeatingThem) {
  for (const char* text :
       {"http://user:secret@a", "http://secret@a:8", "http://a/?key=secret"}) {
    const auto model = ParseRemoteModel(text);
    ASSERT_FALSE(model.ok()) << text;
    const std::string message(model.status().message());
    EXPECT_NE(message.find("ESPALIER_API_KEY"), std::string::npos) << message;
    EXPECT_EQ(message.find("secret"), std::string::npos) << message;
  }
}

}  // namespace
}  // namespace espalier
