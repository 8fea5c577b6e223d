#include "datasets/answers/value/closed_form.h"

#include <gtest/gtest.h>

#include <string>

#include "datasets/answers/notation/parser.h"

namespace espalier {
namespace {

Sameness Same(const std::string& e, const std::string& value) {
  const auto tree = ParseMath(e), closed = ParseMath(value);
  EXPECT_TRUE(tree.ok() && closed.ok()) << e << " " << value;
  RationalForms forms;
  const Expr form = ClosedForm(*tree, forms);
  EXPECT_NE(form, nullptr) << e;
  return form == nullptr ? Sameness::kUnknown : forms.Compare(*form, **closed);
}

TEST(ClosedForm, LogarithmsOfProductsAndPowers) {
  EXPECT_EQ(Same("\\ln(2e)-\\ln 2", "1"), Sameness::kEqual);
  EXPECT_EQ(Same("\\log_4 8", "3/2"), Sameness::kEqual);
  EXPECT_EQ(Same("2^{\\log_2 5}", "5"), Sameness::kEqual);
  EXPECT_EQ(Same("e^{1+\\frac12\\ln 2}", "e\\sqrt2"), Sameness::kEqual);
  EXPECT_NE(Same("2^{\\log_2 5}", "6"), Sameness::kEqual);
}

TEST(ClosedForm, HyperbolicFunctions) {
  EXPECT_EQ(Same("\\sinh(\\ln 2)", "3/4"), Sameness::kEqual);
  EXPECT_EQ(Same("\\tanh(\\ln 3)", "4/5"), Sameness::kEqual);
  EXPECT_EQ(Same("\\operatorname{arsinh}(3/4)-\\ln 2", "0"), Sameness::kEqual);
}

// Abramowitz and Stegun, 6.1.8 and 23.2.16.
TEST(ClosedForm, GammaAndZeta) {
  EXPECT_EQ(Same("\\zeta(2)", "\\pi^2/6"), Sameness::kEqual);
  EXPECT_EQ(Same("\\zeta(6)", "\\pi^6/945"), Sameness::kEqual);
  EXPECT_EQ(Same("\\zeta(-1)", "-1/12"), Sameness::kEqual);
  EXPECT_EQ(Same("\\Gamma(5/2)", "3\\sqrt{\\pi}/4"), Sameness::kEqual);
  EXPECT_EQ(Same("\\Gamma(-1/2)", "-2\\sqrt{\\pi}"), Sameness::kEqual);
}

TEST(ClosedForm, NothingOfSymbolsAndPlainNumbers) {
  RationalForms forms;
  EXPECT_EQ(ClosedForm(*ParseMath("\\ln x"), forms), nullptr);
  EXPECT_EQ(ClosedForm(*ParseMath("\\sqrt2+1"), forms), nullptr);
}

}  // namespace
}  // namespace espalier
