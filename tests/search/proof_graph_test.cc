#include "search/best_first/proof_graph.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "base/random.h"

namespace espalier {
namespace {

// A tree and its graph, grown together.
struct Grown {
  explicit Grown(Merge merge) : graph(merge) {}
  NodeId Add(NodeId parent, const std::string& text, bool terminal = false) {
    const std::vector<int32_t> tokens(text.begin(), text.end());
    bool is_new = false;
    const NodeId node =
        tree.Add(parent, {.text = text, .tokens = tokens, .terminal = terminal},
                 &is_new);
    if (is_new) merged = !graph.Add(tree, node).is_new;
    return node;
  }
  Proof ProofOf(NodeId node) const { return graph.Proofs()[graph.state(node)]; }
  Tree tree;
  ProofGraph graph;
  bool merged = false;  // by the last Add
};

TEST(ProofGraphTest, MergingOffIsTheTree) {
  Grown grown(Merge::kNone);
  RandomStream draws(StreamKey(1, 0, 0, Purpose::kTest));
  for (int i = 0; i < 500; ++i) {
    grown.Add(draws.Below(grown.tree.size()),
              std::string(1, static_cast<char>('a' + draws.Below(4))));
  }
  ASSERT_EQ(grown.graph.size(), grown.tree.size());
  for (NodeId id = 1; id < grown.tree.size(); ++id) {
    EXPECT_EQ(grown.graph.state(id), id);
    EXPECT_EQ(grown.graph.node(id), id);
    EXPECT_EQ(grown.graph.Parents(id),
              std::vector<StateId>{grown.tree[id].parent});
  }
}

TEST(ProofGraphTest, EqualLastStepsAreOneStateUnlessOneIsAnEnd) {
  Grown grown(Merge::kLastStep);
  const NodeId a = grown.Add(kRoot, "a");
  const NodeId b = grown.Add(kRoot, "b");
  const NodeId ac = grown.Add(a, "c");
  EXPECT_FALSE(grown.merged);
  const NodeId bc = grown.Add(b, "c");
  EXPECT_TRUE(grown.merged);
  EXPECT_EQ(grown.graph.state(ac), grown.graph.state(bc));
  EXPECT_EQ(grown.graph.node(grown.graph.state(bc)), ac);
  EXPECT_EQ(grown.graph.Parents(grown.graph.state(ac)),
            (std::vector<StateId>{grown.graph.state(b), grown.graph.state(a)}));
  grown.Add(kRoot, "c", true);
  EXPECT_FALSE(grown.merged);
}

TEST(ProofGraphTest, EqualStepsInAnyOrderAreOneState) {
  Grown grown(Merge::kStepSet);
  const NodeId a = grown.Add(kRoot, "a");
  const NodeId b = grown.Add(kRoot, "b");
  const NodeId ab = grown.Add(a, "b");
  const NodeId ba = grown.Add(b, "a");
  EXPECT_TRUE(grown.merged);
  EXPECT_EQ(grown.graph.state(ab), grown.graph.state(ba));
  grown.Add(a, "a");  // a twice: a different multiset
  EXPECT_FALSE(grown.merged);
  grown.Add(ab, "b");
  EXPECT_FALSE(grown.merged);
  grown.Add(b, "ab");  // the same letters in different steps
  EXPECT_FALSE(grown.merged);
}

// root - a - c ;  root - b - c, c shared.
TEST(ProofGraphTest, AProofGoesUpEveryEdgeAndAFailureWaitsForAllChildren) {
  for (const bool prove : {false, true}) {
    Grown grown(Merge::kLastStep);
    const NodeId a = grown.Add(kRoot, "a"), b = grown.Add(kRoot, "b");
    grown.graph.Close(0);
    const NodeId c = grown.Add(a, "c");
    grown.graph.Close(grown.graph.state(a));
    grown.Add(b, "c");
    const NodeId d = grown.Add(b, "d");
    grown.graph.Close(grown.graph.state(b));
    if (prove) {
      grown.graph.Prove(grown.graph.state(c));
      for (const NodeId node : {kRoot, a, b, c}) {
        EXPECT_EQ(grown.ProofOf(node), Proof::kProved);
      }
      EXPECT_EQ(grown.ProofOf(d), Proof::kOpen);
      continue;
    }
    grown.graph.Close(grown.graph.state(c));  // nothing below c
    EXPECT_EQ(grown.ProofOf(c), Proof::kFailed);
    EXPECT_EQ(grown.ProofOf(a), Proof::kFailed);
    EXPECT_EQ(grown.ProofOf(b), Proof::kOpen);
    EXPECT_EQ(grown.ProofOf(kRoot), Proof::kOpen);
    grown.graph.Close(grown.graph.state(d));
    EXPECT_EQ(grown.ProofOf(b), Proof::kFailed);
    EXPECT_EQ(grown.ProofOf(kRoot), Proof::kFailed);
  }
}

TEST(ProofGraphTest, AnEdgeToAProvedStateProves) {
  Grown grown(Merge::kLastStep);
  const NodeId a = grown.Add(kRoot, "a"), b = grown.Add(kRoot, "b");
  const NodeId c = grown.Add(a, "c");
  grown.graph.Prove(grown.graph.state(c));
  EXPECT_EQ(grown.ProofOf(b), Proof::kOpen);
  grown.Add(b, "c");
  EXPECT_EQ(grown.ProofOf(b), Proof::kProved);
}

// root - a - b - a: the second a is merged into the first, and b has no other
// child.
TEST(ProofGraphTest, ACycleKeepsNothingOpenAndHandsAProofUp) {
  Grown grown(Merge::kLastStep);
  const NodeId a = grown.Add(kRoot, "a");
  grown.graph.Close(0);
  const NodeId b = grown.Add(a, "b"), c = grown.Add(a, "c");
  grown.graph.Close(grown.graph.state(a));
  grown.Add(b, "a");
  EXPECT_TRUE(grown.merged);
  grown.Add(b, "b");  // a self-loop
  grown.graph.Close(grown.graph.state(b));
  EXPECT_EQ(grown.ProofOf(b), Proof::kOpen);  // through a to c
  EXPECT_EQ(grown.ProofOf(a), Proof::kOpen);
  ProofGraph proved = grown.graph;
  proved.Prove(proved.state(c));
  for (const NodeId node : {kRoot, a, b, c}) {
    EXPECT_EQ(proved.Proofs()[proved.state(node)], Proof::kProved);
  }
  grown.graph.Close(grown.graph.state(c));
  for (const NodeId node : {kRoot, a, b, c}) {
    EXPECT_EQ(grown.ProofOf(node), Proof::kFailed);
  }
}

// Random acyclic graphs against the definition, from the leaves up.
TEST(ProofGraphTest, ProofsAreThoseOfTheDefinition) {
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    Grown grown(Merge::kStepSet);
    RandomStream draws(StreamKey(seed, 0, 0, Purpose::kTest));
    for (NodeId id = 0; id < grown.tree.size() && id < 60; ++id) {
      const StateId state = grown.graph.state(id);
      if (grown.graph.node(state) != id) continue;
      const uint32_t children = draws.Below(id == 0 ? 5 : 3);
      for (uint32_t k = 0; k <= children; ++k) {
        grown.Add(id, std::string(1, static_cast<char>('a' + draws.Below(3))));
      }
    }
    std::vector<bool> closed(grown.graph.size()), proved(grown.graph.size());
    for (StateId s = 0; s < grown.graph.size(); ++s) {
      const uint32_t draw = draws.Below(12);
      if (draw < 11) grown.graph.Close(s);
      closed[s] = draw < 11;
      if (seed % 2 == 0 && draw == 11) grown.graph.Prove(s);
      proved[s] = seed % 2 == 0 && draw == 11;
    }
    // Children of a state are one step deeper, so deeper states come first.
    std::vector<StateId> order(grown.graph.size());
    for (StateId s = 0; s < order.size(); ++s) order[s] = s;
    std::stable_sort(order.begin(), order.end(), [&](StateId x, StateId y) {
      return grown.tree.step(grown.graph.node(x)).depth >
             grown.tree.step(grown.graph.node(y)).depth;
    });
    std::vector<bool> failed(grown.graph.size());
    const std::vector<Proof> proofs = grown.graph.Proofs();
    for (const StateId s : order) {
      bool all = true;
      for (StateId child = 0; child < grown.graph.size(); ++child) {
        const auto parents = grown.graph.Parents(child);
        if (std::count(parents.begin(), parents.end(), s) == 0) continue;
        if (proved[child]) proved[s] = true;
        all = all && failed[child];
      }
      failed[s] = !proved[s] && closed[s] && all;
      EXPECT_EQ(proofs[s], proved[s]   ? Proof::kProved
                           : failed[s] ? Proof::kFailed
                                       : Proof::kOpen)
          << "seed " << seed << " state " << s;
    }
  }
}

}  // namespace
}  // namespace espalier
