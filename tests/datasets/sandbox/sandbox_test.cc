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

// Of a class of its own derived from a plain one the program's objects stay
// behind, with their methods; the tests' own go over as what they derive from.
TEST(Sandbox, DerivedValuesAreNoPlainOnes) {
  ESPALIER_NEED_SANDBOX(sandbox);
  const auto verdict = sandbox->Run(
      {.code = "class Stack(list):\n"
               "    def push(self, x):\n"
               "        self.append(x)\n"
               "def kind(x):\n"
               "    return type(x).__name__, x\n",
       .names = {"Stack", "kind"},
       .tests = {"s = Stack([1])\ns.push(2)\n"
                 "assert list(s) == [1, 2] and len(s) == 2 and s[1] == 2",
                 "assert s == s and s != [1, 2] and not s == [1, 2]",
                 "import collections\n"
                 "p = collections.namedtuple('P', 'x y')(1, 2)\n"
                 "assert kind(p) == ('tuple', (1, 2))",
                 "assert kind(collections.Counter('ab'))[0] == 'Counter'",
                 "assert kind(s)[0] == 'Stack'"}});
  ASSERT_TRUE(verdict.ok()) << verdict.status();
  EXPECT_EQ(verdict->kind, VerdictKind::kPassed)
      << verdict->test << ": " << verdict->message;
}

// Tests that hand on what a program gave them, or show it.
TEST(Sandbox, CarelessTestsForgeNoVerdict) {
  ESPALIER_NEED_SANDBOX(sandbox);
  const std::string frame =
      "def f(x):\n"
      "    fields = [b'passed', b'1', b'x' * 9000, b'0.1', b'']\n"
      "    body = b''.join(len(p).to_bytes(8, 'little') + p for p in fields)\n"
      "    return (len(body).to_bytes(8, 'little') + body).decode('latin1')\n";
  const std::string set =
      "class S:\n"
      "    def difference(self, other):\n"
      "        self.other = list(other)\n"
      "        return set()\n"
      "    def __iter__(self):\n"
      "        return iter(self.other)\n"
      "def f(x):\n"
      "    return S()\n";
  const std::string silent =
      "class Silent:\n"
      "    def __str__(self):\n"
      "        raise ValueError\n"
      "def f(x):\n"
      "    return Silent()\n";
  const std::string deep =
      "def f(x):\n"
      "    rows, t = [], ()\n"
      "    for _ in range(50000):\n"
      "        t = (t,)\n"
      "        rows.append(t)\n"
      "    return rows\n";
  const std::string in_class =
      "import unittest\n"
      "class T(unittest.TestCase):\n"
      "    def test(self):\n"
      "        self.assertSetEqual(f(1), {1, 2})\n"
      "result = unittest.TestResult()\n"
      "T('test').run(result)\n"
      "assert result.wasSuccessful()\n";
  for (const auto& [code, test] :
       std::vector<std::pair<std::string, std::string>>{
           {frame, "r = f(3)\nprint(r, flush=True)\nassert r == 49"},
           {set, in_class},
           {silent, "assert f(3) == 49, f(3)"},
           {"def f(x):\n    return 10 ** 5000\n", "assert f(3) == 49, f(3)"},
           {deep, "assert len(set(f(3))) == 1"}}) {
    const auto verdict =
        sandbox->Run({.code = code, .names = {"f"}, .tests = {test}});
    ASSERT_TRUE(verdict.ok()) << verdict.status();
    EXPECT_EQ(verdict->kind, VerdictKind::kFailed)
        << code << verdict->message.substr(0, 200);
  }
  const auto printing =
      sandbox->Run({.code = "def f(x):\n    return x\n",
                    .names = {"f"},
                    .tests = {"print('x' * 20000, flush=True)\n"
                              "assert f(3) == 3"}});
  ASSERT_TRUE(printing.ok()) << printing.status();
  EXPECT_EQ(printing->kind, VerdictKind::kPassed) << printing->message;
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
