#include "datasets/grade/choice.h"

#include <algorithm>
#include <cctype>
#include <vector>

#include "datasets/grade/clean_text.h"

namespace espalier {
namespace {

// Without the marks of upright and bold letters and their braces.
std::string Unmarked(std::string_view text) {
  std::string plain = CleanMath(text);
  for (const std::string_view mark :
       {"\\textbf", "\\text", "\\mathrm", "\\mathbf", "\\rm"}) {
    size_t at = 0;
    while ((at = plain.find(mark, at)) != std::string::npos) {
      plain.erase(at, mark.size());
    }
  }
  std::replace(plain.begin(), plain.end(), '{', ' ');
  std::replace(plain.begin(), plain.end(), '}', ' ');
  return plain;
}

// The runs of letters; none where other signs than commas and brackets stand
// between them.
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

// What the text behind a letter says that is no choice but a sentence, a
// product or one of several.
bool GoesOn(std::string_view rest) {
  // "(A) and (C)" is two.
  if (rest.starts_with("and ") || rest.starts_with("or ") ||
      rest.starts_with("&") || rest.starts_with(",")) {
    return true;
  }
  // "(a)(b)" is a product.
  return !rest.empty() &&
         std::string_view("(^+-=/").find(rest[0]) != std::string_view::npos;
}

}  // namespace

char ReadChoice(std::string_view text, std::string* content) {
  // Erasing marks walks over the text many times; choices are short.
  if (text.size() > 4000) return 0;
  const std::string plain = Unmarked(text);
  std::string_view rest = TrimBlanks(plain);
  for (const std::string_view word :
       {"option ", "choice ", "Option ", "Choice "}) {
    if (!rest.starts_with(word)) continue;
    rest = TrimBlanks(rest.substr(word.size()));
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
  // "Option B is wrong" is a sentence.
  if (!rest.empty() && !closed) return 0;
  if (GoesOn(rest)) return 0;
  *content = std::string(rest);
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
  std::sort(out.begin(), out.end());
  return out.size() >= 2 ? out : std::string();
}

char LetterAlone(std::string_view text) {
  if (text.size() > 40 || text.find_first_of(":.)") == text.npos) return 0;
  std::string plain;
  for (const char c : text) {
    if (std::string_view(" *:.()_").find(c) == std::string_view::npos) {
      plain += c;
    }
  }
  std::string_view rest = plain;
  for (const std::string_view word : {"option", "choice", "Option", "Choice"}) {
    if (rest.starts_with(word)) rest.remove_prefix(word.size());
  }
  return rest.size() == 1 && rest[0] >= 'A' && rest[0] <= 'J' ? rest[0] : '\0';
}

}  // namespace espalier
