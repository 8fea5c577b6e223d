// vLLM: POST /v1/completions with prompts and replies as token ids
// (return_token_ids; older versions write "token_id:N" into the log-probs).
// Its log-probs are those before temperature and filters (logprobs_mode
// raw_logprobs, its default). Choices of its /inference/v1/generate name the
// weights that drew them; where those of /v1/completions do, they are read.
#include <algorithm>
#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "base/parse_json.h"
#include "base/status_macros.h"
#include "models/remote/dialect.h"
#include "models/remote/reply_fields.h"
#include "models/remote/without_lists.h"
#include "nlohmann/json.hpp"

namespace espalier {
namespace {

using nlohmann::json;

constexpr int kMostSamples = 64;
constexpr int kLargestBias = 100;  // the largest bias that the server takes

// Most likely first, ties by lower id. The sampled token stands beside the most
// likely ones.
void SortTop(std::vector<TokenLogprob>& top, int most) {
  std::sort(top.begin(), top.end(), [](const auto& a, const auto& b) {
    return a.logprob != b.logprob ? a.logprob > b.logprob : a.token < b.token;
  });
  if (top.size() > static_cast<size_t>(most)) {
    top.resize(static_cast<size_t>(most));
  }
}

// From {"token_id:5": -0.1, ...}, most likely first, ties by lower id.
absl::StatusOr<std::vector<TokenLogprob>> ReadTop(const json& position,
                                                  int most) {
  std::vector<TokenLogprob> top;
  if (!position.is_object()) return top;
  for (const auto& [key, value] : position.items()) {
    ESP_ASSIGN_OR_RETURN(const int32_t id, TokenOf(json(key), "top_logprobs"));
    ESP_ASSIGN_OR_RETURN(const float logprob,
                         KnownLogprobOf(value, "top_logprobs"));
    top.push_back({id, logprob});
  }
  SortTop(top, most);
  return top;
}

absl::StatusOr<RemoteSample> ReadChoice(const json& choice, int most) {
  RemoteSample sample;
  const json& logprobs = Field(choice, "logprobs");
  const bool has_ids = Field(choice, "token_ids").is_array();
  ESP_ASSIGN_OR_RETURN(sample.tokens, has_ids
                                          ? TokensField(choice, "token_ids")
                                          : TokensField(logprobs, "tokens"));
  ESP_ASSIGN_OR_RETURN(const json* values,
                       ListField(logprobs, "token_logprobs"));
  if (values->size() != sample.tokens.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the server's reply has ", sample.tokens.size(),
                     " token ids and ", values->size(), " log-probs"));
  }
  for (const json& value : *values) {
    ESP_ASSIGN_OR_RETURN(sample.logprobs.emplace_back(),
                         LogprobOf(value, "token_logprobs"));
  }
  const json& top = Field(logprobs, "top_logprobs");
  sample.alternatives.resize(sample.tokens.size());
  for (size_t t = 0; top.is_array() && t < sample.tokens.size(); ++t) {
    if (t >= top.size()) break;
    ESP_ASSIGN_OR_RETURN(sample.alternatives[t], ReadTop(top[t], most));
  }
  const std::string why = TextField(choice, "finish_reason");
  if (why != "stop" && why != "length") {
    return absl::InvalidArgumentError(absl::StrCat(
        "the server's reply, field finish_reason: expected stop or length, "
        "found \"",
        why, "\""));
  }
  sample.finish = why == "length"                            ? Finish::kLength
                  : Field(choice, "stop_reason").is_string() ? Finish::kStop
                                                             : Finish::kEnd;
  return sample;
}

// Lists that ReadChoice does not read. The sampled tokens are named among the
// most likely ones even where none of these were asked for.
std::vector<std::string_view> Unread(const std::string& body,
                                     const GenerationCall& call) {
  std::vector<std::string_view> unread = {"text_offset", "prompt_token_ids"};
  if (call.top == 0) unread.push_back("top_logprobs");
  // Older versions have the ids as names of the tokens only.
  constexpr std::string_view kIds = "\"token_ids\"";
  int lists = 0;
  for (size_t at = body.find(kIds); at != std::string::npos;
       at = body.find(kIds, at + 1)) {
    const size_t value = body.find_first_not_of(" :", at + kIds.size());
    lists += value != std::string::npos && body[value] == '[';
  }
  if (lists == call.n) unread.push_back("tokens");
  return unread;
}

class VllmDialect : public Dialect {
 public:
  explicit VllmDialect(const ServerFacts& facts) : facts_(facts) {}

  int most_samples() const override { return kMostSamples; }

  DialectCall Generate(const GenerationCall& call) const override {
    const SamplingOptions& s = call.sampling;
    json body = Common();
    body["n"] = call.n;
    body["max_tokens"] = call.max_tokens;
    body["temperature"] = s.temperature;
    body["top_p"] = s.top_p;
    if (s.top_k > 0) body["top_k"] = s.top_k;
    if (s.min_p > 0) body["min_p"] = s.min_p;
    if (s.repetition_penalty != 1) {
      body["repetition_penalty"] = s.repetition_penalty;
    }
    body["seed"] = call.seed;
    body["logprobs"] = call.top;
    body["stop"] = call.stops;
    body["include_stop_str_in_output"] = true;
    return {"/v1/completions", WithIds(body, "prompt", call.prompt)};
  }

