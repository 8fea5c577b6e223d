#include "models/cpu/trunk.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "models/checkpoint/llama_weights.h"
#include "models/pages/page_pool.h"
#include "src/base/random.h"
#include "tests/models/testing/random_checkpoint.h"

namespace espalier {
namespace {

// A plain Llama in double precision, one token after the other: the formulas
// of Hugging Face's LlamaForCausalLM written down.
class PlainLlama {
 public:
  PlainLlama(const TrunkConfig& config, const LlamaWeights& weights)
      : c_(config), w_(weights), keys_(config.layers), values_(config.layers) {}

  using Row = std::vector<double>;

  Row Norm(const Row& x, const std::vector<float>& weight) const {
    double sum = 0;
    for (const double v : x) sum += v * v;
    Row y(x.size());
    for (size_t i = 0; i < x.size(); ++i) {
      y[i] = x[i] /
             std::sqrt(sum / static_cast<double>(x.size()) + c_.rms_norm_eps) *
             weight[i];
    }
    return y;
  }
  static Row Times(const std::vector<float>& w, const Row& x) {
    Row y(w.size() / x.size(), 0);
    for (size_t r = 0; r < y.size(); ++r) {
      for (size_t i = 0; i < x.size(); ++i) y[r] += w[r * x.size() + i] * x[i];
    }
    return y;
  }
  void Rotate(Row& row, int head, int position) const {
    const int half = c_.head_dim / 2;
    for (int i = 0; i < half; ++i) {
      const double angle =
          position * std::pow(c_.rope_theta, -2.0 * i / c_.head_dim);
      double& a = row[static_cast<size_t>(head * c_.head_dim + i)];
      double& b = row[static_cast<size_t>(head * c_.head_dim + i + half)];
      const double a0 = a, b0 = b;
      a = a0 * std::cos(angle) - b0 * std::sin(angle);
      b = b0 * std::cos(angle) + a0 * std::sin(angle);
    }
  }
  // Logits after `token` at the next position.
  Row Step(int token) {
    const size_t d = static_cast<size_t>(c_.hidden_size);
    Row x(w_.embedding.begin() + static_cast<long>(token * d),
          w_.embedding.begin() + static_cast<long>((token + 1) * d));
    const int position = position_++;
    for (size_t l = 0; l < w_.layers.size(); ++l) {
      const LlamaLayerWeights& layer = w_.layers[l];
      const Row n = Norm(x, layer.input_norm);
      Row q = Times(layer.query, n), k = Times(layer.key, n);
      for (int h = 0; h < c_.heads; ++h) Rotate(q, h, position);
      for (int h = 0; h < c_.kv_heads; ++h) Rotate(k, h, position);
      keys_[l].push_back(k);
      values_[l].push_back(Times(layer.value, n));
      Row mixed(q.size(), 0);
      for (int h = 0; h < c_.heads; ++h) {
        const int g = h / (c_.heads / c_.kv_heads);
        std::vector<double> p;
        double total = 0;
        for (const Row& key : keys_[l]) {
          double s = 0;
          for (int i = 0; i < c_.head_dim; ++i) {
            s += q[h * c_.head_dim + i] * key[g * c_.head_dim + i];
          }
          p.push_back(std::exp(s / std::sqrt(c_.head_dim)));
          total += p.back();
        }
        for (size_t j = 0; j < p.size(); ++j) {
          for (int i = 0; i < c_.head_dim; ++i) {
            mixed[h * c_.head_dim + i] +=
                p[j] / total * values_[l][j][g * c_.head_dim + i];
          }
        }
      }
      const Row o = Times(layer.output, mixed);
      for (size_t i = 0; i < d; ++i) x[i] += o[i];
      const Row m = Norm(x, layer.post_norm);
      Row gate = Times(layer.gate, m);
      const Row up = Times(layer.up, m);
      for (size_t i = 0; i < gate.size(); ++i) {
        gate[i] = gate[i] / (1 + std::exp(-gate[i])) * up[i];
      }
      const Row down = Times(layer.down, gate);
      for (size_t i = 0; i < d; ++i) x[i] += down[i];
    }
    last_ = Norm(x, w_.final_norm);
    return Times(c_.tied_embeddings ? w_.embedding : w_.lm_head, last_);
  }
  const Row& last_hidden() const { return last_; }

