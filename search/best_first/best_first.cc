// Best-first search by score and log-probability, with merged states and proofs
// (BFS-Prover, Xin et al. 2025, arXiv:2502.03438; BFS-Prover-V2, Xin et al.
// 2025, arXiv:2509.06493).
//
//   1. pop       the `in_flight` open nodes of highest rank
//                  priority = sum over steps of (mean token log-prob) / d^alpha
//                for score = logprob, log(path_score) for reward, their sum for
//                sum; ties (`ties`) go to the oldest, or in heap order to the
//                highest sum of mean log-probs (BFS-Prover-V2);
//   2. propose   `branch` next steps of each;
//   3. evaluate  them (unless score = logprob);
//   4. merge     each into the state that it equals (proof_graph.h), which is
//                expanded once, with the rank of its first path; new unfinished
//                ones are open;
//   5. finish    the ends: with `verify`, a verified end is the answer and the
//                search is over, others fail and do not vote; without, each
//                votes with the weight exp(rank).
//
// With `verify` a visit of a node is a verdict on an end below it, and q the
// share of right ones.
//
// A node is expanded once: the search also ends when nothing is open, having
// seen everything that its samples could reach. A search cut before its first
// end is finished (finish.h); with `verify` one cut before its first proof has
// no answer. With in_flight = 1 nodes are expanded strictly by rank; more are
// popped together.
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "search/algorithm.h"
#include "search/best_first/priority.h"
#include "search/best_first/proof_graph.h"
#include "search/choose.h"
#include "search/parts/common_options.h"
#include "search/parts/frontier.h"
#include "search/parts/logprob.h"
#include "search/parts/propose.h"

