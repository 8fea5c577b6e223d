// A text generator of your own that a search may use: a server, another
// library, a program.
//
//   class MyPolicy : public Policy { ... };
//   MyPolicy policy;
//   SearchOptions options{.method = "majority", .max_tokens = 2000};
//   SearchResult result =
//       SolveWith(policy, nullptr, nullptr, problem, task, options);
#ifndef ESPALIER_API_POLICY_H_
#define ESPALIER_API_POLICY_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "espalier/ask_tell.h"
#include "espalier/problem.h"
#include "espalier/reward_model.h"
#include "espalier/search_options.h"
#include "espalier/search_result.h"
#include "espalier/task.h"
#include "espalier/verifier.h"

namespace espalier {

struct PolicyRequest {
  std::string prompt;                  // as the task renders the problem
  std::string response;                // what was written after it so far
  const StepFormat* format = nullptr;  // where a step ends
  SampleRequest sample;
};

class Policy {
 public:
  virtual ~Policy() = default;
  // 1 to n samples for each request, in order. All requests that a search can
  // make at this point come in one call, so that they can be computed together.
  virtual absl::StatusOr<std::vector<std::vector<SampledText>>> Sample(
      absl::Span<const PolicyRequest> requests) = 0;
};

// One search with the policy and, if not null, the reward model and the
// intrinsic verifier. SearchResult::status has the errors of the policy and of
// the reward model; it is FailedPrecondition if the method needs one that is
// null. `max_seconds` ends the search between two calls of the policy.
SearchResult SolveWith(Policy& policy, RewardModel* reward,
                       const Verifier* verifier, const Problem& problem,
                       const Task& task, const SearchOptions& options);

}  // namespace espalier

#endif  // ESPALIER_API_POLICY_H_
