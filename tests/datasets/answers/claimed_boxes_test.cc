#include "datasets/answers/find/claimed_boxes.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace espalier {
namespace {

std::vector<std::string> Claimed(std::string_view text) {
  std::vector<std::string> out;
  for (const Span& box : ClaimedBoxes(text)) {
    out.emplace_back(text.substr(box.start, box.end - box.start));
  }
  return out;
}

using Boxed = std::vector<std::string>;

TEST(ClaimedBoxes, WordsDirectlyBesideABoxTakeItBack) {
  EXPECT_EQ(Claimed("It is \\boxed{6}, not \\boxed{5}."), Boxed{"6"});
  EXPECT_EQ(Claimed("The answer is not $\\boxed{5}$."), Boxed{});
  EXPECT_EQ(Claimed("Is it \\boxed{5}?"), Boxed{});
  EXPECT_EQ(Claimed("An incorrect answer would be \\boxed{5}."), Boxed{});
  EXPECT_EQ(Claimed("He wrote \"\\boxed{5}\", which is wrong."), Boxed{});
}

TEST(ClaimedBoxes, OtherDenialsInTheSentenceDoNot) {
  EXPECT_EQ(Claimed("It cannot be less, so it is \\boxed{6}."), Boxed{"6"});
  EXPECT_EQ(Claimed("$\\boxed{6}$, which is not a prime."), Boxed{"6"});
  EXPECT_EQ(Claimed("Not 5 but \\boxed{6}."), Boxed{"6"});
}

TEST(ClaimedBoxes, WhatAWrongAnswerCostsIsClaimed) {
  EXPECT_EQ(Claimed("The penalty for a wrong guess is \\boxed{3}."),
            Boxed{"3"});
  EXPECT_EQ(Claimed("Count of false values: \\boxed{11}"), Boxed{"11"});
  EXPECT_EQ(Claimed("So the wrong value is \\boxed{40}."), Boxed{"40"});
  EXPECT_EQ(Claimed("One wrong solution is \\boxed{3}."), Boxed{});
  EXPECT_EQ(Claimed("So he gets the wrong result \\boxed{3}."), Boxed{});
}

TEST(ClaimedBoxes, OneOfSeveralThingsMayBeTheWrongOne) {
  EXPECT_EQ(Claimed("Proposition \\boxed{II} is false."), Boxed{"II"});
  EXPECT_EQ(Claimed("Hence \\boxed{\\textbf{(B)}} is incorrect."),
            Boxed{"\\textbf{(B)}"});
  EXPECT_EQ(Claimed("Choice \\boxed{A} is wrong; it must be \\boxed{B}."),
            Boxed{"B"});
  EXPECT_EQ(Claimed("The result \\boxed{9} is incorrect."), Boxed{});
}

TEST(ClaimedBoxes, WordsThatGoOnTakeNothingBack) {
  EXPECT_EQ(Claimed("\\boxed{2}, which is impossible to undercut."),
            Boxed{"2"});
  EXPECT_EQ(Claimed("\\boxed{2}, which is not the answer many give."),
            Boxed{"2"});
  EXPECT_EQ(Claimed("\\boxed{2} is impossible \u2014 it is odd."), Boxed{});
  EXPECT_EQ(Claimed("\\boxed{2} is invalid here."), Boxed{});
}

TEST(ClaimedBoxes, AllAreJudgedHoweverMany) {
  std::string text = "\\boxed{1} ";
  for (int i = 0; i < 200; ++i) text += "and not \\boxed{2} ";
  EXPECT_EQ(Claimed(text), Boxed{"1"});
}

TEST(ClaimedBoxes, CommentsHoldNone) {
  EXPECT_EQ(Claimed("% \\boxed{5}\n\\boxed{6}"), Boxed{"6"});
  EXPECT_EQ(Claimed("<!-- \\boxed{5} --> \\boxed{6}"), Boxed{"6"});
  EXPECT_EQ(Claimed("\\boxed{6} <!-- \\boxed{5}"), Boxed{"6"});
  EXPECT_EQ(Claimed("That is 50 % of it: \\boxed{6}"), Boxed{"6"});
}

TEST(ClaimedBoxes, WordsThatOnlyLeadOnGo) {
  EXPECT_EQ(WithoutLeadIn("\\text{The value is } 12"), "12");
  EXPECT_EQ(WithoutLeadIn("\\text{The value is not } 12"),
            "\\text{The value is not } 12");
  EXPECT_EQ(WithoutLeadIn("\\text{Twice the number is } 12"),
            "\\text{Twice the number is } 12");
}

TEST(ClaimedBoxes, AMistakeThatIsOwnedUpToRetractsThem) {
  EXPECT_TRUE(Retracted(". Wait, that's wrong. It is 6."));
  EXPECT_FALSE(Retracted(". It is wrong to think that it is 5."));
  EXPECT_FALSE(Retracted(". Before, I was wrong; now it is correct."));
  EXPECT_FALSE(Retracted(" (I made a mistake in my first try.)"));
  EXPECT_TRUE(Retracted(". I made a mistake earlier, it is half of it."));
  EXPECT_TRUE(Retracted(". I was wrong before. Now 7 is right."));
  EXPECT_TRUE(Retracted(". I was wrong earlier, but this is not right."));
  EXPECT_TRUE(Retracted(". I was wrong at first. I was wrong again."));
}

}  // namespace
}  // namespace espalier
