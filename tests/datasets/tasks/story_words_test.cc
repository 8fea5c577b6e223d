#include "datasets/tasks/story_words.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <utility>

#include "datasets/tasks/stories.h"
#include "datasets/tasks/story_reading.h"

namespace espalier {
namespace {

TEST(StoryWords, StoriesOfTheGeneratorStayAsTheyAre) {
  for (const StoryBand& band : StoryBands()) {
    for (uint64_t i = 0; i < 200; ++i) {
      const std::string question = MakeStory(band, 5000, i).problem.question;
      EXPECT_EQ(InStoryWords(question), question);
    }
  }
}

TEST(StoryWords, OtherWordsBecomeTheGenerators) {
  EXPECT_EQ(
      InStoryWords("Rosa has thirty badges. She hands five badges to her "
                   "brother. Then she has twice as many. She splits the "
                   "pile into five equal parts and keeps one. How many "
                   "badges has Rosa got now?"),
      "Ann has 30 shells. She loses 5 shells. Then she has twice as many. "
      "She makes five equal piles and keeps one. How many shells does Ann "
      "have now?");
  EXPECT_EQ(InStoryWords("Max owns 30 stones. He discards 4 stones. How many "
                         "stones does Max have now?"),
            "Max has 30 stones. He loses 4 stones. How many stones does Max "
            "have now?");
}

// Sentences of the generator in a place or about a person where it writes none.
TEST(StoryWords, OnlyWhatTheGeneratorWritesStaysAsItIs) {
  const std::string asks = " How many shells does Ann have now?";
  const std::string has = "Ann has 24 shells. ";
  for (const auto& [told, asked] :
       {std::pair{"Tom gives 3 shells to Ann.", "She finds 3 shells."},
        {"Tom gives 3 to Ann.", "She finds 3 shells."},
        {"Tom gets 3 shells from Ann.", "She loses 3 shells."},
        {"She finds 05 more.", "She finds 5 shells."},
        {"She finds 1 more.", "She finds 3 shells. She loses 2 shells."},
        {"She loses 1 shells.", "She finds 2 shells. She loses 3 shells."},
        {"She finds 4 more. She also sees 5 birds.", "She finds 4 shells."}}) {
    EXPECT_EQ(InStoryWords(has + told + asks), has + asked + asks);
  }
  EXPECT_EQ(InStoryWords("Ben has 1 tickets. He buys 30 more tickets. How many "
                         "tickets does Ben have now?"),
            "Ben has 3 tickets. He loses 2 tickets. He finds 30 tickets. How "
            "many tickets does Ben have now?");
  const std::string own = has +
                          "The shop opens at 9. She gives 3 shells to Tom. "
                          "Ann finds 5 more." +
                          asks;
  EXPECT_EQ(InStoryWords(own), own);
}

TEST(StoryWords, WhatIsNoStoryStaysAsItIs) {
  for (const char* text : {"", "What is 2+3?", "Ann has 3 shells.", " \n"}) {
    EXPECT_EQ(InStoryWords(text), text);
  }
}

// The story that is asked has the same answer, for every written paraphrase.
TEST(StoryWords, TheAnswerIsTheSame) {
  std::ifstream file("tests/datasets/tasks/story_paraphrases.tsv");
  std::string line;
  int changed = 0;
  while (std::getline(file, line)) {
    const size_t tab = line.find('\t');
    ASSERT_NE(tab, std::string::npos) << line;
    const std::string question = line.substr(tab + 1);
    const std::string told = InStoryWords(question);
    if (told == question) continue;
    ++changed;
    const auto value = ReadStory(told);
    ASSERT_TRUE(value.ok()) << told << value.status();
    EXPECT_EQ(std::to_string(*value), line.substr(0, tab)) << question;
    EXPECT_EQ(InStoryWords(told), told);
  }
  EXPECT_GT(changed, 300);
}

}  // namespace
}  // namespace espalier
