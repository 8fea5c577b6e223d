#include "models/remote/server_probe.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/clock.h"
#include "base/json_text.h"
#include "base/parse_json.h"
#include "base/status_macros.h"
#include "base/text.h"
#include "models/remote/reply_fields.h"
#include "models/remote/server_key.h"
#include "models/remote/server_message.h"
#include "models/remote/text_sample.h"
#include "nlohmann/json.hpp"

namespace espalier {
namespace {

using nlohmann::json;

// Words, numbers, line ends, marks and letters outside of ASCII: tokenizers
// that agree on it are taken for equal.
constexpr char kSampleText[] =
    "The 12 foxes ran.\n\n  x = 3.75e7; \"na\xC3\xAFve\" \xD0\x96 "
    "\xE4\xBD\xA0\xE5\xA5\xBD\n";

bool MayHelpLater(int status) { return status == 429 || status >= 500; }

class Probe {
 public:
  // `tokenizer` may be null for AskForModel.
  Probe(const Endpoint& endpoint, const std::string& name,
        const Tokenizer* tokenizer, const HttpOptions& http)
      : url_(endpoint.Url()),
        name_(name),
        tokenizer_(tokenizer),
        connection_(endpoint, http) {}

  absl::StatusOr<ServerFacts> AskForModel() {
    ESP_RETURN_IF_ERROR(FindKind());
    ESP_RETURN_IF_ERROR(FindModel());
    return facts_;
  }

  absl::StatusOr<ServerFacts> Run() {
    ESP_RETURN_IF_ERROR(RunWithoutGeneration().status());
    ESP_RETURN_IF_ERROR(TryGeneration());
    return facts_;
  }

  absl::StatusOr<ServerFacts> RunWithoutGeneration() {
    ESP_RETURN_IF_ERROR(AskForModel().status());
    ESP_RETURN_IF_ERROR(CompareTokenizers());
    if (facts_.vocab_size == 0) facts_.vocab_size = tokenizer_->vocab_size();
    if (facts_.context_length == 0) {
      facts_.context_length = std::numeric_limits<int>::max() / 2;
    }
    ESP_ASSIGN_OR_RETURN(const std::vector<int32_t> letter,
                         tokenizer_->EncodeContinuation("a"));
    if (!letter.empty()) facts_.plain_token = letter[0];
    return facts_;
  }

 private:
  // The JSON of a reply of status 200; null for any other reply.
  absl::StatusOr<json> Ask(const std::string& path, const json& body = {}) {
    ESP_ASSIGN_OR_RETURN(const HttpReply reply,
                         Send(path, body.is_null() ? "" : JsonText(body)));
    if (reply.status == 401 || reply.status == 403) {
      return absl::UnauthenticatedError(
          absl::StrCat(url_, path, " answered ", reply.status,
                       ": the server wants a key, or another one; it is ",
                       KeyPlace(connection_.endpoint())));
    }
    if (MayHelpLater(reply.status)) {
      return absl::UnavailableError(absl::StrCat(
          url_, path, " answered ", reply.status, " time and again: ",
          ServerMessage(reply.body, connection_.endpoint().key),
          "; is the server still loading its model, or too busy?"));
    }
    last_ = absl::StrCat(path, " answered ", reply.status);
    if (reply.status != 200) return json();
    return ParseJsonOrNull(WithoutKey(reply.body, connection_.endpoint().key));
  }

  // Asks again where that may help: the server may be busy or just starting,
  // or have broken off a connection.
  absl::StatusOr<HttpReply> Send(const std::string& path,
                                 const std::string& body) {
    constexpr int kAttempts = 5;
    constexpr int kBrokenAttempts = 3;
    constexpr double kLongestWait = 10, kQuickSeconds = 2;
    double wait = 0.25;
    for (int made = 1;; ++made) {
      const double start = Clock::Real().Seconds();
      absl::StatusOr<HttpReply> reply =
          body.empty() ? connection_.Get(path) : connection_.Post(path, body);
      const bool broken = absl::IsUnavailable(reply.status()) &&
                          Clock::Real().Seconds() - start < kQuickSeconds;
      if (broken ? made == kBrokenAttempts
                 : !reply.ok() || !MayHelpLater(reply->status) ||
                       made == kAttempts || reply->retry_after > kLongestWait) {
        return reply;
      }
      std::this_thread::sleep_for(std::chrono::duration<double>(
          broken ? wait : std::max(wait, reply->retry_after)));
      wait *= 2;
    }
  }

