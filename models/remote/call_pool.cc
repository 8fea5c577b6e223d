#include "models/remote/call_pool.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/open_files.h"
#include "base/random.h"
#include "models/remote/server_key.h"

namespace espalier {
namespace {

// Of one call rather than of the server: another attempt is refused as well.
bool RefusesCall(int status) {
  return status == 400 || status == 413 || status == 414 || status == 422 ||
         status == 431;
}

// What a server answers for ever that does not have the path.
bool LacksPath(int status) {
  return status == 404 || status == 405 || status == 501;
}

// The server itself is at fault, and another may not be.
bool IsBroken(int status) {
  return status == 500 || status == 502 || status == 504;
}

bool IsBusy(int status) { return status == 429 || status == 503; }

}  // namespace

CallPool::CallPool(std::vector<Endpoint> servers, HttpOptions http,
                   CallPoolOptions options, const Clock& clock)
    : http_(std::move(http)), options_(options), clock_(clock) {
  AllowManyOpenFiles();
  MutexLock lock(mutex_);
  for (Endpoint& endpoint : servers) {
    Server& server = servers_.emplace_back();
    server.endpoint = std::move(endpoint);
    server.limit =
        std::clamp(options.first_in_flight, 1, options.most_in_flight);
  }
}

CallPool::~CallPool() {
  {
    MutexLock lock(mutex_);
    ending_ = true;
    waiting_.clear();
    for (auto& [id, running] : running_) {
      running.cancelled = true;
      running.connection->Stop();
    }
  }
  work_.NotifyAll();
  for (std::thread& thread : threads_) thread.join();
}

void CallPool::Start(Call call) {
  bool more_threads;
  {
    MutexLock lock(mutex_);
    waiting_.push_back({.call = std::move(call)});
    more_threads =
        idle_threads_ < static_cast<int>(waiting_.size()) &&
        threads_.size() <
            static_cast<size_t>(options_.most_in_flight) * servers_.size();
  }
  if (more_threads) threads_.emplace_back([this] { Work(); });
  work_.NotifyOne();
}

void CallPool::Cancel(uint64_t id) {
  MutexLock lock(mutex_);
  std::erase_if(waiting_, [id](const Waiting& w) { return w.call.id == id; });
  std::erase_if(ended_, [id](const Ended& e) { return e.id == id; });
  const auto running = running_.find(id);
  if (running == running_.end()) return;
  running->second.cancelled = true;
  running->second.connection->Stop();
}

std::vector<CallPool::Ended> CallPool::Take(double seconds) {
  MutexLock lock(mutex_);
  if (ended_.empty() && seconds > 0 &&
      (!waiting_.empty() || !running_.empty())) {
    ended_signal_.WaitFor(mutex_, seconds);
  }
  return std::exchange(ended_, {});
}

CallPoolStats CallPool::stats() const {
  MutexLock lock(mutex_);
  return stats_;
}

int CallPool::Choose(uint64_t affinity, double now) const {
  const size_t n = servers_.size();
  const size_t preferred = affinity % n;
  size_t chosen = preferred;
  for (size_t i = 0; i < n; ++i) {
    const size_t candidate = (preferred + i) % n;
    if (servers_[candidate].down_until <= now) {
      chosen = candidate;
      break;
    }
  }
  const Server& server = servers_[chosen];
  return server.in_flight < static_cast<int>(server.limit)
             ? static_cast<int>(chosen)
             : -1;
}

bool CallPool::Next(Waiting& next, int& server, double& wait) {
  const double now = clock_.Seconds();
  wait = 3600;
  for (auto it = waiting_.begin(); it != waiting_.end(); ++it) {
    if (it->not_before > now) {
      wait = std::min(wait, it->not_before - now);
      continue;
    }
    server = Choose(it->call.affinity, now);
    if (server < 0) continue;
    next = std::move(*it);
    waiting_.erase(it);
    return true;
  }
  return false;
}

void CallPool::Work() {
  for (;;) {
    Waiting next;
    int server = -1;
    std::unique_ptr<HttpConnection> connection;
    {
      MutexLock lock(mutex_);
      for (;;) {
        double wait = 0;
        if (ending_) return;
        if (Next(next, server, wait)) break;
        ++idle_threads_;
        work_.WaitFor(mutex_, wait);
        --idle_threads_;
      }
      if (next.first < 0) next.first = clock_.Seconds();
      connection = Begin(next, server);
    }
    Serve(std::move(next), server, std::move(connection));
  }
}

std::unique_ptr<HttpConnection> CallPool::Begin(const Waiting& waiting,
                                                int index) {
  Server& server = servers_[static_cast<size_t>(index)];
  std::unique_ptr<HttpConnection> connection;
  if (!server.idle.empty()) {
    connection = std::move(server.idle.back());
    server.idle.pop_back();
  } else {
    connection = std::make_unique<HttpConnection>(server.endpoint, http_);
  }
  ++server.in_flight;
  ++stats_.attempts;
  stats_.failovers +=
      static_cast<size_t>(index) != waiting.call.affinity % servers_.size();
  running_[waiting.call.id] = {.connection = connection.get()};
  return connection;
}

void CallPool::Serve(Waiting waiting, int index,
                     std::unique_ptr<HttpConnection> connection) {
  const uint64_t id = waiting.call.id;
  absl::StatusOr<HttpReply> reply =
      waiting.call.body.empty()
          ? connection->Get(waiting.call.path)
          : connection->Post(waiting.call.path, waiting.call.body);
  absl::Status status = reply.status();
  const bool answered = reply.ok();
  bool again = false, others = false;
  double wait = -1;
  if (answered) {
    reply->body =
        WithoutKey(std::move(reply->body), connection->endpoint().key);
  }
  if (answered && reply->status == 200) {
    status =
        WithoutKey(waiting.call.read(reply->body), connection->endpoint().key);
  }
  if (!status.ok() || reply->status != 200) {
    wait = WaitAfter(waiting, connection->endpoint(),
                     answered ? &*reply : nullptr, status);
    again = wait >= 0;
  }
  {
    MutexLock lock(mutex_);
    const double now = clock_.Seconds();
    Server& server = servers_[static_cast<size_t>(index)];
    const bool full = server.in_flight >= static_cast<int>(server.limit);
    --server.in_flight;
    const bool cancelled = running_[id].cancelled;
    running_.erase(id);
    const bool keep = options_.keep_idle || !waiting_.empty();
    if (answered && !cancelled && keep) {
      server.idle.push_back(std::move(connection));
    }
    if (answered && IsBusy(reply->status)) {
      ++stats_.busy;
      // Calls that were in flight together count as one refusal.
      if (now - server.halved_at > 1) {
        server.limit = std::max(1.0, server.limit / 2);
        server.halved_at = now;
        server.was_busy = true;
      }
    } else if (answered && full) {
      server.limit = std::min<double>(
          options_.most_in_flight,
          server.limit + (server.was_busy ? 1 / server.limit : 1));
    }
    stats_.lost += !cancelled && (!answered || reply->reconnected);
    const bool broken = !answered || IsBroken(reply->status);
    server.failures = broken ? server.failures + 1 : 0;
    if (broken && !cancelled && servers_.size() > 1) {
      server.down_until =
          now + std::min(options_.longest_wait,
                         options_.first_wait *
                             std::exp2(std::min(server.failures - 1, 30)));
      const bool another =
          std::any_of(servers_.begin(), servers_.end(),
                      [now](const Server& s) { return s.down_until <= now; });
      if (another) wait = std::min(wait, 0.0);  // at once
    }
    if (status.ok() && answered) last_success_ = now;
    // A server that answers others is not gone: this call alone has failed.
    if (!again && absl::IsUnavailable(status) && answered &&
        !IsBusy(reply->status) && last_success_ > waiting.first) {
      status = absl::InternalError(absl::StrCat(
          status.message(), "; other requests were answered meanwhile"));
    }
    if (!cancelled && !ending_) {
      if (again) {
        waiting.not_before = now + std::max(wait, 0.0);
        ++waiting.attempt;
        waiting_.push_front(std::move(waiting));
      } else {
        ++stats_.calls;
        ended_.push_back({id, std::move(status)});
      }
    }
    // This thread takes the next call itself.
    others = idle_threads_ > 0 && waiting_.size() > 1;
  }
  ended_signal_.NotifyOne();
  if (others) work_.NotifyOne();
}

double CallPool::WaitAfter(const Waiting& waiting, const Endpoint& server,
                           const HttpReply* reply, absl::Status& status) const {
  const std::string url = server.Url() + waiting.call.path;
  double asked = -1;
  if (reply != nullptr && reply->status != 200) {
    const std::string what =
        absl::StrCat(url, " answered ", reply->status, ": ",
                     ServerMessage(reply->body, server.key));
    if (reply->status == 401 || reply->status == 403) {
      status = absl::UnauthenticatedError(
          absl::StrCat(what, "; the key is ", KeyPlace(server)));
      return -1;
    }
    if (RefusesCall(reply->status) ||
        (options_.paths_may_lack && LacksPath(reply->status))) {
      status = absl::InvalidArgumentError(what);
      return -1;
    }
    status = absl::UnavailableError(what);
    asked = reply->retry_after;
    if (asked > options_.longest_retry_after) {
      status = absl::UnavailableError(
          absl::StrCat(what, " (and to come back in ", asked, " s)"));
      return -1;
    }
  }
  if (absl::IsUnauthenticated(status) || absl::IsCancelled(status)) return -1;
  const int made = waiting.attempt + 1;
  const bool unread = reply != nullptr && reply->status == 200;
  if (made >= (unread ? options_.unread_attempts : options_.attempts)) {
    status = absl::UnavailableError(
        absl::StrCat(unread ? absl::StrCat(url, ": ") : "", status.message(),
                     " (after ", made, " attempts)"));
    return -1;
  }
  const double doubled = std::min(options_.longest_wait,
                                  options_.first_wait * std::exp2(made - 1));
  const float jitter = RandomStream::UniformAt(
      StreamKey(waiting.call.id, StableHash(url), 0, Purpose::kSelect),
      static_cast<uint64_t>(made));
  return std::max(asked, doubled * (0.5 + static_cast<double>(jitter)));
}

}  // namespace espalier
