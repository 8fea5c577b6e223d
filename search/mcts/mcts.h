// Monte-Carlo tree search over sampled steps: the coroutine shared by UCT, PUCT
// and Gumbel search. What differs between them is a Rule.
//
// One simulation:
//   1. select    from the root, the child that the rule picks, until a node
//                that is not opened yet, needs one more child, or ends a
//                response;
//   2. expand    `branch` samples of the next step there (one when widening);
//                equal ones are one child with more draws;
//   3. evaluate  the new children with the reward model;
//   4. simulate  with `descend`: continue from the best new child until a
//                response ends, by one sample per step or, with descend=all, by
//                1-3 at every step; with `forward` k: see forward.h;
//   5. backup    the value of the node reached, by the rule.
//
// widen (progressive widening): a node gets one more sample when its visits
// reach (k/2)^2, k the samples it has drawn, until it has `width` distinct
// children. A repeated sample is not a child, but indicates that there are few.
// The simulation continues from the node if it got nothing new.
//
// close: finished nodes are not visited again (close.h), so that a search of a
// finite tree ends when it has seen all of it. Without it the value of a
// response counts each time it is reached.
//
// verify: the verifier's verdict on a response that ends is its value; the
// first accepted one ends the search.
//
// share: transpositions (transpositions.h); values are then backed up over the
// graph (GraphBackup) under any rule.
//
// in_flight: number of concurrent simulations. A path that is selected and not
// backed up yet counts as visited (virtual visits) and, with virtual_loss, as
// that many visits of value 0. A simulation that reaches a leaf whose expansion
// is in flight waits. in_flight = 1 has no effect.
#ifndef ESPALIER_SEARCH_MCTS_MCTS_H_
#define ESPALIER_SEARCH_MCTS_MCTS_H_

#include <algorithm>
#include <vector>

#include "search/algorithm.h"
#include "search/choose.h"
#include "search/mcts/forward.h"
#include "search/mcts/mcts_options.h"
#include "search/parts/backup.h"
#include "search/parts/close.h"
#include "search/parts/path_visit.h"
#include "search/parts/transpositions.h"

namespace espalier {

// What distinguishes one MCTS from another. Calls get the original node of a
// state; children may be aliases.
//
//   struct Rule {
//     // The child to continue with, skipping closed and truncated ones;
//     // kNoNode if none is left.
//     NodeId Pick(SearchContext& ctx, NodeId parent);
//     // New children of `parent` were sampled (not scored yet), or scored.
//     void Sampled(Tree& tree, NodeId parent);
//     void Scored(Tree& tree, NodeId parent);
//     // Finishes the visit with `value`.
//     void Backup(Tree& tree, PathVisit& visit, float value);
//     // Optional: a visit that ended in `leaf` ends the search.
//     bool Ends(const Tree& tree, NodeId leaf);
//   };
template <class Rule>
struct Mcts {
  Mcts(const MctsOptions& given, Rule rule_)
      : options(given),
        rule(std::move(rule_)),
        votes(given.choice, {given.simulations, given.in_flight}),
        states(given.share) {}

