#include "datasets/answers/find/related.h"

#include <algorithm>
#include <span>
#include <vector>

#include "datasets/answers/words/bare_words.h"
#include "datasets/answers/words/characters.h"
#include "datasets/answers/words/clean_text.h"
#include "datasets/answers/words/phrases.h"
#include "datasets/answers/words/stance.h"
#include "datasets/answers/words/thoughts.h"

namespace espalier {
namespace {

using WordSpan = std::span<const std::string>;

constexpr size_t kLongestGold = 60;
// How many sentences, from the last one, are searched for gold.
constexpr int kMostSentences = 4;

// "(B)." as "b", "x = 2" as it is.
WordSpan WithoutBrackets(WordSpan words) {
  while (!words.empty() && words.back() == ".") {
    words = words.first(words.size() - 1);
  }
  if (words.size() == 3 && words[0] == "(" && words[2] == ")") {
    words = words.subspan(1, 1);
  }
  return words;
}

// Without what may stand between a phrase and a name: "but | option (B)",
// "except | x = 2".
WordSpan BeforeName(WordSpan front) {
  while (!front.empty()) {
    const std::string& last = front.back();
    const bool equals = last == "=" && front.size() > 1 &&
                        front[front.size() - 2].size() == 1 &&
                        Letter(front[front.size() - 2][0]);
    if (equals) {
      front = front.first(front.size() - 2);
    } else if (last == "(" || IsPhrase(last, Reading::kArticle) ||
               IsPhrase(last, Reading::kOption) ||
               IsPhrase(last, Reading::kKindInFront) ||
               IsPhrase(last, Reading::kNameKind)) {
      front = front.first(front.size() - 1);
    } else {
      break;
    }
  }
  return front;
}

// Whether gold is words alone, of which others may make a name: "red", but not
// "x", "\\pi" or "12 days".
bool IsName(std::string_view gold, WordSpan words) {
  const bool letters =
      std::all_of(words.begin(), words.end(),
                  [](const std::string& word) { return HasLetters(word); });
  std::string_view rest = gold;
  if (rest.starts_with("\\text")) rest.remove_prefix(5);
  return letters && words[0].size() > 1 && rest.find('\\') == kNowhere;
}

// "every option | but", "all of the values | except": a phrase behind words for
// all of several; not "all the others fail, | but".
bool SetsApart(std::string_view front, std::string_view phrase) {
  constexpr size_t kFar = 80;
  front = TrimBlanks(front.substr(front.size() - std::min(front.size(), kFar)));
  if (phrase == "but" && front.ends_with(",")) return false;
  return Mentions(front, Reading::kEveryOne) &&
         !Mentions(front, Reading::kOthers);
}

// "the oldest brother | of": a noun with an article, but for "the city of",
// behind which its name follows.
bool OfAnother(WordSpan front) {
  constexpr size_t kFar = 3;
  if (front.empty() || !HasLetters(front.back()) ||
      IsPhrase(front.back(), Reading::kNameOf)) {
    return false;
  }
  if (front.size() == 1) return true;
  const WordSpan before = front.first(front.size() - 1);
  const WordSpan near = before.last(std::min(before.size(), kFar - 1));
  return std::any_of(near.begin(), near.end(), [](const std::string& word) {
    return IsPhrase(word, Reading::kArticle) || IsPhrase(word, Reading::kOwner);
  });
}

// "the square of the function | is": what a sentence is about, if that is made
// of the thing that is meant. "The sum of two odd numbers is" is about a kind.
std::string MadeOfSubject(WordSpan front) {
  if (front.size() < 4 || !IsPhrase(front.back(), Reading::kIs)) return {};
  const WordSpan subject = front.first(front.size() - 1);
  const auto of = std::find(subject.begin(), subject.end(), "of");
  if (of == subject.end() || of + 1 == subject.end()) return {};
  const WordSpan thing(of + 1, subject.end());
  const std::string made = JoinWords(WordSpan(subject.begin(), of));
  const size_t noun = EndsIn(made, Reading::kMadeOf);
  const bool meant =
      thing.size() <= 2 &&
      (thing[0] == "the" || thing[0] == "this" || thing[0] == "it" ||
       (thing.size() == 1 && thing[0].size() == 1) ||
       IsPhrase(thing[0], Reading::kOwner));
  return noun > 0 && meant ? made.substr(made.size() - noun) + " of"
                           : std::string();
}

// The phrase at the end of `front` that relates the name behind it to something
// else.
std::string RelatedBy(WordSpan front, bool name) {
  front = BeforeName(front);
  const std::string words = JoinWords(front);
  if (const size_t but = EndsIn(words, Reading::kExcept); but > 0) {
    const size_t start = words.size() - but;
    std::string phrase = words.substr(start);
    if (SetsApart(std::string_view(words).substr(0, start), phrase)) {
      return phrase;
    }
  }
  if (!name) return {};
  if (const size_t relation = EndsIn(words, Reading::kRelatesTo)) {
    return words.substr(words.size() - relation);
  }
  if (std::string made = MadeOfSubject(front); !made.empty()) return made;
  const bool of = !front.empty() && front.back() == "of" &&
                  OfAnother(front.first(front.size() - 1));
  return of ? front[front.size() - 2] + " of" : std::string();
}

}  // namespace

std::string OnlyRelated(std::string_view gold, std::string_view answer) {
  if (gold.size() > kLongestGold) return {};
  const std::vector<std::string> words = BareWords(gold);
  const WordSpan whole = WithoutBrackets(words);
  if (whole.empty()) return {};
  const bool is_name = IsName(gold, whole);
  // "x = 2" is mentioned as "2" as well.
  const bool named = whole.size() > 2 && whole[1] == "=";
  const WordSpan value = named ? whole.subspan(2) : whole;
  std::string_view text = TrimBlanks(WithoutChecks(WithoutThoughts(answer)));
  for (int i = 0; i < kMostSentences && !text.empty(); ++i) {
    const size_t start = LastSentenceStart(text);
    const std::vector<std::string> said = BareWords(text.substr(start));
    text = TrimBlanks(text.substr(0, start));
    std::string last;
    for (auto at = said.begin();; ++at) {
      at = std::search(at, said.end(), value.begin(), value.end());
      if (at == said.end()) break;
      last = RelatedBy(WordSpan(said.begin(), at), is_name);
      if (last.empty()) return {};
    }
    if (!last.empty()) return last;
  }
  return {};
}

std::string_view ConclusionAbout(std::string_view gold,
                                 std::string_view answer) {
  constexpr size_t kLongest = 300;
  if (answer.size() > kLongest) return {};
  const size_t comma = answer.rfind(", ");
  if (comma == kNowhere) return {};
  const std::string_view behind = answer.substr(comma + 2);
  const size_t word = BeginsIn(Lower(behind), Reading::kTherefore);
  if (word == 0 || OnlyRelated(gold, answer.substr(0, comma)).empty()) {
    return {};
  }
  return TrimBlanks(behind.substr(word));
}

std::string_view WithoutApposition(std::string_view answer) {
  constexpr size_t kLongest = 300;
  constexpr size_t kMostWords = 10;
  answer = TrimBlanks(answer);
  const size_t comma = answer.rfind(", ");
  if (answer.size() > kLongest || comma == kNowhere || comma == 0) return {};
  std::vector<std::string> words = BareWords(answer.substr(comma + 2));
  while (!words.empty() && words.back() == ".") words.pop_back();
  WordSpan rest = words;
  // "which is the brother of Ann"
  if (rest.size() > 2 && IsPhrase(" " + rest[0] + " ", Reading::kRelative) &&
      IsPhrase(rest[1], Reading::kCopula)) {
    rest = rest.subspan(2);
  }
  const bool plain =
      std::all_of(rest.begin(), rest.end(), [](const std::string& word) {
        return HasLetters(word) && !IsPhrase(word, Reading::kCopula);
      });
  if (!plain || rest.size() > kMostWords) return {};
  if (rest.size() > 1 && (IsPhrase(rest[0], Reading::kArticle) ||
                          IsPhrase(rest[0], Reading::kOwner))) {
    rest = rest.subspan(1);
  }
  // The relation stands behind one or two words, in front of a name.
  for (const size_t at : {1, 2}) {
    if (at + 1 < rest.size() &&
        (rest[at] == "of" || IsPhrase(rest[at], Reading::kRelatesTo))) {
      return answer.substr(0, comma);
    }
  }
  return {};
}

}  // namespace espalier
