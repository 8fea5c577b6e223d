// Distinct gold answers of public sets should grade as different. Every pair is
// graded both ways; the pairs that grade as equal and were reviewed by hand are
// listed in gold_pairs.jsonl (set and record of both, and a hash of the two
// texts). A new one fails the test.
#include <gtest/gtest.h>

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "base/files.h"
#include "base/random.h"
#include "datasets/answers/grade_answer.h"
#include "datasets/sets/problem_set.h"
#include "nlohmann/json.hpp"
#include "tests/datasets/data_files.h"

namespace espalier {
namespace {

struct Gold {
  std::string text;
  std::string record;  // "math500:12"
};

// The distinct gold answers of a public set; none if the set is missing.
std::vector<Gold> GoldsOf(const std::string& name,
                          std::set<std::string>& seen) {
  const std::string path = PublicData() + "/math/" + name + ".jsonl";
  const auto set = LoadSet(path, {});
  if (!set.ok()) {
    std::printf("%s is absent: not compared\n", path.c_str());
    return {};
  }
  std::vector<Gold> golds;
  for (size_t i = 0; i < set->problems.size(); ++i) {
    const std::string& text = set->problems[i].reference.answer;
    if (text.empty() || !seen.insert(text).second) continue;
    golds.push_back({text, absl::StrFormat("%s:%d", name, i + 1)});
  }
  return golds;
}

std::string PairHash(const std::string& a, const std::string& b) {
  const uint64_t x = StableHash(a), y = StableHash(b);
  return absl::StrFormat("%016x", MixHash(std::min(x, y), std::max(x, y)));
}

std::set<std::string> KnownEqual() {
  std::set<std::string> known;
  const auto text = ReadFile("tests/datasets/answers/gold_pairs.jsonl");
  EXPECT_TRUE(text.ok()) << text.status();
  if (!text.ok()) return known;
  for (const std::string& line :
       std::vector<std::string>(absl::StrSplit(*text, '\n'))) {
    if (line.empty()) continue;
    known.insert(nlohmann::json::parse(line).at("hash").get<std::string>());
  }
  return known;
}

// Sets listed in ESPALIER_GOLD_SETS (for example "math_test,minerva") are
// compared too: files NAME.jsonl in the folder math of the public data.
class GoldPairs : public testing::TestWithParam<size_t> {};
constexpr size_t kGoldParts = 4;

// Each part takes every fourth gold with all golds behind it.
TEST_P(GoldPairs, DistinctGoldsAreEqualOnlyWhereLookedAt) {
  SKIP_WITHOUT_PUBLIC_DATA();
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  std::vector<std::string> names = {"aime24"};
#else
  std::vector<std::string> names = {"math500", "aime24", "gsm8k_test"};
#endif
  if (const char* more = std::getenv("ESPALIER_GOLD_SETS")) {
    for (const auto& name :
         std::vector<std::string>(absl::StrSplit(more, ','))) {
      names.push_back(name);
    }
  }
  std::vector<Gold> golds;
  std::set<std::string> seen;
  for (const std::string& name : names) {
    for (Gold& gold : GoldsOf(name, seen)) golds.push_back(std::move(gold));
  }
  const std::set<std::string> known = KnownEqual();
  size_t pairs = 0, equal = 0, undecided = 0;
  for (size_t i = GetParam(); i < golds.size(); i += kGoldParts) {
    for (size_t j = i + 1; j < golds.size(); ++j, ++pairs) {
      const std::string &a = golds[i].text, &b = golds[j].text;
      const GradeVerdict there = GradeAnswer(a, b);
      const GradeVerdict back = GradeAnswer(b, a);
      undecided += there.undecided || back.undecided;
      if (!there.equal && !back.equal) continue;
      ++equal;
      EXPECT_TRUE((there.equal || there.undecided) &&
                  (back.equal || back.undecided))
          << "equal one way, different the other: " << a << " | " << b;
      const std::string hash = PairHash(a, b);
      EXPECT_TRUE(known.contains(hash))
          << R"({"a":")" << golds[i].record << R"(","b":")" << golds[j].record
          << R"(","hash":")" << hash << "\"}  " << a << "  |  " << b << "  ("
          << (there.equal ? there.reason : back.reason) << ")";
    }
  }
  std::printf("%zu golds, %zu pairs, %zu equal, %zu undecided\n", golds.size(),
              pairs, equal, undecided);
  EXPECT_GT(golds.size(), names.size() > 1 ? 500u : 20u);
}
INSTANTIATE_TEST_SUITE_P(Parts, GoldPairs,
                         testing::Range(size_t{0}, kGoldParts));

}  // namespace
}  // namespace espalier
