#include "models/remote/dialect.h"

namespace espalier {

std::string_view ServerKindName(ServerKind kind) {
  switch (kind) {
    case ServerKind::kLlamaServer:
      return "llama-server";
    case ServerKind::kVllm:
      return "vLLM";
    case ServerKind::kSglang:
      return "SGLang";
    case ServerKind::kOpenAi:
      return "an OpenAI-compatible server";
  }
  return "";
}

std::unique_ptr<Dialect> MakeDialect(const ServerFacts& facts) {
  switch (facts.kind) {
    case ServerKind::kLlamaServer:
      return MakeLlamaServerDialect(facts);
    case ServerKind::kVllm:
      return MakeVllmDialect(facts);
    case ServerKind::kSglang:
      return MakeSglangDialect(facts);
    case ServerKind::kOpenAi:
      return MakeOpenAiDialect(facts);
  }
  return nullptr;
}

}  // namespace espalier
