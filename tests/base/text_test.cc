#include "base/text.h"

#include <string>
#include <string_view>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace espalier {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const std::vector<std::string> kMethods = {
    "greedy", "sample", "majority", "best_of_n", "weighted", "beam", "puct"};

TEST(TextTest, EditDistanceOfKnownPairs) {
  EXPECT_EQ(EditDistance("", ""), 0);
  EXPECT_EQ(EditDistance("abc", ""), 3);
  EXPECT_EQ(EditDistance("", "abc"), 3);
  EXPECT_EQ(EditDistance("kitten", "sitting"), 3);  // Levenshtein's example
  EXPECT_EQ(EditDistance("saturday", "sunday"), 3);
  EXPECT_EQ(EditDistance("beam", "baem"), 1);  // one swap of neighbours
  EXPECT_EQ(EditDistance("ca", "abc"), 3);     // alignment, not Damerau's 2
}

TEST(TextTest, SlipOfThePenFindsTheName) {
  EXPECT_EQ(NearestName("bem", kMethods), "beam");
  EXPECT_EQ(NearestName("Greedy", kMethods), "greedy");
  EXPECT_EQ(NearestName("best-of-n", kMethods), "best_of_n");
  EXPECT_EQ(NearestName("wieghted", kMethods), "weighted");
}

TEST(TextTest, BeginningOfANameFindsIt) {
  EXPECT_EQ(NearestName("maj", kMethods), "majority");
}

TEST(TextTest, FarOffNameFindsNothing) {
  EXPECT_EQ(NearestName("quicksort", kMethods), "");
  EXPECT_EQ(NearestName("", kMethods), "");
  EXPECT_EQ(NearestName("x", std::vector<std::string>{}), "");
}

TEST(TextTest, FirstOfEquallyNearNamesWins) {
  const std::vector<std::string_view> names = {"uct", "pct"};
  EXPECT_EQ(NearestName("act", names), "uct");
}

TEST(TextTest, MessageSuggestsAndListsNames) {
  const std::string near = UnknownName("method", "bem", kMethods);
  EXPECT_THAT(near,
              HasSubstr("unknown method \"bem\": did you mean \"beam\"?"));
  EXPECT_THAT(near, HasSubstr("greedy, sample"));
  const std::string far = UnknownName("method", "quicksort", kMethods);
  EXPECT_THAT(far, Not(HasSubstr("did you mean")));
  EXPECT_THAT(far, HasSubstr("known: greedy"));
}

}  // namespace
}  // namespace espalier
