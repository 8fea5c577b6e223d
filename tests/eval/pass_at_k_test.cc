#include "src/eval/pass_at_k.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>

#include "nlohmann/json.hpp"

namespace espalier {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

// The share of subsets of size k that contain one of the first c responses.
double ByEnumeration(int n, int c, int k) {
  int subsets = 0, hits = 0;
  for (uint32_t mask = 0; mask < (1u << n); ++mask) {
    if (std::popcount(mask) != k) continue;
    ++subsets;
    hits += (mask & ((1u << c) - 1)) != 0;
  }
  return static_cast<double>(hits) / subsets;
}

TEST(PassAtKTest, IsTheShareOfSubsetsThatHoldARightOne) {
  for (int n = 1; n <= 9; ++n) {
    for (int c = 0; c <= n; ++c) {
      for (int k = 1; k <= n; ++k) {
        EXPECT_NEAR(PassAtK(n, c, k), ByEnumeration(n, c, k), 1e-12)
            << n << " " << c << " " << k;
      }
    }
  }
}

TEST(PassAtKTest, ValuesWorkedOutByHand) {
  EXPECT_NEAR(PassAtK(5, 2, 2), 0.7, 1e-12);              // 1 - 3/10
  EXPECT_NEAR(PassAtK(10, 3, 5), 1 - 21.0 / 252, 1e-12);  // C(7,5), C(10,5)
  EXPECT_NEAR(PassAtK(20, 10, 1), 0.5, 1e-12);            // c / n
  // Binomials of 200 and more overflow a double: one right response is among
  // half of all with chance 1/2; two are both outside with chance (100 99) /
  // (200 199).
  EXPECT_NEAR(PassAtK(200, 1, 100), 0.5, 1e-12);
  EXPECT_NEAR(PassAtK(200, 2, 100), 1 - 9900.0 / 39800, 1e-12);
  EXPECT_NEAR(PassAtK(100000, 1, 50000), 0.5, 1e-12);
  EXPECT_EQ(PassAtK(4, 2, 3), 1);
  EXPECT_EQ(PassAtK(4, 0, 4), 0);
}

// "1": right, "0": wrong, "-": not finished; problems are a, b, c.
ResultRow Row(uint64_t seed, std::string_view verdicts, double tokens) {
  ResultRow row;
  row.set = "set";
  row.method = "sample";
  row.seed = seed;
  row.budget_tokens = 99;
  row.tokens_per_problem = tokens;
  for (size_t i = 0; i < verdicts.size(); ++i) {
    row.done.push_back(verdicts[i] != '-');
    row.right.push_back(verdicts[i] == '1');
    if (row.done[i]) row.ids.push_back(std::string_view("abc").substr(i, 1));
  }
  return row;
}

std::vector<std::string> Texts(const TextList& list) {
  return list.First(list.size());
}

// Means over problems of values worked out by hand.
TEST(PassReportTest, MeansOverProblems) {
  std::vector<ResultRow> rows = {Row(5, "100", 10), Row(6, "100", 20),
                                 Row(7, "001", 30), Row(8, "000", 40)};
  rows[0].errors = rows[1].errors = {"b: it is too long"};
  const PassReport report = MakePassReport(rows, {1, 2, 4});
  EXPECT_EQ(Texts(report.ids), (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(report.right, (std::vector<int32_t>{2, 0, 1}));
  EXPECT_EQ(report.responses, (std::vector<int32_t>{4, 4, 4}));
  ASSERT_EQ(report.at.size(), 3u);
  EXPECT_NEAR(report.at[0].share, (0.5 + 0 + 0.25) / 3, 1e-12);
  EXPECT_NEAR(report.at[1].share, (5.0 / 6 + 0 + 0.5) / 3, 1e-12);
  EXPECT_NEAR(report.at[2].share, 2.0 / 3, 1e-12);
  for (const PassAt& at : report.at) {
    EXPECT_LE(at.interval.low, at.share);
    EXPECT_GE(at.interval.high, at.share);
  }
  EXPECT_DOUBLE_EQ(report.tokens_per_problem, 100);
  EXPECT_DOUBLE_EQ(report.tokens_per_response, 25);
  EXPECT_EQ(Texts(report.errors),
            (std::vector<std::string>{"b: it is too long"}));
  EXPECT_EQ(report.seed, 5u);
  EXPECT_EQ(report.samples, 4);
}

TEST(PassReportTest, AStopLeavesProblemsWithEnoughResponses) {
  std::vector<ResultRow> rows = {Row(0, "10", 10), Row(1, "01", 10),
                                 Row(2, "-0", 10)};
  rows[2].complete = false;
  const PassReport report = MakePassReport(rows, {1, 3});
  EXPECT_FALSE(report.complete);
  EXPECT_EQ(Texts(report.ids), (std::vector<std::string>{"b"}));
  EXPECT_NEAR(report.at[0].share, 1.0 / 3, 1e-12);
  EXPECT_DOUBLE_EQ(report.tokens_per_problem, 25);  // 50 tokens, two problems
  EXPECT_THAT(
      PassTable(report),
      HasSubstr("3 responses per problem; stopped early, only the 1 problems"));
}

TEST(PassReportTest, AStopBeforeAnyProblemHadEnoughIsToldAsThat) {
  const std::vector<ResultRow> rows = {Row(0, "10", 10), Row(1, "", 0)};
  const PassReport report = MakePassReport(rows, {1, 4});
  EXPECT_FALSE(report.complete);
  EXPECT_THAT(report.at, IsEmpty());
  EXPECT_DOUBLE_EQ(report.tokens_per_response, 10);
  EXPECT_THAT(PassTable(report), HasSubstr("no problem had enough responses"));
  EXPECT_EQ(PassJson(report).json["n"], 0);
  EXPECT_EQ(PassJson(report).json["complete"], false);
}

}  // namespace
}  // namespace espalier
