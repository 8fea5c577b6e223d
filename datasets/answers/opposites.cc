#include "datasets/answers/opposites.h"

#include <algorithm>
#include <map>
#include <span>
#include <vector>

#include "datasets/answers/find/unit_beside.h"
#include "datasets/answers/words/bare_words.h"
#include "datasets/answers/words/characters.h"
#include "datasets/answers/words/clean_text.h"
#include "datasets/answers/words/phrases.h"
#include "datasets/answers/words/stance.h"
#include "datasets/answers/words/thoughts.h"

namespace espalier {
namespace {

using WordRange = std::span<const std::string>;

// A phrase of a text; phrases of the same row and other sides are opposites.
struct Said {
  std::string phrase;
  size_t row = 0;
  bool left = false;
  bool of_number = false;  // says what a number counts or measures
};

struct Side {
  size_t row = 0;
  bool left = false;
};

using Sides = std::multimap<std::string_view, Side, std::less<>>;

// The rows that every phrase is in.
const Sides& AllSides() {
  static const Sides* const kSides = [] {
    auto* out = new Sides;
    size_t row = 0;
    for (const Phrase& both : Rows(Reading::kOpposite)) {
      for (const bool left : {true, false}) {
        std::string_view rest = left ? both.pattern : both.meaning;
        while (!rest.empty()) {
          const std::string_view phrase = rest.substr(0, rest.find(','));
          out->emplace(phrase, Side{row, left});
          rest.remove_prefix(std::min(rest.size(), phrase.size() + 1));
        }
      }
      ++row;
    }
    return out;
  }();
  return *kSides;
}

// The words of the last part between commas that has a number, of the last
// sentence.
std::vector<std::string> LastPart(std::string_view text) {
  text = TrimBlanks(WithoutChecks(WithoutThoughts(text)));
  const std::vector<std::string> words =
      BareWords(text.substr(LastSentenceStart(text)));
  size_t end = words.size();
  while (end > 0) {
    size_t start = end;
    while (start > 0 && words[start - 1] != "," && words[start - 1] != ";") {
      --start;
    }
    const auto number = [](const std::string& word) { return Digit(word[0]); };
    const auto from = words.begin() + static_cast<std::ptrdiff_t>(start);
    const auto to = words.begin() + static_cast<std::ptrdiff_t>(end);
    if (std::any_of(from, to, number)) return {from, to};
    end = start == 0 ? 0 : start - 1;
  }
  return {};
}

// "10 % | decrease", "8 of the | girls"; not "6 for each | teacher".
bool FollowsNumber(WordRange front) {
  constexpr size_t kFar = 3;
  for (size_t i = 0; i <= kFar && i < front.size(); ++i) {
    const std::string& word = front[front.size() - 1 - i];
    if (Digit(word[0])) return true;
    if (IsPhrase(word, Reading::kPartsFromNumber)) return false;
  }
  return false;
}

// "a loss | of 10", "the decrease | is 10 %"; not "the girls | gives 8". Behind
// the first words of the part, also "loss | : 10".
bool LeadsToNumber(WordRange behind, bool first) {
  constexpr size_t kFar = 3;
  for (size_t i = 0; i <= kFar && i < behind.size(); ++i) {
    const std::string& word = behind[i];
    if (Digit(word[0])) return true;
    const bool mark = first && (word == ":" || word == "=");
    if (!mark && !IsPhrase(word, Reading::kLeadsToNumber) &&
        !IsPhrase(word, Reading::kArticle)) {
      return false;
    }
  }
  return false;
}

std::vector<Said> SaidIn(std::string_view text) {
  constexpr size_t kMostWords = 4;
  const std::vector<std::string> part = LastPart(text);
  const WordRange words = part;
  std::vector<Said> out;
  for (size_t at = 0; at < words.size();) {
    size_t length = std::min(kMostWords, words.size() - at);
    for (; length > 0; --length) {
      std::string phrase = JoinWords(words.subspan(at, length));
      const auto [begin, end] = AllSides().equal_range(phrase);
      if (begin == end) continue;
      const bool of_number = FollowsNumber(words.first(at)) ||
                             LeadsToNumber(words.subspan(at + length), at < 2);
      for (auto side = begin; side != end; ++side) {
        out.push_back({phrase, side->second.row, side->second.left, of_number});
      }
      break;
    }
    at += std::max<size_t>(length, 1);
  }
  return out;
}

bool Says(const std::vector<Said>& all, size_t row, bool left) {
  return std::any_of(all.begin(), all.end(), [&](const Said& said) {
    return said.row == row && said.left == left;
  });
}

}  // namespace

std::optional<std::pair<std::string, std::string>> OppositeWords(
    std::string_view gold, std::string_view answer) {
  if (auto units = UnitsApart(gold, answer)) return units;
  const std::vector<Said> from = SaidIn(gold);
  if (from.empty()) return std::nullopt;
  const std::vector<Said> to = SaidIn(answer);
  for (const Said& a : from) {
    for (const Said& b : to) {
      if (a.of_number && b.of_number && a.row == b.row && a.left != b.left &&
          !Says(from, a.row, b.left) && !Says(to, a.row, a.left)) {
        return std::pair(a.phrase, b.phrase);
      }
    }
  }
  return std::nullopt;
}

}  // namespace espalier
