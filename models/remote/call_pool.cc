#include "models/remote/call_pool.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/open_files.h"
#include "base/random.h"
#include "models/remote/server_key.h"
#include "models/remote/server_message.h"

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
    : options_(options), clock_(clock), client_(http) {
  AllowManyOpenFiles();
  for (Endpoint& endpoint : servers) {
    Server& server = servers_.emplace_back();
    server.endpoint = std::move(endpoint);
    server.limit =
        std::clamp(options.first_in_flight, 1, options.most_in_flight);
  }
}

void CallPool::Start(Call call) {
  waiting_.push_back({.call = std::move(call)});
  Send();
}

void CallPool::Cancel(uint64_t id) {
  std::erase_if(waiting_, [id](const Waiting& w) { return w.call.id == id; });
  std::erase_if(ended_, [id](const Ended& e) { return e.id == id; });
  const auto running = running_.extract(id);
  if (running.empty()) return;
  --servers_[running.mapped().server].in_flight;
  client_.Cancel(id);
}

std::vector<CallPool::Ended> CallPool::Take(double seconds) {
  const double until = Clock::Real().Seconds() + seconds;
  for (;;) {
    const double wait = Send();
    const double left = until - Clock::Real().Seconds();
    const bool nothing =
        !ended_.empty() || (waiting_.empty() && running_.empty());
    for (HttpClient::Ended& ended : client_.Take(
             nothing ? 0 : std::clamp(wait, 0.0, std::max(left, 0.0)))) {
      Read(std::move(ended));
    }
    if (nothing || !ended_.empty() || left <= 0) break;
  }
  Send();
  return std::exchange(ended_, {});
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

double CallPool::Send() {
  double wait = 3600;
  if (waiting_.empty()) {
    client_.KeepIdle(options_.keep_idle);
    return wait;
  }
  const double now = clock_.Seconds();
  std::deque<Waiting> kept;
  for (Waiting& waiting : waiting_) {
    if (waiting.not_before > now) {
      wait = std::min(wait, waiting.not_before - now);
      kept.push_back(std::move(waiting));
      continue;
    }
    const int server = Choose(waiting.call.affinity, now);
    if (server < 0) {
      kept.push_back(std::move(waiting));
    } else {
      SendTo(std::move(waiting), static_cast<size_t>(server));
    }
  }
  waiting_ = std::move(kept);
  client_.KeepIdle(options_.keep_idle || !waiting_.empty());
  return wait;
}

void CallPool::SendTo(Waiting waiting, size_t index) {
  Server& server = servers_[index];
  if (waiting.first < 0) waiting.first = clock_.Seconds();
  ++server.in_flight;
  ++stats_.attempts;
  stats_.failovers += index != waiting.call.affinity % servers_.size();
  const uint64_t id = waiting.call.id;
  Running& running = running_[id];
  running = {.call = std::move(waiting), .server = index};
  client_.Start({.id = id,
                 .endpoint = &server.endpoint,
                 .path = running.call.call.path,
                 .body = running.call.call.body});
}

void CallPool::Read(HttpClient::Ended read) {
  auto found = running_.extract(read.id);
  ESP_CHECK(!found.empty());
  Waiting waiting = std::move(found.mapped().call);
  Server& server = servers_[found.mapped().server];
  const std::string& key = server.endpoint.key;
  absl::StatusOr<HttpReply>& reply = read.reply;
  absl::Status status = reply.status();
  const bool answered = reply.ok();
  bool again = false;
  double wait = -1;
  if (answered) reply->body = WithoutKey(std::move(reply->body), key);
  if (answered && reply->status == 200) {
    status = WithoutKey(waiting.call.read(reply->body), key);
  }
  if (!status.ok() || reply->status != 200) {
    wait = WaitAfter(waiting, server.endpoint, answered ? &*reply : nullptr,
                     status);
    again = wait >= 0;
  }
  const double now = clock_.Seconds();
  const bool full = server.in_flight >= static_cast<int>(server.limit);
  --server.in_flight;
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
  stats_.lost += !answered || reply->reconnected;
  const bool broken = !answered || IsBroken(reply->status);
  server.failures = broken ? server.failures + 1 : 0;
  if (broken && servers_.size() > 1) {
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
  if (again) {
    waiting.not_before = now + std::max(wait, 0.0);
    ++waiting.attempt;
    waiting_.push_front(std::move(waiting));
  } else {
    ++stats_.calls;
    ended_.push_back({read.id, std::move(status)});
  }
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
  // A server may close an idle connection while a request is on its way: all
  // that is needed is a new one.
  if (reply == nullptr && made == 1) return 0;
  const double doubled = std::min(options_.longest_wait,
                                  options_.first_wait * std::exp2(made - 1));
  const float jitter = RandomStream::UniformAt(
      StreamKey(waiting.call.id, StableHash(url), 0, Purpose::kSelect),
      static_cast<uint64_t>(made));
  return std::max(asked, doubled * (0.5 + static_cast<double>(jitter)));
}

}  // namespace espalier
