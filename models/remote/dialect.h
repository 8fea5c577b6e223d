// What each kind of server expects and answers: the JSON of its requests and
// replies, token ids in and token ids out, or texts both ways.
//
//   const auto dialect = MakeDialect(facts);
//   DialectCall call = dialect->Generate({.prompt = ids, .n = 4, ...});
//   ... send call.body to call.path ...
//   ESP_ASSIGN_OR_RETURN(GenerationReply reply,
//                        dialect->ReadGeneration(body, 4));
//
// Sources: vLLM's vllm/entrypoints/openai/completion/protocol.py; SGLang's
// python/sglang/srt/managers/io_struct.py (/generate); llama.cpp's
// tools/server/README.md (/completion); OpenAI's API reference
// (/v1/completions). Weight versions: vLLM's docs/training/async_rl.md and
// docs/serving/online_serving/token_in_token_out.md, SGLang's
// python/sglang/srt/utils/weight_versions.py.
//
// Immutable: thread-safe.
#ifndef ESPALIER_MODELS_REMOTE_DIALECT_H_
#define ESPALIER_MODELS_REMOTE_DIALECT_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "models/backend/backend.h"

namespace espalier {

// kOpenAi: OpenAI's completions with texts, as Ollama, TGI, LM Studio and
// hosted models have them; no token ids.
enum class ServerKind : uint8_t { kLlamaServer, kVllm, kSglang, kOpenAi };

std::string_view ServerKindName(ServerKind kind);  // "llama-server", ...

// What a server says of itself and its model (server_probe.h).
struct ServerFacts {
  ServerKind kind = ServerKind::kVllm;
  std::string version;      // as told; may be empty
  std::string weights;      // what tells other weights apart; may be empty
  std::string model;        // the name to ask for
  int context_length = 0;   // tokens
  int slots = 0;            // computed at a time; 0: not told
  int vocab_size = 0;       // 0: not told
  int32_t plain_token = 0;  // of whole characters; for llama-server
  // Of kOpenAi, where the others always can:
  bool logprobs = true;  // log-probs of what it writes
  bool several = true;   // several samples per request
};

struct DialectCall {
  std::string path;
  std::string body;
};

// n continuations of `prompt`.
struct GenerationCall {
  absl::Span<const int32_t> prompt;
  int n = 1;
  int max_tokens = 256;
  SamplingOptions sampling;
  std::vector<std::string> stops;  // each ends the text, and is kept in it
  uint32_t seed = 0;
  int top = 0;  // report the most likely tokens
  // The prompt as text, for dialects that speak texts.
  std::string text = {};
};

// ln p of the tokens of `text` from position `from` >= 1 on. Without
// Dialect::scores_texts, `from` is the last position, and NaN in the reply asks
// for a second call, with `again`, which may cost the server more.
struct ScoreCall {
  absl::Span<const int32_t> text;
  int from = 1;
  int top = 0;  // report the most likely tokens
  bool again = false;

  // Of one token, the next one after a text.
  bool next_only() const {
    return static_cast<size_t>(from) + 1 == text.size();
  }
};

// A part of a sample's text with its log-prob, as the server cut the text.
struct TextPiece {
  std::string text;
  float logprob = 0;
};

// How a text ended.
enum class TextEnd : uint8_t {
  kLength,
  kStop,    // in a stop string, which may be missing from the text
  kEnd,     // the model ended it
  kUntold,  // one of the last two
};

// What servers say that speak texts; TokensOfText (text_sample.h) makes tokens
// of it.
struct RemoteText {
  std::string text;
  std::vector<TextPiece> pieces;  // empty: no log-probs told
  TextEnd end = TextEnd::kLength;
  std::string stop;  // of kStop, if told
};

struct RemoteSample {
  std::vector<int32_t> tokens;  // with those of a stop and the end token
  // ln p at temperature 1 of each token; NaN where the server did not tell.
  std::vector<float> logprobs;
  // The most likely tokens at each position, most likely first; empty for a
  // position that was not told.
  std::vector<std::vector<TokenLogprob>> alternatives;
  Finish finish = Finish::kLength;  // kStop for every stop
  size_t text_bytes = 0;  // before a stop string; set by RemoteBackend
  RemoteText text = {};   // instead, if the dialect speaks texts
};

struct GenerationReply {
  std::vector<RemoteSample> samples;
  int64_t prompt_tokens = 0;  // 0 if not told
  int64_t cached_tokens = 0;  // of them, not computed; 0 if not told
  // Those that drew its tokens, as ServerFacts::weights, in the order in which
  // they did, each once; empty: not told.
  std::vector<std::string> weights = {};
};

// Of given tokens.
struct GivenReply {
  std::vector<float> logprobs;
  std::vector<bool> greedy;  // the most likely token at its position
  std::vector<std::vector<TokenLogprob>> alternatives;  // as RemoteSample's
  int64_t prompt_tokens = 0;                            // as GenerationReply's
  int64_t cached_tokens = 0;
};

// Errors of the Read functions are InvalidArgument and say what was expected
// and found.
class Dialect {
 public:
  virtual ~Dialect() = default;
  // Samples that one call may ask for.
  virtual int most_samples() const = 0;
  // Texts go and come back instead of ids. Such a server scores nothing.
  virtual bool speaks_texts() const { return false; }
  virtual DialectCall Generate(const GenerationCall& call) const = 0;
  virtual absl::StatusOr<GenerationReply> ReadGeneration(
      const std::string& body, const GenerationCall& call) const = 0;
  // True if one call scores the tokens of a text from a position on; else each
  // token takes one.
  virtual bool scores_texts() const = 0;
  virtual DialectCall Score(const ScoreCall& call) const = 0;
  virtual absl::StatusOr<GivenReply> ReadScore(const std::string& body,
                                               const ScoreCall& call) const = 0;
};

std::unique_ptr<Dialect> MakeDialect(const ServerFacts& facts);
// For MakeDialect.
std::unique_ptr<Dialect> MakeLlamaServerDialect(const ServerFacts& facts);
std::unique_ptr<Dialect> MakeVllmDialect(const ServerFacts& facts);
std::unique_ptr<Dialect> MakeSglangDialect(const ServerFacts& facts);
std::unique_ptr<Dialect> MakeOpenAiDialect(const ServerFacts& facts);

}  // namespace espalier

#endif  // ESPALIER_MODELS_REMOTE_DIALECT_H_
