#include "models/schedule/request_check.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "models/sampling/sampler.h"

namespace espalier {
namespace {

// More would be a mistake, and the result would not fit into memory.
constexpr int kMostSamplesAsked = 1 << 20;

absl::Status CheckTokens(absl::Span<const int32_t> tokens, int vocab_size) {
  for (const int32_t token : tokens) {
    if (token < 0 || token >= vocab_size) {
      return absl::InvalidArgumentError(
          absl::StrCat("token ", token, " is not in the vocabulary of ",
                       vocab_size, "; was it made by another tokenizer?"));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckLength(int length, int context) {
  if (length == 0) {
    return absl::InvalidArgumentError(
        "expected a prompt of at least one token, found none");
  }
  if (length <= context) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "the text takes ", length, " tokens and the context is ", context,
      "; shorten it or use a model with a longer context"));
}

absl::Status CheckSequence(SeqId id, const PrefixTree& tree, int context,
                           int vocab_size) {
  ESP_RETURN_IF_ERROR(
      CheckLength(id == kEmptySeq ? 0 : tree.at(id).end(), context));
  for (SeqId s = id; s != kEmptySeq; s = tree.at(s).parent) {
    // Computed tokens were checked before.
    if (!tree.at(s).hidden.empty()) break;
    ESP_RETURN_IF_ERROR(CheckTokens(tree.at(s).tokens, vocab_size));
  }
  return absl::OkStatus();
}

absl::Status CheckRead(const ScoreRequest& request,
                       const Capabilities& capabilities, int vocab_size) {
  switch (request.read) {
    case ScoreRead::kRewards:
      if (capabilities.reward) return absl::OkStatus();
      return absl::FailedPreconditionError(
          "the model has no reward head; expected a checkpoint with "
          "reward_head.weight");
    case ScoreRead::kHidden:
      if (capabilities.hidden_size > 0) return absl::OkStatus();
      return absl::FailedPreconditionError(
          "the model's backend gives no hidden rows; expected a model with "
          "weights");
    case ScoreRead::kOutputs:
      if (capabilities.outputs > 0) return absl::OkStatus();
      return absl::FailedPreconditionError(
          "the model's backend computes no published head; expected a reward "
          "model behind a server");
    case ScoreRead::kLogprobs:
      break;
  }
  if (!capabilities.logits) {
    return absl::FailedPreconditionError(
        "the model has no language model head; expected a checkpoint with "
        "lm_head.weight or tied embeddings");
  }
  if (request.tokens.empty()) {
    return absl::InvalidArgumentError(
        "expected at least one token whose log-prob is read, found none");
  }
  return CheckTokens(request.tokens, vocab_size);
}

absl::Status CheckGeneration(const GenerateRequest& request) {
  if (request.n < 1 || request.n > kMostSamplesAsked) {
    return absl::InvalidArgumentError(
        absl::StrCat("expected 1 to ", kMostSamplesAsked,
                     " continuations, found n = ", request.n));
  }
  if (request.stop.max_tokens < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("expected at least one token per continuation, found ",
                     "max_tokens = ", request.stop.max_tokens));
  }
  if (request.top_alternatives < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("expected top_alternatives of 0 (none) or more, found ",
                     request.top_alternatives));
  }
  if (request.top_logprobs < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("expected top_logprobs of 0 (none) or more, found ",
                     request.top_logprobs));
  }
  const auto& stops = request.stop.stop_strings;
  if (std::find(stops.begin(), stops.end(), "") != stops.end()) {
    return absl::InvalidArgumentError(
        "a stop string is empty and would stop every text at once; leave it "
        "out");
  }
  return CheckSamplingOptions(request.sampling);
}

absl::Status CheckTexts(const TextScoreRequest& request, int from_end,
                        int context, int vocab_size) {
  for (size_t i = 0; i < request.continuations.size(); ++i) {
    const auto& text = request.continuations[i];
    if (text.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat("continuation ", i, " to score has no tokens"));
    }
    ESP_RETURN_IF_ERROR(CheckTokens(text, vocab_size));
    const size_t length = static_cast<size_t>(from_end) + text.size();
    if (length > static_cast<size_t>(context)) {
      return absl::InvalidArgumentError(
          absl::StrCat("continuation ", i, " to score ends at token ", length,
                       " and the context is ", context,
                       "; shorten it or use a model with a longer context"));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckRequest(const Request& request, const PrefixTree& tree,
                          const Capabilities& capabilities, int vocab_size) {
  const int context = capabilities.context_length;
  return CheckRequest(request,
                      {.end = [&tree](SeqId id) { return tree.at(id).end(); },
                       .check =
                           [&tree, context, vocab_size](SeqId id) {
                             return CheckSequence(id, tree, context,
                                                  vocab_size);
                           }},
                      capabilities, vocab_size);
}

absl::Status CheckRequest(const Request& request,
                          const SequenceCheck& sequences,
                          const Capabilities& capabilities, int vocab_size) {
  const int context = capabilities.context_length;
  if (const auto* score = std::get_if<ScoreRequest>(&request.body)) {
    ESP_RETURN_IF_ERROR(CheckRead(*score, capabilities, vocab_size));
    for (const SeqId id : score->sequences) {
      ESP_RETURN_IF_ERROR(sequences.check(id));
    }
    return absl::OkStatus();
  }
  if (const auto* text = std::get_if<TextScoreRequest>(&request.body)) {
    ESP_RETURN_IF_ERROR(sequences.check(text->from));
    return CheckTexts(*text, sequences.end(text->from), context, vocab_size);
  }
  const auto& generation = std::get<GenerateRequest>(request.body);
  ESP_RETURN_IF_ERROR(CheckGeneration(generation));
  ESP_RETURN_IF_ERROR(sequences.check(generation.from));
  const int end = sequences.end(generation.from);
  if (end >= context) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the text takes ", end, " tokens and fills the context of ", context,
        "; shorten it or use a model with a longer context"));
  }
  return absl::OkStatus();
}

absl::Status CheckPath(absl::Span<const int32_t> path, int context,
                       int vocab_size) {
  ESP_RETURN_IF_ERROR(CheckLength(static_cast<int>(path.size()), context));
  return CheckTokens(path, vocab_size);
}

}  // namespace espalier
