// search-and-learn's beam search, DVTS and best-of-n, step by step.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "nlohmann/json.hpp"
#include "tests/search/golden_world.h"

namespace espalier {
namespace {

using Json = nlohmann::json;
using Ints = std::vector<int>;

std::string BeamText(const Ints& numbers) {
  return absl::StrJoin(numbers, " ");
}

std::string Sorted(Ints numbers) {
  std::sort(numbers.begin(), numbers.end());
  return BeamText(numbers);
}

// Nodes with the number of their requests, in order of first appearance.
std::string Asked(const Ints& nodes) {
  std::vector<std::pair<int, int>> asked;
  for (const int node : nodes) {
    const auto known =
        std::find_if(asked.begin(), asked.end(),
                     [&](const auto& pair) { return pair.first == node; });
    if (known == asked.end()) {
      asked.push_back({node, 1});
    } else {
      ++known->second;
    }
  }
  return absl::StrJoin(asked, " ", absl::PairFormatter("x"));
}

// The samples that each of `asked` got in its turn.
Ints ByTurns(const Ints& asked, std::map<int, Ints> samples) {
  Ints all;
  for (const int node : asked) {
    Ints& left = samples[node];
    if (left.empty()) continue;
    all.push_back(left.front());
    left.erase(left.begin());
  }
  return all;
}

// Iterates over the draws of a search.
class BeamDraws {
 public:
  explicit BeamDraws(const GoldenSearch& ours) {
    for (const GoldenDraw& draw : ours.draws) {
      if (!draw.greedy) draws_.push_back(draw);
    }
  }
  bool done() const { return next_ == draws_.size(); }
  const GoldenDraw& Next() {
    static const GoldenDraw kNone{.from = -1};
    return done() ? kNone : draws_[next_++];
  }
  // The parents of all remaining draws, once per sample.
  Ints Rest() {
    Ints rest;
    for (; !done(); ++next_) {
      rest.insert(rest.end(), draws_[next_].to.size(), draws_[next_].from);
    }
    return rest;
  }

