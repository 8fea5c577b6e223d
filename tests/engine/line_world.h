// A trunk that writes lines of about 16 tokens at no cost, with pages as large
// as those of a 100 M parameter model. For tests of how whole searches use KV
// memory and batches.
#ifndef ESPALIER_TESTS_ENGINE_LINE_WORLD_H_
#define ESPALIER_TESTS_ENGINE_LINE_WORLD_H_

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "espalier/task.h"
#include "models/tokenizer/tokenizer.h"
#include "models/trunk/trunk.h"

namespace espalier {

// Fourteen letters, the newline and the end.
class LineTokenizer : public Tokenizer {
 public:
  static constexpr int32_t kNewline = 14, kEnd = 15;
  absl::StatusOr<std::vector<int32_t>> Encode(std::string_view text,
                                              bool) const override {
    std::vector<int32_t> ids;
    for (const char c : text) ids.push_back(c == '\n' ? kNewline : c % 14);
    return ids;
  }
  std::string_view TokenBytes(int32_t id) const override {
    return id == kEnd ? std::string_view()
                      : std::string_view("abcdefghijklmn\n")
                            .substr(static_cast<size_t>(id), 1);
  }
  int vocab_size() const override { return 16; }
};

// The state after each slot: a hash of the path and the position in its line.
struct LineState {
  uint64_t hash = 1;
  int in_line = 0;
};

// Pages of 12 layers, 4 KV heads of 64, bf16.
class LinePages : public PageMemory {
 public:
  int64_t page_bytes() const override {
    return int64_t{12} * 4 * 64 * 2 * 2 * kPageSlots;
  }
  void Grow(int pages) override { pages_.resize(static_cast<size_t>(pages)); }
  void CopyPrefix(PageId from, PageId to, int filled) override {
    for (int i = 0; i < filled; ++i) slot(to, i) = slot(from, i);
  }
  LineState& slot(PageId page, int i) {
    return pages_[static_cast<size_t>(page)][static_cast<size_t>(i)];
  }

 private:
  std::vector<std::array<LineState, kPageSlots>> pages_;
};

class LineTrunk : public Trunk {
 public:
  LineTrunk() {
    config_.vocab_size = 16;
    config_.hidden_size = 5;
    config_.layers = config_.heads = config_.kv_heads = 1;
    config_.head_dim = 4;
    config_.context_length = 8192;
    config_.reward_head = true;
    config_.end_token = LineTokenizer::kEnd;
  }
  const TrunkConfig& config() const override { return config_; }
  std::unique_ptr<PageMemory> NewPages() const override {
    return std::make_unique<LinePages>();
  }
  void Forward(absl::Span<const Segment> segments, PageMemory& memory,
               Executor&) override {
    auto& pages = static_cast<LinePages&>(memory);
    const auto slot = [&](const Segment& s, int position) -> LineState& {
      return pages.slot(s.pages[static_cast<size_t>(position / kPageSlots)],
                        position % kPageSlots);
    };
    ++forwards;
    rows_to_64 += static_cast<int64_t>(std::min<size_t>(segments.size(), 64));
    for (const Segment& s : segments) {
      LineState state = s.start > 0 ? slot(s, s.start - 1) : LineState();
      int position = s.start;
      for (const int32_t token : s.tokens) {
        const bool newline = token == LineTokenizer::kNewline;
        state = {MixHash(state.hash, static_cast<uint64_t>(token)),
                 newline ? 0 : state.in_line + 1};
        slot(s, position++) = state;
      }
      if (s.last_hidden != nullptr) Write(state, s.last_hidden);
    }
  }
  // A line has at least 12 tokens and ends at a random one after that; a text
  // may end at the beginning of a line.
  void Logits(const float* hidden, int n, float* logits, Executor&) override {
    for (int i = 0; i < n; ++i) {
      const LineState state = Read(hidden + 5 * i);
      float* out = logits + 16 * i;
      for (uint64_t t = 0; t < 14; ++t) {
        out[t] = static_cast<float>(MixHash(state.hash, t) % 4000) / 1000;
      }
      out[LineTokenizer::kNewline] =
          state.in_line < 12 ? -30.0f : static_cast<float>(state.in_line - 12);
      out[LineTokenizer::kEnd] = state.in_line == 0 ? 1.0f : -30.0f;
    }
  }
  void Head(const float*, int, float*) override {}
  void Rewards(const float* hidden, int n, StepScores* scores) override {
    for (int i = 0; i < n; ++i) {
      const uint64_t hash = Read(hidden + 5 * i).hash;
      scores[i] = {.step = static_cast<float>(hash % 1000) / 1000,
                   .path = static_cast<float>(hash / 1000 % 1000) / 1000};
    }
  }

  int64_t forwards = 0;
  int64_t rows_to_64 = 0;  // rows, at most 64 per forward, summed over forwards

 private:
  static void Write(const LineState& state, float* out) {
    for (int i = 0; i < 4; ++i) {
      out[i] = static_cast<float>(state.hash >> (16 * i) & 0xFFFF);
    }
    out[4] = static_cast<float>(state.in_line);
  }
  static LineState Read(const float* words) {
    LineState state{0, static_cast<int>(words[4])};
    for (int i = 0; i < 4; ++i) {
      state.hash |= static_cast<uint64_t>(words[i]) << (16 * i);
    }
    return state;
  }
  TrunkConfig config_;
};

class LineWorldTask : public Task {
 public:
  std::string_view name() const override { return "lines"; }
  absl::StatusOr<std::string> Render(const Problem& p) const override {
    return p.question + "\n";
  }
  const StepFormat& format() const override { return format_; }
  std::optional<std::string> FindAnswer(std::string_view r) const override {
    return std::string(r.substr(0, 2));
  }
  bool SameAnswer(std::string_view a, std::string_view b) const override {
    return a == b;
  }

 private:
  const StepFormat format_{.max_step_tokens = 40, .max_steps = 64};
};

}  // namespace espalier

#endif  // ESPALIER_TESTS_ENGINE_LINE_WORLD_H_
