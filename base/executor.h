// One pool of workers over oneTBB, through which all work passes from thread
// to thread.
//
// The caller computes too: ParallelFor hands out indices in small chunks from
// a shared counter, so a busy neighbour costs a chunk and not a barrier. What
// runs where never changes a result: callers give each index its own output.
//
//   Executor executor(2);
//   executor.ParallelFor(rows, 16, [&](int begin, int end) { ... });
//
// fn may call ParallelFor of the same Executor. While such an inner call waits
// for its last chunks, its thread takes up nothing of the outer one, so fn may
// keep scratch space in thread-local storage, but no lock that another chunk
// wants.
//
// Thread-safe. Under ThreadSanitizer the hand-over is announced by hand,
// because TBB's own synchronisation is not visible to it.
#ifndef ESPALIER_BASE_EXECUTOR_H_
#define ESPALIER_BASE_EXECUTOR_H_

#include <atomic>
#include <functional>
#include <memory>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"

namespace espalier {

class Executor {
 public:
  // `threads` >= 1 counts the caller; 0 takes one per core.
  explicit Executor(int threads = 0);
  ~Executor();
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  int threads() const { return threads_; }

  // Calls fn(begin, end) over disjoint chunks of at most `grain` indices that
  // cover [0, n). Returns when all are done. fn must not throw.
  void ParallelFor(int n, int grain, const std::function<void(int, int)>& fn);

  // Calls fn(phase, chunk) for chunk = 0 .. chunks[phase] - 1 of each phase in
  // turn; a phase begins when the one before has ended, and sees what it wrote.
  // For chunks of about 1 to 50 us: helpers stay from phase to phase and wait
  // awake, so a phase costs no more than a few hundred nanoseconds. A helper
  // that keeps the others waiting (its core has another tenant) is left out of
  // the next calls, at first of a few, then of ever more until one goes well.
  // fn must not call the executor.
  void RunPhases(absl::Span<const int> chunks,
                 absl::FunctionRef<void(int phase, int chunk)> fn);

  // How many different threads have run chunks of the ParallelFor or RunPhases
  // that ended last; tests use it to prove that their threads took part.
  int last_participants() const {
    return last_participants_.load(std::memory_order_relaxed);
  }

 private:
  struct Arena;
  std::unique_ptr<Arena> arena_;
  int threads_;
  // Stored at the end of each call; orders nothing else.
  std::atomic<int> last_participants_{0};
  // Calls of RunPhases that are to do without helpers, and how many the next
  // bad one costs. Only hints: races between callers do no harm.
  std::atomic<int> alone_{0};
  std::atomic<int> penalty_{0};
};

}  // namespace espalier

#endif  // ESPALIER_BASE_EXECUTOR_H_
