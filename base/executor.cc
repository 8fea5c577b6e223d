#include "base/executor.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "base/check.h"
#include "base/clock.h"
#include "oneapi/tbb/global_control.h"
#include "oneapi/tbb/task_arena.h"

// Debian's libtbb is not built with ThreadSanitizer, which therefore sees
// neither its synchronisation nor its allocations. The acquire and release
// annotations declare the former; writes of TBB's inline code to its own task
// are ignored between IgnoreWritesBegin and IgnoreWritesEnd.
#if defined(__SANITIZE_THREAD__)
extern "C" void __tsan_acquire(void* address);
extern "C" void __tsan_release(void* address);
extern "C" void AnnotateIgnoreWritesBegin(const char* file, int line);
extern "C" void AnnotateIgnoreWritesEnd(const char* file, int line);
#define ESP_TSAN_ACQUIRE(p) __tsan_acquire(p)
#define ESP_TSAN_RELEASE(p) __tsan_release(p)
#define ESP_TSAN_IGNORE_WRITES(expr)               \
  do {                                             \
    AnnotateIgnoreWritesBegin(__FILE__, __LINE__); \
    expr;                                          \
    AnnotateIgnoreWritesEnd(__FILE__, __LINE__);   \
  } while (false)
#else
#define ESP_TSAN_ACQUIRE(p) static_cast<void>(p)
#define ESP_TSAN_RELEASE(p) static_cast<void>(p)
#define ESP_TSAN_IGNORE_WRITES(expr) expr
#endif

namespace espalier {
namespace {

// TBB caps an arena at cores - 1 workers unless its process-wide limit is
// raised, and the lowest active limit wins. So all executors share one limit,
// far above any arena's size (a limit starts no threads). The arena of one slot
// keeps TBB's workers alive between executors. Never destroyed: TBB outlives
// main.
struct ThreadLimit {
  static constexpr size_t kLimit = 1024;
  ThreadLimit() { keeper.initialize(); }
  tbb::global_control control{tbb::global_control::max_allowed_parallelism,
                              kLimit};
  tbb::task_arena keeper{1};
};

void LiftThreadLimit() {
  // Volatile keeps the otherwise unused pointer visible to leak checkers.
  static const ThreadLimit* volatile limit = new ThreadLimit;
  static_cast<void>(limit);
}

// One ParallelFor call: shared by its caller and the helpers that it enqueued,
// some of which may start only after the call has returned.
struct Job {
  const std::function<void(int, int)>* fn;  // valid until finished == chunks
  int n;
  int grain;
  int chunks;
  // Chunks claimed so far, plus one per thread that found none left.
  std::atomic<int> next{0};
  // Threads that have claimed a chunk.
  std::atomic<int> participants{0};
  // Chunks whose fn has returned. Each increment releases fn's writes; the
  // caller's load of the final value acquires them.
  std::atomic<int> finished{0};
  // The caller and helpers that still use this job; the last one deletes it.
  std::atomic<int> holders;

  void Work() {
    bool took = false;
    while (true) {
      // relaxed: a claim orders nothing; enqueueing already synchronised.
      const int chunk = next.fetch_add(1, std::memory_order_relaxed);
      if (chunk >= chunks) return;
      if (!took) participants.fetch_add(1, std::memory_order_relaxed);
      took = true;
      const int begin = chunk * grain;
      (*fn)(begin, grain < n - begin ? begin + grain : n);
      if (finished.fetch_add(1, std::memory_order_acq_rel) + 1 == chunks) {
        finished.notify_one();
      }
    }
  }

  void WaitUntilFinished() {
    while (true) {
      const int now = finished.load(std::memory_order_acquire);
      if (now == chunks) return;
      // Notified only by the last chunk; returns at once if `now` is stale.
      finished.wait(now, std::memory_order_acquire);
    }
  }

  void LetGo() {
    if (holders.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }
};

// A longer wait means that a helper lost its core while running a chunk.
constexpr double kStalled = 300e-6;  // seconds

// One RunPhases call. The ticket holds the phase in its upper 32 bits and the
// next chunk in its lower 32 bits; the thread that completes a phase opens
// the next one.
class Phases {
 public:
  Phases(absl::Span<const int> chunks, absl::FunctionRef<void(int, int)> fn,
         int holders)
      : chunks_(chunks.begin(), chunks.end()), fn_(fn), holders_(holders) {
    Open(0);
  }

  // For helpers.
  void Work() { Work(false); }

  // Works until the last phase has ended. Returns whether a helper stalled the
  // caller; helpers then leave after their current chunk.
  bool Work(bool is_caller) {
    bool took = false;
    while (true) {
      if (!is_caller && stalled_.load(std::memory_order_relaxed)) return true;
      uint64_t ticket = ticket_.load(std::memory_order_acquire);
      const size_t phase = ticket >> 32;
      if (phase == chunks_.size()) {
        return stalled_.load(std::memory_order_relaxed);
      }
      const int chunk = static_cast<int>(ticket & 0xFFFFFFFFu);
      if (chunk >= chunks_[phase]) {
        const double waited = WaitWhile(ticket);
        if (is_caller && waited > kStalled) {
          stalled_.store(true, std::memory_order_relaxed);
        }
        continue;
      }
      if (!ticket_.compare_exchange_weak(ticket, ticket + 1,
                                         std::memory_order_acq_rel)) {
        continue;
      }
      if (!took) participants_.fetch_add(1, std::memory_order_relaxed);
      took = true;
      fn_(static_cast<int>(phase), chunk);
      // Each increment releases fn's writes; the last one acquires them all.
      if (done_.fetch_add(1, std::memory_order_acq_rel) + 1 == chunks_[phase]) {
        done_.store(0, std::memory_order_relaxed);
        Open(phase + 1);
      }
    }
  }

