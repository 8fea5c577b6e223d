// Questions like those that the shipped models were trained on are
// distinguished from others. Questions come from the generator and public sets,
// paraphrases from rules.
#include "datasets/tasks/known_questions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/random.h"
#include "datasets/sets/problem_set.h"
#include "datasets/tasks/countdown.h"
#include "datasets/tasks/countdown_rules.h"
#include "datasets/tasks/stories.h"
#include "datasets/tasks/story_reading.h"
#include "tests/base/one_thread.h"
#include "tests/datasets/data_files.h"

namespace espalier {
namespace {

TEST(KnownQuestions, EveryShippedProblemIsKnown) {
  ESP_ONE_THREAD();
  for (const StoryBand& band : StoryBands()) {
    for (uint64_t i = 0; i < 500; ++i) {
      const std::string question = MakeStory(band, 1, i).problem.question;
      EXPECT_TRUE(CheckKnownQuestion("stories", question).ok()) << question;
    }
  }
  for (int numbers = 3; numbers <= 5; ++numbers) {
    const std::string question = MakeCountdown(numbers, 1, 7).problem.question;
    EXPECT_TRUE(CheckKnownQuestion("countdown", question).ok()) << question;
  }
}

TEST(KnownQuestions, ShippedStoriesAreReadRight) {
  ESP_ONE_THREAD();
  for (const StoryBand& band : StoryBands()) {
    for (uint64_t i = 0; i < 300; ++i) {
      const GradedProblem story = MakeStory(band, 4, i);
      const auto read = ReadStory(story.problem.question);
      ASSERT_TRUE(read.ok()) << read.status() << "\n" << story.problem.question;
      EXPECT_EQ(absl::StrCat(*read), story.reference.answer)
          << story.problem.question;
    }
  }
}

// Each rule is used with probability one half.
std::string Paraphrase(std::string text, RandomStream& rng) {
  static const std::vector<std::pair<std::regex, std::vector<std::string>>>&
      rules = *new std::vector<std::pair<std::regex, std::vector<std::string>>>{
          {std::regex("\\b(Ann|Mia|Eva|Lucy)\\b"),
           {"Maria", "Priya", "Olivia", "Fatima"}},
          {std::regex("\\b(Tom|Ben|Sam|Max)\\b"),
           {"Carlos", "Wei", "Noah", "Peter"}},
          {std::regex("\\b(shells|marbles|stamps|cards|coins|beads|pens|books|"
                      "apples|plums|nuts|buttons|stones|stickers)\\b"),
           {"toys", "cookies", "badges", "pebbles"}},
          {std::regex("\\bfinds\\b"), {"discovers", "found", "comes across"}},
          {std::regex("\\bbuys\\b"), {"purchases", "bought"}},
          {std::regex("\\bpicks up\\b"), {"collects", "gathers"}},
          {std::regex("\\bwins\\b"), {"earns", "won"}},
          {std::regex("\\bgets\\b"), {"receives", "got", "is given"}},
          {std::regex("\\bloses\\b"), {"misplaces", "lost"}},
          {std::regex("\\bsells\\b"), {"sold", "trades away"}},
          {std::regex("\\bthrows away\\b"), {"discards", "tosses out"}},
          {std::regex("\\bdrops\\b"), {"dropped", "spills"}},
          {std::regex("\\bbreaks\\b"), {"damages", "broke"}},
          {std::regex("\\bgives\\b"), {"hands", "gave", "passes"}},
          {std::regex("\\bstarts with\\b"), {"begins with", "initially has"}},
          {std::regex("\\bowns\\b"), {"possesses", "holds"}},
          {std::regex("\\bAt first\\b"), {"Initially", "To begin with,"}},
          {std::regex("\\bNow\\b"), {"After that", "Next,"}},
          {std::regex("\\bmore\\b"), {"additional", "extra"}},
          {std::regex("\\bpiles\\b"), {"heaps", "stacks"}},
          {std::regex("\\bbags\\b"), {"sacks", "boxes"}},
          {std::regex("\\bkeeps one\\b"), {"keeps only one of them"}},
          {std::regex("How many (\\w+) does (\\w+) have now\\?"),
           {"What number of $1 does $2 have now?",
            "How many $1 does $2 have in the end?", "How many $1 are left?"}},
          {std::regex("How many (\\w+) are left for (\\w+)\\?"),
           {"How many $1 does $2 have left?", "How many $1 remain?"}},
      };
  for (const auto& [pattern, others] : rules) {
    if (rng.Below(2) == 0) continue;
    text = std::regex_replace(text, pattern, others[rng.Below(others.size())]);
  }
  return text;
}

TEST(KnownQuestions, LightParaphrasesAreKnown) {
  ESP_ONE_THREAD();
  RandomStream rng(StreamKey(3, 0, 0, Purpose::kTest));
  int all = 0, refused = 0;
  for (const StoryBand& band : StoryBands()) {
    for (uint64_t i = 0; i < 350; ++i, ++all) {
      const std::string question =
          Paraphrase(MakeStory(band, 2, i).problem.question, rng);
      if (CheckKnownQuestion("stories", question).ok()) continue;
      ++refused;
      std::printf("refused: %s\n", question.c_str());
    }
  }
  EXPECT_GE(all, 1000);
  EXPECT_LE(refused, all / 100);
}

// Paraphrases written by hand, independent of the rules above: reordered
// clauses, passive voice, numbers in words, polite openings.
TEST(KnownQuestions, WrittenParaphrasesAreKnownAndReadRight) {
  std::ifstream file("tests/datasets/tasks/story_paraphrases.tsv");
  ASSERT_TRUE(file.is_open());
  int all = 0, refused = 0;
  for (std::string line; std::getline(file, line); ++all) {
    const size_t tab = line.find('\t');
    ASSERT_NE(tab, line.npos) << line;
    const auto read = ReadStory(line.substr(tab + 1));
    if (!read.ok()) {
      ++refused;
      std::printf("refused: %s\n", line.c_str());
      continue;
    }
    EXPECT_EQ(absl::StrCat(*read), line.substr(0, tab)) << line;
  }
  EXPECT_GE(all, 900);
  EXPECT_LE(refused, all / 100);
}

// Many people write without capitals, which tell names from other words.
TEST(KnownQuestions, ParaphrasesInLowerCaseAreKnownAndReadRight) {
  std::ifstream file("tests/datasets/tasks/story_paraphrases.tsv");
  int all = 0, refused = 0;
  for (std::string line; std::getline(file, line); ++all) {
    const size_t tab = line.find('\t');
    const auto read = ReadStory(absl::AsciiStrToLower(line.substr(tab + 1)));
    if (!read.ok()) {
      ++refused;
      std::printf("refused: %s\n", line.c_str());
      continue;
    }
    EXPECT_EQ(absl::StrCat(*read), line.substr(0, tab)) << line;
  }
  EXPECT_GE(all, 300);
  EXPECT_LE(refused, all / 100);
}

// "then 52 to Eva" says again what the clause before says, but for whom.
TEST(KnownQuestions, AClauseWithoutAVerbRepeatsTheOneBefore) {
  const auto read = [](const std::string& acts) {
    return ReadStory("Sam has 91 pens. " + acts +
                     " How many pens does Sam have now?");
  };
  for (const auto& [acts, left] :
       {std::pair("He gives 18 pens to Tom, then 52 to Eva.", 21),
        std::pair("He gives 18 to Tom, and then 2 to Eva on Monday.", 71),
        std::pair("He gives Tom 18 pens, then Eva 52.", 21),
        std::pair("He gives 18 pens to Tom, 5 to his sister and 2 to Eva.", 66),
        std::pair("He gets 8 pens from Tom and 2 from Eva.", 101),
        std::pair("He finds 8 pens, then another 2, and then 5.", 106),
        std::pair("He loses 8 pens and 2 more.", 81)}) {
    const auto value = read(acts);
    ASSERT_TRUE(value.ok()) << acts << value.status();
    EXPECT_EQ(*value, left) << acts;
  }
  for (const char* acts :
       {"He gives 18 pens away, 12 to Tom and 6 to Eva.",
        "He gives 18 pens to Tom, then 52 from Eva.",
        "He gets 8 pens from Tom, then 2 to Eva.", "He finds 18 more, now 52.",
        "He finds 18 more, then 52 marbles.",
        "He loses 18 pens, then half of the rest.",
        "He reads 30 pages of a book, then 20."}) {
    EXPECT_FALSE(read(acts).ok()) << acts;
  }
}

TEST(KnownQuestions, CommasGroupTheDigitsOfANumber) {
  const std::string asked = " How many keys does Ann have now?";
  const auto walk = ReadStory(
      "Ann has 90 keys. The walk takes 1,200 minutes. She loses 5 keys." +
      asked);
  ASSERT_TRUE(walk.ok()) << walk.status();
  EXPECT_EQ(*walk, 85);
  // More than in any story that the model learnt from.
  EXPECT_THAT(std::string(CheckKnownQuestion(
                              "stories",
                              "Ann has 1,200 keys. She loses 5 keys." + asked)
                              .message()),
              testing::HasSubstr("from 1 to 199, and \"Ann has 1,200 keys.\" "
                                 "makes it 1200"));
  for (const char* number : {"0,123", "1,20", "1234,567", "1,200,30"}) {
    EXPECT_FALSE(
        ReadStory(absl::StrCat("Ann has 90 keys. The walk takes ", number,
                               " minutes. She loses 5 keys.", asked))
            .ok())
        << number;
  }
}

TEST(KnownQuestions, WhatIsForeignIsSaid) {
  const auto says = [](const std::string& question) {
    return std::string(CheckKnownQuestion("stories", question).message());
  };
  const std::string ann = "Ann has 23 shells. She finds 48 more. ";
  const std::string asked = " How many shells does Ann have now?";
  EXPECT_THAT(says(ann + "How many shells does Tom have now?"),
              testing::HasSubstr("not \"How many shells does Tom have now?\""));
  EXPECT_THAT(says(ann + "She owes Tom 7 shells." + asked),
              testing::HasSubstr("\"She owes Tom 7 shells.\""));
  EXPECT_THAT(says("Ann has 23 dollars. She wins 4 more." + asked),
              testing::HasSubstr("\"dollars\" may be a unit"));
  EXPECT_THAT(says("Ann has 3 shells. She loses 8 shells." + asked),
              testing::HasSubstr("makes it -5"));
  EXPECT_THAT(says("Ann has 23 shells. He finds 48 more." + asked),
              testing::HasSubstr("\"he\""));
  EXPECT_THAT(std::string(CheckKnownQuestion("countdown",
                                             "Use 5, 8 and 25 to make the "
                                             "largest number.")
                              .message()),
              testing::HasSubstr("found \"largest\""));
}

TEST(KnownQuestions, WordsAroundAStoryDoNotMakeItForeign) {
  const std::string story = "Ann has 23 shells. She finds 48 more. ";
  for (const std::string& question :
       {"Question: " + story + "How many shells does Ann have now?",
        "Problem. " + story + "How many shells does Ann have now?",
        story + "How many shells does Ann have now? Please.",
        story + "Exactly how many shells does Ann have now?",
        story + "So exactly how many shells are left for Ann?",
        std::string("Ann has 23 shells; Ann gets 48 from Mia, Ann breaks 6. "
                    "She finds 2 more. How many shells does Ann have?"),
        // A sentence goes on about whom the one before was about.
        std::string("Ann has 23 shells. Ann gets 48 from Mia. "
                    "She breaks 6. How many shells does Ann have?"),
        std::string("Eva has 30 pens. She gives 3 pens to Ann. She loses 4 "
                    "pens. How many pens does Eva have now?"),
        // Other voices, helping verbs, and words that change nothing.
        "Word problem: " + story + "How many shells does Ann have now, please?",
        "My teacher gave me this problem. " + story +
            "How many of the shells does Ann still have?",
        story + "By mistake, she breaks 6 of the shells on the way home. How "
                "many shells does that leave Ann with?",
        story + "Tom gives her 6 shells. How many shells does Ann have now?",
        story + "Tom receives 6 of the shells from Ann. How many shells does "
                "Ann have now?",
        story + "She manages to sell 6. How many shells are left?",
        story + "She goes to the beach and finds 6 more. How many shells does "
                "Ann have now?",
        story + "Tom lives in house no. 12. How many shells does Ann have?"}) {
    EXPECT_TRUE(CheckKnownQuestion("stories", question).ok()) << question;
  }
  // It is ambiguous whose shells break; or it does not happen, or to others.
  for (const char* question :
       {"Ann has 23 shells. She tries to sell 4. How many shells does Ann "
        "have?",
        "Ann has 23 shells. She almost loses 4. How many shells does Ann have?",
        "Ann has 23 shells. She finds 4 more figs. How many shells does Ann "
        "have?",
        "Ann has 23 shells. She buys 3 bags. How many shells does Ann have?",
        "Ann has 23 shells. Ann gives her 4. How many shells does Ann have?",
        "Ann has 23 shells. Tom finds 4 more. How many shells does Ann have?",
        "Ann has 23 shells. She buys 4 for a friend. How many shells does Ann "
        "have?",
        "Ann has 23 shells. Mia gives her 48. She breaks 6. How many shells "
        "does Ann have?",
        "Ann has 23 shells. Ann gives 8 to Mia. With 6 she makes a necklace. "
        "How many shells does Ann have?"}) {
    EXPECT_FALSE(CheckKnownQuestion("stories", question).ok()) << question;
  }
}

TEST(KnownQuestions, PuzzlesInOtherWordsAreKnownAndReadRight) {
  for (const char* question :
       {"Using the numbers 3, 7 and 25, make 46.",
        "Make 46 from 3, 7 and 25.",
        "Get 46 by using 3, 7 and 25 once each.",
        "Use 3, 7 and 25 to reach 46, each at most once.",
        "The target is 46. Your numbers are 3, 7, 25.",
        "Numbers: 3, 7, 25. Target: 46.",
        "Can you reach 46 using 3, 7, and 25?",
        "With 3, 7 and 25, arrive at 46.",
        "3 7 25 > 46",
        "Please use the numbers 3, 7 and 25 to get to 46.",
        "Could you reach 46 with 3, 7 and 25?",
        "Combine 3, 7, and 25 so that the result is 46.",
        "Using only 3, 7 and 25, produce 46.",
        "The numbers are 3, 7 and 25 and the target is 46.",
        "Given 3, 7 and 25, make 46.",
        "Form 46 out of 3, 7 and 25, using each number exactly once.",
        "Use 3, 7 and 25 to make a total of 46.",
        "Use addition, subtraction, multiplication and division on 3, 7 and 25 "
        "to reach 46.",
        "Your target number is 46. You have the numbers 3, 7 and 25.",
        "I have the numbers 3, 7, 25. Help me reach the target of 46.",
        "Hit the target 46 with 3, 7 and 25.",
        "From 3, 7 and 25, build the number 46.",
        "Solve this countdown puzzle: numbers 3, 7, 25; target 46.",
        "Find a way to combine 3, 7 and 25 to obtain 46.",
        "What expression of 3, 7 and 25 equals 46?",
        "Take 3, 7 and 25 and make 46 with the four basic operations.",
        "How can 3, 7, and 25 be combined to make 46?",
        "Can 3, 7 and 25 be turned into 46?",
        "Reach a total of 46 using 3, 7 and 25.",
        "Starting from 3, 7 and 25, get to 46.",
        "I need 46, and I have 3, 7 and 25.",
        "Let's play countdown: 3, 7 and 25, target 46.",
        "Make 46. You may use 3, 7 and 25.",
        "Use 3, 7 and 25 in order to reach 46.",
        "Form 46 by adding, subtracting, multiplying or dividing 3, 7 and "
        "25.",
        "Use the three numbers 3, 7 and 25 to reach 46.",
        "Use all three of 3, 7 and 25 to reach 46.",
        "Write 46 using 3, 7 and 25 and the operations +, -, * and /.",
        "Express 46 with the numbers 3, 7 and 25.",
        "3, 7, 25 -> 46",
        "Play the game of 46 with 3, 7 and 25.",
        "46 game: 3 7 25",
        "Solve the 46 game: make 46 from 3, 7 and 25."}) {
    EXPECT_TRUE(CheckKnownQuestion("countdown", question).ok()) << question;
    EXPECT_EQ(FormatCountdown(ParseCountdown(question).value()), "3 7 25 > 46")
        << question;
  }
}

TEST(KnownQuestions, NumbersOfAPuzzleMayBeWords) {
  for (const char* question :
       {"Use three, seven and twenty-five to reach forty-six.",
        "Use 3, seven and 25 to reach 46.",
        "Make forty-six from 3, 7 and twenty five, each number at most once.",
        "With the three numbers three, seven and 25 and the four operations, "
        "reach 46."}) {
    EXPECT_TRUE(CheckKnownQuestion("countdown", question).ok()) << question;
    const std::string asked = InKnownWords("countdown", question);
    EXPECT_TRUE(CheckKnownQuestion("countdown", asked).ok()) << asked;
    EXPECT_EQ(InKnownWords("countdown", asked), asked);
    EXPECT_EQ(FormatCountdown(ParseCountdown(asked).value()), "3 7 25 > 46")
        << asked;
  }
  for (const char* question :
       {"Use 3, 7 and 25 to reach 46.", "What is two plus three?",
        "Use four numbers to reach ten.", "Use three or seven to reach ten."}) {
    EXPECT_EQ(InKnownWords("countdown", question), question);
  }
}

TEST(KnownQuestions, APuzzleNamesAllItsNumbersAndOneTarget) {
  for (const char* question :
       {"Use the four numbers 3, 7 and 25 to reach 46.",
        "Play the game of 24 with 3, 7 and 25, target 46.",
        "Use two of 3, 7 and 25 to reach 46.", "Write 3, 7 and 25 using 46."}) {
    EXPECT_FALSE(CheckKnownQuestion("countdown", question).ok()) << question;
  }
}

// Piles that are kept, and whose box it is, may be told in a sentence more;
// capitals tell names only where there are small letters, too.
TEST(KnownQuestions, SentencesAndCapitalsMayDiffer) {
  const std::vector<std::pair<std::string, int>> stories = {
      {"Ann has 60 shells. She makes three equal piles. She keeps one. How "
       "many shells does Ann have now?",
       20},
      {"There's a box with 60 shells. It belongs to Ann. She loses 5. How many "
       "shells does Ann have now?",
       55},
      {"ANN HAS 60 SHELLS. THEN SHE LOSES 5 SHELLS IN ANN'S GARDEN. HOW MANY "
       "SHELLS DOES ANN HAVE NOW?",
       55},
      {"Ann has 60 shells. she gives 5 to tom. how many shells does ann have "
       "now",
       55},
      {"mrs. lee has 60 shells. she gives 5 to mr. hill. how many shells does "
       "mrs. lee have now?",
       55},
  };
  for (const auto& [question, answer] : stories) {
    const auto read = ReadStory(question);
    ASSERT_TRUE(read.ok()) << read.status() << "\n" << question;
    EXPECT_EQ(*read, answer) << question;
  }
}

// "She" is the hero where the sentence names her first, or goes on about her.
TEST(KnownQuestions, PronounsOfTwoPeopleAreTold) {
  const std::string begin = "Ann has 60 shells. She gives 5 to Mia. ";
  const std::string end = " How many shells does Ann have now?";
  for (const char* act :
       {"Ann finds 3 and then she loses 7.", "Now she loses 4 of her shells.",
        "She finds 3 and then she loses 7."}) {
    const auto read = ReadStory(begin + act + end);
    ASSERT_TRUE(read.ok()) << read.status() << "\n" << act;
    EXPECT_EQ(*read, 51) << act;
  }
  for (const char* act :
       {"Mia gives her 8 and she breaks 6.", "Mia gives her 8. She breaks 6.",
        "Mia loses 4, and Tom sells 6."}) {
    EXPECT_FALSE(ReadStory(begin + act + end).ok()) << act;
  }
}

// As `solve` does it: first the puzzles, then the stories.
bool Known(const std::string& question) {
  return CheckKnownQuestion("countdown", question).ok() ||
         CheckKnownQuestion("stories", question).ok();
}

TEST(KnownQuestions, ForeignQuestionsAreNotKnown) {
  std::ifstream file("tests/datasets/tasks/foreign_questions.txt");
  ASSERT_TRUE(file.is_open());
  int all = 0;
  for (std::string line; std::getline(file, line); ++all) {
    EXPECT_FALSE(Known(line)) << line;
    EXPECT_FALSE(Known(absl::AsciiStrToLower(line))) << line;
  }
  EXPECT_GE(all, 900);
}

TEST(KnownQuestions, PublishedQuestionsAreForeign) {
  for (const char* path : {"math/gsm8k_test.jsonl", "math/math500.jsonl",
                           "math/aime24.jsonl", "code/mbpp.jsonl"}) {
    SKIP_WITHOUT_PUBLIC_DATA();
    const auto set = LoadSet(PublicData() + "/" + path, {});
    ASSERT_TRUE(set.ok()) << set.status();
    size_t known = 0;
    for (const GradedProblem& one : set->problems) {
      known += Known(one.problem.question) ? 1 : 0;
    }
    std::printf("%s: %zu of %zu known\n", path, known, set->problems.size());
    // 2 of GSM8K's 1,319 are stories about one quantity.
    EXPECT_LE(known, 3u) << path;
  }
}

TEST(KnownQuestions, AnyTextEndsInTime) {
  for (const std::string& piece :
       {std::string("\xff"), std::string("Ann has 3 shells. "),
        std::string("a"), std::string("1"), std::string("; "),
        std::string("and then "), std::string("'")}) {
    std::string text;
    while (text.size() < 300000) text += piece;
    EXPECT_FALSE(Known(text));
  }
  EXPECT_FALSE(Known(""));
  EXPECT_FALSE(Known(" \n"));
  EXPECT_TRUE(CheckKnownQuestion("qa", "What is 2+3?").ok());
}

}  // namespace
}  // namespace espalier
