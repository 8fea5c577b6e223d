#include "base/parse_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "nlohmann/json.hpp"

namespace espalier {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

std::string Error(std::string_view text) {
  return std::string(ParseJson(text, "f.json:3").status().message());
}

std::string Nested(int depth) {
  return std::string(static_cast<size_t>(depth), '[') +
         std::string(static_cast<size_t>(depth), ']');
}

TEST(ParseJsonTest, WhatTheGrammarAllowsIsReadAsTheLibraryReadsIt) {
  for (const char* text :
       {R"({"a": [1, -2, 2.5e3, true, false, null, "ü\u00e9\n"]})", "[]", "7",
        "\"x\"", R"({"a": {"a": {"a": 1}}})", "18446744073709551615"}) {
    const auto value = ParseJson(text, "f");
    ASSERT_TRUE(value.ok()) << value.status();
    EXPECT_EQ(*value, Json::parse(text)) << text;
  }
}

TEST(ParseJsonTest, FaultsAreNamedWithTheirPlace) {
  EXPECT_THAT(Error(R"({"a": })"), HasSubstr("f.json:3: the record is not JSON "
                                             "at column 7"));
  EXPECT_THAT(Error(R"({"a": 1, "a": 2})"), HasSubstr("gives \"a\" twice"));
  EXPECT_THAT(Error("\"\xff\""), HasSubstr("byte 2 is not UTF-8 (0xff)"));
  EXPECT_THAT(Error(Nested(129)), HasSubstr("nests deeper than 128"));
  EXPECT_EQ(Error(Nested(128)), "");
  EXPECT_THAT(Error(""), HasSubstr("is not JSON"));
  EXPECT_THAT(std::string(ParseJsonObject("[1]", "f").status().message()),
              HasSubstr("expected a JSON object, found a value of type array"));
}

TEST(ParseJsonTest, WholeNumbersBeyondSixtyFourBitsStayText) {
  EXPECT_EQ(*ParseJson("18446744073709551616", "f"), "18446744073709551616");
  Json value;
  EXPECT_EQ(
      ReadJson("18446744073709551616", {.exact_integers = false}, value).fault,
      JsonFault::kNone);
  EXPECT_TRUE(value.is_number_float());
}

TEST(ParseJsonTest, RepeatsThatAreAllowedAreReportedTheOutermostFirst) {
  Json value;
  const JsonOutcome outcome =
      ReadJson(R"({"a": {"b": 1, "b": 2}, "c": 3, "c": 4})",
               {.refuse_repeats = false}, value);
  EXPECT_EQ(outcome.fault, JsonFault::kNone);
  EXPECT_EQ(outcome.repeated, "c");
  EXPECT_EQ(outcome.repeated_depth, 1u);
  EXPECT_EQ(value["a"]["b"], 2);
  EXPECT_EQ(value["c"], 4);
  // The same key in different objects is none.
  EXPECT_EQ(ReadJson(R"([{"a": 1}, {"a": 1}])", {}, value).repeated, "");
}

}  // namespace
}  // namespace espalier
