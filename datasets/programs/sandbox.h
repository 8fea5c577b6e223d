// Runs programs that nobody vouches for, as models write them, and says how
// they fared against tests.
//
//   ESP_ASSIGN_OR_RETURN(auto sandbox, Sandbox::Create({}));
//   ESP_ASSIGN_OR_RETURN(
//       ProgramVerdict verdict,
//       sandbox->Run({.code = "def add(a, b):\n  return a + b\n",
//                     .names = {"add"},
//                     .tests = {"assert add(1, 2) == 3"}}));
//   // verdict.kind == VerdictKind::kPassed
//   ESP_ASSIGN_OR_RETURN(auto run, sandbox->RunInput("print(input())", "7\n"));
//   // run.output == "7\n"
//
// What holds a program (mode kNamespaces, by bubblewrap):
//   no network; nothing of the file system but /usr and what runs it, read
//   only; a /tmp of its own in memory that ends with it; no other process in
//   sight; no capability, and the user nobody where the caller is root; a
//   filter of system calls (seccomp_filter.h); limits on CPU time, time,
//   memory, threads and the size of files. It starts no other process unless
//   told so, hence its memory is bounded: twice `memory` (program and tests)
//   and `tmp`.
// Where that cannot be had, Create refuses and says why. Mode kWeak must be
// asked for: limits and the filter alone. It holds accidents, not attacks: the
// file system can be read, and written where the user may.
//
// One worker serves one program and ends. Workers wait ready in a pool:
//
//   Sandbox --socket--> tests' process --pipe--> solution's process
//                       reads the tests,         runs the program, knows no
//                       gives the verdict        test and no expected value
//
// Both are Python, in one namespace. The tests' process is its process 1,
// which the kernel lets nobody in there signal; it forks the other one before
// it reads the tests. Functions of the program are called through the pipe,
// and what they return crosses as plain values (numbers, texts, lists,
// arrays, ...), as data that names no class and no function; any other object
// stays behind a proxy that equals no plain value. Both are in one folder. So
// a program cannot forge a verdict by ending its process, printing, changing
// builtins, overriding __eq__, tracing, or writing into descriptors: what it
// can do is to answer calls with values.
//
// Not promised: that answers come from the code one sees (a program may know
// answers by heart); that a test weaker than its problem catches a wrong
// program; safety against faults of the kernel. A function that gives None has
// its arguments copied back to the tests, as one that works in place expects;
// one that gives a value has not.
//
// Thread-safe: calls run side by side and block their thread alone. At most
// the Sandbox's destruction must wait for them.
#ifndef ESPALIER_DATASETS_PROGRAMS_SANDBOX_H_
#define ESPALIER_DATASETS_PROGRAMS_SANDBOX_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace espalier {

enum class SandboxMode {
  kNamespaces,
  kWeak,
};

struct SandboxLimits {
  // Of the program, in whole seconds, rounded up; and of the tests for its
  // calls.
  double cpu_seconds = 10;
  // Of the program and its tests together. Generous: a machine that does much
  // else gives a program a small share of its time.
  double wall_seconds = 120;
  int64_t memory = 1024 << 20;   // bytes of address space
  int64_t tmp = 64 << 20;        // bytes in its /tmp, which count as memory
  int64_t file_size = 16 << 20;  // bytes of a file, its output included
  int threads = 32;              // with `fork` processes count as well
  // The program may start processes. Each may use `memory`.
  bool fork = false;
};

struct SandboxOptions {
  SandboxMode mode = SandboxMode::kNamespaces;
  SandboxLimits limits;
  // Workers that wait ready. As many as calls at a time hide their start.
  int warm = 2;
  std::string python = "/usr/bin/python3";
  std::string bubblewrap = "bwrap";  // a path, or a name to look up in PATH
  // Once true, calls return Cancelled.
  const std::atomic<bool>* stop = nullptr;
};

enum class VerdictKind {
  kPassed,
  kFailed,       // a test, or the program before the first one
  kTimedOut,     // CPU time or time
  kOutOfMemory,  // Python said so
  kCrashed,      // its process ended before the tests
  kForbidden,    // a system call that no program here may make
};

// "passed", "failed", "timed out", "out of memory", "crashed", "forbidden".
std::string_view VerdictName(VerdictKind kind);

// A program and tests in Python. The tests' process runs, in this order and in
// one namespace: `before`, then binds `names` to what the program calls so,
// then `after`, then each of `tests`.
struct PythonProgram {
  std::string code;                // untrusted
  std::vector<std::string> names;  // of functions, classes, constants
  // That the problem's own classes have. Of what plain values have under other
  // names (startswith, find, ...) objects of the program are not asked.
  std::vector<std::string> methods;
  std::string given;               // code that runs before the program's
  std::string before;              // what the tests know without the program
  std::string after;               // what they prepare with it
  std::vector<std::string> tests;  // pieces of code that must raise nothing
};

struct ProgramVerdict {
  VerdictKind kind = VerdictKind::kCrashed;
  // The test that decided, from 1 on; with a single piece of tests the number
  // of its calls of the program. 0: before any.
  int test = 0;
  std::string message;     // why, in words; "" for kPassed
  double cpu_seconds = 0;  // of the program, where its process has ended
};

struct InputVerdict {
  VerdictKind kind = VerdictKind::kCrashed;  // kPassed: exit code 0
  std::string message;
  std::string output;  // what it wrote to standard output
  double cpu_seconds = 0;
};

class Sandbox {
 public:
  // Starts a worker, and checks by it that a program is held as promised.
  // FailedPrecondition with the reason and the ways out where it is not;
  // InvalidArgument for impossible options.
  static absl::StatusOr<std::unique_ptr<Sandbox>> Create(
      SandboxOptions options);
  ~Sandbox();
  Sandbox(const Sandbox&) = delete;
  Sandbox& operator=(const Sandbox&) = delete;

  // Unavailable where workers do not start any more, Cancelled.
  absl::StatusOr<ProgramVerdict> Run(const PythonProgram& program);

  // Runs `code` as a program of its own with `input` as standard input.
  absl::StatusOr<InputVerdict> RunInput(std::string_view code,
                                        std::string_view input);

 private:
  class Pool;
  explicit Sandbox(std::unique_ptr<Pool> pool);

  const std::unique_ptr<Pool> pool_;
};

}  // namespace espalier

#endif  // ESPALIER_DATASETS_PROGRAMS_SANDBOX_H_
