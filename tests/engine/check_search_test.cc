#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "espalier/engine.h"

namespace espalier {
namespace {

TEST(CheckSearchTest, BudgetAndMethodAreRefusedInOneMessage) {
  const absl::Status status = CheckSearch(
      {.method = "uct:c_end=0.1:temperature=-1:widht=2", .max_tokens = 0});
  ASSERT_FALSE(status.ok());
  for (const char* part :
       {"the budget is zero", "temperature=-1", "\"width\"", "c_end"}) {
    EXPECT_TRUE(absl::StrContains(status.message(), part))
        << part << " in " << status;
  }
}

TEST(CheckSearchTest, NegativeBudgetAndUngradedMethodAreRefusedInOneMessage) {
  const absl::Status status =
      CheckSearch({.method = "omega_prm", .max_tokens = -1});
  EXPECT_TRUE(absl::StrContains(status.message(), "max_tokens is -1"));
  EXPECT_TRUE(absl::StrContains(status.message(), "reference answers"));
}

TEST(CheckSearchTest, FiltersOfSamplesHaveRanges) {
  EXPECT_TRUE(CheckSearch({.top_k = 5, .top_p = 0.9f, .min_p = 0.1f}).ok());
  EXPECT_FALSE(CheckSearch({.top_k = -1}).ok());
  EXPECT_FALSE(CheckSearch({.top_p = 0}).ok());
  EXPECT_FALSE(CheckSearch({.min_p = 1.5f}).ok());
}

TEST(CheckSearchTest, PresetsAreMethods) {
  EXPECT_TRUE(CheckSearch({.method = "preset=rest_mcts_star:c=0.5"}).ok());
  EXPECT_FALSE(CheckSearch({.method = "preset=rest_mcts_star:gaet=1"}).ok());
}

}  // namespace
}  // namespace espalier
