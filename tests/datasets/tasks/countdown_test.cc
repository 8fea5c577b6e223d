#include "datasets/tasks/countdown.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "datasets/tasks/countdown_rules.h"
#include "datasets/tasks/countdown_task.h"
#include "datasets/tasks/stories.h"

namespace espalier {
namespace {

// Brute force, unlike the solver: all values of the multiset, by splitting it
// in two in every way.
std::set<int64_t> Values(const std::vector<int64_t>& numbers) {
  if (numbers.size() == 1) return {numbers[0]};
  std::set<int64_t> values;
  const unsigned all = 1u << numbers.size();
  for (unsigned mask = 1; mask + 1 < all; ++mask) {
    std::vector<int64_t> in, out;
    for (size_t i = 0; i < numbers.size(); ++i) {
      ((mask >> i & 1) != 0 ? in : out).push_back(numbers[i]);
    }
    for (const int64_t a : Values(in)) {
      for (const int64_t b : Values(out)) {
        values.insert(a + b);
        values.insert(a * b);
        if (a > b) values.insert(a - b);
        if (a % b == 0) values.insert(a / b);
      }
    }
  }
  return values;
}

TEST(CountdownSolver, AgreesWithBruteForce) {
  RandomStream rng(StreamKey(3, 0, 0, Purpose::kTest));
  int solvable = 0, all = 0;
  for (int i = 0; i < 60; ++i) {
    std::vector<int64_t> numbers;
    const int n = rng.Range(2, 4);
    for (int k = 0; k < n; ++k) numbers.push_back(rng.Range(1, 30));
    const std::set<int64_t> values = Values(numbers);
    for (int64_t target = 1; target <= 60; ++target) {
      EXPECT_EQ(Solvable(numbers, target), values.count(target) > 0)
          << target << " from the puzzle " << i;
      solvable += Solvable(numbers, target);
      ++all;
    }
  }
  EXPECT_GT(solvable, 100);
  EXPECT_LT(solvable, all - 100);
}

TEST(CountdownSolver, KnownPuzzles) {
  // ((100+6)*3*75-50)/25, a well-known round of the television programme.
  EXPECT_TRUE(Solvable({3, 6, 25, 50, 75, 100}, 952));
  EXPECT_TRUE(Solvable({1, 4, 7, 8}, 24));   // (8-4)*(7-1)
  EXPECT_FALSE(Solvable({3, 3, 8, 8}, 24));  // needs fractions
  EXPECT_FALSE(Solvable({1, 1, 1, 1}, 24));
}

TEST(CountdownSolver, SolvingMovesAreThoseThatStaySolvable) {
  // 2 3 4 > 24: 2*3*4 and (2*4)*3 and (3*4)*2; nothing else.
  std::set<std::string> moves;
  for (const CountdownMove& move : SolvingMoves({2, 3, 4}, 24)) {
    moves.insert(FormatMove(move));
  }
  EXPECT_EQ(moves, (std::set<std::string>{"3*2=6 : 4 6", "4*2=8 : 3 8",
                                          "4*3=12 : 2 12"}));
}

struct JudgeCase {
  const char* what;
  const char* response;
  std::vector<std::pair<bool, bool>> verdicts;  // step and path verdicts
};

TEST(CountdownVerifier, JudgesLines) {
  const Problem problem{"", "", "Use 3, 7 and 25 to reach 46."};
  const JudgeCase cases[] = {
      {"solution",
       "7*3=21 : 21 25\n25+21=46 : 46\n= 46\n",
       {{true, true}, {true, true}, {true, true}}},
      {"dead end",
       "25-3=22 : 7 22\n22+7=29 : 29\ngive up\n",
       {{true, false}, {true, false}, {true, false}}},
      {"giving up early but rightly",
       "25-3=22 : 7 22\ngive up\n",
       {{true, false}, {true, false}}},
      {"giving up where a solution exists", "give up\n", {{false, false}}},
      {"wrong result", "7*3=22 : 22 25\n", {{false, false}}},
      {"number that is not there", "8*3=24 : 24 25\n", {{false, false}}},
      {"wrong numbers left", "7*3=21 : 7 25\n", {{false, false}}},
      {"number forgotten", "7*3=21 : 21\n", {{false, false}}},
      {"negative result", "3-7=0 : 0 25\n", {{false, false}}},
      {"inexact division", "25/7=3 : 3 3\n", {{false, false}}},
      {"answer too early", "= 46\n", {{false, false}}},
      {"answer forced to the target",
       "25-3=22 : 7 22\n22+7=46 : 46\n= 46\n",
       {{true, false}, {false, false}, {true, false}}},
      {"not a move", "hello\n", {{false, false}}},
      {"line after the end",
       "7*3=21 : 21 25\n25+21=46 : 46\n= 46\n= 46\n",
       {{true, true}, {true, true}, {true, true}, {false, false}}},
  };
  for (const JudgeCase& c : cases) {
    const auto verdicts =
        CountdownVerifier().CheckSteps(problem, Reference{}, c.response);
    ASSERT_TRUE(verdicts.ok()) << c.what;
    std::vector<std::pair<bool, bool>> got;
    for (const StepVerdict& v : *verdicts)
      got.push_back({v.step_ok, v.path_ok});
    EXPECT_EQ(got, c.verdicts) << c.what;
  }
}

TEST(CountdownVerifier, AcceptsOnlyWholeSolutions) {
  const Problem problem{"", "", "Use 3, 7 and 25 to reach 46."};
  const auto check = [&](const char* response) {
    return CountdownVerifier().Check(problem, Reference{}, response);
  };
  EXPECT_TRUE(check("7*3=21 : 21 25\n25+21=46 : 46\n= 46\n").correct);
  EXPECT_FALSE(check("7*3=21 : 21 25\n25+21=46 : 46\n").correct);
  EXPECT_FALSE(check("= 46\n").correct);
  EXPECT_FALSE(check("25-3=22 : 7 22\n22+7=29 : 29\ngive up\n").correct);
  EXPECT_FALSE(check("25-3=22 : 7 22\n22+7=46 : 46\n= 46\n").correct);
  EXPECT_FALSE(check("").correct);
  const Verdict bad =
      CountdownVerifier().Check({"", "", "no numbers"}, Reference{}, "= 4\n");
  EXPECT_FALSE(bad.correct);
  EXPECT_NE(bad.reason.find("expected 2 to 6"), std::string::npos);
}

std::string PuzzleOf(const GradedProblem& problem) {
  return FormatCountdown(ParseCountdown(problem.problem.question).value());
}

TEST(CountdownGenerator, ReferencesAreAccepted) {
  for (int numbers = 3; numbers <= 5; ++numbers) {
    for (uint64_t i = 0; i < 50; ++i) {
      const GradedProblem problem = MakeCountdown(numbers, 1, i);
      std::string response;
      for (const std::string& line : problem.reference.steps) {
        absl::StrAppend(&response, line, "\n");
      }
      EXPECT_TRUE(CountdownVerifier()
                      .Check(problem.problem, problem.reference, response)
                      .correct)
          << problem.problem.question << "\n"
          << response;
    }
  }
}

TEST(CountdownGenerator, NoTestPuzzleIsEverTrainedOn) {
  std::set<std::string> training, choosing;
  for (uint64_t i = 0; i < 4000; ++i) {
    training.insert(PuzzleOf(MakeCountdown(3, i % 5, i)));
    if (i < 1000) choosing.insert(PuzzleOf(MakeCountdown(3, 1000, i)));
  }
  for (uint64_t i = 0; i < 1000; ++i) {
    const std::string puzzle = PuzzleOf(MakeCountdown(3, kFirstTestSeed, i));
    EXPECT_EQ(training.count(puzzle) + choosing.count(puzzle), 0u) << puzzle;
  }
}

TEST(CountdownWalk, VerdictsAreTheVerifiersOwn) {
  int planted = 0, right = 0, given_up = 0, solved = 0;
  for (uint64_t i = 0; i < 400; ++i) {
    const GradedProblem problem =
        MakeCountdown(3 + static_cast<int>(i % 3), 1, i);
    const CountdownPuzzle puzzle =
        ParseCountdown(problem.problem.question).value();
    RandomStream rng(StreamKey(4, 0, i, Purpose::kTest));
    const std::vector<CorruptedLine> lines = WalkCountdown(
        puzzle, {.solving = 0.7, .give_up_early = 0.3, .corrupt = 0.2}, rng);
    std::string response;
    for (const CorruptedLine& line : lines) {
      absl::StrAppend(&response, line.text, "\n");
    }
    const auto verdicts = CountdownVerifier().CheckSteps(
        problem.problem, problem.reference, response);
    ASSERT_TRUE(verdicts.ok());
    ASSERT_EQ(verdicts->size(), lines.size()) << response;
    for (size_t k = 0; k < lines.size(); ++k) {
      EXPECT_EQ((*verdicts)[k].step_ok, lines[k].verdict.step_ok) << response;
      EXPECT_EQ((*verdicts)[k].path_ok, lines[k].verdict.path_ok) << response;
      EXPECT_NE(lines[k].verdict.step_ok, lines[k].planted) << response;
      (lines[k].planted ? planted : right) += 1;
    }
    given_up += lines.back().text == kGiveUpLine && !lines.back().planted;
    solved +=
        lines.back().text.starts_with("= ") && lines.back().verdict.path_ok;
  }
  EXPECT_GT(planted, 150);
  EXPECT_GT(right, 600);
  EXPECT_GT(given_up, 50);
  EXPECT_GT(solved, 50);
}

TEST(CountdownWalk, WithoutErrorsSolves) {
  for (uint64_t i = 0; i < 50; ++i) {
    const GradedProblem problem = MakeCountdown(4, 1, i);
    RandomStream rng(StreamKey(4, 1, i, Purpose::kTest));
    const auto lines = WalkCountdown(
        ParseCountdown(problem.problem.question).value(), {}, rng);
    EXPECT_TRUE(lines.back().verdict.path_ok);
    EXPECT_EQ(lines.size(), 4u);
  }
}

}  // namespace
}  // namespace espalier
