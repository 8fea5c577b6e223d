#include "datasets/answers/words/number_place.h"

#include <cctype>
#include <utility>

#include "datasets/answers/words/characters.h"
#include "datasets/answers/words/phrases.h"

namespace espalier {

std::optional<std::string> LastNumberOf(std::string_view text) {
  auto place = LastNumberPlace(text);
  if (!place) return std::nullopt;
  return std::move(place->text);
}

std::optional<NumberPlace> LastNumberPlace(std::string_view text) {
  for (size_t end = text.size(); end > 0; --end) {
    if (!Digit(text[end - 1])) continue;
    // "$70k", if it is money
    const bool kilo = end < text.size() &&
                      (text[end] == 'k' || text[end] == 'K') &&
                      (end + 1 >= text.size() ||
                       !(Letter(text[end + 1]) || Digit(text[end + 1])));
    const bool word_after =
        end < text.size() && Letter(text[end]) &&
        (end + 1 < text.size() && std::isupper(text[end]) != 0);
    size_t start = end;
    while (start > 0) {
      const char c = text[start - 1];
      const bool joint = (c == '.' || c == ',' || c == '/') && start >= 2 &&
                         Digit(text[start - 2]) && start < text.size() &&
                         Digit(text[start]);
      if (!Digit(c) && !joint) break;
      --start;
    }
    const char before = start > 0 ? text[start - 1] : ' ';
    if (kilo && before == '$') {
      return NumberPlace{
          std::string(text.substr(start, end - start)) + " thousand", start,
          end + 1};
    }
    if (Letter(before) || before == '_' || before == '^' || word_after) {
      end = start + 1;
      continue;
    }
    if (before == '.' && (start < 2 || !Digit(text[start - 2]))) --start;
    size_t sign = start;
    if (sign > 0 && text[sign - 1] == '$') --sign;
    if (sign > 0 && text[sign - 1] == '-' &&
        (sign < 2 || Blank(text[sign - 2]) || text[sign - 2] == '(' ||
         text[sign - 2] == '=' || text[sign - 2] == '$')) {
      start = sign - 1;
    }
    // "1 1/2"
    if (start >= 2 && text[start - 1] == ' ' && Digit(text[start - 2]) &&
        text.substr(start, end - start).find('/') != std::string_view::npos) {
      size_t whole = start - 1;
      while (whole > 0 && Digit(text[whole - 1])) --whole;
      if (whole == 0 || Blank(text[whole - 1])) start = whole;
    }
    std::string out(text.substr(start, end - start));
    const std::string_view rest = text.substr(end);
    if (rest.starts_with("%") || rest.starts_with("\\%") ||
        rest.starts_with(" %") || rest.starts_with(" percent")) {
      out += "%";
    }
    const size_t scale =
        rest.starts_with(" ") ? StartsWith(rest.substr(1), Reading::kScale) : 0;
    if (scale > 0) out += rest.substr(0, scale + 1);
    return NumberPlace{std::move(out), start, end};
  }
  return std::nullopt;
}

}  // namespace espalier
