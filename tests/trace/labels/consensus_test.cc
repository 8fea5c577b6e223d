#include "src/trace/labels/consensus.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/random.h"
#include "tests/trace/labels/small_tree.h"

namespace espalier {
namespace {

// A line is wrong if it has an "x". The verifier of these tests.
std::vector<StepFact> Facts(const std::vector<std::string>& steps) {
  std::vector<StepFact> facts;
  bool all = true;
  for (const std::string& step : steps) {
    const bool ok = step.find('x') == step.npos;
    all = all && ok;
    facts.push_back({.step_ok = ok, .state_ok = all});
  }
  return facts;
}

SmallTree RandomTree(RandomStream& random) {
  SmallTree tree;
  std::vector<int> open = {0};
  for (int i = 0; i < 25; ++i) {
    const int parent = open[random.Below(static_cast<uint32_t>(open.size()))];
    const std::string text =
        absl::StrCat(i, random.Uniform() < 0.3f ? "x" : "", "\n");
    const float u = random.Uniform();
    if (u < 0.5f) {
      open.push_back(tree.Add(parent, text));
    } else {
      tree.Add(parent, text,
               u < 0.75f ? NodeVerdict::kCorrect : NodeVerdict::kWrong,
               random.Range(1, 3));
    }
  }
  return tree;
}

TEST(ConsensusTest, LabelsStayWhereBothJudgesAgreeOnRandomTrees) {
  RandomStream random(StreamKey(4, 0, 0, Purpose::kTest));
  int64_t kept = 0, dropped = 0;
  for (int round = 0; round < 60; ++round) {
    const SmallTree tree = RandomTree(random);
    ProblemTrees problem;
    problem.trees = {tree.tree};
    FilterLog log;
    const float threshold = round % 2 == 0 ? 0.0f : 0.4f;
    ConsensusCounts counts, expected;
    for (const StepExample& example : SelectSteps({problem}, {}, log)) {
      std::vector<LevelLabels> labels(example.steps.size());
      for (LevelLabels& of : labels) of.fill(0.5f);
      KeepAgreed(example, Facts(example.steps), threshold, labels, counts);
      std::string response;
      for (size_t i = 0; i < labels.size(); ++i) {
        response += example.steps[i];
        if (!example.counts[i]) {
          EXPECT_EQ(labels[i][0], 0.5f);
          continue;
        }
        // Every end of the tree whose response begins so.
        int64_t right = 0, ends = 0;
        for (size_t n = 1; n < tree.tree.nodes.size(); ++n) {
          const StoredNode& node = tree.tree.nodes[n];
          if (node.verdict == NodeVerdict::kNotAsked ||
              !tree.tree.Response(n).starts_with(response)) {
            continue;
          }
          ends += node.draws;
          right += node.verdict == NodeVerdict::kCorrect ? node.draws : 0;
        }
        ASSERT_GT(ends, 0);
        const bool by_ends =
            static_cast<double>(right) >
            static_cast<double>(threshold) * static_cast<double>(ends);
        const bool by_lines = response.find('x') == response.npos;
        ++(by_ends ? expected.right : expected.wrong);
        (by_ends ? expected.right_kept : expected.wrong_kept) +=
            by_ends == by_lines;
        ++(by_ends == by_lines ? kept : dropped);
        for (const float label : labels[i]) {
          EXPECT_EQ(std::isnan(label), by_ends != by_lines);
        }
      }
    }
    EXPECT_EQ(counts.right, expected.right);
    EXPECT_EQ(counts.right_kept, expected.right_kept);
    EXPECT_EQ(counts.wrong, expected.wrong);
    EXPECT_EQ(counts.wrong_kept, expected.wrong_kept);
  }
  EXPECT_GT(kept, 100);
  EXPECT_GT(dropped, 100);
}

}  // namespace
}  // namespace espalier
