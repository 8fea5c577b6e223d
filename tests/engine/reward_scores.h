// The scores that a loaded reward model gives all nodes of a tree.
#ifndef ESPALIER_TESTS_ENGINE_REWARD_SCORES_H_
#define ESPALIER_TESTS_ENGINE_REWARD_SCORES_H_

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "search/tree/tree.h"
#include "src/engine/load_reward_model.h"
#include "src/engine/reward_reader.h"

namespace espalier {

// None, and a failure of the test, if they cannot be read.
inline std::vector<StepScores> ScoresOf(const LoadedRewardModel& model,
                                        const Tree& tree,
                                        const std::string& question) {
  auto reader =
      RewardReader::Open(*model.scorer, *model.model.backend, question);
  EXPECT_TRUE(reader.ok()) << reader.status();
  std::vector<NodeId> nodes;
  for (NodeId id = 1; id < tree.size(); ++id) nodes.push_back(id);
  const auto query = (*reader)->Ask(tree, nodes);
  EXPECT_TRUE(query.ok()) << query.status();
  model.model.backend->Submit({.id = 1, .body = query->request});
  std::vector<Completion> done;
  while (model.model.backend->Step(done)) {
  }
  EXPECT_EQ(done.size(), 1u);
  EXPECT_TRUE(done[0].status.ok()) << done[0].status;
  std::vector<StepScores> scores;
  if (!done[0].status.ok()) return scores;
  (*reader)->Take(query->nodes, done[0].rows);
  for (const NodeId id : nodes) scores.push_back((*reader)->Score(tree, id));
  return scores;
}

}  // namespace espalier

#endif  // ESPALIER_TESTS_ENGINE_REWARD_SCORES_H_
