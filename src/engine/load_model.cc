#include "src/engine/load_model.h"

#include <algorithm>
#include <cstdlib>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/foreign.h"
#include "base/status_macros.h"
#include "models/remote/remote_backend.h"
#include "models/remote/server_key.h"
#include "models/remote/server_probe.h"
#include "models/schedule/trunk_backend.h"

namespace espalier {

namespace {

absl::StatusOr<WeightChoice> ParseWeights(const std::string& name) {
  if (name == "auto") return WeightChoice::kAuto;
  if (name == "fp32") return WeightChoice::kFp32;
  if (name == "bf16") return WeightChoice::kBf16;
  if (name == "int8") return WeightChoice::kInt8;
  if (name == "int4") return WeightChoice::kInt4;
  return absl::InvalidArgumentError(absl::StrCat(
      "weights \"", name, "\": expected auto, fp32, bf16, int8 or int4"));
}

// The servers of a name, with their keys.
absl::StatusOr<RemoteModel> ParseWithKeys(const std::string& name) {
  ESP_ASSIGN_OR_RETURN(RemoteModel remote, ParseRemoteModel(name));
  for (Endpoint& server : remote.servers) {
    ESP_ASSIGN_OR_RETURN(server.key,
                         KeyOf(server, [](const std::string& variable) {
                           return std::getenv(variable.c_str());
                         }));
  }
  return remote;
}

}  // namespace

absl::StatusOr<RemoteModel> RemoteServers(const std::string& name,
                                          const LoadOptions& options) {
  if (absl::StrContains(name, "huggingface.co/")) {
    return absl::InvalidArgumentError(
        absl::StrCat(name, ": this is a page of the Hugging Face hub, not a ",
                     "server", ForeignName(name, Wanted::kModel)));
  }
  ESP_ASSIGN_OR_RETURN(const RemoteModel remote, ParseWithKeys(name));
  if (options.tokenizer.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        name,
        ": a model behind a server needs its tokenizer here, since token "
        "ids go to the server and come back; name the folder of its "
        "tokenizer.json, or a GGUF file, by --tokenizer"));
  }
  if (options.device != "cpu" || options.weights != "auto") {
    return absl::InvalidArgumentError(absl::StrCat(
        name,
        ": the server decides on its device and weights; leave out "
        "--device and --weights"));
  }
  return remote;
}

RemoteOptions RemoteOptionsOf(const LoadOptions& options) {
  RemoteOptions how;
  how.calls.attempts = options.server_attempts;
  how.calls.unread_attempts =
      std::min(how.calls.unread_attempts, options.server_attempts);
  how.http.read_seconds = options.server_timeout;
  how.http.connect_seconds =
      std::min(how.http.connect_seconds, options.server_timeout);
  return how;
}

namespace {

// Says what a server of texts cannot do, and refuses it where scores are
// needed.
absl::Status CheckTexts(const std::string& url, const RemoteBackend& backend,
                        const LoadOptions& options) {
  const ServerFacts& facts = backend.facts();
  if (facts.kind != ServerKind::kOpenAi) return absl::OkStatus();
  if (options.part != CheckpointPart::kAll) {
    return absl::UnimplementedError(absl::StrCat(
        url,
        ": the server speaks texts (OpenAI's /v1/completions) and cannot score "
        "given texts, which a reward model does; expected llama-server, vLLM "
        "or SGLang"));
  }
  if (!options.notice) return absl::OkStatus();
  options.notice(absl::StrCat(
      url,
      ": the server returns no token ids, so texts are sent and what comes "
      "back is tokenised here: tokens may differ from the server's, then its "
      "prefix cache helps less and log-probs are spread over other tokens",
      facts.logprobs ? ""
                     : "; it tells no log-probs, which are recorded as 0, and "
                       "methods that read them are refused"));
  return absl::OkStatus();
}

absl::StatusOr<LoadedModel> ConnectModel(const std::string& name,
                                         const LoadOptions& options) {
  ESP_ASSIGN_OR_RETURN(const RemoteModel remote, RemoteServers(name, options));
  LoadedModel model;
  ESP_ASSIGN_OR_RETURN(model.tokenizer, Tokenizer::Load(options.tokenizer));
  RemoteOptions how = RemoteOptionsOf(options);
  const std::string url = remote.servers.front().Url();
  if (options.notice) {
    how.notice = [notice = options.notice, url](const std::string& what) {
      notice(absl::StrCat(url, ": ", what));
    };
  }
  ESP_ASSIGN_OR_RETURN(auto backend,
                       RemoteBackend::Connect(remote, *model.tokenizer, how));
  ESP_RETURN_IF_ERROR(CheckTexts(url, *backend, options));
  model.slots =
      backend->facts().slots * static_cast<int>(remote.servers.size());
  model.remote = backend.get();
  model.backend = std::move(backend);
  return model;
}

}  // namespace

