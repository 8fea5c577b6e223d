// The tree of answers of MCTSr, and its formulas (MCTSr, Zhang et al. 2024,
// arXiv:2406.07394, and LLaMA-Berry, arXiv:2410.02884).
//
//   r(a)     in [-100, 100]; 95 and above count as 50, so that an overly
//            generous reward does not decide on its own
//   N(a)     number of rewards of a: one when it is generated, one more each
//            time it is selected or generated again
//   Q(a)     (min r + mean r) / 2 over them
//   UCB(a)   Q + C sqrt(ln(N(parent) + 1) / (N(a) + 1e-5)), C = 1.4; N(parent)
//            is 0 for an answer that rewrites none. Q is Q(a) if a has no
//            rewrites, and (Q(a) + max over rewrites Q) / 2 if a has a rewrite
//            that has none itself (Q(a) if a's list of rewrites was cleared,
//            where the program fails). Any other answer keeps its UCB
//   open     a has fewer than `children` rewrites, or all are worse than it
//
// Nothing is backed up further: Q always uses an answer's own rewards.
//
//   const int first = tree.Add(-1, end, reward);
//   tree.Update();
//   const int chosen = tree.Select();
//   tree.Reward(chosen, again);
//   tree.Add(chosen, rewrite, its_reward);
//   tree.Update();
//
// Externally synchronised.
#ifndef ESPALIER_SEARCH_REFINE_REFINE_TREE_H_
#define ESPALIER_SEARCH_REFINE_REFINE_TREE_H_

#include <cstdint>
#include <queue>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "search/tree/tree.h"

namespace espalier {

// A judge's reward as it is counted.
inline double CutReward(double r) { return r >= 95 ? 50 : r; }
// A score in [0, 1] as a reward.
inline double RefineReward(float score) { return CutReward(200 * score - 100); }

class RefineTree {
 public:
  RefineTree(double c, int children) : c_(c), children_(children) {}

  struct Answer {
    NodeId end = kNoNode;  // of the response in the search tree
    int parent = -1;       // the answer it rewrites; -1 for a first one
    // Its rewrites, one entry each time one is generated. A rewrite that is
    // generated again from another answer stays listed here.
    std::vector<int> rewrites;
    std::vector<int> children;   // answers whose parent it is
    std::vector<int> listed_in;  // answers that list it as a rewrite
    double lowest = 0, sum = 0;
    int rewards = 0;
    double q = 0;
    double ucb = 0;
  };

  // Adds an answer with a reward. An existing answer gets another reward and
  // becomes a rewrite of `parent`; its own list of rewrites is cleared. Returns
  // its index.
  int Add(int parent, NodeId end, double reward);
  // Adds a reward to an answer.
  void Reward(int answer, double reward);
  // Updates UCBs after additions and rewards. The cost depends on the affected
  // answers, not on the whole tree.
  void Update();
  // The open answer of highest UCB, the first of equals; -1 if all are closed.
  // Logarithmic in their number.
  int Select();
  bool Closed(int answer) const;
  const Answer& operator[](int i) const {
    return answers_[static_cast<size_t>(i)];
  }
  int size() const { return static_cast<int>(answers_.size()); }

 private:
  Answer& at(int i) { return answers_[static_cast<size_t>(i)]; }
  void Refresh(int answer);
  double Ucb(int answer, double q) const;
  double BestRewrite(int answer) const;  // its Q; -infinity without rewrites

  struct Waiting {
    double ucb;
    int answer;
    uint32_t stamp;
    bool operator<(const Waiting& o) const {
      return ucb != o.ucb ? ucb < o.ucb : answer > o.answer;
    }
  };

  const double c_;
  const int children_;
  std::vector<Answer> answers_;
  absl::flat_hash_map<NodeId, int> of_end_;
  std::vector<int> touched_;  // since the last Update
  // Every open answer, and stale entries: those whose stamp is not the
  // answer's.
  std::priority_queue<Waiting> queue_;
  std::vector<uint32_t> stamps_;
};

}  // namespace espalier

#endif  // ESPALIER_SEARCH_REFINE_REFINE_TREE_H_
