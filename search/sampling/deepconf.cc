// Confidence-filtered voting (T33; DeepConf, Fu et al. 2025,
// arXiv:2508.15260).
//
// With C(r) the confidence of response r (search/parts/confidence.h):
//   1. draw    `parallel` responses;
//   2. filter  keep those with C(r) >= s, the ceil(eta/100 * N)-th highest of
//              the N confidences so far;
//   3. vote    the answer with the highest sum of C(r) over kept responses.
//
// online: the first `warmup` responses set s from their lowest step once and
// for all. From then on a response is given up at its first step less sure
// than s, and drawing ends when one answer has `consensus` of the kept weight.
// C is then the lowest step's, whatever `of` says.
#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "search/algorithm.h"
#include "search/parts/choose.h"
#include "search/parts/confidence.h"
#include "search/parts/lockstep.h"
#include "search/sampling/confidence_filter.h"

namespace espalier {
namespace {

struct DeepConfOptions {
  int n = 0;
  int parallel = 1;
  float temperature = 1;
  float eta = 90;
  ConfidenceOf of = ConfidenceOf::kLowest;
  bool online = false;
  int warmup = 16;
  float consensus = 0.95f;
  void Visit(OptionVisitor& v) {
    v.Int("n", &n, 0, 1 << 20, "responses; 0: until the budget is spent");
    v.Int("parallel", &parallel, 1, 4096, "responses drawn at once");
    v.Real("temperature", &temperature, 0, 10, "of sampling");
    v.Real("eta", &eta, 0, 100, "percent of responses that vote, at least one");
    VisitChoice(v, "of", &of, kConfidenceOfNames,
                "steps whose token probability is a response's confidence");
    v.Flag("online", &online, "give up responses at their first unsure step");
    v.Int("warmup", &warmup, 1, 1 << 20,
          "responses that say what unsure is; online");
    v.Real("consensus", &consensus, 0, 1,
           "share of the weight that ends the search; online");
  }
  std::vector<std::string> Check() const {
    if (!online || n == 0 || warmup <= n) return {};
    return {absl::StrCat("warmup=", warmup, " is more than n=", n,
                         "; online nothing would ever be given up")};
  }
};

// What the responses so far say.
struct Ballot {
  Votes votes{AnswerChoice::kWeighted};
  double top_share = 0;
};

Ballot Count(SearchContext& ctx, const std::vector<NodeId>& ends,
             const std::vector<float>& confidences, float threshold) {
  Ballot ballot;
  std::map<int32_t, double> weights;
  double total = 0, top = 0;
  for (size_t i = 0; i < ends.size(); ++i) {
    if (confidences[i] < threshold) continue;
    ballot.votes.Add(ctx, ends[i], confidences[i]);
    const int32_t answer = ctx.AnswerOf(ends[i]);
    total += confidences[i];
    if (answer < 0) continue;
    top = std::max(top, weights[answer] += confidences[i]);
  }
  ballot.top_share = total > 0 ? top / total : 0;
  return ballot;
}

Co<> RunDeepConf(SearchContext& ctx, const DeepConfOptions& options) {
  const ConfidenceOf of = options.online ? ConfidenceOf::kLowest : options.of;
  std::vector<NodeId> ends;
  std::vector<float> confidences;
  std::optional<float> fixed;  // s, once the warm-up is over
  int drawn = 0;
  while ((options.n == 0 || drawn < options.n) && !ctx.ShouldStop()) {
    int count = options.parallel;
    if (options.n > 0) count = std::min(count, options.n - drawn);
    if (options.online && drawn < options.warmup) {
      count = std::min(count, options.warmup - drawn);
    }
    const int64_t before = ctx.usage().tokens;
    const std::vector<NodeId> roots(static_cast<size_t>(count), kRoot);
    const std::vector<NodeId> written =
        co_await FinishEach(ctx, roots, options.temperature, fixed.value_or(0));
    drawn += count;
    for (const NodeId end : written) {
      if (end == kNoNode) continue;
      ends.push_back(end);
      confidences.push_back(PathConfidence(ctx.tree(), end, of));
      ctx.CountSimulation();
    }
    if (ctx.usage().tokens == before) break;  // nothing more will come
    if (ends.empty()) continue;
    const float threshold =
        fixed ? *fixed : ConfidenceThreshold(confidences, options.eta);
    if (options.online && drawn >= options.warmup) fixed = threshold;
    const Ballot ballot = Count(ctx, ends, confidences, threshold);
    ballot.votes.Offer(ctx);
    if (fixed && ballot.top_share >= options.consensus) break;
  }
}

const RegisterAlgorithm<DeepConfOptions> kDeepConf(
    "deepconf", "vote of the responses the policy was surest of",
    {RequestKind::kExpand}, &RunDeepConf,
    MethodNotes{
        .source = "DeepConf, Fu et al. 2025, arXiv:2508.15260",
        .when_to_use =
            "there is no reward model and the policy knows when it is unsure",
        .test = "tests/search/confidence_test.cc"});

}  // namespace
}  // namespace espalier
