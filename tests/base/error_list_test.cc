#include "base/error_list.h"

#include <gtest/gtest.h>

namespace espalier {
namespace {

TEST(ErrorListTest, NothingAddedIsOk) {
  ErrorList errors;
  errors.Add(absl::OkStatus());
  EXPECT_TRUE(errors.Status().ok());
}

TEST(ErrorListTest, AllMessagesAreGivenUnderTheFirstCode) {
  ErrorList errors;
  errors.Add(absl::NotFoundError("no such method"));
  errors.Add("no budget");
  errors.Add(absl::InvalidArgumentError("no budget"));
  EXPECT_EQ(errors.Status(), absl::NotFoundError("no such method; no budget"));
}

}  // namespace
}  // namespace espalier
