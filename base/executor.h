// A thread pool over oneTBB, used for all parallel work.
//
// The caller computes too: ParallelFor hands out indices in small chunks from a
// shared counter, so a slow core delays one chunk, not its share of a barrier.
// The schedule never changes a result: callers give each index its own output.
//
//   Executor executor(2);
//   executor.ParallelFor(rows, 16, [&](int begin, int end) { ... });
//
// fn may call ParallelFor of the same Executor. While an inner call waits for
// its last chunks, its thread runs no chunk of the outer call, so fn may use
// thread-local scratch memory, but must not hold a lock that another chunk
// needs.
//
// Thread-safe. TBB's synchronisation is invisible to ThreadSanitizer and
// annotated by hand.
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
  // `threads` >= 1 includes the caller; 0: one per core.
  explicit Executor(int threads = 0);
  ~Executor();
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  int threads() const { return threads_; }

  // Calls fn(begin, end) over disjoint chunks of at most `grain` indices that
  // cover [0, n). Returns when all are done. fn must not throw.
  void ParallelFor(int n, int grain, const std::function<void(int, int)>& fn);

  // Calls fn(phase, chunk) for chunk = 0 .. chunks[phase] - 1, phase by phase;
  // a phase begins when the previous one has ended and sees its writes. For
  // chunks of about 1 to 50 us: helpers stay across phases and busy-wait, so a
  // phase costs at most a few hundred nanoseconds. If a helper stalls the
  // others (its core is shared), the next calls run without helpers: a few at
  // first, more each time it recurs, fewer after each good call. fn must not
  // call the executor.
  void RunPhases(absl::Span<const int> chunks,
                 absl::FunctionRef<void(int phase, int chunk)> fn);

  // Number of threads that ran chunks of the most recently finished ParallelFor
  // or RunPhases; tests use it to prove that several threads took part.
  int last_participants() const {
    return last_participants_.load(std::memory_order_relaxed);
  }

 private:
  struct Arena;
  std::unique_ptr<Arena> arena_;
  int threads_;
  // Stored at the end of each call; orders nothing else.
  std::atomic<int> last_participants_{0};
  // RunPhases calls still to run without helpers, and the penalty from which
  // the next stall's is computed. Hints only: races between callers are benign.
  std::atomic<int> alone_{0};
  std::atomic<int> penalty_{0};
};

}  // namespace espalier

#endif  // ESPALIER_BASE_EXECUTOR_H_
