// The formulas of Gumbel MuZero's search (Danihelka et al. 2022; mctx),
// separate from the search itself.
//
//   sequential halving  m candidates; in each of log2 m rounds all that are
//                       left get the same number of visits, then the worse half
//                       is dropped
//   sigma(q)            (c_visit + max_a N(a)) c_scale q, c_visit = 50,
//                       c_scale = .1, q rescaled to [0, 1] over the actions
//   completed q         of an unvisited action without a known value:
//                       (v + sum N * sum_visited(p q) / sum_visited p)
//                       / (1 + sum N), v the node's own value
//   interior choice     argmax(pi'(a) - N(a) / (1 + sum N)),
//                       pi' = softmax(logits + sigma(completed q))
#ifndef ESPALIER_SEARCH_MCTS_GUMBEL_FORMULAS_H_
#define ESPALIER_SEARCH_MCTS_GUMBEL_FORMULAS_H_

#include <limits>
#include <vector>

#include "absl/types/span.h"
#include "base/random.h"

namespace espalier {

// Returns for one simulation after another the number of visits of the
// candidates to choose from.
class HalvingSchedule {
 public:
  HalvingSchedule() = default;
  HalvingSchedule(int simulations, int candidates);
  int visits() const { return visits_; }
  void Next();

 private:
  int simulations_ = 0;
  int rounds_ = 0;
  int left_ = 1;    // candidates of this round
  int visits_ = 0;  // of each of them so far
  int more_ = 0;    // additional visits for each in this round
  int turn_ = 0;    // among those left
};

// Statistics of one action.
struct GumbelAction {
  float logit = 0;
  // While unvisited: its estimate; NaN: unknown.
  float q = std::numeric_limits<float>::quiet_NaN();
  float visits = 0;
};

// Completed q of every action, by the formula above.
std::vector<float> CompletedQ(absl::Span<const GumbelAction> actions,
                              float value);

// sigma(q) of every action. `rescale`: to [0, 1] over the actions, as above.
std::vector<float> SigmaQ(absl::Span<const float> completed, float max_visits,
                          float c_visit, float c_scale, bool rescale = true);

// pi' of every action.
std::vector<float> ImprovedPolicy(absl::Span<const GumbelAction> actions,
                                  absl::Span<const float> sigma);

// Perturbed logits g + logit of actions in the order in which they were drawn
// without replacement, given their log-probs: the k-th is a Gumbel with the log
// of the remaining mass as location, truncated at the one before it. Equivalent
// to drawing all Gumbels and taking the highest (Kool et al. 2019,
// arXiv:1903.06059).
std::vector<float> PerturbedLogits(absl::Span<const float> logprobs,
                                   RandomStream random);
// The same for actions that were not drawn: an independent Gumbel each.
std::vector<float> FreshlyPerturbedLogits(absl::Span<const float> logprobs,
                                          RandomStream random);

}  // namespace espalier

#endif  // ESPALIER_SEARCH_MCTS_GUMBEL_FORMULAS_H_
