// Patterns over the words of a sentence.
//
//   find              the word
//   (find|buys more)  one of several
//   [more]            optional
//   {then}            any number of times, including none
//   @name             the pattern of that name
//   $x                a slot, which the caller reads
//
//   const WordPattern pattern("[then] $S (finds|buys) $x [more]", {});
//   pattern.Ends({"She", "finds", "3"}, 1, slot)     -> only bit 3
//
// Immutable, hence thread-safe.
#ifndef ESPALIER_DATASETS_TASKS_WORD_PATTERN_H_
#define ESPALIER_DATASETS_TASKS_WORD_PATTERN_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace espalier {

// Bit i: the position before word i, or behind the last word.
using WordPlaces = uint64_t;
inline constexpr size_t kMaxPatternWords = 63;

struct NamedPattern {
  std::string_view name;
  std::string_view pattern;
};

class WordPattern {
 public:
  // The positions behind what a slot can match starting at a position.
  using SlotReader = std::function<WordPlaces(char slot, size_t place)>;

  // `named` are the patterns that @name may refer to, each in terms of those
  // before it. A malformed pattern fails a check.
  WordPattern(std::string_view pattern, std::span<const NamedPattern> named);

  // Positions where a match that begins at one of `starts` can end. At most
  // kMaxPatternWords words, in lower case.
  WordPlaces Ends(std::span<const std::string> words, WordPlaces starts,
                  const SlotReader& slot) const;

 private:
  enum class Kind : char { kWord, kSlot, kAll, kAny, kOptional, kRepeated };
  struct Node {
    Kind kind = Kind::kAll;
    std::string word;  // for kSlot its letter
    std::vector<Node> parts;
  };
  struct Parser;

  static WordPlaces NodeEnds(const Node& node,
                             std::span<const std::string> words,
                             WordPlaces starts, const SlotReader& slot);

  Node root_;
};

}  // namespace espalier

#endif  // ESPALIER_DATASETS_TASKS_WORD_PATTERN_H_
