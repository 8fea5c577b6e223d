// The most likely split of a text into pieces with given log-probabilities, as
// in SentencePiece's unigram models (Kudo 2018, arXiv:1804.10959):
//
//   best(end) = max over pieces p that end there of best(end - |p|) + score(p)
//
// found by Viterbi over a trie of the pieces. A character that no piece covers
// scores 10 below the worst piece. Sums are rounded to single precision, and
// among equal splits the first one found is kept, as in SentencePiece, so that
// the same split wins.
//
// Immutable once filled; thread-safe.
#ifndef ESPALIER_MODELS_TOKENIZER_UNIGRAM_H_
#define ESPALIER_MODELS_TOKENIZER_UNIGRAM_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "models/tokenizer/piece_model.h"

namespace espalier {

class Unigram : public PieceModel {
 public:
  Unigram();

  // `text` scores `score` as piece `id`.
  void AddPiece(std::string_view text, int32_t id, float score);
  void Encode(std::string_view text,
              std::vector<int32_t>& symbols) const override;

 private:
  struct Node {
    int32_t id = -1;  // of the piece that ends here
    float score = 0;
  };
  struct Best {
    float score = 0;
    int32_t start = -1;  // -1: not reached
    int32_t symbol = 0;
  };
  // Tries every piece that begins at `start`.
  void Offer(std::string_view text, size_t start,
             std::vector<Best>& best) const;

  std::vector<Node> nodes_;
  absl::flat_hash_map<uint64_t, int32_t> child_;  // (node << 8 | byte) -> node
  float min_score_;
};

}  // namespace espalier

#endif  // ESPALIER_MODELS_TOKENIZER_UNIGRAM_H_
