// Options of one search: the method, its budgets, early stopping, and the
// sampling filters.
//
//   SearchOptions options{.method = "puct:branch=4", .max_tokens = 600};
#ifndef ESPALIER_API_SEARCH_OPTIONS_H_
#define ESPALIER_API_SEARCH_OPTIONS_H_

#include <cstdint>
#include <string>

namespace espalier {

struct SearchOptions {
  // "auto", a method with options, "beam:width=2:branch=4", or a preset,
  // "preset=rest_mcts_star".
  std::string method = "auto";
  // Budgets per problem; 0: none. At least one must bound the method.
  int64_t max_tokens = 600;  // sampled from the policy, kept or dropped
  int64_t max_model_calls = 0;
  int64_t max_simulations = 0;
  int64_t max_nodes = 0;
  int64_t max_bytes = 0;  // of the tree's nodes, texts and tokens
  // Written by a reward model that generates its verdicts. Never exceeded.
  int64_t max_verdict_tokens = 0;
  double max_seconds = 0;  // only ends a search, never changes its course
  // Of one response; a longer one is left unfinished. 0: as long as the task's
  // format and the model's context allow.
  int64_t max_response_tokens = 0;
  // Expected length of a response in tokens: a constant plus a term per byte of
  // the question. While a search has no answer, it holds back the tokens that
  // it needs to finish its best response. Both 0: unknown; a quarter of
  // max_tokens is assumed.
  int64_t response_tokens = 0;
  double response_tokens_per_byte = 0;
  // Early stopping, only once there is an answer; 0: off.
  float stop_confidence = 0;   // minimum confidence of the method in its answer
  int64_t stop_responses = 4;  // ... and minimum number of votes
  bool stop_decided = false;   // no further vote can change the answer
  float stop_kl = 0;           // the root's visits move by fewer nats per
                               // simulation
  int64_t stop_interval = 16;  // ... over this many simulations
  // Filters on the policy's distribution, for every method.
  int top_k = 0;    // the k most likely tokens; 0: all
  float top_p = 1;  // the most likely tokens of this total probability; 1: all
  float min_p = 0;  // minimum probability relative to the most likely; 0: all
  uint64_t seed = 0;
  bool keep_tree = false;  // fill SearchResult::tree
};

}  // namespace espalier

#endif  // ESPALIER_API_SEARCH_OPTIONS_H_
