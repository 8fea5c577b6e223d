// A mutex, its scoped lock and a condition variable that clang's thread-safety
// analysis understands.
//
// Not std::mutex, so that CI's analysis can prove which lock guards which
// field; not absl::Mutex, because Debian's Abseil is built without
// ThreadSanitizer, which then reports every field it guards as a race.
//
//   Mutex mutex_;
//   std::deque<Job> jobs_ ABSL_GUARDED_BY(mutex_);
//   CondVar ready_;
//
//   MutexLock lock(mutex_);
//   while (jobs_.empty()) ready_.Wait(mutex_);
//
// Thread-safe.
#ifndef ESPALIER_BASE_MUTEX_H_
#define ESPALIER_BASE_MUTEX_H_

#include <chrono>
#include <condition_variable>
#include <mutex>

#include "absl/base/thread_annotations.h"

namespace espalier {

class ABSL_LOCKABLE Mutex {
 public:
  Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  void Lock() ABSL_EXCLUSIVE_LOCK_FUNCTION() { mutex_.lock(); }
  void Unlock() ABSL_UNLOCK_FUNCTION() { mutex_.unlock(); }
  bool TryLock() ABSL_EXCLUSIVE_TRYLOCK_FUNCTION(true) {
    return mutex_.try_lock();
  }

 private:
  friend class CondVar;
  std::mutex mutex_;
};

// Holds `mutex` from construction to destruction.
class ABSL_SCOPED_LOCKABLE MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) ABSL_EXCLUSIVE_LOCK_FUNCTION(mutex)
      : mutex_(mutex) {
    mutex_.Lock();
  }
  ~MutexLock() ABSL_UNLOCK_FUNCTION() { mutex_.Unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

// Wait may return without a notification: call it in a loop on a condition.
class CondVar {
 public:
  // `mutex` is released while waiting and held again on return.
  void Wait(Mutex& mutex) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    std::unique_lock<std::mutex> lock(mutex.mutex_, std::adopt_lock);
    condition_.wait(lock);
    lock.release();
  }
  // The same, for at most `seconds`.
  void WaitFor(Mutex& mutex, double seconds)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    std::unique_lock<std::mutex> lock(mutex.mutex_, std::adopt_lock);
    condition_.wait_for(lock, std::chrono::duration<double>(seconds));
    lock.release();
  }
  void NotifyOne() { condition_.notify_one(); }
  void NotifyAll() { condition_.notify_all(); }

 private:
  std::condition_variable condition_;
};

}  // namespace espalier

#endif  // ESPALIER_BASE_MUTEX_H_