 private:
  const TrunkConfig& c_;
  const LlamaWeights& w_;
  std::vector<std::vector<Row>> keys_, values_;
  Row last_;
  int position_ = 0;
};

struct Loaded {
  TrunkConfig config;
  LlamaWeights weights;
  std::unique_ptr<Trunk> trunk;
};

Loaded MakeTrunk(TrunkConfig config, uint64_t seed,
                 DType dtype = DType::kBF16) {
  Loaded out{.config = config, .weights = RandomWeights(config, seed, dtype)};
  const std::string folder = TempFolder();
  EXPECT_TRUE(WriteCheckpoint(folder, config, out.weights, dtype).ok());
  auto trunk = Trunk::Load(folder);
  EXPECT_TRUE(trunk.ok()) << trunk.status();
  out.trunk = std::move(*trunk);
  return out;
}

struct TestPages {
  explicit TestPages(const Trunk& trunk) : memory(trunk.NewPages()) {}
  std::unique_ptr<PageMemory> memory;
  PagePool pool{*memory, 64 << 20};
};

std::vector<int32_t> DrawTokens(int n, int vocab, uint64_t seed) {
  RandomStream rng(StreamKey(seed, 0, 0, Purpose::kTest));
  std::vector<int32_t> tokens;
  for (int i = 0; i < n; ++i) tokens.push_back(rng.Range(0, vocab - 1));
  return tokens;
}

// Hidden row after `tokens`, computed in chunks of `chunk`.
std::vector<float> Hidden(Trunk& trunk, const std::vector<int32_t>& tokens,
                          int chunk, int threads = 1) {
  TestPages pages_of(trunk);
  PagePool& pool = pages_of.pool;
  Executor executor(threads);
  std::vector<PageId> pages;
  for (size_t i = 0; i * kPageSlots < tokens.size(); ++i) {
    pages.push_back(pool.Allocate());
  }
  std::vector<float> hidden(static_cast<size_t>(trunk.config().hidden_size));
  for (size_t at = 0; at < tokens.size(); at += static_cast<size_t>(chunk)) {
    const size_t n = std::min(static_cast<size_t>(chunk), tokens.size() - at);
    const Segment segment{.pages = pages,
                          .start = static_cast<int>(at),
                          .tokens = absl::MakeConstSpan(tokens).subspan(at, n),
                          .last_hidden = hidden.data()};
    trunk.Forward(absl::MakeConstSpan(&segment, 1), pool.memory(), executor);
  }
  return hidden;
}

std::vector<TrunkConfig> Configs() {
  TrunkConfig odd = TinyConfig();
  TrunkConfig untied = odd;
  untied.tied_embeddings = false;
  TrunkConfig full = odd;  // as many KV heads as heads
  full.kv_heads = full.heads;
  TrunkConfig one = odd;  // one KV head for all
  one.kv_heads = 1;
  one.rope_theta = 500000;
  return {odd, untied, full, one};
}

TEST(TrunkTest, LogitsEqualThePlainComputation) {
  uint64_t seed = 1;
  for (const TrunkConfig& config : Configs()) {
    for (const DType dtype : {DType::kBF16, DType::kF32}) {
      Loaded m = MakeTrunk(config, ++seed, dtype);
      const auto tokens = DrawTokens(100, config.vocab_size, seed);
      PlainLlama plain(config, m.weights);
      PlainLlama::Row expected;
      for (const int32_t token : tokens) expected = plain.Step(token);
      const auto hidden = Hidden(*m.trunk, tokens, 100);
      std::vector<float> logits(static_cast<size_t>(config.vocab_size));
      Executor executor(1);
      m.trunk->Logits(hidden.data(), 1, logits.data(), executor);
      for (size_t i = 0; i < logits.size(); ++i) {
        ASSERT_NEAR(logits[i], expected[i], 1e-4);
      }
    }
  }
}

TEST(TrunkTest, ChunksAndSingleTokensGiveTheSameBits) {
  for (const TrunkConfig& config : Configs()) {
    Loaded m = MakeTrunk(config, 7);
    const auto tokens = DrawTokens(150, config.vocab_size, 8);
    const auto whole = Hidden(*m.trunk, tokens, 150);
    for (const int chunk : {1, 2, 7, 64, 100}) {
      ASSERT_EQ(Hidden(*m.trunk, tokens, chunk), whole) << chunk;
    }
  }
}

TEST(TrunkTest, ARowAloneAndInAnyBatchHasTheSameBits) {
  const TrunkConfig config = TinyConfig();
  Loaded m = MakeTrunk(config, 9);
  RandomStream rng(StreamKey(10, 0, 0, Purpose::kTest));
  for (int batch = 0; batch < 64; ++batch) {
    const int count = rng.Range(1, 40);
    std::vector<std::vector<int32_t>> texts;
    std::vector<std::vector<PageId>> pages;
    std::vector<Segment> segments;
    TestPages pages_of(*m.trunk);
    PagePool& pool = pages_of.pool;
    std::vector<float> hidden(static_cast<size_t>(count * config.hidden_size));
    for (int i = 0; i < count; ++i) {
      texts.push_back(DrawTokens(rng.Range(1, 90), config.vocab_size,
                                 static_cast<uint64_t>(batch * 100 + i)));
      pages.emplace_back();
      for (size_t p = 0; p * kPageSlots < texts.back().size(); ++p) {
        pages.back().push_back(pool.Allocate());
      }
    }
    for (int i = 0; i < count; ++i) {
      segments.push_back(
          {.pages = pages[static_cast<size_t>(i)],
           .tokens = texts[static_cast<size_t>(i)],
           .last_hidden = hidden.data() + i * config.hidden_size});
    }
    Executor executor(batch % 2 + 1);
    m.trunk->Forward(segments, pool.memory(), executor);
    const int i = rng.Range(0, count - 1);
    const auto alone = Hidden(*m.trunk, texts[static_cast<size_t>(i)], 1000);
    for (int j = 0; j < config.hidden_size; ++j) {
      ASSERT_EQ(hidden[static_cast<size_t>(i * config.hidden_size + j)],
                alone[static_cast<size_t>(j)]);
    }
  }
}

TEST(TrunkTest, AForkThatSharesPagesEqualsACopy) {
  const TrunkConfig config = TinyConfig();
  Loaded m = MakeTrunk(config, 11);
  TestPages pages_of(*m.trunk);
  PagePool& pool = pages_of.pool;
  Executor executor(1);
  const auto prefix = DrawTokens(100, config.vocab_size, 12);
  const auto branch = DrawTokens(30, config.vocab_size, 13);
  const std::vector<PageId> pages = {pool.Allocate(), pool.Allocate()};
  const Segment first{.pages = pages, .tokens = prefix};
  m.trunk->Forward(absl::MakeConstSpan(&first, 1), pool.memory(), executor);
  const PageId copy = pool.Allocate();
  pool.CopyPrefix(pages[1], copy, 100 - kPageSlots);
  const std::vector<PageId> forked = {pages[0], copy, pool.Allocate()};
  std::vector<float> hidden(static_cast<size_t>(config.hidden_size));
  const Segment second{.pages = forked,
                       .start = 100,
                       .tokens = branch,
                       .last_hidden = hidden.data()};
  m.trunk->Forward(absl::MakeConstSpan(&second, 1), pool.memory(), executor);
  std::vector<int32_t> whole = prefix;
  whole.insert(whole.end(), branch.begin(), branch.end());
  EXPECT_EQ(hidden, Hidden(*m.trunk, whole, 1000));
}

TEST(TrunkTest, RewardsAreSigmoidsOfTheHeads) {
  TrunkConfig config = TinyConfig();
  config.reward_head = true;
  Loaded m = MakeTrunk(config, 14);
  const auto tokens = DrawTokens(20, config.vocab_size, 15);
  PlainLlama plain(config, m.weights);
  for (const int32_t token : tokens) plain.Step(token);
  const auto expected =
      PlainLlama::Times(m.weights.reward_weight, plain.last_hidden());
  const auto hidden = Hidden(*m.trunk, tokens, 20);
  LevelScores scores;
  m.trunk->Rewards(hidden.data(), 1, &scores);
  EXPECT_NEAR(scores.step,
              1 / (1 + std::exp(-expected[0] - m.weights.reward_bias[0])),
              1e-5);
  EXPECT_NEAR(scores.path,
              1 / (1 + std::exp(-expected[1] - m.weights.reward_bias[1])),
              1e-5);
}

TEST(TrunkTest, PublishedCheckpointLoads) {
  const char* data = std::getenv("ESPALIER_DATA");
  if (data == nullptr) GTEST_SKIP() << "ESPALIER_DATA is not set";
  const auto trunk = Trunk::Load(std::string(data) + "/models/tiny-llama");
  ASSERT_TRUE(trunk.ok()) << trunk.status();
  EXPECT_EQ((*trunk)->config().vocab_size, 16);
}

TEST(TrunkTest, AMissingFolderIsAClearError) {
  const auto trunk = Trunk::Load("/no/such/folder");
  ASSERT_FALSE(trunk.ok());
  EXPECT_NE(trunk.status().message().find("/no/such/folder"),
            absl::string_view::npos);
}

}  // namespace
}  // namespace espalier
