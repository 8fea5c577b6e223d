// Tree rollouts by segments (T24; TreePO, Li et al. 2025, arXiv:2508.17445;
// DialTree-RPO 2025).
//
// One tree of `paths` responses. A segment is `segment` steps:
//   1. fork      every active path goes on in as many copies as it diverges: at
//                the root a number drawn from [first_low, first_high], later
//                `divergence` if the last segment's mean token log-prob is at
//                most `fork_below`, else 1. No more than `paths` paths in all:
//                where places are short the least sure segments fork;
//   2. grow      all paths by a segment, together;
//   3. stop      paths that ended, were cut, have `max_depth` segments or said
//                the same step `repeats` times in a row;
//   4. finish    the ended ones vote, with path_score where the choice of the
//                answer reads scores;
//   5. fall back when all paths have stopped and there are places left: one
//                block (a grown segment) is chosen and its start forks again.
//                random: any; lowest: the lowest mean token log-prob among
//                those chosen least often; softmax: a block with the chance
//                exp(-mean log-prob / fallback_temperature).
//
// Trees repeat with fresh samples until `rounds` are done or the budget is
// spent, or one sampled nothing. TreePO's segments are 512 tokens and its
// lowest token is one token: here both are cut at steps. Without a finished
// response there is no answer.
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <vector>

#include "absl/strings/str_cat.h"
#include "search/algorithm.h"
#include "search/parts/choose.h"
#include "search/parts/grow.h"
#include "search/parts/logprob.h"

