#include "datasets/tasks/plain_words.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/text.h"

namespace espalier {
namespace {

constexpr std::array<std::string_view, 20> kUnits = {
    "zero",    "one",     "two",       "three",    "four",
    "five",    "six",     "seven",     "eight",    "nine",
    "ten",     "eleven",  "twelve",    "thirteen", "fourteen",
    "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"};
constexpr std::array<std::string_view, 10> kTens = {
    "",      "",      "twenty",  "thirty", "forty",
    "fifty", "sixty", "seventy", "eighty", "ninety"};

template <size_t kSize>
std::optional<int64_t> IndexIn(const std::array<std::string_view, kSize>& words,
                               const std::string& word) {
  const auto it = std::find(words.begin(), words.end(), word);
  if (it == words.end() || word.empty()) return std::nullopt;
  return it - words.begin();
}

bool IsLetter(char c) {
  return absl::ascii_isalpha(c) || (static_cast<unsigned char>(c) & 0x80) != 0;
}

// "1,200" without its commas; any other text as it is.
std::string WithoutGrouping(std::string_view word) {
  std::string digits(word);
  const size_t first = word.find(',');
  if (first == word.npos || first > 3 || word[0] == '0') return digits;
  for (size_t at = first; at < word.size(); at += 4) {
    const std::string_view group = word.substr(at + 1, 3);
    const bool grouped = word[at] == ',' && group.size() == 3 &&
                         group.find_first_of(".,") == group.npos;
    if (!grouped) return digits;
  }
  absl::StrReplaceAll({{",", ""}}, &digits);
  return digits;
}

class Cutter {
 public:
  explicit Cutter(std::string_view text) : text_(text) {}

  PlainWords Cut() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (IsLetter(c)) {
        TakeLetters();
      } else if (absl::ascii_isdigit(c)) {
        TakeDigits();
      } else {
        TakeMark(c);
      }
    }
    return std::move(words_);
  }

 private:
  void Add(std::string_view word, std::optional<int64_t> number = {}) {
    const bool name = absl::ascii_isupper(word[0]) || (word[0] & 0x80) != 0;
    words_.texts.push_back(absl::AsciiStrToLower(AbslView(word)));
    words_.names.emplace_back(name ? word : "");
    words_.after_comma.push_back(std::exchange(comma_, false));
    words_.numbers.push_back(number);
  }

  void TakeLetters() {
    const size_t begin = at_;
    while (at_ < text_.size() && (IsLetter(text_[at_]) || text_[at_] == '\'')) {
      ++at_;
    }
    std::string_view word = text_.substr(begin, at_ - begin);
    for (const std::string_view end : {"'s", "'d", "'ve", "'ll", "'"}) {
      if (!absl::EndsWithIgnoreCase(AbslView(word), AbslView(end)) ||
          word.size() == end.size()) {
        continue;
      }
      Add(word.substr(0, word.size() - end.size()));
      Add(end);
      return;
    }
    Add(word);
  }

  void TakeDigits() {
    const size_t begin = at_;
    const auto digit_at = [&](size_t i) {
      return i < text_.size() && absl::ascii_isdigit(text_[i]);
    };
    while (digit_at(at_) || (at_ < text_.size() && digit_at(at_ + 1) &&
                             (text_[at_] == '.' || text_[at_] == ','))) {
      ++at_;
    }
    const std::string_view word = text_.substr(begin, at_ - begin);
    if (text_.substr(at_).starts_with(":00")) at_ += 3;  // a time of day
    const std::string digits = WithoutGrouping(word);
    int64_t number = 0;
    const bool whole = digits.find_first_of(".,") == digits.npos &&
                       digits.size() <= 9 && absl::SimpleAtoi(digits, &number);
    Add(word, whole ? std::optional(number) : std::nullopt);
  }

  void TakeMark(char c) {
    const bool between_letters = at_ > 0 && IsLetter(text_[at_ - 1]) &&
                                 at_ + 1 < text_.size() &&
                                 IsLetter(text_[at_ + 1]);
    ++at_;
    if (c == ',' || c == ';' || c == ':') {
      comma_ = true;
      return;
    }
    if (absl::ascii_isspace(c) || (c == '-' && between_letters)) return;
    if (std::string_view(".?!\"()'").find(c) != std::string_view::npos) return;
    Add(std::string(1, c));
  }

  const std::string_view text_;
  size_t at_ = 0;
  bool comma_ = false;
  PlainWords words_;
};

// How many words from `i` on form a number below 1000, and its value.
std::pair<size_t, int64_t> NumberAt(const PlainWords& words, size_t i) {
  const auto small = [&](size_t at) -> std::pair<size_t, int64_t> {
    if (at >= words.texts.size()) return {0, 0};
    if (const auto unit = IndexIn(kUnits, words.texts[at])) return {1, *unit};
    const auto ten = IndexIn(kTens, words.texts[at]);
    if (!ten) return {0, 0};
    if (at + 1 < words.texts.size()) {
      const auto unit = IndexIn(kUnits, words.texts[at + 1]);
      if (unit && *unit > 0 && *unit < 10) return {2, 10 * *ten + *unit};
    }
    return {1, 10 * *ten};
  };
  const auto is = [&](size_t at, std::string_view word) {
    return at < words.texts.size() && words.texts[at] == word;
  };
  auto [length, value] = small(i);
  const bool hundred =
      is(i + 1, "hundred") &&
      ((length == 1 && value > 0 && value < 10) || words.texts[i] == "a");
  if (!hundred) return {length, value};
  const int64_t hundreds = words.texts[i] == "a" ? 100 : 100 * value;
  const size_t rest = is(i + 2, "and") ? i + 3 : i + 2;
  const auto [more, below] = small(rest);
  if (more == 0) return {2, hundreds};
  return {rest + more - i, hundreds + below};
}

}  // namespace

PlainWords CutWords(std::string_view sentence) {
  const std::string text =
      absl::StrReplaceAll(AbslView(sentence), {{"\u2019", "'"}});
  const PlainWords cut = Cutter(text).Cut();
  PlainWords words;
  for (size_t i = 0; i < cut.texts.size();) {
    const auto [length, value] = NumberAt(cut, i);
    words.names.push_back(length > 0 ? "" : cut.names[i]);
    words.after_comma.push_back(cut.after_comma[i]);
    words.numbers.push_back(length > 0 ? value : cut.numbers[i]);
    std::string text_of = cut.texts[i];
    for (size_t k = 1; k < length; ++k) {
      absl::StrAppend(&text_of, "-", cut.texts[i + k]);
    }
    words.texts.push_back(std::move(text_of));
    i += std::max<size_t>(1, length);
  }
  return words;
}

}  // namespace espalier
