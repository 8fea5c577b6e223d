// Budget forcing (s1, Muennighoff et al. 2025, arXiv:2501.19393): a response
// that is about to end is forced to continue; a sequential baseline for the
// searches.
//
//   1. write   a response to its end;
//   2. force   drop its last step, the answer, and put `word` in its place: 1
//              continues from there.
//
// `times` rounds of 2, or with times=0 until the budget is spent. The answer is
// the last one given. The word is a node of the tree, with unsampled tokens
// (log-prob 0): a whole step or, with own_step=false, the start of one, which
// the response continues as in s1.
//
// Differs: s1 drops the end-of-thinking token and generates an answer only at
// the end; here each round has one, so that there is an answer at any time, and
// the last step is dropped. s1 bans the end of thinking right after the word,
// and if it cuts the thinking at a limit it appends "Final Answer:".
#include <string>
#include <vector>

#include "search/algorithm.h"
#include "search/parts/common_options.h"
#include "search/parts/rollout.h"

namespace espalier {
namespace {

struct ForcingOptions {
  int times = 2;
  float temperature = 0;
  std::string word = "Wait";
  bool own_step = true;
  void Visit(OptionVisitor& v) {
    v.Int("times", &times, 0, 1 << 20,
          "how often an end is replaced by word; 0: until the budget is spent");
    VisitTemperature(v, &temperature);
    v.Text("word", &word, "text inserted instead of an answer");
    v.Flag("own_step", &own_step,
           "the word is a step of its own; off: the response continues right "
           "after it, as in s1");
  }
  std::vector<std::string> Check() const {
    if (!word.empty()) return {};
    return {
        "word is empty; expected text with which a response continues, e.g. "
        "Wait"};
  }
};

Co<> RunForcing(SearchContext& ctx, const ForcingOptions& options) {
  const std::string step =
      options.own_step ? options.word + ctx.format().delimiter : options.word;
  NodeId from = kRoot;
  for (int round = 0; !ctx.ShouldStop(); ++round) {
    const NodeId end = co_await Rollout(ctx, from, options.temperature);  // 1
    if (end == kNoNode) break;
    // If continuing leads nowhere, the previous answer stays.
    if (round == 0 || ctx.AnswerOf(end) >= 0) {
      ctx.Offer(end, static_cast<float>(round));
    }
    ctx.CountSimulation();
    if (options.times > 0 && round == options.times) break;
    const Expansion forced =
        co_await ctx.Expand(ctx.tree()[end].parent, {.forced = step});  // 2
    if (forced.samples.empty()) break;
    from = forced.samples[0];
  }
}

const RegisterAlgorithm<ForcingOptions> kForcing(
    "budget_forcing",
    "one response that is forced to keep thinking when it ends",
    {RequestKind::kExpand}, &RunForcing,
    MethodNotes{.source = "s1, Muennighoff et al. 2025, arXiv:2501.19393",
                .when_to_use = "the model checks its work when made to wait, "
                               "or as a sequential baseline for a search",
                .test = "tests/search/budget_forcing_test.cc"});

}  // namespace
}  // namespace espalier
