#include "datasets/answers/words/phrases.h"

#include <algorithm>
#include <deque>
#include <iterator>
#include <string>

#include "base/check.h"
#include "datasets/answers/words/characters.h"
#include "datasets/answers/words/phrases_source.h"

namespace espalier {
namespace {

// In the order of Reading.
constexpr std::string_view kReadingNames[] = {"means",
                                              "states",
                                              "bounds",
                                              "boundBehind",
                                              "compared",
                                              "copula",
                                              "auxiliary",
                                              "modifies",
                                              "relates",
                                              "labels",
                                              "function",
                                              "relation",
                                              "sign",
                                              "nearly",
                                              "shape",
                                              "answer",
                                              "isInChinese",
                                              "leadsOn",
                                              "says",
                                              "verb",
                                              "reason",
                                              "explains",
                                              "concludes",
                                              "therefore",
                                              "clause",
                                              "verdict",
                                              "denies",
                                              "harmless",
                                              "supposes",
                                              "doubts",
                                              "maybe",
                                              "wrong",
                                              "whenOrWhy",
                                              "beside",
                                              "subordinate",
                                              "abbreviation",
                                              "checks",
                                              "deniesBehind",
                                              "judges",
                                              "choice",
                                              "choiceTaken",
                                              "choiceDenied",
                                              "month",
                                              "goesOn",
                                              "vague",
                                              "gives",
                                              "receiver",
                                              "restates",
                                              "describes",
                                              "notThis",
                                              "takenBack",
                                              "retracts",
                                              "wrongKind",
                                              "endsClause",
                                              "affirms",
                                              "earlier",
                                              "givesUp",
                                              "corrects",
                                              "disowns",
                                              "rejects",
                                              "alters",
                                              "notMost",
                                              "otherTime",
                                              "turns",
                                              "answerKind",
                                              "governs",
                                              "answerOf",
                                              "equates",
                                              "fills",
                                              "attributes",
                                              "speaker",
                                              "source",
                                              "misleads",
                                              "otherTry",
                                              "imagines",
                                              "computes",
                                              "unreal",
                                              "narrows",
                                              "changes",
                                              "onlyIf",
                                              "rates",
                                              "groups",
                                              "tailDoubts",
                                              "unclaims",
                                              "obtains",
                                              "reopens",
                                              "harmlessTail",
                                              "closed",
                                              "unclaimsNext",
                                              "refers",
                                              "worksOn",
                                              "turnsBack",
                                              "numeral",
                                              "tens",
                                              "scale",
                                              "part",
                                              "place",
                                              "ordinal",
                                              "negative",
                                              "intervalWords",
                                              "reals",
                                              "thatAre",
                                              "allExcept",
                                              "ground",
                                              "gives_an_answer",
                                              "which_gives",
                                              "because",
                                              "yesNo",
                                              "remainder",
                                              "hours",
                                              "minutes",
                                              "unit",
                                              "direction",
                                              "measured",
                                              "filler",
                                              "power",
                                              "powerBehind",
                                              "notUnit",
                                              "unitGoesOn",
                                              "squareCubic",
                                              "ofCounted",
                                              "twoUnits",
                                              "chance",
                                              "atValue",
                                              "morning",
                                              "afternoon",
                                              "halfOfDay",
                                              "saysTime",
                                              "base",
                                              "noProduct",
                                              "command",
                                              "is",
                                              "radian",
                                              "every",
                                              "integers",
                                              "numbers",
                                              "where",
                                              "percent",
                                              "given",
                                              "conjunction",
                                              "joint",
                                              "option",
                                              "wouldBe",
                                              "guess",
                                              "outcome",
                                              "usual",
                                              "article",
                                              "statement",
                                              "pointsBack",
                                              "protests",
                                              "theAnswer",
                                              "mustBe",
                                              "false",
                                              "cutOff",
                                              "toConclude",
                                              "insteadOf",
                                              "andMore",
                                              "ourFinal",
                                              "chanceThat",
                                              "orMaybe",
                                              "question",
                                              "any",
                                              "excludes",
                                              "orElse",
                                              "namely",
                                              "so",
                                              "cleft",
                                              "relative",
                                              "most",
                                              "when",
                                              "onAt",
                                              "trueFalse",
                                              "subject",
                                              "does",
                                              "notNone",
                                              "ofThe",
                                              "unknown",
                                              "hadWere",
                                              "concludesBehind",
                                              "outOf",
                                              "rootOf",
                                              "relationBehind",
                                              "isIn",
                                              "namedTime",
                                              "pastHour",
                                              "oClock",
                                              "figure",
                                              "thing",
                                              "only",
                                              "untrue",
                                              "noComparative",
                                              "about",
                                              "exact",

                                              "whereItHolds",
                                              "day",
                                              "wins",
                                              "belowZero",
                                              "formulaWord",
                                              "anotherOne",
                                              "inAll",
                                              "itWould",
                                              "opensWithAnswer",
                                              "refuses",
                                              "onlyGiven",
                                              "baseName",
                                              "totalLabel",
                                              "spoils",
                                              "otherScale",
                                              "otherNumeral",
                                              "everyOne",
                                              "others",
                                              "except",
                                              "relatesTo",
                                              "nameOf",
                                              "owner",
                                              "nameKind",
                                              "opposite",
                                              "leadsToNumber",
                                              "partsFromNumber",
                                              "itIs",
                                              "roundedTo",
                                              "begins",
                                              "ownPast",
                                              "ownLabel",
                                              "ownTime",
                                              "ownSeconds",
                                              "ownMore",
                                              "operation",
                                              "namesOther",
                                              "saysMore",
                                              "several",
                                              "role",
                                              "age",
                                              "asksFor",
                                              "saysAgain",
                                              "resultLabel",
                                              "announces",
                                              "pronoun",
                                              "country",
                                              "title",
                                              "plural",
                                              "inYear",
                                              "mark",
                                              "unitPrefix",
                                              "sameNoun",
                                              "remains",
                                              "ownSure",
                                              "ownSelf",
                                              "ownTook",
                                              "asThought",
                                              "aside",
                                              "aheadOf",
                                              "leavesChoice",
                                              "notYet",
                                              "madeBy",
                                              "firstMade",
                                              "lies",
                                              "liesIn",
                                              "behindName",
                                              "isTheAnswer",
                                              "kindBehind",
                                              "kindInFront",
                                              "alsoNames",
                                              "symbolOf",
                                              "judged",
                                              "either",
                                              "comesNext",
                                              "sourceLead",
                                              "rephrases",
                                              "partLabel",
                                              "madeOf",
                                              "choiceAsOther",
                                              "sameName",
                                              "honorific",
                                              "namesakes",
                                              "coin",
                                              "andAHalf",
                                              "oneWord",
                                              "endsIncluded",
                                              "endsExcluded",
                                              "leadsToPair",
                                              "formulaLabel",
                                              "hasFormula",
                                              "courtesy",
                                              "courtesyBehind",
                                              "standsFor",
                                              "listLabel",
                                              "molarUnit",
                                              "verdictMeant",
                                              "judgedAs",
                                              "truth",
                                              "leadsToChoice",
                                              "concludesChoice",
                                              "onTop",
                                              "wasFirst",
                                              "knownAs",
                                              "hasShape",
                                              "arrives",
                                              "didIt",
                                              "alsoOrder",
                                              "ageLimit",
                                              "onlyOn",
                                              "notThisChoice",
                                              "rechecks",
                                              "toInfinity",
                                              "inTheEnd",
                                              "lesserOne",
                                              "afterName",
                                              "partOfGame",
                                              "compoundEnd",
                                              "symbolLead",
                                              "hasTheMost",
                                              "alsoRight",
                                              "isUntrue",
                                              "leavesName",
                                              "gaveWay",
                                              "quickAnswer",
                                              "leadsToValue",
                                              "pointsAtName",
                                              "alsoCalled",
                                              "revises",
                                              "noClaim",
                                              "leadsToName"};

struct Table {
  std::deque<std::string> patterns;  // storage for the phrases' patterns
  std::vector<Phrase> phrases;
  std::vector<std::vector<Phrase>> by_reading;
};

Reading ReadingOf(std::string_view name) {
  const auto at =
      std::find(std::begin(kReadingNames), std::end(kReadingNames), name);
  ESP_CHECK(at != std::end(kReadingNames));
  return static_cast<Reading>(at - std::begin(kReadingNames));
}

// Of a row: "a phrase" and its meaning.
void AddRow(std::string_view row, Reading reading, Table& table) {
  const size_t end = row.find('"', 1);
  ESP_CHECK(row[0] == '"' && end != std::string_view::npos);
  std::string& pattern = table.patterns.emplace_back();
  for (size_t i = 1; i < end; ++i) {
    const bool line_end = row.substr(i, 2) == "\\n";
    pattern += line_end ? '\n' : row[i];
    i += line_end ? 1 : 0;
  }
  const std::string_view meaning =
      end + 1 < row.size() ? row.substr(end + 2) : std::string_view();
  const Phrase phrase{pattern, reading, meaning};
  table.phrases.push_back(phrase);
  table.by_reading[static_cast<size_t>(reading)].push_back(phrase);
}

Table* ReadTable(std::string_view text) {
  auto* table = new Table;
  table->by_reading.resize(std::size(kReadingNames));
  Reading reading{};
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (line.empty() || line[0] == '#') continue;
    if (line[0] == '[') {
      reading = ReadingOf(line.substr(1, line.size() - 2));
    } else {
      AddRow(line, reading, *table);
    }
  }
  return table;
}

const Table& TheTable() {
  static const Table* const kTable = ReadTable(PhrasesSource());
  return *kTable;
}

const std::vector<Phrase>& PhrasesOf(Reading reading) {
  return TheTable().by_reading[static_cast<size_t>(reading)];
}

template <typename Matches>
size_t Longest(Reading reading, Matches matches) {
  size_t longest = 0;
  for (const Phrase& phrase : PhrasesOf(reading)) {
    if (phrase.pattern.size() > longest && matches(phrase.pattern)) {
      longest = phrase.pattern.size();
    }
  }
  return longest;
}

}  // namespace

