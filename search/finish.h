// How a search ends that was told to stop before its method had an answer.
//
//   1. tree     finished responses that the method had no time to look at are
//               scored, which costs no tokens, and vote as the method's do;
//   2. finish   if there is none: unfinished responses are scored, and the most
//               promising one (SearchContext::Promise) that what is left should
//               finish is written to its end at temperature 0, from the tokens
//               that were held back for it (SearchContext::Expand). One that
//               has no answer at its end is replaced by the next most
//               promising.
//
// 2 acts only where there is a budget of tokens. Exempt from both, and nothing
// is held back: finish=false, for presets whose paper returns what its method
// chose and nothing else; methods that label problems; those whose answers are
// what a verifier accepted; and `greedy` and `sample`, which are one response.
//
// Where all finished responses end without an answer, as where the policy gives
// up, the best of them is the result (AnswerStage::kUnanswered).
#ifndef ESPALIER_SEARCH_FINISH_H_
#define ESPALIER_SEARCH_FINISH_H_

#include "search/choose.h"
#include "search/search_context.h"

namespace espalier {

struct FinishPlan {
  bool exempt = false;
  bool scores = false;                        // the method asks a reward model
  AnswerChoice choice = AnswerChoice::kBest;  // stage 1
};

// Runs `method`, then the stages above.
Co<> RunAndFinish(SearchContext& ctx, Co<> method, FinishPlan plan);

}  // namespace espalier

#endif  // ESPALIER_SEARCH_FINISH_H_
