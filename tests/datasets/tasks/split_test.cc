// No problem of a test seed is ever used for training.
#include "datasets/tasks/split.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "base/random.h"
#include "datasets/tasks/generated_sets.h"
#include "tests/base/one_thread.h"

namespace espalier {
namespace {

TEST(Split, ContentsBelongToOneKindOfSeedEach) {
  int training = 0, choosing = 0, tests = 0;
  for (int i = 0; i < 10000; ++i) {
    const std::string content = std::to_string(i);
    const bool t = BelongsToSeed(content, 1);
    const bool c = BelongsToSeed(content, kFirstChoosingSeed);
    const bool e = BelongsToSeed(content, kFirstTestSeed);
    EXPECT_EQ(t + c + e, 1);
    EXPECT_EQ(BelongsToSeed(content, 999), t);
    EXPECT_EQ(BelongsToSeed(content, 1999), c);
    EXPECT_EQ(BelongsToSeed(content, 123456789), e);
    training += t;
    choosing += c;
    tests += e;
  }
  EXPECT_NEAR(training, 8000, 200);
  EXPECT_NEAR(choosing, 1000, 150);
  EXPECT_NEAR(tests, 1000, 150);
}

// Sorts and removes duplicates.
size_t Distinct(std::vector<uint64_t>& hashes) {
  std::sort(hashes.begin(), hashes.end());
  hashes.erase(std::unique(hashes.begin(), hashes.end()), hashes.end());
  return hashes.size();
}

size_t Shared(std::vector<uint64_t> a, std::vector<uint64_t> b) {
  Distinct(a);
  Distinct(b);
  std::vector<uint64_t> both;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(),
                        std::back_inserter(both));
  return both.size();
}

// Hashes the questions of `count` problems, half of them with training seeds,
// and expects no overlap. For sudoku also the solutions.
void ExpectDisjoint(const GeneratedSet& set, uint64_t count) {
  std::vector<uint64_t> training, tests, training_answers, test_answers;
  const auto begin = std::chrono::steady_clock::now();
  for (uint64_t i = 0; i < count; ++i) {
    const bool train = i % 2 == 0;
    const GradedProblem p =
        set.make(train ? i % 10 : kFirstTestSeed + i % 10, i);
    (train ? training : tests).push_back(StableHash(p.problem.question));
    (train ? training_answers : test_answers)
        .push_back(StableHash(p.reference.answer));
  }
  const std::chrono::duration<double, std::micro> spent =
      std::chrono::steady_clock::now() - begin;
  EXPECT_EQ(Shared(training, tests), 0u) << set.name;
  if (set.task == "sudoku") {
    EXPECT_EQ(Shared(training_answers, test_answers), 0u) << set.name;
  }
  std::printf(
      "figure: %s: %llu problems, %zu different in training, %zu in tests, "
      "%zu in both, %.0f us each\n",
      set.name.c_str(), static_cast<unsigned long long>(count),
      Distinct(training), Distinct(tests), Shared(training, tests),
      spent.count() / static_cast<double>(count));
}

TEST(Split, NoTestProblemIsEverTrainedOn) {
  ESP_ONE_THREAD();
  for (const GeneratedSet& set : GeneratedSets()) {
    ExpectDisjoint(set, set.name == "sudoku:9-hard" ? 60 : 400);
  }
}

// A million in all, fewer where generating a problem takes milliseconds.
TEST(Split, LongNoTestProblemAmongAMillionIsEverTrainedOn) {
  std::map<std::string, uint64_t> counts = {
      {"sudoku:9-hard", 20000}, {"sudoku:9-middle", 30000},
      {"sudoku:9-easy", 40000}, {"game24:easy", 30000},
      {"game24:middle", 30000}, {"game24:hard", 30000},
      {"proof:hard", 50000},    {"python:hard", 30000},
      {"countdown:5", 50000}};
  uint64_t rest = 1000000;
  size_t others = GeneratedSets().size() - counts.size();
  for (const auto& [name, count] : counts) rest -= count;
  uint64_t total = 0;
  for (const GeneratedSet& set : GeneratedSets()) {
    const auto it = counts.find(set.name);
    const uint64_t count =
        it != counts.end() ? it->second : (rest + others - 1) / others;
    ExpectDisjoint(set, count);
    total += count;
  }
  EXPECT_GE(total, 1000000u);
}

}  // namespace
}  // namespace espalier
