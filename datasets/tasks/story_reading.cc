#include "datasets/tasks/story_reading.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/text.h"
#include "datasets/tasks/plain_words.h"
#include "datasets/tasks/sentences.h"
#include "datasets/tasks/story_forms.h"
#include "datasets/tasks/story_phrases.h"
#include "datasets/tasks/story_pronouns.h"
#include "datasets/tasks/story_sentences.h"

namespace espalier {
namespace {

// The largest quantity and the most changes of the stories that models are
// trained on (stories.cc).
constexpr int64_t kMaxQuantity = 199;
constexpr int kMaxChanges = 16;
constexpr size_t kMaxQuestionBytes = 20000;
constexpr size_t kMaxThingWords = 3;

template <size_t kSize>
bool IsOneOf(const std::string& word, const std::string_view (&words)[kSize]) {
  return std::find(std::begin(words), std::end(words), word) != std::end(words);
}

// Words that are not a person, thing or place.
constexpr std::string_view kGrammar[] = {
    "a",       "an",    "the",     "and",        "or",       "but",     "if",
    "then",    "than",  "as",      "of",         "for",      "to",      "with",
    "without", "not",   "no",      "never",      "none",     "each",    "every",
    "per",     "half",  "both",    "all",        "more",     "less",    "fewer",
    "most",    "least", "many",    "much",       "several",  "some",    "any",
    "only",    "other", "another", "rest",       "it",       "its",     "he",
    "she",     "they",  "them",    "his",        "her",      "their",   "him",
    "i",       "you",   "we",      "my",         "your",     "our",     "is",
    "are",     "was",   "were",    "be",         "been",     "do",      "does",
    "did",     "has",   "have",    "had",        "how",      "what",    "which",
    "who",     "when",  "where",   "why",        "that",     "this",    "these",
    "those",   "there", "in",      "on",         "at",       "by",      "from",
    "into",    "out",   "up",      "now",        "left",     "because", "so",
    "until",   "while", "unless",  "except",     "after",    "before",  "times",
    "twice",   "equal", "total",   "altogether", "together", "also",    "next",
    "'s",      "'",     "'d",      "'ve",        "'ll",      "please",  "find",
    "suppose"};

// A story counts things, not amounts of money, time or measure.
constexpr std::string_view kUnits[] = {
    "dollar",  "cent",      "euro",      "pound",   "penny",  "pennie",
    "pence",   "yen",       "rupee",     "buck",    "peso",   "franc",
    "yuan",    "dime",      "nickel",    "quarter", "second", "minute",
    "hour",    "day",       "week",      "month",   "year",   "metre",
    "meter",   "kilometre", "kilometer", "km",      "cm",     "mm",
    "m",       "mile",      "inch",      "inche",   "foot",   "feet",
    "yard",    "gram",      "kilogram",  "kg",      "kilo",   "ton",
    "tonne",   "ounce",     "litre",     "liter",   "ml",     "gallon",
    "cup",     "pint",      "degree",    "percent", "point",  "page",
    "calorie", "watt",      "volt",      "time",    "dozen",  "pair",
    "hundred", "thousand",  "million"};

// Its singular, by a simple rule: both "box" and "boxes" become "box".
std::string Singular(std::string word) {
  if (word.ends_with("ies") && word.size() > 4) {
    return word.substr(0, word.size() - 3) + "y";
  }
  for (const std::string_view end : {"xes", "ches", "shes", "sses"}) {
    if (word.ends_with(end)) return word.substr(0, word.size() - 2);
  }
  if (word.ends_with("s") && !word.ends_with("ss")) word.pop_back();
  return word;
}

struct Sentence {
  std::string text;
  PlainWords words;
  bool asked = false;  // it ends with a question mark
};

struct Clause {
  StoryForm form = StoryForm::kLead;
  size_t begin = 0, end = 0;  // words of the sentence
};

// Whose and what: set by the opening, the same in all sentences.
struct Quantity {
  std::vector<std::string> hero;  // words in lower case, like all here
  std::vector<std::string> thing;
};

struct Forms {
  struct One {
    StoryForm form;
    WordPattern pattern;
  };
  std::vector<One> all, openings_first;
  Forms() {
    for (const StoryFormPattern& one : kStoryForms) {
      all.push_back({one.form, WordPattern(one.pattern, kStoryWords)});
    }
    openings_first = all;
    std::stable_partition(
        openings_first.begin(), openings_first.end(),
        [](const One& one) { return one.form == StoryForm::kOpening; });
  }
};

const Forms& AllForms() {
  static const Forms& forms = *new Forms;
  return forms;
}

bool IsSubjectPronoun(const std::string& word) {
  return word == "she" || word == "he" || word == "they";
}

// Reads the slots of one sentence.
class SlotReading {
 public:
  SlotReading(const PlainWords& words, const Quantity& quantity)
      : words_(words), quantity_(quantity) {}

