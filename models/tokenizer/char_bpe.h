// Byte-pair encoding over characters, as in SentencePiece and Llama 2.
//
//   CharBpe bpe;
//   bpe.AddCharacter('a', 5);
//   bpe.AddMerge("▁", "a", 7, 0);       // "▁" + "a" is piece 7, of rank 0
//
// Text has no spaces to cut it at, only marks for them. If no merge puts a mark
// after something else, merges never cross the beginning of a run of marks: the
// text is then cut there, and short pieces merge fast. Other vocabularies merge
// over the whole text, O(n log n).
//
// Immutable once filled; thread-safe.
#ifndef ESPALIER_MODELS_TOKENIZER_CHAR_BPE_H_
#define ESPALIER_MODELS_TOKENIZER_CHAR_BPE_H_

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "models/tokenizer/bpe_merger.h"
#include "models/tokenizer/piece_model.h"

namespace espalier {

class CharBpe : public PieceModel {
 public:
  CharBpe();

  // The single character `code` is piece `id`.
  void AddCharacter(uint32_t code, int32_t id);
  // Symbols `left` and `right` merge to piece `merged`, whose text is `text`.
  void AddMerge(int32_t left, int32_t right, int32_t merged,
                std::string_view text, int32_t rank);
  // A text that is a piece as a whole becomes that piece, regardless of merges.
  void SetIgnoreMerges(absl::flat_hash_map<std::string, int32_t> pieces) {
    whole_ = std::move(pieces);
  }

  void Encode(std::string_view text,
              std::vector<int32_t>& symbols) const override;

 private:
  static constexpr uint32_t kPlain = 0x3000;  // codes below have a table entry
  int32_t SymbolOf(uint32_t code) const;
  void EncodeRun(std::string_view run, std::vector<int32_t>& characters,
                 std::vector<int32_t>& symbols) const;

  BpeMerger merger_;
  std::array<int32_t, kPlain> symbol_of_;
  absl::flat_hash_map<uint32_t, int32_t> rare_symbol_of_;
  absl::flat_hash_map<std::string, int32_t> whole_;
  bool cut_at_marks_ = true;
};

}  // namespace espalier

#endif  // ESPALIER_MODELS_TOKENIZER_CHAR_BPE_H_
