#include "src/queue/queue_worker.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "base/status_macros.h"

namespace espalier {
namespace {

// Of one transaction.
constexpr size_t kMostBytes = size_t{16} << 20;
// Searches claimed at once by a worker that holds none: others may be about to
// start.
constexpr int64_t kFirstClaim = 4;
constexpr double kCountPause = 1;  // seconds, at least, between counts

double Now() { return Clock::Real().Seconds(); }

size_t SizeOf(const QueueWrite& write) {
  size_t bytes = sizeof(QueueWrite) + write.entry.size();
  if (!write.finished) return bytes;
  bytes += write.finished->tree.size() + write.finished->log.size();
  for (const Solution& solution : write.finished->solutions) {
    bytes += sizeof(Solution) + solution.response.size();
  }
  return bytes;
}

}  // namespace

absl::Status GivenUp(const absl::Status& error, double patience) {
  return absl::Status(
      error.code(),
      absl::StrCat(error.message(), "; given up after ", patience, " s"));
}

QueueWorker::QueueWorker(std::unique_ptr<WorkQueue> queue,
                         QueueWorkerOptions options, int64_t worker)
    : options_(std::move(options)), worker_(worker), queue_(std::move(queue)) {
  thread_ = std::thread([this] { Work(); });
}

absl::StatusOr<std::unique_ptr<QueueWorker>> QueueWorker::Start(
    std::unique_ptr<WorkQueue> queue, QueueWorkerOptions options) {
  ESP_ASSIGN_OR_RETURN(const int64_t worker,
                       queue->AddWorker(options.run, options.lease));
  return std::unique_ptr<QueueWorker>(
      new QueueWorker(std::move(queue), std::move(options), worker));
}

QueueWorker::~QueueWorker() {
  {
    MutexLock lock(mutex_);
    ending_ = true;
    if (connection_ != nullptr) connection_->Interrupt();
  }
  to_thread_.NotifyAll();
  thread_.join();
}

absl::StatusOr<bool> QueueWorker::WaitForWork(const std::atomic<bool>* stop) {
  MutexLock lock(mutex_);
  if (seed_) {
    // There may be searches with other seeds.
    seed_.reset();
    last_claim_ = 0;
  }
  for (;;) {
    ESP_RETURN_IF_ERROR(status_);
    if (stop != nullptr && stop->load()) return false;
    if (!claimed_.empty()) return true;
    // What this worker has ended is counted once it is uploaded.
    if (counts_.left == 0) return false;
    want_ = std::max<size_t>(want_, 1);
    to_thread_.NotifyOne();
    from_thread_.WaitFor(mutex_, 0.1);
  }
}

std::optional<uint64_t> QueueWorker::NextSeed() const {
  MutexLock lock(mutex_);
  if (claimed_.empty()) return std::nullopt;
  return claimed_.front().seed;
}

std::optional<ClaimedSearch> QueueWorker::Take(uint64_t seed, size_t room) {
  MutexLock lock(mutex_);
  if (!claimed_.empty() && claimed_.front().seed == seed) {
    ClaimedSearch claimed = std::move(claimed_.front());
    claimed_.pop_front();
    return claimed;
  }
  if (claimed_.empty()) {
    want_ = room;
    seed_ = seed;
    to_thread_.NotifyOne();
  }
  return std::nullopt;
}

bool QueueWorker::Lost(int64_t claim) {
  MutexLock lock(mutex_);
  const auto held = held_.find(claim);
  if (held == held_.end() || !held->second.lost) return false;
  held_.erase(held);
  return true;
}

absl::Status QueueWorker::Leave(double seconds, bool blame) {
  MutexLock lock(mutex_);
  leaving_ = true;
  blame_ = blame;
  want_ = 0;
  leave_until_ = Now() + seconds;
  to_thread_.NotifyOne();
  while (!gone_) {
    const double left = leave_until_ - Now();
    if (left <= 0) {
      // A server that answers nothing: an error ends the thread's call.
      if (connection_ != nullptr) connection_->Interrupt();
      from_thread_.WaitFor(mutex_, 1);
    } else {
      from_thread_.WaitFor(mutex_, left);
    }
  }
  return status_;
}

void QueueWorker::Push(QueueWrite write, size_t bytes) {
  MutexLock lock(mutex_);
  const auto stopped = [this] {
    return options_.stop != nullptr && options_.stop->load();
  };
  while (bytes_ > options_.buffer && status_.ok() && !gone_ && !stopped()) {
    from_thread_.WaitFor(mutex_, 0.1);
  }
  const auto held = held_.find(write.claim);
  if (held == held_.end()) return;
  if (held->second.lost) {
    // Nobody asks any more whether it is.
    if (write.finished) held_.erase(held);
    return;
  }
  write.search = held->second.search;
  if (write.finished) held->second.ended = true;
  bytes_ += bytes;
  writes_.push_back(std::move(write));
  if (writes_.size() == 1) to_thread_.NotifyOne();
}

absl::Status QueueWorker::AddResponse(int64_t claim, uint64_t number,
                                      std::string_view entry) {
  QueueWrite write{
      .claim = claim, .number = number, .entry = std::string(entry)};
  const size_t bytes = SizeOf(write);
  Push(std::move(write), bytes);
  return absl::OkStatus();
}

absl::Status QueueWorker::FinishSearch(int64_t claim,
                                       const FinishedSearch& finished) {
  QueueWrite write{.claim = claim, .finished = finished};
  const size_t bytes = SizeOf(write);
  Push(std::move(write), bytes);
  return absl::OkStatus();
}

absl::Status QueueWorker::Commit() {
  MutexLock lock(mutex_);
  return status_;
}

QueueCounts QueueWorker::counts() const {
  MutexLock lock(mutex_);
  QueueCounts counts = counts_;
  counts.held = static_cast<int64_t>(held_.size());
  return counts;
}

bool QueueWorker::NextExchange(QueueExchange& exchange, size_t& writes) {
  MutexLock lock(mutex_);
  const double renewal = options_.lease / 4;
  // A queue in which others hold everything is asked now and then.
  const double asking = std::min(1.0, renewal);
  for (;;) {
    if (ending_ || !status_.ok()) return false;
    const double now = Now();
    const bool renew = now >= last_renewal_ + renewal;
    const bool write = !writes_.empty() && now >= last_upload_ + options_.pause;
    const bool want =
        want_ > 0 && claimed_.empty() && (write || now >= last_claim_ + asking);
    if (leaving_ || renew || write || want) {
      exchange.renew = renew;
      exchange.leave = leaving_;
      exchange.blame = blame_;
      if (want) {
        const auto held = static_cast<int64_t>(held_.size());
        exchange.want =
            std::min(static_cast<int64_t>(want_), std::max(kFirstClaim, held));
        exchange.seed = seed_;
        exchange.count = now >= next_count_;
        exchange.left = counts_.left;
        exchange.workers = counts_.workers;
      }
      began_ = now;
      break;
    }
    double wait = last_renewal_ + renewal - now;
    if (!writes_.empty()) {
      wait = std::min(wait, last_upload_ + options_.pause - now);
    }
    if (want_ > 0 && claimed_.empty()) {
      wait = std::min(wait, last_claim_ + asking - now);
    }
    to_thread_.WaitFor(mutex_, std::max(wait, 1e-3));
  }
  for (const auto& [claim, held] : held_) {
    if (!held.lost) exchange.held.push_back({claim, held.search});
  }
  size_t bytes = 0;
  for (const QueueWrite& write : writes_) {
    if (bytes > 0 && bytes + SizeOf(write) > kMostBytes) break;
    bytes += SizeOf(write);
    exchange.writes.push_back(&write);
  }
  writes = exchange.writes.size();
  // What is left behind goes up first.
  if (writes < writes_.size()) exchange.leave = false;
  return true;
}

void QueueWorker::TakeReply(QueueReply reply, const QueueExchange& exchange,
                            size_t writes) {
  bool again = false;
  {
    MutexLock lock(mutex_);
    const double now = Now();
    last_upload_ = now;
    if (exchange.renew) last_renewal_ = now;
    again = away_since_ >= 0 && !leaving_;
    away_since_ = -1;
    retry_ = 0;
    counts_.away.clear();
    if (reply.counted) {
      counts_.left = reply.left;
      counts_.workers = reply.workers;
      // Counting a million searches takes a while.
      next_count_ = now + std::max(kCountPause, 20 * (now - began_));
    }
    for (size_t i = 0; i < writes; ++i) {
      bytes_ -= SizeOf(writes_.front());
      if (writes_.front().finished) {
        // The search is over, so nobody asks whether it is lost.
        held_.erase(writes_.front().claim);
      }
      writes_.pop_front();
    }
    for (const int64_t claim : reply.lost) {
      const auto held = held_.find(claim);
      if (held == held_.end()) continue;
      if (held->second.ended) {
        held_.erase(held);
      } else {
        held->second.lost = true;
      }
      const size_t before = claimed_.size();
      std::erase_if(claimed_, [claim](const ClaimedSearch& search) {
        return search.claim == claim;
      });
      if (claimed_.size() < before) held_.erase(claim);
    }
    if (exchange.want > 0) {
      if (reply.claimed.empty()) last_claim_ = now;
      want_ -= std::min(want_, reply.claimed.size());
    }
    for (ClaimedSearch& claimed : reply.claimed) {
      held_[claimed.claim] = {.search = claimed.search};
      claimed_.push_back(std::move(claimed));
    }
    if (exchange.leave) gone_ = true;
  }
  if (again && options_.away) options_.away(absl::OkStatus());
  from_thread_.NotifyAll();
}

bool QueueWorker::TakeError(const absl::Status& error) {
  if (options_.away && IsPassing(error)) {
    bool said = false;
    {
      MutexLock lock(mutex_);
      said = away_since_ >= 0 || ending_ || leaving_;
    }
    if (!said) options_.away(error);
  }
  bool again = false;
  {
    MutexLock lock(mutex_);
    const double now = Now();
    if (away_since_ < 0) away_since_ = now;
    counts_.away = std::string(error.message());
    retry_ = std::min(kLongestPause, std::max(0.1, 2 * retry_));
    again = IsPassing(error) && now < away_since_ + options_.patience &&
            (!leaving_ || now < leave_until_) && !ending_;
    if (!again) {
      const bool long_away =
          IsPassing(error) && now >= away_since_ + options_.patience;
      status_ = long_away ? GivenUp(error, options_.patience) : error;
    } else {
      const double until = now + retry_;
      for (double t = now; t < until && !ending_ && !leaving_; t = Now()) {
        to_thread_.WaitFor(mutex_, until - t);
      }
      if (leaving_) to_thread_.WaitFor(mutex_, 0.1);
    }
  }
  from_thread_.NotifyAll();
  return again;
}

absl::Status QueueWorker::Reconnect() {
  if (queue_ == nullptr) {
    ESP_ASSIGN_OR_RETURN(queue_,
                         WorkQueue::Open(options_.url, /*create=*/false));
    // The server may not have noticed yet that the last one broke, and hold its
    // locks.
    if (session_.pid != 0) {
      ESP_RETURN_IF_ERROR(queue_->db().TerminateSession(session_));
    }
    session_ = {};
  }
  if (session_.pid == 0) {
    ESP_ASSIGN_OR_RETURN(session_, queue_->db().session());
  }
  return absl::OkStatus();
}

void QueueWorker::Work() {
  for (;;) {
    QueueExchange exchange{
        .run = options_.run, .worker = worker_, .lease = options_.lease};
    size_t writes = 0;
    if (!NextExchange(exchange, writes)) break;
    // Only this thread takes writes away, so those of the exchange stay.
    absl::Status status = Reconnect();
    if (status.ok()) {
      {
        MutexLock lock(mutex_);
        connection_ = &queue_->db();
      }
      absl::StatusOr<QueueReply> reply = queue_->Exchange(exchange);
      {
        MutexLock lock(mutex_);
        connection_ = nullptr;
      }
      status = reply.status();
      if (reply.ok()) {
        TakeReply(*std::move(reply), exchange, writes);
        if (exchange.leave) break;
        continue;
      }
    }
    queue_ = nullptr;
    if (!TakeError(status)) break;
  }
  {
    MutexLock lock(mutex_);
    gone_ = true;
  }
  from_thread_.NotifyAll();
}

}  // namespace espalier