  // The clause begins at word `begin`; behind another it may omit its subject.
  WordPlaces Read(char slot, size_t at, size_t begin) const {
    switch (slot) {
      case 'S':
        return Hero(at) | (MayElide(begin, at) ? WordPlaces{1} << at : 0);
      case 'F':
        return Other(at);
      case 'G':
        return Other(at) & ~Hero(at);
      case 'v':
        return Place(
            Meaningless(at) && !IsOneOf(words_.texts[at], kStoryMeaningWords)
                ? 1
                : 0,
            at);
      case 'l':
        return Place(at < size() && IsManner(at) ? 1 : 0, at);
      case 'o':
        return Thing(at);
      case 'x':
        return Place(at < size() && words_.numbers[at] ? 1 : 0, at);
      case 'w':
        return Place(at < size() && Meaningless(at) ? 1 : 0, at);
    }
    return 0;
  }

  bool Plain(size_t at) const {
    return at < size() && !words_.numbers[at] &&
           !IsOneOf(words_.texts[at], kGrammar) &&
           !IsOneOf(words_.texts[at], kStoryUnreal) &&
           !words_.texts[at].ends_with("n't");
  }

 private:
  size_t size() const { return words_.texts.size(); }

  static WordPlaces Place(size_t words, size_t at) {
    return words == 0 ? 0 : WordPlaces{1} << (at + words);
  }

  bool StandsAt(const std::vector<std::string>& words, size_t at) const {
    if (words.empty() || at + words.size() > size()) return false;
    return std::equal(words.begin(), words.end(),
                      words_.texts.begin() + static_cast<std::ptrdiff_t>(at));
  }

  // Not behind another subject: "and Tom sells 3" is not about the hero.
  bool MayElide(size_t begin, size_t at) const {
    if (begin == 0) return false;
    for (size_t i = begin; i < at; ++i) {
      const std::string& word = words_.texts[i];
      if (!words_.names[i].empty() || word == "her" || word == "his" ||
          word == "their" || IsSubjectPronoun(word)) {
        return false;
      }
    }
    return true;
  }

  WordPlaces Hero(size_t at) const {
    WordPlaces ends = 0;
    if (at < size() && IsSubjectPronoun(words_.texts[at])) ends |= Place(1, at);
    if (StandsAt(quantity_.hero, at) && !words_.names[at].empty()) {
      ends |= Place(quantity_.hero.size(), at);
    }
    return ends;
  }

  // A name, possibly the hero's: "Ann is 9 years old."
  WordPlaces Other(size_t at) const {
    WordPlaces ends = 0;
    for (size_t n = 1; n <= 2 && at + n <= size(); ++n) {
      if (!Plain(at + n - 1) || words_.names[at + n - 1].empty()) break;
      ends |= Place(n, at);
    }
    return ends;
  }

  bool Same(const std::string& word, const std::string& noun) const {
    return Singular(word) == Singular(noun);
  }

  // The thing, or only its noun.
  WordPlaces Thing(size_t at) const {
    const std::vector<std::string>& thing = quantity_.thing;
    WordPlaces ends = 0;
    for (size_t skip = 0; skip < thing.size(); ++skip) {
      const size_t n = thing.size() - skip;
      if (at + n > size()) continue;
      bool same = true;
      for (size_t i = 0; i < n; ++i) {
        const std::string& word = words_.texts[at + i];
        const std::string& want = thing[skip + i];
        same = same && (i + 1 == n ? Same(word, want) : word == want);
      }
      if (same) ends |= Place(n, at);
    }
    return ends;
  }