  int participants() const {
    return participants_.load(std::memory_order_relaxed);
  }

  void LetGo() {
    if (holders_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

 private:
  void Open(size_t phase) {
    while (phase < chunks_.size() && chunks_[phase] == 0) ++phase;
    ticket_.store(phase << 32, std::memory_order_release);
  }

  // Spins, as phases take microseconds; then yields, as the thread it waits for
  // may need this core. Returns the seconds spent yielding.
  double WaitWhile(uint64_t ticket) const {
    constexpr int kSpins = 2000;
    for (int i = 0; i < kSpins; ++i) {
      if (ticket_.load(std::memory_order_relaxed) != ticket) return 0;
      Pause();
    }
    const Clock& clock = Clock::Real();
    const double start = clock.Seconds();
    while (ticket_.load(std::memory_order_relaxed) == ticket) {
      std::this_thread::yield();
    }
    return clock.Seconds() - start;
  }

  static void Pause() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }

  // A copy: a helper that starts late still reads the number of phases.
  const std::vector<int> chunks_;
  const absl::FunctionRef<void(int, int)> fn_;  // valid until the last phase
  std::atomic<uint64_t> ticket_{0};
  std::atomic<int> done_{0};  // chunks of the current phase
  std::atomic<int> participants_{0};
  std::atomic<bool> stalled_{false};  // a hint; orders nothing
  std::atomic<int> holders_;          // the last one deletes
};

constexpr int kLongestPenalty = 256;

// Its address represents, for ThreadSanitizer, TBB's synchronisation when it
// passes a task to a worker and takes the task's memory back.
char tbb_hand_over;

}  // namespace

struct Executor::Arena {
  explicit Arena(int threads) : arena(threads) { LiftThreadLimit(); }

  // Waits for queued helpers, which would leak their job if the process ended
  // now. Yields instead of blocking, because a helper must touch nothing after
  // its decrement.
  ~Arena() {
    while (queued.load(std::memory_order_acquire) != 0) {
      std::this_thread::yield();
    }
  }

  // Enqueues `helpers` workers for `job`; each joins when it is free.
  template <class J>
  void Enlist(int helpers, J* job) {
    const auto help = [this, job] {
      ESP_TSAN_ACQUIRE(&tbb_hand_over);
      job->Work();
      job->LetGo();
      ESP_TSAN_RELEASE(&tbb_hand_over);
      queued.fetch_sub(1, std::memory_order_release);
    };
    // relaxed: only the destructor reads it, after this call.
    queued.fetch_add(helpers, std::memory_order_relaxed);
    ESP_TSAN_ACQUIRE(&tbb_hand_over);
    ESP_TSAN_RELEASE(&tbb_hand_over);
    for (int i = 0; i < helpers; ++i) {
      ESP_TSAN_IGNORE_WRITES(arena.enqueue(help));
    }
  }

  tbb::task_arena arena;  // one slot is the caller's
  // Helpers enqueued and not yet finished.
  std::atomic<int> queued{0};
};

Executor::Executor(int threads)
    : threads_(threads > 0 ? threads
                           : static_cast<int>(std::max(
                                 1u, std::thread::hardware_concurrency()))) {
  if (threads_ > 1) arena_ = std::make_unique<Arena>(threads_);
}

Executor::~Executor() = default;

void Executor::ParallelFor(int n, int grain,
                           const std::function<void(int, int)>& fn) {
  ESP_CHECK(n >= 0 && grain >= 1);
  if (n == 0) return;
  const int chunks = (n - 1) / grain + 1;
  if (threads_ == 1 || chunks == 1) {
    for (int i = 0; i < chunks; ++i) {
      fn(i * grain, grain < n - i * grain ? (i + 1) * grain : n);
    }
    last_participants_.store(1, std::memory_order_relaxed);
    return;
  }
  const int helpers = std::min(threads_, chunks) - 1;
  Job* const job = new Job{&fn, n, grain, chunks, {}, {}, {}, helpers + 1};
  arena_->Enlist(helpers, job);
  job->Work();
  job->WaitUntilFinished();
  last_participants_.store(job->participants.load(std::memory_order_relaxed),
                           std::memory_order_relaxed);
  job->LetGo();
}

void Executor::RunPhases(absl::Span<const int> chunks,
                         absl::FunctionRef<void(int, int)> fn) {
  const int most =
      chunks.empty() ? 0 : *std::max_element(chunks.begin(), chunks.end());
  int helpers = std::min(threads_, most) - 1;
  if (helpers > 0 && alone_.load(std::memory_order_relaxed) > 0) {
    alone_.fetch_sub(1, std::memory_order_relaxed);
    helpers = 0;
  }
  if (helpers <= 0) {
    for (size_t phase = 0; phase < chunks.size(); ++phase) {
      for (int i = 0; i < chunks[phase]; ++i) fn(static_cast<int>(phase), i);
    }
    last_participants_.store(1, std::memory_order_relaxed);
    return;
  }
  Phases* const job = new Phases(chunks, fn, helpers + 1);
  arena_->Enlist(helpers, job);
  const bool stalled = job->Work(true);
  const int penalty = penalty_.load(std::memory_order_relaxed);
  if (stalled) {
    const int now = std::clamp(2 * penalty, 4, kLongestPenalty);
    penalty_.store(now, std::memory_order_relaxed);
    alone_.store(now, std::memory_order_relaxed);
  } else if (penalty > 0) {
    penalty_.store(penalty / 2, std::memory_order_relaxed);
  }
  last_participants_.store(job->participants(), std::memory_order_relaxed);
  job->LetGo();
}

}  // namespace espalier
