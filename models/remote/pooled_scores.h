// The outputs of a reward model's head that its server computes: how they are
// asked for, and what the replies mean. A head may also be the rows of a few
// tokens in a language model's own: then its outputs are their logits.
//
//   vLLM    POST /pooling {model, input, task}, reply data[0].data
//             token_classify  [x, ...] per token; with pooling type STEP per
//                             step tag
//             classify        [x, ...] of the last token
//           POST /classify {model, input}, reply data[0].probs, the same
//   SGLang  POST /classify {input_ids}, reply embedding: of the last token
//
// Token ids go out as they are. Unless a request says otherwise, vLLM answers
// with probabilities: the softmax of several outputs, the logistic function of
// one. Here outputs are logits, as a head in this process gives them: the
// server is asked to leave its function out, or it is undone.
//
// llama-server does not do this: /rerank lays its own text out, and /embedding
// scales what it pools to length 1.
//
// Sources: vLLM's docs/models/pooling_models/reward.md,
// vllm/entrypoints/pooling/{base,pooling,classify}/protocol.py and
// vllm/pooling_params.py; SGLang's python/sglang/srt/entrypoints/http_server.py
// and docs/supported_models/reward_models; llama.cpp's tools/server.
//
// Stateless functions: thread-safe.
#ifndef ESPALIER_MODELS_REMOTE_POOLED_SCORES_H_
#define ESPALIER_MODELS_REMOTE_POOLED_SCORES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "models/remote/dialect.h"

namespace espalier {

// What a reward format needs of a head.
struct PooledHead {
  std::string format;  // its name, for messages
  int labels = 1;      // outputs
  int32_t tag = -1;    // the token at which steps are read; -1: none
  bool whole = false;  // a text is read at its end only
  // Probabilities will do; else only logits, as of a format that reads one of
  // several outputs as it is.
  bool takes_probabilities = true;
  // What the server gives, where that is known: probabilities or logits.
  std::optional<bool> probabilities = {};
  // Of a format without a head: the tokens whose ln p are its outputs, two that
  // are compared or one. What the server answered to a backend that asks for
  // its log-probs, for messages.
  std::vector<int32_t> choices = {};
  std::string completions = {};
  // Texts of the format, for the probe: of one step and of several.
  std::vector<std::vector<int32_t>> samples = {};
};

enum class PooledRows : uint8_t { kLast, kPerTag, kPerToken };

// How a server is asked for a head's outputs.
struct PooledWay {
  std::string path;
  // By choice_scores.h, whose probabilities are not undone.
  bool choices = false;
  std::string task = {};  // "": none is named
  // The field of the request that leaves the server's function out; "": none.
  std::string off = {};
  PooledRows rows = PooledRows::kLast;
  bool probabilities = false;  // to be undone

  std::string Name() const;  // "/pooling (task classify)"
  bool operator==(const PooledWay&) const = default;
};

struct PooledReply {
  // [rows][labels], as the server gave them.
  std::vector<std::vector<double>> rows;
  int64_t prompt_tokens = 0;  // 0 if not told
  int64_t cached_tokens = 0;  // not computed; 0 if not told
};

DialectCall MakePooledCall(const ServerFacts& facts, const PooledWay& way,
                           absl::Span<const int32_t> ids);

// InvalidArgument for a reply without rows of `labels` finite numbers each.
absl::StatusOr<PooledReply> ReadPooledReply(const std::string& body,
                                            const PooledWay& way, int labels);

// What the rows of replies to `texts` stand for. InvalidArgument if they are
// neither one per text nor one per tag or token.
absl::StatusOr<PooledRows> RowsOf(absl::Span<const PooledReply> replies,
                                  absl::Span<const std::vector<int32_t>> texts,
                                  const PooledHead& head);

// The logits [labels] at the end of text[0, end). InvalidArgument for another
// number of rows than the way gives, or what is no probability.
absl::StatusOr<std::vector<float>> PooledLogits(const PooledReply& reply,
                                                const PooledWay& way,
                                                const PooledHead& head,
                                                absl::Span<const int32_t> text,
                                                size_t end);

// True if every number may be a probability, and those of a row of several add
// up to 1.
bool MayBeProbabilities(const PooledReply& reply);

}  // namespace espalier

#endif  // ESPALIER_MODELS_REMOTE_POOLED_SCORES_H_
