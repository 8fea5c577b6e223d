#include "src/trace/labels/contamination.h"

#include <algorithm>

#include "src/base/random.h"

namespace espalier {
namespace {

bool IsWordByte(unsigned char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (c >= '0' && c <= '9') || c >= 0x80;
}

std::vector<uint64_t> WordHashes(std::string_view text) {
  std::vector<uint64_t> hashes;
  std::string word;
  for (size_t i = 0; i <= text.size(); ++i) {
    const auto c = i < text.size() ? static_cast<unsigned char>(text[i]) : ' ';
    if (IsWordByte(c)) {
      word += static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    } else if (!word.empty()) {
      hashes.push_back(StableHash(word));
      word.clear();
    }
  }
  return hashes;
}

}  // namespace

std::vector<uint64_t> OverlapChecker::Runs(std::string_view question) const {
  const std::vector<uint64_t> words = WordHashes(question);
  const size_t n = std::min(words.size(), static_cast<size_t>(n_));
  std::vector<uint64_t> runs;
  if (n == 0) return runs;
  for (size_t i = 0; i + n <= words.size(); ++i) {
    // The length is part of it: a short question is not a run of a long one.
    uint64_t hash = n;
    for (size_t k = 0; k < n; ++k) hash = MixHash(hash, words[i + k]);
    runs.push_back(hash);
  }
  return runs;
}

void OverlapChecker::AddEvaluation(std::string_view question) {
  ++questions_;
  for (const uint64_t run : Runs(question)) runs_.insert(run);
}

bool OverlapChecker::Overlaps(std::string_view question) const {
  const std::vector<uint64_t> runs = Runs(question);
  return std::any_of(runs.begin(), runs.end(),
                     [&](uint64_t run) { return runs_.contains(run); });
}

}  // namespace espalier
