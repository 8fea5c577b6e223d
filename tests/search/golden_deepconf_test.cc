// DeepConf's confidences, thresholds and votes, offline and online.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "nlohmann/json.hpp"
#include "search/sampling/confidence_filter.h"
#include "tests/search/golden_world.h"

namespace espalier {
namespace {

using Json = nlohmann::json;

// Confidences are rounded to thousandths, in double by the program and from
// floats by us: halfway between two a token may be rounded the other way, one
// per window.
constexpr double kRounding = 5e-4;

constexpr std::pair<const char*, ConfidenceOf> kMeasures[] = {
    {"mean", ConfidenceOf::kMean},
    {"tail", ConfidenceOf::kTail},
    {"bottom", ConfidenceOf::kBottom},
    {"lowest", ConfidenceOf::kLowest}};

ConfidenceOf MeasureOf(const std::string& name) {
  for (const auto& [known, of] : kMeasures) {
    if (name == known) return of;
  }
  ADD_FAILURE() << name;
  return ConfidenceOf::kMean;
}

// Runs it with these options, which replace its own.
GoldenSearch RunWith(GoldenRun run, const std::string& options) {
  run.method = absl::StrReplaceAll(
      run.method, {{":vote=majority", ""}, {":vote=weighted", ""}});
  absl::StrAppend(&run.method, options);
  return RunGolden(run);
}

// The tokens of a response as the search sees them.
TokenGroups GroupsOf(const GoldenSearch& ours, int place, int window) {
  TokenGroups groups(window);
  const Tree& tree = ours.tree();
  for (const NodeId step : tree.Path(ours.of[static_cast<size_t>(place)])) {
    groups.Add(tree.confidences(step));
  }
  return groups;
}

TEST(GoldenDeepConf, ConfidencesThresholdsAndVotesAreTheSame) {
  int votes = 0;
  for (const GoldenRun& run : ReadGolden("deepconf").runs) {
    SCOPED_TRACE(run.name);
    const int window = run.trace.at("settings").at("window");
    const int tail = run.trace.at("settings").at("tail_tokens");
    // What the program calls its answer is the unfiltered majority.
    const GoldenSearch ours = RunWith(run, ":eta=100:vote=majority");
    ExpectSameTrace(run, ours);
    const Json& responses = run.trace.at("responses");
    for (const Json& response : responses) {
      const TokenGroups groups = GroupsOf(ours, response.at("node"), window);
      for (const auto& [name, of] : kMeasures) {
        EXPECT_NEAR(groups.Confidence(of, tail), response.at(name), kRounding)
            << name << " of " << response.at("node");
      }
    }
    for (const Json& filter : run.trace.at("filters")) {
      const std::string by = filter.at("by");
      const double eta = 100 * filter.at("top").get<double>();
      std::vector<double> all, answered;
      for (const Json& response : responses) {
        all.push_back(GroupsOf(ours, response.at("node"), window)
                          .Confidence(MeasureOf(by), tail));
        const Json& answer = response.at("answer");
        if (!answer.is_null() && answer != "") answered.push_back(all.back());
      }
      const double threshold = ConfidenceThreshold(answered, std::round(eta));
      EXPECT_NEAR(threshold, filter.at("threshold"), kRounding);
      EXPECT_EQ(RunWith(run, absl::StrCat(":of=", by, ":eta=", std::round(eta),
                                          ":vote=weighted"))
                    .answer,
                filter.at("answer").get<std::string>())
          << by << " " << eta;
      ++votes;
    }
    const std::pair<const char*, const char*> kVotes[] = {
        {"mean_confidence_weighted", ":of=mean:eta=100"},
        {"tail_confidence_weighted", ":of=tail:eta=100"},
        {"bottom_window_weighted", ":of=bottom:eta=100"},
        {"min_window_weighted", ":of=lowest:eta=100"},
        {"top10_tail_filtered", ":of=tail"},
        {"top10_bottom_window_filtered", ""}};  // the preset
    for (const auto& [name, options] : kVotes) {
      const Json& vote = run.trace.at("voting").at(name);
      if (vote.is_null()) continue;
      EXPECT_EQ(RunWith(run, options).answer, vote.at("answer")) << name;
      ++votes;
    }
  }
  EXPECT_GT(votes, 100);
}

TEST(GoldenDeepConf, OnlineItGivesUpTheSameResponses) {
  int given_up = 0, below = 0;
  for (const GoldenRun& run : ReadGolden("deepconf_online").runs) {
    SCOPED_TRACE(run.name);
    const GoldenSearch ours = RunGolden(run);
    // The program may have no answer.
    const bool answers = !run.trace.at("answer").is_null();
    ExpectSameTrace(run, ours, {.answer = answers});
    if (answers) {
      EXPECT_EQ(RunWith(run, ":vote=weighted").answer,
                run.trace.at("weighted_answer"));
    }
    const int window = run.trace.at("settings").at("window_size");
    const double eta = run.trace.at("settings").at("confidence_percentile");
    std::vector<double> warm;
    for (const Json& response : run.trace.at("responses")) {
      given_up += !response.at("stopped_at_token").is_null();
      if (response.at("phase") != "warmup") continue;
      warm.push_back(
          GroupsOf(ours, response.at("node"), window).OnlineConfidence());
      EXPECT_NEAR(warm.back(), response.at("min_conf"), 1e-9);
    }
    const double threshold = ConfidenceThreshold(warm, eta);
    EXPECT_NEAR(threshold, run.trace.at("threshold"), 1e-9);
    for (const double confidence : warm) below += confidence < threshold;
  }
  EXPECT_GT(given_up, 10);
  EXPECT_GT(below, 10);
}

}  // namespace
}  // namespace espalier
