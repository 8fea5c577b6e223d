#include "src/engine/background_checks.h"

namespace espalier {

BackgroundChecks::~BackgroundChecks() {
  Clear();
  {
    MutexLock lock(mutex_);
    ending_ = true;
  }
  asked_.NotifyAll();
  for (std::thread& thread : threads_) thread.join();
}

void BackgroundChecks::Ask(RequestId id, Check check) {
  size_t busy;
  {
    MutexLock lock(mutex_);
    queue_.emplace_back(id, std::move(check));
    busy = queue_.size() + static_cast<size_t>(under_way_);
  }
  if (busy > threads_.size() && threads_.size() < static_cast<size_t>(most_)) {
    threads_.emplace_back([this] { Work(); });
  }
  asked_.NotifyOne();
}

std::vector<BackgroundChecks::Answer> BackgroundChecks::Take(bool wait) {
  MutexLock lock(mutex_);
  while (wait && answers_.empty() && (under_way_ > 0 || !queue_.empty())) {
    answered_.Wait(mutex_);
  }
  return std::exchange(answers_, {});
}

void BackgroundChecks::Cancel(RequestId id) {
  MutexLock lock(mutex_);
  std::erase_if(queue_, [id](const auto& asked) { return asked.first == id; });
}

void BackgroundChecks::Clear() {
  MutexLock lock(mutex_);
  queue_.clear();
  while (under_way_ > 0) answered_.Wait(mutex_);
  answers_.clear();
}

void BackgroundChecks::Work() {
  for (;;) {
    Answer answer;
    Check check;
    {
      MutexLock lock(mutex_);
      while (queue_.empty() && !ending_) asked_.Wait(mutex_);
      if (queue_.empty()) return;
      answer.first = queue_.front().first;
      check = std::move(queue_.front().second);
      queue_.pop_front();
      ++under_way_;
    }
    answer.second = check();
    {
      MutexLock lock(mutex_);
      --under_way_;
      answers_.push_back(std::move(answer));
    }
    answered_.NotifyOne();
  }
}

}  // namespace espalier
