// Decoding as timed by benchmarks and tests: paths of equal length, one token
// of each per step.
#ifndef ESPALIER_TESTS_MODELS_TESTING_PATHS_H_
#define ESPALIER_TESTS_MODELS_TESTING_PATHS_H_

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/types/span.h"
#include "base/executor.h"
#include "models/pages/page_pool.h"
#include "models/trunk/trunk.h"

namespace espalier {

// Paths with prompts of `prompt` tokens, the first `shared` of which are
// common.
class Paths {
 public:
  Paths(Trunk& trunk, int count, int prompt, int shared, int room,
        Executor& executor)
      : trunk_(trunk),
        memory_(trunk.NewPages()),
        pool_(*memory_, int64_t{8} << 30),
        executor_(executor),
        tokens_(static_cast<size_t>(prompt), 5),
        hidden_(static_cast<size_t>(count * trunk.config().hidden_size)) {
    pages_.resize(static_cast<size_t>(count));
    const int common = shared / kPageSlots;
    const int all = (room + kPageSlots - 1) / kPageSlots;
    for (size_t i = 0; i < pages_.size(); ++i) {
      for (int p = 0; p < all; ++p) {
        pages_[i].push_back(i > 0 && p < common ? pages_[0][p]
                                                : pool_.Allocate());
      }
      const int start = i > 0 ? common * kPageSlots : 0;
      if (start == prompt) continue;
      const Segment fill{.pages = pages_[i],
                         .start = start,
                         .tokens = absl::MakeConstSpan(tokens_).subspan(
                             static_cast<size_t>(start))};
      trunk.Forward(absl::MakeConstSpan(&fill, 1), *memory_, executor);
    }
  }

  // Decodes one more token of each path at `position`, with logits.
  void Step(int position) {
    static const std::vector<int32_t> token = {7};
    const size_t d = static_cast<size_t>(trunk_.config().hidden_size);
    segments_.clear();
    for (size_t i = 0; i < pages_.size(); ++i) {
      segments_.push_back({.pages = pages_[i],
                           .start = position,
                           .tokens = token,
                           .last_hidden = hidden_.data() + i * d});
    }
    trunk_.Forward(segments_, *memory_, executor_);
    logits_.resize(pages_.size() *
                   static_cast<size_t>(trunk_.config().vocab_size));
    trunk_.Logits(hidden_.data(), static_cast<int>(pages_.size()),
                  logits_.data(), executor_);
  }

  PageMemory& memory() { return *memory_; }

 private:
  Trunk& trunk_;
  std::unique_ptr<PageMemory> memory_;
  PagePool pool_;
  Executor& executor_;
  std::vector<int32_t> tokens_;
  std::vector<float> hidden_, logits_;
  std::vector<std::vector<PageId>> pages_;
  std::vector<Segment> segments_;
};

inline double Seconds() {
  return std::chrono::duration<double>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// For one step, the best of `times` runs.
inline double StepSeconds(Paths& paths, int position, int times) {
  double best = 1e9;
  for (int i = 0; i < times; ++i) {
    const double start = Seconds();
    paths.Step(position);
    best = std::min(best, Seconds() - start);
  }
  return best;
}

}  // namespace espalier

#endif  // ESPALIER_TESTS_MODELS_TESTING_PATHS_H_
