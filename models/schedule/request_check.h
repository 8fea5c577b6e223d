// Checks of a request before it is served: errors that affect only it.
#ifndef ESPALIER_MODELS_SCHEDULE_REQUEST_CHECK_H_
#define ESPALIER_MODELS_SCHEDULE_REQUEST_CHECK_H_

#include "absl/status/status.h"
#include "models/backend/backend.h"
#include "models/schedule/prefix_tree.h"

namespace espalier {

// InvalidArgument naming the invalid value and its range; FailedPrecondition if
// the model lacks what the request needs.
absl::Status CheckRequest(const Request& request, const PrefixTree& tree,
                          const Capabilities& capabilities, int vocab_size);

}  // namespace espalier

#endif  // ESPALIER_MODELS_SCHEDULE_REQUEST_CHECK_H_
