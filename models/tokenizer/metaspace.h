// Vocabularies over characters that write "▁" for a space: SentencePiece's, and
// so those of Llama 2, Mistral and others.
//
//   text "a b" -> normalised "▁a▁b" -> pieces "▁a" "▁b"
//
// A character that no piece covers becomes the tokens of its bytes, "<0xE2>",
// if the vocabulary has them, else the unknown token. The same goes for invalid
// UTF-8 (unless all bytes have tokens, it counts as U+FFFD).
//
// Immutable after loading; thread-safe.
#ifndef ESPALIER_MODELS_TOKENIZER_METASPACE_H_
#define ESPALIER_MODELS_TOKENIZER_METASPACE_H_

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "models/tokenizer/added_tokens.h"
#include "models/tokenizer/piece_model.h"
#include "models/tokenizer/text_normalizer.h"
#include "models/tokenizer/tokenizer.h"

namespace espalier {

enum class PieceType { kNormal, kUnknown, kControl, kByte, kUnused };

struct Piece {
  std::string text;  // with "▁" for a space
  int32_t id = 0;
  float score = 0;
  PieceType type = PieceType::kNormal;
};

// Whether `text` names a byte, like "<0x0A>".
bool IsByteName(std::string_view text);

struct PieceMerge {
  std::string left, right;  // pieces, or single characters
  int32_t rank = 0;         // among equal ranks the leftmost merges first
};

// A file's content, before it is checked and indexed.
struct MetaspaceSpec {
  std::vector<Piece> pieces;
  bool unigram = false;            // by scores instead of merges
  std::vector<PieceMerge> merges;  // for BPE
  bool ignore_merges = false;      // a text that is a piece is one token
  bool byte_fallback = false;
  bool fuse_unknown = true;  // consecutive unknown characters are one token
  std::string unknown_text;  // what the unknown token decodes to
  std::vector<AddedToken> added;
  TextNormalizer normalizer;     // before matching normalised added tokens
  TextNormalizer pre_tokenizer;  // after matching them
  bool cut_at_marks = false;     // pieces begin at every mark
  bool strip_space = false;      // decoding drops a space at the start
  TextMarks marks;
};

class Metaspace : public Tokenizer {
 public:
  static absl::StatusOr<std::unique_ptr<Metaspace>> Create(MetaspaceSpec spec);

  absl::StatusOr<std::vector<int32_t>> Encode(
      std::string_view text, bool parse_special = false) const override;
  absl::StatusOr<std::vector<int32_t>> EncodeContinuation(
      std::string_view text) const override;
  std::string_view TokenBytes(int32_t id) const override;
  int32_t TokenId(std::string_view name) const override;
  int vocab_size() const override { return static_cast<int>(bytes_.size()); }
  std::string_view AddedName(int32_t id) const override {
    return added_.Text(id);
  }

 private:
  Metaspace() = default;

  absl::Status IndexPieces(const MetaspaceSpec& spec);
  absl::Status IndexMerges(const MetaspaceSpec& spec);
  void IndexScores(const MetaspaceSpec& spec);
  absl::Status IndexAdded(const MetaspaceSpec& spec);

  absl::StatusOr<std::vector<int32_t>> EncodeAll(std::string_view text,
                                                 bool parse_special,
                                                 TextPlace start) const;
  absl::Status EncodeSection(std::string_view text, bool parse_special,
                             TextPlace place, std::vector<int32_t>& ids) const;
  absl::Status EncodePlain(std::string_view text,
                           std::vector<int32_t>& ids) const;
  // Turns symbols into ids: what is not a piece becomes bytes or unknown.
  absl::Status Finish(const std::vector<int32_t>& symbols,
                      std::vector<int32_t>& ids) const;
  bool AppendBytes(std::string_view bytes, std::vector<int32_t>& ids) const;

  std::vector<std::string> bytes_;  // by id; "" for special and unknown ids
  absl::flat_hash_map<std::string, int32_t> id_of_;  // by text
  std::array<int32_t, 256> byte_id_;                 // -1: no such token
  bool has_bytes_ = false;                           // all 256 of them
  int32_t unknown_ = -1;
  std::unique_ptr<PieceModel> model_;
  AddedTokens added_;
  TextNormalizer normalizer_;
  TextNormalizer pre_tokenizer_;
  bool cut_at_marks_ = false;
  bool fuse_unknown_ = true;
};

}  // namespace espalier

#endif  // ESPALIER_MODELS_TOKENIZER_METASPACE_H_
