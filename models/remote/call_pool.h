// Calls to a group of servers that offer the same model: many at a time, tried
// again where that can help, and spread so that each server finds what it has
// cached.
//
//   CallPool pool(servers, http, {});
//   pool.Start({.id = 1, .affinity = problem, .path = "/v1/completions",
//               .body = json, .read = [&](const std::string& reply) {...}});
//   for (const CallPool::Ended& call : pool.Take(0.002)) ...
//
// Tried again, after waits that double from half a second to 30 s and are
// spread by half their length, or after what the server asks by Retry-After:
// connections that fail or break off, every status but 200 - a proxy's 404 may
// be gone in a minute - and, less often, replies that `read` cannot read. What
// refuses one call (400, 413, 414, 422, 431) or the key (401, 403) is an error
// at once. While a server cannot be reached, or answers with errors of its own
// (500, 502, 504), its calls go to the next. The number of calls in flight
// doubles per round of answers until a server says for the first time that it
// is busy (429, 503), and grows by one per round afterwards; it is halved each
// time that a server says so: TCP's slow start, additive increase,
// multiplicative decrease.
//
// Calls go out, and replies are read, in the caller's thread within Start and
// Take. Thread-compatible.
#ifndef ESPALIER_MODELS_REMOTE_CALL_POOL_H_
#define ESPALIER_MODELS_REMOTE_CALL_POOL_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "base/clock.h"
#include "models/remote/endpoint.h"
#include "models/remote/http_client.h"

namespace espalier {

struct CallPoolOptions {
  int first_in_flight = 16;  // calls at a time per server, before it adapts
  int most_in_flight = 256;
  int attempts = 10;        // of one call
  int unread_attempts = 4;  // if its replies cannot be read
  // Seconds before the second attempt; none if a connection ended without a
  // reply.
  double first_wait = 0.5;
  double longest_wait = 30;
  double longest_retry_after = 600;  // a longer one is an error
  // Whether a server may lack the path that is called: 404, 405 and 501 are
  // errors at once.
  bool paths_may_lack = false;
  // Whether connections stay open that no call waits for. Servers with few
  // threads (llama-server has two more than slots) give each connection one
  // until it closes, for seconds, and other clients wait meanwhile.
  bool keep_idle = true;
};

struct CallPoolStats {
  int64_t calls = 0;      // answered
  int64_t attempts = 0;   // requests sent
  int64_t busy = 0;       // of them, answered by 429 or 503
  int64_t failovers = 0;  // sent to another server than the preferred one
  int64_t lost = 0;       // whose connection failed, or had ended before
};

class CallPool {
 public:
  struct Call {
    uint64_t id = 0;
    uint64_t affinity = 0;  // calls of one problem: the same server
    std::string path;
    std::string body;  // "": GET
    // Reads the body of a reply of status 200. An error is tried again.
    std::function<absl::Status(const std::string&)> read;
  };
  struct Ended {
    uint64_t id = 0;
    // Unavailable or Unauthenticated: no server answers, or none so that it can
    // be read. InvalidArgument: one refused the call.
    absl::Status status;
  };

  CallPool(std::vector<Endpoint> servers, HttpOptions http,
           CallPoolOptions options, const Clock& clock = Clock::Real());
  CallPool(const CallPool&) = delete;
  CallPool& operator=(const CallPool&) = delete;

  void Start(Call call);
  // Closes the call's connection; it is not among those that end.
  void Cancel(uint64_t id);
  // The calls that ended since the last one; waits for one for up to `seconds`
  // if there are calls that have not ended.
  std::vector<Ended> Take(double seconds);
  const CallPoolStats& stats() const { return stats_; }

 private:
  struct Server {
    Endpoint endpoint;
    double limit = 0;  // calls in flight
    int in_flight = 0;
    double halved_at = -1e9;  // when the limit fell last
    bool was_busy = false;    // it has fallen before
    double down_until = -1e9;
    int failures = 0;  // in a row, of the server rather than of a call
  };
  struct Waiting {
    Call call;
    int attempt = 0;
    double not_before = 0;
    double first = -1;  // when it was sent first
  };
  struct Running {
    Waiting call;
    size_t server = 0;
  };

  // The server that a call goes to now: the preferred one, or the next one that
  // is not down. -1: it is full.
  int Choose(uint64_t affinity, double now) const;
  // Sends what may be sent now; returns the seconds until more may be, by time
  // alone.
  double Send();
  void SendTo(Waiting waiting, size_t server);
  // Decides what follows from a reply.
  void Read(HttpClient::Ended ended);
  // Seconds to wait before another attempt; negative: `status` is final.
  double WaitAfter(const Waiting& waiting, const Endpoint& server,
                   const HttpReply* reply, absl::Status& status) const;

  const CallPoolOptions options_;
  const Clock& clock_;
  std::vector<Server> servers_;
  std::deque<Waiting> waiting_;
  absl::flat_hash_map<uint64_t, Running> running_;
  std::vector<Ended> ended_;
  CallPoolStats stats_;
  double last_success_ = -2;  // the end of a call
  HttpClient client_;
};

}  // namespace espalier

#endif  // ESPALIER_MODELS_REMOTE_CALL_POOL_H_
