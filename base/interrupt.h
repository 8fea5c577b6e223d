// Ctrl-C as a flag: the first one asks the program to stop and keep its
// results, a second one ends it at once.
//
//   int main(...) {
//     TakeSignals();  // before any thread starts
//     ...
//     engine->SolveAll(..., {.stop = &StopRequested()}, ...);
//
// No computing thread is ever interrupted: a handler's frame would be on its
// stack, and oneDNN's AVX-512 matrix products do not survive that. SIGINT,
// SIGTERM and SIGHUP are blocked in every thread and read by one that waits for
// them.
//
// Thread-safe.
#ifndef ESPALIER_BASE_INTERRUPT_H_
#define ESPALIER_BASE_INTERRUPT_H_

#include <atomic>

namespace espalier {

// Blocks these signals and starts the thread that waits for them. Call once, at
// the start of main: threads inherit the signal mask. A SIGHUP that the parent
// process ignored (nohup) stays ignored.
void TakeSignals();

// True once one of them has arrived. Before the first call of this function a
// signal ends the program by its default action: there is nothing to keep yet.
// Signals within a quarter of a second count as one, because wrappers forward a
// Ctrl-C that the terminal has already delivered.
const std::atomic<bool>& StopRequested();

}  // namespace espalier

#endif  // ESPALIER_BASE_INTERRUPT_H_
