#include "datasets/sandbox/sandbox.h"

#include <dirent.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "src/base/clock.h"
#include "tests/datasets/sandbox/test_sandbox.h"

namespace espalier {
namespace {

using testing::HasSubstr;

constexpr char kAdd[] = "def add(a, b):\n    return a + b\n";

int OpenDescriptors() {
  int count = 0;
  DIR* folder = opendir("/proc/self/fd");
  while (readdir(folder) != nullptr) ++count;
  closedir(folder);
  return count;
}

TEST(Sandbox, RightProgramPasses) {
  ESPALIER_NEED_SANDBOX(sandbox);
  const auto verdict = sandbox->Run(
      {.code = kAdd,
       .names = {"add"},
       .tests = {"assert add(1, 2) == 3", "assert add('a', 'b') == 'ab'"}});
  ASSERT_TRUE(verdict.ok()) << verdict.status();
  EXPECT_EQ(verdict->kind, VerdictKind::kPassed) << verdict->message;
  EXPECT_EQ(verdict->test, 2);
}

TEST(Sandbox, TimeThatAProgramTookIsMeasured) {
  ESPALIER_NEED_SANDBOX(sandbox);
  const auto verdict =
      sandbox->Run({.code = "import time\n"
                            "while time.process_time() < 0.3: pass\n"});
  ASSERT_TRUE(verdict.ok()) << verdict.status();
  EXPECT_EQ(verdict->kind, VerdictKind::kPassed) << verdict->message;
  EXPECT_GE(verdict->cpu_seconds, 0.3);
  EXPECT_LT(verdict->cpu_seconds, 5);
}

TEST(Sandbox, FailedTestIsNumberedAndQuoted) {
  ESPALIER_NEED_SANDBOX(sandbox);
  const auto verdict =
      sandbox->Run({.code = kAdd,
                    .names = {"add"},
                    .tests = {"assert add(1, 2) == 3", "assert add(2, 2) == 5",
                              "assert add(1, 1) == 2"}});
  ASSERT_TRUE(verdict.ok()) << verdict.status();
  EXPECT_EQ(verdict->kind, VerdictKind::kFailed);
  EXPECT_EQ(verdict->test, 2);
  EXPECT_THAT(verdict->message, HasSubstr("assert add(2, 2) == 5"));
  EXPECT_THAT(verdict->message, HasSubstr("gave 4"));
}

TEST(Sandbox, OnePieceOfTestsIsNumberedByItsCalls) {
  ESPALIER_NEED_SANDBOX(sandbox);
  const auto verdict =
      sandbox->Run({.code = kAdd,
                    .names = {"add"},
                    .tests = {"for i, s in enumerate([1, 2, 3, 9]):\n"
                              "    assert add(i, 1) == s, 'sum of %d' % i"}});
  ASSERT_TRUE(verdict.ok()) << verdict.status();
  EXPECT_EQ(verdict->kind, VerdictKind::kFailed);
  EXPECT_EQ(verdict->test, 4);
  EXPECT_THAT(verdict->message, HasSubstr("sum of 3"));
}

TEST(Sandbox, ErrorsOfTheProgramNameItsLine) {
  ESPALIER_NEED_SANDBOX(sandbox);
  auto verdict = sandbox->Run({.code = "def f(x):\n    return 1 / x\n",
                               .names = {"f"},
                               .tests = {"assert f(0) == 1"}});
  ASSERT_TRUE(verdict.ok()) << verdict.status();
  EXPECT_EQ(verdict->kind, VerdictKind::kFailed);
  EXPECT_THAT(verdict->message, HasSubstr("ZeroDivisionError"));
  EXPECT_THAT(verdict->message, HasSubstr("line 2 of the solution"));
  verdict = sandbox->Run({.code = "x = 1\ndef f(x:\n"});
  ASSERT_TRUE(verdict.ok()) << verdict.status();
  EXPECT_EQ(verdict->kind, VerdictKind::kFailed);
  EXPECT_EQ(verdict->test, 0);
  EXPECT_THAT(verdict->message, HasSubstr("SyntaxError"));
  EXPECT_THAT(verdict->message, HasSubstr("line 2 of the solution"));
  verdict = sandbox->Run(
      {.code = "x = 1\n", .names = {"f"}, .tests = {"assert f(0) == 1"}});
  ASSERT_TRUE(verdict.ok()) << verdict.status();
  EXPECT_EQ(verdict->kind, VerdictKind::kFailed);
  EXPECT_THAT(verdict->message, HasSubstr("'f' is not defined"));
}

// Each value equals what Python's own == says of it in one process.
TEST(Sandbox, ValuesCrossAsTheyAre) {
  ESPALIER_NEED_SANDBOX(sandbox);
  const std::vector<std::string> values = {
      "None",
      "True",
      "-7",
      "2 ** 4000",
      "1.5",
      "float('inf')",
      "1e-320",
      "2 - 3j",
      "'caf\\u00e9 \\U0001f600'",
      "b'\\x00\\xff'",
      "bytearray(b'x')",
      "[1, [2, (3, {4})]]",
      "{'a': [1], 2: None, (1, 2): {3}}",
      "frozenset([1])",
      "range(2, 9, 3)",
      "slice(1, 2)",
      "__import__('collections').Counter('abca')",
      "__import__('collections').deque([1, 2], 5)",
      "__import__('collections').OrderedDict([(2, 1), (1, 2)])",
      "__import__('collections').namedtuple('P', 'x y')(1, 2)",
      "__import__('fractions').Fraction(1, 3)",
      "__import__('decimal').Decimal('0.10')",
      "__import__('datetime').date(2024, 2, 29)"};
  std::vector<std::string> tests;
  for (const std::string& value : values) {
    // There and back: as an argument and as a result.
    tests.push_back(absl::StrCat("x = ", value, "\ny = same(x)\n",
                                 "assert y == x, y\n", "assert make(",
                                 tests.size(), ") == x\n"));
  }
  std::string code = "def same(x):\n    return x\ndef make(i):\n    return [";
  for (const std::string& value : values) absl::StrAppend(&code, value, ", ");
  code += "][i]\n";
  const auto verdict =
      sandbox->Run({.code = code, .names = {"same", "make"}, .tests = tests});
  ASSERT_TRUE(verdict.ok()) << verdict.status();
  EXPECT_EQ(verdict->kind, VerdictKind::kPassed)
      << verdict->test << ": " << verdict->message;
}

TEST(Sandbox, ObjectsOfTheProgramServeTheTests) {
  ESPALIER_NEED_SANDBOX(sandbox);
  const auto verdict = sandbox->Run(
      {.code = "class Node:\n"
               "    def __init__(self, x):\n"
               "        self.x = x\n"
               "        self.left = None\n"
               "    def depth(self, more=0):\n"
               "        return 1 + more + (self.left.depth() if self.left else "
               "0)\n"
               "    def __len__(self):\n"
               "        return 3\n"
               "def count():\n"
               "    yield 1\n"
               "    yield 2\n"
               "def adder(n):\n"
               "    return lambda x: x + n\n"
               "LIMIT = 10\n",
       .names = {"Node", "count", "adder", "LIMIT"},
       .tests = {"a = Node(1)\na.left = Node(2)\n"
                 "assert a.depth() == 2 and a.depth(more=5) == 7",
                 "assert a.left.x == 2 and len(a) == 3 and a == a",
                 "assert a != Node(1)", "assert list(count()) == [1, 2]",
                 "assert 2 in count() and 3 not in count()",
                 "assert adder(2)(3) == 5 and LIMIT == 10",
                 "assert [f(1) for f in map(adder, [1, 2])] == [2, 3]"}});
  ASSERT_TRUE(verdict.ok()) << verdict.status();
  EXPECT_EQ(verdict->kind, VerdictKind::kPassed)
      << verdict->test << ": " << verdict->message;
}

TEST(Sandbox, ExceptionsReachTheTests) {
  ESPALIER_NEED_SANDBOX(sandbox);
  const auto verdict = sandbox->Run(
      {.code = "class Mine(KeyError):\n    pass\n"
               "def f(x):\n    raise {0: ValueError, 1: Mine}[x]('why')\n",
       .names = {"f"},
       .tests = {"try:\n    f(0)\n    assert False\n"
                 "except ValueError as e:\n    assert str(e) == 'why'",
                 "try:\n    f(1)\n    assert False\n"
                 "except KeyError as e:\n    pass"}});
  ASSERT_TRUE(verdict.ok()) << verdict.status();
  EXPECT_EQ(verdict->kind, VerdictKind::kPassed)
      << verdict->test << ": " << verdict->message;
}

TEST(Sandbox, ArgumentsChangeInPlaceOnlyForFunctionsThatGiveNone) {
  ESPALIER_NEED_SANDBOX(sandbox);
  const auto verdict = sandbox->Run(
      {.code = "def arrange(x, y=None):\n    x.sort()\n"
               "def smuggle(x):\n    x.clear()\n    return []\n",
       .names = {"arrange", "smuggle"},
       .tests = {"x = [3, 1, 2]\nassert arrange(x) is None\n"
                 "assert x == [1, 2, 3]",
                 // A reference that is asked after the program.
                 "x = [3, 1, 2]\nassert smuggle(x) != sorted(x)"}});
  ASSERT_TRUE(verdict.ok()) << verdict.status();
  EXPECT_EQ(verdict->kind, VerdictKind::kPassed)
      << verdict->test << ": " << verdict->message;
}

TEST(Sandbox, InputAndOutput) {
  ESPALIER_NEED_SANDBOX(sandbox);
  auto run = sandbox->RunInput(
      "import sys\n"
      "n = int(input())\n"
      "print(sum(map(int, sys.stdin.read().split())), n)\n"
      "if __name__ == '__main__':\n    sys.exit()\n",
      "2\n3 4\n");
  ASSERT_TRUE(run.ok()) << run.status();
  EXPECT_EQ(run->kind, VerdictKind::kPassed) << run->message;
  EXPECT_EQ(run->output, "7 2\n");
  run = sandbox->RunInput("print('a', end='')\nprint(1 / 0)", "");
  ASSERT_TRUE(run.ok()) << run.status();
  EXPECT_EQ(run->kind, VerdictKind::kFailed);
  EXPECT_EQ(run->output, "a");
  EXPECT_THAT(run->message, HasSubstr("ZeroDivisionError"));
}

TEST(Sandbox, ManyCallersGetTheirOwnVerdicts) {
  ESPALIER_NEED_SANDBOX(sandbox);
  const int before = OpenDescriptors();
  std::atomic<int> wrong = 0;
  std::atomic<double> longest = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 6; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 8; ++i) {
        const bool right = (t + i) % 2 == 0;
        const int sum = 10 * t + i + (right ? 0 : 1);
        const double start = Clock::Real().Seconds();
        const auto verdict =
            sandbox->Run({.code = kAdd,
                          .names = {"add"},
                          .tests = {absl::StrCat("assert add(", 10 * t, ", ", i,
                                                 ") == ", sum)}});
        double seconds = Clock::Real().Seconds() - start, seen = longest;
        while (seconds > seen &&
               !longest.compare_exchange_weak(seen, seconds)) {
        }
        if (!verdict.ok() || (verdict->kind == VerdictKind::kPassed) != right) {
          ++wrong;
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  std::printf("longest of 48 programs: %.3f s\n", longest.load());
  // Workers that wait have two descriptors each.
  EXPECT_LE(OpenDescriptors(), before + 2 * 6);
}

TEST(Sandbox, StopsWhenTold) {
  SandboxOptions options = PatientOptions();
  std::atomic<bool> stop = false;
  options.stop = &stop;
  ESPALIER_NEED_SANDBOX_WITH(sandbox, options);
  std::thread stopper([&] {
    usleep(200000);
    stop = true;
  });
  const double start = Clock::Real().Seconds();
  const auto verdict = sandbox->Run({.code = "while True: pass"});
  stopper.join();
  EXPECT_TRUE(absl::IsCancelled(verdict.status())) << verdict.status();
  EXPECT_LT(Clock::Real().Seconds() - start, 50);
}

TEST(Sandbox, TestsThatHangTimeOut) {
  SandboxOptions options;
  options.limits.wall_seconds = 1;
  ESPALIER_NEED_SANDBOX_WITH(sandbox, options);
  const auto verdict =
      sandbox->Run({.code = "", .tests = {"while True: pass"}});
  ASSERT_TRUE(verdict.ok()) << verdict.status();
  EXPECT_EQ(verdict->kind, VerdictKind::kTimedOut);
}

TEST(Sandbox, ImpossibleOptionsAreNamed) {
  SandboxOptions options;
  options.limits.memory = 1 << 20;
  auto made = Sandbox::Create(options);
  EXPECT_TRUE(absl::IsInvalidArgument(made.status())) << made.status();
  EXPECT_THAT(std::string(made.status().message()), HasSubstr("memory"));
  options = {};
  options.limits.cpu_seconds = -1;
  made = Sandbox::Create(options);
  EXPECT_THAT(std::string(made.status().message()), HasSubstr("cpu_seconds"));
  options = {};
  options.python = "/nowhere/python";
  made = Sandbox::Create(options);
  EXPECT_THAT(std::string(made.status().message()), HasSubstr("apt-get"));
  options = {};
  options.bubblewrap = "/nowhere/bwrap";
  made = Sandbox::Create(options);
  EXPECT_TRUE(absl::IsNotFound(made.status())) << made.status();
  EXPECT_THAT(std::string(made.status().message()),
              HasSubstr("apt-get install bubblewrap"));
}

// A bubblewrap that acts as it does where the kernel lets it make no
// namespaces.
TEST(Sandbox, RefusesWithTheReasonWhereNamespacesAreImpossible) {
  const std::string program =
      absl::StrCat(std::getenv("TMPDIR"), "/bwrap_without_rights");
  std::ofstream(program) << "#!/bin/sh\n"
                            "echo 'bwrap: No permissions to create new "
                            "namespace' >&2\nexit 1\n";
  ASSERT_EQ(chmod(program.c_str(), 0755), 0);
  SandboxOptions options;
  options.bubblewrap = program;
  const auto made = Sandbox::Create(options);
  EXPECT_TRUE(absl::IsFailedPrecondition(made.status())) << made.status();
  const std::string message(made.status().message());
  EXPECT_THAT(message, HasSubstr("No permissions to create new namespace"));
  EXPECT_THAT(message, HasSubstr("--sandbox weak"));
}

// One that holds nothing is found out, and not taken for a sandbox.
TEST(Sandbox, RefusesWhatHoldsNothing) {
  const std::string program =
      absl::StrCat(std::getenv("TMPDIR"), "/bwrap_that_holds_nothing");
  std::ofstream(program)
      << "#!/bin/sh\nwhile [ \"$1\" != /usr/bin/python3 ]; do shift; done\n"
         "exec \"$@\"\n";
  ASSERT_EQ(chmod(program.c_str(), 0755), 0);
  SandboxOptions options;
  options.bubblewrap = program;
  const auto made = Sandbox::Create(options);
  EXPECT_TRUE(absl::IsFailedPrecondition(made.status())) << made.status();
  EXPECT_THAT(std::string(made.status().message()), HasSubstr("it sees"));
}

TEST(WeakSandbox, HoldsAccidentsAndSaysWhatIsForbidden) {
  SandboxOptions options;
  options.mode = SandboxMode::kWeak;
  options.limits.cpu_seconds = 1;
  auto made = Sandbox::Create(options);
  ASSERT_TRUE(made.ok()) << made.status();
  Sandbox& sandbox = **made;
  const auto Kind = [&](const std::string& code) {
    const auto verdict = sandbox.Run({.code = code + "\n" + kAdd,
                                      .names = {"add"},
                                      .tests = {"assert add(1, 2) == 3"}});
    EXPECT_TRUE(verdict.ok()) << verdict.status();
    return verdict.ok() ? VerdictName(verdict->kind) : "error";
  };
  EXPECT_EQ(Kind(""), "passed");
  EXPECT_EQ(Kind("while True: pass"), "timed out");
  EXPECT_EQ(Kind("x = bytearray(1 << 40)"), "out of memory");
  EXPECT_EQ(Kind("import os; os.fork()"), "forbidden");
  EXPECT_EQ(Kind("import os; os.kill(os.getppid(), 9)"), "forbidden");
  EXPECT_EQ(Kind("import os; os.setsid()"), "forbidden");
  EXPECT_EQ(Kind("import socket; socket.socket()"), "forbidden");
  EXPECT_EQ(Kind("import os; os._exit(0)"), "crashed");
}

}  // namespace
}  // namespace espalier
