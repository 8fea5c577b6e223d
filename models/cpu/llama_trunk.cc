// Trunk over the kernels of models/kernels: Llama, fp32 activations.
//
// The rows of a Forward are cut into blocks of whole segments, and each block
// goes through the whole network on one thread: no barrier between layers, so
// a busy neighbour delays its block and nothing else. Per layer:
//   1 norm, QKV product, rotation; keys and values into the pages
//   2 attention of every row over its path's pages
//   3 output product, residual, norm, gate and up, SwiGLU, down, residual
#include <algorithm>
#include <cmath>
#include <vector>

#include "absl/strings/str_cat.h"
#include "models/checkpoint/llama_config.h"
#include "models/checkpoint/llama_weights.h"
#include "models/cpu/trunk.h"
#include "models/kernels/kernels.h"
#include "models/pages/plain_pages.h"
#include "src/base/check.h"
#include "src/base/status_macros.h"

namespace espalier {
namespace {

struct Layer {
  std::vector<float> input_norm, post_norm;
  PackedMatrix qkv;      // [(heads + 2 kv_heads) * head_dim, d]
  PackedMatrix output;   // [d, heads * head_dim]
  PackedMatrix gate_up;  // [gate padded to panels, then up; d]
  PackedMatrix down;     // [d, f]
};

// Rows that one thread takes through the network.
struct Block {
  int first_segment = 0;
  int segments = 0;
  int rows = 0;
};

// One thread's activations, kept between calls.
struct Scratch {
  std::vector<float> x, normed, qkv, attended, projected, hidden;
  std::vector<int> position;               // of each row
  std::vector<const Segment*> segment;     // of each row
  std::vector<const float*> keys, values;  // page pointers of one path
};

class LlamaTrunk : public Trunk {
 public:
  LlamaTrunk(const TrunkConfig& config, const LlamaWeights& weights);

  const TrunkConfig& config() const override { return config_; }
  std::unique_ptr<PageMemory> NewPages() const override {
    return std::make_unique<PlainPages>(
        PageShape{config_.layers, config_.kv_heads, config_.head_dim});
  }
  void Forward(absl::Span<const Segment> segments, PageMemory& pages,
               Executor& executor) override;
  void Logits(const float* hidden, int n, float* logits,
              Executor& executor) override;
  void Rewards(const float* hidden, int n, LevelScores* scores) override;

 private:
  size_t d() const { return static_cast<size_t>(config_.hidden_size); }
  void RunBlock(absl::Span<const Segment> segments, PlainPages& pages,
                Scratch& s);
  void Attention(const Layer& layer, int index, PlainPages& pages, Scratch& s);
  void Rotate(float* head, int position) const;
  void StoreKeyValue(const Segment& segment, int position, int layer,
                     const float* row, PlainPages& pages) const;
  void FeedForward(const Layer& layer, Scratch& s);