namespace espalier {
namespace {

enum class ScoredBy : uint8_t { kLogprob, kReward, kSum };
constexpr std::array<std::string_view, 3> kScoreNames = {"logprob", "reward",
                                                         "sum"};

struct BestFirstOptions {
  int branch = 4;
  float temperature = 0.7f;
  float alpha = 0;
  ScoredBy score = ScoredBy::kSum;
  Merge merge = Merge::kNone;
  bool verify = false;
  int in_flight = 1;
  Ties ties = Ties::kOldest;
  AnswerChoice choice = AnswerChoice::kWeighted;
  int64_t AtOnce() const { return int64_t{branch} * in_flight; }
  void Visit(OptionVisitor& v) {
    v.Int("branch", &branch, 1, 4096, "samples of a node's next step");
    VisitTemperature(v, &temperature);
    v.Real("alpha", &alpha, 0, 10,
           "exponent of the depth by which a path's log-prob is divided");
    VisitChoice(v, "score", &score, kScoreNames,
                "what ranks open nodes and weights votes");
    VisitChoice(v, "merge", &merge, kMergeNames,
                "which nodes count as one state: those with equal last steps, "
                "or with the same steps in any order");
    v.Flag("verify", &verify,
           "check every finished response with the verifier (puzzle rules, "
           "public tests) and stop at the first correct one");
    v.Int("in_flight", &in_flight, 1, 4096, "nodes expanded at once");
    VisitChoice(
        v, "ties", &ties, kTiesNames,
        "order of open nodes of equal rank: oldest first, or heap order");
    VisitAnswerChoice(v, &choice);
  }
  bool NeverFinished() const { return verify; }
  std::vector<RequestKind> Needs() const {
    std::vector<RequestKind> needs = {RequestKind::kExpand};
    if (score != ScoredBy::kLogprob) needs.push_back(RequestKind::kEvaluate);
    if (verify) needs.push_back(RequestKind::kVerify);
    return needs;
  }
};

struct End {
  NodeId node;
  float weight;
  StateId state;
  bool is_new;  // no verdict on its state yet
};

struct BestFirst {
  explicit BestFirst(const BestFirstOptions& o)
      : options(o), frontier(o.ties), states(o.merge), votes(o.choice) {}
  const BestFirstOptions& options;
  Frontier frontier;
  ProofGraph states;
  Votes votes;
  std::vector<double> sums = {0};  // by node: sum of step mean log-probs
  std::vector<End> ends;           // of this round
};

// Stage 4 for one step.
void Insert(SearchContext& ctx, BestFirst& search, NodeId id) {
  const Tree& tree = ctx.tree();
  const BestFirstOptions& options = search.options;
  const Step& step = tree.step(id);
  if (search.sums.size() <= id) search.sums.resize(tree.size());
  const double sum = search.sums[tree[id].parent] + StepLogprob(step);
  search.sums[id] = sum;
  double rank = 0;
  if (options.score != ScoredBy::kReward) {
    rank = PathPriority(sum, step.depth, options.alpha);
  }
  if (options.score != ScoredBy::kLogprob) {
    // Keeps a score of 0 comparable.
    rank += std::log(std::max<double>(tree.score(id), 1e-9));
  }
  const ProofGraph::Added added = search.states.Add(tree, id);
  if (tree[id].terminal()) {
    const float weight = options.score == ScoredBy::kReward
                             ? tree.score(id)
                             : static_cast<float>(std::exp(rank));
    search.ends.push_back({id, weight, added.state, added.is_new});
  } else if (added.is_new) {
    search.frontier.Push(id, rank, sum);
    ctx.SetRetention(id, rank);
    return;
  }
  ctx.Evict(id);
}

// Stage 5. True if an end is proved.
Co<bool> Finish(SearchContext& ctx, BestFirst& search) {
  if (!search.options.verify) {
    for (const End& end : search.ends) {
      search.votes.Add(ctx, end.node, end.weight);
    }
    if (!search.ends.empty()) search.votes.Offer(ctx);
    co_return false;
  }
  std::erase_if(search.ends, [](const End& end) { return !end.is_new; });
  std::vector<Awaiting<Verification>> requests;
  for (const End& end : search.ends) requests.push_back(ctx.Verify(end.node));
  const End* proved = nullptr;
  for (size_t i = 0; i < requests.size(); ++i) {
    const Verification verdict = co_await requests[i];
    if (!verdict.done) continue;
    const End& end = search.ends[i];
    for (NodeId id = end.node; id != kNoNode; id = ctx.tree()[id].parent) {
      AddVisit(ctx.tree()[id], verdict.correct ? 1 : 0);
    }
    search.states.Close(end.state);
    if (!verdict.correct) continue;
    search.states.Prove(end.state);
    if (proved == nullptr) proved = &end;
  }
  if (proved != nullptr) ctx.Offer(proved->node, 1);
  co_return proved != nullptr;
}

Co<> RunBestFirst(SearchContext& ctx, const BestFirstOptions& options) {
  BestFirst search(options);
  search.frontier.Push(kRoot, 0);
  std::vector<NodeId> popped;
  std::vector<std::vector<NodeId>> found;
  const ExpandOptions ask{.n = options.branch,
                          .temperature = options.temperature};
  const bool evaluate = options.score != ScoredBy::kLogprob;
  while (!search.frontier.empty() && !ctx.ShouldStop()) {
    popped.clear();
    while (!search.frontier.empty() &&
           static_cast<int>(popped.size()) < options.in_flight) {
      popped.push_back(search.frontier.Pop());
    }
    co_await Propose(ctx, popped, ask, evaluate, found);
    search.ends.clear();
    const bool whole = !ctx.ShouldStop();  // false: may be cut
    for (size_t i = 0; i < popped.size(); ++i) {
      for (const NodeId step : found[i]) Insert(ctx, search, step);
      ctx.Evict(popped[i]);
      if (whole) search.states.Close(search.states.state(popped[i]));
      ctx.CountSimulation();
    }
    if (search.ends.empty()) continue;
    const bool proved = co_await Finish(ctx, search);
    if (proved) co_return;
  }
}

const RegisterAlgorithm<BestFirstOptions> kBestFirst(
    "best_first", "best-first search by score and log-prob", {}, &RunBestFirst,
    MethodNotes{
        .source = "BFS-Prover-V2, Xin et al. 2025, arXiv:2509.06493",
        .when_to_use =
            "one good path must be found fast; with verify and score=logprob "
            "if a verifier decides, as in theorem proving",
        .test = "tests/search/best_first_test.cc"});

}  // namespace
}  // namespace espalier
