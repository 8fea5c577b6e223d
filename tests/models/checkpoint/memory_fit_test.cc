#include "models/checkpoint/memory_fit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <limits>
#include <memory>
#include <string>

#include "base/files.h"
#include "tests/models/testing/random_checkpoint.h"

namespace espalier {
namespace {

using testing::HasSubstr;

void Put(const std::string& root, const std::string& path,
         const std::string& text) {
  const std::string file = root + path;
  std::filesystem::create_directories(
      std::filesystem::path(file).parent_path());
  ASSERT_TRUE(WriteFileAtomic(file, text).ok());
}

std::unique_ptr<TensorSource> Source() {
  TrunkConfig config = TinyConfig();
  config.vocab_size = 5000;
  const std::string folder = TempFolder();
  EXPECT_TRUE(WriteRandomCheckpoint(folder, config, 1).ok());
  auto source = TensorSource::Open(folder);
  EXPECT_TRUE(source.ok()) << source.status();
  return *std::move(source);
}

TEST(MemoryFitTest, WeightsAreCountedAsTheyArePacked) {
  const auto source = Source();
  const auto weights = [&](Packing packing) {
    return static_cast<double>(PlanMemory(*source, packing, 0).weights);
  };
  // The file has a header besides the weights; packed norms take twice the
  // bytes.
  const double elements = static_cast<double>(source->bytes()) / 2;
  EXPECT_NEAR(weights(Packing::kFp32) / elements, 4, 0.1);
  EXPECT_NEAR(weights(Packing::kBf16) / elements, 2, 0.05);
  EXPECT_NEAR(weights(Packing::kInt8) / elements, 1 + 4 / 40.0, 0.05);
}

TEST(MemoryFitTest, AModelThatDoesNotFitIsRefusedWithTheSum) {
  const MemoryPlan plan{.weights = 3'090'000'000,
                        .keys_and_values = 2'000'000'000,
                        .working = 120'000'000};
  EXPECT_TRUE(CheckFits("m", plan, {5'210'000'000, "the test"}).ok());
  const absl::Status status =
      CheckFits("some/model", plan, {5'209'999'999, "the test"});
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("some/model: does not fit into memory: 3.09 GB weights "
                        "+ 2.00 GB keys and values + 0.12 GB working memory = "
                        "5.21 GB, available: 5.21 GB (the test); lower "));
}

TEST(MemoryFitTest, AbsurdLimitsOfKeysAndValuesDoNotOverflow) {
  const auto source = Source();
  const MemoryPlan plan =
      PlanMemory(*source, Packing::kBf16, std::numeric_limits<int64_t>::max());
  EXPECT_FALSE(CheckFits("m", plan, {int64_t{1} << 50, "x"}).ok());
}

TEST(MemoryFitTest, TheMachineSaysWhatIsAvailable) {
  const std::string root = TempFolder();
  EXPECT_EQ(ReadAvailableMemory(root).bytes,
            std::numeric_limits<int64_t>::max());
  Put(root, "/proc/meminfo",
      "MemTotal:       24737380 kB\nMemFree:          100 kB\n"
      "MemAvailable:   2000000 kB\n");
  const AvailableMemory found = ReadAvailableMemory(root);
  EXPECT_EQ(found.bytes, 2'000'000 * int64_t{1024});
  EXPECT_THAT(found.limit, HasSubstr("MemAvailable"));
}

TEST(MemoryFitTest, TheNarrowestControlGroupCounts) {
  const std::string root = TempFolder();
  const std::string groups = "/sys/fs/cgroup";
  Put(root, "/proc/meminfo", "MemAvailable:   2000000 kB\n");
  Put(root, "/proc/self/cgroup", "0::/jobs/mine\n");
  Put(root, groups + "/jobs/mine/memory.max", "max\n");
  EXPECT_EQ(ReadAvailableMemory(root).bytes, 2'048'000'000);
  Put(root, groups + "/jobs/memory.max", "1000000000\n");
  Put(root, groups + "/jobs/memory.current", "700000000\n");
  Put(root, groups + "/jobs/memory.stat",
      "anon 5\ninactive_file 200000000\nactive_file 100000000\n");
  const AvailableMemory found = ReadAvailableMemory(root);
  EXPECT_EQ(found.bytes, 600'000'000);
  EXPECT_THAT(found.limit, HasSubstr("memory.max of"));
  EXPECT_THAT(found.limit, HasSubstr("/jobs"));
  Put(root, groups + "/jobs/mine/memory.max", "100\n");
  EXPECT_EQ(ReadAvailableMemory(root).bytes, 100);
  Put(root, groups + "/jobs/mine/memory.current", "200\n");
  EXPECT_EQ(ReadAvailableMemory(root).bytes, 0);
}

TEST(MemoryFitTest, TheOlderControlGroupsCountToo) {
  const std::string root = TempFolder();
  Put(root, "/proc/self/cgroup", "9:pids:/\n4:memory:/a/b\n0::/\n");
  const std::string mount = "/sys/fs/cgroup/memory";
  Put(root, mount + "/memory.limit_in_bytes", "5000\n");
  Put(root, mount + "/memory.usage_in_bytes", "3000\n");
  Put(root, mount + "/memory.stat", "total_inactive_file 1000\n");
  EXPECT_EQ(ReadAvailableMemory(root).bytes, 3000);
}

TEST(MemoryFitTest, ThisMachineHasMemory) {
  EXPECT_GT(ReadAvailableMemory().bytes, 1'000'000);
}

}  // namespace
}  // namespace espalier
