// Stages whose requests go out together, so that an engine can batch them.
//
//   const std::vector<Draws> asked = {{left, 4}, {right, 4}};
//   const auto samples = co_await ExpandEach(ctx, asked, 1.0f);
//   if (!co_await ScoreEach(ctx, samples[0])) co_return;  // budget is spent
//
// All requests of a call are made before the first is awaited. Samples cut by
// a token limit are dropped: nothing can follow them and they are no answer.
// Arguments are held by reference: they are named variables of the caller.
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

// The usable samples of each, in order of sampling; equal samples are equal
// nodes.
Co<std::vector<std::vector<NodeId>>> ExpandEach(SearchContext& ctx,
                                                const std::vector<Draws>& asked,
                                                float temperature,
                                                int top_logprobs = 0);

// Has `nodes` scored in one request. False if one is not: the search is over.
Co<bool> ScoreEach(SearchContext& ctx, const std::vector<NodeId>& nodes);

// The same for the steps on the way to each of `ends` that come after the last
// scored one. kNoNode is passed over.
Co<bool> ScorePaths(SearchContext& ctx, const std::vector<NodeId>& ends);

// Writes on from each of `from`, a step a stage, to the end of the response.
// kNoNode for those that a budget or a length limit cut.
Co<std::vector<NodeId>> FinishEach(SearchContext& ctx,
                                   const std::vector<NodeId>& from,
                                   float temperature);

// The greedy step after a node, kNoNode where none can follow. A search keeps
// one, so that no greedy step is written twice.
using GreedySteps = std::map<NodeId, NodeId>;

// The nodes that `steps` steps at temperature 0 lead to from each of `from`;
// fewer steps where the response ends or is cut. kNoNode stays.
Co<std::vector<NodeId>> LookAheadEach(SearchContext& ctx,
                                      const std::vector<NodeId>& from,
                                      int steps, GreedySteps& known);

}  // namespace espalier

#endif  // ESPALIER_SEARCH_PARTS_LOCKSTEP_H_
