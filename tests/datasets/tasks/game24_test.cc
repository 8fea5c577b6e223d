#include "datasets/tasks/game24.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "absl/strings/str_join.h"
#include "datasets/sets/problem_set.h"
#include "datasets/tasks/game24_task.h"
#include "tests/datasets/data_files.h"

namespace espalier {
namespace {

std::vector<Fraction> Hand(const std::vector<int64_t>& numbers) {
  std::vector<Fraction> out;
  for (const int64_t n : numbers) out.push_back({n, 1});
  return out;
}

// Brute force, unlike the solver: all values of a multiset in floating point,
// by splitting it in two in every way.
std::vector<double> Reachable(const std::vector<double>& numbers) {
  if (numbers.size() == 1) return numbers;
  std::set<double> values;  // to 9 decimals
  const unsigned all = 1u << numbers.size();
  const auto add = [&](double v) { values.insert(std::round(v * 1e9) / 1e9); };
  for (unsigned mask = 1; mask + 1 < all; ++mask) {
    std::vector<double> in, out;
    for (size_t i = 0; i < numbers.size(); ++i) {
      ((mask >> i & 1) != 0 ? in : out).push_back(numbers[i]);
    }
    const std::vector<double> left = Reachable(in), right = Reachable(out);
    for (const double a : left) {
      for (const double b : right) {
        add(a + b);
        add(a - b);
        add(a * b);
        if (std::abs(b) > 1e-9) add(a / b);
      }
    }
  }
  return {values.begin(), values.end()};
}

bool BruteForce(const std::vector<int64_t>& numbers) {
  for (const double v : Reachable({numbers.begin(), numbers.end()})) {
    if (std::abs(v - 24) < 1e-6) return true;
  }
  return false;
}

// 1362 of the 1820 hands of cards are solvable, the published count.
TEST(Game24Solver, FindsThe1362SolvableHandsOfCards) {
  int solvable = 0, checked = 0;
  for (int a = 1; a <= 13; ++a) {
    for (int b = a; b <= 13; ++b) {
      for (int c = b; c <= 13; ++c) {
        for (int d = c; d <= 13; ++d) {
          const bool makes = Makes24(Hand({a, b, c, d}));
          solvable += makes;
          if ((a * 7 + b * 5 + c * 3 + d) % 12 != 0) continue;
          ++checked;
          EXPECT_EQ(makes, BruteForce({a, b, c, d}))
              << a << " " << b << " " << c << " " << d;
        }
      }
    }
  }
  EXPECT_EQ(solvable, 1362);
  EXPECT_GT(checked, 100);
}

TEST(Game24Solver, AgreesWithBruteForceOnLargerNumbers) {
  RandomStream rng(StreamKey(5, 0, 0, Purpose::kTest));
  int solvable = 0;
  for (int i = 0; i < 150; ++i) {
    std::vector<int64_t> numbers;
    for (int k = 0; k < 4; ++k) numbers.push_back(rng.Range(1, 40));
    EXPECT_EQ(Makes24(Hand(numbers)), BruteForce(numbers))
        << absl::StrJoin(numbers, " ");
    solvable += Makes24(Hand(numbers));
  }
  EXPECT_GT(solvable, 20);
  EXPECT_LT(solvable, 130);
}

TEST(Game24Solver, SolvesThePublishedPuzzles) {
  SKIP_WITHOUT_PUBLIC_DATA();
  const auto set = LoadSet(PublicData() + "/puzzles/game24.csv", {});
  ASSERT_TRUE(set.ok()) << set.status();
  ASSERT_EQ(set->problems.size(), 1362u);
  for (const GradedProblem& p : set->problems) {
    const auto numbers = ParseGame24(p.problem.question);
    ASSERT_TRUE(numbers.ok()) << numbers.status();
    EXPECT_TRUE(Makes24(*numbers)) << p.problem.question;
  }
}

TEST(Game24Solver, EverySolutionIsOne) {
  for (const std::vector<int64_t>& numbers :
       {std::vector<int64_t>{3, 3, 8, 8}, {4, 9, 10, 13}, {1, 5, 5, 5}}) {
    const auto solutions = Game24Solutions(Hand(numbers));
    EXPECT_FALSE(solutions.empty());
    for (const std::string& text : solutions) {
      std::vector<Fraction> used;
      const auto value = EvaluateExpression(text, &used);
      ASSERT_TRUE(value) << text;
      EXPECT_EQ(*value, (Fraction{24, 1})) << text;
      EXPECT_EQ(used, Hand(numbers)) << text;
    }
  }
  // The single known solution of each.
  EXPECT_EQ(Game24Solutions(Hand({3, 3, 8, 8})),
            (std::set<std::string>{"(8 / (3 - (8 / 3)))"}));
  EXPECT_EQ(Game24Solutions(Hand({1, 5, 5, 5})),
            (std::set<std::string>{"((5 - (1 / 5)) * 5)"}));
  EXPECT_TRUE(Game24Solutions(Hand({1, 1, 1, 1})).empty());
}

// The odds, by random playouts.
TEST(Game24Solver, OddsOfRandomPlay) {
  RandomStream rng(StreamKey(6, 0, 0, Purpose::kTest));
  const int plays = 30000;
  int won = 0;
  for (int i = 0; i < plays; ++i) {
    std::vector<double> left = {2, 3, 4, 12};
    while (left.size() > 1) {
      const auto n = static_cast<uint32_t>(left.size());
      const uint32_t a = rng.Below(n), b = rng.Below(n), op = rng.Below(6);
      // Each pair and operation once: 6 ways, divisions by zero left out.
      if (a >= b) continue;
      const double x = left[a], y = left[b];
      if ((op == 4 && y == 0) || (op == 5 && x == 0)) continue;
      const double results[] = {x + y, x * y, x - y, y - x, x / y, y / x};
      left.erase(left.begin() + b);
      left.erase(left.begin() + a);
      left.push_back(results[op]);
    }
    won += std::abs(left[0] - 24) < 1e-6;
  }
  const double p = RandomPlayOdds(Hand({2, 3, 4, 12}));
  EXPECT_GT(p, 0.005);
  EXPECT_NEAR(won, plays * p, 5 * std::sqrt(plays * p));
}

TEST(Game24Rules, ExpressionsAreReadStrictly) {
  const auto value = [](std::string_view text) -> std::string {
    std::vector<Fraction> used;
    const auto found = EvaluateExpression(text, &used);
    return found ? FormatFraction(*found) : "none";
  };
  EXPECT_EQ(value("8 / (3 - 8 / 3)"), "24");
  EXPECT_EQ(value("(10-4)*(13-9)"), "24");
  EXPECT_EQ(value("2 - 3 - 4"), "-5");
  EXPECT_EQ(value("12 / 2 / 3"), "2");
  EXPECT_EQ(value("2 + 3 * 4"), "14");
  EXPECT_EQ(value("1 / 3"), "1/3");
  for (const char* bad :
       {"", "()", "1 +", "(1", "1)", "1 2", "1 / 0", "-1", "1.5", "2 ** 3",
        "24 = 24", "1 / (1 - 1)", "9999999999"}) {
    EXPECT_EQ(value(bad), "none") << bad;
  }
  EXPECT_EQ(value(std::string(100000, '(')), "none");
  EXPECT_EQ(value("999999999 * 999999999"), "none");
}

struct Game24Case {
  const char* what;
  const char* response;
  std::vector<std::pair<bool, bool>> verdicts;  // step and path verdicts
};

TEST(Game24Verifier, JudgesLines) {
  const Problem problem{"", "", "Make 24 from 3, 3, 8 and 8."};
  const Game24Case cases[] = {
      {"solution",
       "8 / 3 = 8/3 : 8/3 3 8\n3 - 8/3 = 1/3 : 1/3 8\n8 / 1/3 = 24 : 24\n"
       "= 24\n",
       {{true, true}, {true, true}, {true, true}, {true, true}}},
      {"expression", "= 8 / (3 - 8 / 3)", {{true, true}}},
      {"expression over what is left",
       "8 * 3 = 24 : 3 8 24\n= 24 * (8 - 3)\n",
       {{true, false}, {false, false}}},
      {"expression with other numbers", "= 24 * 1\n", {{false, false}}},
      {"dead end",
       "8 + 8 = 16 : 3 3 16\ngive up\n",
       {{true, false}, {true, false}}},
      {"giving up where a solution exists", "give up\n", {{false, false}}},
      {"wrong result", "8 / 3 = 2 : 2 3 8\n", {{false, false}}},
      {"number that is not there", "9 - 3 = 6 : 3 6 8\n", {{false, false}}},
      {"wrong numbers left", "8 - 3 = 5 : 3 5 5\n", {{false, false}}},
      {"unsorted numbers left", "8 - 3 = 5 : 8 5 3\n", {{false, false}}},
      {"not in lowest terms", "8 / 3 = 16/6 : 16/6 3 8\n", {{false, false}}},
      {"division by zero",
       "3 - 3 = 0 : 0 8 8\n8 / 0 = 8 : 8 8\n",
       {{true, false}, {false, false}}},
      {"answer too early", "= 24\n", {{false, false}}},
      {"line after the end",
       "= 8 / (3 - 8 / 3)\n= 24\n",
       {{true, true}, {false, false}}},
  };
  for (const Game24Case& c : cases) {
    const auto verdicts =
        Game24Verifier().CheckSteps(problem, Reference{}, c.response);
    ASSERT_TRUE(verdicts.ok()) << c.what;
    std::vector<std::pair<bool, bool>> got;
    for (const StepVerdict& v : *verdicts) {
      got.push_back({v.step_ok, v.path_ok});
    }
    EXPECT_EQ(got, c.verdicts) << c.what;
    const bool solved = c.verdicts.back() == std::pair(true, true);
    EXPECT_EQ(Game24Verifier().Check(problem, Reference{}, c.response).correct,
              solved)
        << c.what;
  }
}

TEST(Game24Rules, QuestionsAreReadInBothForms) {
  EXPECT_EQ(FormatNumbers(*ParseGame24("13 9 10 4")), "4 9 10 13");
  EXPECT_EQ(FormatNumbers(*ParseGame24("Make 24 from 4, 9, 10 and 13.")),
            "4 9 10 13");
  for (const char* bad : {"", "1 2 3", "1 2 3 4 5", "0 1 2 3", "1 2 3 100",
                          "1 2 3 -4", "1 2 3 4.5", "1 2 3 4/5"}) {
    EXPECT_FALSE(ParseGame24(bad).ok()) << bad;
  }
}

TEST(Game24Generator, BandsAreAsTheySay) {
  const std::map<std::string_view, std::pair<double, double>> odds = {
      {"easy", {1.0 / 150, 1}},
      {"middle", {1.0 / 750, 1.0 / 150}},
      {"hard", {1e-9, 1.0 / 750}},
      {"", {1e-9, 1}}};
  for (const std::string_view band : Game24Bands()) {
    for (uint64_t i = 0; i < 20; ++i) {
      const GradedProblem p = MakeGame24(band, 2000, i);
      const auto numbers = ParseGame24(p.problem.question);
      ASSERT_TRUE(numbers.ok());
      const double chance = RandomPlayOdds(*numbers);
      EXPECT_GE(chance, odds.at(band).first);
      EXPECT_LE(chance, odds.at(band).second);
    }
  }
}

}  // namespace
}  // namespace espalier