  absl::Status FindKind() {
    ESP_ASSIGN_OR_RETURN(json reply, Ask("/props"));
    if (Field(reply, "default_generation_settings").is_object()) {
      facts_.kind = ServerKind::kLlamaServer;
      facts_.slots = static_cast<int>(CountField(reply, "total_slots"));
      facts_.context_length = static_cast<int>(
          CountField(Field(reply, "default_generation_settings"), "n_ctx"));
      facts_.version = TextField(reply, "build_info");
      return absl::OkStatus();
    }
    for (const char* path : {"/get_model_info", "/model_info"}) {
      ESP_ASSIGN_OR_RETURN(reply, Ask(path));
      if (Field(reply, "model_path").is_string()) {
        facts_.kind = ServerKind::kSglang;
        facts_.weights = TextField(reply, "weight_version");
        return absl::OkStatus();
      }
    }
    ESP_ASSIGN_OR_RETURN(reply, Ask("/version"));
    if (Field(reply, "version").is_string()) {
      facts_.kind = ServerKind::kVllm;
      facts_.version = TextField(reply, "version");
      // There in its development mode only, and often barred by a proxy.
      ESP_ASSIGN_OR_RETURN(const HttpReply told,
                           connection_.Get("/weight_info"));
      if (told.status != 200) return absl::OkStatus();
      reply = ParseJsonOrNull(told.body);
      facts_.weights = TextField(reply, "weight_version");
      return absl::OkStatus();
    }
    facts_.kind = ServerKind::kOpenAi;
    return absl::OkStatus();
  }

  absl::Status FindModel() {
    ESP_ASSIGN_OR_RETURN(const json reply, Ask("/v1/models"));
    std::vector<std::string> names;
    const json* chosen = nullptr;
    const json& list = Field(reply, "data");
    for (size_t i = 0; list.is_array() && i < list.size(); ++i) {
      names.push_back(TextField(list[i], "id"));
      if (names.back() == name_ || (name_.empty() && list.size() == 1)) {
        chosen = &list[i];
        facts_.model = names.back();
      }
    }
    if (names.empty() && facts_.kind == ServerKind::kOpenAi) {
      return absl::UnimplementedError(absl::StrCat(
          url_,
          ": the server is none of llama-server, vLLM and SGLang (none of "
          "/props, /get_model_info and /version answers as theirs do) and "
          "names no model at OpenAI's /v1/models (",
          last_, "); expected one of these, or OpenAI's /v1/completions"));
    }
    if (names.empty()) {
      return absl::UnimplementedError(absl::StrCat(
          url_, ": the server names no model at /v1/models (", last_, ")"));
    }
    if (chosen == nullptr && name_.empty()) {
      return absl::InvalidArgumentError(absl::StrCat(
          url_, ": the server offers several models; name one as URL#NAME: ",
          absl::StrJoin(names, ", ")));
    }
    if (chosen == nullptr) {
      return absl::NotFoundError(
          absl::StrCat(url_, ": ", UnknownName("model", name_, names)));
    }
    facts_.vocab_size =
        static_cast<int>(CountField(Field(*chosen, "meta"), "n_vocab"));
    const std::string size = ModelSize(*chosen);
    if (!size.empty()) facts_.weights = size;
    if (facts_.context_length == 0) {
      facts_.context_length =
          static_cast<int>(CountField(*chosen, "max_model_len"));
    }
    return absl::OkStatus();
  }

  absl::Status CompareTokenizers() {
    // Ids mean nothing to it, and its tokenizer is its own business.
    if (facts_.kind == ServerKind::kOpenAi) return absl::OkStatus();
    const json body = facts_.kind == ServerKind::kLlamaServer
                          ? json{{"content", kSampleText},
                                 {"add_special", false},
                                 {"with_pieces", false}}
                          : json{{"model", facts_.model},
                                 {"prompt", kSampleText},
                                 {"add_special_tokens", false}};
    ESP_ASSIGN_OR_RETURN(const json reply, Ask("/tokenize", body));
    if (!Field(reply, "tokens").is_array()) return absl::OkStatus();
    ESP_ASSIGN_OR_RETURN(const std::vector<int32_t> theirs,
                         TokensField(reply, "tokens"));
    ESP_ASSIGN_OR_RETURN(const std::vector<int32_t> ours,
                         tokenizer_->Encode(kSampleText));
    if (theirs == ours) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat(
        url_,
        ": the server's tokenizer is not the one named: of a sample text "
        "it makes ",
        theirs.size(), " tokens (", Begin(theirs), "), and this ", ours.size(),
        " (", Begin(ours),
        "); name the folder of the server's model by --tokenizer"));
  }

  static std::string Begin(const std::vector<int32_t>& tokens) {
    const size_t n = std::min<size_t>(tokens.size(), 4);
    return absl::StrCat(
        absl::StrJoin(tokens.begin(),
                      tokens.begin() + static_cast<ptrdiff_t>(n), " "),
        n < tokens.size() ? " ..." : "");
  }

  static GenerationCall ShortText() {
    return {.max_tokens = 1, .sampling = {.temperature = 0}, .text = "1 + 1 ="};
  }

