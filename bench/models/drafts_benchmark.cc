// What drafts gain and cost: a model of random weights writes given texts, each
// token forced, so that batches cost what the model's do and texts repeat as
// real ones do. With and without drafts in turn, in one run.
//
// Texts: `siblings`, the responses to each problem one after another; `first`,
// the first response of each only; `noise`, random tokens, where nothing
// repeats.
//
// Responses are read from the file that ESPALIER_RESPONSES names, such as
// grade_school_math/data/example_model_solutions.jsonl of
// github.com/openai/grade-school-math (five responses to each test problem of
// GSM8K); without it they are arithmetic in words. A token is a word with the
// space before it, a digit or another character.
//
// Counters: speed_up (processor time without / with drafts), worst (of the
// single rounds, lowest), drafted and accepted (per token drawn), steps (with
// drafts, of those without), tokens_per_s (with drafts).
#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/executor.h"
#include "base/random.h"
#include "bench/base/smoke.h"
#include "benchmark/benchmark.h"
#include "models/kernel_executor/kernel_trunk.h"
#include "models/kernels/amx_path.h"
#include "models/schedule/trunk_backend.h"
#include "nlohmann/json.hpp"
#include "tests/models/testing/random_source.h"

namespace espalier {
namespace {

using TokenText = std::vector<int32_t>;

constexpr int32_t kEndToken = 1;
constexpr int32_t kFirstPiece = 2;

// The responses to one problem.
struct Responses {
  TokenText prompt;
  std::vector<TokenText> texts;
};

class Pieces {
 public:
  explicit Pieces(int vocabulary) : vocabulary_(vocabulary) {}
  TokenText Encode(const std::string& text) {
    TokenText tokens;
    for (size_t at = 0; at < text.size();) {
      size_t end = at + (text[at] == ' ' ? 1 : 0);
      const auto letter = [&](size_t i) {
        return i < text.size() &&
               std::isalpha(static_cast<unsigned char>(text[i])) != 0;
      };
      if (letter(end)) {
        while (letter(end)) ++end;
      } else {
        end = at + 1;
      }
      const int id = kFirstPiece + static_cast<int>(ids_.size());
      tokens.push_back(
          ids_.try_emplace(text.substr(at, end - at), std::min(id, vocabulary_))
              .first->second);
      at = end;
    }
    return tokens;
  }

 private:
  const int vocabulary_;
  std::map<std::string, int32_t> ids_;
};

std::vector<Responses> ReadResponses(const char* path, int problems,
                                     Pieces& pieces) {
  std::vector<Responses> all;
  std::ifstream file(path);
  std::string line;
  while (static_cast<int>(all.size()) < problems && std::getline(file, line)) {
    const auto json = nlohmann::json::parse(line);
    Responses r{pieces.Encode(json.at("question")), {}};
    for (const char* by : {"6b_finetuning", "6b_verification",
                           "175b_finetuning", "175b_verification"}) {
      r.texts.push_back(pieces.Encode(json.at(by).at("solution")));
    }
    r.texts.push_back(pieces.Encode(json.at("ground_truth")));
    all.push_back(std::move(r));
  }
  ESP_CHECK(!all.empty());
  return all;
}

std::vector<Responses> MadeUpResponses(int problems, Pieces& pieces) {
  RandomStream rng(StreamKey(1, 0, 0, Purpose::kTest));
  std::vector<Responses> all;
  for (int i = 0; i < problems; ++i) {
    const int a = rng.Range(10, 99), b = rng.Range(10, 99);
    const auto of = [](int n) { return std::to_string(n); };
    Responses r{pieces.Encode("Ann has " + of(a) + " shells and finds " +
                              of(b) + " more. She gives half of them to Tom."),
                {}};
    for (int k = 0; k < 5; ++k) {
      const char* then[] = {"So she has ", "In total Ann has ", "That makes "};
      r.texts.push_back(pieces.Encode(
          then[rng.Below(3)] + of(a) + " + " + of(b) + " = " + of(a + b) +
          " shells.\n" + then[rng.Below(3)] + of(a + b) +
          " / 2 = " + of((a + b) / 2) + " shells.\nA: " + of((a + b) / 2)));
    }
    all.push_back(std::move(r));
  }
  return all;
}

std::vector<Responses> Noise(int problems, int vocabulary) {
  RandomStream rng(StreamKey(2, 0, 0, Purpose::kTest));
  std::vector<Responses> all(static_cast<size_t>(problems));
  const auto fill = [&](TokenText& text, int n) {
    for (int i = 0; i < n; ++i) {
      text.push_back(
          static_cast<int32_t>(rng.Range(kFirstPiece, vocabulary - 1)));
    }
  };
  for (Responses& r : all) {
    fill(r.prompt, 40);
    fill(r.texts.emplace_back(), 100);
  }
  return all;
}

// Pages that know the first token of their path: the number of its problem.
class NumberedPages : public PageMemory {
 public:
  explicit NumberedPages(std::unique_ptr<PageMemory> inner)
      : inner_(std::move(inner)) {}
  int64_t page_bytes() const override { return inner_->page_bytes(); }
  void Grow(int pages) override {
    inner_->Grow(pages);
    first.resize(static_cast<size_t>(pages));
  }
  void CopyPrefix(PageId from, PageId to, int filled) override {
    inner_->CopyPrefix(from, to, filled);
    first[static_cast<size_t>(to)] = first[static_cast<size_t>(from)];
  }
  PageMemory& inner() { return *inner_; }
  std::vector<int32_t> first;

