#include "datasets/grade/units.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <unordered_map>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "datasets/grade/characters.h"
#include "datasets/grade/clean_text.h"
#include "src/base/text.h"

namespace espalier {
namespace {

struct Entry {
  std::string_view base;
  int64_t num = 1;
  int64_t den = 1;
};

// Spelling -> base unit and how many of it.
const std::unordered_map<std::string_view, Entry>& Table() {
  static const auto* const kTable =
      new std::unordered_map<std::string_view, Entry>{
          {"m", {"metre"}},
          {"meter", {"metre"}},
          {"metre", {"metre"}},
          {"cm", {"metre", 1, 100}},
          {"centimeter", {"metre", 1, 100}},
          {"centimetre", {"metre", 1, 100}},
          {"mm", {"metre", 1, 1000}},
          {"millimeter", {"metre", 1, 1000}},
          {"dm", {"metre", 1, 10}},
          {"millimetre", {"metre", 1, 1000}},
          {"km", {"metre", 1000}},
          {"kilometer", {"metre", 1000}},
          {"kilometre", {"metre", 1000}},
          {"inch", {"metre", 254, 10000}},
          {"inche", {"metre", 254, 10000}},
          {"in", {"metre", 254, 10000}},
          {"foot", {"metre", 3048, 10000}},
          {"feet", {"metre", 3048, 10000}},
          {"ft", {"metre", 3048, 10000}},
          {"yard", {"metre", 9144, 10000}},
          {"yd", {"metre", 9144, 10000}},
          {"mile", {"metre", 1609344, 1000}},
          {"mi", {"metre", 1609344, 1000}},
          {"s", {"second"}},
          {"sec", {"second"}},
          {"second", {"second"}},
          {"min", {"second", 60}},
          {"minute", {"second", 60}},
          {"h", {"second", 3600}},
          {"hr", {"second", 3600}},
          {"hour", {"second", 3600}},
          {"day", {"second", 86400}},
          {"week", {"second", 604800}},
          {"month", {"month"}},
          {"year", {"month", 12}},
          {"yr", {"month", 12}},
          {"g", {"gram"}},
          {"gram", {"gram"}},
          {"kg", {"gram", 1000}},
          {"kilogram", {"gram", 1000}},
          {"mg", {"gram", 1, 1000}},
          {"pound", {"pound"}},
          {"lb", {"pound"}},
          {"ounce", {"pound", 1, 16}},
          {"oz", {"pound", 1, 16}},
          {"ton", {"ton"}},
          {"l", {"litre"}},
          {"liter", {"litre"}},
          {"litre", {"litre"}},
          {"ml", {"litre", 1, 1000}},
          {"milliliter", {"litre", 1, 1000}},
          {"gallon", {"gallon"}},
          {"quart", {"gallon", 1, 4}},
          {"pint", {"gallon", 1, 8}},
          {"cup", {"gallon", 1, 16}},
          {"dollar", {"dollar"}},
          {"usd", {"dollar"}},
          {"buck", {"dollar"}},
          {"cent", {"dollar", 1, 100}},
          {"penny", {"dollar", 1, 100}},
          {"euro", {"euro"}},
          {"eur", {"euro"}},
          {"gbp", {"sterling"}},
          {"yen", {"yen"}},
          {"rupee", {"rupee"}},
          {"rs", {"rupee"}},
          {"yuan", {"yuan"}},
          {"peso", {"peso"}},
          {"degree", {"degree"}},
          {"deg", {"degree"}},
          {"radian", {"radian"}},
          {"rad", {"radian"}},
          {"mph", {"mile/hour"}},
          {"kph", {"km/hour"}},
          {"hz", {"hertz"}},
          {"joule", {"joule"}},
          {"watt", {"watt"}},
          {"kw", {"watt", 1000}},
          {"volt", {"volt"}},
          {"ohm", {"ohm"}},
          {"newton", {"newton"}},
          {"kn", {"newton", 1000}},
          {"pascal", {"pascal"}},
          {"pa", {"pascal"}},
          {"kpa", {"pascal", 1000}},
          {"kj", {"joule", 1000}},
          {"kwh", {"joule", 3600000}},
          {"ampere", {"ampere"}},
          {"amp", {"ampere"}},
          {"ma", {"ampere", 1, 1000}},
          {"coulomb", {"coulomb"}},
          {"tesla", {"tesla"}},
          {"kelvin", {"kelvin"}},
          {"celsius", {"celsius"}},
          {"fahrenheit", {"fahrenheit"}},
          {"omega", {"ohm"}},
          {"mole", {"mole"}},
          {"mol", {"mole"}},
          {"nm", {"metre", 1, 1000000000}},
          {"ms", {"second", 1, 1000}},
          {"unit", {"unit"}},
          {"acre", {"acre"}},
          {"percentage", {"percent"}}};
  return *kTable;
}

const Entry* Find(std::string_view word) {
  const auto& table = Table();
  auto found = table.find(word);
  if (found == table.end() && word.size() > 2 && word.ends_with("s")) {
    found = table.find(word.substr(0, word.size() - 1));
  }
  if (found == table.end() && word == "cents") found = table.find("cent");
  if (found == table.end() && word == "pennies") found = table.find("penny");
  return found == table.end() ? nullptr : &found->second;
}

// Words, with "/" and "^" as words of their own and braces gone.
std::vector<std::string> Words(std::string_view text) {
  std::string spaced;
  // Units named after people have capitals: "N" is no "n".
  static constexpr struct {
    char sign;
    std::string_view name;
  } kCapitals[] = {{'N', "newton"},  {'J', "joule"},  {'W', "watt"},
                   {'V', "volt"},    {'K', "kelvin"}, {'A', "ampere"},
                   {'C', "coulomb"}, {'T', "tesla"}};
  const auto letter = [&text](size_t i) {
    return i < text.size() &&
           std::isalpha(static_cast<unsigned char>(text[i])) != 0;
  };
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (letter(i) && !letter(i + 1) && (i == 0 || !letter(i - 1))) {
      const auto found =
          std::find_if(std::begin(kCapitals), std::end(kCapitals),
                       [c](const auto& unit) { return unit.sign == c; });
      if (found != std::end(kCapitals)) {
        spaced += found->name;
        continue;
      }
    }
    if (c == '/' || c == '^') {
      spaced += ' ';
      spaced += c;
      spaced += ' ';
    } else if (std::isalnum(static_cast<unsigned char>(c)) != 0 ||
               static_cast<uint8_t>(c) >= 0x80 || c == '-') {
      spaced += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    } else {
      spaced += ' ';
    }
  }
  std::vector<std::string> out;
  for (const absl::string_view word :
       absl::StrSplit(spaced, ' ', absl::SkipEmpty())) {
    if (word == "mph" || word == "kph" || word == "kmh") {
      out.insert(out.end(), {word == "mph" ? "mile" : "km", "/", "hour"});
    } else {
      out.emplace_back(word);
    }
  }
  return out;
}

// Whether `word` behind a unit and the word `before` begins a remark.
bool Remark(std::string_view before, std::string_view word) {
  if (before == "per") return true;
  static constexpr std::string_view kRemarks[] = {
      "of",  "each", "in",    "for",  "long",  "tall", "away",  "wide",
      "old", "high", "apart", "more", "total", "left", "every", "altogether"};
  return std::find(std::begin(kRemarks), std::end(kRemarks), word) !=
         std::end(kRemarks);
}

std::string WithoutArticles(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) {
    if (word == "the" || word == "of" || word == "a" || word == "an") continue;
    if (!out.empty()) out += ' ';
    std::string_view stem = word;
    if (stem.size() > 3 && stem.ends_with("s")) stem.remove_suffix(1);
    out += stem;
  }
  return out;
}

}  // namespace

