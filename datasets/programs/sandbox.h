// Runs untrusted programs, as models write them, and reports how they fared
// against tests.
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
// What confines a program (mode kNamespaces, by bubblewrap):
//   no network; nothing of the file system but /usr and its runtime, read
//   only; a private in-memory /tmp that ends with it; no other process
//   visible; no capability, and the user nobody if the caller is root; a
//   filter of system calls (seccomp_filter.h); limits on CPU time, wall time,
//   memory, threads and the size of files. It starts no other process unless
//   allowed to, hence its memory is bounded: twice `memory` (program and
//   tests) and `tmp`.
// If that is not available, Create fails and says why. Mode kWeak must be
// requested: only limits and the filter. It stops accidents, not attacks: the
// file system can be read, and written where the user may.
//
// One worker serves one program and ends. Idle workers wait in a pool:
//
//   Sandbox --socket--> tests' process --pipe--> solution's process
//                       reads the tests,         runs the program, knows no
//                       gives the verdict        test and no expected value
//
// Both are Python, in one namespace. The tests' process is its process 1, which
// the kernel lets nobody inside signal; it forks the other one before it reads
// the tests. Functions of the program are called through the pipe, and their
// results cross as plain values (numbers, texts, lists, arrays, ...), as data
// that names no class and no function; any other object stays behind a proxy
// that equals no plain value. Both are in one folder. So a program cannot forge
// a verdict by ending its process, printing, changing builtins, overriding
// __eq__, tracing, or writing into descriptors: all it can do is answer calls
// with values.
//
// Not promised: that answers come from the visible code (a program may have
// memorized answers); that a test weaker than its problem catches a wrong
// program; safety against kernel bugs. If a function returns None, its
// arguments are copied back to the tests, for functions that work in place;
// otherwise they are not.
//
// Thread-safe: calls run in parallel and block only their own thread. The
// Sandbox must outlive them.
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
  // Of the program and its tests together. Generous: on a busy machine a
  // program gets a small share of the time.
  double wall_seconds = 120;
  int64_t memory = 1024 << 20;   // bytes of address space
  int64_t tmp = 64 << 20;        // bytes in its /tmp, which count as memory
  int64_t file_size = 16 << 20;  // bytes per file, including its output
  int threads = 32;              // with `fork` processes count too
  // The program may start processes. Each may use `memory`.
  bool fork = false;
};

struct SandboxOptions {
  SandboxMode mode = SandboxMode::kNamespaces;
  SandboxLimits limits;
  // Idle workers. As many as concurrent calls hides their start-up time.
  int warm = 2;
  std::string python = "/usr/bin/python3";
  std::string bubblewrap = "bwrap";  // a path, or a name to look up in PATH
  // Once true, calls return Cancelled.
  const std::atomic<bool>* stop = nullptr;
};

enum class VerdictKind {
  kPassed,
  kFailed,       // a test, or the program before the first one
  kTimedOut,     // CPU or wall time
  kOutOfMemory,  // reported by Python
  kCrashed,      // its process ended before the tests
  kForbidden,    // a system call that programs here may not make
};

// "passed", "failed", "timed out", "out of memory", "crashed", "forbidden".
std::string_view VerdictName(VerdictKind kind);

// A program and tests in Python. The tests' process runs, in this order and in
// one namespace: `before`; binding `names` to the program's objects of those
// names; `after`; each of `tests`.
struct PythonProgram {
  std::string code;                // untrusted
  std::vector<std::string> names;  // of functions, classes, constants
  // Methods that the problem's own classes have. The tests call no other
  // methods on the program's objects that plain values have too (startswith,
  // find, ...).
  std::vector<std::string> methods;
  std::string given;               // code that runs before the program's
  std::string before;              // what the tests define without the program
  std::string after;               // what they set up with it
  std::vector<std::string> tests;  // pieces of code that must raise nothing
};

struct ProgramVerdict {
  VerdictKind kind = VerdictKind::kCrashed;
  // The test that decided, counting from 1; with a single piece of tests the
  // number of its calls of the program. 0: before any.
  int test = 0;
  std::string message;     // why, in words; "" for kPassed
  double cpu_seconds = 0;  // of the program, if its process has ended
};

struct InputVerdict {
  VerdictKind kind = VerdictKind::kCrashed;  // kPassed: exit code 0
  std::string message;
  std::string output;  // what it wrote to standard output
  double cpu_seconds = 0;
};

class Sandbox {
 public:
  // Starts a worker, and uses it to check that a program is confined as
  // promised. FailedPrecondition with the reason and the remedies if it is not;
  // InvalidArgument for impossible options.
  static absl::StatusOr<std::unique_ptr<Sandbox>> Create(
      SandboxOptions options);
  ~Sandbox();
  Sandbox(const Sandbox&) = delete;
  Sandbox& operator=(const Sandbox&) = delete;

  // Unavailable if workers no longer start; Cancelled.
  absl::StatusOr<ProgramVerdict> Run(const PythonProgram& program);

  // Runs `code` as a standalone program with `input` as standard input.
  absl::StatusOr<InputVerdict> RunInput(std::string_view code,
                                        std::string_view input);

 private:
  class Pool;
  explicit Sandbox(std::unique_ptr<Pool> pool);

  const std::unique_ptr<Pool> pool_;
};

}  // namespace espalier

#endif  // ESPALIER_DATASETS_PROGRAMS_SANDBOX_H_
