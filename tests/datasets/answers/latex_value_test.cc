// LaTeX against values that SymPy computed for latex2sympy2_extended's tests.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <string>

#include "datasets/answers/grade_answer.h"
#include "datasets/answers/notation/parser.h"
#include "datasets/answers/value/answer.h"
#include "datasets/answers/value/ball_value.h"
#include "datasets/answers/value/calculus.h"
#include "nlohmann/json.hpp"

namespace espalier {
namespace {

// "7/10"
BigRational Fraction(const std::string& text) {
  const size_t slash = text.find('/');
  const auto number = [](const std::string& digits) {
    return digits[0] == '-'
               ? BigRational() - BigRational::FromDigits(digits.substr(1))
               : BigRational::FromDigits(digits);
  };
  if (slash == std::string::npos) return number(text);
  return number(text.substr(0, slash)) / number(text.substr(slash + 1));
}

bool HasValue(const Expr& tree, const nlohmann::json& at, double real,
              double imaginary) {
  Sample sample;
  for (const auto& [name, value] : at.items()) {
    sample[name] = Fraction(value.get<std::string>());
  }
  Ball ball;
  const Expr resolved = ResolveCalculus(tree);
  if (!BallEvaluator(128, sample).Evaluate(*resolved, ball)) return false;
  const double x = arf_get_d(arb_midref(acb_realref(ball.get())), ARF_RND_NEAR);
  const double y = arf_get_d(arb_midref(acb_imagref(ball.get())), ARF_RND_NEAR);
  const double scale = 1 + std::hypot(real, imaginary);
  return std::abs(x - real) < 1e-9 * scale &&
         std::abs(y - imaginary) < 1e-9 * scale;
}

// What SymPy reads, as plain text, where it has no value.
const std::map<std::string, std::string>& Readings() {
  static const auto* const kReadings = new std::map<std::string, std::string>{
      {"Eq(a**2 + b**2, c**2)", "a^2+b^2-c^2=0"},
      {"oo", "infinity"},
      {"-oo", "-infinity"},
      {"x <= y", "y >= x"},
      {"x >= y", "y <= x"},
      {"x < y", "y > x"},
      {"x > y", "y < x"},
      {"Eq(x, y)", "x=y"},
      {"1 - f(x)", "-f(x)+1"},
  };
  return *kReadings;
}

// Structures that are compared by the description of their tree.
const std::map<std::string, std::string>& Trees() {
  static const auto* const kTrees = new std::map<std::string, std::string>{
      {"a*b", "lcm(a, b)"},
      {"x_1", "x_1"},
      {"x_b", "x_b"},
      {"h_{\\theta}", "h_theta"},
      {"2*bar{x}", "2*bar x"},
      {"x/bar{x}_n", "x/bar x_n"},
      {"Matrix([[x, x**2], [sqrt(x), x]])", "matrix(x, x^2, sqrt(x), x)"},
      {"Matrix([[1, 2], [3, 4]])", "matrix(1, 2, 3, 4)"},
      {"Matrix([[1], [2], [3]])", "matrix(1, 2, 3)"},
      {"{Matrix([\n[1],\n[2],\n[3]])}", "matrix(1, 2, 3)"},
      {"{Matrix([\n[1],\n[2],\n[3]]), Matrix([\n[4],\n[3],\n[1]])}",
       "matrix(1, 2, 3), matrix(4, 3, 1)"},
      {"theta*Matrix([\n[1],\n[3]]) - Matrix([\n[-1],\n[ 2]])",
       "theta*(matrix(1, 3)) + -(matrix(-1, 2))"},
  };
  return *kTrees;
}

bool ReadsAs(const Expr& tree, const std::string& latex,
             const std::string& sympy) {
  if (const auto found = Readings().find(sympy); found != Readings().end()) {
    return GradeAnswer(latex, found->second).equal;
  }
  std::string shown = Describe(*tree);
  // \overline and \bar are two spellings of the same symbol here.
  while (shown.find("overline ") != std::string::npos) {
    shown.replace(shown.find("overline "), 9, "bar ");
  }
  const auto found = Trees().find(sympy);
  return found != Trees().end() && found->second == shown;
}

TEST(LatexValue, PublishedCases) {
  const char* data = std::getenv("ESPALIER_DATA");
  if (data == nullptr) GTEST_SKIP() << "ESPALIER_DATA is not set";
  std::ifstream in(std::string(data) + "/grader/latex_parse.jsonl");
  ASSERT_TRUE(in.good());
  std::string line;
  int cases = 0, right = 0;
  while (std::getline(in, line)) {
    const nlohmann::json json = nlohmann::json::parse(line);
    const std::string latex = json.at("latex");
    const auto tree = ParseMath(latex);
    ++cases;
    bool good = false;
    if (json.contains("error")) {
      good = !tree.ok();
      EXPECT_TRUE(good) << "\"" << latex << "\" must not be read, but is "
                        << Describe(**tree);
    } else if (tree.ok() && json.contains("value")) {
      good = HasValue(*tree, json.at("at"), json.at("value").at(0),
                      json.at("value").at(1));
    } else if (tree.ok()) {
      good = ReadsAs(*tree, latex, json.at("sympy"));
    }
    right += good ? 1 : 0;
    if (!good) {
      std::cout << "missed: " << latex << "  wanted " << json.dump() << "  got "
                << (tree.ok() ? Describe(**tree)
                              : std::string(tree.status().message()))
                << "\n";
    }
  }
  std::cout << "figure: " << right << " of " << cases << " LaTeX cases right\n";
  EXPECT_GE(cases, 100);
  EXPECT_GE(right, 0.98 * cases);
}

}  // namespace
}  // namespace espalier
