// The marked answers of extract_answer.h, and texts without delimiters.
#include <algorithm>
#include <vector>

#include "datasets/answers/find/answer_spans.h"
#include "datasets/answers/find/extract_answer.h"
#include "datasets/answers/words/characters.h"
#include "datasets/answers/words/clean_text.h"
#include "datasets/answers/words/thoughts.h"

namespace espalier {
namespace {

// Precedes an answer in GSM8K.
constexpr std::string_view kAnswerMark = "####";

}  // namespace

std::optional<std::string> BoxedAnswer(std::string_view text) {
  std::vector<Span> boxes = Boxes(text);
  std::erase_if(boxes, [](const Span& box) { return box.open; });
  if (boxes.empty()) return std::nullopt;
  return LastGroup(text, boxes, JoinsBoxes);
}

std::optional<std::string> MarkedAnswer(std::string_view text) {
  text = WithoutThoughts(text);
  if (auto boxed = BoxedAnswer(text)) return boxed;
  const size_t mark = text.rfind(kAnswerMark);
  if (mark == kNowhere) return std::nullopt;
  std::string_view rest = TrimBlanks(text.substr(mark + kAnswerMark.size()));
  return std::string(TrimBlanks(rest.substr(0, rest.find('\n'))));
}

std::string StripDelimiters(std::string_view text) {
  std::string unbold;
  for (int i = 0; i < 8; ++i) {
    const size_t before = text.size();
    text = TrimBlanks(text);
    const auto strip = [&text](std::string_view open, std::string_view close) {
      if (text.size() >= open.size() + close.size() + 1 &&
          text.starts_with(open) && text.ends_with(close)) {
        text =
            text.substr(open.size(), text.size() - open.size() - close.size());
      }
    };
    if (text.ends_with(".") && !text.ends_with("..")) text.remove_suffix(1);
    while (text.ends_with(",") || text.ends_with(";") || text.ends_with(":")) {
      text.remove_suffix(1);
    }
    for (const std::string_view arrow :
         {"\\Rightarrow", "\\implies", "\\therefore", "\\Longrightarrow",
          "\\rightarrow", "\u21d2", "\u2234", "\u2192", "=>", "->"}) {
      if (text.starts_with(arrow) && text.size() > arrow.size()) {
        text.remove_prefix(arrow.size());
      }
    }
    strip("$$", "$$");
    if (std::count(text.begin(), text.end(), '$') == 2) strip("$", "$");
    strip("\\[", "\\]");
    strip("\\(", "\\)");
    strip("**", "**");
    strip("__", "__");
    // A heading.
    while (text.starts_with("# ") || text.starts_with("##")) {
      text.remove_prefix(1);
    }
    while (text.ends_with("**") && !text.starts_with("**")) {
      text.remove_suffix(2);
    }
    // "**27** cubes"
    if (const size_t bold = text.find("**", 3);
        text.starts_with("**") && bold != kNowhere && bold + 2 < text.size() &&
        Blank(text[bold + 2]) && text.find("**", bold + 2) == kNowhere) {
      unbold = std::string(text.substr(2, bold - 2)) +
               std::string(text.substr(bold + 2));
      text = unbold;
    }
    if (std::count(text.begin(), text.end(), '*') == 2) strip("*", "*");
    strip("`", "`");
    if (std::count(text.begin(), text.end(), '\'') == 2) strip("'", "'");
    strip("\\\"", "\\\"");
    strip("\"", "\"");
    if (text.size() == before) break;
  }
  std::string out(text);
  // "$12$ and $13$" inside a box: formulas in text.
  const auto dollars = std::count(out.begin(), out.end(), '$') - [&out] {
    size_t n = 0;
    for (size_t i = 1; i < out.size(); ++i) {
      n += out[i] == '$' && out[i - 1] == '\\';
    }
    return static_cast<std::ptrdiff_t>(n);
  }();
  if (dollars >= 2) {
    std::string plain;
    for (size_t i = 0; i < out.size(); ++i) {
      if (out[i] != '$' || (i > 0 && out[i - 1] == '\\')) plain += out[i];
    }
    out = std::move(plain);
  } else if (dollars == 1 && out.find('$') != 0 &&
             (out.find('\\') != kNowhere || out.back() != '$')) {
    // A formula that lacks its opening or closing delimiter.
    out.erase(out.find('$'), 1);
  }
  return out;
}

}  // namespace espalier
