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
// A format that reads the log-probs of tokens is asked about at choice_scores.h
// first. Rows of a vLLM that pools are taken for its tokens' logits only if the
// server classifies whole texts as well, with the same numbers at their ends:
// then it has a head with an output per token (hf_overrides
// classifier_from_token). What its option returned_token_ids gives looks the
// same and is none: it picks numbers of the hidden state (TokenPooler and
// StepPooler in vllm/model_executor/layers/pooler, issue 16545 of
// vllm-project/vllm).
//
// Stateless: thread-safe.
#ifndef ESPALIER_MODELS_REMOTE_POOLED_PROBE_H_
#define ESPALIER_MODELS_REMOTE_POOLED_PROBE_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "models/backend/backend.h"
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

// FailedPrecondition or InvalidArgument, with what is wrong, for a backend
// whose log-probs of the head's choices are refused or are none of its model's.
absl::Status CheckLogprobs(Backend& backend, const PooledHead& head);

}  // namespace espalier

#endif  // ESPALIER_MODELS_REMOTE_POOLED_PROBE_H_
