// Time per verdict over the public pairs of Math-Verify and hendrycks, and over
// the LaTeX cases of latex2sympy2_extended, each against itself plus 0.
// Counters in microseconds per pair. Needs the folder ESPALIER_DATA; the pairs
// under tests/ are timed without it.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "bench/base/reference.h"
#include "datasets/answers/grade_answer.h"
#include "nlohmann/json.hpp"

namespace espalier {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

void AddPairs(const std::string& path, Pairs& out) {
  std::ifstream in(path);
  std::string line;
  while (std::getline(in, line)) {
    const nlohmann::json json = nlohmann::json::parse(line);
    if (json.contains("gold")) {
      out.emplace_back(json["gold"], json["answer"]);
    } else {
      const std::string latex = json["latex"];
      out.emplace_back(latex, "0 + " + latex);
    }
  }
}

void TimePairs(benchmark::State& state, const Pairs& pairs) {
  if (pairs.empty()) {
    state.SkipWithError("no pairs: set ESPALIER_DATA, or start in the root");
    return;
  }
  const Clock& clock = Clock::Real();
  // Best of all rounds per pair, to exclude the machine's other load.
  std::vector<double> best(pairs.size(), 1e9);
  for (const auto& [gold, answer] : pairs) GradeAnswer(gold, answer);
  for (auto _ : state) {
    for (size_t i = 0; i < pairs.size(); ++i) {
      const double start = clock.Seconds();
      const GradeVerdict verdict = GradeAnswer(pairs[i].first, pairs[i].second);
      benchmark::DoNotOptimize(verdict.equal);
      best[i] = std::min(best[i], (clock.Seconds() - start) * 1e6);
    }
  }
  std::sort(best.begin(), best.end());
  state.counters["median_us"] = best[best.size() / 2];
  state.counters["p99_us"] = best[best.size() * 99 / 100];
  state.counters["worst_us"] = best.back();
  state.counters["pairs"] = static_cast<double>(pairs.size());
}

void BM_PublicPairs(benchmark::State& state) {
  Pairs pairs;
  if (const char* data = std::getenv("ESPALIER_DATA")) {
    AddPairs(std::string(data) + "/grader/equivalence.jsonl", pairs);
    AddPairs(std::string(data) + "/grader/latex_parse.jsonl", pairs);
  }
  TimePairs(state, pairs);
}
BENCHMARK(BM_PublicPairs)->Unit(benchmark::kMillisecond);

void BM_OwnPairs(benchmark::State& state) {
  Pairs pairs;
  AddPairs("tests/datasets/answers/pairs.jsonl", pairs);
  TimePairs(state, pairs);
}
BENCHMARK(BM_OwnPairs)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace espalier
