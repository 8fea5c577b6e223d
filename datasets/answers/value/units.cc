#include "datasets/answers/value/units.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/text.h"
#include "datasets/answers/words/characters.h"
#include "datasets/answers/words/clean_text.h"
#include "datasets/answers/words/phrases.h"

namespace espalier {
namespace {

struct UnitRow {
  // One base unit, or several with their powers: "gram metre^2 second^-2".
  std::string_view base;
  int64_t num = 1;
  int64_t den = 1;
};

constexpr std::string_view kNewton = "gram metre second^-2";
constexpr std::string_view kJoule = "gram metre^2 second^-2";
constexpr std::string_view kWatt = "gram metre^2 second^-3";
constexpr std::string_view kPascal = "gram metre^-1 second^-2";
constexpr std::string_view kVolt = "gram metre^2 second^-3 ampere^-1";
constexpr std::string_view kOhm = "gram metre^2 second^-3 ampere^-2";
constexpr std::string_view kFarad = "ampere^2 second^4 gram^-1 metre^-2";
constexpr std::string_view kTesla = "gram second^-2 ampere^-1";

// "254/10000 metre": a size and base units.
UnitRow ReadEntry(std::string_view meaning) {
  const size_t blank = meaning.find(' ');
  const std::string size(meaning.substr(0, blank));
  const size_t bar = size.find('/');
  return {meaning.substr(blank + 1), std::stoll(size),
          bar == std::string::npos ? 1 : std::stoll(size.substr(bar + 1))};
}

// Spelling -> base unit and its multiple: symbols in lower case, and the names
// of the table of phrases.
const std::unordered_map<std::string_view, UnitRow>& UnitTable() {
  static const auto* const kTable = [] {
    auto* table = new std::unordered_map<std::string_view, UnitRow>{
        {"m", {"metre"}},
        {"cm", {"metre", 1, 100}},
        {"mm", {"metre", 1, 1000}},
        {"dm", {"metre", 1, 10}},
        {"km", {"metre", 1000}},
        {"in", {"metre", 254, 10000}},
        {"ft", {"metre", 3048, 10000}},
        {"yd", {"metre", 9144, 10000}},
        {"mi", {"metre", 1609344, 1000}},
        {"s", {"second"}},
        {"sec", {"second"}},
        {"min", {"second", 60}},
        {"h", {"second", 3600}},
        {"hr", {"second", 3600}},
        {"yr", {"month", 12}},
        {"g", {"gram"}},
        {"kg", {"gram", 1000}},
        {"mg", {"gram", 1, 1000}},
        {"lb", {"pound"}},
        {"oz", {"pound", 1, 16}},
        {"l", {"metre^3", 1, 1000}},
        {"ml", {"metre^3", 1, 1000000}},
        {"usd", {"dollar"}},
        {"eur", {"euro"}},
        {"gbp", {"sterling"}},
        {"rs", {"rupee"}},
        {"deg", {"degree"}},
        {"rad", {"radian"}},
        {"mph", {"mile/hour"}},
        {"kph", {"km/hour"}},
        {"hz", {"second^-1"}},
        {"kw", {kWatt, 1000000}},
        {"kn", {kNewton, 1000000}},
        {"pa", {kPascal, 1000}},
        {"kpa", {kPascal, 1000000}},
        {"kj", {kJoule, 1000000}},
        {"kwh", {kJoule, 3600000000}},
        {"ma", {"ampere", 1, 1000}},
        {"mol", {"mole"}},
        {"nm", {"metre", 1, 1000000000}},
        {"ms", {"second", 1, 1000}},
        {"atm", {kPascal, 101325000}}};
    for (const Phrase& name : Rows(Reading::kUnit)) {
      table->emplace(name.pattern, ReadEntry(name.meaning));
    }
    return table;
  }();
  return *kTable;
}

// SI symbols, in which case matters (N is not n); those that take prefixes.
struct Symbol {
  std::string_view sign;
  UnitRow entry;
};
constexpr Symbol kSymbols[] = {{"m", {"metre"}},
                               {"s", {"second"}},
                               {"g", {"gram"}},
                               {"N", {kNewton, 1000}},
                               {"J", {kJoule, 1000}},
                               {"W", {kWatt, 1000}},
                               {"V", {kVolt, 1000}},
                               {"A", {"ampere"}},
                               {"K", {"kelvin"}},
                               {"C", {"ampere second"}},
                               {"T", {kTesla, 1000}},
                               {"Pa", {kPascal, 1000}},
                               {"Hz", {"second^-1"}},
                               {"Ω", {kOhm, 1000}},
                               {"ohm", {kOhm, 1000}},
                               {"F", {kFarad, 1, 1000}},
                               {"L", {"metre^3", 1, 1000}},
                               {"l", {"metre^3", 1, 1000}},
                               {"mol", {"mole"}},
                               {"eV", {"electronvolt"}},
                               {"cal", {"calorie"}},
                               {"bar", {kPascal, 100000000}}};
constexpr struct {
  std::string_view sign;
  int64_t num = 1;
  int64_t den = 1;
} kPrefixes[] = {{"f", 1, 1000000000000000},
                 {"p", 1, 1000000000000},
                 {"n", 1, 1000000000},
                 {"μ", 1, 1000000},
                 {"u", 1, 1000000},
                 {"m", 1, 1000},
                 {"c", 1, 100},
                 {"d", 1, 10},
                 {"h", 100},
                 {"k", 1000},
                 {"M", 1000000},
                 {"G", 1000000000},
                 {"T", 1000000000000}};

struct Meaning {
  std::string_view base;
  BigRational factor;
};

std::optional<Meaning> FindSymbol(std::string_view word) {
  for (const Symbol& symbol : kSymbols) {
    if (!word.ends_with(symbol.sign)) continue;
    const std::string_view before =
        word.substr(0, word.size() - symbol.sign.size());
    const BigRational factor(symbol.entry.num, symbol.entry.den);
    if (before.empty()) {
      return Meaning{symbol.entry.base, factor};
    }
    for (const auto& prefix : kPrefixes) {
      if (before != prefix.sign) continue;
      return Meaning{symbol.entry.base,
                     factor * BigRational(prefix.num, prefix.den)};
    }
  }
  if (word == "Nm") return Meaning{kJoule, BigRational(1000)};
  return std::nullopt;
}

// "microfarads", "kilojoule": a prefix and the name of an SI unit.
std::optional<Meaning> FindPrefixed(std::string_view word) {
  static constexpr std::string_view kNames[] = {
      "meter",   "metre",  "second", "gram", "liter",  "litre",
      "hertz",   "joule",  "watt",   "volt", "ohm",    "newton",
      "mole",    "pascal", "ampere", "amp",  "farad",  "kelvin",
      "coulomb", "tesla",  "henry",  "bar",  "calorie"};
  for (const Phrase& prefix : Rows(Reading::kUnitPrefix)) {
    if (!word.starts_with(prefix.pattern)) continue;
    std::string_view name = word.substr(prefix.pattern.size());
    if (name.ends_with("s")) name.remove_suffix(1);
    const auto& table = UnitTable();
    const auto found = table.find(name);
    if (found == table.end() || std::find(std::begin(kNames), std::end(kNames),
                                          name) == std::end(kNames)) {
      continue;
    }
    const UnitRow by = ReadEntry(std::string(prefix.meaning) + " ");
    return Meaning{found->second.base,
                   BigRational(found->second.num, found->second.den) *
                       BigRational(by.num, by.den)};
  }
  return std::nullopt;
}

std::optional<Meaning> FindName(std::string_view word) {
  const auto& table = UnitTable();
  auto found = table.find(word);
  if (found == table.end() && word.size() > 2 && word.ends_with("s")) {
    found = table.find(word.substr(0, word.size() - 1));
  }
  if (found == table.end()) return FindPrefixed(word);
  return Meaning{found->second.base,
                 BigRational(found->second.num, found->second.den)};
}

// `word` with its case: MHz is not mHz, M is not m.
std::optional<Meaning> FindUnit(std::string_view word) {
  const std::string lower = Lower(word);
  if (lower != word) {
    if (auto symbol = FindSymbol(word)) return symbol;
    if (word.size() == 1) return std::nullopt;
    return FindName(lower);
  }
  if (auto name = FindName(word)) return name;
  return FindSymbol(word);
}

// "north", and the words that follow it.
std::string DirectionFrom(const std::vector<std::string>& words, size_t at) {
  if (!IsPhrase(Lower(words[at]), Reading::kDirection)) return {};
  std::string out;
  for (; at < words.size(); ++at) {
    const std::string word = Lower(words[at]);
    if (word != "due" && word != "the") absl::StrAppend(&out, " ", word);
  }
  return out;
}

// Words, with "/" and "^" as separate words and without braces.
std::vector<std::string> UnitWords(std::string_view text) {
  std::string spaced;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (text.substr(i).starts_with("·")) {
      spaced += ' ';
      ++i;
    } else if (c == '/' || c == '^') {
      spaced += ' ';
      spaced += c;
      spaced += ' ';
    } else if (std::isalnum(static_cast<unsigned char>(c)) != 0 ||
               static_cast<uint8_t>(c) >= 0x80 || c == '-') {
      spaced += c;
    } else {
      spaced += ' ';
    }
  }
  std::vector<std::string> out;
  for (const absl::string_view word :
       absl::StrSplit(spaced, ' ', absl::SkipEmpty())) {
    const std::string lower = Lower(std::string_view(word.data(), word.size()));
    if (lower == "mph" || lower == "kph" || lower == "kmh") {
      out.insert(out.end(), {lower == "mph" ? "mile" : "km", "/", "hour"});
    } else {
      out.emplace_back(word);
    }
  }
  return out;
}

// Whether `word`, behind a unit and the word `before`, begins a remark.
bool Remark(std::string_view before, std::string_view word) {
  return before == "per" || IsPhrase(word, Reading::kMeasured);
}

std::string WithoutArticles(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) {
    if (IsPhrase(word, Reading::kFiller)) continue;
    if (!out.empty()) out += ' ';
    const std::string lower = Lower(word);
    std::string_view stem = lower;
    if (stem.size() > 3 && stem.ends_with("s")) stem.remove_suffix(1);
    for (const Phrase& same : Rows(Reading::kSameNoun)) {
      if (stem == same.pattern) stem = same.meaning;
    }
    out += stem;
  }
  return out;
}

