// What one search may do: the method, its budgets, when it stops early, and
// what may be sampled.
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
  // Budgets of one problem; 0: none. At least one must bound the method.
  int64_t max_tokens = 600;  // sampled from the policy, kept or dropped
  int64_t max_model_calls = 0;
  int64_t max_simulations = 0;
  int64_t max_nodes = 0;
  int64_t max_bytes = 0;   // what the tree's nodes, texts and tokens take
  double max_seconds = 0;  // ends a search; never steers it
  // Tokens that one response takes, as far as is known, for every question and
  // for every byte of it: as long as a search has no answer it holds back what
  // is needed to finish its best response. Both 0: unknown, then half of
  // max_tokens is taken for it.
  int64_t response_tokens = 0;
  double response_tokens_per_byte = 0;
  // A search also ends on its answer, never before it has one; 0: not.
  float stop_confidence = 0;   // the method's own confidence in it is so high
  int64_t stop_responses = 4;  // ... and so many responses have voted
  bool stop_decided = false;   // no vote still to come can change it
  float stop_kl = 0;  // the root's visits move by fewer nats a simulation
  int64_t stop_interval = 16;  // ... over so many simulations
  // What may be sampled of the policy's distribution, whatever the method.
  int top_k = 0;    // the likeliest so many tokens; 0: all
  float top_p = 1;  // the likeliest tokens that make up so much; 1: all
  float min_p =
      0;  // tokens at least so likely relative to the likeliest; 0: all
  uint64_t seed = 0;
  bool keep_tree = false;  // fill SearchResult::tree
};

}  // namespace espalier

#endif  // ESPALIER_API_SEARCH_OPTIONS_H_