  // Some servers give one sample whatever n is, others an error of any kind.
  absl::Status TrySeveral() {
    GenerationCall call = ShortText();
    call.n = 2;
    const auto dialect = MakeDialect(facts_);
    const DialectCall request = dialect->Generate(call);
    ESP_ASSIGN_OR_RETURN(const HttpReply reply,
                         connection_.Post(request.path, request.body));
    facts_.several =
        reply.status == 200 && dialect->ReadGeneration(reply.body, call).ok();
    return absl::OkStatus();
  }

  absl::Status TryTexts() {
    if (EndToken(*tokenizer_) < 0) {
      return absl::InvalidArgumentError(absl::StrCat(
          url_, ": the server returns texts, and the tokenizer names no token ",
          "that ends them; name a folder whose tokenizer_config.json does"));
    }
    absl::Status why;
    for (const bool logprobs : {true, false}) {
      facts_.logprobs = logprobs;
      facts_.several = false;
      const DialectCall request = MakeDialect(facts_)->Generate(ShortText());
      ESP_ASSIGN_OR_RETURN(const HttpReply reply,
                           Send(request.path, request.body));
      if (reply.status != 200) {
        why = absl::UnimplementedError(absl::StrCat(
            url_, request.path, " answered ", reply.status,
            " to a request of one token: ",
            ServerMessage(reply.body, connection_.endpoint().key)));
        continue;
      }
      const auto read =
          MakeDialect(facts_)->ReadGeneration(reply.body, ShortText());
      if (!read.ok()) {
        why = absl::UnimplementedError(
            absl::StrCat(url_, request.path, ": ", read.status().message(),
                         "; expected OpenAI's completions"));
        continue;
      }
      // Nothing but an end tells no log-probs either way.
      facts_.logprobs = logprobs && !read->samples[0].text.pieces.empty();
      return TrySeveral();
    }
    return why;
  }

  absl::Status TryGeneration() {
    if (facts_.kind == ServerKind::kOpenAi) return TryTexts();
    const auto dialect = MakeDialect(facts_);
    ESP_ASSIGN_OR_RETURN(const std::vector<int32_t> prompt,
                         tokenizer_->Encode("1 + 1 ="));
    const GenerationCall call{
        .prompt = prompt, .max_tokens = 1, .sampling = {.temperature = 0}};
    const DialectCall request = dialect->Generate(call);
    ESP_ASSIGN_OR_RETURN(const HttpReply reply,
                         Send(request.path, request.body));
    if (reply.status != 200) {
      return absl::UnimplementedError(
          absl::StrCat(url_, request.path, " answered ", reply.status,
                       " to a request of one token: ",
                       ServerMessage(reply.body, connection_.endpoint().key)));
    }
    const auto read = dialect->ReadGeneration(reply.body, call);
    if (!read.ok() || read->samples[0].tokens.empty() ||
        std::isnan(read->samples[0].logprobs[0])) {
      return absl::UnimplementedError(absl::StrCat(
          url_, request.path, ": ",
          read.ok() ? "the reply has no token or no log-prob"
                    : read.status().message(),
          "; expected token ids and log-probs, which a search needs"));
    }
    if (read->prompt_tokens > 0 &&
        read->prompt_tokens != static_cast<int64_t>(prompt.size())) {
      return absl::FailedPreconditionError(absl::StrCat(
          url_, request.path, " read ", read->prompt_tokens, " tokens where ",
          prompt.size(),
          " were sent: it adds some of its own, and would continue another "
          "text"));
    }
    return absl::OkStatus();
  }

  const std::string url_;
  const std::string name_;
  const Tokenizer* tokenizer_;
  HttpConnection connection_;
  ServerFacts facts_;
  std::string last_;  // the last reply, for messages
};

absl::StatusOr<ServerFacts> Redacted(absl::StatusOr<ServerFacts> facts,
                                     const Endpoint& server) {
  if (!facts.ok()) return WithoutKey(facts.status(), server.key);
  for (std::string* text : {&facts->model, &facts->version, &facts->weights}) {
    *text = WithoutKey(std::move(*text), server.key);
  }
  return facts;
}

}  // namespace

absl::StatusOr<ServerFacts> ProbeServer(const Endpoint& endpoint,
                                        const std::string& name,
                                        const Tokenizer& tokenizer,
                                        const HttpOptions& http) {
  return Redacted(Probe(endpoint, name, &tokenizer, http).Run(), endpoint);
}

absl::StatusOr<ServerFacts> ProbeScorer(const Endpoint& endpoint,
                                        const std::string& name,
                                        const Tokenizer& tokenizer,
                                        const HttpOptions& http) {
  return Redacted(
      Probe(endpoint, name, &tokenizer, http).RunWithoutGeneration(), endpoint);
}

absl::StatusOr<ServerFacts> AskForModel(const Endpoint& endpoint,
                                        const std::string& name,
                                        const HttpOptions& http) {
  return Redacted(Probe(endpoint, name, nullptr, http).AskForModel(), endpoint);
}

}  // namespace espalier
