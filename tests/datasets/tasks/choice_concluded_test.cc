#include "datasets/tasks/choice_concluded.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "datasets/answers/grade_answer.h"
#include "datasets/tasks/choice_answer.h"

namespace espalier {
namespace {

struct Choice {
  const char* gold;
  const char* response;
  bool correct;
};

void ExpectChoices(const std::vector<std::string>& options,
                   const std::vector<Choice>& choices) {
  for (const Choice& choice : choices) {
    const Verdict verdict = CheckChoice(options, choice.gold, choice.response);
    EXPECT_EQ(verdict.correct, choice.correct)
        << choice.gold << " | " << choice.response << ": " << verdict.reason;
  }
}

TEST(ChoiceConcluded, IsNoneOfAQuestion) {
  const std::vector<std::string> options = {"steel", "air"};
  EXPECT_EQ(ChoiceConcluded(options, "Thus steel is the right choice."), 0);
  EXPECT_EQ(ChoiceConcluded(options, "Is it steel?"), 2);
  EXPECT_EQ(ChoiceConcluded(options, ""), 2);
  EXPECT_EQ(ChoiceConcluded({}, "A"), 0);
}

TEST(ChoiceConcluded, Quoted) {
  ExpectChoices(
      {"the Moon's orbit around Earth", "Earth's shadow", "not known"},
      {
          {"A", "So I'd go with the answer \"the Moon's orbit around Earth\".",
           true},
          {"A", "I would choose \"the Moon's orbit around Earth\".", true},
          {"C", "I'd pick \"not known\".", true},
          {"A", "I'd go with the answer \"Earth's shadow\".", false},
          {"A", "I wouldn't go with \"the Moon's orbit around Earth\".", false},
      });
}

TEST(ChoiceConcluded, OfForces) {
  ExpectChoices({"1", "2", "3", "4"},
                {
                    {"B", "Tom wrote: the answer is 2", false},
                    {"B", "The answer is 2", true},
                    {"B", "Tom said the answer is 2.", false},
                    {"B", "The answer is not 2.", false},
                    {"B", "Is the answer 2?", false},
                    {"B", "Maybe the answer is 2.", false},
                    {"B", "If x=1, the answer is 2.", false},
                });
}

TEST(ChoiceConcluded, OfMaterials) {
  ExpectChoices(
      {"gravity", "friction", "inertia", "mass"},
      {
          {"B", "It opposes motion, so C.", false},
          {"B", "If it opposes motion, so B.", false},
          {"B", "It opposes motion, so B?", false},
          {"B", "Tom thinks it opposes motion, so B.", false},
          {"B", "A and C are forces, leaving B out.", false},
          {"B", "A and B are forces, leaving B.", false},
          {"B", "It may be friction, so maybe B.", false},
          {"B", "Friction is not the right choice.", false},
          {"B", "Friction was the right choice in 1990.", false},
          {"B", "The best choice is inertia.", false},
          {"B", "The best choice is not friction.", false},
          {"B", "The second best choice is friction.", false},
          {"B", "The worst choice is friction.", false},
          {"B", "The opposite is friction.", false},
          {"B", "A common mistake is friction.", false},
          {"B", "One distractor is friction.", false},
          {"B", "The only wrong one is friction.", false},
          {"B", "Gravity and mass are clear. The other one is friction.",
           false},
          {"B", "Tom said the best choice is friction.", false},
          {"B", "The best choice is friction or inertia.", false},
          {"B", "Option: C", false},
          {"B", "Option: B or C", false},
          {"B", "Option B?", false},
          {"B", "Option: B is wrong", false},
          {"B", "Answer: B (inertia)", false},
          {"B", "A: gravity pulls.\nB: friction opposes motion.", false},
          {"B", "The force that opposes friction is gravity.", false},
          {"B", "The force is friction. No, it is gravity.", false},
          {"B", "What is friction?", false},
          {"B", "The answer is C. The thing that opposes motion is friction.",
           false},
          {"C", "The answer is C. The thing that opposes motion is friction.",
           true},
          {"B",
           "Gravity pulls; the force that opposes motion is friction, not "
           "inertia.",
           true},
          {"D", "Which one is mass?", false},
          {"B", "(A) is gravity. (B) is friction. (C) is inertia.", false},
          {"A", "(A) is gravity. (B) is friction. (C) is inertia.", false},
          {"B", "The unit of friction is mass.", false},
          {"A", "The force opposing gravity is friction.", false},
          {"B", "The correct answer is B because friction opposes motion.",
           true},
          {"B", "B. friction", true},
          {"B",
           "(A) is gravity, which pulls down. (C) and (D) are not forces. The "
           "force that opposes motion is friction.",
           true},
          {"B", "Friction is the force that opposes motion, so B.", true},
          {"B", "I would choose option B.", true},
          {"B", "Friction", true},
          {"B", "The best choice is friction.", true},
          {"B", "It's not gravity, so it must be friction.", true},
          {"A", "It's not gravity, so it must be friction.", false},
          {"C", "Answer: C (inertia)", true},
          {"C",
           "The answer would be C. Inertia is the tendency to resist change.",
           true},
          {"C", "**C**: inertia is the tendency to resist a change of motion.",
           true},
          {"C",
           "Of the four, A and B are forces and D is a quantity, leaving C.",
           true},
          {"C",
           "After considering all options, the most suitable one is inertia "
           "(C).",
           true},
          {"A", "B\n\nExplanation: gravity pulls down.", false},
          {"B", "B\n\nExplanation: friction opposes motion.", true},
          {"B", "B\n\nWait, it should be C.", false},
          {"B", "B\nor\nC", false},
          {"B", "B\n\nActually, inertia is the answer.", false},
          {"B", "Friction slows a moving box.", true},
          {"A", "Friction slows a moving box.", false},
          {"B", "A box on ice has little friction.", false},
          {"B", "Let us consider friction.", false},
          {"B", "Friction and gravity act.", false},
          {"B", "This is about friction.", false},
          {"B", "Without friction, the box keeps moving.", false},
          {"B", "First, think about friction.", false},
          {"B", "The question is about friction.", false},
          {"C", "The box is subject to inertia.", true},
          {"B", "Friction would stop it, but here it is inertia.", false},
          {"C", "Friction would stop it, but here it is inertia.", true},
          {"B", "B\n\nFriction opposes motion. A is wrong.", true},
          {"C", "Inertia keeps it moving; friction stops it.", false},
          {"B", "Inertia is unrelated to friction.", false},
          {"D", "The answer depends on the mass.", false},
          {"B", "It is slowed by friction.", true},
          {"D", "It is proportional to its mass.", true},
          {"A", "The effect is stronger than gravity.", false},
          {"A", "The effect is larger near gravity.", false},
          {"A", "The answer is the opposite of gravity.", false},
          {"C", "The box is moved against its inertia.", false},
      });
}

TEST(ChoiceConcluded, OfNumbers) {
  ExpectChoices(
      {"evaporation", "condensation", "precipitation", "runoff"},
      {
          {"A", "A and B because of heat.", false},
          {"A", "A is wrong because it is dry.", false},
          {"A", "A liquid evaporates because of heat.", false},
          {"A", "A, because it says evaporation, or B.", false},
          {"B", "My answer: a", false},
          {"A",
           "Water vapor is formed by evaporation. The answer is (A) "
           "evaporation.",
           true},
          {"A", "evaporation.", true},
          {"A", "The process is called evaporation.", true},
          {"A", "**A) evaporation**", true},
          {"A", "Correct answer: **A**", true},
          {"A",
           "Let's see. B is when vapor cools. C is rain. D is flow on land. "
           "Hence, A.",
           true},
          {"A", "The answer can't be B, C or D, so A it is.", true},
          {"A", "A is the best answer since heat turns water into vapor.",
           true},
          {"A", "(A)\n\nHeat turns liquid water into vapor.", true},
          {"B", "(A)\n\nHeat turns liquid water into vapor.", false},
          {"A", "I'm going with A.", true},
          {"A", "My answer: a", true},
          {"A", "Therefore, the correct option is A: evaporation.", true},
          {"A", "The correct answer is: A. evaporation", true},
          {"A", "Both A and B are possible.", false},
          {"B",
           "The water cycle step where vapor turns into liquid is "
           "condensation.",
           true},
          {"B", "When vapor turns to liquid, this is condensation, option B.",
           true},
          {"B", "This describes condensation (option B).", true},
          {"B", "B, because vapor turns into liquid.", true},
      });
}

TEST(ChoiceConcluded, OfPlainNumbers) {
  ExpectChoices({"Steel", "Water", "Air", "Vacuum"},
                {
                    {"A",
                     "The speed of sound is highest in solids. Thus steel is "
                     "the right choice.",
                     true},
                });
}

TEST(ChoiceConcluded, OfLetters) {
  ExpectChoices({"1", "2", "3", "4", "5"}, {
                                               {"E", "**Option: E**", true},
                                           });
}

TEST(ChoiceConcluded, OfProcesses) {
  ExpectChoices({"3", "6", "9", "12"}, {
                                           {"D", "24 / 2 = 12, so (D).", true},
                                           {"D", "24 / 2 = 12", true},
                                           {"D", "The answer: 12", true},
                                       });
}

TEST(ChoiceConcluded, OfPrices) {
  ExpectChoices(
      {"$3", "$6", "$9", "$12"},
      {
          {"C", "The total is 9 dollars, which corresponds to choice C.", true},
      });
}

TEST(ChoiceConcluded, OfWeather) {
  ExpectChoices({"$12", "$15", "$18", "$20", "$24"},
                {
                    {"C", "1.5 \u00d7 12 = 18, so the answer is C.", true},
                    {"C", "1.5 \u00d7 12 = $18. This matches option C.", true},
                    {"C", "$18", true},
                    {"C", "18 dollars", true},
                    {"C", "The total cost is $18 (C).", true},
                    {"D", "The total cost is $18 (C).", false},
                    {"C", "He pays 1.5 \u00d7 12 = 18 dollars.", true},
                    {"E", "He pays 2 \u00d7 12 = 24.", true},
                    {"E", "E. $24", true},
                    {"E", "Answer = E", true},
                });
}

TEST(ChoiceConcluded, OfFruit) {
  ExpectChoices(
      {"Paris", "London", "Berlin", "Madrid"},
      {
          {"A", "The capital of France is Paris.", true},
          {"B", "The capital of France is Paris.", false},
          {"A", "Paris, of course.", true},
          {"A", "It has to be Paris (A), as London is in the UK.", true},
          {"A",
           "London is in the UK, Berlin in Germany, Madrid in Spain. The "
           "answer: Paris.",
           true},
          {"A", "\u2705 A. Paris", true},
          {"A",
           "**A**\n\nExplanation: Paris is the capital of France, while London "
           "is the capital of the UK.",
           true},
          {"A", "The correct answer is option A, Paris.", true},
          {"A", "A - Paris", true},
          {"A", "[A]", true},
          {"A", "<answer>A</answer>", true},
          {"A", "Answer: [A] Paris", true},
          {"A", "The answer is \"Paris\".", true},
          {"B", "The answer is \"Paris\".", false},
          {"A", "Choice (A) is correct: Paris is the capital.", true},
          {"A", "B, C and D are capitals of other countries. So it must be A.",
           true},
          {"D", "Eliminate A and B. Between C and D, C is better.", false},
      });
}

TEST(ChoiceConcluded, OfCities) {
  ExpectChoices(
      {"24", "36", "48", "60"},
      {
          {"C", "3 \u00d7 16 = 48 \u2192 C", true},
          {"C", "3 \u00d7 16 = 48", true},
          {"C", "3 \u00d7 16 = 48, which is choice C.", true},
          {"C", "Therefore the area is 48 square units.", true},
          {"B", "Therefore the area is 48 square units.", false},
          {"C", "Therefore the area is 48 square units, option (C).", true},
          {"C", "The answer is 48.", true},
          {"C", "48 (option C)", true},
          {"A", "12 + 12 = 24. The closest option is A.", true},
      });
}

TEST(ChoiceConcluded, OfPlanets) {
  ExpectChoices(
      {"the nucleus", "the cell membrane", "mitochondria", "ribosomes"},
      {
          {"C", "Mitochondria produce ATP, so the answer is mitochondria.",
           true},
          {"C", "The organelle that produces energy is the mitochondria.",
           true},
          {"A", "DNA is stored in the nucleus.", true},
          {"A", "DNA is stored in the nucleus, not the mitochondria.", true},
          {"D", "Ribosomes make proteins.", true},
          {"D", "Proteins are made by ribosomes (D), which read mRNA.", true},
          {"D", "The nucleus holds DNA; ribosomes make proteins. So D.", true},
          {"A", "The nucleus holds DNA; ribosomes make proteins. So D.", false},
      });
}

TEST(ChoiceConcluded, OfAnimals) {
  ExpectChoices({"3", "5", "7", "9", "11"},
                {
                    {"C", "1 + 6 = 7, so C.", true},
                    {"B", "1 + 6 = 7, so C.", false},
                    {"C", "It is 7, which is option C.", true},
                    {"C", "7 is prime, but so are 3 and 5.", false},
                    {"C", "The answer choice is 7.", true},
                    {"C", "7!", true},
                    {"D", "The values are 3, 5, 7. The next one is 9.", true},
                });
}

TEST(ChoiceConcluded, ANewTryBehindAnAnswerCounts) {
  const std::vector<std::string> options = {"20%", "25%", "30%"};
  const std::string tried =
      "Therefore, the answer is (A) 20%... let me recheck: 30/120 = 0.25, ";
  const std::string again = tried + "so it's 25%, option (B).";
  EXPECT_TRUE(CheckChoice(options, "B", again).correct);
  EXPECT_FALSE(CheckChoice(options, "A", again).correct);
  EXPECT_FALSE(GradeAnswer("A", again).equal);
  for (const char* end : {"so it may be option (B).", "so is it option (B)?",
                          "so it's not option (B)."}) {
    EXPECT_FALSE(CheckChoice(options, "B", tried + end).correct) << end;
  }
}

TEST(ChoiceAnswer, ALetterWithAnotherOptionsTextIsNoPick) {
  const std::vector<std::string> options = {"12", "15", "21", "51"};
  for (const char* response :
       {"B) 12", "\\boxed{B. 12}", "The answer is (B) 21."}) {
    EXPECT_FALSE(CheckChoice(options, "B", response).correct) << response;
  }
  for (const char* response : {"B) 15", "B", "The answer is (B) 15.", "(B)",
                               "The answer is B. It is 3 more than 12."}) {
    EXPECT_TRUE(CheckChoice(options, "B", response).correct) << response;
  }
}

}  // namespace
}  // namespace espalier
