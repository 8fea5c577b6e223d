// What a search returns, and what can be seen of it while it runs.
#ifndef ESPALIER_API_SEARCH_RESULT_H_
#define ESPALIER_API_SEARCH_RESULT_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

namespace espalier {

// A node of the search tree as text, for showing and storing.
struct TreeNode {
  int parent = -1;  // index in SearchResult::tree; the root is 0
  std::string kind;
  std::string text;
  float logprob = 0;     // ln p of its tokens, summed
  float step_score = 0;  // NaN if not scored
  float path_score = 0;  // NaN if not scored
  float q = 0;
  uint32_t visits = 0;
  uint32_t draws = 0;
  bool terminal = false;
};

// The answer held once `tokens` had been sampled.
struct AnswerAt {
  int64_t tokens = 0;
  std::string answer;
};

// Where an answer came from.
enum class AnswerStage : uint8_t {
  kNone,    // there is none
  kMethod,  // the method's own choice
  kTree,    // the best of the tree's finished responses: the method had ended
            // before it chose
  kFinish,  // the best unfinished response, finished at temperature 0 from
            // what was held back of the token budget
  kUnanswered,  // from none: responses ended, but without one, as where the
                // policy gives up
};
std::string_view AnswerStageName(AnswerStage stage);  // "method" ...

// SearchResult::stop_reason of searches that RunHooks::stop cut short.
inline constexpr std::string_view kStoppedFromOutside = "stopped from outside";

struct SearchResult {
  absl::Status status;          // of this problem; others are not affected
  std::string configuration;    // the method that ran, with all its options
  std::string answer;           // canonical; "" if none was found
  std::string response;         // the text behind it
  std::vector<TreeNode> steps;  // its steps, parents not set
  float score = 0;              // the method's own
  AnswerStage stage = AnswerStage::kNone;
  std::vector<AnswerAt> anytime;
  std::vector<TreeNode> tree;
  std::string stop_reason;  // "" if the method came to its own end
  int64_t tokens = 0;       // sampled
  int64_t prompt_tokens = 0;
  int64_t reward_tokens = 0;  // tokens of scored steps
  int64_t model_calls = 0;
  int64_t simulations = 0;
  int64_t nodes = 0;
  double seconds = 0;
};

// A search under way, for showing it.
struct SearchSnapshot {
  int64_t tokens = 0;
  int64_t model_calls = 0;
  int64_t simulations = 0;
  int64_t nodes = 0;
  double seconds = 0;
  std::string answer;           // held now; "" if there is none
  float score = 0;              // the method's own, of the answer
  std::vector<TreeNode> steps;  // to it; without one the path most visited
  std::vector<TreeNode> first;  // first steps, the most visited first
};

}  // namespace espalier

#endif  // ESPALIER_API_SEARCH_RESULT_H_
