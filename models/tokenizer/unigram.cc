#include "models/tokenizer/unigram.h"

#include <algorithm>
#include <limits>

#include "base/utf8.h"

namespace espalier {
namespace {

// How far a character without a piece scores below the worst piece.
constexpr float kUnknownPenalty = 10.0f;

uint64_t EdgeKey(size_t node, char byte) {
  return static_cast<uint64_t>(node) << 8 | static_cast<uint8_t>(byte);
}

}  // namespace

Unigram::Unigram() : nodes_(1), min_score_(std::numeric_limits<float>::max()) {}

void Unigram::AddPiece(std::string_view text, int32_t id, float score) {
  size_t node = 0;
  for (const char c : text) {
    const auto [it, fresh] = child_.try_emplace(
        EdgeKey(node, c), static_cast<int32_t>(nodes_.size()));
    node = static_cast<size_t>(it->second);
    if (fresh) nodes_.emplace_back();
  }
  nodes_[node] = {id, score};
  min_score_ = std::min(min_score_, score);
}

void Unigram::Offer(std::string_view text, size_t start,
                    std::vector<Best>& best) const {
  const float so_far = best[start].score;
  const Utf8Char first = NextUtf8(text.substr(start));
  const auto offer = [&](size_t length, double sum, int32_t symbol) {
    Best& target = best[start + length];
    if (target.start < 0 || sum > target.score) {
      target = {static_cast<float>(sum), static_cast<int32_t>(start), symbol};
    }
  };
  bool single = false;
  size_t node = 0;
  for (size_t length = 1; start + length <= text.size(); ++length) {
    const auto it = child_.find(EdgeKey(node, text[start + length - 1]));
    if (it == child_.end()) break;
    node = static_cast<size_t>(it->second);
    const Node& piece = nodes_[node];
    if (piece.id < 0) continue;
    single |= length == first.size;
    offer(length, double{piece.score} + so_far, piece.id);
  }
  if (!single) {
    offer(first.size, min_score_ - kUnknownPenalty + so_far,
          kCharacterBase + static_cast<int32_t>(first.code));
  }
}

void Unigram::Encode(std::string_view text,
                     std::vector<int32_t>& symbols) const {
  std::vector<Best> best(text.size() + 1);
  best[0].start = 0;
  for (size_t at = 0; at < text.size(); at += NextUtf8(text.substr(at)).size) {
    Offer(text, at, best);
  }
  const size_t first = symbols.size();
  for (size_t end = text.size(); end > 0;
       end = static_cast<size_t>(best[end].start)) {
    symbols.push_back(best[end].symbol);
  }
  std::reverse(symbols.begin() + static_cast<std::ptrdiff_t>(first),
               symbols.end());
}

}  // namespace espalier
