#include "datasets/answers/grade_answer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "datasets/answers/find/extract_answer.h"
#include "nlohmann/json.hpp"
#include "tests/base/one_thread.h"
#include "tests/datasets/answers/pair_file.h"

namespace espalier {
namespace {

std::string Show(const Pair& pair) {
  const auto tail = [](const std::string& text) {
    return text.size() > 200 ? "..." + text.substr(text.size() - 200) : text;
  };
  return "line " + std::to_string(pair.line) + ": " + tail(pair.gold) +
         "  |  " + tail(pair.answer);
}

TEST(GradeAnswer, PairsJudgedByHand) {
  ESP_ONE_THREAD();
  const std::vector<Pair> pairs = OwnPairs();
  ASSERT_GT(pairs.size(), 300u);
  for (const Pair& pair : pairs) {
    const GradeVerdict verdict =
        GradeAnswer(pair.gold, pair.answer, pair.policy);
    EXPECT_EQ(verdict.equal, pair.equal) << Show(pair) << "\n"
                                         << verdict.reason;
    EXPECT_FALSE(verdict.reason.empty()) << Show(pair);
  }
}

// Pairs that cannot be decided from the texts.
TEST(GradeAnswer, PairsThatNobodyCanDecide) {
  for (const Pair& pair : ReadPairs("tests/datasets/answers/undecided.jsonl")) {
    const GradeVerdict verdict = GradeAnswer(pair.gold, pair.answer);
    EXPECT_TRUE(verdict.undecided) << Show(pair) << "\n" << verdict.reason;
    EXPECT_FALSE(verdict.equal) << Show(pair);
  }
}

// Math-Verify's and hendrycks' own test pairs.
TEST(GradeAnswer, PublishedPairs) {
  const char* data = std::getenv("ESPALIER_DATA");
  if (data == nullptr) GTEST_SKIP() << "ESPALIER_DATA is not set";
  int judged = 0, right = 0;
  for (const Pair& pair :
       ReadPairs(std::string(data) + "/grader/equivalence.jsonl")) {
    const GradeVerdict verdict =
        GradeAnswer(pair.gold, pair.answer, pair.policy);
    const bool same = verdict.equal == pair.equal;
    if (!same) {
      std::cout << (pair.disputed ? "disputed, " : "missed, ")
                << (pair.equal ? "equal" : "different") << " expected, "
                << Show(pair) << "\n  " << verdict.reason << "\n";
    }
    if (pair.disputed) continue;
    ++judged;
    right += same ? 1 : 0;
    EXPECT_FALSE(verdict.equal && !pair.equal) << "false equal: " << Show(pair);
  }
  std::cout << "figure: " << right << " of " << judged
            << " published pairs judged as their sources do\n";
  EXPECT_GE(right, 0.98 * judged);
}

std::vector<Pair> AllPairs() {
  std::vector<Pair> pairs = OwnPairs();
  if (const char* data = std::getenv("ESPALIER_DATA")) {
    for (Pair& pair :
         ReadPairs(std::string(data) + "/grader/equivalence.jsonl")) {
      pairs.push_back(std::move(pair));
    }
  }
  return pairs;
}

TEST(GradeAnswer, ExchangingSidesMakesNoEqualDifferent) {
  ESP_ONE_THREAD();
  for (const Pair& pair : AllPairs()) {
    const GradeVerdict there = GradeAnswer(pair.gold, pair.answer);
    const GradeVerdict back = GradeAnswer(pair.answer, pair.gold);
    if (there.equal) {
      EXPECT_TRUE(back.equal || back.undecided) << Show(pair) << "\n"
                                                << there.reason << "\n"
                                                << back.reason;
    }
    if (back.equal) {
      EXPECT_TRUE(there.equal || there.undecided)
          << "exchanged, " << Show(pair) << "\n"
          << back.reason << "\n"
          << there.reason;
    }
  }
}

TEST(GradeAnswer, FewPairsAreUndecided) {
  ESP_ONE_THREAD();
  int pairs = 0, undecided = 0;
  for (const Pair& pair : AllPairs()) {
    if (pair.disputed) continue;
    const GradeVerdict verdict =
        GradeAnswer(pair.gold, pair.answer, pair.policy);
    EXPECT_FALSE(verdict.equal && verdict.undecided) << Show(pair);
    ++pairs;
    undecided += verdict.undecided ? 1 : 0;
    if (verdict.undecided) {
      std::cout << "undecided, " << Show(pair) << "\n  " << verdict.reason
                << "\n";
    }
  }
  std::cout << "figure: " << undecided << " of " << pairs
            << " pairs undecided\n";
  EXPECT_LE(undecided, 0.005 * pairs);
}

TEST(GradeAnswer, EveryTextEqualsItself) {
  for (const std::string& text : Corpus()) {
    EXPECT_TRUE(GradeAnswer(text, text).equal) << text;
  }
}

// Spaces around operators and bracket sizes (\left, \big) change nothing.
std::string WithNoise(const std::string& text, unsigned seed) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const char before = i > 0 ? text[i - 1] : ' ';
    const bool escaped = before == '\\';
    seed = seed * 1103515245u + 12345u;
    const unsigned draw = (seed >> 16) % 4;
    if ((c == '(' || c == ')') && !escaped && draw < 2) {
      out += c == '(' ? "\\left(" : "\\right)";
    } else if ((c == '+' || c == '=') && !escaped && draw == 0) {
      out += std::string(" ") + c + " ";
    } else if ((c == '+' || c == '=') && !escaped && draw == 1) {
      out += std::string("\\,") + c + "\\;";
    } else {
      out += c;
    }
  }
  return seed % 2 == 0 ? " " + out : out + "  ";
}

