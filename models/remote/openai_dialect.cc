// OpenAI's POST /v1/completions with texts, as Ollama, TGI, LM Studio and
// hosted models speak it. Only what the API has is sent unless a search asks
// for more (top_k, min_p, a repetition penalty), since some servers refuse
// other fields.
//
// The API leaves a stop out of the text, says "stop" for it and for the end of
// the text alike, and has log-probs by token text; servers differ in all three,
// so what they add is read where it is there: stop_reason of vLLM, matched_stop
// of SGLang, finish_reason "eos_token" and "stop_sequence" of TGI, log-probs in
// the form of the chat API (llama.cpp).
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/json_text.h"
#include "base/parse_json.h"
#include "base/status_macros.h"
#include "models/remote/dialect.h"
#include "models/remote/reply_fields.h"
#include "nlohmann/json.hpp"

namespace espalier {
namespace {

using nlohmann::json;

constexpr int kMostOfTexts = 64;
constexpr size_t kMostStops = 4;  // OpenAI's limit

// Log-probs that are null (the first of an echo) count as 0.
absl::StatusOr<float> PieceLogprob(const json& value) {
  if (value.is_null()) return 0.0f;
  return LogprobOf(value, "token_logprobs");
}

absl::StatusOr<std::vector<TextPiece>> ReadPieces(const json& logprobs) {
  std::vector<TextPiece> pieces;
  // [{"token": "a", "logprob": -1}, ...]
  if (const json& content = Field(logprobs, "content"); content.is_array()) {
    for (const json& one : content) {
      ESP_ASSIGN_OR_RETURN(const float logprob,
                           PieceLogprob(Field(one, "logprob")));
      pieces.push_back({TextField(one, "token"), logprob});
    }
    return pieces;
  }
  const json& tokens = Field(logprobs, "tokens");
  const json& values = Field(logprobs, "token_logprobs");
  if (!tokens.is_array() || !values.is_array()) return pieces;
  if (tokens.size() != values.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the server's reply has ", tokens.size(), " tokens and ",
                     values.size(), " log-probs"));
  }
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (!tokens[i].is_string()) {
      return WrongField("tokens", "texts", tokens[i]);
    }
    ESP_ASSIGN_OR_RETURN(const float logprob, PieceLogprob(values[i]));
    pieces.push_back({tokens[i].get<std::string>(), logprob});
  }
  return pieces;
}

void ReadEnd(const json& choice, const std::string& why, RemoteText& text) {
  if (why == "length") return;
  for (const char* name : {"stop_reason", "matched_stop"}) {
    const json& told = Field(choice, name);
    if (told.is_string()) {
      text.end = TextEnd::kStop;
      text.stop = told.get<std::string>();
      return;
    }
    // The id of an end token.
    if (told.is_number()) {
      text.end = TextEnd::kEnd;
      return;
    }
  }
  text.end = why == "stop_sequence" ? TextEnd::kStop
             : why == "eos_token"   ? TextEnd::kEnd
                                    : TextEnd::kUntold;
}

absl::StatusOr<RemoteSample> ReadTextChoice(const json& choice, bool logprobs) {
  RemoteSample sample;
  RemoteText& out = sample.text;
  const json& text = Field(choice, "text");
  if (!text.is_string()) return WrongField("text", "a text", text);
  out.text = text.get<std::string>();
  ESP_ASSIGN_OR_RETURN(out.pieces, ReadPieces(Field(choice, "logprobs")));
  const std::string why = TextField(choice, "finish_reason");
  if (why != "stop" && why != "length" && why != "eos_token" &&
      why != "stop_sequence") {
    return absl::InvalidArgumentError(absl::StrCat(
        "the server's reply, field finish_reason: expected stop or length, "
        "found \"",
        why, "\""));
  }
  ReadEnd(choice, why, out);
  if (logprobs && out.pieces.empty() && !out.text.empty()) {
    return WrongField("logprobs", "a log-prob of each token",
                      Field(choice, "logprobs"));
  }
  return sample;
}

class OpenAiDialect : public Dialect {
 public:
  explicit OpenAiDialect(const ServerFacts& facts) : facts_(facts) {}

  int most_samples() const override {
    return facts_.several ? kMostOfTexts : 1;
  }
  bool speaks_texts() const override { return true; }

  DialectCall Generate(const GenerationCall& call) const override {
    const SamplingOptions& s = call.sampling;
    json body = {{"model", facts_.model},
                 {"prompt", call.text},
                 {"max_tokens", call.max_tokens},
                 {"temperature", s.temperature},
                 {"top_p", s.top_p},
                 {"seed", call.seed},
                 {"stream", false}};
    if (call.n > 1) body["n"] = call.n;
    if (facts_.logprobs) body["logprobs"] = 1;
    if (s.top_k > 0) body["top_k"] = s.top_k;
    if (s.min_p > 0) body["min_p"] = s.min_p;
    if (s.repetition_penalty != 1) {
      body["repetition_penalty"] = s.repetition_penalty;
    }
    // The last is the step's delimiter, which ends most texts.
    std::vector<std::string> stops(call.stops.rbegin(), call.stops.rend());
    if (stops.size() > kMostStops) stops.resize(kMostStops);
    if (!stops.empty()) body["stop"] = stops;
    return {"/v1/completions", JsonText(body)};
  }

  absl::StatusOr<GenerationReply> ReadGeneration(
      const std::string& body, const GenerationCall& call) const override {
    ESP_ASSIGN_OR_RETURN(const json reply, ParseJsonObject(body, "the reply"));
    GenerationReply out;
    ReadUsage(reply, out.prompt_tokens, out.cached_tokens);
    ESP_ASSIGN_OR_RETURN(const std::vector<const json*> choices,
                         ChoicesByIndex(reply, call.n));
    for (const json* choice : choices) {
      ESP_ASSIGN_OR_RETURN(out.samples.emplace_back(),
                           ReadTextChoice(*choice, facts_.logprobs));
    }
    return out;
  }

  bool scores_texts() const override { return false; }
  // Not called: capabilities say that nothing is scored.
  DialectCall Score(const ScoreCall&) const override { return {}; }
  absl::StatusOr<GivenReply> ReadScore(const std::string&,
                                       const ScoreCall&) const override {
    return absl::UnimplementedError("the server cannot score texts");
  }

 private:
  const ServerFacts facts_;
};

}  // namespace

std::unique_ptr<Dialect> MakeOpenAiDialect(const ServerFacts& facts) {
  return std::make_unique<OpenAiDialect>(facts);
}

}  // namespace espalier
