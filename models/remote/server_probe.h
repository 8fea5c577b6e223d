// Asks a server what it is: its kind, its models, what it can do, and whether
// its tokenizer is the one that we have.
//
//   ESP_ASSIGN_OR_RETURN(ServerFacts facts,
//                        ProbeServer(endpoint, "qwen3", *tokenizer, {}));
//
// Takes a few small requests. Stateless: thread-safe.
#ifndef ESPALIER_MODELS_REMOTE_SERVER_PROBE_H_
#define ESPALIER_MODELS_REMOTE_SERVER_PROBE_H_

#include <string>

#include "absl/status/statusor.h"
#include "models/remote/dialect.h"
#include "models/remote/endpoint.h"
#include "models/remote/http_connection.h"
#include "models/tokenizer/tokenizer.h"

namespace espalier {

// NotFound for a model that the server does not offer; Unimplemented for a
// server that is none of ServerKind, or that has /props, /get_model_info or
// /version and returns no token ids or no log-probs; InvalidArgument for
// another tokenizer. Messages begin with the URL.
absl::StatusOr<ServerFacts> ProbeServer(const Endpoint& endpoint,
                                        const std::string& name,
                                        const Tokenizer& tokenizer,
                                        const HttpOptions& http);

// The same for a server that may only score texts: it generates nothing.
absl::StatusOr<ServerFacts> ProbeScorer(const Endpoint& endpoint,
                                        const std::string& name,
                                        const Tokenizer& tokenizer,
                                        const HttpOptions& http);

// The kind of server and the model alone, without a tokenizer.
absl::StatusOr<ServerFacts> AskForModel(const Endpoint& endpoint,
                                        const std::string& name,
                                        const HttpOptions& http);

}  // namespace espalier

#endif  // ESPALIER_MODELS_REMOTE_SERVER_PROBE_H_