// Adds the base units of `base`, raised to `power`.
void AddPowers(std::string_view base, int power,
               std::map<std::string, int>& powers) {
  for (const absl::string_view part :
       absl::StrSplit(AbslView(base), ' ', absl::SkipEmpty())) {
    const std::vector<std::string> pair = absl::StrSplit(part, '^');
    powers[pair[0]] += power * (pair.size() > 1 ? std::stoi(pair[1]) : 1);
  }
}

}  // namespace

bool IsUnitWord(std::string_view word) {
  // In plain letters these are also products: the weight 3mg.
  static constexpr std::string_view kProducts[] = {
      "mg", "ml", "rs", "pa", "ma", "kn", "ms", "nm", "mi", "kw", "kj", "hz"};
  return word.size() >= 2 && FindName(Lower(word)).has_value() &&
         std::find(std::begin(kProducts), std::end(kProducts), Lower(word)) ==
             std::end(kProducts);
}

Unit ReadUnit(std::string_view text) {
  const std::vector<std::string> words = UnitWords(text);
  std::map<std::string, int> powers;
  Unit out;
  std::string direction;
  int sign = 1, next_power = 1;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    const std::string lower = Lower(word);
    if (word == "/" || lower == "per") {
      sign = -1;
      continue;
    }
    if (const auto raised = NumberMeant(lower, Reading::kPower)) {
      next_power = static_cast<int>(*raised);
      continue;
    }
    std::optional<Meaning> unit = FindUnit(word);
    // "6 feet in height"
    if (word == "in" && !powers.empty() && i + 1 < words.size() &&
        Letter(words[i + 1][0]) && !FindUnit(words[i + 1])) {
      break;
    }
    if (!unit) {
      // "15 m/s north"
      if (!powers.empty()) direction = DirectionFrom(words, i);
      if (!direction.empty()) break;
      // "5 feet tall", "3 dollars per apple": what is measured.
      if (!powers.empty() && Remark(i > 0 ? words[i - 1] : "", word)) break;
      return {WithoutArticles(words), 1, false};
    }
    int power = next_power;
    std::string_view above;
    if (i + 2 < words.size() && words[i + 1] == "^") above = words[i + 2];
    if (above == "2" || above == "3") {
      power = above[0] - '0';
      i += 2;
    } else if (above == "-1" || above == "-2" || above == "-3") {
      power = -(above[1] - '0');
      i += 2;
    } else if (i + 1 < words.size()) {
      if (const auto raised =
              NumberMeant(words[i + 1], Reading::kPowerBehind)) {
        power = static_cast<int>(*raised);
        ++i;
      }
    }
    next_power = 1;
    AddPowers(unit->base, sign * power, powers);
    for (int k = 0; k < std::abs(power); ++k) {
      out.factor = (sign > 0) == (power > 0) ? out.factor * unit->factor
                                             : out.factor / unit->factor;
    }
  }
  out.known = !powers.empty();
  for (const auto& [base, power] : powers) {
    if (power != 0) absl::StrAppend(&out.dimension, base, "^", power, " ");
  }
  out.dimension += direction;
  return out;
}

BigRational TakeScale(std::string& text) {
  BigRational out = 1;
  for (const std::string_view scale : Phrases(Reading::kScale)) {
    const size_t at = text.find(scale);
    const size_t end = at + scale.size();
    if (at == std::string::npos || (at > 0 && text[at - 1] != ' ') ||
        (end < text.size() && text[end] != ' ')) {
      continue;
    }
    out = out * BigRational(*NumberMeant(scale, Reading::kScale));
    text.erase(at, scale.size());
  }
  return out;
}

bool Convertible(const Unit& from, const Unit& to, BigRational* factor) {
  *factor = 1;
  if (from.known && to.known) {
    if (from.dimension == to.dimension) {
      *factor = from.factor / to.factor;
      return true;
    }
    // "square units" for square centimetres.
    return from.dimension.starts_with("unit^") ||
           to.dimension.starts_with("unit^");
  }
  if (from.known != to.known) return false;
  return from.dimension == to.dimension ||
         from.dimension.find(to.dimension) != std::string::npos ||
         to.dimension.find(from.dimension) != std::string::npos;
}

}  // namespace espalier
