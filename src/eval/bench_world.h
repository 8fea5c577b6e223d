// A scripted world of many problems, for tests that must not depend on a model:
// the signature of every method, and the ranking of methods by accuracy.
//
//   const BenchWorld world;
//   const BenchRun run = world.Run("puct", /*problem=*/3, {.tokens = 240});
//   run.answer == world.right_answer();
//
// A response takes 8 to 12 steps of 1 to 5 tokens. At each step the policy has
// four moves. One is right, with a probability between .35 and .95 that depends
// on the state; a wrong one makes the response wrong for good. The reward model
// tells right from wrong with noise. Everything is a function of hashes, so
// runs are the same under every compiler, sanitizer and processor. Steps are
// answered one at a time in order of issue.
//
// Thread-safe.
#ifndef ESPALIER_SRC_EVAL_BENCH_WORLD_H_
#define ESPALIER_SRC_EVAL_BENCH_WORLD_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "espalier/search_result.h"
#include "espalier/task.h"
#include "search/algorithm.h"
#include "search/search_context.h"

namespace espalier {

struct BenchRun {
  absl::Status status;
  std::string answer;
  AnswerStage stage = AnswerStage::kNone;
  int64_t tokens = 0;
  // Hash of every decision: nodes in order of creation with their parents,
  // texts, visits and draws, and the best answers over time. No values.
  uint64_t signature = 0;
};

class BenchWorld {
 public:
  BenchWorld();
  // Tokens of a greedy response, averaged over problems.
  static constexpr int64_t kResponseTokens = 30;

  BenchRun Run(const SearchAlgorithm& algorithm, uint64_t problem,
               int64_t tokens, uint64_t seed = 1) const;
  static std::string RightAnswer() { return "42"; }

 private:
  struct Place;
  Place At(const Tree& tree, NodeId node, uint64_t problem) const;
  SampledStep Sample(const Place& at, const SearchRequest& request,
                     int index) const;
  SearchCompletion Reply(const Tree& tree, const SearchRequest& request,
                         uint64_t problem) const;

  const StepFormat format_;
};

// The name of a method or preset as MakeAlgorithm reads it, and a hash of its
// decisions on some problems with its defaults.
struct Signature {
  std::string method;
  uint64_t hash = 0;
};
absl::StatusOr<std::vector<Signature>> BenchSignatures();
// "puct 0123456789abcdef" per line, the last one "all ...".
std::string SignatureText(const std::vector<Signature>& signatures);

// How many of kRankedProblems problems each method answers correctly at 4 and
// at 8 times a response's tokens; best at 8 first, ties by name.
inline constexpr uint64_t kRankedProblems = 100;
struct Ranked {
  std::string method;
  int right_at_4 = 0, right_at_8 = 0;
};
absl::StatusOr<std::vector<Ranked>> BenchRanking();
// "puct 41 63" per line.
std::string RankingText(const std::vector<Ranked>& ranking);

}  // namespace espalier

#endif  // ESPALIER_SRC_EVAL_BENCH_WORLD_H_