std::string TextsNote(const LoadedModel& model) {
  if (model.remote == nullptr) return "";
  const TextStats& texts = model.remote->text_stats();
  if (texts.samples == 0) return "";
  return absl::StrCat(texts.missed, " of ", texts.samples,
                      " texts did not go on from the tokens of their path and "
                      "were encoded apart from it");
}

absl::StatusOr<ServerRecord> RecordOfServer(const std::string& name,
                                            const std::string& tokenizer) {
  ESP_ASSIGN_OR_RETURN(const RemoteModel remote, ParseWithKeys(name));
  ESP_ASSIGN_OR_RETURN(ServerFacts facts,
                       AskForModel(remote.servers.front(), remote.name, {}));
  if (facts.kind != ServerKind::kOpenAi) return ServerRecord{facts.weights, ""};
  // Only a reply to a request tells whether there are log-probs.
  ESP_ASSIGN_OR_RETURN(const auto loaded, Tokenizer::Load(tokenizer));
  ESP_ASSIGN_OR_RETURN(
      facts, ProbeServer(remote.servers.front(), remote.name, *loaded, {}));
  return ServerRecord{facts.weights,
                      facts.logprobs ? "texts" : "texts without log-probs"};
}

absl::StatusOr<std::string> RemoteModelName(const std::string& name) {
  ESP_ASSIGN_OR_RETURN(const RemoteModel remote, ParseWithKeys(name));
  if (!remote.name.empty()) return remote.name;
  ESP_ASSIGN_OR_RETURN(const ServerFacts facts,
                       AskForModel(remote.servers.front(), remote.name, {}));
  return facts.model;
}

namespace {

std::string IdOf(const std::string& model, const std::string& weights,
                 bool texts) {
  return absl::StrCat(model, " ", weights, texts ? " texts" : "");
}

}  // namespace

absl::StatusOr<std::string> RemoteModelId(const std::string& name,
                                          const ServerRecord& record) {
  ESP_ASSIGN_OR_RETURN(const RemoteModel remote, ParseRemoteModel(name));
  if (remote.name.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat(name, ": only the server knows its model's name"));
  }
  return IdOf(remote.name, record.weights, !record.replies.empty());
}

absl::StatusOr<std::string> RemoteModelId(const std::string& name) {
  ESP_ASSIGN_OR_RETURN(const RemoteModel remote, ParseWithKeys(name));
  ESP_ASSIGN_OR_RETURN(const ServerFacts facts,
                       AskForModel(remote.servers.front(), remote.name, {}));
  return IdOf(facts.model, facts.weights, facts.kind == ServerKind::kOpenAi);
}

absl::StatusOr<LoadedModel> LoadModel(const std::string& path,
                                      const LoadOptions& options,
                                      Executor& executor) {
  if (IsRemoteModel(path)) return ConnectModel(path, options);
  LoadedModel model;
  ESP_ASSIGN_OR_RETURN(const WeightChoice weights,
                       ParseWeights(options.weights));
  ESP_ASSIGN_OR_RETURN(model.trunk,
                       Trunk::Load(path, {.device = options.device,
                                          .weights = weights,
                                          .part = options.part,
                                          .kv_bytes = options.kv_bytes,
                                          .executor = &executor}));
  ESP_ASSIGN_OR_RETURN(model.tokenizer, Tokenizer::Load(path));
  if (model.tokenizer->vocab_size() > model.trunk->config().vocab_size) {
    return absl::InvalidArgumentError(absl::StrCat(
        path, ": the tokenizer has ", model.tokenizer->vocab_size(),
        " tokens, the model's embedding only ",
        model.trunk->config().vocab_size, "; they do not belong together"));
  }
  model.backend = std::make_unique<TrunkBackend>(
      *model.trunk, *model.tokenizer, executor,
      TrunkBackendOptions{.kv_bytes = options.kv_bytes,
                          .drafts = options.drafts && options.device == "cpu"});
  return model;
}

}  // namespace espalier
