// How a search ends that had to stop before its method had an answer.
//
//   1. tree     finished responses that the method did not get to are scored,
//               which costs no tokens, and vote as in the method;
//   2. finish   if there are none: unfinished responses are scored, and the
//               most promising one (SearchContext::Promise) that should fit in
//               the remaining budget is completed at temperature 0, from the
//               tokens held back for it (SearchContext::Expand). If it ends
//               without an answer, the next most promising one is tried.
//
// Stage 2 runs only with a token budget. Exempt from both stages, with nothing
// held back: finish=false, for presets whose paper returns only what its method
// chose; methods that label problems; methods whose answers a verifier has to
// accept; and `greedy` and `sample`, which are one response.
//
// If all finished responses end without an answer, e.g. because the policy
// gives up, the best of them is the result (AnswerStage::kUnanswered).
#ifndef ESPALIER_SEARCH_FINISH_H_
#define ESPALIER_SEARCH_FINISH_H_

#include "search/choose.h"
#include "search/search_context.h"

namespace espalier {

struct FinishPlan {
  bool exempt = false;
  bool scores = false;                        // the method uses a reward model
  AnswerChoice choice = AnswerChoice::kBest;  // stage 1
};

// Runs `method`, then the stages above.
Co<> RunAndFinish(SearchContext& ctx, Co<> method, FinishPlan plan);

}  // namespace espalier

#endif  // ESPALIER_SEARCH_FINISH_H_
