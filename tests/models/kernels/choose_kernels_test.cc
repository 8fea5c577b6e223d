#include "models/kernels/choose_kernels.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "models/kernels/kernels.h"

namespace espalier {
namespace {

TEST(ChooseKernelsTest, TheFastestPathIsChosenAndThePortableOneTakesTheRest) {
  const auto paths = KernelPaths();
  ASSERT_FALSE(paths.empty());
  EXPECT_EQ(paths.back(), &PlainPath());
  if (std::getenv("ESPALIER_KERNELS") == nullptr) {
    EXPECT_EQ(ChooseKernels("", WeightKind::kBf16, 64).value(), paths.front());
  }
  for (const KernelPath* path : paths) {
    const std::string name = path->name();
    EXPECT_EQ(ChooseKernels(name, WeightKind::kInt4, 64).value(), path);
    EXPECT_EQ(ChooseKernels(name, WeightKind::kFp32, 64).value(), &PlainPath());
    EXPECT_EQ(ChooseKernels(name, WeightKind::kBf16, 512).value(),
              &PlainPath());
  }
}

TEST(ChooseKernelsTest, TheFastestPathOfAProcessorWithBf16IsNotThePortableOne) {
  // What the processor says of itself, by another way than the code does.
  const std::string flags = [] {
    std::string text;
    if (FILE* file = std::fopen("/proc/cpuinfo", "r")) {
      char line[8192];
      while (std::fgets(line, sizeof line, file) != nullptr) {
        if (std::string(line).rfind("flags", 0) == 0) text = line;
      }
      std::fclose(file);
    }
    return text;
  }();
  const auto has = [&](const std::string& flag) {
    return (flags + " ").find(" " + flag + " ") != std::string::npos ||
           flags.find(" " + flag + "\n") != std::string::npos;
  };
  if (flags.empty()) GTEST_SKIP() << "/proc/cpuinfo names no flags";
  EXPECT_EQ(Avx512Path() != nullptr, has("avx512_bf16") && has("avx512_vnni"));
}

TEST(ChooseKernelsTest, AnUnknownPathIsRefusedWithThoseThatThereAre) {
  const auto refused = ChooseKernels("neon", WeightKind::kBf16, 64);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.status().message().find("\"neon\""), std::string::npos);
  EXPECT_NE(refused.status().message().find("plain"), std::string::npos);
}

TEST(ChooseKernelsTest, TheVariableNamesAPathOrAnInstructionSet) {
  EXPECT_EQ(ReadForcedKernels("")->path, nullptr);
  EXPECT_EQ(ReadForcedKernels("plain")->path, &PlainPath());
  EXPECT_EQ(ReadForcedKernels("plain")->vectors, "");
  for (const std::string& target : VectorTargets()) {
    EXPECT_EQ(ReadForcedKernels(target)->path, &PlainPath());
    EXPECT_EQ(ReadForcedKernels(target)->vectors, target);
  }
  const auto refused = ReadForcedKernels("avx9");
  ASSERT_FALSE(refused.ok());
  for (const std::string& part :
       {std::string("ESPALIER_KERNELS=avx9"), std::string("plain"),
        VectorTargets().back()}) {
    EXPECT_NE(refused.status().message().find(part), std::string::npos) << part;
  }
}

}  // namespace
}  // namespace espalier
