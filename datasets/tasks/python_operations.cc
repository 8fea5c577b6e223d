#include "datasets/tasks/python_operations.h"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace espalier {
namespace {

constexpr int64_t kMost = 1000000000000;  // its products fit 128 bits

using Result = std::optional<PythonValue>;
constexpr auto kInt = PythonType::kInt;
constexpr auto kText = PythonType::kText;
constexpr auto kList = PythonType::kList;

int64_t Int(const PythonValue& x) { return std::get<int64_t>(x); }
const std::string& Text(const PythonValue& x) {
  return std::get<std::string>(x);
}
const IntList& List(const PythonValue& x) { return std::get<IntList>(x); }

// Python's %, whose result has the sign of `b`, which is positive here.
int64_t Mod(int64_t a, int64_t b) { return (a % b + b) % b; }

Result Bounded(__int128 value) {
  if (value > kMost || value < -kMost) return std::nullopt;
  return static_cast<int64_t>(value);
}

template <typename Keep>
Result Kept(const PythonValue& x, const Keep& keep) {
  IntList out;
  std::copy_if(List(x).begin(), List(x).end(), std::back_inserter(out), keep);
  return out;
}

template <typename Map>
Result Mapped(const PythonValue& x, const Map& map) {
  IntList out;
  for (const int64_t v : List(x)) {
    const Result value = Bounded(map(v));
    if (!value) return std::nullopt;
    out.push_back(Int(*value));
  }
  return out;
}

template <typename Keep>
Result KeptText(const PythonValue& x, const Keep& keep) {
  std::string out;
  std::copy_if(Text(x).begin(), Text(x).end(), std::back_inserter(out), keep);
  return out;
}

Result SumOf(const IntList& list, int64_t begin, int64_t step) {
  __int128 sum = 0;
  for (size_t i = static_cast<size_t>(begin); i < list.size();
       i += static_cast<size_t>(step)) {
    sum += list[i];
  }
  return Bounded(sum);
}

bool IsVowel(char c) {
  return std::string_view("aeiouAEIOU").find(c) != std::string_view::npos;
}

std::vector<std::string> Words(const PythonValue& x) {
  return absl::StrSplit(Text(x), ' ', absl::SkipEmpty());
}

IntList Digits(int64_t value) {
  IntList digits;
  for (const char c : std::to_string(std::abs(value)))
    digits.push_back(c - '0');
  return digits;
}

template <typename T>
PythonValue Sized(const T& items) {
  return static_cast<int64_t>(items.size());
}

Result RunningTotals(const PythonValue& x, int64_t) {
  IntList out;
  __int128 sum = 0;
  for (const int64_t v : List(x)) {
    sum += v;
    if (!Bounded(sum)) return std::nullopt;
    out.push_back(static_cast<int64_t>(sum));
  }
  return out;
}

Result Unique(const PythonValue& x, int64_t) {
  IntList out;
  std::set<int64_t> seen;
  for (const int64_t v : List(x)) {
    if (seen.insert(v).second) out.push_back(v);
  }
  return out;
}

template <typename Compare>
Result Sorted(const PythonValue& x, const Compare& compare) {
  IntList out = List(x);
  std::sort(out.begin(), out.end(), compare);
  return out;
}

Result Slice(const PythonValue& x, size_t begin, size_t end, size_t step) {
  IntList out;
  for (size_t i = begin; i < std::min(end, List(x).size()); i += step) {
    out.push_back(List(x)[i]);
  }
  return out;
}

Result Differences(const PythonValue& x, int64_t) {
  IntList out;
  for (size_t i = 1; i < List(x).size(); ++i) {
    const Result value =
        Bounded(static_cast<__int128>(List(x)[i]) - List(x)[i - 1]);
    if (!value) return std::nullopt;
    out.push_back(Int(*value));
  }
  return out;
}

Result Rotated(const PythonValue& x, int64_t) {
  IntList out = List(x);
  if (!out.empty()) std::rotate(out.begin(), out.begin() + 1, out.end());
  return out;
}

Result AlternatingSum(const PythonValue& x, int64_t) {
  const Result even = SumOf(List(x), 0, 2), odd = SumOf(List(x), 1, 2);
  if (!even || !odd) return std::nullopt;
  return Bounded(static_cast<__int128>(Int(*even)) - Int(*odd));
}

Result SumOfSquares(const PythonValue& x, int64_t) {
  __int128 sum = 0;
  for (const int64_t v : List(x)) {
    sum += static_cast<__int128>(v) * v;
    if (!Bounded(sum)) return std::nullopt;
  }
  return Bounded(sum);
}

Result Divisors(const PythonValue& x, int64_t) {
  // Python's loop over all candidates must end soon.
  if (std::abs(Int(x)) > 10000) return std::nullopt;
  IntList out;
  for (int64_t d = 1; d <= std::abs(Int(x)); ++d) {
    if (Int(x) % d == 0) out.push_back(d);
  }
  return out;
}

Result Binary(const PythonValue& x, int64_t) {
  std::string out;
  for (int64_t v = std::abs(Int(x)); v > 0; v /= 2) {
    out.insert(out.begin(), static_cast<char>('0' + v % 2));
  }
  return out.empty() ? "0" : out;
}

Result ReversedDigits(const PythonValue& x, int64_t) {
  std::string text = std::to_string(std::abs(Int(x)));
  std::reverse(text.begin(), text.end());
  return Bounded(std::strtoll(text.c_str(), nullptr, 10));
}

Result Doubled(const PythonValue& x, int64_t) {
  std::string out;
  for (const char c : Text(x)) out.append(2, c);
  return out;
}

Result Initials(const PythonValue& x, int64_t) {
  std::string out;
  for (const std::string& word : Words(x)) out += word[0];
  return out;
}

Result SwappedCase(const PythonValue& x, int64_t) {
  std::string out = Text(x);
  for (char& c : out) {
    c = absl::ascii_isupper(c) ? absl::ascii_tolower(c)
                               : absl::ascii_toupper(c);
  }
  return out;
}

Result ReversedWords(const PythonValue& x, int64_t) {
  std::vector<std::string> words = Words(x);
  std::reverse(words.begin(), words.end());
  return absl::StrJoin(words, " ");
}

Result WordLengths(const PythonValue& x, int64_t) {
  IntList out;
  for (const std::string& word : Words(x)) {
    out.push_back(static_cast<int64_t>(word.size()));
  }
  return out;
}

Result LetterPlaces(const PythonValue& x, int64_t) {
  IntList out;
  for (const char c : Text(x)) {
    if (absl::ascii_isalpha(c)) out.push_back(absl::ascii_tolower(c) - 'a' + 1);
  }
  return out;
}

Result DigitsInText(const PythonValue& x, int64_t) {
  IntList out;
  for (const char c : Text(x)) {
    if (absl::ascii_isdigit(c)) out.push_back(c - '0');
  }
  return out;
}

std::vector<PythonOperation> ListOperations() {
  return {
      {kList, kList, "keep only the even numbers",
       "[v for v in x if v % 2 == 0]", 0, 0,
       [](const PythonValue& x, int64_t) {
         return Kept(x, [](int64_t v) { return v % 2 == 0; });
       }},
      {kList, kList, "keep only the odd numbers",
       "[v for v in x if v % 2 == 1]", 0, 0,
       [](const PythonValue& x, int64_t) {
         return Kept(x, [](int64_t v) { return v % 2 != 0; });
       }},
      {kList, kList, "keep only the numbers greater than {k}",
       "[v for v in x if v > {k}]", -9, 9,
       [](const PythonValue& x, int64_t k) {
         return Kept(x, [k](int64_t v) { return v > k; });
       }},
      {kList, kList, "keep only the numbers less than {k}",
       "[v for v in x if v < {k}]", -5, 30,
       [](const PythonValue& x, int64_t k) {
         return Kept(x, [k](int64_t v) { return v < k; });
       }},
      {kList, kList, "drop the multiples of {k}",
       "[v for v in x if v % {k} != 0]", 3, 7,
       [](const PythonValue& x, int64_t k) {
         return Kept(x, [k](int64_t v) { return v % k != 0; });
       }},
      {kList, kList, "add {k} to each number", "[v + {k} for v in x]", 1, 20,
       [](const PythonValue& x, int64_t k) {
         return Mapped(x, [k](int64_t v) { return __int128{v} + k; });
       }},
      {kList, kList, "multiply each number by {k}", "[v * {k} for v in x]", 2,
       9,
       [](const PythonValue& x, int64_t k) {
         return Mapped(x, [k](int64_t v) { return __int128{v} * k; });
       }},
      {kList, kList, "square each number", "[v * v for v in x]", 0, 0,
       [](const PythonValue& x, int64_t) {
         return Mapped(x, [](int64_t v) { return __int128{v} * v; });
       }},
      {kList, kList, "negate each number", "[-v for v in x]", 0, 0,
       [](const PythonValue& x, int64_t) {
         return Mapped(x, [](int64_t v) { return -__int128{v}; });
       }},
      {kList, kList, "replace each number by its absolute value",
       "[abs(v) for v in x]", 0, 0,
       [](const PythonValue& x, int64_t) {
         return Mapped(x, [](int64_t v) { return std::abs(v); });
       }},
      {kList, kList,
       "replace each number by its remainder modulo {k} (as Python's % has it)",
       "[v % {k} for v in x]", 3, 12,
       [](const PythonValue& x, int64_t k) {
         return Mapped(x, [k](int64_t v) { return Mod(v, k); });
       }},
      {kList, kList, "replace each number greater than {k} by {k}",
       "[min(v, {k}) for v in x]", 2, 15,
       [](const PythonValue& x, int64_t k) {
         return Mapped(x, [k](int64_t v) { return std::min(v, k); });
       }},
      {kList, kList, "sort the numbers in ascending order", "sorted(x)", 0, 0,
       [](const PythonValue& x, int64_t) {
         return Sorted(x, std::less<int64_t>());
       }},
      {kList, kList, "sort the numbers in descending order",
       "sorted(x, reverse=True)", 0, 0,
       [](const PythonValue& x, int64_t) {
         return Sorted(x, std::greater<int64_t>());
       }},
      {kList, kList, "reverse the order of the numbers", "x[::-1]", 0, 0,
       [](const PythonValue& x, int64_t) -> Result {
         return IntList(List(x).rbegin(), List(x).rend());
       }},
      {kList, kList, "keep only the first of equal numbers",
       "list(dict.fromkeys(x))", 0, 0, Unique},
      {kList, kList, "keep only the first {k} numbers", "x[:{k}]", 2, 5,
       [](const PythonValue& x, int64_t k) {
         return Slice(x, 0, static_cast<size_t>(k), 1);
       }},
      {kList, kList, "drop the first {k} numbers", "x[{k}:]", 1, 3,
       [](const PythonValue& x, int64_t k) {
         return Slice(x, static_cast<size_t>(k), List(x).size(), 1);
       }},
      {kList, kList, "keep every second number, beginning with the first",
       "x[::2]", 0, 0,
       [](const PythonValue& x, int64_t) {
         return Slice(x, 0, List(x).size(), 2);
       }},
      {kList, kList, "move the first number to the end", "x[1:] + x[:1]", 0, 0,
       Rotated},
      {kList, kList, "replace each number by the sum of the numbers up to it",
       "[sum(x[:i + 1]) for i in range(len(x))]", 0, 0, RunningTotals},
      {kList, kList,
       "replace the numbers by the differences of each number and the one "
       "before it",
       "[b - a for a, b in zip(x, x[1:])]", 0, 0, Differences},
      {kList, kInt, "take the sum of the numbers", "sum(x)", 0, 0,
       [](const PythonValue& x, int64_t) { return SumOf(List(x), 0, 1); }},
      {kList, kInt, "take how many numbers there are", "len(x)", 0, 0,
       [](const PythonValue& x, int64_t) -> Result { return Sized(List(x)); }},
      {kList, kInt, "take the largest number, or {k} if there is none",
       "max(x, default={k})", -3, 3,
       [](const PythonValue& x, int64_t k) -> Result {
         return List(x).empty()
                    ? k
                    : *std::max_element(List(x).begin(), List(x).end());
       }},
      {kList, kInt, "take the smallest number, or {k} if there is none",
       "min(x, default={k})", -3, 3,
       [](const PythonValue& x, int64_t k) -> Result {
         return List(x).empty()
                    ? k
                    : *std::min_element(List(x).begin(), List(x).end());
       }},
      {kList, kInt, "take how many different numbers there are", "len(set(x))",
       0, 0,
       [](const PythonValue& x, int64_t) -> Result {
         return Sized(std::set<int64_t>(List(x).begin(), List(x).end()));
       }},
      {kList, kInt, "take the sum of the squares of the numbers",
       "sum(v * v for v in x)", 0, 0, SumOfSquares},
      {kList, kInt,
       "take the sum of the numbers at even positions, counted from 0, minus "
       "the sum of those at odd positions",
       "sum(x[::2]) - sum(x[1::2])", 0, 0, AlternatingSum},
      {kList, kText, "write the numbers as text with commas between them",
       "\",\".join(str(v) for v in x)", 0, 0,
       [](const PythonValue& x, int64_t) -> Result {
         return absl::StrJoin(List(x), ",");
       }},
  };
}

std::vector<PythonOperation> TextOperations() {
  return {
      {kText, kText, "reverse the text", "x[::-1]", 0, 0,
       [](const PythonValue& x, int64_t) -> Result {
         return std::string(Text(x).rbegin(), Text(x).rend());
       }},
      {kText, kText, "turn it into capital letters", "x.upper()", 0, 0,
       [](const PythonValue& x, int64_t) -> Result {
         return absl::AsciiStrToUpper(Text(x));
       }},
      {kText, kText, "turn it into small letters", "x.lower()", 0, 0,
       [](const PythonValue& x, int64_t) -> Result {
         return absl::AsciiStrToLower(Text(x));
       }},
      {kText, kText, "swap small and capital letters", "x.swapcase()", 0, 0,
       SwappedCase},
      {kText, kText, "remove the vowels (a, e, i, o, u, small or capital)",
       "\"\".join(c for c in x if c not in \"aeiouAEIOU\")", 0, 0,
       [](const PythonValue& x, int64_t) {
         return KeptText(x, [](char c) { return !IsVowel(c); });
       }},
      {kText, kText, "remove everything but letters",
       "\"\".join(c for c in x if c.isalpha())", 0, 0,
       [](const PythonValue& x, int64_t) {
         return KeptText(x, [](char c) { return absl::ascii_isalpha(c); });
       }},
      {kText, kText, "remove the digits",
       "\"\".join(c for c in x if not c.isdigit())", 0, 0,
       [](const PythonValue& x, int64_t) {
         return KeptText(x, [](char c) { return !absl::ascii_isdigit(c); });
       }},
      {kText, kText, "remove the blanks", "x.replace(\" \", \"\")", 0, 0,
       [](const PythonValue& x, int64_t) {
         return KeptText(x, [](char c) { return c != ' '; });
       }},
      {kText, kText, "write every character twice",
       "\"\".join(c + c for c in x)", 0, 0, Doubled},
      {kText, kText, "keep only the first {k} characters", "x[:{k}]", 3, 12,
       [](const PythonValue& x, int64_t k) -> Result {
         return Text(x).substr(0, static_cast<size_t>(k));
       }},
      {kText, kText, "drop the first {k} characters", "x[{k}:]", 1, 5,
       [](const PythonValue& x, int64_t k) -> Result {
         return Text(x).substr(
             std::min(Text(x).size(), static_cast<size_t>(k)));
       }},
      {kText, kText, "sort its characters by their codes",
       "\"\".join(sorted(x))", 0, 0,
       [](const PythonValue& x, int64_t) -> Result {
         std::string out = Text(x);
         std::sort(out.begin(), out.end());
         return out;
       }},
      {kText, kText,
       "put its words, which blanks separate, in reverse order with one blank "
       "between them",
       "\" \".join(x.split()[::-1])", 0, 0, ReversedWords},
      {kText, kText, "keep only the first character of each word, joined",
       "\"\".join(w[0] for w in x.split())", 0, 0, Initials},
      {kText, kInt, "take its length", "len(x)", 0, 0,
       [](const PythonValue& x, int64_t) -> Result { return Sized(Text(x)); }},
      {kText, kInt, "count its vowels (a, e, i, o, u, small or capital)",
       "sum(c in \"aeiouAEIOU\" for c in x)", 0, 0,
       [](const PythonValue& x, int64_t) -> Result {
         return static_cast<int64_t>(
             std::count_if(Text(x).begin(), Text(x).end(), IsVowel));
       }},
      {kText, kInt, "count its words, which blanks separate", "len(x.split())",
       0, 0,
       [](const PythonValue& x, int64_t) -> Result { return Sized(Words(x)); }},
      {kText, kInt, "count its different characters", "len(set(x))", 0, 0,
       [](const PythonValue& x, int64_t) -> Result {
         return Sized(std::set<char>(Text(x).begin(), Text(x).end()));
       }},
      {kText, kList, "take the lengths of its words, which blanks separate",
       "[len(w) for w in x.split()]", 0, 0, WordLengths},
      {kText, kList,
       "take the places of its letters in the alphabet, 1 for a and A",
       "[ord(c) - 96 for c in x.lower() if \"a\" <= c <= \"z\"]", 0, 0,
       LetterPlaces},
      {kText, kList, "take the digits in it as numbers",
       "[int(c) for c in x if c.isdigit()]", 0, 0, DigitsInText},
  };
}

std::vector<PythonOperation> IntOperations() {
  return {
      {kInt, kInt, "take its absolute value", "abs(x)", 0, 0,
       [](const PythonValue& x, int64_t) -> Result {
         return std::abs(Int(x));
       }},
      {kInt, kInt, "add {k} to it", "x + {k}", 1, 99,
       [](const PythonValue& x, int64_t k) {
         return Bounded(__int128{Int(x)} + k);
       }},
      {kInt, kInt, "multiply it by {k}", "x * {k}", 2, 12,
       [](const PythonValue& x, int64_t k) {
         return Bounded(__int128{Int(x)} * k);
       }},
      {kInt, kInt, "square it", "x * x", 0, 0,
       [](const PythonValue& x, int64_t) {
         return Bounded(__int128{Int(x)} * Int(x));
       }},
      {kInt, kInt, "take its remainder modulo {k} (as Python's % has it)",
       "x % {k}", 5, 97,
       [](const PythonValue& x, int64_t k) -> Result {
         return Mod(Int(x), k);
       }},
      {kInt, kInt, "take the sum of its decimal digits, without its sign",
       "sum(int(d) for d in str(abs(x)))", 0, 0,
       [](const PythonValue& x, int64_t) {
         return SumOf(Digits(Int(x)), 0, 1);
       }},
      {kInt, kInt, "reverse its decimal digits, without its sign",
       "int(str(abs(x))[::-1])", 0, 0, ReversedDigits},
      {kInt, kList, "take its decimal digits from the left, without its sign",
       "[int(d) for d in str(abs(x))]", 0, 0,
       [](const PythonValue& x, int64_t) -> Result { return Digits(Int(x)); }},
      {kInt, kList,
       "take the positive divisors of its absolute value in ascending order "
       "(none for 0)",
       "[d for d in range(1, abs(x) + 1) if x % d == 0]", 0, 0, Divisors},
      {kInt, kText, "write its absolute value in binary, without prefix",
       "bin(abs(x))[2:]", 0, 0, Binary},
      {kInt, kText, "write it as decimal text", "str(x)", 0, 0,
       [](const PythonValue& x, int64_t) -> Result {
         return std::to_string(Int(x));
       }},
  };
}

}  // namespace

const std::vector<PythonOperation>& PythonOperations() {
  static const std::vector<PythonOperation> all = [] {
    std::vector<PythonOperation> out = ListOperations();
    for (const auto& more : {TextOperations(), IntOperations()}) {
      out.insert(out.end(), more.begin(), more.end());
    }
    return out;
  }();
  return all;
}

std::string PythonLiteral(const PythonValue& value) {
  if (const auto* number = std::get_if<int64_t>(&value)) {
    return absl::StrCat(*number);
  }
  if (const auto* text = std::get_if<std::string>(&value)) {
    return absl::StrCat("\"", *text, "\"");
  }
  return absl::StrCat("[", absl::StrJoin(std::get<IntList>(value), ", "), "]");
}

}  // namespace espalier
