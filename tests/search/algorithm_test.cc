#include "search/algorithm.h"

#include <gtest/gtest.h>

namespace espalier {
namespace {

TEST(AlgorithmTest, UnknownMethodNamesTheNearest) {
  const auto made = MakeAlgorithm("bem");
  ASSERT_FALSE(made.ok());
  EXPECT_NE(made.status().message().find("beam"), absl::string_view::npos);
}

TEST(AlgorithmTest, UnknownOptionNamesTheNearest) {
  const auto made = MakeAlgorithm("beam:widht=2");
  ASSERT_FALSE(made.ok());
  EXPECT_NE(made.status().message().find("width"), absl::string_view::npos);
}

TEST(AlgorithmTest, AllProblemsAreListedAtOnce) {
  const auto made = MakeAlgorithm("beam:width=0:branch=x:floor=2");
  ASSERT_FALSE(made.ok());
  for (const char* name : {"width=0", "branch=x", "floor=2"}) {
    EXPECT_NE(made.status().message().find(name), absl::string_view::npos)
        << name;
  }
}

TEST(AlgorithmTest, MalformedAndRepeatedOptionsAreRefused) {
  EXPECT_FALSE(MakeAlgorithm("beam:width").ok());
  EXPECT_FALSE(MakeAlgorithm("beam:=2").ok());
  EXPECT_FALSE(MakeAlgorithm("beam:width=1:width=2").ok());
}

TEST(AlgorithmTest, CanonicalTextReadsBackAsTheSameConfiguration) {
  for (const AlgorithmInfo* info : ListAlgorithms()) {
    const auto made = info->make({});
    ASSERT_TRUE(made.ok()) << info->name;
    const std::string text = CanonicalMethod(**made);
    const auto again = MakeAlgorithm(text);
    ASSERT_TRUE(again.ok()) << text << ": " << again.status();
    EXPECT_EQ(CanonicalMethod(**again), text);
  }
}

TEST(AlgorithmTest, OptionsArriveInTheMethod) {
  const auto made = MakeAlgorithm("puct:branch=7:widen=false:choice=best");
  ASSERT_TRUE(made.ok());
  const std::string text = CanonicalMethod(**made);
  EXPECT_NE(text.find("branch=7"), std::string::npos);
  EXPECT_NE(text.find("widen=false"), std::string::npos);
  EXPECT_NE(text.find("choice=best"), std::string::npos);
}

}  // namespace
}  // namespace espalier
