// Properties of every registered method.
#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "base/files.h"
#include "search/algorithm.h"
#include "tests/search/tree_world.h"

namespace espalier {
namespace {

TEST(EveryMethodTest, SaysWhenToUseItAndWhereItIsTested) {
  for (const AlgorithmInfo* info : ListAlgorithms()) {
    EXPECT_FALSE(info->summary.empty()) << info->name;
    EXPECT_FALSE(info->notes.when_to_use.empty()) << info->name;
    // Those of outside_method_test.cc.
    if (info->name.starts_with("outside_")) continue;
    const auto test = ReadFile(info->notes.test);
    ASSERT_TRUE(test.ok()) << info->name << ": " << test.status();
    // This file tests all methods and names none.
    EXPECT_TRUE(absl::EndsWith(info->notes.test, "every_method_test.cc") ||
                absl::StrContains(*test, info->name))
        << info->notes.test << " says nothing of " << info->name;
  }
}

TEST(EveryMethodTest, EveryOptionSaysWhatItIs) {
  for (const AlgorithmInfo* info : ListAlgorithms()) {
    const auto made = info->make({});
    ASSERT_TRUE(made.ok()) << info->name << ": " << made.status();
    for (const OptionInfo& option : (*made)->options()) {
      EXPECT_FALSE(option.help.empty()) << info->name << ":" << option.name;
      // ParseMethod could not read such text back.
      EXPECT_EQ(option.value.find(':'), std::string::npos)
          << info->name << ":" << option.name;
    }
  }
}

TEST(EveryMethodTest, SameSeedSameTree) {
  const TreeWorld world({.seed = 11, .branching = 3, .depth = 4});
  for (const AlgorithmInfo* info : ListAlgorithms()) {
    const auto reply = [&](const Tree& tree, const SearchRequest& request) {
      SearchRequest asked = request;
      if (asked.kind == RequestKind::kGrade) asked.kind = RequestKind::kVerify;
      return world.Reply(tree, asked);
    };
    std::string trees[2];
    for (std::string& tree : trees) {
      const SearchRun run = RunSearch(info->name, world,
                                      {.tokens = 600,
                                       .simulations = 40,
                                       .seed = 3,
                                       .check = {.min_value = -1},
                                       .reply = reply});
      EXPECT_TRUE(run.status.ok()) << info->name << ": " << run.status;
      EXPECT_FALSE(run.answer.empty()) << info->name;
      tree = run.tree_text;
    }
    EXPECT_EQ(trees[0], trees[1]) << info->name;
  }
}

}  // namespace
}  // namespace espalier
