#include "base/foreign.h"

#include <gtest/gtest.h>

#include "absl/strings/match.h"

namespace espalier {
namespace {

TEST(Foreign, PackedDataIsNamedByItsFirstBytes) {
  struct Case {
    std::string_view head;
    const char* says;
  };
  // From the formats' specifications.
  const Case cases[] = {
      {{"PK\x03\x04\x14\x00", 6}, "a zip archive"},
      {"\x28\xB5\x2F\xFD\x04", "packed by zstd"},
      {{"\xFD\x37\x7A\x58\x5A\x00\x00", 7}, "packed by xz"},
      {"BZh91AY", "packed by bzip2"},
      {"7z\xBC\xAF\x27\x1C", "a 7z archive"},
      {{"ARROW1\0\0", 8}, "an Arrow file"},
      {"\xFF\xFF\xFF\xFF\x10", "an Arrow file"},
  };
  for (const Case& one : cases) {
    EXPECT_TRUE(
        absl::StrContains(ForeignBytes(one.head, Wanted::kData), one.says))
        << one.says;
    // Old checkpoints of PyTorch are zip archives, too.
    EXPECT_EQ(ForeignBytes(one.head, Wanted::kModel), "");
  }
  EXPECT_EQ(ForeignBytes("BZ,question\n", Wanted::kData), "");
  EXPECT_EQ(ForeignBytes("{\"question\": 1}", Wanted::kData), "");
}

TEST(Foreign, TheShortAddressOfTheHubIsOneOfTheHub) {
  for (const char* name :
       {"https://huggingface.co/Qwen/Q", "https://hf.co/Qwen/Q", "hf.co/Qwen/Q",
        "hf://Qwen/Q", "Qwen/Q"}) {
    const std::string note = ForeignName(name, Wanted::kModel);
    EXPECT_TRUE(absl::StrContains(note, "hf download Qwen/Q --local-dir Q"))
        << name << note;
  }
  EXPECT_TRUE(
      absl::StrContains(ForeignName("hf.co/datasets/a/b", Wanted::kData),
                        "--repo-type dataset a/b"));
  EXPECT_EQ(ForeignName("models/hf.co/a/b", Wanted::kModel), "");
}

}  // namespace
}  // namespace espalier
