// Searches that wait for an engine, in order of arrival.
//
//   SearchInbox inbox(/*most=*/256);
//   std::thread loop([&] { engine->Serve(inbox); });
//   if (!inbox.Put(7, std::move(job))) ...   // full
//   inbox.Take(7);                           // its client has gone
//   inbox.Close();
//   loop.join();
//
// Thread-safe.
#ifndef ESPALIER_SRC_SERVE_SEARCH_INBOX_H_
#define ESPALIER_SRC_SERVE_SEARCH_INBOX_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <utility>

#include "base/mutex.h"
#include "espalier/search_source.h"

namespace espalier {

class SearchInbox : public SearchSource {
 public:
  // `most`: jobs that may wait while the engine has as many as it takes.
  explicit SearchInbox(size_t most) : most_(most) {}

  // False, and `job` is dropped, if it is full or closed. `id` names the job.
  bool Put(uint64_t id, std::unique_ptr<SearchJob> job);
  // The job, if the engine has not taken it; else null.
  std::unique_ptr<SearchJob> Take(uint64_t id);
  // No more jobs: the engine ends with those that wait.
  void Close();
  size_t waiting() const;

  std::unique_ptr<SearchJob> Next(bool wait) override;

 private:
  const size_t most_;
  mutable Mutex mutex_;
  CondVar news_;
  std::deque<std::pair<uint64_t, std::unique_ptr<SearchJob>>> jobs_
      ABSL_GUARDED_BY(mutex_);
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace espalier

#endif  // ESPALIER_SRC_SERVE_SEARCH_INBOX_H_
