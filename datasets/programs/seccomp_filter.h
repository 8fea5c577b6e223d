// The system calls that a program in the sandbox may make, as a filter for
// the kernel (seccomp, classic BPF).
//
//   std::string code = SeccompFilter({.fork = false, .signals = true});
//
// Calls are of three kinds. What programs need is allowed. What only an attack
// or a program that is out of place here asks for (network, new processes,
// tracing, mounting, loading kernel code) ends the process by SIGSYS, so that
// the verdict can say so. Calls for extended attributes of files fail as on a
// file system that has none (ENOTSUP). Any other call fails with ENOSYS, as on
// a kernel that does not have it, and so does every call that is newer than
// this list.
//
// Stateless: thread-safe.
#ifndef ESPALIER_DATASETS_PROGRAMS_SECCOMP_FILTER_H_
#define ESPALIER_DATASETS_PROGRAMS_SECCOMP_FILTER_H_

#include <string>

#include "absl/status/statusor.h"

namespace espalier {

struct SeccompOptions {
  // New processes and programs may be started; threads always may.
  bool fork = false;
  // Signals may be sent. Safe where other processes cannot be seen.
  bool signals = true;
};

// The bytes of an array of struct sock_filter. Unimplemented on processors
// other than x86-64 and 64-bit ARM.
absl::StatusOr<std::string> SeccompFilter(const SeccompOptions& options);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_PROGRAMS_SECCOMP_FILTER_H_
