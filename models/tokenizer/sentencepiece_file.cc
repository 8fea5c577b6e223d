#include "models/tokenizer/sentencepiece_file.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/utf8.h"
#include "models/tokenizer/metaspace.h"
#include "models/tokenizer/sentencepiece.pb.h"

namespace espalier {
namespace {

// Published pieces have at most 64 characters; a longer one would make a
// hostile file's table of merges quadratic.
constexpr size_t kLongestPiece = 1024;

absl::Status CheckModel(const spm::Model& model) {
  const spm::TrainerSpec& trainer = model.trainer_spec();
  if (trainer.model_type() != spm::TrainerSpec::BPE &&
      trainer.model_type() != spm::TrainerSpec::UNIGRAM) {
    return absl::UnimplementedError(
        "a SentencePiece model of words or characters is not supported; "
        "expected BPE or unigram");
  }
  if (trainer.treat_whitespace_as_suffix() ||
      !model.normalizer_spec().escape_whitespaces()) {
    return absl::UnimplementedError(
        "a SentencePiece model that does not write spaces as a mark before "
        "words (treat_whitespace_as_suffix, escape_whitespaces = false) is "
        "not supported");
  }
  return absl::OkStatus();
}

absl::Status ReadPieces(const spm::Model& model, MetaspaceSpec& spec) {
  for (int id = 0; id < model.pieces_size(); ++id) {
    const spm::Piece& from = model.pieces(id);
    Piece piece{from.piece(), id, from.score()};
    if (piece.text.empty() || piece.text.size() > kLongestPiece) {
      return absl::InvalidArgumentError(
          absl::StrCat("piece ", id, " has ", piece.text.size(),
                       " bytes; expected 1 to ", kLongestPiece));
    }
    if (!std::isfinite(piece.score)) {
      return absl::InvalidArgumentError(
          absl::StrCat("piece ", id, " has the score ", piece.score,
                       "; expected a finite number"));
    }
    switch (from.type()) {
      case spm::Piece::NORMAL:
        break;
      case spm::Piece::UNKNOWN:
        piece.type = PieceType::kUnknown;
        break;
      case spm::Piece::CONTROL:
        piece.type = PieceType::kControl;
        spec.added.push_back(
            {.id = id, .content = piece.text, .special = true});
        break;
      case spm::Piece::USER_DEFINED:
        spec.added.push_back(
            {.id = id, .content = piece.text, .normalized = true});
        break;
      case spm::Piece::UNUSED:
        if (!spec.unigram) {
          return absl::UnimplementedError(
              absl::StrCat("piece ", id,
                           " of a BPE model is marked unused, which is not "
                           "supported"));
        }
        piece.type = PieceType::kUnused;
        break;
      case spm::Piece::BYTE:
        piece.type = PieceType::kByte;
        break;
    }
    spec.pieces.push_back(std::move(piece));
  }
  return absl::OkStatus();
}

// A pair merges if together it is a piece, best score first. So every split of
// a piece in two is a merge of its score's rank.
void ListMerges(MetaspaceSpec& spec) {
  std::vector<const Piece*> by_score;
  absl::flat_hash_map<std::string_view, int32_t> known;
  for (const Piece& piece : spec.pieces) {
    if (piece.type != PieceType::kNormal) continue;
    by_score.push_back(&piece);
    known.emplace(piece.text, piece.id);
  }
  std::stable_sort(
      by_score.begin(), by_score.end(),
      [](const Piece* a, const Piece* b) { return a->score > b->score; });
  const auto is_symbol = [&](std::string_view text) {
    return NextUtf8(text).size == text.size() || known.contains(text);
  };
  int32_t rank = -1;
  const Piece* last = nullptr;
  for (const Piece* piece : by_score) {
    if (last == nullptr || piece->score != last->score) ++rank;
    last = piece;
    const std::string_view text = piece->text;
    if (Utf8Stretch(text, true) != text.size()) continue;
    for (size_t cut = NextUtf8(text).size; cut < text.size();
         cut += NextUtf8(text.substr(cut)).size) {
      const std::string_view left = text.substr(0, cut);
      const std::string_view right = text.substr(cut);
      if (is_symbol(left) && is_symbol(right)) {
        spec.merges.push_back({std::string(left), std::string(right), rank});
      }
    }
  }
}

absl::Status ReadNormalizer(const spm::NormalizerSpec& from,
                            MetaspaceSpec& spec) {
  TextNormalizer& normalizer = spec.normalizer;
  if (!from.precompiled_charsmap().empty()) {
    ESP_ASSIGN_OR_RETURN(CharMap map,
                         CharMap::Parse(from.precompiled_charsmap()));
    normalizer.Add({.kind = NormalizerStep::kCharMap,
                    .map = std::make_shared<const CharMap>(std::move(map))});
  }
  if (from.remove_extra_whitespaces()) {
    normalizer.Add({.kind = NormalizerStep::kCollapse});
  }
  if (from.add_dummy_prefix()) {
    normalizer.Add({.kind = NormalizerStep::kPrepend,
                    .to = std::string(kSpaceMark),
                    .first_only = true});
  }
  normalizer.Add({.kind = NormalizerStep::kReplace,
                  .from = " ",
                  .to = std::string(kSpaceMark)});
  spec.strip_space = from.add_dummy_prefix() || from.remove_extra_whitespaces();
  return absl::OkStatus();
}

// The id of a mark: of the token named in `config`, else the model's own.
int32_t MarkId(const MetaspaceSpec& spec, const std::string& named, int own) {
  if (!named.empty()) {
    for (const AddedToken& token : spec.added) {
      if (token.content == named) return token.id;
    }
  }
  return own >= 0 && static_cast<size_t>(own) < spec.pieces.size() ? own : -1;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Tokenizer>> SentencePieceFromBytes(
    std::string_view bytes, const TokenizerConfig& config) {
  spm::Model model;
  if (bytes.size() > (1u << 30) ||
      !model.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())) ||
      model.pieces_size() == 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("expected a SentencePiece model, found ", bytes.size(),
                     " bytes in another format; the file may be truncated or "
                     "downloaded only in part"));
  }
  ESP_RETURN_IF_ERROR(CheckModel(model));
  const spm::TrainerSpec& trainer = model.trainer_spec();
  MetaspaceSpec spec;
  spec.unigram = trainer.model_type() == spm::TrainerSpec::UNIGRAM;
  spec.byte_fallback = trainer.byte_fallback();
  spec.unknown_text = trainer.unk_surface();
  ESP_RETURN_IF_ERROR(ReadPieces(model, spec));
  if (!spec.unigram) ListMerges(spec);
  ESP_RETURN_IF_ERROR(ReadNormalizer(model.normalizer_spec(), spec));
  spec.added = JoinAdded(std::move(spec.added), config.added);
  spec.marks = {.bos = MarkId(spec, config.bos, trainer.bos_id()),
                .eos = MarkId(spec, config.eos, trainer.eos_id()),
                .pad = MarkId(spec, config.pad, trainer.pad_id())};
  spec.marks.add_bos = spec.marks.bos >= 0 && config.add_bos.value_or(true);
  spec.marks.add_eos = spec.marks.eos >= 0 && config.add_eos.value_or(false);
  return Metaspace::Create(std::move(spec));
}

}  // namespace espalier