  // "gleefully". Not a word that makes the amount vague or repeats it.
  bool IsManner(size_t at) const {
    static constexpr std::string_view kAmounts[] = {
        "nearly",  "roughly",  "approximately", "mostly",     "partly",
        "barely",  "hourly",   "daily",         "weekly",     "monthly",
        "yearly",  "annually", "only",          "hardly",     "possibly",
        "usually", "probably", "supposedly",    "repeatedly", "regularly",
        "nightly"};
    const std::string& word = words_.texts[at];
    return Plain(at) && word.ends_with("ly") && !IsOneOf(word, kAmounts);
  }

  bool Meaningless(size_t at) const {
    return Plain(at) && words_.names[at].empty() && Thing(at) == 0;
  }

  const PlainWords& words_;
  const Quantity& quantity_;
};

class SentenceReading {
 public:
  // `opening`: "Ann has collected 60 shells" is what she has, not an event.
  SentenceReading(const Sentence& sentence, const Quantity& quantity,
                  bool opening)
      : sentence_(sentence),
        slots_(sentence.words, quantity),
        forms_(opening ? AllForms().openings_first : AllForms().all) {}

  // The clauses of the whole sentence, from word `begin` on; nothing if some
  // words match no form.
  std::optional<std::vector<Clause>> Clauses(size_t begin = 0) {
    const size_t size = sentence_.words.texts.size();
    for (const Forms::One& one : forms_) {
      WordPlaces ends = one.pattern.Ends(
          sentence_.words.texts, WordPlaces{1} << begin,
          [&](char slot, size_t at) { return slots_.Read(slot, at, begin); });
      for (; ends != 0; ends &= ends - 1) {
        const auto end = static_cast<size_t>(std::countr_zero(ends));
        if (end == begin) continue;
        std::vector<Clause> clauses = {{one.form, begin, end}};
        if (end == size) return clauses;
        for (const size_t next : NextClauses(end)) {
          if (dead_.contains(next)) continue;
          const auto rest = Clauses(next);
          if (!rest) {
            dead_.insert(next);
            continue;
          }
          clauses.insert(clauses.end(), rest->begin(), rest->end());
          return clauses;
        }
      }
    }
    return std::nullopt;
  }

 private:
  // Where the clause after one that ends at `end` can begin.
  std::vector<size_t> NextClauses(size_t end) const {
    const PlainWords& words = sentence_.words;
    std::vector<size_t> next;
    if (words.after_comma[end]) next.push_back(end);
    static constexpr std::string_view kJoins[] = {"and", "but", "then"};
    for (size_t at = end; at + 1 < words.texts.size(); ++at) {
      if (!IsOneOf(words.texts[at], kJoins)) break;
      next.push_back(at + 1);
    }
    return next;
  }

