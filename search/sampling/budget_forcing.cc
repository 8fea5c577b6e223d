// Budget forcing (T33; s1, Muennighoff et al. 2025, arXiv:2501.19393): a
// response that wants to end is made to think on, the sequential baseline of
// every search.
//
//   1. write   a response to its end;
//   2. force   take back its last step, the answer, and put `word` in its
//              place: 1 goes on from there.
//
// `times` rounds of 2, or with times=0 until the budget is spent. The answer is
// the last one that was given. The word is a node of the tree, of tokens that
// nobody sampled (log-prob 0): a whole step, or, own_step=false, the beginning
// of one, on which the response goes on as s1's does.
//
// Differs: s1 takes back the token that ends the thinking and has an answer
// written in the end only; here each round has one, so that there is an answer
// at any time, and it is the last step that is taken back. s1 bars the end of
// the thinking right behind the word, and where it cuts the thinking by a limit
// it puts "Final Answer:" behind it.
#include <string>
#include <vector>

#include "search/algorithm.h"
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
          "ends that are taken back; 0: until the budget is spent");
    v.Real("temperature", &temperature, 0, 10, "of sampling");
    v.Text("word", &word, "what stands in the place of an answer");
    v.Flag("own_step", &own_step,
           "the word is a whole step; off: the response goes on right behind "
           "it, as s1's does");
  }
  std::vector<std::string> Check() const {
    if (!word.empty()) return {};
    return {"word is empty; expected what a response goes on with, as Wait"};
  }
};

Co<> RunForcing(SearchContext& ctx, const ForcingOptions& options) {
  const std::string step =
      options.own_step ? options.word + ctx.format().delimiter : options.word;
  NodeId from = kRoot;
  for (int round = 0; !ctx.ShouldStop(); ++round) {
    const NodeId end = co_await Rollout(ctx, from, options.temperature);  // 1
    if (end == kNoNode) break;
    // Thinking on may lead nowhere: that takes back no answer.
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
    "budget_forcing", "one response that is made to think on when it ends",
    {RequestKind::kExpand}, &RunForcing,
    MethodNotes{.source = "s1, Muennighoff et al. 2025, arXiv:2501.19393",
                .when_to_use = "the model checks itself when it is told to "
                               "wait, or as the sequential row beside a search",
                .test = "tests/search/budget_forcing_test.cc"});

}  // namespace
}  // namespace espalier
