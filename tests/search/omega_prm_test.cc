// What omega_prm leaves if the search is stopped early. Its labels are tested
// in tests/engine/omega_prm_test.cc.
#include <gtest/gtest.h>

#include "absl/status/status.h"
#include "tests/search/tree_world.h"

namespace espalier {
namespace {

// Grades arrive for the first responses and then, as the search is stopped, no
// more: an ungraded response is not a wrong one.
TEST(OmegaPrmTest, WhatNobodyGradedCountsForNothing) {
  const TreeWorld world({.branching = 3, .depth = 3, .enumerate = true});
  for (const int answered : {0, 5}) {
    int asked = 0;
    RunLimits limits;
    limits.reply = [&](const Tree& tree, const SearchRequest& request) {
      if (request.kind != RequestKind::kGrade) {
        return world.Reply(tree, request);
      }
      SearchCompletion reply{.number = request.number, .correct = true};
      if (++asked > answered) reply.status = absl::CancelledError("stopped");
      return reply;
    };
    const SearchRun run = RunSearch("omega_prm:k=16", world, limits);
    EXPECT_GT(asked, answered);
    int wrong = 0;
    for (NodeId id = 0; id < run.tree().size(); ++id) {
      wrong += run.tree()[id].visits > 0 && run.tree()[id].q < 1 ? 1 : 0;
    }
    EXPECT_EQ(wrong, 0);
    EXPECT_EQ(run.tree()[kRoot].visits > 0, answered > 0);
  }
}

}  // namespace
}  // namespace espalier
