// Megabytes of text per second that a tokenizer encodes and decodes, one
// thread. Public tokenizers and texts are read from $ESPALIER_DATA; without it
// the shipped model's tokenizer encodes generated stories.
#include <cstdlib>
#include <fstream>
#include <map>
#include <memory>
#include <string>

#include "base/check.h"
#include "base/files.h"
#include "bench/base/reference.h"
#include "bench/base/smoke.h"
#include "benchmark/benchmark.h"
#include "datasets/tasks/stories.h"
#include "models/tokenizer/byte_bpe.h"
#include "models/tokenizer/tokenizer.h"
#include "nlohmann/json.hpp"

namespace espalier {
namespace {

std::string Data() {
  const char* root = std::getenv("ESPALIER_DATA");
  return root == nullptr ? "" : std::string(root);
}

// Relative to the project's root, or ESPALIER_ZOO if set.
std::string ShippedFolder() {
  const char* const zoo = std::getenv("ESPALIER_ZOO");
  return std::string(zoo != nullptr ? zoo : "models/zoo") + "/stories";
}

// About a megabyte: questions and answers of GSM8K, else stories.
const std::string& Text() {
  static const std::string text = [] {
    const size_t most = SmokeOr<size_t>(1 << 14, 1 << 20);
    std::string all;
    std::ifstream file(Data() + "/math/gsm8k_train.jsonl");
    for (std::string line; std::getline(file, line) && all.size() < most;) {
      const auto row = nlohmann::json::parse(line);
      all += row["question"].get<std::string>() + "\n";
      all += row["answer"].get<std::string>() + "\n\n";
    }
    const StoryBand* band = FindStoryBand("hard");
    for (uint64_t i = 0; all.size() < most; ++i) {
      all += MakeStory(*band, 1, i).problem.question + "\n";
    }
    return all;
  }();
  return text;
}

std::unique_ptr<Tokenizer> Checked(
    absl::StatusOr<std::unique_ptr<Tokenizer>> tokenizer) {
  ESP_CHECK_OK(tokenizer.status());
  return *std::move(tokenizer);
}

std::unique_ptr<Tokenizer> LoadNamed(const std::string& name) {
  const std::string folder = Data() + "/tokenizers/";
  if (name == "shipped") return Checked(Tokenizer::Load(ShippedFolder()));
  if (Data().empty()) return nullptr;
  if (name == "gpt2") return Checked(Tokenizer::Load(folder + "gpt2"));
  if (name == "llama3") {
    return Checked(
        ByteBpe::LoadVocabAndMerges(folder + "llama3", {kLlama3Pattern, true}));
  }
  // Qwen2's pattern and normal form over Llama 3's vocabulary, similar in size.
  if (name == "qwen2_like") {
    return Checked(ByteBpe::LoadVocabAndMerges(
        folder + "llama3", {.pattern = kQwen2Pattern, .nfc = true}));
  }
  if (name == "llama2_json") {
    return Checked(Tokenizer::Load(folder + "llama2/tokenizer.json"));
  }
  return Checked(Tokenizer::Load(folder + "llama2/tokenizer.model"));
}

// The same, loaded once: a benchmark's function runs several times.
const Tokenizer* Loaded(const std::string& name) {
  static std::map<std::string, std::unique_ptr<Tokenizer>> loaded;
  const auto [at, made] = loaded.try_emplace(name);
  if (made) at->second = LoadNamed(name);
  return at->second.get();
}

// Consecutive pieces of `size` bytes of the text; 0: all of it.
void Encode(benchmark::State& state, const std::string& name, size_t size) {
  const Tokenizer* const tokenizer = Loaded(name);
  if (tokenizer == nullptr) {
    state.SkipWithError("set ESPALIER_DATA to the folder of public data");
    return;
  }
  const std::string& text = Text();
  if (size == 0) size = text.size();
  size_t at = 0;
  int64_t bytes = 0, tokens = 0;
  for (auto _ : state) {
    const auto ids = tokenizer->Encode(text.substr(at, size));
    ESP_CHECK_OK(ids.status());
    benchmark::DoNotOptimize(ids->data());
    bytes += static_cast<int64_t>(size);
    tokens += static_cast<int64_t>(ids->size());
    at = at + 2 * size <= text.size() ? at + size : 0;
  }
  state.counters["MB_per_s"] = benchmark::Counter(
      static_cast<double>(bytes) / 1e6, benchmark::Counter::kIsRate);
  state.counters["bytes_per_token"] =
      static_cast<double>(bytes) / static_cast<double>(tokens);
}
void AllAtOnce(benchmark::State& state, const std::string& name) {
  Encode(state, name, 0);
}
// Prompt-sized: a few hundred bytes per call.
void Prompts(benchmark::State& state, const std::string& name) {
  Encode(state, name, 512);
}

void Decode(benchmark::State& state, const std::string& name) {
  const Tokenizer* const tokenizer = Loaded(name);
  if (tokenizer == nullptr) {
    state.SkipWithError("set ESPALIER_DATA to the folder of public data");
    return;
  }
  const std::vector<int32_t> ids = tokenizer->Encode(Text()).value();
  for (auto _ : state) {
    benchmark::DoNotOptimize(tokenizer->DecodeText(ids));
  }
  state.counters["MB_per_s"] =
      benchmark::Counter(static_cast<double>(Text().size()) / 1e6,
                         benchmark::Counter::kIsIterationInvariantRate);
}

void Load(benchmark::State& state, const std::string& name) {
  for (auto _ : state) {
    const auto tokenizer = LoadNamed(name);
    if (tokenizer == nullptr) {
      state.SkipWithError("set ESPALIER_DATA to the folder of public data");
      return;
    }
  }
}

#define FOR_ALL_TOKENIZERS(f)                                              \
  BENCHMARK_CAPTURE(f, shipped, "shipped")->Unit(benchmark::kMillisecond); \
  BENCHMARK_CAPTURE(f, gpt2, "gpt2")->Unit(benchmark::kMillisecond);       \
  BENCHMARK_CAPTURE(f, llama3, "llama3")->Unit(benchmark::kMillisecond);   \
  BENCHMARK_CAPTURE(f, qwen2_like, "qwen2_like")                           \
      ->Unit(benchmark::kMillisecond);                                     \
  BENCHMARK_CAPTURE(f, llama2_json, "llama2_json")                         \
      ->Unit(benchmark::kMillisecond);                                     \
  BENCHMARK_CAPTURE(f, llama2_model, "llama2_model")                       \
      ->Unit(benchmark::kMillisecond)

FOR_ALL_TOKENIZERS(AllAtOnce);
FOR_ALL_TOKENIZERS(Prompts);
FOR_ALL_TOKENIZERS(Decode);
FOR_ALL_TOKENIZERS(Load);

}  // namespace
}  // namespace espalier