  const Sentence& sentence_;
  const SlotReading slots_;
  const std::vector<Forms::One>& forms_;
  std::set<size_t> dead_;  // positions from which no clauses were found
};

std::vector<Sentence> SentencesOf(std::string_view question) {
  std::vector<Sentence> sentences;
  for (std::string& text : SplitSentences(question)) {
    Sentence sentence{.text = std::move(text)};
    sentence.words = CutWords(sentence.text);
    sentence.asked = sentence.text.find('?') != std::string::npos;
    if (!sentence.words.texts.empty()) sentences.push_back(std::move(sentence));
  }
  return sentences;
}

// Words that stand before or behind the name of whoever has, gives or is given
// something: "does rosa", "to rosa", "rosa has".
constexpr std::string_view kBeforeNames[] = {"to",   "from", "named", "called",
                                             "does", "did",  "has",   "have"};
constexpr std::string_view kBehindNames[] = {
    "has",       "had",       "have",   "owns",  "owned",
    "possesses", "possessed", "holds",  "held",  "start",
    "starts",    "started",   "begins", "began", "counts",
    "carries",   "collected", "'s",     "'"};
// "gives rosa 3".
constexpr std::string_view kGiving[] = {
    "gives", "gave", "hands", "handed", "passes", "passed",
    "sells", "sold", "sends", "sent",   "brings", "brought"};
constexpr std::string_view kTitles[] = {"mr", "mrs", "ms", "dr"};
constexpr std::string_view kNoNames[] = {
    "himself", "herself", "themselves", "away", "off", "over", "along"};

bool IsNamePlace(const Sentence& sentence, size_t i) {
  static constexpr std::string_view kDeterminers[] = {
      "a", "an", "the", "his", "her", "their", "my", "our", "this"};
  const PlainWords& words = sentence.words;
  if (words.numbers[i] || IsOneOf(words.texts[i], kGrammar) ||
      IsOneOf(words.texts[i], kStoryMeaningWords) ||
      IsOneOf(words.texts[i], kNoNames)) {
    return false;
  }
  const std::string before = i > 0 ? words.texts[i - 1] : "";
  const bool last = i + 1 == words.texts.size();
  static constexpr std::string_view kKin[] = {
      "friend", "brother", "sister", "cousin", "neighbour", "neighbor"};
  if (IsOneOf(before, kKin) && (last || words.numbers[i + 1])) return true;
  return IsOneOf(before, kBeforeNames) || (before == "for" && sentence.asked) ||
         (!last && IsOneOf(words.texts[i + 1], kBehindNames) &&
          !IsOneOf(before, kDeterminers)) ||
         (!last && words.numbers[i + 1] && IsOneOf(before, kGiving));
}

// Marks the names of a text without capitals: the first word of each sentence,
// as capitals do, the generator's names, and words that stand somewhere in the
// text where a name does.
void MarkNames(std::vector<Sentence>& sentences) {
  std::set<std::string> names;
  for (const StoryPerson& person : kStoryPeople) {
    names.insert(absl::AsciiStrToLower(AbslView(person.name)));
  }
  for (const Sentence& sentence : sentences) {
    for (size_t i = 0; i < sentence.words.texts.size(); ++i) {
      const bool title = i > 0 && IsOneOf(sentence.words.texts[i - 1], kTitles);
      if (title || IsNamePlace(sentence, i)) {
        names.insert(sentence.words.texts[i]);
      }
    }
  }
  for (Sentence& sentence : sentences) {
    PlainWords& words = sentence.words;
    for (size_t i = 0; i < words.texts.size(); ++i) {
      const bool name = i == 0 || names.contains(words.texts[i]);
      words.names[i] = name && !words.numbers[i] ? words.texts[i] : "";
    }
  }
}

// Whether names can be told by their capitals: not in a text all of capitals or
// without any.
bool CapitalsNameNames(std::string_view text) {
  return std::any_of(text.begin(), text.end(), absl::ascii_isupper) &&
         std::any_of(text.begin(), text.end(), absl::ascii_islower);
}

// "She makes two equal piles. She keeps one." as one sentence.
Sentence Joined(const Sentence& first, const Sentence& second) {
  Sentence both{.text = absl::StrCat(first.text, " ", second.text)};
  both.words = first.words;
  const auto append = [](auto& to, const auto& from) {
    to.insert(to.end(), from.begin(), from.end());
  };
  append(both.words.texts, second.words.texts);
  append(both.words.names, second.words.names);
  append(both.words.after_comma, second.words.after_comma);
  append(both.words.numbers, second.words.numbers);
  return both;
}

bool Divides(const std::optional<std::vector<Clause>>& clauses) {
  return clauses && std::any_of(clauses->begin(), clauses->end(),
                                [](const Clause& clause) {
                                  return clause.form == StoryForm::kDivide;
                                });
}

bool IsUnit(const std::vector<std::string>& thing) {
  return IsOneOf(Singular(thing.front()), kUnits) ||
         IsOneOf(Singular(thing.back()), kUnits);
}

// The hero and things under which `sentence` is an opening.
std::optional<Quantity> ReadOpening(const Sentence& sentence) {
  const PlainWords& words = sentence.words;
  const Quantity none;
  const SlotReading slots(words, none);
  const auto opens = [&](const Quantity& quantity) {
    const auto clauses =
        SentenceReading(sentence, quantity, /*opening=*/true).Clauses();
    return clauses && std::any_of(clauses->begin(), clauses->end(),
                                  [](const Clause& clause) {
                                    return clause.form == StoryForm::kOpening;
                                  });
  };
  const size_t size = words.texts.size();
  for (size_t x = 0; x < size; ++x) {
    if (!words.numbers[x]) continue;
    // One name first: "Initially Ann" is not a name.
    for (size_t n = 1; n <= 2; ++n) {
      for (size_t h = 0; h + n <= size; ++h) {
        Quantity quantity;
        for (size_t i = h; i < h + n; ++i) {
          if (!slots.Plain(i) || words.names[i].empty()) break;
          quantity.hero.push_back(words.texts[i]);
        }
        if (quantity.hero.size() < n) continue;
        for (size_t t = x + 1; t < size && t <= x + kMaxThingWords; ++t) {
          if (!slots.Plain(t)) break;
          quantity.thing.push_back(words.texts[t]);
          if (opens(quantity)) return quantity;
        }
        // "Ann counts her shells and finds that she has 60."
        for (size_t t = h + n; t < x && quantity.thing.empty(); ++t) {
          if (words.texts[t] != "her" && words.texts[t] != "his") continue;
          if (!slots.Plain(t + 1)) break;
          quantity.thing = {words.texts[t + 1]};
          if (opens(quantity)) return quantity;
        }
      }
    }
    // Its first number is the quantity, but for "Try this one: ..."
    if (words.texts[x] != "one") break;
  }
  return std::nullopt;
}

absl::Status Foreign(std::string_view why) {
  return absl::NotFoundError(AbslView(why));
}

std::string Quoted(const std::string& text) {
  constexpr size_t kShown = 80;
  return text.size() <= kShown
             ? absl::StrCat("\"", text, "\"")
             : absl::StrCat("\"", text.substr(0, kShown), "...\"");
}

// The number that a clause changes the quantity by.
int64_t Amount(const PlainWords& words, const Clause& clause) {
  int64_t amount = 0;
  for (size_t i = clause.begin; i < clause.end; ++i) {
    const std::string& word = words.texts[i];
    if (words.numbers[i]) amount = std::max(amount, *words.numbers[i]);
    if (word == "twice" || word == "halves" || word.starts_with("double")) {
      amount = std::max<int64_t>(amount, 2);
    }
    if (word == "thrice" || word.starts_with("triple")) {
      amount = std::max<int64_t>(amount, 3);
    }
    if (word.starts_with("quadruple")) amount = std::max<int64_t>(amount, 4);
  }
  return amount;
}

// Whether the parts that a clause makes are equal.
bool SaysEqual(const PlainWords& words, const Clause& clause) {
  static constexpr std::string_view kEqual[] = {
      "identical", "fair", "fairly", "same", "halves", "thirds", "by"};
  return std::any_of(
      words.texts.begin() + static_cast<std::ptrdiff_t>(clause.begin),
      words.texts.begin() + static_cast<std::ptrdiff_t>(clause.end),
      [](const std::string& word) {
        return word.starts_with("equal") || word.starts_with("even") ||
               IsOneOf(word, kEqual);
      });
}

absl::Status NoSuchSentence(const Sentence& sentence) {
  return Foreign(absl::StrCat(
      sentence.asked ? "a story ends by asking how many of the things "
                       "there are now, as \"How many shells does Ann have "
                       "now?\", not "
                     : "no sentence of a story is like ",
      Quoted(sentence.text)));
}

// Whether a clause names one person to whom things go, or from whom they come.
struct Others {
  bool to = false, from = false;
};

Others OthersOf(const PlainWords& words, const Clause& clause) {
  static constexpr std::string_view kWhose[] = {"his", "her", "their", "a"};
  Others others;
  for (size_t i = clause.begin; i < clause.end; ++i) {
    const bool kin = i + 1 < clause.end && IsOneOf(words.texts[i], kWhose) &&
                     IsOneOf(words.texts[i + 1], kStoryMeaningWords) &&
                     !words.texts[i + 1].ends_with("s");
    const bool name = !words.names[i].empty();
    const std::string before = i > clause.begin ? words.texts[i - 1] : "";
    if (name || kin) {
      others.from = others.from || before == "from";
      // "Mia 35": a name right before the number receives the things.
      const size_t behind = i + (kin ? 2 : 1);
      others.to = others.to || before == "to" ||
                  (behind < clause.end && words.numbers[behind]);
    }
  }
  return others;
}

// Tracks the quantity clause by clause.
class Telling {
 public:
  absl::Status Tell(const Sentence& sentence, const Clause& clause) {
    const int64_t amount = Amount(sentence.words, clause);
    StoryForm form = clause.form;
    if (form == StoryForm::kLead) return absl::OkStatus();
    if (form == StoryForm::kAgain) {
      if (!MayRepeat(sentence.words, clause)) return NoSuchSentence(sentence);
      form = before_;
    }
    before_ = form;
    others_ = OthersOf(sentence.words, clause);
    switch (form) {
      case StoryForm::kLead:
      case StoryForm::kOther:
        return absl::OkStatus();
      case StoryForm::kOpening:
        if (opened_) return Foreign("a story is about one quantity");
        if (changes_ > 0) return Foreign("a story opens with its quantity");
        opened_ = true;
        value_ = amount;
        content_.first = amount;
        break;
      case StoryForm::kQuestion:
        asked_ = true;
        return absl::OkStatus();
      case StoryForm::kAgain:  // replaced above
        return NoSuchSentence(sentence);
      case StoryForm::kAdd:
        value_ += amount;
        content_.changes.push_back({StoryEvent::kAdd, amount});
        break;
      case StoryForm::kSubtract:
        value_ -= amount;
        content_.changes.push_back({StoryEvent::kSubtract, amount});
        break;
      case StoryForm::kMultiply:
        value_ *= amount;
        content_.changes.push_back({StoryEvent::kMultiply, amount});
        break;
      case StoryForm::kDivide:
        if (!SaysEqual(sentence.words, clause)) {
          return Foreign(absl::StrCat("the piles of stories are equal, not as ",
                                      "in ", Quoted(sentence.text)));
        }
        if (amount == 0 || value_ % amount != 0) {
          return Foreign(absl::StrCat("the piles of stories are equal, and ",
                                      value_, " things make no ", amount,
                                      " equal ones"));
        }
        value_ /= amount;
        content_.changes.push_back({StoryEvent::kDivide, amount});
        break;
    }
    if (!opened_ || asked_) {
      return Foreign(
          "a story opens with its quantity and ends with the question");
    }
    changes_ += form != StoryForm::kOpening ? 1 : 0;
    if (changes_ > kMaxChanges) {
      return Foreign(absl::StrCat("stories have at most ", kMaxChanges,
                                  " changes of their quantity"));
    }
    if (value_ >= 1 && value_ <= kMaxQuantity) return absl::OkStatus();
    return Foreign(absl::StrCat("the quantities of stories are from 1 to ",
                                kMaxQuantity, ", and ", Quoted(sentence.text),
                                " makes it ", value_));
  }