namespace espalier {
namespace {

enum class Fallback : uint8_t { kNone, kRandom, kLowest, kSoftmax };
constexpr std::array<std::string_view, 4> kFallbackNames = {
    "none", "random", "lowest", "softmax"};

bool ReadsScores(AnswerChoice choice) {
  return choice != AnswerChoice::kFirst && choice != AnswerChoice::kMajority;
}

struct SegmentsOptions {
  int paths = 16;
  int segment = 1;
  int max_depth = 14;
  int first_low = 2;
  int first_high = 8;
  int divergence = 2;
  float fork_below = 0;
  int repeats = 8;
  Fallback fallback = Fallback::kRandom;
  float fallback_temperature = 1;
  int rounds = 0;
  float temperature = 1;
  AnswerChoice choice = AnswerChoice::kWeighted;
  void Visit(OptionVisitor& v) {
    v.Int("paths", &paths, 1, 4096, "responses of a tree");
    v.Int("segment", &segment, 1, 4096, "steps of a segment");
    v.Int("max_depth", &max_depth, 1, 4096, "segments of a path");
    v.Int("first_low", &first_low, 1, 4096, "least copies of the root");
    v.Int("first_high", &first_high, 1, 4096,
          "most copies of the root, at least first_low");
    v.Int("divergence", &divergence, 1, 4096, "copies of a path that forks");
    v.Real("fork_below", &fork_below, -1000, 0,
           "mean token log-prob of a segment above which its path does not "
           "fork; 0: all do");
    v.Int("repeats", &repeats, 2, 4096,
          "equal steps in a row that stop a path");
    VisitChoice(v, "fallback", &fallback, kFallbackNames,
                "where further paths start when all have stopped early");
    v.Real("fallback_temperature", &fallback_temperature, 1e-3f, 1000,
           "of the softmax over blocks");
    v.Int("rounds", &rounds, 0, 1 << 20, "trees; 0: until the budget is spent");
    v.Real("temperature", &temperature, 0, 10, "of sampling");
    VisitChoice(v, "choice", &choice, kAnswerChoiceNames,
                "how finished responses make the answer");
  }
  std::vector<RequestKind> Needs() const {
    std::vector<RequestKind> needs = {RequestKind::kExpand};
    if (ReadsScores(choice)) needs.push_back(RequestKind::kEvaluate);
    return needs;
  }
  std::vector<std::string> Check() const {
    if (first_low <= first_high) return {};
    return {absl::StrCat("first_low=", first_low,
                         " is more than first_high=", first_high)};
  }
};

// A path that goes on, or a grown segment that one may start from again.
struct Segment {
  NodeId node = kRoot;  // a path: its last node; a block: where it starts
  int depth = 0;        // segments from the root to `node`
  double logprob = 0;   // mean over the tokens of the segment
  int chosen = 0;       // a block: times it was fallen back to
};

struct SegmentTree {
  std::vector<Segment> active;
  std::vector<Segment> blocks = {};
  int places = 0;   // paths that may still be begun
  int copies = 0;   // of an active path that forks
  bool all = true;  // fork whatever the log-prob: the start of a tree or branch
};
// Stage 1: the active paths with their copies next to each other. Every active
// path holds a place.
std::vector<Segment> Fork(const SegmentsOptions& options, SegmentTree& tree) {
  const std::vector<Segment>& active = tree.active;
  std::vector<size_t> order(active.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return active[a].logprob < active[b].logprob;
  });
  std::vector<int> copies(active.size(), 1);
  for (const size_t i : order) {
    if (!tree.all && active[i].logprob > options.fork_below) continue;
    const int more = std::min(tree.copies - 1, tree.places);
    copies[i] += more;
    tree.places -= more;
  }
  std::vector<Segment> forked;
  for (size_t i = 0; i < active.size(); ++i) {
    forked.insert(forked.end(), static_cast<size_t>(copies[i]), active[i]);
  }
  return forked;
}

// True if the last `repeats` steps say the same.
bool Mumbles(const Tree& tree, NodeId node, int repeats) {
  if (tree.step(node).depth < repeats) return false;
  const std::string_view said = tree.text(node);
  for (int i = 1; i < repeats; ++i) {
    node = tree[node].parent;
    if (tree.text(node) != said) return false;
  }
  return true;
}

// Stage 3: what goes on is active, ends are returned.
std::vector<NodeId> Stop(const SearchContext& ctx,
                         const SegmentsOptions& options,
                         const std::vector<Segment>& starts,
                         const std::vector<NodeId>& grown, SegmentTree& tree) {
  std::vector<NodeId> ends;
  tree.active.clear();
  for (size_t i = 0; i < grown.size(); ++i) {
    if (grown[i] == kNoNode) continue;
    const double logprob = MeanLogprob(ctx.tree(), starts[i].node, grown[i]);
    tree.blocks.push_back({starts[i].node, starts[i].depth, logprob});
    if (ctx.tree()[grown[i]].terminal()) {
      ends.push_back(grown[i]);
    } else if (starts[i].depth + 1 < options.max_depth &&
               !Mumbles(ctx.tree(), grown[i], options.repeats)) {
      tree.active.push_back({grown[i], starts[i].depth + 1, logprob});
    }
  }
  return ends;
}

// Stage 4.
Co<> Vote(SearchContext& ctx, const std::vector<NodeId>& ends, Votes& votes,
          bool evaluate) {
  if (ends.empty()) co_return;
  if (evaluate) co_await ctx.Evaluate(ends);
  for (const NodeId end : ends) {
    if (evaluate && !ctx.tree()[end].scored()) continue;
    votes.Add(ctx, end, evaluate ? ctx.tree().step(end).path_score : 1);
    votes.Offer(ctx);
  }
}

// Stage 5: index of a block.
size_t PickBlock(const SegmentsOptions& options,
                 const std::vector<Segment>& blocks, RandomStream& draws) {
  if (options.fallback == Fallback::kRandom) {
    return draws.Below(static_cast<uint32_t>(blocks.size()));
  }
  const auto surer = [](const Segment& a, const Segment& b) {
    return a.logprob < b.logprob;
  };
  if (options.fallback == Fallback::kLowest) {
    const auto lowest = std::min_element(
        blocks.begin(), blocks.end(), [&](const Segment& a, const Segment& b) {
          return a.chosen != b.chosen ? a.chosen < b.chosen : surer(a, b);
        });
    return static_cast<size_t>(lowest - blocks.begin());
  }
  const double least =
      std::min_element(blocks.begin(), blocks.end(), surer)->logprob;
  std::vector<double> sums;
  double sum = 0;
  for (const Segment& block : blocks) {
    sum += std::exp((least - block.logprob) / options.fallback_temperature);
    sums.push_back(sum);
  }
  const auto at =
      std::upper_bound(sums.begin(), sums.end(), draws.UniformDouble() * sum);
  return std::min(static_cast<size_t>(at - sums.begin()), blocks.size() - 1);
}

Co<> RunTree(SearchContext& ctx, const SegmentsOptions& options,
             RandomStream& draws, Votes& votes) {
  SegmentTree tree{
      .active = {Segment{}},
      .places = options.paths - 1,
      .copies = draws.Range(options.first_low,
                            std::max(options.first_low, options.first_high))};
  while (!ctx.ShouldStop()) {
    if (tree.active.empty()) {
      if (options.fallback == Fallback::kNone || tree.places == 0 ||
          tree.blocks.empty()) {
        break;
      }
      Segment& block = tree.blocks[PickBlock(options, tree.blocks, draws)];
      ++block.chosen;
      tree.active.push_back(block);
      --tree.places;
      tree.all = true;
    }
    const std::vector<Segment> starts = Fork(options, tree);
    std::vector<NodeId> grown;
    for (const Segment& path : starts) grown.push_back(path.node);
    co_await Grow(ctx, options.segment, options.temperature, grown);
    const std::vector<NodeId> ends = Stop(ctx, options, starts, grown, tree);
    co_await Vote(ctx, ends, votes, ReadsScores(options.choice));
    tree.all = false;
    tree.copies = options.divergence;
  }
}

Co<> RunSegments(SearchContext& ctx, const SegmentsOptions& options) {
  Votes votes(options.choice);
  RandomStream draws = ctx.Stream(kRoot, Purpose::kSelect);
  for (int round = 0;
       (options.rounds == 0 || round < options.rounds) && !ctx.ShouldStop();
       ++round) {
    const int64_t before = ctx.usage().tokens;
    co_await RunTree(ctx, options, draws, votes);
    ctx.CountSimulation();
    if (ctx.usage().tokens == before) break;
  }
}

const RegisterAlgorithm<SegmentsOptions> kSegments(
    "segments", "tree rollouts that fork between segments", {}, &RunSegments,
    MethodNotes{
        .source = "TreePO, Li et al. 2025, arXiv:2508.17445; DialTree-RPO",
        .when_to_use = "rollouts for training shall share prefixes",
        .test = "tests/search/rollout_test.cc"});

}  // namespace
}  // namespace espalier
