// llama.cpp's server: POST /completion.
//
// A stop string's tokens and tokens inside a character of several bytes have
// ids but no log-probs in its replies, so the two lists are matched by id. A
// given token's log-prob is read by making it certain with a bias: the reported
// log-probs are those of the logits before biases and temperature
// (post_sampling_probs false). A token inside a character is looked up among
// the log-probs of the whole vocabulary, beside a token of whole characters
// that is made certain in its place.
#include <algorithm>
#include <limits>

#include "absl/strings/str_cat.h"
#include "base/parse_json.h"
#include "base/status_macros.h"
#include "models/remote/dialect.h"
#include "models/remote/reply_fields.h"
#include "nlohmann/json.hpp"

namespace espalier {
namespace {

using nlohmann::json;

constexpr float kCertain = 1e4f;  // beyond any difference of logits

// Servers of before September 2025 have no cache_n and tell what they ran.
// tokens_cached is another thing: all that the slot holds after the call.
void ReadCounts(const json& reply, int64_t& prompt, int64_t& cached) {
  prompt = CountField(reply, "tokens_evaluated");
  const json& timings = Field(reply, "timings");
  cached = CountField(timings, "cache_n");
  if (Field(timings, "cache_n").is_number()) return;
  if (!Field(timings, "prompt_n").is_number()) return;
  cached = std::max<int64_t>(0, prompt - CountField(timings, "prompt_n"));
}

// Of an entry of completion_probabilities.
absl::StatusOr<std::vector<TokenLogprob>> ReadTop(const json& entry) {
  std::vector<TokenLogprob> top;
  ESP_ASSIGN_OR_RETURN(const json* list, ListField(entry, "top_logprobs"));
  for (const json& other : *list) {
    ESP_ASSIGN_OR_RETURN(const int32_t id, TokenOf(Field(other, "id"), "id"));
    ESP_ASSIGN_OR_RETURN(const float logprob,
                         KnownLogprobOf(Field(other, "logprob"), "logprob"));
    top.push_back({id, logprob});
  }
  return top;
}

// The log-probs of a reply, or null where it told none.
const json& Probabilities(const json& reply) {
  return Field(reply, "completion_probabilities");
}

class LlamaServerDialect : public Dialect {
 public:
  explicit LlamaServerDialect(const ServerFacts& facts) : facts_(facts) {}

  int most_samples() const override { return 1; }

  DialectCall Generate(const GenerationCall& call) const override {
    const SamplingOptions& s = call.sampling;
    const json body = {{"n_predict", call.max_tokens},
                       {"temperature", s.temperature},
                       {"top_k", s.top_k},
                       {"top_p", s.top_p},
                       {"min_p", s.min_p},
                       {"typical_p", 1},
                       {"repeat_penalty", s.repetition_penalty},
                       {"repeat_last_n", s.repetition_penalty == 1 ? 0 : -1},
                       // The order of the engine's own sampler; llama.cpp
                       // applies the temperature last by default.
                       {"samplers", json::array({"penalties", "temperature",
                                                 "top_k", "top_p", "min_p"})},
                       {"seed", call.seed},
                       {"stop", call.stops},
                       {"n_probs", std::max(1, call.top)},
                       {"post_sampling_probs", false},
                       {"return_tokens", true},
                       {"cache_prompt", true},
                       {"stream", false}};
    return {"/completion", WithIds(body, "prompt", call.prompt)};
  }

  absl::StatusOr<GenerationReply> ReadGeneration(
      const std::string& body, const GenerationCall&) const override {
    ESP_ASSIGN_OR_RETURN(const json reply, ParseJsonObject(body, "the reply"));
    GenerationReply out;
    ReadCounts(reply, out.prompt_tokens, out.cached_tokens);
    RemoteSample& sample = out.samples.emplace_back();
    ESP_ASSIGN_OR_RETURN(sample.tokens, TokensField(reply, "tokens"));
    const std::string stop = TextField(reply, "stop_type");
    sample.finish = stop == "eos"    ? Finish::kEnd
                    : stop == "word" ? Finish::kStop
                                     : Finish::kLength;
    const size_t n = sample.tokens.size();
    sample.logprobs.assign(n, std::numeric_limits<float>::quiet_NaN());
    sample.alternatives.resize(n);
    size_t at = 0;
    for (const json& entry : Probabilities(reply)) {
      ESP_ASSIGN_OR_RETURN(const int32_t id, TokenOf(Field(entry, "id"), "id"));
      while (at < n && sample.tokens[at] != id) ++at;
      if (at == n) {
        return absl::InvalidArgumentError(absl::StrCat(
            "the server's reply, field completion_probabilities: token ", id,
            " is not among its tokens at this place"));
      }
      ESP_ASSIGN_OR_RETURN(sample.logprobs[at],
                           LogprobOf(Field(entry, "logprob"), "logprob"));
      ESP_ASSIGN_OR_RETURN(sample.alternatives[at], ReadTop(entry));
      ++at;
    }
    return out;
  }

  bool scores_texts() const override { return false; }

  DialectCall Score(const ScoreCall& call) const override {
    const int32_t certain = call.again ? facts_.plain_token : call.text.back();
    const json body = {
        {"n_predict", 1},
        {"temperature", 0},
        {"samplers", json::array({"temperature"})},
        {"logit_bias", json::array({json::array({certain, kCertain})})},
        {"n_probs", call.again ? facts_.vocab_size : std::max(1, call.top)},
        {"post_sampling_probs", false},
        {"return_tokens", true},
        {"cache_prompt", true},
        {"stream", false}};
    return {"/completion",
            WithIds(body, "prompt",
                    call.text.first(static_cast<size_t>(call.from)))};
  }

  absl::StatusOr<GivenReply> ReadScore(const std::string& body,
                                       const ScoreCall& call) const override {
    ESP_ASSIGN_OR_RETURN(const json reply, ParseJsonObject(body, "the reply"));
    GivenReply out;
    ReadCounts(reply, out.prompt_tokens, out.cached_tokens);
    const int32_t wanted = call.text.back();
    out.logprobs = {std::numeric_limits<float>::quiet_NaN()};
    out.greedy = {false};
    out.alternatives.resize(1);
    const json& list = Probabilities(reply);
    if (!list.is_array() || list.empty()) return out;
    ESP_ASSIGN_OR_RETURN(std::vector<TokenLogprob> top, ReadTop(list[0]));
    for (const TokenLogprob& other : top) {
      if (other.token == wanted) out.logprobs[0] = other.logprob;
    }
    ESP_ASSIGN_OR_RETURN(const int32_t id, TokenOf(Field(list[0], "id"), "id"));
    if (id == wanted) {
      ESP_ASSIGN_OR_RETURN(out.logprobs[0],
                           LogprobOf(Field(list[0], "logprob"), "logprob"));
    }
    out.greedy = {!top.empty() && top[0].token == wanted};
    if (top.size() > static_cast<size_t>(call.top)) {
      top.resize(static_cast<size_t>(call.top));
    }
    out.alternatives[0] = std::move(top);
    return out;
  }

 private:
  const ServerFacts facts_;
};

}  // namespace

std::unique_ptr<Dialect> MakeLlamaServerDialect(const ServerFacts& facts) {
  return std::make_unique<LlamaServerDialect>(facts);
}

}  // namespace espalier
