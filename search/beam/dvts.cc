// Diverse verifier tree search (search-and-learn, Beeching et al. 2024).
//
// n / width independent subtrees grow from the root. Per step, in each:
//   1. propose   `width` samples of the next step;
//   2. look      k greedy steps ahead of each (temperature 0); each greedy step
//                is generated once per search;
//   3. evaluate  them with the reward model: a sample's score is that of the
//                path to the end of its greedy steps;
//   4. keep      the best, the first of equals; if it ends the response the
//                subtree has ended.
// The last of `iterations` steps continues to the end of each response, without
// looking ahead. When a subtree or the pass has ended, every sample of the
// subtree's last step that ends a response votes, once per draw; ties go to the
// first subtree. Passes repeat with fresh samples until `rounds` are done or
// the budget is spent.
//
// Differs: in search-and-learn the unfinished samples of the last step also
// vote, with the last number in their text; here they are never an answer. A
// step that a limit cut is not a sample here.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "search/algorithm.h"
#include "search/choose.h"
#include "search/parts/aggregate.h"
#include "search/parts/common_options.h"
#include "search/parts/lockstep.h"

namespace espalier {
namespace {

struct DvtsOptions {
  int n = 8;
  int width = 4;
  int k = 0;
  int iterations = 0;
  int rounds = 0;
  float temperature = 1;
  Level level = Level::kPath;
  Aggregate aggregate = Aggregate::kLast;
  AnswerChoice choice = AnswerChoice::kWeighted;
  int64_t AtOnce() const { return n; }
  void Visit(OptionVisitor& v) {
    v.Int("n", &n, 1, 1 << 16, "samples per step, over all subtrees");
    v.Int("width", &width, 1, 4096, "samples per step in each subtree");
    v.Int("k", &k, 0, 64, "greedy lookahead steps for scoring a step");
    v.Int("iterations", &iterations, 0, 1 << 16,
          "steps per pass, the last of which completes the response; 0: no "
          "limit");
    VisitRounds(v, &rounds);
    VisitTemperature(v, &temperature);
    VisitLevel(v, &level);
    VisitAggregate(v, &aggregate);
    VisitAnswerChoice(v, &choice);
  }
  std::vector<std::string> Check() const {
    if (n % width == 0) return {};
    return {absl::StrCat("n=", n, " is not a multiple of width=", width,
                         "; every subtree needs the same number of samples")};
  }
};

struct Subtree {
  int64_t place = 0;  // of its first vote
  NodeId node = kRoot;
  bool open = true;
  std::vector<NodeId> ends;  // finished samples of the last step
};

// State that a search keeps across its passes.
struct State {
  State(SearchContext& ctx, const DvtsOptions& options)
      : votes(options.choice,
              {.simulations = options.rounds, .votes = options.n}),
        scores(ctx.tree(), options.level, options.aggregate) {}
  Votes votes;
  PathScores scores;
  GreedySteps greedy;
};

void Vote(SearchContext& ctx, const Subtree& subtree, State& state) {
  int64_t place = subtree.place;
  for (const NodeId node : subtree.ends) {
    state.votes.AddAt(ctx, node, state.scores.Of(node), place++);
    state.votes.Offer(ctx);
  }
}

// Stage 1: `width` samples of each open subtree, concatenated.
Co<std::vector<NodeId>> Propose(SearchContext& ctx,
                                const std::vector<Subtree*>& open, bool last,
                                const DvtsOptions& options) {
  std::vector<NodeId> all;
  if (last) {
    for (const Subtree* subtree : open) {
      all.insert(all.end(), static_cast<size_t>(options.width), subtree->node);
    }
    co_return co_await FinishEach(ctx, all, options.temperature);
  }
  std::vector<Draws> requests;
  for (const Subtree* subtree : open) {
    requests.push_back({.parent = subtree->node, .n = options.width});
  }
  const auto samples = co_await ExpandEach(ctx, requests, options.temperature);
  for (const auto& some : samples) {
    all.insert(all.end(), some.begin(), some.end());
    // Pads for missing samples.
    all.insert(all.end(), static_cast<size_t>(options.width) - some.size(),
               kNoNode);
  }
  co_return all;
}

// Stage 4 in one subtree. `seen`: the ends of the samples' greedy steps.
void Keep(SearchContext& ctx, absl::Span<const NodeId> samples,
          absl::Span<const NodeId> seen, Subtree& subtree, State& state) {
  NodeId best = kNoNode;
  float highest = 0;
  std::vector<NodeId> ends;
  for (size_t i = 0; i < samples.size(); ++i) {
    if (samples[i] == kNoNode) continue;
    const float score = state.scores.Of(seen[i]);
    if (best == kNoNode || score > highest) {
      best = samples[i];
      highest = score;
    }
    if (ctx.tree()[samples[i]].terminal()) ends.push_back(samples[i]);
  }
  subtree.open = false;
  if (best == kNoNode) return;  // all cut: the last step's ends vote
  subtree.node = best;
  subtree.ends = ends;
  subtree.open = !ctx.tree()[best].terminal();
  if (subtree.open) return;
  Vote(ctx, subtree, state);
  subtree.ends.clear();
}

// One step of all open subtrees. False if none is open or the budget is spent.
Co<bool> TakeStep(SearchContext& ctx, std::vector<Subtree>& subtrees, bool last,
                  const DvtsOptions& options, State& state) {
  std::vector<Subtree*> open;
  for (Subtree& subtree : subtrees) {
    if (subtree.open) open.push_back(&subtree);
  }
  if (open.empty()) co_return false;
  const std::vector<NodeId> samples =
      co_await Propose(ctx, open, last, options);
  const std::vector<NodeId> seen =
      co_await LookAheadEach(ctx, samples, last ? 0 : options.k, state.greedy);
  if (!co_await ScorePaths(ctx, seen)) co_return false;
  const auto width = static_cast<size_t>(options.width);
  for (size_t i = 0; i < open.size(); ++i) {
    Keep(ctx, absl::MakeConstSpan(samples).subspan(i * width, width),
         absl::MakeConstSpan(seen).subspan(i * width, width), *open[i], state);
  }
  co_return true;
}

Co<> RunDvts(SearchContext& ctx, const DvtsOptions& options) {
  State state(ctx, options);
  for (int round = 0;
       (options.rounds == 0 || round < options.rounds) && !ctx.ShouldStop();
       ++round) {
    const int64_t before = ctx.usage().tokens;
    std::vector<Subtree> subtrees(
        static_cast<size_t>(options.n / options.width));
    int64_t place = int64_t{round} * options.n;
    for (Subtree& subtree : subtrees) {
      subtree.place = std::exchange(place, place + options.width);
    }
    for (int step = 1;; ++step) {
      const bool last = step == options.iterations;
      if (!co_await TakeStep(ctx, subtrees, last, options, state)) break;
    }
    for (const Subtree& subtree : subtrees) Vote(ctx, subtree, state);
    ctx.CountSimulation();
    if (ctx.usage().tokens == before) break;  // no more samples will come
  }
}

const RegisterAlgorithm<DvtsOptions> kDvts(
    "dvts", "independent greedy subtrees, each keeping its best sample",
    {RequestKind::kExpand, RequestKind::kEvaluate}, &RunDvts,
    MethodNotes{
        .source = "search-and-learn, Beeching et al. 2024",
        .when_to_use =
            "the budget is large and the paths of a beam end up too similar",
        .test = "tests/search/beam_test.cc"});

}  // namespace
}  // namespace espalier
