// Confidence-filtered voting (DeepConf, Fu et al. 2025, arXiv:2508.15260).
//
// With c_t = -1/k sum ln p of the k most likely tokens at position t of
// response r, and C(r) the aggregate `of` of the c_t
// (search/sampling/confidence_filter.h; groups are windows of tokens, across
// step boundaries):
//   1. draw    `parallel` responses;
//   2. filter  keep those with C(r) >= s, the interpolated percentile 100 - eta
//              of the confidences of all responses so far that have an answer;
//   3. vote    weighted: the answer with the highest sum of C(r) over kept
//              responses; majority: the most frequent one among them; ties go
//              to the answer that was kept first.
//
// online: C is the lowest group's, in thousandths. The first `warmup`
// responses, with or without an answer, fix s. From then on a response is
// stopped when a complete group is below s, and sampling ends when one answer
// has `consensus` of the kept weight.
//
// Differs: a response is stopped at the end of the step in which its group
// falls below s, not at the token; an answer of the warm-up is kept if no
// sufficiently confident one follows, where the program has none; if the
// sampled token is not among the k most likely, the authors' server returns it
// in addition and their mean is over k + 1.
#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "search/algorithm.h"
#include "search/choose.h"
#include "search/parts/common_options.h"
#include "search/parts/lockstep.h"
#include "search/sampling/confidence_filter.h"

