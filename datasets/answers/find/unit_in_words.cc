#include "datasets/answers/find/unit_in_words.h"

#include <algorithm>
#include <vector>

#include "datasets/answers/value/units.h"
#include "datasets/answers/words/characters.h"
#include "datasets/answers/words/clean_text.h"
#include "datasets/answers/words/number_place.h"
#include "datasets/answers/words/phrases.h"

namespace espalier {

std::string UnitInWords(std::string_view behind) {
  constexpr size_t kLongestUnit = 40;
  behind = behind.substr(0, kLongestUnit);
  if (!behind.starts_with(" ")) return {};
  std::vector<std::string_view> words;
  size_t end = 0;
  while (end < behind.size() && behind[end] == ' ' && words.size() < 4) {
    const size_t start = end + 1;
    end = start;
    while (end < behind.size() && Letter(behind[end])) ++end;
    words.push_back(behind.substr(start, end - start));
    if (end == start) break;
  }
  const auto sure = [](std::string_view word) {
    const std::string lower = Lower(word);
    return (word.size() >= 4 || lower == "km" || lower == "cm" ||
            lower == "mm" || lower == "kg" || lower == "mph") &&
           !IsPhrase(lower, Reading::kTwoUnits) && ReadUnit(" " + lower).known;
  };
  const bool power =
      !words.empty() && IsPhrase(words[0], Reading::kSquareCubic);
  const size_t first = power ? 1 : 0;
  if (words.size() <= first || !sure(words[first])) return {};
  const std::string_view next =
      words.size() > first + 1 ? words[first + 1] : std::string_view();
  const char* begin = behind.data();
  const std::string_view whole =
      behind.substr(0, static_cast<size_t>(words[first].data() - begin) +
                           words[first].size());
  const std::string_view rest = behind.substr(whole.size());
  if (rest.starts_with("/") || rest.starts_with("^") || rest.starts_with("-") ||
      rest.starts_with("\u00b2") || rest.starts_with("\u00b3")) {
    return {};
  }
  if (next == "per" && words.size() > first + 2 &&
      sure(words[first + 2] == "second" ? std::string_view("seconds")
                                        : words[first + 2]) &&
      !Lower(words[first]).starts_with("dollar")) {
    const std::string_view last = words[first + 2];
    return std::string(behind.substr(
        0, static_cast<size_t>(last.data() - begin) + last.size()));
  }
  return IsPhrase(next, Reading::kUnitGoesOn) ? std::string()
                                              : std::string(whole);
}

size_t LargerPart(std::string_view text, size_t start, std::string_view unit) {
  const std::string_view lead = text.substr(0, start);
  const auto place = LastNumberPlace(lead);
  if (!place || unit.empty()) return std::string_view::npos;
  std::string_view words = TrimBlanks(lead.substr(place->end));
  if (words.ends_with(" and")) words.remove_suffix(4);
  const std::string larger = UnitInWords(" " + std::string(words));
  std::string_view joint = TrimBlanks(lead.substr(place->end));
  if (larger.empty() || larger == unit) return std::string_view::npos;
  joint = TrimBlanks(joint.substr(std::min(joint.size(), larger.size() - 1)));
  const bool joined =
      joint.empty() || joint == "and" || joint == "," || joint == ", and";
  const bool same = ReadUnit(larger).dimension == ReadUnit(unit).dimension;
  return joined && same ? place->start : std::string_view::npos;
}

}  // namespace espalier
