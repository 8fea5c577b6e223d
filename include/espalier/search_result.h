// What a search returns, and snapshots of it while it runs.
#ifndef ESPALIER_API_SEARCH_RESULT_H_
#define ESPALIER_API_SEARCH_RESULT_H_

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "espalier/scores.h"

namespace espalier {

// A node of the search tree as text, for display and storage.
struct TreeNode {
  int parent = -1;  // index in SearchResult::tree; the root is 0
  // "prompt" (the root), "step", or "answer" (a step that ends the response).
  std::string kind;
  std::string text;      // of this step only
  float logprob = 0;     // ln p of its tokens, summed
  float step_score = 0;  // NaN if not scored
  float path_score = 0;  // NaN if not scored
  // Further levels (scores.h); NaN if not scored or not given by the model.
  float outcome_score = StepScores::kNone;
  std::array<float, kMaxWindow - 1> window_scores = StepScores().windows;
  float q = 0;            // mean value of its finished visits, on the method's
                          // own scale; 0 in methods that do not back up values
  uint32_t visits = 0;    // finished visits of the method through its parent
  uint32_t draws = 0;     // times this step was sampled: equal samples are one
  bool terminal = false;  // the response ends here

  StepScores scores() const {
    return {.step = step_score,
            .path = path_score,
            .outcome = outcome_score,
            .windows = window_scores};
  }
};

// The answer held after `tokens` sampled tokens.
struct AnswerAt {
  int64_t tokens = 0;
  std::string answer;
};

// Where an answer came from.
enum class AnswerStage : uint8_t {
  kNone,        // no answer
  kMethod,      // chosen by the method
  kTree,        // the best finished response in the tree, because the method
                // ended before it chose one
  kFinish,      // the best unfinished response, finished at temperature 0 with
                // the held-back part of the token budget
  kUnanswered,  // responses ended, but without an answer, e.g. because the
                // policy gave up
};
std::string_view AnswerStageName(AnswerStage stage);  // "method" ...

// SearchResult::stop_reason of searches ended by RunHooks::stop.
inline constexpr std::string_view kStoppedFromOutside = "stopped from outside";

struct SearchResult {
  absl::Status status;          // of this problem only
  std::string configuration;    // the method with all its options
  std::string answer;           // canonical; "" if none was found
  std::string response;         // the text behind it
  std::vector<TreeNode> steps;  // of the response; parents not set
  float score = 0;              // the method's own
  AnswerStage stage = AnswerStage::kNone;
  // The answers that the search held, in order, each with the tokens sampled
  // when it was offered. At t tokens it held the last one with at most t.
  std::vector<AnswerAt> anytime;
  std::vector<TreeNode> tree;  // if SearchOptions::keep_tree
  std::string stop_reason;     // "" if the method ended by itself
  int64_t tokens = 0;          // sampled
  // Sampled ahead of the search's requests (EngineOptions::speculate) and not
  // asked for by it; not among `tokens`.
  int64_t speculated_tokens = 0;
  int64_t response_tokens = 0;  // of `response`, an end token included
  int64_t prompt_tokens = 0;
  int64_t reward_tokens = 0;  // tokens of scored steps
  // Written by a reward model that generates its verdicts.
  int64_t verdict_tokens = 0;
  int64_t model_calls = 0;
  int64_t simulations = 0;
  int64_t nodes = 0;
  double seconds = 0;
};

// A running search, for display.
struct SearchSnapshot {
  int64_t tokens = 0;
  int64_t model_calls = 0;
  int64_t simulations = 0;
  int64_t nodes = 0;
  double seconds = 0;
  std::string answer;           // current; "" if there is none
  float score = 0;              // the method's own, of the answer
  std::vector<TreeNode> steps;  // to the answer, else the most visited path
  std::vector<TreeNode> first;  // first steps, the most visited first
};

}  // namespace espalier

#endif  // ESPALIER_API_SEARCH_RESULT_H_