bool IsUnitWord(std::string_view word) {
  // In plain letters these are products as well: the weight 3mg.
  static constexpr std::string_view kProducts[] = {
      "mg", "ml", "rs", "pa", "ma", "kn", "ms", "nm", "mi", "kw", "kj", "hz"};
  return word.size() >= 2 && Find(Lower(word)) != nullptr &&
         std::find(std::begin(kProducts), std::end(kProducts), Lower(word)) ==
             std::end(kProducts);
}

Unit ReadUnit(std::string_view text) {
  const std::vector<std::string> words = Words(text);
  std::map<std::string, int> powers;
  Unit out;
  int sign = 1, next_power = 1;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word == "/" || word == "per") {
      sign = -1;
      continue;
    }
    if (word == "square" || word == "sq" || word == "squared") {
      next_power = 2;
      continue;
    }
    if (word == "cubic" || word == "cu") {
      next_power = 3;
      continue;
    }
    const Entry* const entry = Find(word);
    if (entry == nullptr) {
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
    } else if (i + 1 < words.size() && words[i + 1] == "squared") {
      power = 2;
      ++i;
    } else if (i + 1 < words.size() && words[i + 1] == "cubed") {
      power = 3;
      ++i;
    }
    next_power = 1;
    powers[std::string(entry->base)] += sign * power;
    const BigRational factor(entry->num, entry->den);
    for (int k = 0; k < std::abs(power); ++k) {
      out.factor =
          (sign > 0) == (power > 0) ? out.factor * factor : out.factor / factor;
    }
  }
  out.known = !powers.empty();
  for (const auto& [base, power] : powers) {
    if (power != 0) absl::StrAppend(&out.dimension, base, "^", power, " ");
  }
  return out;
}

BigRational TakeScale(std::string& text) {
  static constexpr struct {
    std::string_view word;
    int64_t value;
  } kScales[] = {{"hundred", 100},
                 {"thousand", 1000},
                 {"million", 1000000},
                 {"billion", 1000000000},
                 {"trillion", 1000000000000},
                 {"dozen", 12}};
  BigRational out = 1;
  for (const auto& scale : kScales) {
    const size_t at = text.find(scale.word);
    const size_t end = at + scale.word.size();
    if (at == std::string::npos || (at > 0 && text[at - 1] != ' ') ||
        (end < text.size() && text[end] != ' ')) {
      continue;
    }
    out = out * BigRational(scale.value);
    text.erase(at, scale.word.size());
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
