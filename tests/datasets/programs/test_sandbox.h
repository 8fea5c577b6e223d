// A sandbox for tests. Tests that need one are skipped, with the reason, on
// machines that allow none.
#ifndef ESPALIER_TESTS_DATASETS_PROGRAMS_TEST_SANDBOX_H_
#define ESPALIER_TESTS_DATASETS_PROGRAMS_TEST_SANDBOX_H_

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "datasets/programs/sandbox.h"

namespace espalier {

// Asks bubblewrap itself: if namespaces are possible, a refused sandbox is an
// error and no reason to skip a test.
inline bool NamespacesArePossible() {
  const std::string user =
      geteuid() == 0 ? "setpriv --reuid=65534 --regid=65534 --clear-groups "
                     : "";
  return std::system((user + "bwrap --unshare-all --ro-bind / / /bin/true "
                             ">/dev/null 2>&1")
                         .c_str()) == 0;
}

// Declares `sandbox`, a std::unique_ptr<Sandbox>.
#define ESPALIER_NEED_SANDBOX_WITH(sandbox, options)                      \
  absl::StatusOr<std::unique_ptr<Sandbox>> made_##sandbox =               \
      Sandbox::Create(options);                                           \
  if (!made_##sandbox.ok() && !NamespacesArePossible()) {                 \
    GTEST_SKIP() << made_##sandbox.status().ToString();                   \
  }                                                                       \
  ASSERT_TRUE(made_##sandbox.ok()) << made_##sandbox.status().ToString(); \
  const std::unique_ptr<Sandbox> sandbox = *std::move(made_##sandbox)

// Limits for a busy machine.
inline SandboxOptions PatientOptions() {
  SandboxOptions options;
  options.limits.cpu_seconds = 60;
  options.limits.wall_seconds = 300;
  return options;
}

#define ESPALIER_NEED_SANDBOX(sandbox) \
  ESPALIER_NEED_SANDBOX_WITH(sandbox, PatientOptions())

#define ESPALIER_NEED_DATA_AND_SANDBOX(sandbox)                       \
  if (std::getenv("ESPALIER_DATA") == nullptr) {                      \
    GTEST_SKIP() << "set ESPALIER_DATA to the folder of public data"; \
  }                                                                   \
  ESPALIER_NEED_SANDBOX(sandbox)

}  // namespace espalier

#endif  // ESPALIER_TESTS_DATASETS_PROGRAMS_TEST_SANDBOX_H_
