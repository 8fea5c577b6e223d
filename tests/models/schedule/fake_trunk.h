// A trunk whose hidden rows are hashes of the path, read back from the pages,
// so that a wrong page, a wrong slot or a lost copy changes every result. Each
// slot holds its token and the hash of the path up to it. Forward first checks
// all slots of a path, and that no segment writes a page that another segment
// holds.
#ifndef ESPALIER_TESTS_MODELS_SCHEDULE_FAKE_TRUNK_H_
#define ESPALIER_TESTS_MODELS_SCHEDULE_FAKE_TRUNK_H_

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "base/random.h"
#include "models/pages/plain_pages.h"
#include "models/tokenizer/tokenizer.h"
#include "models/trunk/trunk.h"

namespace espalier {

// Sixteen tokens; the delimiter ";\n" may be within one token or span two.
class PieceTokenizer : public Tokenizer {
 public:
  static constexpr int32_t kEnd = 15;
  absl::StatusOr<std::vector<int32_t>> Encode(std::string_view,
                                              bool) const override {
    return absl::UnimplementedError("tests give tokens");
  }
  std::string_view TokenBytes(int32_t id) const override {
    static const std::string pieces[] = {"a", "b",   "c",     "d",   "e", "f",
                                         "g", "h",   "ij",    "kl",  ";", "\n",
                                         "m", "\nn", "o;\np", "<no>"};
    return id < 0 || id >= kEnd ? std::string_view() : pieces[id];
  }
  int vocab_size() const override { return 16; }
};

class FakeTrunk : public Trunk {
 public:
  explicit FakeTrunk(int context_length = 400) {
    config_.vocab_size = 16;
    config_.hidden_size = 4;
    config_.layers = 1;
    config_.heads = config_.kv_heads = 1;
    config_.head_dim = 4;
    config_.context_length = context_length;
    config_.reward_head = true;
    config_.end_token = PieceTokenizer::kEnd;
  }

  const TrunkConfig& config() const override { return config_; }

  static uint64_t Next(uint64_t hash, int32_t token, int position) {
    return MixHash(hash, static_cast<uint64_t>(token) << 20 |
                             static_cast<uint64_t>(position));
  }
  static uint64_t Hash(absl::Span<const int32_t> path) {
    uint64_t hash = 0;
    for (size_t i = 0; i < path.size(); ++i) {
      hash = Next(hash, path[i], static_cast<int>(i));
    }
    return hash;
  }
  // Four 16-bit words, which floats represent exactly.
  static void Split(uint64_t hash, float* out, int stride) {
    for (int i = 0; i < 4; ++i) {
      out[i * stride] = static_cast<float>(hash >> (16 * i) & 0xFFFF);
    }
  }
  static uint64_t Join(const float* words, int stride) {
    uint64_t hash = 0;
    for (int i = 0; i < 4; ++i) {
      hash |= static_cast<uint64_t>(words[i * stride]) << (16 * i);
    }
    return hash;
  }
  static float Logit(uint64_t hash, int token) {
    return static_cast<float>(MixHash(hash, static_cast<uint64_t>(token)) %
                              4000) /
           1000;
  }
  static StepScores Reward(uint64_t hash) {
    return {.step = static_cast<float>(hash % 1000) / 1000,
            .path = static_cast<float>(hash / 1000 % 1000) / 1000};
  }

  std::unique_ptr<PageMemory> NewPages() const override {
    return std::make_unique<PlainPages>(PageShape{1, 1, 4});
  }
  void Forward(absl::Span<const Segment> segments, PageMemory& memory,
               Executor&) override {
    auto& pool = static_cast<PlainPages&>(memory);
    std::map<PageId, size_t> holders;
    for (const Segment& s : segments) {
      for (const PageId page : s.pages) ++holders[page];
    }
    last_pages.clear();
    for (const Segment& s : segments) {
      last_pages.emplace_back(s.pages.begin(), s.pages.end());
      Run(s, holders, pool);
    }
    most_segments = std::max(most_segments, static_cast<int>(segments.size()));
  }

  void Logits(const float* hidden, int n, float* logits, Executor&) override {
    for (int i = 0; i < n; ++i) {
      for (int t = 0; t < 16; ++t) {
        logits[i * 16 + t] = broken_logits ? std::nanf("")
                             : t == forbidden
                                 ? -80
                                 : Logit(Join(hidden + 4 * i, 1), t);
      }
    }
  }

  void Head(const float*, int, float*) override {}
  void Rewards(const float* hidden, int n, StepScores* scores) override {
    for (int i = 0; i < n; ++i) scores[i] = Reward(Join(hidden + 4 * i, 1));
  }

  int damaged = 0;  // slots without the expected content
  int written_while_shared = 0;
  int64_t tokens = 0;  // counted independently of the backend
  int64_t forwards = 0;
  int most_rows = 0;  // segments of the largest Forward
  int most_segments = 0;
  std::vector<std::vector<PageId>> last_pages;  // by segment, in order
  bool broken_logits = false;
  int forbidden = -1;  // a token that is never drawn

 private:
  void Run(const Segment& s, const std::map<PageId, size_t>& holders,
           PlainPages& pool) {
    uint64_t hash = 0;
    const auto slots = [&](int position) {
      return pool.keys(s.pages[position / kPageSlots], 0, 0) +
             position % kPageSlots;
    };
    const auto token_at = [&](int position) {
      return pool.values(s.pages[position / kPageSlots], 0, 0) +
             position % kPageSlots * 4;
    };
    for (int p = 0; p < s.start; ++p) {
      hash = Next(hash, static_cast<int32_t>(*token_at(p)), p);
      damaged += Join(slots(p), kPageSlots) != hash;
    }
    int position = s.start;
    for (const int32_t token : s.tokens) {
      hash = Next(hash, token, position);
      written_while_shared += holders.at(s.pages[position / kPageSlots]) != 1;
      Split(hash, slots(position), kPageSlots);
      *token_at(position) = static_cast<float>(token);
      if (s.all_hidden != nullptr) {
        Split(hash, s.all_hidden + (position - s.start) * 4, 1);
      }
      ++position;
    }
    if (s.last_hidden != nullptr) Split(hash, s.last_hidden, 1);
    tokens += static_cast<int64_t>(s.tokens.size());
    ++forwards;
    most_rows = std::max(most_rows, static_cast<int>(holders.size()));
  }

  TrunkConfig config_;
};

}  // namespace espalier

#endif  // ESPALIER_TESTS_MODELS_SCHEDULE_FAKE_TRUNK_H_
