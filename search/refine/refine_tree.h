// The tree of answers of MCTSr, and its formulas (T16; LLaMA-Berry, Zhang et
// al. 2024, arXiv:2410.02884; MCTSr, arXiv:2406.07394).
//
//   r(a)     in [-100, 100]; above 95 it counts as 50, so that flattery of a
//            model by itself does not decide
//   Q(a)     (min r + mean r) / 2 over the rewards a was given
//   UCB(a)   Q(a) + 1.4 sqrt(ln(N(parent) + 1) / (N(a) + 1e-5))
//   backup   Q(parent) <- (Q(parent) + max over children Q) / 2, up to the
//   first closed   a has `children` rewrites one of which is better than it
//
// Externally synchronised.
#ifndef ESPALIER_SEARCH_REFINE_REFINE_TREE_H_
#define ESPALIER_SEARCH_REFINE_REFINE_TREE_H_

#include <cstdint>
#include <queue>
#include <vector>

#include "search/tree/tree.h"

namespace espalier {

// A score in [0, 1] as a reward.
inline float RefineReward(float score) {
  const float r = 200 * score - 100;
  return r > 95 ? 50 : r;
}

class RefineTree {
 public:
  RefineTree(float c, int children) : c_(c), children_(children) {}

  struct Answer {
    NodeId end = kNoNode;  // of the response in the search tree
    int parent = -1;       // which answer it rewrites; the first: none
    int children = 0;
    int last_child = -1;    // and from there by `before`
    int before = -1;        // the answer's sibling made before it
    bool improved = false;  // a child is better
    float lowest = 0, sum = 0;
    int rewards = 0;
    int visits = 0;
    float q = 0;
  };

  // An answer with its first reward; backs up. Its index.
  int Add(int parent, NodeId end, float reward);
  // One more reward of an answer; backs up.
  void Reward(int answer, float reward);
  // The open answer of highest UCB, the first of equals; -1 if all are closed.
  // Costs the logarithm of their number.
  int Select();
  float Ucb(int answer) const;
  bool Closed(int answer) const {
    return (*this)[answer].children >= children_ && (*this)[answer].improved;
  }
  const Answer& operator[](int i) const {
    return answers_[static_cast<size_t>(i)];
  }
  int size() const { return static_cast<int>(answers_.size()); }

 private:
  Answer& at(int i) { return answers_[static_cast<size_t>(i)]; }
  void BackUp(int answer);
  // UCB or closing of `answer` may have changed.
  void Enter(int answer);

  struct Waiting {
    float ucb;
    int answer;
    uint32_t stamp;
    bool operator<(const Waiting& o) const {
      return ucb != o.ucb ? ucb < o.ucb : answer > o.answer;
    }
  };

  const float c_;
  const int children_;
  std::vector<Answer> answers_;
  // Every open answer, with entries that hold no longer among them: those whose
  // stamp is not the answer's.
  std::priority_queue<Waiting> queue_;
  std::vector<uint32_t> stamps_;
};

}  // namespace espalier

#endif  // ESPALIER_SEARCH_REFINE_REFINE_TREE_H_
