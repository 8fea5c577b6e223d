// main() of every test program. Its tests see a new, empty temporary folder,
// removed at exit: files left by another run, even one with the same process
// id, are out of reach.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <cstdio>
#include <filesystem>
#include <string>
#include <system_error>

int main(int argc, char** argv) {
  testing::InitGoogleMock(&argc, argv);
  std::error_code error;
  std::string folder =
      (std::filesystem::temp_directory_path(error) / "espalier_test_XXXXXX")
          .string();
  if (error || mkdtemp(folder.data()) == nullptr) {
    std::perror(folder.c_str());
    return 1;
  }
  std::filesystem::permissions(folder, std::filesystem::perms(0755));
  setenv("TMPDIR", folder.c_str(), 1);
  setenv("TEST_TMPDIR", folder.c_str(), 1);
  const int failed = RUN_ALL_TESTS();
  std::filesystem::remove_all(folder, error);
  return failed;
}
