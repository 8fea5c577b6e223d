#include "src/base/executor.h"

#include <algorithm>
#include <atomic>
#include <thread>

#include "oneapi/tbb/global_control.h"
#include "oneapi/tbb/task_arena.h"
#include "oneapi/tbb/task_group.h"
#include "src/base/check.h"
#include "src/base/mutex.h"

#if defined(__SANITIZE_THREAD__)
extern "C" void __tsan_acquire(void* address);
extern "C" void __tsan_release(void* address);
#define ESP_TSAN_ACQUIRE(p) __tsan_acquire(p)
#define ESP_TSAN_RELEASE(p) __tsan_release(p)
#else
#define ESP_TSAN_ACQUIRE(p) static_cast<void>(p)
#define ESP_TSAN_RELEASE(p) static_cast<void>(p)
#endif

namespace espalier {

namespace {

// TBB gives an arena larger than the machine cores - 1 workers unless its
// process-wide limit is lifted, and of several limits in force it takes the
// least. So all executors share one limit, high above any arena's size (a
// limit starts no threads), from the first executor to the last.
class ThreadLimit {
 public:
  static std::shared_ptr<ThreadLimit> Share() {
    MutexLock lock(mutex_);
    std::shared_ptr<ThreadLimit> limit = shared_.lock();
    if (limit == nullptr) {
      limit = std::make_shared<ThreadLimit>();
      shared_ = limit;
    }
    return limit;
  }

 private:
  static constexpr size_t kLimit = 1024;
  static Mutex mutex_;
  static std::weak_ptr<ThreadLimit> shared_ ABSL_GUARDED_BY(mutex_);
  tbb::global_control control_{tbb::global_control::max_allowed_parallelism,
                               kLimit};
};

Mutex ThreadLimit::mutex_;
std::weak_ptr<ThreadLimit> ThreadLimit::shared_;

}  // namespace

struct Executor::Arena {
  explicit Arena(int threads) : limit(ThreadLimit::Share()), arena(threads) {}
  std::shared_ptr<ThreadLimit> limit;
  tbb::task_arena arena;  // one of its slots is the caller's
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
  // next: chunks claimed so far; only grows. participants: threads that have
  // claimed one. relaxed is enough for both, because the task group's start
  // and wait order all chunks' reads and writes.
  std::atomic<int> next{0};
  std::atomic<int> participants{0};
  char handover = 0, done = 0;  // addresses that stand for the two edges
  const auto work = [&] {
    ESP_TSAN_ACQUIRE(&handover);
    bool took = false;
    while (true) {
      const int chunk = next.fetch_add(1, std::memory_order_relaxed);
      if (chunk >= chunks) break;
      if (!took) participants.fetch_add(1, std::memory_order_relaxed);
      took = true;
      const int begin = chunk * grain;
      fn(begin, grain < n - begin ? begin + grain : n);
    }
    ESP_TSAN_RELEASE(&done);
  };
  ESP_TSAN_RELEASE(&handover);
  arena_->arena.execute([&] {
    // execute hands this to a worker where the arena has no slot left for the
    // caller. isolate: see the header on inner calls.
    ESP_TSAN_ACQUIRE(&handover);
    tbb::this_task_arena::isolate([&] {
      tbb::task_group group;
      const int helpers = std::min(threads_, chunks) - 1;
      for (int i = 0; i < helpers; ++i) group.run(work);
      work();
      group.wait();
    });
    ESP_TSAN_RELEASE(&done);
  });
  ESP_TSAN_ACQUIRE(&done);
  last_participants_.store(participants.load(std::memory_order_relaxed),
                           std::memory_order_relaxed);
}

}  // namespace espalier
