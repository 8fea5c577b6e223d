#include "datasets/tasks/known_questions.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "datasets/tasks/countdown_rules.h"
#include "datasets/tasks/plain_words.h"
#include "datasets/tasks/story_reading.h"
#include "datasets/tasks/story_words.h"

namespace espalier {
namespace {

constexpr size_t kMaxPuzzleBytes = 1000;

// Words that puzzles are phrased in. Any other word may change the question:
// "or", "largest", "without", "ways".
constexpr std::string_view kPuzzleWords[] = {
    "use",          "using",      "numbers",     "number",     "the",
    "and",          "to",         "make",        "makes",      "making",
    "reach",        "reaches",    "reaching",    "get",        "getting",
    "obtain",       "form",       "forms",       "from",       "with",
    "target",       "once",       "exactly",     "precisely",  "combine",
    "all",          "of",         "these",       "those",      "take",
    "taking",       "by",         "given",       "a",          "an",
    "find",         "on",         "produce",     "way",        "that",
    "which",        "equals",     "equal",       "arrive",     "at",
    "hit",          "can",        "could",       "would",      "will",
    "you",          "each",       "every",       "only",       "just",
    "build",        "into",       "them",        "create",     "is",
    "are",          "as",         "out",         "in",         "total",
    "result",       "end",        "up",          "for",        "so",
    "value",        "come",       "yield",       "yields",     "give",
    "gives",        "your",       "my",          "our",        "how",
    "be",           "being",      "combined",    "combining",  "used",
    "it",           "please",     "hello",       "hi",         "hey",
    "me",           "i",          "we",          "us",         "want",
    "need",         "like",       "tell",        "show",       "help",
    "this",         "puzzle",     "countdown",   "game",       "solve",
    "try",          "following",  "here",        "'s",         "let",
    "goal",         "aim",        "must",        "should",     "have",
    "has",          "together",   "put",         "do",         "does",
    "what",         "possible",   "combination", "arithmetic", "operations",
    "operation",    "expression", "write",       "having",     "available",
    "whole",        "work",       "produces",    "reached",    "made",
    "obtained",     "formed",     "thanks",      "thank",      "kindly",
    "when",         "there",      "basic",       "usual",      "standard",
    "play",         "playing",    "turn",        "turned",     "start",
    "starting",     "started",    "task",        "one",        "any",
    "until",        "obtains",    "creates",     "builds",     "simple",
    "equation",     "rules",      "according",   "formula",    "calculation",
    "may",          "order",      "express",     "represent",  "compute",
    "calculate",    "achieve",    "construct",   "forming",    "creating",
    "producing",    "obtaining",  "building",    "hits",       "hitting",
    "go",           "challenge",  "question",    "problem",    "answer",
    "calculations", "solution",   "steps",       "math",       "maths",
    "mathematical", "quick",      "little",      "short",      "next",
    "now",          "then",       "also",        "via",        "through",
    "allowed",      "allowing"};

// The words that name each operation. A puzzle that names only some of the
// operations is a different one.
constexpr std::string_view kOperationWords[4][5] = {
    {"+", "addition", "adding", "add", "plus"},
    {"-", "subtraction", "subtracting", "subtract", "minus"},
    {"*", "multiplication", "multiplying", "multiply", "x"},
    {"/", "division", "dividing", "divide", ":"},
};

template <size_t kSize>
bool IsOneOf(const std::string& word, const std::string_view (&words)[kSize]) {
  return std::find(std::begin(words), std::end(words), word) != std::end(words);
}

std::optional<size_t> OperationOf(const std::string& word) {
  for (size_t i = 0; i < std::size(kOperationWords); ++i) {
    if (IsOneOf(word, kOperationWords[i])) return i;
  }
  return std::nullopt;
}

// True if the words before the number at `at` make it the target: "make", "the
// target is", "arrive at the number".
bool IsGoal(const PlainWords& words, size_t at) {
  while (at > 0) {
    const std::string& word = words.texts[--at];
    if (IsGoalWord(word)) return true;
    if (words.numbers[at] || !IsWordBehindGoal(word)) return false;
  }
  return false;
}

// "the game of 24", "the 24 game"
bool NamesAGame(const PlainWords& words, size_t at) {
  const auto is = [&](size_t i, std::string_view word) {
    return i < words.texts.size() && words.texts[i] == word;
  };
  return is(at + 1, "game") || is(at + 1, "puzzle") ||
         (at >= 2 && is(at - 1, "of") && is(at - 2, "game"));
}

absl::Status Foreign(std::string_view what) {
  return absl::NotFoundError(absl::StrCat(
      "a countdown puzzle names its numbers and one target, as \"Use 3, 7 and "
      "25 to reach 46.\", and nothing else; ",
      std::string(what)));
}

absl::Status CheckPuzzleWords(const PlainWords& words) {
  bool named[4] = {};
  const auto given = std::count_if(
      words.texts.begin(), words.texts.end(),
      [](const std::string& word) { return word[0] >= '0' && word[0] <= '9'; });
  for (size_t i = 0; i < words.texts.size(); ++i) {
    const std::string& word = words.texts[i];
    const bool four_operations =
        word == "four" && i + 1 < words.texts.size() &&
        (words.texts[i + 1] == "operations" ||
         (i + 2 < words.texts.size() && words.texts[i + 2] == "operations"));
    if (four_operations) continue;
    // "all four numbers", besides which there is the target.
    if (words.numbers[i] && *words.numbers[i] + 1 == given &&
        i + 1 < words.texts.size() &&
        (words.texts[i + 1] == "numbers" || words.texts[i + 1] == "of")) {
      continue;
    }
    // "each at most once" is the rule of every puzzle.
    if (word == "most" && i > 0 && words.texts[i - 1] == "at" &&
        i + 1 < words.texts.size() && words.texts[i + 1] == "once") {
      continue;
    }
    // "adding, subtracting, multiplying or dividing" names all four.
    if (word == "or" && i + 1 < words.texts.size() &&
        OperationOf(words.texts[i + 1])) {
      continue;
    }
    const bool arrow = (word == "-" || word == "=") &&
                       i + 1 < words.texts.size() && words.texts[i + 1] == ">";
    if (arrow) continue;
    if (const auto operation = OperationOf(word)) {
      named[*operation] = true;
    } else if (word != ">" && word != "&" && !IsOneOf(word, kPuzzleWords) &&
               !(words.numbers[i] && word[0] >= '0' && word[0] <= '9')) {
      return Foreign(absl::StrCat("found \"", word.substr(0, 40), "\""));
    }
  }
  const auto operations = std::count(std::begin(named), std::end(named), true);
  if (operations == 0 || operations == 4) return absl::OkStatus();
  return Foreign("it has all four operations, not some");
}

absl::Status CheckCountdown(std::string_view question) {
  if (question.size() > kMaxPuzzleBytes) {
    return Foreign("this is longer");
  }
  const PlainWords words = CutWords(question);
  const absl::Status known = CheckPuzzleWords(words);
  if (!known.ok()) return known;
  // One target, and the other numbers in sequence.
  std::optional<int64_t> target;
  std::optional<int64_t> game;
  std::optional<size_t> last;
  bool ended = false;
  for (size_t i = 0; i < words.texts.size(); ++i) {
    const bool digits = words.texts[i][0] >= '0' && words.texts[i][0] <= '9';
    if (!digits) {
      const bool joins = words.texts[i] == "and" || words.texts[i] == "&";
      ended = ended || (last && !joins);
      continue;
    }
    if (NamesAGame(words, i)) {
      game = words.numbers[i];
      continue;
    }
    if (IsGoal(words, i)) {
      if (target) return Foreign("this has two targets");
      target = words.numbers[i];
      ended = last.has_value();
      continue;
    }
    if (ended) return Foreign("this has further numbers");
    const bool follows_target = target && !last && i > 0 &&
                                words.numbers[i - 1] && !words.after_comma[i];
    if (follows_target) return Foreign("this has further numbers");
    last = i;
  }
  if (game && target.value_or(*game) != *game) {
    return Foreign("this has two targets");
  }
  if (!target) target = game;
  if (!target) return Foreign("this has no target");
  const auto puzzle = ParseCountdown(question);
  if (!puzzle.ok()) return absl::NotFoundError(puzzle.status().message());
  if (puzzle->target != *target)
    return Foreign("the target of this is unclear");
  return absl::OkStatus();
}

// Whether a number word at `i` is one of the puzzle's numbers: not "four
// operations", "all four numbers" or "one of them".
bool IsNumberOfPuzzle(const PlainWords& words, size_t i) {
  static constexpr std::string_view kCounted[] = {
      "operations", "numbers", "of", "basic", "arithmetic", "given", "usual"};
  const bool last = i + 1 == words.texts.size();
  if (!last && IsOneOf(words.texts[i + 1], kCounted)) return false;
  return words.texts[i] != "one" ||
         (!last && (words.after_comma[i + 1] || words.texts[i + 1] == "and"));
}

// The puzzle with its numbers in digits.
std::string PuzzleInDigits(std::string_view question) {
  if (question.size() > kMaxPuzzleBytes) return std::string(question);
  const PlainWords words = CutWords(question);
  std::string out;
  for (size_t i = 0; i < words.texts.size(); ++i) {
    const bool number = words.numbers[i] && IsNumberOfPuzzle(words, i);
    const std::string word =
        number ? absl::StrCat(*words.numbers[i]) : words.texts[i];
    absl::StrAppend(&out, words.after_comma[i] ? ", " : (i > 0 ? " " : ""),
                    word);
  }
  if (out.empty()) return out;
  out[0] = absl::ascii_toupper(out[0]);
  return out + ".";
}

}  // namespace

absl::Status CheckKnownQuestion(std::string_view task,
                                std::string_view question) {
  if (task == "stories") return ReadStory(question).status();
  if (task == "countdown") {
    absl::Status known = CheckCountdown(question);
    if (known.ok()) return known;
    return CheckCountdown(PuzzleInDigits(question)).ok() ? absl::OkStatus()
                                                         : known;
  }
  return absl::OkStatus();
}

std::string InKnownWords(std::string_view task, std::string_view question) {
  if (task == "stories") return InStoryWords(question);
  if (task == "countdown" && !CheckCountdown(question).ok()) {
    std::string digits = PuzzleInDigits(question);
    if (CheckCountdown(digits).ok()) return digits;
  }
  return std::string(question);
}

}  // namespace espalier
