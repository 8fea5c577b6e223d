#include "models/tokenizer/bpe_trainer.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/text.h"
#include "base/utf8.h"
#include "models/tokenizer/byte_alphabet.h"
#include "models/tokenizer/pre_tokenizer.h"
#include "nlohmann/json.hpp"

namespace espalier {
namespace {

using nlohmann::json;
using Pair = std::pair<int32_t, int32_t>;

// One digit, one newline, one mark, or a word with the space before it.
constexpr char kWordPattern[] = R"([0-9]|\n| ?[A-Za-z]+|[^0-9A-Za-z\n])";

// Minimum count of a pair to be worth a token.
constexpr int64_t kMinCount = 2;

struct Word {
  std::vector<int32_t> ids;
  int64_t count;
};

// The distinct pieces of the corpus with their counts, in byte order.
absl::StatusOr<std::vector<Word>> CountWords(
    absl::Span<const std::string> corpus) {
  ESP_ASSIGN_OR_RETURN(const PreTokenizer cut,
                       PreTokenizer::FromPattern(kWordPattern));
  std::map<std::string, int64_t, std::less<>> counts;
  Pieces pieces;
  for (size_t i = 0; i < corpus.size(); ++i) {
    if (Utf8Stretch(corpus[i], true) != corpus[i].size()) {
      return absl::InvalidArgumentError(
          absl::StrCat("text ", i, " of the corpus is not UTF-8 at byte ",
                       Utf8Stretch(corpus[i], true),
                       "; a vocabulary can only be learned from UTF-8 text"));
    }
    ESP_RETURN_IF_ERROR(cut.Split(corpus[i], true, pieces));
    for (const TextRange r : pieces.ranges) {
      const std::string_view piece(pieces.text.data() + r.begin,
                                   r.end - r.begin);
      const auto it = counts.find(piece);
      if (it != counts.end()) {
        ++it->second;
      } else {
        counts.emplace(piece, 1);
      }
    }
  }
  std::vector<Word> words;
  for (const auto& [text, count] : counts) {
    if (text.size() < 2) continue;
    Word& word = words.emplace_back();
    word.count = count;
    for (const char c : text) word.ids.push_back(static_cast<uint8_t>(c));
  }
  return words;
}

// Counts of adjacent pairs and the words in which they occur.
class PairTable {
 public:
  explicit PairTable(std::vector<Word>& words) : words_(words) {
    for (size_t w = 0; w < words.size(); ++w) Count(w, 1);
  }

  // The most frequent pair, ties by lowest; false if none is left.
  bool Best(Pair& best) const {
    int64_t most = kMinCount - 1;
    for (const auto& [pair, entry] : table_) {
      if (entry.count > most) {
        most = entry.count;
        best = pair;
      }
    }
    return most >= kMinCount;
  }

  void Merge(Pair pair, int32_t merged) {
    const std::set<size_t> touched = table_[pair].words;
    for (const size_t w : touched) {
      Count(w, -1);
      std::vector<int32_t>& ids = words_[w].ids;
      size_t kept = 0;
      for (size_t i = 0; i < ids.size(); ++i, ++kept) {
        const bool here = i + 1 < ids.size() && ids[i] == pair.first &&
                          ids[i + 1] == pair.second;
        ids[kept] = here ? merged : ids[i];
        i += here;
      }
      ids.resize(kept);
      Count(w, 1);
    }
  }

 private:
  struct Entry {
    int64_t count = 0;
    std::set<size_t> words;
  };

  void Count(size_t w, int sign) {
    const Word& word = words_[w];
    for (size_t i = 0; i + 1 < word.ids.size(); ++i) {
      Entry& entry = table_[{word.ids[i], word.ids[i + 1]}];
      entry.count += sign * word.count;
      if (sign > 0) {
        entry.words.insert(w);
      } else {
        entry.words.erase(w);
      }
    }
  }

  std::vector<Word>& words_;
  std::map<Pair, Entry> table_;  // in pair order, to break ties
};

json Rendered(const std::vector<std::string>& tokens,
              const std::vector<Pair>& merges,
              const std::vector<std::string>& special) {
  json vocab = json::object();
  for (size_t id = 0; id < tokens.size(); ++id) {
    vocab[SpellBytes(tokens[id])] = id;
  }
  json list = json::array();
  for (const auto& [left, right] : merges) {
    list.push_back(SpellBytes(tokens[left]) + " " + SpellBytes(tokens[right]));
  }
  json added = json::array();
  for (size_t i = 0; i < special.size(); ++i) {
    added.push_back({{"id", tokens.size() + i},
                     {"content", special[i]},
                     {"single_word", false},
                     {"lstrip", false},
                     {"rstrip", false},
                     {"normalized", false},
                     {"special", true}});
  }
  const auto byte_level = [] {
    return json{{"type", "ByteLevel"},
                {"add_prefix_space", false},
                {"trim_offsets", true},
                {"use_regex", false}};
  };
  const json split = {{"type", "Split"},
                      {"pattern", {{"Regex", kWordPattern}}},
                      {"behavior", "Isolated"},
                      {"invert", false}};
  return {{"version", "1.0"},
          {"truncation", nullptr},
          {"padding", nullptr},
          {"added_tokens", added},
          {"normalizer", nullptr},
          {"pre_tokenizer",
           {{"type", "Sequence"},
            {"pretokenizers", json::array({split, byte_level()})}}},
          {"post_processor", nullptr},
          {"decoder", byte_level()},
          {"model",
           {{"type", "BPE"},
            {"dropout", nullptr},
            {"unk_token", nullptr},
            {"continuing_subword_prefix", nullptr},
            {"end_of_word_suffix", nullptr},
            {"fuse_unk", false},
            {"byte_fallback", false},
            {"ignore_merges", false},
            {"vocab", vocab},
            {"merges", list}}}};
}

}  // namespace

absl::StatusOr<std::string> TrainByteBpe(absl::Span<const std::string> corpus,
                                         const BpeTrainerOptions& options) {
  const int least = 256 + static_cast<int>(options.special.size());
  if (options.vocab_size < least) {
    return absl::InvalidArgumentError(absl::StrCat(
        "vocab_size is ", options.vocab_size, "; expected at least ", least,
        " for 256 bytes and ", options.special.size(), " special tokens"));
  }
  ESP_ASSIGN_OR_RETURN(std::vector<Word> words, CountWords(corpus));
  std::vector<std::string> tokens;
  std::set<std::string> known;
  for (int b = 0; b < 256; ++b) {
    known.insert(tokens.emplace_back(1, static_cast<char>(b)));
  }
  std::vector<Pair> merges;
  PairTable pairs(words);
  Pair best;
  const auto last = static_cast<size_t>(options.vocab_size - (least - 256));
  while (tokens.size() < last && pairs.Best(best)) {
    const std::string text = tokens[best.first] + tokens[best.second];
    auto id = static_cast<int32_t>(tokens.size());
    if (known.insert(text).second) {
      tokens.push_back(text);
    } else {
      // Another pair gave the same text: one token, two merges.
      id = static_cast<int32_t>(std::find(tokens.begin(), tokens.end(), text) -
                                tokens.begin());
    }
    merges.push_back(best);
    pairs.Merge(best, id);
  }
  return Rendered(tokens, merges, options.special).dump(1);
}

}  // namespace espalier
