// How likely each of a few tokens is to come next after a text, as servers tell
// it that score texts.
//
//   vLLM    POST /generative_scoring {model, query, items, label_token_ids,
//           apply_softmax}, reply data[i].score: of the first label only
//   SGLang  POST /v1/score {the same}, reply scores[i][j]: of each label
//
// Item i asks about the text query + items[i]. Query and items go out as token
// ids. apply_softmax: the probability among the labels, else among all tokens.
// vLLM cuts a text off that is longer than its context less one token, and says
// nothing. SGLang's multi-item scoring, an option of the server, puts a token
// between query and items, so that it scores other texts.
//
// Sources: vLLM's docs/serving/online_serving/generative_scoring.md and
// vllm/entrypoints/generate/generative_scoring/serving.py; SGLang's
// ScoringRequest and ScoringResponse in
// python/sglang/srt/entrypoints/openai/protocol.py, and
// python/sglang/srt/managers/tokenizer_manager_score_mixin.py.
//
// Stateless functions: thread-safe.
#ifndef ESPALIER_MODELS_REMOTE_CHOICE_SCORES_H_
#define ESPALIER_MODELS_REMOTE_CHOICE_SCORES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "models/remote/dialect.h"

namespace espalier {

struct ChoiceCall {
  // Begin with the same `shared` tokens, and are longer.
  absl::Span<const std::vector<int32_t>> texts;
  size_t shared = 0;
  // Two, of which the probabilities add up to 1, or one among all tokens.
  absl::Span<const int32_t> choices;

  bool among() const { return choices.size() == 2; }
};

using ChoiceLogprobs = std::vector<std::vector<float>>;  // [texts][choices]

// The path of the endpoint; "": the kind of server has none.
std::string ChoicePath(ServerKind kind);

// What all of the texts, at least one, begin with, so that more is left of
// each.
size_t SharedLength(absl::Span<const std::vector<int32_t>> texts);

DialectCall MakeChoiceCall(const ServerFacts& facts, const ChoiceCall& call);

// InvalidArgument for a reply without a probability for each text, or where
// those of two choices do not add up to 1.
absl::StatusOr<ChoiceLogprobs> ReadChoiceReply(const std::string& body,
                                               ServerKind kind,
                                               const ChoiceCall& call);

}  // namespace espalier

#endif  // ESPALIER_MODELS_REMOTE_CHOICE_SCORES_H_
