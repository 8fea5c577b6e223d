// Ctrl-C as a flag: the first asks a program to end and keep what was done,
// another one ends it at once.
//
//   int main(...) {
//     TakeSignals();  // before any thread starts
//     ...
//     engine->SolveAll(..., {.stop = &StopRequested()}, ...);
//
// No thread that computes is ever interrupted: a handler's frame would lie on
// its stack, and oneDNN's AVX-512 products do not survive that. SIGINT, SIGTERM
// and SIGHUP are blocked in every thread and read by one that waits for them.
//
// Thread-safe.
#ifndef ESPALIER_BASE_INTERRUPT_H_
#define ESPALIER_BASE_INTERRUPT_H_

#include <atomic>

namespace espalier {

// Blocks the signals that ask a program to end, and starts the thread that
// waits for them. Once, first thing in main: threads inherit what is blocked.
// A signal ignored by whoever started the program (nohup) stays so.
void TakeSignals();

// True once one of them came. Until this was called for the first time a signal
// ends the program, as if nobody had taken it: there is nothing to be kept.
// Signals within a quarter of a second are one: wrappers pass Ctrl-C on to a
// program that the terminal has told already.
const std::atomic<bool>& StopRequested();

}  // namespace espalier

#endif  // ESPALIER_BASE_INTERRUPT_H_
