#include "datasets/answers/find/last_statement.h"

#include <algorithm>
#include <string>

#include "datasets/answers/find/outright.h"
#include "datasets/answers/words/bare_words.h"
#include "datasets/answers/words/characters.h"
#include "datasets/answers/words/clean_text.h"
#include "datasets/answers/words/names_said.h"
#include "datasets/answers/words/phrases.h"
#include "datasets/answers/words/stance.h"

namespace espalier {

// Without marks that end a statement, also check marks and emoji.
std::string_view WithoutLastMarks(std::string_view text) {
  text = TrimBlanks(text);
  while (!text.empty()) {
    if (std::string_view(".!*`").find(text.back()) != kNowhere) {
      text = TrimBlanks(text.substr(0, text.size() - 1));
      continue;
    }
    if (static_cast<unsigned char>(text.back()) < 0x80) break;
    size_t start = text.size() - 1;
    while (start > 0 && (text[start] & 0xc0) == 0x80) --start;
    const std::string_view sign = text.substr(start);
    if (!sign.starts_with("\xf0\x9f") && !sign.starts_with("\xe2\x9c") &&
        sign != "\uFE0F") {
      break;
    }
    text = TrimBlanks(text.substr(0, start));
  }
  return text;
}

// Without bullets, emphasis and arrows in front.
std::string_view WithoutFirstMarks(std::string_view text) {
  bool stripped = true;
  while (stripped) {
    text = TrimBlanks(text);
    stripped = false;
    for (const std::string_view mark :
         {"- ", "* ", "**", "\u2022 ", "\u27f9", "\u21d2", "\u2192", "\u2234",
          "=> ", "-> ", "==> ", "\u27a1", "\uFE0F", "\u2705", "\u2714"}) {
      if (!text.starts_with(mark)) continue;
      text.remove_prefix(mark.size());
      stripped = true;
    }
  }
  return text;
}

// Without "so" and a label in front.
LabelledPart WithoutLeadWords(std::string_view sentence) {
  LabelledPart out{WithoutFirstMarks(sentence), {}};
  const size_t word =
      BeginsIn(PlainLower(out.said.substr(0, 20)), Reading::kTherefore);
  if (word > 0) {
    out.said.remove_prefix(word);
    out.said.remove_prefix(
        std::min(out.said.find_first_not_of(" ,:"), out.said.size()));
  }
  out.said = WithoutFirstMarks(out.said);
  size_t colon = out.said.find(": ");
  if (colon == kNowhere) colon = out.said.find(":** ");
  const std::string_view label = out.said.substr(0, colon);
  const bool words =
      colon != kNowhere && std::all_of(label.begin(), label.end(), [](char c) {
        return Letter(c) || c == ' ' || c == '-' || c == '\'' || c == '*';
      });
  if (words) {
    out.label = label;
    while (out.label.ends_with("*")) out.label.remove_suffix(1);
    out.said = WithoutFirstMarks(out.said.substr(colon + 1));
  }
  return out;
}

// The last sentence of a text, without the marks at its end.
std::string_view LastStatementOf(std::string_view text) {
  text = TrimBlanks(text);
  const std::string_view whole = WithoutLastMarks(text);
  return TrimBlanks(
      whole.substr(std::min(LastSentenceStart(whole), whole.size())));
}

// Whether nothing in a sentence turns what it says, and the whole text claims
// the part `said` of it.
bool Claims(std::string_view text, std::string_view sentence,
            std::string_view said) {
  const std::string lower = PlainLower(text);
  return sentence.size() <= kLongestLast && !said.empty() &&
         SaysPlainly(sentence) && lower.find("boxed") == std::string::npos &&
         lower.find("answer") == std::string::npos &&
         DoubtAbout(text, said).empty();
}

}  // namespace espalier
