// Finds the first error of wrong responses by binary search (OmegaPRM, Luo et
// al. 2024, arXiv:2406.06592). It labels training problems: its tree has many
// ends below the steps around first errors, from which outcome counts make
// labels. It reads references, so only `generate` runs it.
//
//   1. estimate  k responses from the prompt; MC(s) is the share of right ones
//                among those that end. The wrong ones enter a pool if 0 < MC(s)
//                < 1 (rollout_pool.h);
//   2. select    the rollout of the pool with the highest Q(s, r) + U(s);
//   3. search    bisect its steps between the last one known to lead to a right
//                end and the first one known not to: estimate the middle (1),
//                unless that prefix was estimated before, and continue in the
//                half that holds the first error. Every estimated prefix is a
//                state whose wrong rollouts enter the pool;
//   4. repeat    from 2, until the pool is empty or a budget is spent.
//
//   s |--- right ---|--- ? ---|--- wrong ---| end      MC(middle) > 0: go right
//     '- 0          '- right  '- wrong
//
// A visit of a node is a response through it and q the share of right ones,
// over the responses of all states, as outcome counts have it. MC(s) is only
// over the k responses started at s. The answer offered is the most frequent
// one of the responses from the prompt, as in majority: no verdict influences
// it.
#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "search/algorithm.h"
#include "search/choose.h"
#include "search/labelling/rollout_pool.h"
#include "search/parts/rollout.h"

namespace espalier {
namespace {

struct OmegaOptions {
  int k = 16;
  float alpha = 0.5f;
  float beta = 0.9f;
  int length = 500;
  float c_puct = 0.125f;
  float temperature = 1;
  void Visit(OptionVisitor& v) {
    v.Int("k", &k, 2, 4096, "rollouts per prefix to estimate its value");
    v.Real("alpha", &alpha, 1e-6f, 1,
           "lower values favour prefixes with more correct rollouts");
    v.Real("beta", &beta, 1e-6f, 1, "lower values favour short rollouts");
    v.Int("L", &length, 1, 1 << 20,
          "unit of rollout length for beta, in words");
    v.Real("c_puct", &c_puct, 0, 1000,
           "exploration constant, spreads over prefixes");
    v.Real("temperature", &temperature, 0.01f, 10, "sampling temperature");
  }
};

struct Omega {
  const OmegaOptions& options;
  RolloutPool pool;
  std::map<NodeId, bool> graded = {};  // ends
  Votes votes{AnswerChoice::kMajority};
};

int CountWords(const Tree& tree, NodeId from, NodeId to) {
  int words = 0;
  for (NodeId id = to; id != from; id = tree[id].parent) {
    bool inside = false;
    for (const char c : tree.text(id)) {
      const bool space = c == ' ' || c == '\n' || c == '\t' || c == '\r';
      words += !space && !inside;
      inside = !space;
    }
  }
  return words;
}

void Backup(Tree& tree, NodeId end, bool right) {
  for (NodeId id = end; id != kNoNode; id = tree[id].parent) {
    AddVisit(tree[id], right ? 1 : 0);
  }
}

// True if the response that ends in `end` is right; graded once per end. No
// value if the search was stopped before the verdict arrived.
Co<std::optional<bool>> IsRight(SearchContext& ctx, Omega& omega, NodeId end) {
  const auto known = omega.graded.find(end);
  if (known != omega.graded.end()) co_return known->second;
  const Verification verdict = co_await ctx.Grade(end);
  if (!verdict.done) co_return std::nullopt;
  omega.graded[end] = verdict.correct;
  co_return verdict.correct;
}

// Stage 1 for `state`. False if a budget ended it, leaving no estimate.
Co<bool> Estimate(SearchContext& ctx, Omega& omega, NodeId state) {
  int right = 0, finished = 0;
  std::vector<NodeId> wrong;
  for (int i = 0; i < omega.options.k; ++i) {
    if (ctx.ShouldStop()) co_return false;
    const NodeId end = co_await Rollout(ctx, state, omega.options.temperature);
    if (end == kNoNode) continue;
    const std::optional<bool> is_right = co_await IsRight(ctx, omega, end);
    if (!is_right) co_return false;
    Backup(ctx.tree(), end, *is_right);
    ++finished;
    right += *is_right ? 1 : 0;
    if (!*is_right) wrong.push_back(end);
    if (state == kRoot) {
      omega.votes.Add(ctx, end, 1);
      omega.votes.Offer(ctx);
    }
  }
  // The budget may have cut the last response.
  if (ctx.ShouldStop()) co_return false;
  omega.pool.AddState(state, finished > 0 ? static_cast<double>(right) /
                                                static_cast<double>(finished)
                                          : 0);
  for (const NodeId end : wrong) {
    omega.pool.Add({.state = state, .end = end},
                   CountWords(ctx.tree(), state, end));
  }
  co_return true;
}

// Stage 3.
Co<> FindFirstError(SearchContext& ctx, Omega& omega, WrongRollout rollout) {
  std::vector<NodeId> path;
  for (NodeId id = rollout.end; id != rollout.state;
       id = ctx.tree()[id].parent) {
    path.push_back(id);
  }
  std::reverse(path.begin(), path.end());
  // Number of steps after which a right end was reached, and after which none
  // was.
  size_t right = 0, wrong = path.size();
  while (wrong - right > 1) {
    const size_t middle = (right + wrong) / 2;
    const NodeId state = path[middle - 1];
    if (!omega.pool.knows(state)) {
      const bool done = co_await Estimate(ctx, omega, state);
      if (!done) co_return;
    }
    (omega.pool.mc(state) > 0 ? right : wrong) = middle;
  }
}

Co<> RunOmegaPrm(SearchContext& ctx, const OmegaOptions& options) {
  Omega omega{
      .options = options,
      .pool = RolloutPool({.alpha = options.alpha,
                           .beta = options.beta,
                           .length = static_cast<double>(options.length),
                           .c_puct = options.c_puct})};
  const bool begun = co_await Estimate(ctx, omega, kRoot);
  while (begun && !ctx.ShouldStop()) {
    const std::optional<WrongRollout> rollout = omega.pool.Pop();
    if (!rollout) break;
    co_await FindFirstError(ctx, omega, *rollout);
    ctx.CountSimulation();
  }
}

const RegisterAlgorithm<OmegaOptions> kOmegaPrm(
    "omega_prm",
    "labels training problems: first errors by binary search (generate only)",
    {RequestKind::kExpand, RequestKind::kGrade}, &RunOmegaPrm,
    MethodNotes{
        .source = "OmegaPRM, Luo et al. 2024, arXiv:2406.06592",
        .when_to_use = "generate should label the steps of training problems",
        .test = "tests/engine/omega_prm_test.cc"});

}  // namespace
}  // namespace espalier
