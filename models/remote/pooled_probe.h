// Finds out how a server gives the outputs of a reward model's head.
//
//   ESP_ASSIGN_OR_RETURN(PooledWay way,
//                        FindPooledWay(endpoint, facts, head, {}));
//
// A few small requests, with the texts in PooledHead::samples, tell whether an
// endpoint is there, whether its rows are the head's and what they stand for.
// A second round asks for logits: if the replies differ the server can leave
// its function out.
//
// Stateless: thread-safe.
#ifndef ESPALIER_MODELS_REMOTE_POOLED_PROBE_H_
#define ESPALIER_MODELS_REMOTE_POOLED_PROBE_H_

#include "absl/status/statusor.h"
#include "models/remote/dialect.h"
#include "models/remote/endpoint.h"
#include "models/remote/http_connection.h"
#include "models/remote/pooled_scores.h"

namespace espalier {

// Unimplemented, with what each endpoint answered, for a server that gives no
// such outputs; InvalidArgument if it cannot be told whether it gives
// probabilities; Unauthenticated. Messages begin with the URL and name the
// format.
absl::StatusOr<PooledWay> FindPooledWay(const Endpoint& endpoint,
                                        const ServerFacts& facts,
                                        const PooledHead& head,
                                        const HttpOptions& http);

}  // namespace espalier

#endif  // ESPALIER_MODELS_REMOTE_POOLED_PROBE_H_
