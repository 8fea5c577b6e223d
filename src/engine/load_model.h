// A checkpoint, or a model behind a server, and everything that serves it.
//
//   Executor executor(threads);
//   ESP_ASSIGN_OR_RETURN(LoadedModel model,
//                        LoadModel("models/zoo/stories", {}, executor));
//   model.backend->Submit(...);
#ifndef ESPALIER_SRC_ENGINE_LOAD_MODEL_H_
#define ESPALIER_SRC_ENGINE_LOAD_MODEL_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "base/executor.h"
#include "models/backend/backend.h"
#include "models/remote/endpoint.h"
#include "models/tokenizer/tokenizer.h"
#include "models/trunk/trunk.h"

namespace espalier {

class RemoteBackend;
struct RemoteOptions;

// The backend refers to the other two. Externally synchronised.
struct LoadedModel {
  std::unique_ptr<Trunk> trunk;  // null: the model is behind a server
  std::unique_ptr<Tokenizer> tokenizer;
  std::unique_ptr<Backend> backend;
  RemoteBackend* remote = nullptr;  // `backend`, if it is one
  // Searches that a server continues at a time without losing what it has
  // cached of others; 0: not limited.
  int slots = 0;
};

struct LoadOptions {
  // "cpu", "cuda", "cuda:1" or "torch-cpu" (models/trunk/load_trunk.h).
  std::string device = "cpu";
  int64_t kv_bytes = int64_t{2} << 30;
  // "auto", "fp32", "bf16", "int8" or "int4" (TrunkOptions::weights).
  std::string weights = "auto";
  CheckpointPart part = CheckpointPart::kAll;
  bool drafts = true;  // as EngineOptions'
  // The folder or GGUF file with the tokenizer of a model behind a server.
  std::string tokenizer = {};
  // As EngineOptions'.
  int server_attempts = 10;
  double server_timeout = 600;
  std::function<void(const std::string&)> notice = {};
};

// `executor` outlives the model. `path`: a folder, a GGUF file, or the name of
// a model behind a server (models/remote/endpoint.h), whose key is read from
// the environment variable ESPALIER_API_KEY. InvalidArgument for a tokenizer
// with more tokens than the model has, and for an unknown value of `weights`.
// Unimplemented for a server that cannot score texts and a `part` other than
// kAll, which is read by scores.
absl::StatusOr<LoadedModel> LoadModel(const std::string& path,
                                      const LoadOptions& options,
                                      Executor& executor);

// The servers of a name, with their keys, for a model whose tokenizer
// `options` names. InvalidArgument for options that only a model in this
// process has.
absl::StatusOr<RemoteModel> RemoteServers(const std::string& name,
                                          const LoadOptions& options);
// How they are called, without a notice.
RemoteOptions RemoteOptionsOf(const LoadOptions& options);

// What a user should know of `model` at its end; "": nothing.
std::string TextsNote(const LoadedModel& model);

// What a run keeps of a server, beside the model. Other values make it another
// run.
struct ServerRecord {
  std::string weights;  // as the server tells; "": it tells nothing
  // "texts" or "texts without log-probs" of a server that returns no token ids;
  // "": ids, with log-probs that mean the same whatever the kind of server.
  std::string replies;
};
// Asks the first server. `tokenizer`: as LoadOptions has it.
absl::StatusOr<ServerRecord> RecordOfServer(const std::string& name,
                                            const std::string& tokenizer);

// The model's name at its server: as in URL#NAME, or the only one that the
// first server offers.
absl::StatusOr<std::string> RemoteModelName(const std::string& name);

// What tells the model behind a server from others: its name there, what the
// server says of its weights, and whether it returns only texts. Asks the first
// server.
absl::StatusOr<std::string> RemoteModelId(const std::string& name);
// The same of a recorded server, without asking it. FailedPrecondition if the
// URL does not name the model.
absl::StatusOr<std::string> RemoteModelId(const std::string& name,
                                          const ServerRecord& record);

}  // namespace espalier

#endif  // ESPALIER_SRC_ENGINE_LOAD_MODEL_H_
