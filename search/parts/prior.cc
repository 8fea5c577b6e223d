#include "search/parts/prior.h"

#include <algorithm>
#include <cmath>

namespace espalier {
namespace {

float Logit(const Step& step, bool mean) {
  if (!mean) return step.logprob;
  return step.logprob / std::max<float>(1, step.num_tokens);
}

}  // namespace

void SetPriors(Tree& tree, NodeId parent, bool mean) {
  float highest = -INFINITY, sum = 0;
  ForEachChild(tree, parent, [&](NodeId c) {
    tree[c].prior = Logit(tree.step(c), mean);
    highest = std::max(highest, tree[c].prior);
  });
  ForEachChild(tree, parent, [&](NodeId c) {
    sum += tree[c].prior = std::exp(tree[c].prior - highest);
  });
  ForEachChild(tree, parent, [&](NodeId c) { tree[c].prior /= sum; });
}

float VisitedPrior(const Tree& tree, NodeId parent) {
  float mass = 0;
  for (const NodeId c : Children(tree, parent)) {
    if (tree[c].visits > 0) mass += tree[c].prior;
  }
  return mass;
}

}  // namespace espalier
