#include "models/remote/without_lists.h"

#include <gtest/gtest.h>

#include <string>

namespace espalier {
namespace {

std::string Of(const std::string& json) {
  return WithoutLists(json, {"a", "b"});
}

TEST(WithoutLists, LeavesOutListsOfTheseNames) {
  EXPECT_EQ(Of(R"({"a": [1, {"b": [2]}], "c":[3], "b" :[]})"),
            R"({"a": [], "c":[3], "b" :[]})");
  EXPECT_EQ(Of(R"([{"x":{"b":[[1],[2]]}},{"a":["]","\"]","\\"],"y":1}])"),
            R"([{"x":{"b":[]}},{"a":[],"y":1}])");
}

TEST(WithoutLists, KeepsAllElse) {
  for (const char* same :
       {R"({"a":1,"b":{"c":[1]}})", R"(["a",[1],"b"])",
        R"({"c":"\"a\":[1]","d":"\\"})", R"("a")", "", "{", R"({"a)", R"({"a")",
        R"({"a":)", R"({"a": )", R"({"a":null})"}) {
    EXPECT_EQ(Of(same), same);
  }
}

// A reply that is cut off stays one.
TEST(WithoutLists, KeepsAListWithoutAnEnd) {
  for (const char* same : {R"({"a":[1,2)", R"({"a":["x)", R"({"a":[{])"}) {
    EXPECT_EQ(Of(same), same);
  }
}

}  // namespace
}  // namespace espalier
