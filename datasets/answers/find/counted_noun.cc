#include "datasets/answers/find/counted_noun.h"

#include <algorithm>
#include <vector>

#include "datasets/answers/find/unit_beside.h"
#include "datasets/answers/value/units.h"
#include "datasets/answers/words/bare_words.h"
#include "datasets/answers/words/characters.h"
#include "datasets/answers/words/clean_text.h"
#include "datasets/answers/words/phrases.h"
#include "datasets/answers/words/stance.h"

namespace espalier {
namespace {

constexpr size_t kMostNounWords = 4;

// Of these, no word is a noun that is counted.
constexpr Reading kEnds[] = {Reading::kFunction,  Reading::kAuxiliary,
                             Reading::kStates,    Reading::kPartsFromNumber,
                             Reading::kMeasured,  Reading::kScale,
                             Reading::kRelatesTo, Reading::kDirection};

// "box" of "boxes", "city" of "cities".
std::string Singular(std::string word) {
  const auto ends = [&word](std::string_view with) {
    return word.size() > with.size() + 1 && word.ends_with(with);
  };
  if (ends("ies")) {
    word.resize(word.size() - 3);
    return word + "y";
  }
  for (const std::string_view hiss : {"ches", "shes", "xes", "sses"}) {
    if (ends(hiss)) {
      word.resize(word.size() - 2);
      return word;
    }
  }
  if (ends("s") && !ends("ss")) word.pop_back();
  return word;
}

// "people" of "person".
std::string SameNoun(std::string word) {
  for (const Phrase& same : Rows(Reading::kSameNoun)) {
    if (word == same.pattern) return std::string(same.meaning);
  }
  return word;
}

bool IsPlural(const std::string& word) {
  return IsPhrase(word, Reading::kPlural) ||
         (word.size() > 3 && word.ends_with("s") && !word.ends_with("ss") &&
          !word.ends_with("us") && !word.ends_with("is"));
}

// A word that ends the nouns behind a number.
bool EndsNouns(const std::string& word) {
  if (!Letter(word[0]) || word == "ones") return true;
  return std::any_of(
      std::begin(kEnds), std::end(kEnds),
      [&word](Reading reading) { return IsPhrase(word, reading); });
}

// The words directly behind a number: "red apples" of "12 red apples are left".
std::vector<std::string> NounsBehind(std::string_view behind) {
  constexpr size_t kFar = 80;
  std::vector<std::string> words = BareWords(behind.substr(0, kFar));
  size_t count = 0;
  while (count < words.size() && count < kMostNounWords &&
         !EndsNouns(words[count])) {
    ++count;
  }
  words.resize(count);
  return words;
}

// "5 boxes of eggs" for "5 eggs"; a piece is one of them.
bool CountsGroups(std::string_view behind,
                  const std::vector<std::string>& nouns,
                  const std::string& counted) {
  if (nouns.back().starts_with("piece") || !IsPlural(nouns.back())) {
    return false;
  }
  constexpr size_t kFar = 80;
  const std::vector<std::string> words = BareWords(behind.substr(0, kFar));
  size_t next = nouns.size();
  if (next >= words.size() || words[next] != "of") return false;
  ++next;
  return next < words.size() &&
         SameNoun(Singular(words[next])) == SameNoun(Singular(counted));
}

}  // namespace

std::string OtherNoun(std::string_view gold, std::string_view answer,
                      std::string_view number) {
  gold = TrimBlanks(gold);
  if (number.empty() || !gold.starts_with(number)) return {};
  const std::string_view words = gold.substr(number.size());
  if (!std::all_of(words.begin(), words.end(),
                   [](char c) { return (c >= 'a' && c <= 'z') || c == ' '; })) {
    return {};
  }
  const std::vector<std::string> counted = NounsBehind(words);
  constexpr size_t kShortest = 3;
  if (counted.empty() || counted.back().size() < kShortest ||
      ReadUnit(" " + counted.back()).known) {
    return {};
  }
  const size_t at = PlaceOfNumber(answer, number);
  if (at == kNowhere) return {};
  const std::string_view behind = answer.substr(at + number.size());
  if (TrimBlanks(behind).starts_with("\\times")) return {};
  const std::vector<std::string> nouns = NounsBehind(behind);
  const auto plural = std::find_if(nouns.rbegin(), nouns.rend(), IsPlural);
  if (plural == nouns.rend()) return {};
  if (CountsGroups(behind, nouns, counted.back())) return nouns.back();
  for (const std::string& said : BareWords(answer)) {
    for (const std::string& word : counted) {
      if (SameNoun(Singular(said)) == SameNoun(Singular(word))) return {};
    }
  }
  return *plural;
}

bool OnlyLeft(std::string_view behind) {
  std::string lower = PlainLower(TrimBlanks(behind));
  while (lower.ends_with(".") || lower.ends_with("!")) lower.pop_back();
  const size_t left = EndsIn(lower, Reading::kRemains);
  if (left == 0) return false;
  std::string_view nouns =
      TrimBlanks(std::string_view(lower).substr(0, lower.size() - left));
  constexpr int kMostNouns = 2;
  int count = 0;
  while (!nouns.empty()) {
    const std::string_view word = nouns.substr(0, nouns.find(' '));
    nouns = TrimBlanks(nouns.substr(word.size()));
    if (++count > kMostNouns || word.size() < 3 ||
        !std::all_of(word.begin(), word.end(), Letter) ||
        IsPhrase(word, Reading::kClosed) || IsPhrase(word, Reading::kChanges) ||
        IsPhrase(word, Reading::kRates) ||
        IsPhrase(word, Reading::kAuxiliary) ||
        IsPhrase(word, Reading::kScale) ||
        IsPhrase(word, Reading::kOtherScale) ||
        IsPhrase(word, Reading::kFunction) ||
        IsPhrase(word, Reading::kDenies)) {
      return false;
    }
  }
  return true;
}

}  // namespace espalier
