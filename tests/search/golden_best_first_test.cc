// Best-first proof search against BFS-Prover-V2.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "search/best_first/proof_graph.h"
#include "search/tree/check_tree.h"
#include "tests/search/golden_world.h"

namespace espalier {
namespace {

using Ints = std::vector<int>;

std::string Text(const Ints& numbers) { return absl::StrJoin(numbers, " "); }

// The states of our search, rebuilt from its tree: expanded ones are closed,
// ends have their verdicts.
ProofGraph StatesOf(const GoldenRun& run, const GoldenSearch& ours) {
  const Tree& tree = ours.tree();
  ProofGraph states(Merge::kLastStep);
  for (NodeId id = 1; id < tree.size(); ++id) {
    const ProofGraph::Added added = states.Add(tree, id);
    if (!tree[id].terminal() || !added.is_new) continue;
    const auto at = std::find(ours.of.begin(), ours.of.end(), id);
    states.Close(added.state);
    if (run.world.nodes[static_cast<size_t>(at - ours.of.begin())].verified) {
      states.Prove(added.state);
    }
  }
  for (const int node : ours.expanded) {
    states.Close(states.state(ours.of[static_cast<size_t>(node)]));
  }
  return states;
}

// The non-terminal nodes that were the first of their state and have status
// `proof`.
Ints FirstNodes(const GoldenSearch& ours, const ProofGraph& states,
                Proof proof) {
  const std::vector<Proof> proofs = states.Proofs();
  Ints nodes;
  for (size_t i = 0; i < ours.of.size(); ++i) {
    const NodeId id = ours.of[i];
    if (id == kNoNode || ours.tree()[id].terminal()) continue;
    const StateId state = states.state(id);
    if (states.node(state) == id && proofs[state] == proof) {
      nodes.push_back(static_cast<int>(i));
    }
  }
  return nodes;
}

Ints PathTo(const GoldenRun& run, int node) {
  Ints path;
  for (; node > 0; node = run.world.nodes[static_cast<size_t>(node)].parent) {
    path.insert(path.begin(), node);
  }
  return path;
}

TEST(GoldenBestFirstTest, BfsProverExpandsTheSameStatesAndFindsTheSameProof) {
  int proofs = 0, shortened = 0, merged = 0;
  for (const GoldenRun& run : ReadGolden("bfs_prover_v2").runs) {
    SCOPED_TRACE(run.name);
    const GoldenSearch ours = RunGolden(run);
    ExpectSameTrace(run, ours);
    EXPECT_TRUE(CheckTree(ours.tree()).ok());
    const ProofGraph states = StatesOf(run, ours);
    for (const auto& [node, first] :
         run.trace.at("merged").get<std::vector<std::pair<size_t, size_t>>>()) {
      EXPECT_EQ(states.state(ours.of[node]), states.state(ours.of[first]));
      ++merged;
    }
    EXPECT_EQ(Text(FirstNodes(ours, states, Proof::kProved)),
              Text(run.trace.at("proved")));
    // Our search also fails states that lead only to each other.
    const Ints ours_failed = FirstNodes(ours, states, Proof::kFailed);
    const Ints theirs_failed = run.trace.at("failed");
    EXPECT_TRUE(std::includes(ours_failed.begin(), ours_failed.end(),
                              theirs_failed.begin(), theirs_failed.end()))
        << Text(ours_failed);
    if (run.trace.at("proof").is_null()) {
      EXPECT_EQ(ours.answer_node, -1);
      continue;
    }
    ++proofs;
    // Our search returns the path on which it reached the end: the program's
    // proof, unless the program reached a state again on a path at least as
    // short.
    const Ints proof = run.trace.at("proof"), path = PathTo(run, proof.back());
    EXPECT_LE(proof.size(), path.size());
    if (proof != path) ++shortened;
  }
  EXPECT_EQ(proofs, 12);
  EXPECT_EQ(shortened, 2);
  EXPECT_GT(merged, 150);
}

}  // namespace
}  // namespace espalier
