// What a request of the OpenAI API asks of a search.
//
//   ESP_ASSIGN_OR_RETURN(ApiRequest request,
//       ReadApiRequest(ApiKind::kChat, "beam@600", body, defaults));
//
// Method and budget come from the first of these that names them: the path's
// prefix, the body's field `search`, its field `model`, the defaults.
//
// Stateless functions: thread-safe.
#ifndef ESPALIER_SRC_SERVE_API_REQUEST_H_
#define ESPALIER_SRC_SERVE_API_REQUEST_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "espalier/search_options.h"
#include "models/prompt/chat_template.h"

namespace espalier {

enum class ApiKind { kChat, kCompletion };

// "2000" sampled tokens, or "4x": a multiple of the request's max_tokens.
struct BudgetSpec {
  int64_t tokens = 0;
  double factor = 0;  // 0: `tokens` counts
};
// InvalidArgument for other texts, for 0 and for what is negative.
absl::StatusOr<BudgetSpec> ParseBudget(std::string_view text);
std::string BudgetText(const BudgetSpec& budget);

struct ApiDefaults {
  std::string model = "espalier";  // the name of the served model
  SearchOptions search;            // except max_tokens
  BudgetSpec budget{.tokens = 2048};
  int64_t max_budget = 65536;  // tokens that a request may ask for
  int64_t max_option = 256;    // most that it may set a method's option to
  bool has_reward = false;     // `auto` may choose methods that score steps
  std::vector<std::string> methods;  // that can answer here, in order
};

struct ApiRequest {
  ApiKind kind = ApiKind::kChat;
  std::string model;                  // as it was asked for
  std::vector<ChatMessage> messages;  // kChat: the last one is the user's
  std::string prompt;                 // kCompletion
  SearchOptions search;
  std::vector<std::string> stops;
  bool stream = false;
  bool include_usage = false;  // at the end of a stream
  bool tree = false;           // reply with the search tree
  // Fields that the method has no use for.
  std::vector<std::string> ignored;
};

// What is wrong with METHOD[@BUDGET] in a path: NotFound, with
// `defaults.methods`, if it names none, InvalidArgument for its options or its
// budget.
absl::Status CheckPathMethod(const std::string& path_method,
                             const ApiDefaults& defaults);

// `path_method`: METHOD[@BUDGET] from the path, "" if it has none. Errors are
// those of api_error.h.
absl::StatusOr<ApiRequest> ReadApiRequest(ApiKind kind,
                                          const std::string& path_method,
                                          std::string_view body,
                                          const ApiDefaults& defaults);

}  // namespace espalier

#endif  // ESPALIER_SRC_SERVE_API_REQUEST_H_