namespace espalier {
namespace {

enum class ConfidenceVote : uint8_t { kWeighted, kMajority };
constexpr std::array<std::string_view, 2> kVoteNames = {"weighted", "majority"};

struct DeepConfOptions {
  int n = 0;
  int parallel = 1;
  float temperature = 1;
  float eta = 90;
  ConfidenceOf of = ConfidenceOf::kLowest;
  int window = 2048;
  int tail = 2048;
  int topk = 20;
  ConfidenceVote vote = ConfidenceVote::kWeighted;
  bool online = false;
  int warmup = 16;
  float consensus = 0.95f;
  int64_t AtOnce() const { return parallel; }
  void Visit(OptionVisitor& v) {
    v.Int("n", &n, 0, 1 << 20, "responses; 0: until the budget is spent");
    v.Int("parallel", &parallel, 1, 4096, "responses sampled at once");
    VisitTemperature(v, &temperature);
    v.Real("eta", &eta, 0, 100,
           "percentage of responses that vote, at least one response");
    VisitChoice(v, "of", &of, kConfidenceOfNames,
                "which tokens determine a response's confidence; online: "
                "always lowest");
    v.Int("window", &window, 1, 1 << 20, "tokens per group");
    v.Int("tail", &tail, 1, 1 << 20, "number of last tokens used by of=tail");
    v.Int("topk", &topk, 1, 1 << 10,
          "k: log-probs of the top-k tokens give a token's confidence");
    VisitChoice(v, "vote", &vote, kVoteNames, "how kept responses vote");
    v.Flag("online", &online,
           "stop responses at their first low-confidence group");
    v.Int("warmup", &warmup, 1, 1 << 20,
          "responses that set the confidence threshold (online)");
    v.Real("consensus", &consensus, 0, 1,
           "share of the vote weight at which an answer ends the search; 1: "
           "never (online)");
  }
  std::vector<std::string> Check() const {
    if (!online || n == 0 || warmup <= n) return {};
    return {
        absl::StrCat("warmup=", warmup, " is more than n=", n,
                     "; with online, no response would ever be stopped early")};
  }
};

// Confidences are single precision: a group at the threshold is not below it.
constexpr double kSlack = 1e-6;

// A finished response.
struct Response {
  NodeId end = kNoNode;
  double confidence = 0;
};

// Stage 1: generates `count` responses, each until it ends or a group of it is
// below `floor`. Returns those that have ended, in order.
Co<std::vector<Response>> Draw(SearchContext& ctx, int count, double floor,
                               const DeepConfOptions& options) {
  std::vector<NodeId> at(static_cast<size_t>(count), kRoot);
  std::vector<TokenGroups> groups(at.size(), TokenGroups(options.window));
  while (true) {
    std::vector<Draws> requests;
    std::vector<size_t> who;
    for (size_t i = 0; i < at.size(); ++i) {
      if (at[i] == kNoNode || ctx.tree()[at[i]].terminal()) continue;
      requests.push_back({.parent = at[i]});
      who.push_back(i);
    }
    if (requests.empty()) break;
    const auto samples =
        co_await ExpandEach(ctx, requests, options.temperature, options.topk);
    for (size_t j = 0; j < who.size(); ++j) {
      NodeId& node = at[who[j]];
      node = samples[j].empty() ? kNoNode : samples[j].front();
      if (node == kNoNode) continue;
      const auto confidences = ctx.tree().confidences(node);
      if (confidences.size() != ctx.tree().tokens(node).size()) {
        ctx.Fail(absl::FailedPreconditionError(
            "deepconf reads the log-probs of the most likely tokens, which the "
            "policy does not return; use a model with weights, or the method "
            "confidence or majority"));
        co_return {};
      }
      groups[who[j]].Add(confidences);
      if (groups[who[j]].LowestUnrounded() < floor - kSlack) node = kNoNode;
    }
  }
  std::vector<Response> responses;
  for (size_t i = 0; i < at.size(); ++i) {
    if (at[i] == kNoNode) continue;
    responses.push_back(
        {at[i], options.online
                    ? groups[i].OnlineConfidence()
                    : groups[i].Confidence(options.of, options.tail)});
  }
  co_return responses;
}

// Stage 2: s. nullopt if no response qualifies.
std::optional<double> Threshold(SearchContext& ctx,
                                const std::vector<Response>& responses,
                                const DeepConfOptions& options) {
  std::vector<double> confidences;
  for (const Response& response : responses) {
    if (options.online || ctx.AnswerOf(response.end) >= 0) {
      confidences.push_back(response.confidence);
    }
  }
  if (confidences.empty()) return std::nullopt;
  return ConfidenceThreshold(confidences, static_cast<double>(options.eta));
}

// Stage 3. Returns the leading answer's share of the kept weight.
double Count(SearchContext& ctx, const std::vector<Response>& responses,
             double threshold, const DeepConfOptions& options) {
  Votes votes(options.vote == ConfidenceVote::kMajority
                  ? AnswerChoice::kMajority
                  : AnswerChoice::kWeighted);
  std::map<int32_t, double> weights;
  double total = 0, top = 0;
  for (const Response& response : responses) {
    const int32_t answer = ctx.AnswerOf(response.end);
    if (answer < 0 || response.confidence < threshold) continue;
    votes.Add(ctx, response.end, static_cast<float>(response.confidence));
    total += response.confidence;
    top = std::max(top, weights[answer] += response.confidence);
  }
  if (!votes.empty()) votes.Offer(ctx);
  return total > 0 ? top / total : 0;
}

Co<> RunDeepConf(SearchContext& ctx, const DeepConfOptions& options) {
  std::vector<Response> responses;
  std::optional<double> fixed;  // s, once the warm-up is over
  int drawn = 0;
  while ((options.n == 0 || drawn < options.n) && !ctx.ShouldStop()) {
    int count = options.parallel;
    if (options.n > 0) count = std::min(count, options.n - drawn);
    if (options.online && drawn < options.warmup) {
      count = std::min(count, options.warmup - drawn);
    }
    const int64_t before = ctx.usage().tokens;
    const std::vector<Response> more =
        co_await Draw(ctx, count, fixed.value_or(0), options);
    drawn += count;
    for (const Response& response : more) {
      responses.push_back(response);
      ctx.CountSimulation();
    }
    if (ctx.usage().tokens == before) break;  // no more samples will come
    const std::optional<double> threshold =
        fixed ? fixed : Threshold(ctx, responses, options);
    if (!threshold) continue;
    if (options.online && drawn >= options.warmup) fixed = threshold;
    const double share = Count(ctx, responses, *threshold, options);
    if (fixed && options.consensus < 1 && share >= options.consensus) break;
  }
}

const RegisterAlgorithm<DeepConfOptions> kDeepConf(
    "deepconf", "vote of the responses that the policy is most confident in",
    {RequestKind::kExpand}, &RunDeepConf,
    MethodNotes{.source = "DeepConf, Fu et al. 2025, arXiv:2508.15260",
                .when_to_use = "there is no reward model and the policy's "
                               "confidence is informative",
                .test = "tests/search/golden_deepconf_test.cc"});

}  // namespace
}  // namespace espalier
