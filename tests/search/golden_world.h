// Golden traces: what the authors' own programs did over small scripted worlds,
// as numbers (tests/search/golden/README.md has the format and the list).
//
//   const GoldenFile file = ReadGolden("rap");
//   for (const GoldenRun& run : file.runs) {
//     const GoldenSearch ours = RunGolden(run);
//     ExpectSameTrace(run, ours);
//   }
//
// Nodes are named by the world's numbers, the root is 0. A search runs without
// a budget and takes its random choices from the trace where it has draws.
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
  std::vector<float> rest;  // ln p of each other top token
  float score = 0;
  float step_score = 0;
  bool terminal = false;
  std::string answer;
  bool verified = false;
  std::vector<int> draws;  // its samples in order, cyclic
  int greedy = -1;         // the sample at temperature 0
};

struct GoldenWorld {
  int max_steps = 64;
  bool segments = false;  // steps are segments with a fixed number of tokens
  std::vector<GoldenNode> nodes;
};

struct GoldenRun {
  std::string name;
  std::string method;  // in MakeAlgorithm's format
  GoldenWorld world;
  std::vector<double> random;
  nlohmann::json trace;  // the run's record in the file
};

struct GoldenFile {
  std::string program;
  std::vector<GoldenRun> runs;
};

// Reads tests/search/golden/NAME.json, or the file in the folder that
// ESPALIER_GOLDEN names (for worlds that are not kept here); a gtest failure if
// it cannot be read.
GoldenFile ReadGolden(const std::string& name);

// One request for samples: its node and what it got.
struct GoldenDraw {
  int from = 0;
  bool greedy = false;
  std::vector<int> to;
};

// What our search did in such a world.
struct GoldenSearch {
  absl::Status status;
  std::vector<int> expanded;  // in order of request, without greedy steps
  std::vector<GoldenDraw>
      draws;  // the same with their samples, and with greedy steps
  // For each simulation the method counts: the nodes whose visits grew, sorted,
  // each as often as it was visited.
  std::vector<std::vector<int>> visits;
  std::map<int, std::pair<int64_t, double>> nodes;  // n and q of visited nodes
  std::string answer;
  int answer_node = -1;
  std::vector<NodeId> of;  // world node -> tree node; kNoNode if unseen
  std::unique_ptr<SearchContext> context;
  const Tree& tree() const { return context->tree(); }
};

struct GoldenOptions {
  int64_t simulations = 0;  // 0: runs until the method ends
  uint64_t seed = 1;
};
GoldenSearch RunGolden(const GoldenRun& run, const GoldenOptions& options = {});

// Compares the fields in the trace: expanded, visits, nodes (n exactly, q to
// 1e-4), answer and answer_node.
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
