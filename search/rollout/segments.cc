// Tree rollouts by segments (TreePO, Li et al. 2025, arXiv:2508.17445).
//
// One tree of `paths` responses. A segment is `segment` steps:
//   1. begin     copies of the root: their number is drawn from [first_low,
//                first_high] and is at most `paths`; with `all_first` that
//                bound applies only if first_high exceeds the divergence
//                (TreePO);
//   2. grow      all paths by a segment, together;
//   3. stop      paths that ended, were cut, have `max_depth` segments or
//                repeat themselves; each counts as one of the tree's responses;
//   4. finish    the ended ones vote, with path_score if the choice of the
//                answer uses scores;
//   5. fork      the A active paths continue, next to each other, in
//                  max(A, min(left, d (A + stopped)))
//                copies in all: `left` responses are still to be generated,
//                `stopped` paths stopped just now and leave their share to the
//                others; d is drawn from [divergence, divergence_high].
//                share=even gives each the same and the last one the rest; sum,
//                mean and last give each one copy and distribute the rest by
//                softmax(-x / share_temperature), x the log-prob of the path,
//                its mean per token, or that of its last segment; entropy uses
//                minus the mean entropy of its last segment's tokens (local
//                uncertainty);
//   6. fall back when no path is active and responses are missing: finished
//                responses are each cut at the start of one of their segments
//                and continue from there in d copies, all together, until
//                enough are in flight; if there are none, from the root.
//                fallback_from=ended takes those that ended on their own,
//                shuffled; finished_first takes all that stopped, by falling ln
//                w + a Gumbel draw, w = 7 with an answer, 5 ended without, 4
//                cut by a limit, 2 repeated themselves; in_order takes all,
//                those of the lowest w first.
//                random: any segment, of the last `window` (0: of all);
//                start: the first one, of one response only; lowest: the one
//                of lowest mean token log-prob; softmax and inverse: one with
//                probability exp(-+ mean log-prob / fallback_temperature) /
//                sum.
//
// Trees repeat with fresh samples until `rounds` are done, the budget is spent,
// or a tree samples nothing. Without a finished response the most confident
// path is finished (finish.h).
//
// max_depth counts segments of a fixed number of tokens: it applies only if the
// task's steps are such segments (StepFormat::segments). If they are lines, the
// format's max_steps is the only limit.
//
// Differs: the program returns all that stopped and chooses no answer; it cuts
// at single tokens for `lowest` and at blocks of 128 for `softmax`; after
// falling back its training variant continues from the old text (a bug, which
// its other variant does not have).
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "search/algorithm.h"
#include "search/choose.h"
#include "search/parts/common_options.h"
#include "search/parts/grow.h"
#include "search/parts/logprob.h"
#include "search/rollout/share.h"