std::string_view ReadAs(std::string_view folded) {
  for (const Phrase& phrase : PhrasesOf(Reading::kMeans)) {
    if (phrase.pattern == folded) return phrase.meaning;
  }
  return {};
}

size_t EndsIn(std::string_view text, Reading reading) {
  return Longest(reading, [text](std::string_view pattern) {
    return text.ends_with(pattern) &&
           (text.size() == pattern.size() ||
            !Letter(text[text.size() - pattern.size() - 1]));
  });
}

size_t BeginsIn(std::string_view text, Reading reading) {
  return Longest(reading, [text](std::string_view pattern) {
    return text.starts_with(pattern) &&
           (text.size() == pattern.size() || !Letter(text[pattern.size()]));
  });
}

std::span<const Phrase> Rows(Reading reading) { return PhrasesOf(reading); }

size_t StartsWith(std::string_view text, Reading reading) {
  for (const Phrase& phrase : PhrasesOf(reading)) {
    if (text.starts_with(phrase.pattern)) return phrase.pattern.size();
  }
  return 0;
}

size_t EndsWith(std::string_view text, Reading reading) {
  for (const Phrase& phrase : PhrasesOf(reading)) {
    if (text.ends_with(phrase.pattern)) return phrase.pattern.size();
  }
  return 0;
}

