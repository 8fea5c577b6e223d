#include <gtest/gtest.h>

#include <array>

#include "absl/strings/match.h"
#include "espalier/method_options.h"
#include "search/algorithm.h"

namespace espalier {
namespace {

enum class Colour : uint8_t { kRed, kGreen };
constexpr std::array<std::string_view, 2> kColours = {"red", "green"};

struct SomeOptions {
  int count = 3;
  float share = 0.25f;
  bool loud = false;
  Colour colour = Colour::kRed;
  void Visit(OptionVisitor& v) {
    v.Int("count", &count, 1, 9, "how many");
    v.Real("share", &share, 0, 1, "how much");
    v.Flag("loud", &loud, "whether to shout");
    VisitChoice(v, "colour", &colour, kColours, "in what colour");
  }
};

std::vector<std::string> Values(SomeOptions options) {
  OptionLister lister;
  options.Visit(lister);
  std::vector<std::string> values;
  for (const OptionInfo& option : lister.options()) {
    values.push_back(option.name + "=" + option.value);
  }
  return values;
}

std::string ErrorOf(const OptionMap& given,
                    std::vector<std::string> more = {}) {
  SomeOptions options;
  OptionParser parser(given);
  options.Visit(parser);
  return std::string(parser.Finish("a test", more).message());
}

TEST(OptionsTest, TextAndFieldsSetTheSame) {
  SomeOptions parsed;
  const OptionMap given = {
      {"count", "9"}, {"share", "5e-1"}, {"loud", "1"}, {"colour", "green"}};
  OptionParser parser(given);
  parsed.Visit(parser);
  ASSERT_TRUE(parser.Finish("a test").ok());
  EXPECT_EQ(
      Values(parsed),
      Values(
          {.count = 9, .share = 0.5f, .loud = true, .colour = Colour::kGreen}));
}

TEST(OptionsTest, AWholeNumberMayHaveAnExponent) {
  for (const auto& [text, count] :
       {std::pair("3e0", 3), std::pair("0.5e1", 5), std::pair("70E-1", 7)}) {
    SomeOptions options;
    const OptionMap given = {{"count", text}};
    OptionParser parser(given);
    options.Visit(parser);
    EXPECT_TRUE(parser.Finish("a test").ok()) << text;
    EXPECT_EQ(options.count, count);
  }
  for (const char* text : {"1e1", "1e-1", "15e-1", "1e400", "e1", "3.0"}) {
    EXPECT_FALSE(ErrorOf({{"count", text}}).empty()) << text;
  }
  EXPECT_TRUE(MakeAlgorithm("beam:branch=1e1").ok());
}

TEST(OptionsTest, NamesAndChoicesNearMissesAreNamed) {
  EXPECT_TRUE(absl::StrContains(ErrorOf({{"cuont", "2"}}), "\"count\""));
  EXPECT_TRUE(
      absl::StrContains(ErrorOf({{"colour", "gren"}}), "did you mean green?"));
  EXPECT_FALSE(absl::StrContains(ErrorOf({{"colour", "mauve"}}), "did you"));
}

TEST(OptionsTest, ProblemsOfSeveralOptionsFollowThoseOfOne) {
  const std::string message =
      ErrorOf({{"count", "0"}, {"share", "nan"}, {"noise", "1"}},
              {"count and share do not go together"});
  size_t at = 0;
  for (const char* part :
       {"a test: ", "count=0: expected a whole number from 1 to 9",
        "share=nan: expected a number from 0 to 1", "\"noise\"",
        "count and share do not go together"}) {
    at = message.find(part, at);
    EXPECT_NE(at, std::string::npos) << part << " in " << message;
  }
}

TEST(OptionsTest, MethodsRefuseValuesThatDoNotGoTogether) {
  const auto made = MakeAlgorithm("uct:c_end=0.1:temperature=-1:simulatoins=3");
  ASSERT_FALSE(made.ok());
  for (const char* part :
       {"temperature=-1", "\"simulations\"", "c_end", "simulations > 0"}) {
    EXPECT_TRUE(absl::StrContains(made.status().message(), part))
        << part << " in " << made.status();
  }
  EXPECT_FALSE(MakeAlgorithm("puct:in_flight=8:simulations=4").ok());
  EXPECT_TRUE(MakeAlgorithm("puct:in_flight=8").ok());
  EXPECT_TRUE(MakeAlgorithm("puct:width=2:widen=false").ok());
}

}  // namespace
}  // namespace espalier
