#include "src/learn/packer.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace espalier {

bool TrainSequence::Labelled(size_t token) const {
  for (const std::vector<float>& column : labels.of) {
    if (!column.empty() && !std::isnan(column[token])) return true;
  }
  return false;
}

void TrainSequence::Append(absl::Span<const int32_t> more, float weight) {
  tokens.insert(tokens.end(), more.begin(), more.end());
  lm_weight.resize(tokens.size(), weight);
  for (size_t l = 0; l < kLevels; ++l) {
    const auto level = static_cast<Level>(l);
    const bool always = kStepAndPath.has(level);
    if (always || !labels[level].empty()) {
      labels[level].resize(tokens.size(), StepScores::kNone);
    }
  }
}

void TrainSequence::LabelLast(Level level, float label) {
  labels[level].resize(tokens.size(), StepScores::kNone);
  labels[level].back() = label;
}

void MicroBatch::Add(const TrainSequence& sequence) {
  const size_t n = sequence.tokens.size();
  stream.Add(sequence.tokens);
  for (size_t i = 0; i + 1 < n; ++i) {
    next.push_back(sequence.tokens[i + 1]);
    weight.push_back(sequence.lm_weight[i + 1]);
  }
  next.push_back(0);
  weight.push_back(0);
  for (size_t l = 0; l < kLevels; ++l) {
    for (size_t i = 0; i < n; ++i) {
      labels.of[l].push_back(sequence.Label(static_cast<Level>(l), i));
    }
  }
}

std::vector<MicroBatch> Pack(absl::Span<const TrainSequence> sequences,
                             int tokens, int partial_sums) {
  size_t total = 0;
  for (const TrainSequence& s : sequences) total += s.tokens.size();
  size_t batches = (total + tokens - 1) / tokens;
  batches = (batches + partial_sums - 1) / partial_sums * partial_sums;
  batches = std::min(batches, sequences.size());
  std::vector<size_t> order(sequences.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return sequences[a].tokens.size() > sequences[b].tokens.size();
  });
  std::vector<size_t> filled(batches, 0);
  std::vector<MicroBatch> out(batches);
  for (size_t i : order) {
    const size_t at =
        std::min_element(filled.begin(), filled.end()) - filled.begin();
    filled[at] += sequences[i].tokens.size();
    out[at].Add(sequences[i]);
  }
  return out;
}

}  // namespace espalier