bool Holds(std::string_view text, Reading reading) {
  const std::vector<Phrase>& phrases = PhrasesOf(reading);
  return std::any_of(phrases.begin(), phrases.end(), [&](const Phrase& phrase) {
    return text.find(phrase.pattern) != std::string_view::npos;
  });
}

std::optional<int64_t> NumberMeant(std::string_view text, Reading reading) {
  for (const Phrase& phrase : PhrasesOf(reading)) {
    if (phrase.pattern == text) return std::stoll(std::string(phrase.meaning));
  }
  return std::nullopt;
}

std::span<const Phrase> AllPhrases() { return TheTable().phrases; }

const std::vector<std::string_view>& Phrases(Reading reading) {
  using Lists = std::vector<std::vector<std::string_view>>;
  static const Lists* const kLists = [] {
    auto* lists = new Lists(std::size(kReadingNames));
    for (const Phrase& phrase : TheTable().phrases) {
      (*lists)[static_cast<size_t>(phrase.reading)].push_back(phrase.pattern);
    }
    return lists;
  }();
  return (*kLists)[static_cast<size_t>(reading)];
}

bool IsPhrase(std::string_view text, Reading reading) {
  const std::vector<Phrase>& phrases = PhrasesOf(reading);
  return std::any_of(phrases.begin(), phrases.end(), [&](const Phrase& phrase) {
    return phrase.pattern == text;
  });
}

}  // namespace espalier