TEST(GradeAnswer, NoiseChangesNoVerdict) {
  ESP_ONE_THREAD();
  for (const Pair& pair : OwnPairs()) {
    // Responses are prose, where \( opens a formula.
    if (pair.answer.find("\\(") != std::string::npos ||
        pair.answer.find("oxed") != std::string::npos ||
        pair.answer.find("nswer") != std::string::npos) {
      continue;
    }
    for (unsigned seed = 1; seed <= 4; ++seed) {
      const std::string noisy = WithNoise(pair.answer, seed);
      const GradeVerdict verdict = GradeAnswer(pair.gold, noisy);
      EXPECT_EQ(verdict.equal, pair.equal)
          << Show(pair) << "\nas " << noisy << "\n"
          << verdict.reason;
    }
  }
}

TEST(GradeAnswer, ReasonsSayWhy) {
  EXPECT_EQ(GradeAnswer("3/4", "0.75").reason, "both are 3/4");
  EXPECT_EQ(GradeAnswer("3/4", "2").reason, "gold is 3/4, the answer 2");
  EXPECT_EQ(GradeAnswer(".5833", "7/12").reason,
            "gold is 0.5833, the answer 7/12");
  EXPECT_EQ(GradeAnswer("-0.50", "-\\frac12").reason, "both are -0.50");
  EXPECT_EQ(GradeAnswer("a loss of \\$10", "a profit of \\$10").reason,
            "gold says \"loss\", the answer \"profit\"; without that, both are "
            "10");
  EXPECT_EQ(GradeAnswer("[0,1)", "7").reason,
            "gold is an interval ([0, 1)), the answer a value (7)");
  EXPECT_EQ(GradeAnswer("(1,2)", "(1,3)").reason,
            "part 2: gold is 2, the answer 3");
  EXPECT_EQ(GradeAnswer("5", "  ").reason, "the answer is blank");
  EXPECT_EQ(GradeAnswer("5 cm", "5 kg").reason,
            "gold is in cm, the answer in kg");
  const std::string unread = GradeAnswer("5", "\\frac{1}{").reason;
  EXPECT_NE(unread.find("could not read the answer: expected"),
            std::string::npos)
      << unread;
}

TEST(GradeAnswer, EqualToOneOfSeveralGoldsIsEqual) {
  EXPECT_TRUE(GradeAgainstAny({"7", "1/2"}, "0.5").equal);
  EXPECT_TRUE(GradeAgainstAny({"4", "4 m"}, "4").equal);
  EXPECT_TRUE(GradeAgainstAny({"7", "4 m"}, "4").undecided);
  EXPECT_FALSE(GradeAgainstAny({"7", "8"}, "0.5").equal);
  EXPECT_FALSE(GradeAgainstAny({"7", "8"}, "0.5").undecided);
  EXPECT_FALSE(GradeAgainstAny({}, "0.5").equal);
}

TEST(GradeAnswer, PoliciesDecideWhereGradersDiffer) {
  GradePolicy p;
  p.percent = GradePolicy::Percent::kValue;
  EXPECT_TRUE(GradeAnswer("28%", "0.28", p).equal);
  EXPECT_FALSE(GradeAnswer("28%", "28", p).equal);
  p.percent = GradePolicy::Percent::kDrop;
  EXPECT_FALSE(GradeAnswer("28%", "0.28", p).equal);
  EXPECT_TRUE(GradeAnswer("28%", "28", p).equal);
  p = {};
  p.units = GradePolicy::Units::kRequired;
  EXPECT_FALSE(GradeAnswer("15 cm", "15", p).equal);
  EXPECT_TRUE(GradeAnswer("15 cm", "150 mm", p).equal);
  p.units = GradePolicy::Units::kDrop;
  EXPECT_TRUE(GradeAnswer("15 cm", "15 kg", p).equal);
  p = {};
  p.tuple_order = false;
  EXPECT_TRUE(GradeAnswer("(1,2,3)", "(3,2,1)", p).equal);
  p = {};
  p.list_order = true;
  EXPECT_FALSE(GradeAnswer("4, 10", "10, 4", p).equal);
  EXPECT_TRUE(GradeAnswer("\\{4, 10\\}", "\\{10, 4\\}", p).equal);
  p = {};
  p.interval_is_inequality = false;
  EXPECT_FALSE(GradeAnswer("(2,\\infty)", "x > 2", p).equal);
  p = {};
  p.rounding_digits = 3;
  EXPECT_TRUE(GradeAnswer("\\pi", "3.14", p).equal);
  p.rounding_digits = 0;
  EXPECT_FALSE(GradeAnswer("\\frac{8}{3}", "2.666666667", p).equal);
  p = {};
  p.tolerance = 0.01;
  EXPECT_TRUE(GradeAnswer("100", "100.9", p).equal);
  EXPECT_FALSE(GradeAnswer("100", "101.1", p).equal);
  p = {};
  p.strict_symbols = false;
  EXPECT_TRUE(GradeAnswer("x = 1", "y = 1", p).equal);
  p = {};
  p.extract = false;
  EXPECT_FALSE(GradeAnswer("5", "it is 5", p).equal);
}

