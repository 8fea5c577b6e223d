#include "base/long_json.h"

#include <string>

#include "base/json_text.h"
#include "gtest/gtest.h"

namespace espalier {
namespace {

std::string Written(const LongJson& json) {
  std::string text;
  EXPECT_TRUE(json.Write([&](std::string_view piece) {
                    text += piece;
                    return absl::OkStatus();
                  })
                  .ok());
  return text;
}

// What nlohmann::json writes is the expected text.
TEST(LongJsonTest, TextIsThatOfTheWholeValue) {
  for (const int count : {0, 1, 3, 50'000}) {
    nlohmann::json numbers = nlohmann::json::array();
    for (int i = 0; i < count; ++i) numbers.push_back(i);
    const nlohmann::json rest = {{"a", {{"b", {1, "\"\n"}}, {"c", 0.5}}},
                                 {"empty", nlohmann::json::object()},
                                 {"none", nullptr},
                                 {"z", nlohmann::json::array()}};
    nlohmann::json whole = rest;
    whole["rows"] = {{{"long", numbers}, {"x", true}}, {{"long", numbers}}};
    LongJson json;
    json.json = rest;
    const auto stand_in = [&] {
      return json.Array([count](const LongJson::Put& put) -> absl::Status {
        for (int i = 0; i < count; ++i) {
          if (absl::Status s = put(i); !s.ok()) return s;
        }
        return absl::OkStatus();
      });
    };
    json.json["rows"] = {{{"long", stand_in()}, {"x", true}},
                         {{"long", stand_in()}}};
    EXPECT_EQ(Written(json), whole.dump(1)) << count;
    EXPECT_EQ(json.Whole(), whole) << count;
  }
}

TEST(LongJsonTest, ErrorsOfElementsAndOfTheSinkComeBack) {
  LongJson json;
  json.json = json.Array([](const LongJson::Put&) {
    return absl::UnavailableError("cannot read");
  });
  const auto ignore = [](std::string_view) { return absl::OkStatus(); };
  EXPECT_EQ(json.Write(ignore).message(), "cannot read");
  EXPECT_TRUE(json.Whole().is_null());
  LongJson small;
  small.json = {1, 2};
  const auto full = [](std::string_view) {
    return absl::ResourceExhaustedError("full");
  };
  EXPECT_EQ(small.Write(full).message(), "full");
}

}  // namespace
}  // namespace espalier