  const MctsOptions& options;
  Rule rule;
  Votes votes;
  TranspositionTable states;
  int started = 0;
  // Consecutive simulations that requested nothing: a search without a limit of
  // simulations must still end.
  int idle = 0;
  bool over = false;
};

// True if a search should end after this many consecutive simulations without
// anything new. With a given number of simulations many of them may find
// nothing, but the search must still end soon.
inline bool TooIdle(int idle, int simulations) {
  return idle >= (simulations > 0 ? 100000 : 1000);
}

// True if `node` needs one more child.
inline bool Widens(const Tree& tree, NodeId id, const MctsOptions& options) {
  const Node& node = tree[id];
  if (!options.widen || static_cast<int>(node.num_children) >= options.width) {
    return false;
  }
  const float half = static_cast<float>(tree.samples_drawn(id)) / 2;
  return static_cast<float>(node.visits) >= half * half;
}

// True if `node` will get no more children: it may not, or it was sampled so
// often that nothing new is expected, i.e. eight samples per child plus eight.
inline bool Full(const Tree& tree, NodeId id, const MctsOptions& options) {
  // Passed through by a rollout with one sample per step: not expanded yet.
  if ((tree[id].flags & (kOpened | kTerminal)) == 0) return false;
  const int children = static_cast<int>(tree[id].num_children);
  return !options.widen || children >= options.width ||
         tree.samples_drawn(id) >= 8 * (children + 1);
}

// Stage 1, from the end of `visit`. False if it reached a state that is already
// on its path, where nothing can be gained.
template <class Rule>
bool Select(SearchContext& ctx, Mcts<Rule>& s, PathVisit& visit, bool widen) {
  Tree& tree = ctx.tree();
  while (true) {
    const NodeId at = visit.state();
    if ((tree[at].flags & kOpened) == 0) return true;
    if (widen && Widens(tree, at, s.options)) return true;
    const NodeId next = s.rule.Pick(ctx, at);
    if (next == kNoNode) return true;
    visit.Enter(next);
    widen = true;
    if (!s.states.on()) continue;
    for (size_t i = 0; i + 1 < visit.path().size(); ++i) {
      if (tree.Original(visit.path()[i]) == visit.state()) return false;
    }
  }
}

// Stage 5 and its consequences. `proved`: the verifier accepted the response.
template <class Rule>
void Conclude(SearchContext& ctx, Mcts<Rule>& s, PathVisit& visit,
              bool proved) {
  Tree& tree = ctx.tree();
  const NodeId leaf = visit.state();
  const bool ended = tree[leaf].terminal();
  const bool cut = !ended && s.options.cut == Cut::kZero &&
                   tree.step(leaf).depth >= ctx.format().max_steps;
  const float value = ended && s.options.verify ? (proved ? 1.0f : 0.0f)
                      : cut                     ? 0.0f
                                                : OwnValue(tree, leaf);
  if (s.states.on()) {
    GraphBackup(tree, visit, value);
  } else {
    s.rule.Backup(tree, visit, value);
  }
  ctx.CountSimulation();
  if (proved) MarkProved(tree, visit.path());
  if (s.options.close && (ended || tree[leaf].closed())) {
    const auto full = [&](NodeId id) { return Full(tree, id, s.options); };
    const size_t closed = CloseUpwards(tree, visit.path(), full);
    // A verifier's verdicts make closed nodes certain: settle them from the
    // leaf up, since each one corrects the values backed up to its ancestors.
    if (s.options.verify && !s.states.on()) {
      for (size_t i = visit.path().size(); i-- > closed;) {
        Settle(tree, absl::MakeConstSpan(visit.path()).first(i + 1),
               tree[visit.path()[i]].proved() ? 1.0f : 0.0f);
      }
    }
  }
  s.over |= tree[kRoot].closed() || proved;
  if constexpr (requires { s.rule.Ends(tree, leaf); }) {
    s.over |= s.rule.Ends(tree, leaf);
  }
  if (!ended) return;
  s.votes.Add(ctx, leaf, value);
  s.votes.Offer(ctx);
}

// A whole simulation from the end of `visit`. Leaves no visit in flight.
template <class Rule>
Co<> Simulate(SearchContext& ctx, Mcts<Rule>& s, PathVisit& visit) {
  Tree& tree = ctx.tree();
  bool widen = true;
  bool below = false;  // a new leaf: what follows is its value (4)
  while (Select(ctx, s, visit, widen)) {  // 1
    const NodeId leaf = visit.state();
    const bool first = (tree[leaf].flags & kOpened) == 0;
    if ((tree[leaf].flags & kOpening) != 0 ||
        (leaf != kRoot && !tree[leaf].scored())) {
      // Another simulation's request for it is in flight. Waiting for it does
      // not count as finding nothing new.
      visit.Abandon();
      --s.started;
      const auto answer = ctx.Yield();
      if (!answer.await_ready()) s.idle = std::max(0, s.idle - 1);
      co_await answer;
      co_return;
    }
    if (tree[leaf].terminal()) break;
    if (!first && AllChildrenClosed(tree, leaf)) {
      // No open child is left, but there may be one that was not sampled yet:
      // one try per simulation.
      if (Full(tree, leaf, s.options)) tree[leaf].flags |= kClosed;
      if (tree[leaf].closed() || !widen) break;
    }
    const int64_t tokens = ctx.usage().tokens;
    const bool rolls = below && s.options.descend == Descend::kOne;
    const int known = static_cast<int>(tree[leaf].num_children);
    const int n = first && !rolls ? std::max(1, s.options.branch - known) : 1;
    if (first && !rolls) tree[leaf].flags |= kOpening;
    const Expansion expansion = co_await ctx.Expand(
        leaf, {.n = n, .temperature = s.options.temperature});  // 2
    if (!rolls) tree[leaf].flags &= static_cast<uint8_t>(~kOpening);
    if (ctx.usage().tokens > tokens) s.idle = 0;
    const bool limit = tree.step(leaf).depth >= ctx.format().max_steps;
    const bool dead = leaf != kRoot && !ctx.ShouldStop();
    const bool counts = s.options.cut == Cut::kVisit  ? limit || dead
                        : s.options.cut == Cut::kZero ? limit
                                                      : false;
    if (expansion.samples.empty() && counts) break;
    if (expansion.samples.empty()) {
      // Nothing can follow, and not because of a budget: never visit it again.
      if (!ctx.ShouldStop()) tree[leaf].flags |= kTruncated;
      break;
    }
    if (!rolls) tree[leaf].flags |= kOpened;
    if (s.states.on()) {
      for (const NodeId c : expansion.samples) s.states.Enter(tree, c);
    }
    s.rule.Sampled(tree, leaf);
    co_await ctx.Evaluate(expansion.samples);  // 3
    s.rule.Scored(tree, leaf);
    if (ctx.ShouldStop()) break;
    if (s.options.forward > 0) {  // 4
      co_await Forward(ctx, leaf, s.options);
    }
    const bool news =
        first || tree[leaf].num_children > static_cast<uint32_t>(known);
    if (s.options.descend == Descend::kNone && news) break;
    widen = false;
    below |= news;
    // If another simulation has opened it meanwhile, continue by the rule.
    if (rolls && (tree[leaf].flags & kOpened) == 0) {
      visit.Enter(expansion.samples[0]);
      if (tree[visit.state()].truncated()) break;
    }
  }
  if (tree[visit.state()].truncated()) {
    s.over |= visit.state() == kRoot;
    visit.Abandon();
    co_return;
  }
  bool proved = tree[visit.state()].proved();
  if (s.options.verify && tree[visit.state()].terminal() &&
      !tree[visit.state()].closed()) {
    const Verification verdict = co_await ctx.Verify(visit.state());
    if (!verdict.done) {
      visit.Abandon();
      co_return;
    }
    proved = verdict.correct;
  }
  Conclude(ctx, s, visit, proved);  // 5
}

template <class Rule>
Co<> Worker(SearchContext& ctx, Mcts<Rule>& s) {
  PathVisit visit(ctx.tree());
  while (!s.over && !ctx.ShouldStop() &&
         (s.options.simulations == 0 || s.started < s.options.simulations) &&
         !TooIdle(s.idle, s.options.simulations)) {
    ++s.started;
    ++s.idle;
    visit.Begin();
    co_await Simulate(ctx, s, visit);
  }
}

template <class Rule>
Co<> RunMcts(SearchContext& ctx, const MctsOptions& options, Rule rule) {
  Mcts<Rule> search(options, std::move(rule));
  if (options.in_flight == 1) {
    co_await Worker(ctx, search);
  } else {
    std::vector<Co<>> workers;
    for (int i = 0; i < options.in_flight; ++i) {
      workers.push_back(Worker(ctx, search));
    }
    WhenAll all(workers);
    co_await all;
  }
  if (options.choice == AnswerChoice::kMajorityOfTree) {
    search.votes.CountTree(ctx);
    if (!search.votes.empty()) search.votes.Offer(ctx);
  }
}

}  // namespace espalier

#endif  // ESPALIER_SEARCH_MCTS_MCTS_H_
