// Loading adds the packed weights to resident memory, and nothing of the file.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/executor.h"
#include "models/checkpoint/tensor_source.h"
#include "models/trunk/trunk.h"
#include "tests/base/resident_memory.h"
#include "tests/models/testing/random_checkpoint.h"

namespace espalier {
namespace {

TEST(LoadMemoryTest, ResidentMemoryGrowsByATenthMoreThanTheFileAtMost) {
  if (!kResidentMemoryTells) GTEST_SKIP() << "a sanitizer keeps memory";
  const std::string folder = TempFolder();
  const std::string command = absl::StrCat(
      "python3 tools/random_checkpoint.py --preset llama-100m --out '", folder,
      "'");
  ASSERT_EQ(std::system(command.c_str()), 0) << command;
  Executor executor(2);
  const int64_t before = ResidentBytes();
  const auto trunk = Trunk::Load(folder, {.executor = &executor});
  ASSERT_TRUE(trunk.ok()) << trunk.status();
  const double growth =
      static_cast<double>(ResidentBytes() - before) /
      static_cast<double>(TensorSource::Open(folder).value()->bytes());
  std::printf("figure: memory grows by %.3f of the file\n", growth);
  EXPECT_LT(growth, 1.1);
  EXPECT_GT(growth, 0.9);  // otherwise the pages are not counted
}

}  // namespace
}  // namespace espalier