  TrunkConfig config_;
  std::vector<float> embedding_;  // [vocab, d]
  std::vector<Layer> layers_;
  std::vector<float> final_norm_;
  PackedMatrix lm_head_;
  std::vector<float> reward_weight_, reward_bias_;
  std::vector<float> cos_, sin_;  // [context, head_dim / 2]
  int gate_rows_ = 0;             // intermediate_size padded to panels
};

LlamaTrunk::LlamaTrunk(const TrunkConfig& config, const LlamaWeights& weights)
    : config_(config),
      embedding_(weights.embedding),
      final_norm_(weights.final_norm),
      lm_head_(config.tied_embeddings ? weights.embedding : weights.lm_head,
               config.vocab_size, config.hidden_size),
      reward_weight_(weights.reward_weight),
      reward_bias_(weights.reward_bias),
      gate_rows_(PadToPanel(config.intermediate_size)) {
  const int q = config.heads * config.head_dim;
  const int kv = config.kv_heads * config.head_dim;
  for (const LlamaLayerWeights& w : weights.layers) {
    Layer& layer = layers_.emplace_back();
    layer.input_norm = w.input_norm;
    layer.post_norm = w.post_norm;
    std::vector<float> joined = w.query;
    joined.insert(joined.end(), w.key.begin(), w.key.end());
    joined.insert(joined.end(), w.value.begin(), w.value.end());
    layer.qkv = PackedMatrix(joined, q + 2 * kv, config.hidden_size);
    layer.output = PackedMatrix(w.output, config.hidden_size, q);
    joined = w.gate;
    joined.resize(static_cast<size_t>(gate_rows_) * d(), 0);
    joined.insert(joined.end(), w.up.begin(), w.up.end());
    layer.gate_up = PackedMatrix(joined, gate_rows_ + config.intermediate_size,
                                 config.hidden_size);
    layer.down =
        PackedMatrix(w.down, config.hidden_size, config.intermediate_size);
  }
  const int half = config.head_dim / 2;
  for (int p = 0; p < config.context_length; ++p) {
    for (int i = 0; i < half; ++i) {
      const double angle = p * std::pow(static_cast<double>(config.rope_theta),
                                        -2.0 * i / config.head_dim);
      cos_.push_back(static_cast<float>(std::cos(angle)));
      sin_.push_back(static_cast<float>(std::sin(angle)));
    }
  }
}

// Hugging Face's convention: dimension i is rotated with i + head_dim / 2.
void LlamaTrunk::Rotate(float* head, int position) const {
  const int half = config_.head_dim / 2;
  const size_t at = static_cast<size_t>(position) * static_cast<size_t>(half);
  for (int i = 0; i < half; ++i) {
    const float c = cos_[at + static_cast<size_t>(i)];
    const float s = sin_[at + static_cast<size_t>(i)];
    const float a = head[i], b = head[i + half];
    head[i] = a * c - b * s;
    head[i + half] = b * c + a * s;
  }
}

void LlamaTrunk::StoreKeyValue(const Segment& segment, int position, int layer,
                               const float* row, PlainPages& pages) const {
  const int hd = config_.head_dim;
  const PageId page = segment.pages[static_cast<size_t>(position / kPageSlots)];
  const int slot = position % kPageSlots;
  const float* k = row + config_.heads * hd;
  const float* v = k + config_.kv_heads * hd;
  for (int g = 0; g < config_.kv_heads; ++g, k += hd, v += hd) {
    float* keys = pages.keys(page, layer, g);
    for (int i = 0; i < hd; ++i) keys[i * kPageSlots + slot] = k[i];
    std::copy(v, v + hd, pages.values(page, layer, g) + slot * hd);
  }
}

void LlamaTrunk::Attention(const Layer& layer, int index, PlainPages& pages,
                           Scratch& s) {
  const int rows = static_cast<int>(s.position.size());
  const int hd = config_.head_dim;
  const size_t width = static_cast<size_t>(
      PadToPanel((config_.heads + 2 * config_.kv_heads) * hd));
  const size_t attended_width = static_cast<size_t>(config_.heads * hd);
  MatMul(s.normed.data(), d(), rows, layer.qkv, s.qkv.data(), width);
  const float scale = 1.0f / std::sqrt(static_cast<float>(hd));
  for (int r = 0; r < rows; ++r) {
    float* row = s.qkv.data() + static_cast<size_t>(r) * width;
    const int position = s.position[static_cast<size_t>(r)];
    for (int h = 0; h < config_.heads + config_.kv_heads; ++h) {
      Rotate(row + h * hd, position);
    }
    for (int i = 0; i < config_.heads * hd; ++i) row[i] *= scale;
    StoreKeyValue(*s.segment[static_cast<size_t>(r)], position, index, row,
                  pages);
  }
  const int group = config_.heads / config_.kv_heads;
  for (int r = 0; r < rows; ++r) {
    const Segment& segment = *s.segment[static_cast<size_t>(r)];
    const int position = s.position[static_cast<size_t>(r)];
    const size_t blocks = static_cast<size_t>(position / kPageSlots) + 1;
    s.keys.resize(blocks);
    s.values.resize(blocks);
    for (int g = 0; g < config_.kv_heads; ++g) {
      for (size_t p = 0; p < blocks; ++p) {
        s.keys[p] = pages.keys(segment.pages[p], index, g);
        s.values[p] = pages.values(segment.pages[p], index, g);
      }
      Attend(s.qkv.data() + static_cast<size_t>(r) * width + g * group * hd,
             group, s.keys.data(), s.values.data(), position, hd,
             s.attended.data() + static_cast<size_t>(r) * attended_width +
                 g * group * hd);
    }
  }
  const size_t out_width = static_cast<size_t>(PadToPanel(config_.hidden_size));
  MatMul(s.attended.data(), attended_width, rows, layer.output,
         s.projected.data(), out_width);
  for (int r = 0; r < rows; ++r) {
    for (size_t i = 0; i < d(); ++i) {
      s.x[static_cast<size_t>(r) * d() + i] +=
          s.projected[static_cast<size_t>(r) * out_width + i];
    }
  }
}

void LlamaTrunk::FeedForward(const Layer& layer, Scratch& s) {
  const int rows = static_cast<int>(s.position.size());
  const size_t width = static_cast<size_t>(2 * gate_rows_);
  const size_t out_width = static_cast<size_t>(PadToPanel(config_.hidden_size));
  MatMul(s.normed.data(), d(), rows, layer.gate_up, s.hidden.data(), width);
  for (int r = 0; r < rows; ++r) {
    float* gate = s.hidden.data() + static_cast<size_t>(r) * width;
    SiluMul(gate, gate + gate_rows_, config_.intermediate_size);
  }
  MatMul(s.hidden.data(), width, rows, layer.down, s.projected.data(),
         out_width);
  for (int r = 0; r < rows; ++r) {
    for (size_t i = 0; i < d(); ++i) {
      s.x[static_cast<size_t>(r) * d() + i] +=
          s.projected[static_cast<size_t>(r) * out_width + i];
    }
  }
}

void LlamaTrunk::RunBlock(absl::Span<const Segment> segments, PlainPages& pages,
                          Scratch& s) {
  s.position.clear();
  s.segment.clear();
  s.x.clear();
  for (const Segment& segment : segments) {
    for (size_t t = 0; t < segment.tokens.size(); ++t) {
      s.position.push_back(segment.start + static_cast<int>(t));
      s.segment.push_back(&segment);
      const size_t at = static_cast<size_t>(segment.tokens[t]) * d();
      s.x.insert(s.x.end(), embedding_.begin() + static_cast<long>(at),
                 embedding_.begin() + static_cast<long>(at + d()));
    }
  }
  const size_t rows = s.position.size();
  const int hd = config_.head_dim;
  s.normed.resize(rows * d());
  s.qkv.resize(rows * static_cast<size_t>(PadToPanel(
                          (config_.heads + 2 * config_.kv_heads) * hd)));
  s.attended.resize(rows * static_cast<size_t>(config_.heads * hd));
  s.projected.resize(rows *
                     static_cast<size_t>(PadToPanel(config_.hidden_size)));
  s.hidden.resize(rows * static_cast<size_t>(2 * gate_rows_));
  const auto norm = [&](const std::vector<float>& weight) {
    for (size_t r = 0; r < rows; ++r) {
      RmsNorm(s.x.data() + r * d(), weight.data(), config_.hidden_size,
              config_.rms_norm_eps, s.normed.data() + r * d());
    }
  };
  for (size_t i = 0; i < layers_.size(); ++i) {
    norm(layers_[i].input_norm);
    Attention(layers_[i], static_cast<int>(i), pages, s);
    norm(layers_[i].post_norm);
    FeedForward(layers_[i], s);
  }
  size_t row = 0;
  for (const Segment& segment : segments) {
    row += segment.tokens.size();
    if (segment.last_hidden == nullptr) continue;
    RmsNorm(s.x.data() + (row - 1) * d(), final_norm_.data(),
            config_.hidden_size, config_.rms_norm_eps, segment.last_hidden);
  }
}

void LlamaTrunk::Forward(absl::Span<const Segment> segments, PageMemory& memory,
                         Executor& executor) {
  auto& pages = static_cast<PlainPages&>(memory);
  int total = 0;
  for (const Segment& segment : segments) {
    total += static_cast<int>(segment.tokens.size());
  }
  // Small blocks share the work evenly; 24 rows are enough to make good use of
  // a weight panel while it is in the cache.
  const int target =
      std::clamp((total + executor.threads() - 1) / executor.threads(), 1, 24);
  std::vector<Block> blocks;
  for (int i = 0; i < static_cast<int>(segments.size()); ++i) {
    if (blocks.empty() || blocks.back().rows >= target) {
      blocks.push_back({.first_segment = i});
    }
    ++blocks.back().segments;
    blocks.back().rows +=
        static_cast<int>(segments[static_cast<size_t>(i)].tokens.size());
  }
  executor.ParallelFor(
      static_cast<int>(blocks.size()), 1, [&](int begin, int end) {
        thread_local Scratch scratch;
        for (int b = begin; b < end; ++b) {
          const Block& block = blocks[static_cast<size_t>(b)];
          RunBlock(segments.subspan(static_cast<size_t>(block.first_segment),
                                    static_cast<size_t>(block.segments)),
                   pages, scratch);
        }
      });
}

void LlamaTrunk::Logits(const float* hidden, int n, float* logits,
                        Executor& executor) {
  const size_t vocab = static_cast<size_t>(config_.vocab_size);
  const size_t padded = static_cast<size_t>(PadToPanel(config_.vocab_size));
  executor.ParallelFor(n, 12, [&](int begin, int end) {
    const int rows = end - begin;
    thread_local std::vector<float> out;
    out.resize(static_cast<size_t>(rows) * padded);
    MatMul(hidden + static_cast<size_t>(begin) * d(), d(), rows, lm_head_,
           out.data(), padded);
    for (int r = 0; r < rows; ++r) {
      const float* from = out.data() + static_cast<size_t>(r) * padded;
      std::copy(from, from + vocab,
                logits + static_cast<size_t>(begin + r) * vocab);
    }
  });
}

void LlamaTrunk::Rewards(const float* hidden, int n, LevelScores* scores) {
  ESP_CHECK(config_.reward_head);
  for (int r = 0; r < n; ++r) {
    double out[2];
    for (size_t level = 0; level < 2; ++level) {
      out[level] = reward_bias_[level];
      for (size_t i = 0; i < d(); ++i) {
        out[level] +=
            static_cast<double>(hidden[static_cast<size_t>(r) * d() + i]) *
            reward_weight_[level * d() + i];
      }
      out[level] = 1 / (1 + std::exp(-out[level]));
    }
    scores[r].step = static_cast<float>(out[0]);
    scores[r].path = static_cast<float>(out[1]);
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<Trunk>> Trunk::Load(const std::string& folder) {
  ESP_ASSIGN_OR_RETURN(const TrunkConfig config, ReadLlamaConfig(folder));
  ESP_ASSIGN_OR_RETURN(const LlamaWeights weights,
                       LoadLlamaWeights(folder, config));
  return std::make_unique<LlamaTrunk>(config, weights);
}

}  // namespace espalier
