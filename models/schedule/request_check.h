// Checks of a request before it is served: errors that affect only it.
#ifndef ESPALIER_MODELS_SCHEDULE_REQUEST_CHECK_H_
#define ESPALIER_MODELS_SCHEDULE_REQUEST_CHECK_H_

#include <functional>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "models/backend/backend.h"
#include "models/schedule/prefix_tree.h"

namespace espalier {

// InvalidArgument naming the invalid value and its range; FailedPrecondition if
// the model lacks what the request needs.
absl::Status CheckRequest(const Request& request, const PrefixTree& tree,
                          const Capabilities& capabilities, int vocab_size);

// The same for a backend that holds its sequences in another way.
// `end`: tokens of a sequence's path; `check`: as CheckPath of it.
struct SequenceCheck {
  std::function<int(SeqId)> end;
  std::function<absl::Status(SeqId)> check;
};
absl::Status CheckRequest(const Request& request,
                          const SequenceCheck& sequences,
                          const Capabilities& capabilities, int vocab_size);
// Refuses an empty path, one longer than the context, and tokens that are not
// in the vocabulary.
absl::Status CheckPath(absl::Span<const int32_t> path, int context,
                       int vocab_size);

}  // namespace espalier

#endif  // ESPALIER_MODELS_SCHEDULE_REQUEST_CHECK_H_