namespace espalier {
namespace {

enum class Fallback : uint8_t {
  kNone,
  kRandom,
  kStart,
  kLowest,
  kSoftmax,
  kInverse
};
constexpr std::array<std::string_view, 6> kFallbackNames = {
    "none", "random", "start", "lowest", "softmax", "inverse"};

enum class FallbackFrom : uint8_t { kEnded, kFinishedFirst, kInOrder };
constexpr std::array<std::string_view, 3> kFallbackFromNames = {
    "ended", "finished_first", "in_order"};

enum class Share : uint8_t { kEven, kSum, kMean, kLast, kEntropy };
constexpr std::array<std::string_view, 5> kShareNames = {"even", "sum", "mean",
                                                         "last", "entropy"};

bool ReadsScores(AnswerChoice choice) {
  return choice != AnswerChoice::kFirst && choice != AnswerChoice::kMajority;
}

struct SegmentsOptions {
  int paths = 16;
  int segment = 1;
  int max_depth = 14;
  int first_low = 2;
  int first_high = 2;
  bool all_first = false;
  int divergence = 2;
  int divergence_high = 0;
  Share share = Share::kEven;
  float share_temperature = 1;
  int repeats = 8;
  Fallback fallback = Fallback::kRandom;
  FallbackFrom fallback_from = FallbackFrom::kEnded;
  int window = 0;
  float fallback_temperature = 1;
  int rounds = 0;
  float temperature = 1;
  AnswerChoice choice = AnswerChoice::kWeighted;
  int64_t AtOnce() const { return paths; }
  void Visit(OptionVisitor& v) {
    v.Int("paths", &paths, 1, 4096, "responses per tree");
    v.Int("segment", &segment, 1, 4096, "steps per segment");
    v.Int("max_depth", &max_depth, 1, 4096,
          "maximum segments of a path, if steps are segments of a fixed number "
          "of tokens");
    v.Int("first_low", &first_low, 1, 4096, "minimum copies of the root");
    v.Int("first_high", &first_high, 1, 4096,
          "maximum copies of the root, at least first_low");
    v.Flag("all_first", &all_first,
           "generate all drawn copies of the root, even if there are more than "
           "paths; if first_high exceeds the divergence, at most max(paths, "
           "first_low) are drawn");
    v.Int("divergence", &divergence, 1, 4096,
          "copies of a path that continues");
    v.Int("divergence_high", &divergence_high, 0, 4096,
          "maximum copies, drawn at each step between divergence and this; 0: "
          "always divergence");
    VisitChoice(v, "share", &share, kShareNames,
                "who gets the copies: all paths equally, or the least "
                "confident ones more");
    v.Real("share_temperature", &share_temperature, 1e-3f, 1000,
           "temperature of the softmax over paths");
    v.Int("repeats", &repeats, 2, 4096,
          "consecutive equal steps, or repeats of the same 32 characters in a "
          "segment, that stop a path");
    VisitChoice(v, "fallback", &fallback, kFallbackNames,
                "where further paths start when all have stopped early");
    VisitChoice(v, "fallback_from", &fallback_from, kFallbackFromNames,
                "which responses are cut: those that ended by themselves; all, "
                "preferring finished ones; or all, least finished first");
    v.Int("window", &window, 0, 4096,
          "number of last segments that fallback=random may cut; 0: all");
    v.Real("fallback_temperature", &fallback_temperature, 1e-3f, 1000,
           "temperature of the softmax over segments");
    v.Int("rounds", &rounds, 0, 1 << 20, "trees; 0: until the budget is spent");
    VisitTemperature(v, &temperature);
    VisitAnswerChoice(v, &choice);
  }
  std::vector<RequestKind> Needs() const {
    std::vector<RequestKind> needs = {RequestKind::kExpand};
    if (ReadsScores(choice)) needs.push_back(RequestKind::kEvaluate);
    return needs;
  }
  std::vector<std::string> Check() const {
    std::vector<std::string> problems;
    if (first_low > first_high) {
      problems.push_back(absl::StrCat("first_low=", first_low,
                                      " is more than first_high=", first_high));
    }
    if (divergence_high != 0 && divergence > divergence_high) {
      problems.push_back(
          absl::StrCat("divergence=", divergence,
                       " is more than divergence_high=", divergence_high));
    }
    return problems;
  }
};

// A response that stopped, with its weight w of stage 6.
struct Stopped {
  NodeId node;
  int finished;
};
constexpr int kAnswered = 7, kEndedOnly = 5, kCut = 4, kRepeated = 2;

// One tree in progress. Paths are named by their last nodes.
struct SegmentTree {
  SegmentTree(SearchContext& context, const SegmentsOptions& given,
              RandomStream& stream)
      : ctx(context), options(given), draws(stream) {}
  SearchContext& ctx;
  const SegmentsOptions& options;
  RandomStream& draws;
  std::vector<NodeId> active;
  std::vector<Stopped> whole = {};  // responses, without those that failed
  int stopped = 0;                  // responses in all
  int stopped_now = 0;              // since the last fork
  int left() const { return std::max(0, options.paths - stopped); }
};

// Uniform in [low, high].
int Drawn(RandomStream& draws, int low, int high) {
  if (low >= high) return low;
  return low + static_cast<int>(draws.UniformDouble() * (high - low + 1));
}

int Divergence(const SegmentTree& s) {
  return Drawn(s.draws, s.options.divergence, s.options.divergence_high);
}

// Nodes where the segments of the response that ends in `end` start.
std::vector<NodeId> Starts(const SegmentTree& s, NodeId end) {
  const std::vector<NodeId> path = s.ctx.tree().Path(end);
  std::vector<NodeId> starts;
  for (size_t i = 0; i < path.size();
       i += static_cast<size_t>(s.options.segment)) {
    starts.push_back(i == 0 ? kRoot : path[i - 1]);
  }
  return starts;
}

// True if some 32 bytes of the last step occur `times` times, or the last
// `times` steps are equal.
bool Repeats(const Tree& tree, NodeId node, int times) {
  constexpr size_t kStretch = 32;
  const std::string_view said = tree.text(node);
  std::map<std::string_view, int> count;
  for (size_t i = 0; i + kStretch <= said.size(); ++i) {
    if (++count[said.substr(i, kStretch)] >= times) return true;
  }
  if (tree.step(node).depth < times) return false;
  for (int i = 1; i < times; ++i) {
    node = tree[node].parent;
    if (tree.text(node) != said) return false;
  }
  return true;
}

// Stage 3: unfinished paths become active; returns the ends.
std::vector<NodeId> Stop(SegmentTree& s, const std::vector<NodeId>& grown) {
  const Tree& tree = s.ctx.tree();
  const int deepest = s.ctx.format().segments
                          ? s.options.max_depth * s.options.segment
                          : s.ctx.format().max_steps;
  std::vector<NodeId> ends;
  s.active.clear();
  s.stopped_now = 0;
  for (const NodeId node : grown) {
    if (node != kNoNode && tree[node].terminal()) {
      ends.push_back(node);
      s.whole.push_back(
          {node, s.ctx.AnswerOf(node) >= 0 ? kAnswered : kEndedOnly});
    } else if (node != kNoNode) {
      const bool deep = tree.step(node).depth >= deepest;
      if (!deep && !Repeats(tree, node, s.options.repeats)) {
        s.active.push_back(node);
        continue;
      }
      s.whole.push_back({node, deep ? kCut : kRepeated});
    }
    ++s.stopped_now;
  }
  s.stopped += s.stopped_now;
  return ends;
}

// Stage 4.
Co<> Vote(SearchContext& ctx, const std::vector<NodeId>& ends, Votes& votes,
          bool evaluate) {
  if (ends.empty()) co_return;
  if (evaluate) co_await ctx.Evaluate(ends);
  for (const NodeId end : ends) {
    if (evaluate && !ctx.tree()[end].scored()) continue;
    votes.Add(ctx, end, evaluate ? ctx.tree().score(end) : 1);
    votes.Offer(ctx);
  }
}

// Mean entropy of the tokens of the segment that ends in `node`; 0 if not
// reported.
double SegmentEntropy(const SegmentTree& s, NodeId node) {
  const Tree& tree = s.ctx.tree();
  const NodeId start = Starts(s, node).back();
  double sum = 0, tokens = 0;
  for (; node != start; node = tree[node].parent) {
    const double mean = tree.mean_entropy(node);
    if (std::isnan(mean)) continue;
    sum += mean * tree.step(node).num_tokens;
    tokens += tree.step(node).num_tokens;
  }
  return tokens == 0 ? 0 : sum / tokens;
}

// Stage 5: confidence of the model in an active path.
double Sureness(const SegmentTree& s, NodeId node) {
  const Tree& tree = s.ctx.tree();
  switch (s.options.share) {
    case Share::kEven:
      return 0;
    case Share::kSum:
      return tree.step(node).path_logprob;
    case Share::kMean:
      return MeanLogprob(tree, kRoot, node);
    case Share::kLast:
      return MeanLogprob(tree, Starts(s, node).back(), node);
    case Share::kEntropy:
      return -SegmentEntropy(s, node);
  }
  return 0;
}

// Stage 5: the active paths, with copies next to each other.
std::vector<NodeId> Fork(SegmentTree& s) {
  const int active = static_cast<int>(s.active.size());
  const int total = std::max(
      active, std::min(s.left(), Divergence(s) * (active + s.stopped_now)));
  std::vector<int> copies;
  if (s.options.share == Share::kEven) {
    copies = ShareEvenly(active, total);
  } else {
    std::vector<double> logprobs;
    for (const NodeId node : s.active) logprobs.push_back(Sureness(s, node));
    copies = ShareBySoftmax(logprobs, -1 / s.options.share_temperature, total);
  }
  std::vector<NodeId> forked;
  for (size_t i = 0; i < copies.size(); ++i) {
    forked.insert(forked.end(), static_cast<size_t>(copies[i]), s.active[i]);
  }
  return forked;
}

// Stage 6: the node from which to restart a response.
NodeId Cut(const SegmentTree& s, NodeId end) {
  const SegmentsOptions& options = s.options;
  const std::vector<NodeId> starts = Starts(s, end);
  const int count = static_cast<int>(starts.size());
  if (options.fallback == Fallback::kStart) return kRoot;
  if (options.fallback == Fallback::kRandom) {
    const int most =
        options.window > 0 ? std::min(options.window, count) : count;
    const int back = 1 + static_cast<int>(s.draws.UniformDouble() * most);
    return starts[static_cast<size_t>(count - back)];
  }
  std::vector<double> logprobs;
  for (size_t i = 0; i < starts.size(); ++i) {
    logprobs.push_back(MeanLogprob(
        s.ctx.tree(), starts[i], i + 1 < starts.size() ? starts[i + 1] : end));
  }
  if (options.fallback == Fallback::kLowest) {
    const auto lowest = std::min_element(logprobs.begin(), logprobs.end());
    return starts[static_cast<size_t>(lowest - logprobs.begin())];
  }
  const double sign = options.fallback == Fallback::kInverse ? 1 : -1;
  return starts[DrawBySoftmax(logprobs, sign / options.fallback_temperature,
                              s.draws.UniformDouble())];
}

// Stage 6: responses in the order in which they are restarted.
std::vector<NodeId> InOrder(SegmentTree& s) {
  std::vector<Stopped> among = s.whole;
  std::vector<std::pair<double, size_t>> keys;
  switch (s.options.fallback_from) {
    case FallbackFrom::kEnded:
      std::erase_if(among, [](const Stopped& r) {
        return r.finished != kAnswered && r.finished != kEndedOnly;
      });
      for (size_t i = among.size(); i-- > 1;) {
        const auto j = static_cast<size_t>(s.draws.UniformDouble() *
                                           static_cast<double>(i + 1));
        std::swap(among[i], among[j]);
      }
      break;
    case FallbackFrom::kFinishedFirst:
      for (size_t i = 0; i < among.size(); ++i) {
        const double gumbel = -std::log(-std::log(s.draws.UniformDouble()));
        keys.emplace_back(-std::log(among[i].finished) - gumbel, i);
      }
      break;
    case FallbackFrom::kInOrder:
      for (size_t i = 0; i < among.size(); ++i) {
        keys.emplace_back(among[i].finished, i);
      }
      break;
  }
  std::sort(keys.begin(), keys.end());
  std::vector<NodeId> order;
  for (size_t i = 0; i < among.size(); ++i) {
    order.push_back(among[keys.empty() ? i : keys[i].second].node);
  }
  return order;
}

// Stage 6: copies of the restarted responses.
std::vector<NodeId> FallBack(SegmentTree& s) {
  const std::vector<NodeId> order = InOrder(s);
  std::vector<NodeId> copies;
  const auto add = [&](NodeId node) {
    const int missing = s.left() - static_cast<int>(copies.size());
    copies.insert(copies.end(),
                  static_cast<size_t>(std::min(Divergence(s), missing)), node);
  };
  if (order.empty()) add(kRoot);
  for (const NodeId end : order) {
    add(Cut(s, end));
    if (s.options.fallback == Fallback::kStart) break;
  }
  return copies;
}

// Stage 1.
int FirstCopies(const SegmentsOptions& options, RandomStream& draws) {
  if (!options.all_first) {
    return std::min(options.paths,
                    Drawn(draws, options.first_low, options.first_high));
  }
  const int wide = std::max(options.divergence, options.divergence_high);
  int most = options.first_high;
  if (most > wide) {
    most = std::max(options.first_low, std::min(most, options.paths));
  }
  return Drawn(draws, options.first_low, most);
}

Co<> RunTree(SearchContext& ctx, const SegmentsOptions& options,
             RandomStream& draws, Votes& votes) {
  SegmentTree s(ctx, options, draws);
  const int first = FirstCopies(options, draws);  // 1
  std::vector<NodeId> paths(static_cast<size_t>(first), kRoot);
  while (!paths.empty() && !ctx.ShouldStop()) {
    co_await Grow(ctx, options.segment, options.temperature, paths);  // 2
    const std::vector<NodeId> ends = Stop(s, paths);                  // 3
    co_await Vote(ctx, ends, votes, ReadsScores(options.choice));     // 4
    paths.clear();
    if (!s.active.empty()) {
      paths = Fork(s);  // 5
    } else if (options.fallback != Fallback::kNone && s.left() > 0) {
      paths = FallBack(s);  // 6
    }
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
    "segments", "tree rollouts that branch between segments", {}, &RunSegments,
    MethodNotes{.source = "TreePO, Li et al. 2025, arXiv:2508.17445",
                .when_to_use = "training rollouts should share prefixes",
                .test = "tests/search/rollout_test.cc"});

}  // namespace
}  // namespace espalier
