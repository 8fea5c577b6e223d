// The system calls that a program in the sandbox may make, as a kernel filter
// (seccomp, classic BPF).
//
//   std::string code = SeccompFilter({.fork = false, .signals = true});
//
// Calls programs need are allowed. Calls that only an attack or an unsuitable
// program makes (network, new processes, tracing, mounting, loading kernel
// code) end the process by SIGSYS, so that the verdict can say so. Calls for
// extended file attributes fail as on a file system without them (ENOTSUP). Any
// other call, including every call newer than this list, fails with ENOSYS, as
// on a kernel without it.
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
