// Ctrl-C as a flag: the first asks a program to end and keep what was done,
// the second ends it at once.
//
//   engine->SolveAll(problems, task, options, {.stop = &StopRequested()}, ...);
//
// Thread-safe.
#ifndef ESPALIER_SRC_BASE_INTERRUPT_H_
#define ESPALIER_SRC_BASE_INTERRUPT_H_

#include <atomic>

namespace espalier {

// True once SIGINT or SIGTERM came. The first call installs the handlers.
const std::atomic<bool>& StopRequested();

}  // namespace espalier

#endif  // ESPALIER_SRC_BASE_INTERRUPT_H_