  absl::StatusOr<StoryContent> End() {
    if (changes_ == 0) return Foreign("nothing in it changes the quantity");
    if (!asked_)
      return Foreign("a story ends by asking how many there are now");
    content_.last = value_;
    return std::move(content_);
  }

 private:
  // Whether the clause can have the verb of the one before: things go to
  // somebody, and come from somebody.
  bool MayRepeat(const PlainWords& words, const Clause& clause) const {
    if (clause.begin == 0) return false;
    const Others now = OthersOf(words, clause);
    const bool fits = before_ == StoryForm::kSubtract ? !now.from
                      : before_ == StoryForm::kAdd    ? !now.to
                                                      : false;
    // In "gives 18 away, 12 to Tom and 6 to Ben" the 18 are told again, not in
    // "gives 18 to Tom and 6 to Ben".
    const bool listed =
        words.numbers[clause.begin] || !words.names[clause.begin].empty();
    const bool further = !listed || (words.texts[clause.begin + 1] == "more");
    return fits &&
           (further || (now.to && others_.to) || (now.from && others_.from));
  }

  StoryContent content_;
  // Of the clause before:
  StoryForm before_ = StoryForm::kLead;
  Others others_;
  int64_t value_ = 0;
  int changes_ = 0;
  bool opened_ = false;
  bool asked_ = false;
};

// Refuses pronouns that may refer to somebody other than the hero.
absl::Status CheckPronouns(const std::vector<Sentence>& sentences,
                           const Quantity& quantity) {
  std::vector<PlainWords> words;
  for (const Sentence& sentence : sentences) words.push_back(sentence.words);
  const auto unclear = FindUnclearPronoun(words, quantity.hero);
  if (!unclear) return absl::OkStatus();
  return Foreign(absl::StrCat(
      "a story has one person's things, and \"", unclear->word, "\" in ",
      Quoted(sentences[unclear->sentence].text), " may be another"));
}

std::optional<std::vector<Clause>> ClausesOf(
    const Sentence& sentence, const std::optional<Quantity>& quantity,
    bool opening) {
  const Quantity none;
  return SentenceReading(sentence, quantity ? *quantity : none, opening)
      .Clauses();
}

// Replaces a sentence and the next one by both in one, if that `reads`.
template <typename Reads>
void JoinWithNext(std::vector<Sentence>& sentences, size_t at,
                  const Reads& reads) {
  if (at + 1 >= sentences.size()) return;
  Sentence both = Joined(sentences[at], sentences[at + 1]);
  if (both.words.texts.size() > kMaxPatternWords || !reads(both)) return;
  sentences[at] = std::move(both);
  sentences.erase(sentences.begin() + static_cast<std::ptrdiff_t>(at) + 1);
}

absl::StatusOr<StoryContent> ReadAsWritten(std::string_view question) {
  if (question.size() > kMaxQuestionBytes) {
    return Foreign("it is longer than any story");
  }
  std::vector<Sentence> sentences = SentencesOf(question);
  if (!CapitalsNameNames(question)) MarkNames(sentences);
  std::optional<Quantity> quantity;
  Telling telling;
  for (size_t i = 0; i < sentences.size(); ++i) {
    Sentence& sentence = sentences[i];
    if (sentence.words.texts.size() > kMaxPatternWords) {
      return Foreign("a sentence is longer than those of stories");
    }
    const bool opens = !quantity;
    if (opens) quantity = ReadOpening(sentence);
    auto clauses = ClausesOf(sentence, quantity, opens);
    if (!clauses && opens) {
      JoinWithNext(sentences, i, [&](const Sentence& both) {
        quantity = ReadOpening(both);
        if (quantity) clauses = ClausesOf(both, quantity, opens);
        return quantity.has_value();
      });
    } else if (!clauses) {
      JoinWithNext(sentences, i, [&](const Sentence& both) {
        auto joined = ClausesOf(both, quantity, opens);
        const bool divides = Divides(joined);
        if (divides) clauses = std::move(joined);
        return divides;
      });
    }
    if (opens && !quantity && !clauses) {
      return Foreign(
          absl::StrCat("a story begins with what somebody has, as \"Ann has 23 "
                       "shells.\", not with ",
                       Quoted(sentence.text)));
    }
    if (opens && quantity && IsUnit(quantity->thing)) {
      return Foreign(absl::StrCat("\"", absl::StrJoin(quantity->thing, " "),
                                  "\" may be a unit (of measure, money or "
                                  "time), which the stories do not use"));
    }
    if (!clauses) return NoSuchSentence(sentence);
    const auto asks = std::count_if(
        clauses->begin(), clauses->end(), [](const Clause& clause) {
          return clause.form == StoryForm::kQuestion;
        });
    const auto polite = std::count_if(
        clauses->begin(), clauses->end(),
        [](const Clause& clause) { return clause.form == StoryForm::kLead; });
    if (asks > 0 && asks + polite < std::ssize(*clauses)) {
      return Foreign("a story asks one thing, in a sentence of its own");
    }
    for (const Clause& clause : *clauses) {
      const absl::Status status = telling.Tell(sentence, clause);
      if (!status.ok()) return status;
    }
  }
  absl::StatusOr<StoryContent> content = telling.End();
  if (!content.ok()) return content;
  const absl::Status pronouns = CheckPronouns(sentences, *quantity);
  if (!pronouns.ok()) return pronouns;
  content->hero = quantity->hero.front();
  content->thing = quantity->thing.back();
  content->she = StoryPronounOf(content->hero) == 's';
  for (const Sentence& sentence : sentences) {
    for (const std::string& word : sentence.words.texts) {
      content->she = content->she || word == "she";
    }
  }
  return content;
}

// "Ann has 3 figs. she finds 2 more. ..."
bool BeginsASentenceInLowerCase(std::string_view question) {
  const std::vector<std::string> sentences = SplitSentences(question);
  return std::any_of(sentences.begin(), sentences.end(),
                     [](const std::string& sentence) {
                       return absl::ascii_islower(sentence[0]);
                     });
}

}  // namespace

absl::StatusOr<StoryContent> ReadStoryContent(std::string_view question) {
  absl::StatusOr<StoryContent> content = ReadAsWritten(question);
  if (content.ok() || !CapitalsNameNames(question) ||
      question.size() > kMaxQuestionBytes ||
      !BeginsASentenceInLowerCase(question)) {
    return content;
  }
  absl::StatusOr<StoryContent> lower =
      ReadAsWritten(absl::AsciiStrToLower(AbslView(question)));
  return lower.ok() ? lower : content;
}

absl::StatusOr<int64_t> ReadStory(std::string_view question) {
  absl::StatusOr<StoryContent> content = ReadStoryContent(question);
  if (!content.ok()) return content.status();
  return content->last;
}

}  // namespace espalier
