#include "base/files.h"

#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

#include "base/link_target.h"
#include "base/write_pieces.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace espalier {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

// A temporary folder, removed after the test.
class FilesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = ::testing::TempDir() + "/files_test.XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string Path(const std::string& name) { return folder_ / name; }
  static std::string Slurp(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  int Entries() {
    return static_cast<int>(std::distance(fs::directory_iterator(folder_), {}));
  }

  fs::path folder_;
};

TEST_F(FilesTest, ReadsEveryByte) {
  std::string bytes;
  for (int i = 0; i < 300000; ++i) bytes.push_back(static_cast<char>(i % 251));
  std::ofstream(Path("a"), std::ios::binary) << bytes;
  const auto data = ReadFile(Path("a"));
  ASSERT_TRUE(data.ok()) << data.status();
  EXPECT_EQ(*data, bytes);
}

TEST_F(FilesTest, PiecesThatEndInAnErrorLeaveTheFileAsItWas) {
  const auto write = [&](const absl::Status& end) {
    return WriteFileInPieces(Path("a"), [&](const PieceSink& put) {
      absl::Status status = put("one ");
      status.Update(put("two"));
      status.Update(end);
      return status;
    });
  };
  EXPECT_TRUE(write(absl::OkStatus()).ok());
  EXPECT_EQ(Slurp(Path("a")), "one two");
  std::ofstream(Path("a"), std::ios::binary) << "old";
  EXPECT_EQ(write(absl::UnavailableError("gone")).message(), "gone");
  EXPECT_EQ(Slurp(Path("a")), "old");
  EXPECT_EQ(Entries(), 1);
}

TEST_F(FilesTest, ReadsAnEmptyFile) {
  std::ofstream(Path("empty"));
  const auto data = ReadFile(Path("empty"));
  ASSERT_TRUE(data.ok()) << data.status();
  EXPECT_EQ(*data, "");
}

TEST_F(FilesTest, RefusesADeviceWithoutEnd) {
  EXPECT_FALSE(ReadFile("/dev/zero").ok());
  const auto none = ReadFile("/dev/null");
  ASSERT_TRUE(none.ok()) << none.status();
  EXPECT_EQ(*none, "");
}

TEST_F(FilesTest, ReadsAFileThatSaysSizeZero) {
  const auto data = ReadFile("/proc/self/stat");
  ASSERT_TRUE(data.ok()) << data.status();
  EXPECT_THAT(*data, ::testing::StartsWith(std::to_string(getpid())));
}

TEST_F(FilesTest, MissingFileIsNamed) {
  const absl::Status status = ReadFile(Path("nowhere")).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr(Path("nowhere")),
                    HasSubstr("No such file or directory")));
}

TEST_F(FilesTest, FolderIsNotReadAsAFile) {
  const absl::Status status = ReadFile(folder_).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), HasSubstr("Is a directory"));
}

TEST_F(FilesTest, WrittenFileIsThereAndNothingElse) {
  ASSERT_TRUE(WriteFileAtomic(Path("a"), "one").ok());
  EXPECT_EQ(Slurp(Path("a")), "one");
  ASSERT_TRUE(WriteFileAtomic(Path("a"), "two!").ok());
  EXPECT_EQ(Slurp(Path("a")), "two!");
  EXPECT_EQ(Entries(), 1);
}

TEST_F(FilesTest, ReplacedFileKeepsItsMode) {
  std::ofstream(Path("a")) << "old";
  ASSERT_EQ(chmod(Path("a").c_str(), 0751), 0);
  ASSERT_TRUE(WriteFileAtomic(Path("a"), "new").ok());
  struct stat info;
  ASSERT_EQ(stat(Path("a").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0751u);
}

TEST_F(FilesTest, LinkKeepsPointing) {
  std::ofstream(Path("target")) << "old";
  fs::create_symlink("target", Path("link"));
  ASSERT_TRUE(WriteFileAtomic(Path("link"), "new").ok());
  EXPECT_TRUE(fs::is_symlink(Path("link")));
  EXPECT_EQ(Slurp(Path("target")), "new");
}

TEST_F(FilesTest, WhatALinkLeadsToIsCreated) {
  fs::create_directory(Path("folder"));
  fs::create_symlink("folder/next", Path("link"));
  fs::create_symlink("target", Path("folder/next"));
  ASSERT_TRUE(WriteFileAtomic(Path("link"), "new").ok());
  EXPECT_TRUE(fs::is_symlink(Path("link")));
  EXPECT_TRUE(fs::is_symlink(Path("folder/next")));
  EXPECT_EQ(Slurp(Path("folder/target")), "new");
  EXPECT_EQ(LinkTarget(Path("link")).value(), Path("folder/target"));

  fs::create_symlink("nowhere/target", Path("lost"));
  const absl::Status lost = WriteFileAtomic(Path("lost"), "x");
  EXPECT_EQ(lost.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(lost.message()), HasSubstr(Path("nowhere/target")));
  EXPECT_TRUE(fs::is_symlink(Path("lost")));

  fs::create_symlink("circle", Path("circle"));
  const absl::Status circle = WriteFileAtomic(Path("circle"), "x");
  EXPECT_FALSE(circle.ok());
  EXPECT_THAT(std::string(circle.message()), HasSubstr(Path("circle")));
  EXPECT_TRUE(fs::is_symlink(Path("circle")));
}

TEST_F(FilesTest, FailedWriteLeavesTheOldFileAndNoScraps) {
  fs::create_directory(Path("folder"));
  const absl::Status folder = WriteFileAtomic(Path("folder"), "x");
  EXPECT_EQ(folder.code(), absl::StatusCode::kFailedPrecondition);
  const absl::Status missing = WriteFileAtomic(Path("no/such/file"), "x");
  EXPECT_EQ(missing.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(missing.message()), HasSubstr(Path("no/such/file")));
  EXPECT_EQ(Entries(), 1);
}

TEST_F(FilesTest, FullDiskSaysWhatToDo) {
  const absl::Status status = FileError("write", "/data/x", ENOSPC);
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("cannot write /data/x"),
                    HasSubstr("No space left"), HasSubstr("free some space")));
}

TEST_F(FilesTest, ReaderNeverSeesAPartOfAFile) {
  const std::string a(100000, 'a'), b(200000, 'b');
  ASSERT_TRUE(WriteFileAtomic(Path("f"), a).ok());
  std::atomic<bool> stop{false};  // set once, by the writer
  std::thread writer([&] {
    for (int i = 0; i < 50; ++i) {
      EXPECT_TRUE(WriteFileAtomic(Path("f"), i % 2 ? a : b).ok());
    }
    stop = true;
  });
  while (!stop) {
    const auto data = ReadFile(Path("f"));
    ASSERT_TRUE(data.ok()) << data.status();
    EXPECT_TRUE(*data == a || *data == b) << data->size() << " bytes";
  }
  writer.join();
}

}  // namespace
}  // namespace espalier
