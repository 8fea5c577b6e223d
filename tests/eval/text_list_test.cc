#include "src/eval/text_list.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace espalier {
namespace {

TEST(TextList, TextsComeBackAsTheyWerePut) {
  const std::vector<std::string> texts = {
      "", "a", "", std::string("b\0c", 3), std::string(100'000, 'x'), ""};
  TextList list;
  EXPECT_TRUE(list.empty());
  for (const std::string& text : texts) list.push_back(text);
  ASSERT_EQ(list.size(), texts.size());
  for (size_t i = 0; i < texts.size(); ++i) EXPECT_EQ(list[i], texts[i]) << i;
}

// The same bytes split elsewhere are different texts.
TEST(TextList, EqualListsHoldTheSameTexts) {
  EXPECT_EQ(TextList({"ab", "c"}), TextList({"ab", "c"}));
  EXPECT_FALSE(TextList({"ab", "c"}) == TextList({"a", "bc"}));
  EXPECT_FALSE(TextList({"ab"}) == TextList({"ab", ""}));
}

TEST(TextList, IsAnArrayOfStringsInJson) {
  EXPECT_EQ(nlohmann::json(TextList({"", "7"})).dump(), R"(["","7"])");
}

}  // namespace
}  // namespace espalier
