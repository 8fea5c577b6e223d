#include "src/serve/search_inbox.h"

#include <algorithm>

namespace espalier {

bool SearchInbox::Put(uint64_t id, std::unique_ptr<SearchJob> job) {
  {
    MutexLock lock(mutex_);
    if (closed_ || jobs_.size() >= most_) return false;
    jobs_.emplace_back(id, std::move(job));
  }
  news_.NotifyOne();
  return true;
}

std::unique_ptr<SearchJob> SearchInbox::Take(uint64_t id) {
  MutexLock lock(mutex_);
  const auto it =
      std::find_if(jobs_.begin(), jobs_.end(),
                   [id](const auto& waiting) { return waiting.first == id; });
  if (it == jobs_.end()) return nullptr;
  std::unique_ptr<SearchJob> job = std::move(it->second);
  jobs_.erase(it);
  return job;
}

void SearchInbox::Close() {
  {
    MutexLock lock(mutex_);
    closed_ = true;
  }
  news_.NotifyAll();
}

size_t SearchInbox::waiting() const {
  MutexLock lock(mutex_);
  return jobs_.size();
}

std::unique_ptr<SearchJob> SearchInbox::Next(bool wait) {
  MutexLock lock(mutex_);
  while (wait && jobs_.empty() && !closed_) news_.Wait(mutex_);
  if (jobs_.empty()) return nullptr;
  std::unique_ptr<SearchJob> job = std::move(jobs_.front().second);
  jobs_.pop_front();
  return job;
}

}  // namespace espalier