// CPU seconds for `piece` repeated to `bytes`: the best of `runs`, so that a
// busy machine does not fail the test.
double SecondsFor(const std::string& piece, size_t bytes, int runs) {
  std::string text;
  while (text.size() < bytes) text += piece;
  double best = 1e9;
  for (int i = 0; i < runs; ++i) {
    const std::clock_t start = std::clock();
    GradeAnswer(text, text + "x");
    GradeAnswer("5", text);
    best = std::min(best,
                    static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
  }
  return best;
}

// Four times the text may cost four times as much. Quadratic cost would be 16
// times as much and fails on any machine, under any sanitizer. Only the last
// kLongestResponse bytes are searched for an answer, so texts up to that size
// measure the search itself; longer ones only measure how those bytes are
// found.
TEST(GradeAnswer, HugeTextsTakeNoTime) {
  ESP_ONE_THREAD();
  for (const std::string piece : {"\\text{",
                                  "\\boxed{",
                                  "$",
                                  "12,000,",
                                  "at most 5 ",
                                  "\u221a",
                                  "{",
                                  "((",
                                  "1 ",
                                  "answer is ",
                                  "\\frac{",
                                  "answer is not 5. ",
                                  "<think>",
                                  "who do not ",
                                  "if it is 5 then ",
                                  "$5$ for ",
                                  "\n4 = ",
                                  "[/",
                                  "\u25c1",
                                  "<|",
                                  "\\{1,000",
                                  "is 4 and is 5 for ",
                                  "5 after ",
                                  "% \\boxed{5}\n",
                                  "<!-- ",
                                  "takes five days to cover 20 km ",
                                  "\\begin{align}x&=1\\\\",
                                  "evaluates to 10 when x = 3 "}) {
    for (const size_t bytes : {kLongestResponse, size_t{1200000}}) {
      double whole = SecondsFor(piece, bytes, 1);
      if (whole < 0.004) continue;
      const double limit = 8 * SecondsFor(piece, bytes / 4, 3);
      // Measured again only where once was too slow.
      if (whole >= limit) whole = SecondsFor(piece, bytes, 5);
      EXPECT_LT(whole, limit) << piece << bytes;
      EXPECT_LT(whole, 10) << piece;
    }
  }
}

// A worked GSM8K solution without calculator annotations and its last line.
std::string Prose(std::string text) {
  text.resize(text.find("\n####"));
  for (size_t at = 0; (at = text.find("<<", at)) != std::string::npos;) {
    text.erase(at, text.find(">>", at) + 2 - at);
  }
  return text;
}

TEST(GradeAnswer, WorkedSolutionsInPlainSentences) {
  const char* data = std::getenv("ESPALIER_DATA");
  if (data == nullptr) GTEST_SKIP() << "ESPALIER_DATA is not set";
  std::ifstream in(std::string(data) + "/math/gsm8k_test.jsonl");
  int right = 0, all = 0;
  for (std::string line; std::getline(in, line);) {
    const std::string text = nlohmann::json::parse(line).at("answer");
    const std::string gold = text.substr(text.rfind("#### ") + 5);
    right += GradeAnswer(gold, Prose(text)).equal ? 1 : 0;
    ++all;
  }
  std::cout << "figure: " << right << " of " << all
            << " worked solutions read as their answer\n";
  ASSERT_GT(all, 1000);
  EXPECT_GE(right, 0.985 * all);
}

// Values that differ only far behind the decimal point, and equal values that
// comparing digits could not prove equal.
TEST(GradeAnswer, NumbersAreExact) {
  EXPECT_FALSE(GradeAnswer("\\sqrt{2}", "\\sqrt{2}+10^{-40}").equal);
  EXPECT_FALSE(GradeAnswer("\\sin 1", "\\sin 1 + 10^{-60}").equal);
  // Ramanujan's almost integer differs in the 13th decimal.
  EXPECT_FALSE(GradeAnswer("e^{\\pi\\sqrt{163}}", "262537412640768744").equal);
  EXPECT_EQ(GradeAnswer("\\sqrt{5+2\\sqrt6}", "\\sqrt2+\\sqrt3").reason,
            "both are sqrt(5 + 2*sqrt(6))");
}

}  // namespace
}  // namespace espalier
