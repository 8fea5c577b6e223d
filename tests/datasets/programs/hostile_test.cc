// Programs that try to break out, exhaust resources or cheat: each gets the
// verdict named in its first line and leaves nothing behind.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/files.h"
#include "datasets/programs/code_problem.h"
#include "nlohmann/json.hpp"
#include "tests/datasets/programs/test_sandbox.h"

namespace espalier {
namespace {

namespace fs = std::filesystem;

constexpr char kFolder[] = "tests/datasets/programs/hostile";

std::vector<std::string> Programs() {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(kFolder, error)) {
    names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

// What follows "# key: " at the beginning of a line; "" if there is no such
// line.
std::string Setting(const std::string& code, std::string_view key) {
  for (const absl::string_view line : absl::StrSplit(code, '\n')) {
    const std::string mark = absl::StrCat("# ", std::string(key), ": ");
    if (line.substr(0, mark.size()) == mark) {
      return std::string(line.substr(mark.size()));
    }
  }
  return "";
}

// Processes whose command line contains `mark`, zombies excluded.
int ProcessesWith(const std::string& mark) {
  int count = 0;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    std::ifstream file(entry.path() / "cmdline");
    std::stringstream line;
    line << file.rdbuf();
    count += line.str().find(mark) != std::string::npos;
  }
  return count;
}

class HostileProgram : public testing::TestWithParam<std::string> {};

TEST_P(HostileProgram, IsHeldAndGetsItsVerdict) {
  const auto code = ReadFile(absl::StrCat(kFolder, "/", GetParam(), ".py"));
  ASSERT_TRUE(code.ok()) << code.status();
  SandboxOptions options;
  options.limits.cpu_seconds = 1;
  // Only "timed out" may depend on the speed of the machine.
  const bool times_out = Setting(*code, "verdict") == "timed out";
  options.limits.wall_seconds =
      Setting(*code, "wall").empty() ? 300 : std::stod(Setting(*code, "wall"));
  if (!times_out) options.limits.cpu_seconds = 60;
  // An odd number, which identifies the workers.
  const std::string memory = Setting(*code, "memory");
  options.limits.memory =
      ((memory.empty() ? int64_t{256} : std::stol(memory)) << 20) +
      getpid() % 10000 * 4096 + 1;
  options.limits.fork = Setting(*code, "fork") == "yes";
  const std::string mark = std::to_string(options.limits.memory);
  {
    ESPALIER_NEED_SANDBOX_WITH(sandbox, options);
    const nlohmann::json problem =
        Setting(*code, "style") == "input"
            ? nlohmann::json{{"tests",
                              {{{"input", "7\n"}, {"output", "49\n"}},
                               {{"input", "-4\n"}, {"output", "16\n"}}}}}
            : nlohmann::json{
                  {"text", "Write a function that squares."},
                  {"code", "def square(x):\n  return x * x\n"},
                  {"test_list",
                   {"assert square(7) == 49",
                    "assert all(map(lambda x: square(x) == x * x, [2, 3]))",
                    "assert abs(square(10) - 100) < 0.5",
                    "assert square(-4) in (16, 16.0)"}}};
    const auto read = ReadCodeProblem(problem);
    ASSERT_TRUE(read.ok()) << read.status();
    const auto verdict = GradeProgram(*sandbox, *read, *code);
    ASSERT_TRUE(verdict.ok()) << verdict.status();
    const std::vector<std::string> right =
        absl::StrSplit(Setting(*code, "verdict"), " | ");
    EXPECT_THAT(right, testing::Contains(VerdictName(verdict->kind)))
        << "test " << verdict->test << ": " << verdict->message;
    RecordProperty("message", verdict->message);
    // The sandbox still works.
    const auto after =
        sandbox->Run({.code = "x = 1", .names = {"x"}, .tests = {"assert x"}});
    ASSERT_TRUE(after.ok()) << after.status();
    EXPECT_EQ(after->kind, VerdictKind::kPassed) << after->message;
  }
  int left = ProcessesWith(mark);
  for (int i = 0; i < 500 && left > 0; ++i) {
    usleep(10000);
    left = ProcessesWith(mark);
  }
  EXPECT_EQ(left, 0) << "processes of the sandbox are left";
  for (const char* folder : {"/tmp", "/var/tmp", "/usr/lib", "/usr/bin", "/",
                             "/etc", "/dev/shm", "/root", "/home"}) {
    std::error_code hidden;
    EXPECT_FALSE(
        fs::exists(absl::StrCat(folder, "/espalier_hostile_mark"), hidden))
        << folder;
  }
}

INSTANTIATE_TEST_SUITE_P(All, HostileProgram, testing::ValuesIn(Programs()),
                         [](const auto& info) { return info.param; });

TEST(HostilePrograms, AreManyAndNameTheirVerdicts) {
  EXPECT_GE(Programs().size(), 123u);
  for (const std::string& name : Programs()) {
    const auto code = ReadFile(absl::StrCat(kFolder, "/", name, ".py"));
    ASSERT_TRUE(code.ok()) << code.status();
    EXPECT_EQ(code->find("# verdict: "), 0u) << name;
  }
}

}  // namespace
}  // namespace espalier
