// SGLang: POST /generate with input_ids. Log-probs come as
// meta_info.output_token_logprobs, lists of [ln p, id, text]. Unless the server
// was started to return the original ones, they are those of the sampler's
// temperature; at another one than 1 they are left unknown here and read again
// by Score.
#include <algorithm>
#include <cmath>
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

// [ln p, id, ...].
absl::StatusOr<TokenLogprob> ReadPair(const json& pair,
                                      std::string_view field) {
  if (!pair.is_array() || pair.size() < 2) {
    return WrongField(field, "lists [log-prob, id, text]", pair);
  }
  TokenLogprob out;
  ESP_ASSIGN_OR_RETURN(out.logprob, LogprobOf(pair[0], field));
  ESP_ASSIGN_OR_RETURN(out.token, TokenOf(pair[1], field));
  return out;
}

// One of the most likely tokens at a position.
absl::StatusOr<TokenLogprob> ReadTop(const json& pair, std::string_view field) {
  ESP_ASSIGN_OR_RETURN(const TokenLogprob top, ReadPair(pair, field));
  ESP_RETURN_IF_ERROR(KnownLogprobOf(pair[0], field).status());
  return top;
}

absl::StatusOr<RemoteSample> ReadSample(const json& reply, bool keep_logprobs) {
  RemoteSample sample;
  const json& info = Field(reply, "meta_info");
  ESP_ASSIGN_OR_RETURN(const json* list,
                       ListField(info, "output_token_logprobs"));
  for (const json& entry : *list) {
    ESP_ASSIGN_OR_RETURN(const TokenLogprob pair,
                         ReadPair(entry, "output_token_logprobs"));
    sample.tokens.push_back(pair.token);
    sample.logprobs.push_back(
        keep_logprobs ? pair.logprob : std::numeric_limits<float>::quiet_NaN());
  }
  sample.alternatives.resize(sample.tokens.size());
  const json& top = Field(info, "output_top_logprobs");
  for (size_t t = 0; keep_logprobs && top.is_array() && t < top.size() &&
                     t < sample.tokens.size();
       ++t) {
    if (!top[t].is_array()) continue;
    for (const json& pair : top[t]) {
      ESP_ASSIGN_OR_RETURN(sample.alternatives[t].emplace_back(),
                           ReadTop(pair, "output_top_logprobs"));
    }
  }
  const json& why = Field(info, "finish_reason");
  const std::string type = TextField(why, "type");
  if (type != "stop" && type != "length") {
    return absl::InvalidArgumentError(absl::StrCat(
        "the server's reply, field finish_reason: expected stop or length, "
        "found \"",
        type, "\"", type.empty() ? "" : ": ", TextField(why, "message")));
  }
  // `matched` is the stop string, or the id of the token that ends texts.
  sample.finish = type == "length"                    ? Finish::kLength
                  : Field(why, "matched").is_string() ? Finish::kStop
                                                      : Finish::kEnd;
  return sample;
}

class SglangDialect : public Dialect {
 public:
  // With its deterministic inference switched on the server gives all samples
  // of a request one seed.
  int most_samples() const override { return 1; }

  DialectCall Generate(const GenerationCall& call) const override {
    const SamplingOptions& s = call.sampling;
    json sampling = {{"n", call.n},
                     {"max_new_tokens", call.max_tokens},
                     {"temperature", s.temperature},
                     {"top_p", s.top_p},
                     {"top_k", s.top_k > 0 ? s.top_k : -1},
                     {"min_p", s.min_p},
                     {"repetition_penalty", s.repetition_penalty},
                     {"stop", call.stops},
                     {"no_stop_trim", true},
                     {"skip_special_tokens", false}};
    if (s.temperature > 0) sampling["sampling_seed"] = call.seed;
    json body = Common();
    body["sampling_params"] = std::move(sampling);
    body["top_logprobs_num"] = call.top;
    return {"/generate", WithIds(body, "input_ids", call.prompt)};
  }

