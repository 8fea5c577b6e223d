#include "models/tokenizer/char_bpe.h"

#include "base/text.h"
#include "base/utf8.h"

namespace espalier {
namespace {

// Start of the first run of marks that follows something else; text.size() if
// there is none.
size_t EndOfRun(std::string_view text) {
  size_t at = 0;
  while (text.substr(at, kSpaceMark.size()) == kSpaceMark) {
    at += kSpaceMark.size();
  }
  return std::min(text.find(kSpaceMark, at), text.size());
}

}  // namespace

CharBpe::CharBpe() {
  for (uint32_t code = 0; code < kPlain; ++code) {
    symbol_of_[code] = kCharacterBase + static_cast<int32_t>(code);
  }
}

void CharBpe::AddCharacter(uint32_t code, int32_t id) {
  if (code < kPlain) {
    symbol_of_[code] = id;
  } else {
    rare_symbol_of_[code] = id;
  }
}

int32_t CharBpe::SymbolOf(uint32_t code) const {
  if (code < kPlain) return symbol_of_[code];
  const auto it = rare_symbol_of_.find(code);
  return it == rare_symbol_of_.end()
             ? kCharacterBase + static_cast<int32_t>(code)
             : it->second;
}

void CharBpe::AddMerge(int32_t left, int32_t right, int32_t merged,
                       std::string_view text, int32_t rank) {
  merger_.Add(left, right, merged, rank);
  cut_at_marks_ &= EndOfRun(text) == text.size();
}

void CharBpe::EncodeRun(std::string_view run, std::vector<int32_t>& characters,
                        std::vector<int32_t>& symbols) const {
  characters.clear();
  while (!run.empty()) {
    const Utf8Char c = NextUtf8(run);
    characters.push_back(SymbolOf(c.code));
    run.remove_prefix(c.size);
  }
  merger_.Merge(characters, symbols);
}

void CharBpe::Encode(std::string_view text,
                     std::vector<int32_t>& symbols) const {
  if (!whole_.empty()) {
    const auto it = whole_.find(AbslView(text));
    if (it != whole_.end()) {
      symbols.push_back(it->second);
      return;
    }
  }
  std::vector<int32_t> characters;
  while (!text.empty()) {
    const size_t size = cut_at_marks_ ? EndOfRun(text) : text.size();
    EncodeRun(text.substr(0, size), characters, symbols);
    text.remove_prefix(size);
  }
}

}  // namespace espalier
