#include "datasets/generators/known_questions.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "datasets/generators/story_sentences.h"
#include "datasets/tasks/countdown_rules.h"
#include "datasets/tasks/sentences.h"
#include "src/base/text.h"

namespace espalier {
namespace {

// Chosen on paraphrases of generated stories (other names, objects, verbs and
// forms of the question) against GSM8K's training questions.
constexpr double kKnownOpening = 0.33;
constexpr double kKnownChange = 0.4;
constexpr double kKnownQuestion = 0.6;
constexpr double kKnownStory = 0.58;  // the mean of all sentences

constexpr size_t kMaxQuestionBytes = 20000;
constexpr size_t kMaxTokens = 40;  // of a sentence that are compared

bool IsLetter(char c) {
  return absl::ascii_isalpha(c) || (static_cast<unsigned char>(c) & 0x80) != 0;
}

// Words, numbers with their points and commas, and single other characters.
std::vector<std::string> Words(std::string_view text) {
  std::vector<std::string> words;
  size_t i = 0;
  while (i < text.size()) {
    const size_t begin = i++;
    if (absl::ascii_isspace(text[begin])) continue;
    if (IsLetter(text[begin])) {
      while (i < text.size() && (IsLetter(text[i]) || text[i] == '\'')) ++i;
    } else if (absl::ascii_isdigit(text[begin])) {
      while (i < text.size() &&
             (absl::ascii_isdigit(text[i]) ||
              ((text[i] == '.' || text[i] == ',') && i + 1 < text.size() &&
               absl::ascii_isdigit(text[i + 1])))) {
        ++i;
      }
    }
    words.emplace_back(text.substr(begin, i - begin));
  }
  return words;
}

bool IsNumber(const std::string& word) { return absl::ascii_isdigit(word[0]); }

bool IsNumberWord(const std::string& lower) {
  return std::find(std::begin(kStoryNumberWords), std::end(kStoryNumberWords),
                   lower) != std::end(kStoryNumberWords);
}

// What it costs to read `word` where a sentence of stories has `slot`: a word
// of its own or, as in story_sentences.h, $N, $F, $S, $s, $o, $x or $w.
double Cost(const std::string& slot, const std::string& word) {
  const std::string lower = absl::AsciiStrToLower(word);
  if (slot[0] != '$') return absl::AsciiStrToLower(slot) == lower ? 0 : 1;
  const bool capital = absl::ascii_isupper(word[0]) || (word[0] & 0x80) != 0;
  switch (slot[1]) {
    case 'N':
    case 'F':
      return capital ? 0 : IsLetter(word[0]) ? 0.6 : 1;
    case 'S':
    case 's':
      return capital || lower == "she" || lower == "he" || lower == "they" ? 0
                                                                           : 1;
    case 'o':
      return IsLetter(word[0]) && lower.back() == 's' ? 0 : 1;
    default:  // 'x', 'w'
      return IsNumber(word) || IsNumberWord(lower) ? 0 : 1;
  }
}

// 1 for a sentence that could have been written from `slots`, less by the
// share of words to be changed, left out or put in.
double Likeness(const std::vector<std::string>& slots,
                const std::vector<std::string>& words) {
  std::vector<double> row(words.size() + 1);
  for (size_t j = 0; j < row.size(); ++j) row[j] = static_cast<double>(j);
  for (const std::string& slot : slots) {
    double corner = row[0]++;
    for (size_t j = 1; j < row.size(); ++j) {
      const double changed = corner + Cost(slot, words[j - 1]);
      corner = row[j];
      row[j] = std::min({changed, row[j] + 1, row[j - 1] + 1});
    }
  }
  const size_t longer = std::max(slots.size(), words.size());
  return 1 - row.back() / static_cast<double>(longer);
}

using Sentences = std::vector<std::vector<std::string>>;

// The slots of sentences; "$k" is "twice" or "$w times".
Sentences SlotsOf(
    std::initializer_list<std::span<const std::string_view>> all) {
  Sentences sentences;
  const auto add = [&](const std::string& text) {
    std::vector<std::string> slots;
    for (const std::string& word : Words(text)) {
      if (!slots.empty() && slots.back() == "$") {
        slots.back() += word;
      } else {
        slots.push_back(word);
      }
    }
    sentences.push_back(std::move(slots));
  };
  for (const auto& texts : all) {
    for (const std::string_view text : texts) {
      if (text.find("$k") == text.npos) {
        add(std::string(text));
        continue;
      }
      add(absl::StrReplaceAll(AbslView(text), {{"$k", "twice"}}));
      add(absl::StrReplaceAll(AbslView(text), {{"$k", "$w times"}}));
    }
  }
  return sentences;
}

struct StoryForms {
  Sentences openings = SlotsOf({kStoryOpenings});
  Sentences changes =
      SlotsOf({kStoryAdds, kStorySubtracts, kStoryMultiplies, kStoryDivides});
  Sentences others = SlotsOf({kStoryDistractors});
  Sentences questions = SlotsOf({kStoryQuestions});
};

double Best(const Sentences& forms, const std::vector<std::string>& words) {
  double best = 0;
  for (const auto& form : forms) best = std::max(best, Likeness(form, words));
  return best;
}

// The sentences of a question, and the parts of those that tell one thing
// "and then" another.
std::vector<std::vector<std::string>> SentenceWords(std::string_view question) {
  std::vector<std::vector<std::string>> all;
  for (const std::string& sentence : SplitSentences(question)) {
    const std::string cut =
        absl::StrReplaceAll(sentence, {{", and then ", ".\n"},
                                       {" and then ", ".\n"},
                                       {", then ", ".\n"},
                                       {"; ", ".\n"}});
    for (const std::string& part :
         std::vector<std::string>(absl::StrSplit(cut, '\n'))) {
      std::vector<std::string> words = Words(part);
      if (words.size() > kMaxTokens) words.resize(kMaxTokens);
      if (!words.empty()) all.push_back(std::move(words));
    }
  }
  return all;
}

// Signs of a sum, a price or a comparison: no story of one quantity has them.
bool IsForeignWord(const std::string& word) {
  static constexpr std::string_view kForeign[] = {
      "%",        "$",       "/",    "=",     "^",      "+",    "*",
      "than",     "total",   "each", "per",   "half",   "both", "altogether",
      "together", "average", "cost", "costs", "percent"};
  return std::find(std::begin(kForeign), std::end(kForeign),
                   absl::AsciiStrToLower(word)) != std::end(kForeign);
}

bool AsksHowMany(const std::vector<std::string>& words) {
  const std::string text = absl::AsciiStrToLower(absl::StrJoin(words, " "));
  return text.find("how many") != text.npos ||
         text.find("number of") != text.npos ||
         text.find("left") != text.npos || text.find("remain") != text.npos;
}

// True if what is counted at the end ("how many NOUN", "number of NOUN") was
// named before.
bool AsksForWhatWasTold(const Sentences& sentences) {
  static constexpr std::string_view kNoNoun[] = {
      "are", "is",   "does", "do",   "did",  "remain", "left",
      "of",  "will", "has",  "have", "in",   "items",  "things",
      "she", "he",   "they", "them", "these"};
  const auto& asked = sentences.back();
  for (size_t i = 1; i + 1 < asked.size(); ++i) {
    const std::string before = absl::AsciiStrToLower(asked[i - 1]);
    const std::string word = absl::AsciiStrToLower(asked[i]);
    if (!(before == "how" && word == "many") &&
        !(before == "number" && word == "of")) {
      continue;
    }
    const std::string noun = absl::AsciiStrToLower(asked[i + 1]);
    if (std::find(std::begin(kNoNoun), std::end(kNoNoun), noun) !=
        std::end(kNoNoun)) {
      return true;
    }
    for (size_t k = 0; k + 1 < sentences.size(); ++k) {
      for (const std::string& told : sentences[k]) {
        if (absl::AsciiStrToLower(told) == noun) return true;
      }
    }
    return false;
  }
  return true;
}

absl::Status CheckStory(std::string_view question) {
  if (question.size() > kMaxQuestionBytes) {
    return absl::NotFoundError("it is longer than any story");
  }
  const auto sentences = SentenceWords(question);
  for (const auto& words : sentences) {
    for (const std::string& word : words) {
      if (IsForeignWord(word)) {
        return absl::NotFoundError(
            absl::StrCat("stories have no \"", word, "\""));
      }
      if (IsNumber(word) &&
          (word.size() > 3 || word.find_first_of(".,") != word.npos)) {
        return absl::NotFoundError(absl::StrCat(
            "the numbers of stories are whole and below 1000, not ", word));
      }
    }
  }
  static const StoryForms& forms = *new StoryForms;
  if (sentences.size() < 3 ||
      Best(forms.openings, sentences.front()) < kKnownOpening) {
    return absl::NotFoundError(
        "a story begins with a quantity, as \"Ann has 23 shells.\", then "
        "changes it sentence by sentence");
  }
  if ((Best(forms.questions, sentences.back()) < kKnownQuestion &&
       !AsksHowMany(sentences.back())) ||
      !AsksForWhatWasTold(sentences)) {
    return absl::NotFoundError("a story ends by asking how many there are now");
  }
  double sum = 0, change = 0;
  for (const auto& words : sentences) {
    const double changes = Best(forms.changes, words);
    change = std::max(change, changes);
    sum += std::max({Best(forms.openings, words), changes,
                     Best(forms.others, words), Best(forms.questions, words)});
  }
  for (size_t i = 1; i + 1 < sentences.size(); ++i) {
    const std::string& subject = sentences[i].front();
    const std::string lower = absl::AsciiStrToLower(subject);
    const auto& first = sentences.front();
    if (lower != "he" && lower != "she" && lower != "they" &&
        Best(forms.openings, sentences[i]) == 1 &&
        std::find(first.begin(), first.end(), subject) == first.end()) {
      return absl::NotFoundError("a story is about one quantity, not several");
    }
  }
  if (change < kKnownChange ||
      sum / static_cast<double>(sentences.size()) < kKnownStory) {
    return absl::NotFoundError(
        "its sentences are too far from those of stories, as \"She finds 48 "
        "more.\", \"He gives 17 to Tom.\"");
  }
  return absl::OkStatus();
}

absl::Status CheckCountdown(std::string_view question) {
  static constexpr std::string_view kWords[] = {
      "use",    "using",  "numbers",  "number",  "the",    "and",     "to",
      "make",   "reach",  "get",      "obtain",  "form",   "from",    "with",
      "target", "once",   "exactly",  "combine", "all",    "of",      "these",
      "take",   "by",     "given",    "a",       "find",   "produce", "way",
      "that",   "equals", "arrive",   "at",      "hit",    "can",     "you",
      "each",   "only",   "build",    "into",    "them",   "create",  "is",
      "as",     "out",    "in",       "total",   "result", "end",     "up",
      "for",    "so",     "value",    "come",    "yield",  "give",    "your",
      "how",    "be",     "combined", "used",    "it"};
  const auto puzzle = ParseCountdown(question);
  if (!puzzle.ok()) return absl::NotFoundError(puzzle.status().message());
  int known = 0, words = 0;
  for (const std::string& word : Words(question.substr(0, kMaxQuestionBytes))) {
    if (!IsLetter(word[0])) continue;
    ++words;
    known += std::find(std::begin(kWords), std::end(kWords),
                       absl::AsciiStrToLower(word)) != std::end(kWords);
  }
  const bool operation = question.find_first_of("+*/=^$%") != question.npos;
  if (operation || 4 * known < 3 * words) {
    return absl::NotFoundError(
        "a countdown puzzle names its numbers, then the target, as \"Use 3, 7 "
        "and 25 to reach 46.\"");
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckKnownQuestion(std::string_view task,
                                std::string_view question) {
  if (task == "stories") return CheckStory(question);
  if (task == "countdown") return CheckCountdown(question);
  return absl::OkStatus();
}

}  // namespace espalier
