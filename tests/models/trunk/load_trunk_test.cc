#include "models/trunk/load_trunk.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/match.h"
#include "tests/models/testing/random_checkpoint.h"

namespace espalier {
namespace {

TEST(LoadTrunkTest, DevicesAreReadAsTheyAreWritten) {
  EXPECT_EQ(ParseDevice("cpu")->kind, "cpu");
  EXPECT_EQ(ParseDevice("torch-cpu")->kind, "torch-cpu");
  EXPECT_EQ(ParseDevice("cuda")->index, 0);
  EXPECT_EQ(ParseDevice("cuda:0")->kind, "cuda");
  EXPECT_EQ(ParseDevice("cuda:13")->index, 13);
}

TEST(LoadTrunkTest, WhatIsNoDeviceIsRefusedWithTheList) {
  for (const char* text :
       {"", "gpu", "CPU", "cuda:", "cuda:-1", "cuda:01", "cuda:1x", "cuda: 1",
        "cuda:64", "cuda:99999999999999999999", "cuda1", "cpu:0"}) {
    const auto device = ParseDevice(text);
    ASSERT_FALSE(device.ok()) << text;
    EXPECT_EQ(device.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_TRUE(
        absl::StrContains(device.status().message(), "expected cpu, cuda"))
        << device.status();
  }
}

// This test program does not link LibTorch.
TEST(LoadTrunkTest, DevicesOfLibTorchAreRefusedWithoutIt) {
  const std::string folder = TempFolder();
  ASSERT_TRUE(WriteRandomCheckpoint(folder, TinyConfig(), 1).ok());
  for (const char* name : {"cuda", "torch-cpu"}) {
    const auto trunk = Trunk::Load(folder, {.device = name});
    ASSERT_FALSE(trunk.ok());
    EXPECT_EQ(trunk.status().code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_TRUE(absl::StrContains(trunk.status().message(), "LibTorch"))
        << trunk.status();
  }
  EXPECT_TRUE(Trunk::Load(folder, {.device = "cpu"}).ok());
}

}  // namespace
}  // namespace espalier