  absl::StatusOr<GenerationReply> ReadGeneration(
      const std::string& body, const GenerationCall& call) const override {
    ESP_ASSIGN_OR_RETURN(json reply, ParseJson(body, "the reply"));
    if (reply.is_object()) reply = json::array({std::move(reply)});
    if (!reply.is_array() || reply.size() != static_cast<size_t>(call.n)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "the server's reply: expected ", call.n, " samples, found ",
          reply.is_array() ? absl::StrCat(reply.size()) : "no list"));
    }
    const float temperature = call.sampling.temperature;
    const bool keep = temperature == 0 || temperature == 1;
    GenerationReply out;
    for (const json& one : reply) {
      ESP_ASSIGN_OR_RETURN(out.samples.emplace_back(), ReadSample(one, keep));
      const json& info = Field(one, "meta_info");
      out.prompt_tokens = CountField(info, "prompt_tokens");
      out.cached_tokens = CountField(info, "cached_tokens");
      ReadWeightVersions(info, out.weights);
      const std::string last = TextField(info, "weight_version");
      if (!last.empty() && std::find(out.weights.begin(), out.weights.end(),
                                     last) == out.weights.end()) {
        out.weights.push_back(last);
      }
    }
    return out;
  }

  bool scores_texts() const override { return true; }

  DialectCall Score(const ScoreCall& call) const override {
    json body = Common();
    body["sampling_params"] = {{"max_new_tokens", 1}, {"temperature", 0}};
    body["top_logprobs_num"] = std::max(1, call.top);
    body["logprob_start_len"] = call.from - 1;
    return {"/generate", WithIds(body, "input_ids", call.text)};
  }

  // The lists begin at logprob_start_len or before, with null for the first;
  // they are read from their ends.
  absl::StatusOr<GivenReply> ReadScore(const std::string& body,
                                       const ScoreCall& call) const override {
    ESP_ASSIGN_OR_RETURN(const json reply, ParseJsonObject(body, "the reply"));
    const json& info = Field(reply, "meta_info");
    GivenReply out;
    out.prompt_tokens = CountField(info, "prompt_tokens");
    out.cached_tokens = CountField(info, "cached_tokens");
    ESP_ASSIGN_OR_RETURN(const json* list,
                         ListField(info, "input_token_logprobs"));
    const json& top = Field(info, "input_top_logprobs");
    const size_t count = call.text.size() - static_cast<size_t>(call.from);
    if (list->size() < count) {
      return absl::InvalidArgumentError(absl::StrCat(
          "the server's reply, field input_token_logprobs: expected at least ",
          count, " entries, found ", list->size()));
    }
    for (size_t i = 0; i < count; ++i) {
      ESP_ASSIGN_OR_RETURN(
          const TokenLogprob pair,
          ReadPair((*list)[list->size() - count + i], "input_token_logprobs"));
      const int32_t wanted = call.text[static_cast<size_t>(call.from) + i];
      if (pair.token != wanted || std::isnan(pair.logprob)) {
        return absl::InvalidArgumentError(absl::StrCat(
            "the server's reply, field input_token_logprobs: expected the "
            "log-prob of token ",
            wanted, ", found token ", pair.token));
      }
      out.logprobs.push_back(pair.logprob);
      std::vector<TokenLogprob>& best = out.alternatives.emplace_back();
      if (top.is_array() && top.size() >= count) {
        for (const json& other : top[top.size() - count + i]) {
          ESP_ASSIGN_OR_RETURN(best.emplace_back(),
                               ReadTop(other, "input_top_logprobs"));
        }
      }
      out.greedy.push_back(!best.empty() && best[0].token == wanted);
    }
    return out;
  }

 private:
  static json Common() { return {{"return_logprob", true}, {"stream", false}}; }
};

}  // namespace

std::unique_ptr<Dialect> MakeSglangDialect(const ServerFacts&) {
  return std::make_unique<SglangDialect>();
}

}  // namespace espalier