 private:
  std::unique_ptr<PageMemory> inner_;
};

// Computes everything, then makes the next token of the text that its problem
// has at present certain.
class ForcedTrunk : public Trunk {
 public:
  explicit ForcedTrunk(Trunk& inner) : inner_(inner), config_(inner.config()) {
    config_.end_token = kEndToken;
  }
  const TrunkConfig& config() const override { return config_; }
  std::unique_ptr<PageMemory> NewPages() const override {
    return std::make_unique<NumberedPages>(inner_.NewPages());
  }
  void Forward(absl::Span<const Segment> segments, PageMemory& memory,
               Executor& executor) override {
    auto& pages = static_cast<NumberedPages&>(memory);
    inner_.Forward(segments, pages.inner(), executor);
    places_.clear();
    for (const Segment& s : segments) {
      int32_t& first = pages.first[static_cast<size_t>(s.pages[0])];
      if (s.start == 0) first = s.tokens[0];
      const int count = static_cast<int>(s.tokens.size());
      for (int i = 0; s.all_hidden != nullptr && i < count; ++i) {
        places_[s.all_hidden + i * config_.hidden_size] = {first, s.start + i};
      }
      if (s.last_hidden == nullptr) continue;
      const int at = s.start + count - 1;
      places_[s.last_hidden] = {first, at};
      // Texts begin from copies of this row.
      if (at + 1 == prompts[first]) {
        ends_[Words(s.last_hidden)] = {first, at};
      }
    }
  }
  void Logits(const float* hidden, int n, float* logits,
              Executor& executor) override {
    inner_.Logits(hidden, n, logits, executor);
    for (int i = 0; i < n; ++i) {
      const float* row = hidden + i * config_.hidden_size;
      const auto end = ends_.find(Words(row));
      const auto [problem, at] =
          end != ends_.end() ? end->second : places_.at(row);
      const TokenText& text = *texts[problem];
      const auto next = static_cast<size_t>(at + 1 - prompts[problem]);
      const int32_t token = next < text.size() ? text[next] : kEndToken;
      logits[int64_t{i} * config_.vocab_size + token] += 1000;
    }
  }
  void Head(const float*, int, float*) override {}
  void Rewards(const float*, int, StepScores*) override {}

  std::map<int32_t, int> prompts;             // tokens, by problem
  std::map<int32_t, const TokenText*> texts;  // of the response under way

 private:
  using Place = std::pair<int32_t, int>;
  static std::array<float, 8> Words(const float* row) {
    std::array<float, 8> words;
    std::copy_n(row, words.size(), words.begin());
    return words;
  }
  Trunk& inner_;
  TrunkConfig config_;
  std::map<const float*, Place> places_;  // of the last Forward
  std::map<std::array<float, 8>, Place> ends_;
};

class NoBytes : public Tokenizer {
 public:
  explicit NoBytes(int vocabulary) : vocabulary_(vocabulary) {}
  absl::StatusOr<std::vector<int32_t>> Encode(std::string_view,
                                              bool) const override {
    return absl::UnimplementedError("texts are tokens");
  }
  std::string_view TokenBytes(int32_t) const override { return "."; }
  int vocab_size() const override { return vocabulary_; }