  absl::StatusOr<GenerationReply> ReadGeneration(
      const std::string& body, const GenerationCall& call) const override {
    ESP_ASSIGN_OR_RETURN(
        const json reply,
        ParseJsonObject(WithoutLists(body, Unread(body, call)), "the reply"));
    GenerationReply out;
    ReadUsage(reply, out.prompt_tokens, out.cached_tokens);
    ESP_ASSIGN_OR_RETURN(const std::vector<const json*> choices,
                         ChoicesByIndex(reply, call.n));
    for (const json* choice : choices) {
      ESP_ASSIGN_OR_RETURN(out.samples.emplace_back(),
                           ReadChoice(*choice, call.top));
      ReadWeightVersions(*choice, out.weights);
    }
    return out;
  }

  bool scores_texts() const override { return true; }

  // The next token is made certain by a bias, which log-probs leave out. More
  // than one takes prompt_logprobs, which switches the prefix cache off: only
  // texts whose log-probs are needed are scored.
  DialectCall Score(const ScoreCall& call) const override {
    if (call.next_only()) {
      json body = Common();
      body["max_tokens"] = 1;
      body["temperature"] = 0;
      body["logprobs"] = std::max(1, call.top);
      body["logit_bias"] = {{absl::StrCat(call.text.back()), kLargestBias}};
      return {"/v1/completions",
              WithIds(body, "prompt",
                      call.text.first(static_cast<size_t>(call.from)))};
    }
    json body = Common();
    body["max_tokens"] = 1;
    body["temperature"] = 0;
    body["prompt_logprobs"] = std::max(1, call.top);
    return {"/v1/completions", WithIds(body, "prompt", call.text)};
  }

  absl::StatusOr<GivenReply> ReadScore(const std::string& body,
                                       const ScoreCall& call) const override {
    ESP_ASSIGN_OR_RETURN(const json reply, ParseJsonObject(body, "the reply"));
    GivenReply out;
    ReadUsage(reply, out.prompt_tokens, out.cached_tokens);
    ESP_ASSIGN_OR_RETURN(const json* choices, ListField(reply, "choices"));
    if (choices->empty()) return WrongField("choices", "one choice", json());
    ESP_RETURN_IF_ERROR(call.next_only()
                            ? ReadNext((*choices)[0], call, out)
                            : ReadPrompt((*choices)[0], call, out));
    return out;
  }

 private:
  static absl::Status ReadNext(const json& choice, const ScoreCall& call,
                               GivenReply& out) {
    ESP_ASSIGN_OR_RETURN(RemoteSample sample,
                         ReadChoice(choice, std::max(1, call.top)));
    const int32_t wanted = call.text.back();
    if (sample.tokens.size() != 1 || sample.tokens[0] != wanted) {
      return absl::InvalidArgumentError(
          absl::StrCat("the server's reply: expected token ", wanted,
                       ", which a bias makes certain"));
    }
    const std::vector<TokenLogprob>& top = sample.alternatives[0];
    out.greedy = {!top.empty() && top[0].token == wanted};
    out.logprobs = std::move(sample.logprobs);
    out.alternatives = std::move(sample.alternatives);
    return absl::OkStatus();
  }

  // One entry per token of the text: null, then {"ID": {"logprob": x, "rank":
  // 1}, ...}.
  static absl::Status ReadPrompt(const json& choice, const ScoreCall& call,
                                 GivenReply& out) {
    ESP_ASSIGN_OR_RETURN(const json* list,
                         ListField(choice, "prompt_logprobs"));
    if (list->size() != call.text.size()) {
      return absl::InvalidArgumentError(
          absl::StrCat("the server's reply, field prompt_logprobs: expected ",
                       call.text.size(), " entries, found ", list->size()));
    }
    for (size_t t = static_cast<size_t>(call.from); t < list->size(); ++t) {
      const json& entry = Field((*list)[t], absl::StrCat(call.text[t]));
      ESP_ASSIGN_OR_RETURN(
          const float logprob,
          LogprobOf(Field(entry, "logprob"), "prompt_logprobs"));
      if (std::isnan(logprob)) {
        return absl::InvalidArgumentError(absl::StrCat(
            "the server's reply, field prompt_logprobs: none of token ",
            call.text[t], " at position ", t));
      }
      out.logprobs.push_back(logprob);
      out.greedy.push_back(CountField(entry, "rank") == 1);
      std::vector<TokenLogprob>& top = out.alternatives.emplace_back();
      for (const auto& [id, other] : (*list)[t].items()) {
        ESP_ASSIGN_OR_RETURN(
            const float value,
            KnownLogprobOf(Field(other, "logprob"), "prompt_logprobs"));
        ESP_ASSIGN_OR_RETURN(
            const int32_t token,
            TokenOf(json("token_id:" + id), "prompt_logprobs"));
        top.push_back({token, value});
      }
      SortTop(top, std::max(1, call.top));
    }
    return absl::OkStatus();
  }

  json Common() const {
    return {{"model", facts_.model},
            {"skip_special_tokens", false},
            {"add_special_tokens", false},
            {"return_token_ids", true},
            {"return_tokens_as_token_ids", true},
            {"stream", false}};
  }

  const ServerFacts facts_;
};

}  // namespace

std::unique_ptr<Dialect> MakeVllmDialect(const ServerFacts& facts) {
  return std::make_unique<VllmDialect>(facts);
}

}  // namespace espalier
