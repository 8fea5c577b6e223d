#include "src/base/executor.h"

#include <algorithm>
#include <atomic>
#include <thread>

#include "oneapi/tbb/global_control.h"
#include "oneapi/tbb/task_arena.h"
#include "oneapi/tbb/task_group.h"
#include "src/base/check.h"

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

struct Executor::Arena {
  explicit Arena(int threads)
      // An arena larger than the machine gets only cores - 1 workers unless
      // the global limit is lifted.
      : limit(tbb::global_control::max_allowed_parallelism,
              static_cast<size_t>(threads)),
        arena(threads, 1) {}
  tbb::global_control limit;
  tbb::task_arena arena;
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
  const int chunks = (n + grain - 1) / grain;
  if (threads_ == 1 || chunks == 1) {
    for (int i = 0; i < n; i += grain) fn(i, std::min(n, i + grain));
    last_participants_ = 1;
    return;
  }
  // next: chunks claimed so far; only grows. relaxed is enough for claiming,
  // because the task group's wait orders the chunks' writes before return.
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
      fn(begin, std::min(n, begin + grain));
    }
    ESP_TSAN_RELEASE(&done);
  };
  ESP_TSAN_RELEASE(&handover);
  arena_->arena.execute([&] {
    tbb::task_group group;
    const int helpers = std::min(threads_, chunks) - 1;
    for (int i = 0; i < helpers; ++i) group.run(work);
    work();
    group.wait();
  });
  ESP_TSAN_ACQUIRE(&done);
  last_participants_ = participants.load(std::memory_order_relaxed);
}

}  // namespace espalier
