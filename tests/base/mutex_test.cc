#include "base/mutex.h"

#include <deque>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace espalier {
namespace {

struct Queue {
  Mutex mutex;
  CondVar ready;
  std::deque<int> items ABSL_GUARDED_BY(mutex);
  bool closed ABSL_GUARDED_BY(mutex) = false;
};

TEST(MutexTest, EveryItemIsTakenOnceByMoreWorkersThanItems) {
  Queue queue;
  std::vector<int> taken(3, 0);
  Mutex taken_mutex;
  std::vector<std::thread> workers;
  for (int w = 0; w < 8; ++w) {
    workers.emplace_back([&] {
      while (true) {
        int item;
        {
          MutexLock lock(queue.mutex);
          while (queue.items.empty() && !queue.closed) {
            queue.ready.Wait(queue.mutex);
          }
          if (queue.items.empty()) return;
          item = queue.items.front();
          queue.items.pop_front();
        }
        MutexLock lock(taken_mutex);
        ++taken[item];
      }
    });
  }
  for (int i = 0; i < 3; ++i) {
    MutexLock lock(queue.mutex);
    queue.items.push_back(i);
    queue.ready.NotifyOne();
  }
  {
    MutexLock lock(queue.mutex);
    queue.closed = true;
    queue.ready.NotifyAll();
  }
  for (std::thread& worker : workers) worker.join();
  EXPECT_EQ(taken, std::vector<int>(3, 1));
}

TEST(MutexTest, HeldMutexCannotBeTaken) {
  Mutex mutex;
  const auto can_take = [&mutex] {
    bool took = false;
    std::thread([&] {
      if (mutex.TryLock()) {
        took = true;
        mutex.Unlock();
      }
    }).join();
    return took;
  };
  {
    MutexLock lock(mutex);
    EXPECT_FALSE(can_take());
  }
  EXPECT_TRUE(can_take());
}

}  // namespace
}  // namespace espalier