 private:
  std::vector<GoldenDraw> draws_;
  size_t next_ = 0;
};

// The end of the trace's "expanded", from index `from`.
Ints Tail(const Json& trace, size_t from) {
  const Ints all = trace.at("expanded");
  return Ints(all.begin() + static_cast<std::ptrdiff_t>(from), all.end());
}

// The answer of the program's own vote over n completions; nothing if it has no
// vote over all of them.
std::optional<std::string> Voted(const Json& trace, const char* how) {
  const Json& last = trace.at("voted").back();
  if (last.at("n") != trace.at("settings").at("n")) return std::nullopt;
  return last.at(how).get<std::string>();
}

// In the program a response without an answer has the answer "", which may win.
bool HasUnanswered(const GoldenRun& run, const char* responses) {
  for (const size_t end : run.trace.at(responses)) {
    const GoldenNode& node = run.world.nodes[end];
    if (node.terminal && node.answer.empty()) return true;
  }
  return false;
}

std::string AnswerBy(GoldenRun run, const char* choice) {
  run.method = absl::StrReplaceAll(
      run.method, {{"choice=best", absl::StrCat("choice=", choice)}});
  return RunGolden(run).answer;
}

TEST(GoldenSearchAndLearn, BeamSearchKeepsWhatItKeeps) {
  int steps_seen = 0;
  for (const GoldenRun& run : ReadGolden("search_and_learn_beam").runs) {
    SCOPED_TRACE(run.name);
    const GoldenSearch ours = RunGolden(run);
    ASSERT_TRUE(ours.status.ok()) << ours.status;
    const size_t n = run.trace.at("settings").at("n");
    const bool sorts = run.trace.at("settings").at("sort_completed");
    BeamDraws draws(ours);
    size_t completed = 0, expanded = 0;
    for (const Json& step : run.trace.at("steps")) {
      // The program continues, but does not return later completions.
      if (completed >= n && !sorts) break;
      completed += step.at("completed").size();
      ++steps_seen;
      if (!step.at("stop_at_step")) {
        EXPECT_EQ(Sorted(draws.Rest()), Sorted(Tail(run.trace, expanded)));
        break;
      }
      const Ints asked = step.at("asked");
      expanded += asked.size();
      std::vector<std::pair<int, size_t>> ours_asked;
      std::map<int, Ints> drawn;
      for (size_t seen = 0; seen < asked.size() && !draws.done();) {
        const GoldenDraw& draw = draws.Next();
        seen += draw.to.size();
        ours_asked.push_back({draw.from, draw.to.size()});
        drawn[draw.from] = draw.to;
      }
      ASSERT_EQ(absl::StrJoin(ours_asked, " ", absl::PairFormatter("x")),
                Asked(asked));
      EXPECT_EQ(BeamText(ByTurns(asked, drawn)), BeamText(step.at("sampled")));
    }
    EXPECT_TRUE(draws.done());
    // In the program a response without an answer has the answer "", which may
    // win; here it loses.
    if (HasUnanswered(run, "completed")) continue;
    ExpectSameTrace(run, ours, {.expanded = false});
    for (const char* how : {"weighted", "majority"}) {
      const auto voted = Voted(run.trace, how);
      if (!voted || (run.method.find("aggregate=last") == std::string::npos &&
                     std::string_view(how) == "weighted")) {
        continue;
      }
      EXPECT_EQ(AnswerBy(run, how), *voted) << how;
    }
  }
  EXPECT_GT(steps_seen, 50);
}

TEST(GoldenSearchAndLearn, DvtsGrowsTheSameSubtrees) {
  for (const GoldenRun& run : ReadGolden("search_and_learn_dvts").runs) {
    SCOPED_TRACE(run.name);
    const GoldenSearch ours = RunGolden(run);
    ASSERT_TRUE(ours.status.ok()) << ours.status;
    BeamDraws draws(ours);
    size_t expanded = 0;
    for (const Json& step : run.trace.at("steps")) {
      if (!step.at("stop_at_step")) {
        EXPECT_EQ(Sorted(draws.Rest()), Sorted(Tail(run.trace, expanded)));
        break;
      }
      const Ints asked = step.at("asked");
      for (size_t i = 0; i < asked.size(); ++i) {
        const GoldenDraw& draw = draws.Next();
        EXPECT_EQ(draw.from, asked[i]);
        EXPECT_EQ(BeamText(draw.to), BeamText(step.at("sampled")[i]));
        expanded += draw.to.size();
      }
    }
    EXPECT_TRUE(draws.done());
    if (HasUnanswered(run, "completions")) continue;
    ExpectSameTrace(run, ours, {.expanded = false});
    // Unfinished samples vote only in the program.
    const std::vector<bool> finished = run.trace.at("finished");
    if (std::find(finished.begin(), finished.end(), false) != finished.end() ||
        run.method.find("k=0") == std::string::npos ||
        run.method.find("aggregate=last") == std::string::npos) {
      continue;
    }
    for (const char* how : {"weighted", "majority"}) {
      const auto voted = Voted(run.trace, how);
      if (voted) {
        EXPECT_EQ(AnswerBy(run, how), *voted) << how;
      }
    }
  }
}

TEST(GoldenSearchAndLearn, BestOfNAndItsVotesChooseTheSameResponse) {
  int votes = 0;
  for (const GoldenRun& run : ReadGolden("search_and_learn_best_of_n").runs) {
    SCOPED_TRACE(run.name);
    const GoldenSearch ours = RunGolden(run);
    const bool unanswered = HasUnanswered(run, "completions");
    ExpectSameTrace(run, ours, {.answer = !unanswered});
    if (unanswered) continue;
    for (const Json& voted : run.trace.at("voted")) {
      const int n = voted.at("n");
      GoldenRun by = run;
      const std::pair<const char*, const char*> kMethods[] = {
          {"best_of_n", "naive"},
          {"weighted", "weighted"},
          {"majority", "majority"}};
      for (const auto& [method, how] : kMethods) {
        by.method = absl::StrCat(method, ":n=", n);
        EXPECT_EQ(RunGolden(by).answer, voted.at(how).get<std::string>())
            << method << " " << n;
        ++votes;
      }
    }
  }
  EXPECT_GT(votes, 60);
}

}  // namespace
}  // namespace espalier
