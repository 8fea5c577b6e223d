// The pool of wrong responses to be searched for their first error, and which
// of them is next (Luo et al. 2024, arXiv:2406.06592, section 3.3).
//
//   RolloutPool pool({.alpha = 0.5, .beta = 0.9});
//   pool.AddState(kRoot, 0.25);              // MC: 4 of 16 responses are right
//   pool.Add({.state = kRoot, .end = 17}, 120);
//   while (const auto rollout = pool.Pop()) ...
//
// A rollout r starts at a state s, a prefix whose Monte-Carlo value MC(s) was
// estimated, and has a wrong end. The one of highest Q(s, r) + U(s) is taken:
//
//   Q(s, r) = alpha^(1 - MC(s)) * beta^(len(r) / L)
//   U(s)    = c_puct * sqrt(sum_i N(s_i)) / (1 + N(s))
//
// with N(s) the number of rollouts of s already taken: short ones from states
// that look right come first, spread over the states. Only states with 0 <
// MC(s) < 1 provide rollouts: below the others there is no first error to find.
// A rollout is taken once, even if it was sampled again.
//
// Externally synchronised.
#ifndef ESPALIER_SEARCH_LABELLING_ROLLOUT_POOL_H_
#define ESPALIER_SEARCH_LABELLING_ROLLOUT_POOL_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "search/tree/tree.h"

namespace espalier {

struct PoolOptions {
  double alpha = 0.5;
  double beta = 0.9;
  double length = 500;  // L, in words
  double c_puct = 0.125;
};

struct WrongRollout {
  NodeId state = kNoNode;
  NodeId end = kNoNode;
};

class RolloutPool {
 public:
  explicit RolloutPool(const PoolOptions& options) : options_(options) {}

  // Add each state once, before its rollouts.
  void AddState(NodeId state, double mc);
  bool knows(NodeId state) const { return states_.contains(state); }
  double mc(NodeId state) const { return states_.at(state).mc; }

  // `words`: len(r), the length of the rollout after its state.
  void Add(const WrongRollout& rollout, int words);
  // The rollout of highest priority, the first of equals; nullopt if all are
  // taken.
  std::optional<WrongRollout> Pop();

 private:
  struct State {
    double mc = 0;
    int64_t taken = 0;  // N(s)
  };
  struct Entry {
    WrongRollout rollout;
    double q = 0;
  };
  double Priority(const Entry& entry) const;

  const PoolOptions options_;
  std::map<NodeId, State> states_;
  std::set<std::pair<NodeId, NodeId>> seen_;
  std::vector<Entry> entries_;
  int64_t taken_ = 0;  // sum of N(s)
};

}  // namespace espalier

#endif  // ESPALIER_SEARCH_LABELLING_ROLLOUT_POOL_H_
