#include "datasets/answers/words/choice.h"

#include <algorithm>
#include <cctype>
#include <vector>

#include "datasets/answers/words/characters.h"
#include "datasets/answers/words/clean_text.h"
#include "datasets/answers/words/phrases.h"

namespace espalier {
namespace {

// A text without font commands (upright, bold) and their braces.
struct Unmarked {
  std::string clean;  // with them
  std::string plain;
  std::vector<size_t> from;  // position in `clean` of each byte of `plain`

  // The rest of `plain` from `first` on as written in `clean`, without closing
  // braces whose opening one comes earlier.
  std::string WrittenFrom(size_t first) const {
    if (first >= from.size()) return {};
    std::string out;
    int depth = 0;
    for (size_t at = from[first]; at < clean.size(); ++at) {
      if (clean[at] == '{') ++depth;
      if (clean[at] == '}' && --depth < 0) {
        depth = 0;
        continue;
      }
      out += clean[at];
    }
    return std::string(TrimBlanks(out));
  }
};

Unmarked WithoutFonts(std::string_view text) {
  Unmarked out{.clean = CleanMath(text), .plain = {}, .from = {}};
  for (size_t at = 0; at < out.clean.size();) {
    const std::string_view rest = std::string_view(out.clean).substr(at);
    size_t mark = 0;
    for (const std::string_view font :
         {"\\textbf", "\\text", "\\mathrm", "\\mathbf", "\\rm"}) {
      if (mark == 0 && rest.starts_with(font)) mark = font.size();
    }
    if (mark == 0) {
      out.plain += rest[0] == '{' || rest[0] == '}' ? ' ' : rest[0];
      out.from.push_back(at);
    }
    at += std::max<size_t>(mark, 1);
  }
  return out;
}

// The length of "option" or "Choice" in front.
size_t OptionLength(std::string_view text) {
  return StartsWith(Lower(text.substr(0, 10)), Reading::kOption);
}

// The runs of letters; none if anything but commas and brackets separates them.
std::vector<std::string> Pieces(std::string_view text) {
  std::vector<std::string> out(1);
  for (const char c : text) {
    if (std::isalpha(static_cast<unsigned char>(c)) != 0) {
      out.back() += c;
    } else if (std::string_view(" ,;&(){}\\.").find(c) !=
               std::string_view::npos) {
      if (!out.back().empty()) out.emplace_back();
    } else {
      return {};
    }
  }
  return out;
}

// Whether the text behind a letter shows that the letter is not a choice but
// part of a sentence, a product or one of several. `apart`: a bracket, or a
// full stop and a blank, comes between, so that a sign begins a value: "(C)
// -7", "(B) (2, -3)".
bool GoesOn(std::string_view rest, bool apart) {
  // "(A) and (C)" are two choices.
  if (rest.starts_with("and ") || rest.starts_with("or ") ||
      rest.starts_with("&") || rest.starts_with(",")) {
    return true;
  }
  if (apart && rest.size() > 1) {
    const std::string_view inside = rest.substr(0, rest.find(')'));
    const bool sign = (rest[0] == '-' || rest[0] == '+') && rest[1] != ' ';
    const bool point =
        rest[0] == '(' && std::any_of(inside.begin(), inside.end(), Digit);
    if (sign || point) return false;
  }
  // "(a)(b)" is a product.
  return !rest.empty() &&
         std::string_view("(^+-=/").find(rest[0]) != std::string_view::npos;
}

}  // namespace

char ReadChoice(std::string_view text, std::string* content) {
  // Erasing marks makes many passes over the text; choices are short.
  if (text.size() > 4000) return 0;
  const Unmarked unmarked = WithoutFonts(text);
  const std::string& plain = unmarked.plain;
  std::string_view rest = TrimBlanks(plain);
  for (size_t word = 0; (word = OptionLength(rest)) > 0;) {
    if (word == rest.size() || rest[word] != ' ') break;
    rest = TrimBlanks(rest.substr(word));
  }
  const bool open = rest.starts_with("(");
  if (open) rest = TrimBlanks(rest.substr(1));
  if (rest.empty()) return 0;
  const char letter = rest[0];
  const bool upper = letter >= 'A' && letter <= 'J';
  const bool lower = letter >= 'a' && letter <= 'e' && open;
  if (!upper && !lower) return 0;
  rest = TrimBlanks(rest.substr(1));
  bool closed = false;
  if (open) {
    rest = TrimBlanks(rest);
    if (!rest.starts_with(")")) return 0;
    rest = rest.substr(1);
    closed = true;
  } else if (rest.starts_with(")") || rest.starts_with(".") ||
             (rest.starts_with(":") && rest.size() > 1 && rest[1] == ' ')) {
    rest = rest.substr(1);
    closed = true;
  }
  rest = TrimBlanks(rest);
  if (rest.starts_with(".") || rest.starts_with(":")) {
    rest = TrimBlanks(rest.substr(1));
  }
  // "Option B is wrong" is a sentence, and so is "(A) is gravity".
  if (!rest.empty() && !closed) return 0;
  const std::string verdict = Lower(rest.substr(0, 40));
  if (BeginsIn(verdict, Reading::kIs) > 0 &&
      BeginsIn(verdict, Reading::kChoiceTaken) == 0) {
    return 0;
  }
  const auto begin = static_cast<size_t>(rest.data() - plain.data());
  const bool apart = upper && closed && begin > 0 && plain[begin - 1] == ' ';
  if (GoesOn(rest, apart)) return 0;
  *content = unmarked.WrittenFrom(begin);
  return static_cast<char>(std::toupper(letter));
}

std::string ManyChoices(std::string_view text) {
  if (text.size() > 60) return {};
  std::string out;
  for (const std::string& word : Pieces(text)) {
    if (word == "and" || word == "or" || word == "text" || word == "textbf" ||
        word == "mathrm") {
      continue;
    }
    for (const char c : word) {
      const bool choice = c >= 'A' && c <= 'F';
      if (!choice || out.find(c) != std::string::npos) return {};
      out += c;
    }
  }
  return out.size() >= 2 ? out : std::string();
}

char LetterAlone(std::string_view text) {
  if (text.size() > 40 || text.find_first_of(":.)") == text.npos) return 0;
  std::string plain;
  for (const char c : WithoutFonts(text).plain) {
    if (std::string_view(" *:.,()_").find(c) == std::string_view::npos) {
      plain += c;
    }
  }
  std::string_view rest = plain;
  rest.remove_prefix(OptionLength(rest));
  return rest.size() == 1 && rest[0] >= 'A' && rest[0] <= 'J' ? rest[0] : '\0';
}

}  // namespace espalier