 private:
  const int vocabulary_;
};

Trunk& BenchTrunk() {
  static KernelTrunk trunk = [] {
    const KernelPath* const amx = AmxPath();
    const KernelPath& path = amx != nullptr ? *amx : PlainPath();
    return KernelTrunk(
        Network::Pack(RandomSource(Smoke() ? Llama5M() : Llama100M()), path,
                      WeightKind::kBf16),
        path);
  }();
  return trunk;
}

// Of this process, whose only thread computes: neighbours hardly count.
double ProcessorSeconds() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

// Seconds for all responses, `at_once` problems at a time.
double Write(const std::vector<Responses>& all, int at_once, bool drafts,
             BackendStats& stats) {
  ForcedTrunk trunk(BenchTrunk());
  const NoBytes tokenizer(trunk.config().vocab_size);
  Executor executor(1);
  TrunkBackend backend(trunk, tokenizer, executor,
                       {.kv_bytes = int64_t{1} << 30, .drafts = drafts});
  double seconds = 0;
  for (size_t begin = 0; begin < all.size();
       begin += static_cast<size_t>(at_once)) {
    const size_t end =
        std::min(all.size(), begin + static_cast<size_t>(at_once));
    std::vector<SeqId> prompts;
    ScoreRequest prefill{.read = ScoreRead::kHidden};
    for (size_t p = begin; p < end; ++p) {
      TokenText prompt = all[p].prompt;
      const auto number = static_cast<int32_t>(p);
      prompt.insert(prompt.begin(), number);
      trunk.prompts[number] = static_cast<int>(prompt.size());
      prompts.push_back(backend.Extend(kEmptySeq, prompt));
    }
    prefill.sequences = prompts;
    backend.Submit({0, prefill});
    std::vector<Completion> done;
    while (backend.Step(done)) {
    }
    const double start = ProcessorSeconds();
    for (size_t k = 0; k < all[begin].texts.size(); ++k) {
      for (size_t p = begin; p < end; ++p) {
        trunk.texts[static_cast<int32_t>(p)] = &all[p].texts[k];
        backend.Submit(
            {p + 1,
             GenerateRequest{.from = prompts[p - begin],
                             .stop = {.delimiter = "", .max_tokens = 1000},
                             .stream = StreamKey(1, p, 0, Purpose::kSample)}});
      }
      done.clear();
      while (backend.Step(done)) {
      }
      for (const Completion& c : done) {
        ESP_CHECK(c.status.ok());
        const auto& text = c.continuations[0];
        const TokenText& wanted = all[c.id - 1].texts[k];
        ESP_CHECK(
            text.tokens.size() == wanted.size() + 1 &&
            std::equal(wanted.begin(), wanted.end(), text.tokens.begin()));
        backend.Release(text.seq);
      }
    }
    seconds += ProcessorSeconds() - start;
    for (const SeqId prompt : prompts) backend.Release(prompt);
  }
  stats = backend.stats();
  return seconds;
}

enum class Texts { kSiblings, kFirst, kNoise };

void Drafts(benchmark::State& state, Texts kind) {
  const int at_once = static_cast<int>(state.range(0));
  const int problems = SmokeOr(2, std::max(4, at_once));
  const int vocabulary = BenchTrunk().config().vocab_size;
  Pieces pieces(vocabulary - 1);
  const char* const path = std::getenv("ESPALIER_RESPONSES");
  std::vector<Responses> all =
      kind == Texts::kNoise         ? Noise(problems, vocabulary)
      : path != nullptr && !Smoke() ? ReadResponses(path, problems, pieces)
                                    : MadeUpResponses(problems, pieces);
  if (kind == Texts::kFirst) {
    for (Responses& r : all) r.texts.resize(1);
  }
  double seconds[2] = {}, worst = 1e9;
  BackendStats stats, plain;
  for (auto _ : state) {
    const double without = Write(all, at_once, false, plain);
    const double with = Write(all, at_once, true, stats);
    seconds[0] += without;
    seconds[1] += with;
    worst = std::min(worst, without / with);
  }
  const auto drawn = static_cast<double>(stats.tokens_generated);
  state.counters["speed_up"] = seconds[0] / seconds[1];
  state.counters["worst"] = worst;
  state.counters["drafted"] = static_cast<double>(stats.tokens_drafted) / drawn;
  state.counters["accepted"] =
      static_cast<double>(stats.drafts_accepted) / drawn;
  state.counters["tokens_per_s"] =
      drawn * static_cast<double>(state.iterations()) / seconds[1];
  state.counters["steps"] =
      static_cast<double>(stats.steps) / static_cast<double>(plain.steps);
}

void AtOnce(benchmark::internal::Benchmark* b) {
  b->ArgName("at_once")->Unit(benchmark::kMillisecond)->UseRealTime();
  b->Arg(1)->Arg(8)->Arg(32);
}
BENCHMARK_CAPTURE(Drafts, siblings, Texts::kSiblings)
    ->Apply(AtOnce)
    ->Iterations(1);
BENCHMARK_CAPTURE(Drafts, first, Texts::kFirst)->Apply(AtOnce)->Iterations(1);
BENCHMARK_CAPTURE(Drafts, noise, Texts::kNoise)->Apply(AtOnce)->Iterations(3);

}  // namespace
}  // namespace espalier
