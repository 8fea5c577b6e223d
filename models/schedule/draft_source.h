// Guesses the next token of a text from texts seen before, without a model.
//
//   DraftSource source;
//   DraftSource::Context context = DraftSource::Start(prompt, text, tail);
//   DraftSource::Guess guess = source.Next(context);
//   source.Learn(context, token);  // it was this one; the context has it now
//
// For each ending of the text it counts which tokens followed that ending so
// far. Endings are, most specific first:
//
//   whole   the whole text: samples of one tree node
//   own k   the last k tokens, in texts that begin with the same prompt:
//           siblings, and earlier responses to the problem
//   any k   the last k tokens, in any text
//
// and each has one guess, the token that followed most often (of equal counts
// the one that reached it first). How often the guesses of a kind of ending are
// right is counted as well, apart for how often the ending was seen, how large
// a share of it the guess has, and how many tokens before were guessed right in
// a row: that share of right guesses is the chance of a guess. Next gives the
// guess of the ending with the highest chance (of equal ones the most
// specific). Chances are learned from every token, guessed or not: where texts
// do not repeat they are low and nothing is tried.
//
// Longest-match drafting without a model: prompt lookup (Saxena 2023), REST (He
// et al. 2023, arXiv:2311.08252), SAM decoding (Hu et al. 2024,
// arXiv:2411.10666). Those take the longest match; counts also say what the
// samples of a node do most often, and how likely that is.
//
// Memory: about 40 bytes per ending, at most kMostEndings; then all endings are
// forgotten, and the chances kept. Externally synchronised.
#ifndef ESPALIER_MODELS_SCHEDULE_DRAFT_SOURCE_H_
#define ESPALIER_MODELS_SCHEDULE_DRAFT_SOURCE_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"

namespace espalier {

class DraftSource {
 public:
  // A kind of ending: the last `tokens` tokens; 0: the whole text. These five
  // guessed the responses of four models to 300 problems of GSM8K as well as
  // ten of up to 12 tokens did, and cost less.
  struct Kind {
    int tokens = 0;
    bool own = false;  // of texts with the same prompt only
  };
  static constexpr std::array<Kind, 5> kKinds = {
      {{0, true}, {4, true}, {2, true}, {6, false}, {3, false}}};
  static constexpr int kLongest = 6;
  // Those of about 50,000 tokens. More guess little better and take longer to
  // look up.
  static constexpr size_t kMostEndings = size_t{1} << 18;

  // The end of a text, updated token by token. A copy continues from there.
  class Context {
   public:
    // `token` follows if its guess is right.
    void AddGuess(int32_t token);

   private:
    friend class DraftSource;
    void Add(int32_t token);
    uint64_t prompt_ = 0;                      // hash
    uint64_t whole_ = 0;                       // hash of all tokens
    std::array<int32_t, kLongest> last_ = {};  // the last one first
    int size_ = 0;                             // of last_
    int streak_ = 0;  // tokens guessed right in a row; kLongStreak: or more
  };

  // Of a text that begins with a prompt of hash `prompt`, has the hash `whole`
  // and ends with `tail`, its last kLongest tokens, or all if fewer.
  static Context Start(uint64_t prompt, uint64_t whole,
                       absl::Span<const int32_t> tail);
  // Hash of a text of hash `text` followed by `tokens`; the empty text has 0.
  static uint64_t Hash(uint64_t text, absl::Span<const int32_t> tokens);

  struct Guess {
    int32_t token = -1;  // -1: none
    float chance = 0;    // that it is right
  };
  Guess Next(const Context& context) const;
  // The guess of one kind of ending, with its count and that of all tokens.
  struct Seen {
    int32_t token = -1;
    uint32_t count = 0;
    uint32_t total = 0;
  };
  Seen Find(const Context& context, size_t kind) const;

  // `token` followed, and is added. Counts which guesses were right, too.
  void Learn(Context& context, int32_t token);
  // Same for tokens that nobody drew, such as a prompt's: counts no guesses.
  void LearnGiven(Context& context, int32_t token);

  size_t endings() const { return seen_.size(); }

 private:
  using Keys = std::array<uint64_t, kKinds.size()>;  // 0: the text is shorter
  struct Chance {
    uint32_t right = 0;
    uint32_t guesses = 0;
  };
  static Keys KeysOf(const Context& context);
  static size_t Class(size_t kind, const Seen& seen, int streak);
  float ChanceOf(size_t kind, const Seen& seen, int streak) const;
  void Count(uint64_t key, Seen& seen, int32_t token);
  void MakeRoom();

  // By ending: the guess. A token that is not it has its count in `others_`, by
  // ending and token.
  absl::flat_hash_map<uint64_t, Seen> seen_;
  absl::flat_hash_map<uint64_t, uint32_t> others_;
  // By kind, total (1, 2, 3 to 6, more), share of the guess (in fifths) and
  // streak.
  static constexpr size_t kTotals = 4, kShares = 5;
  static constexpr int kLongStreak = 3;
  std::array<Chance, kKinds.size() * kTotals * kShares*(kLongStreak + 1)>
      chances_ = {};
};

}  // namespace espalier

#endif  // ESPALIER_MODELS_SCHEDULE_DRAFT_SOURCE_H_
