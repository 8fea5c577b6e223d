// The calls of a backend's requests that have not ended.
//
//   InFlight<std::shared_ptr<Asked>> in_flight;
//   pool.Start({.id = in_flight.Add(request.id, asked), ...});
//   for (const CallPool::Ended& ended : pool.Take(0.002)) {
//     auto call = in_flight.Take(ended.id);
//     if (call) ... call->request, call->what ...
//   }
//
// Thread-compatible.
#ifndef ESPALIER_MODELS_REMOTE_IN_FLIGHT_H_
#define ESPALIER_MODELS_REMOTE_IN_FLIGHT_H_

#include <cstdint>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "models/backend/backend.h"
#include "models/remote/call_pool.h"

namespace espalier {

// T: what is to be done with a call's reply.
template <typename T>
class InFlight {
 public:
  struct Call {
    RequestId request = 0;
    T what;
  };

  // The id of the new call.
  uint64_t Add(RequestId request, T what) {
    const uint64_t id = next_++;
    calls_[id] = {.request = request, .what = std::move(what)};
    return id;
  }
  // A call that ended; nothing for one that was cancelled.
  std::optional<Call> Take(uint64_t id) {
    auto call = calls_.extract(id);
    if (call.empty()) return std::nullopt;
    return std::move(call.mapped());
  }
  // Cancels the request's calls.
  void Cancel(RequestId request, CallPool& pool) {
    for (auto it = calls_.begin(); it != calls_.end();) {
      if (it->second.request == request) {
        pool.Cancel(it->first);
        calls_.erase(it++);
      } else {
        ++it;
      }
    }
  }

 private:
  absl::flat_hash_map<uint64_t, Call> calls_;
  uint64_t next_ = 1;
};

}  // namespace espalier

#endif  // ESPALIER_MODELS_REMOTE_IN_FLIGHT_H_
