// Golden traces: what the authors' own programs did over small scripted worlds,
// as numbers (tests/search/golden/README.md has the format and the list).
//
//   const GoldenFile file = ReadGolden("rap");
//   for (const GoldenRun& run : file.runs) {
//     const GoldenSearch ours = RunGolden(run);
//     ExpectSameTrace(run, ours);
//   }
//
// Nodes are named by the world's numbers, the root is 0. A search is run
// without any budget, its choices fed from the trace's draws where it has some.
#ifndef ESPALIER_TESTS_SEARCH_GOLDEN_WORLD_H_
#define ESPALIER_TESTS_SEARCH_GOLDEN_WORLD_H_

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "nlohmann/json.hpp"
#include "search/algorithm.h"
#include "search/search_context.h"

namespace espalier {

struct GoldenNode {
  int parent = -1;
  std::string text;
  std::vector<float> logprobs;
  std::vector<float> rest;  // ln p of each of a token's likeliest others
  float score = 0;
  float step_score = 0;
  bool terminal = false;
  std::string answer;
  bool verified = false;
  std::vector<int> draws;  // its samples, in order, beginning again at the end
  int greedy = -1;         // what temperature 0 yields
};

struct GoldenWorld {
  int max_steps = 64;
  bool segments = false;  // steps are segments of so many tokens
  std::vector<GoldenNode> nodes;
};

struct GoldenRun {
  std::string name;
  std::string method;  // as MakeAlgorithm reads it
  GoldenWorld world;
  std::vector<double> random;
  nlohmann::json trace;  // the run's record as it stands in the file
};

struct GoldenFile {
  std::string program;
  std::vector<GoldenRun> runs;
};

// Of tests/search/golden/NAME.json, or of the folder that ESPALIER_GOLDEN names
// (worlds that are not kept); a gtest failure if it cannot be read.
GoldenFile ReadGolden(const std::string& name);

// One request for samples: of which node, and what it got.
struct GoldenDraw {
  int from = 0;
  bool greedy = false;
  std::vector<int> to;
};

// What a search of ours did in such a world.
struct GoldenSearch {
  absl::Status status;
  std::vector<int> expanded;  // in order of asking, greedy steps left out
  std::vector<GoldenDraw>
      draws;  // the same with what they drew, and greedy ones
  // After each simulation that the method counts: the nodes whose visits have
  // grown, in order of their numbers, each as often as it was visited.
  std::vector<std::vector<int>> visits;
  std::map<int, std::pair<int64_t, double>> nodes;  // n and q of visited ones
  std::string answer;
  int answer_node = -1;
  std::vector<NodeId> of;  // node of the world -> of the tree, kNoNode: unseen
  std::unique_ptr<SearchContext> context;
  const Tree& tree() const { return context->tree(); }
};

struct GoldenOptions {
  int64_t simulations = 0;  // 0: the method ends by itself
  uint64_t seed = 1;
};
GoldenSearch RunGolden(const GoldenRun& run, const GoldenOptions& options = {});

// Compares the fields that the trace has: expanded, visits, nodes (n exactly, q
// to 1e-4), answer and answer_node.
struct GoldenCompare {
  bool expanded = true;
  bool visits = true;
  bool nodes = true;
  bool answer = true;
};
void ExpectSameTrace(const GoldenRun& run, const GoldenSearch& ours,
                     const GoldenCompare& compare = {});

}  // namespace espalier

#endif  // ESPALIER_TESTS_SEARCH_GOLDEN_WORLD_H_
