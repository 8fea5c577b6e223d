// Stages whose requests are sent together, so that an engine can batch them.
//
//   const std::vector<Draws> requests = {{left, 4}, {right, 4}};
//   const auto samples = co_await ExpandEach(ctx, requests, 1.0f);
//   if (!co_await ScoreEach(ctx, samples[0])) co_return;  // budget is spent
//
// All requests of a call are made before the first is awaited. Samples cut by a
// token limit are dropped: they cannot be continued and are no answer.
// Arguments are held by reference and must be named variables of the caller.
#ifndef ESPALIER_SEARCH_PARTS_LOCKSTEP_H_
#define ESPALIER_SEARCH_PARTS_LOCKSTEP_H_

#include <map>
#include <vector>

#include "search/search_context.h"

namespace espalier {

// `n` samples of the step after `parent`.
struct Draws {
  NodeId parent = kRoot;
  int n = 1;
};

// The usable samples for each entry, in order of sampling; equal samples are
// the same node.
Co<std::vector<std::vector<NodeId>>> ExpandEach(
    SearchContext& ctx, const std::vector<Draws>& requests, float temperature,
    int top_logprobs = 0);

// Scores `nodes` in one request. False if any stays unscored: the search is
// over.
Co<bool> ScoreEach(SearchContext& ctx, const std::vector<NodeId>& nodes);

// As ScoreEach, for the steps on the path to each of `ends` after the last
// scored one. kNoNode is skipped.
Co<bool> ScorePaths(SearchContext& ctx, const std::vector<NodeId>& ends);

// Continues each of `from`, one step per stage, to the end of the response.
// kNoNode for those that a budget or a length limit cut.
Co<std::vector<NodeId>> FinishEach(SearchContext& ctx,
                                   const std::vector<NodeId>& from,
                                   float temperature);

// The greedy step after a node, kNoNode if none can follow. One per search, so
// that no greedy step is generated twice.
using GreedySteps = std::map<NodeId, NodeId>;

// The nodes that `steps` steps at temperature 0 lead to from each of `from`;
// fewer steps if the response ends or is cut. kNoNode stays kNoNode.
Co<std::vector<NodeId>> LookAheadEach(SearchContext& ctx,
                                      const std::vector<NodeId>& from,
                                      int steps, GreedySteps& known);

}  // namespace espalier

#endif  // ESPALIER_SEARCH_PARTS_LOCKSTEP_H_
