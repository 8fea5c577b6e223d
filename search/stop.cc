#include "search/stop.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "base/text.h"
#include "espalier/method_options.h"

namespace espalier {
namespace {

constexpr char kAccepted[] = "the verifier accepted the answer";

// The stop conditions of SearchOptions by their command-line names.
struct StopOptions {
  float confidence = 0;
  int responses = 0;
  bool decided = false;
  float kl = 0;
  int interval = 0;
  void Visit(OptionVisitor& v) {
    v.Real("confidence", &confidence, 0, 1,
           "stop at this confidence of the method in its answer; 0: off");
    v.Int("responses", &responses, 1, 1 << 30,
          "minimum votes before confidence counts");
    v.Flag("decided", &decided,
           "stop when the second-best answer can no longer win");
    v.Real("kl", &kl, 0, 1000,
           "stop when the root's visit distribution moves by fewer nats per "
           "simulation; 0: off");
    v.Int("interval", &interval, 1, 1 << 30, "simulations between two checks");
  }
};

}  // namespace

bool ConfidenceStopper::Stops(const SearchView& state, std::string& reason) {
  const AnswerSupport& now = state.support;
  if (!now.answered) return false;
  if (now.accepted) {
    reason = kAccepted;
    return true;
  }
  if (now.responses < responses_ ||
      static_cast<float>(now.confidence) < confidence_) {
    return false;
  }
  reason = absl::StrFormat("confidence %.3g after %d responses", now.confidence,
                           now.responses);
  return true;
}

bool DecidedStopper::Stops(const SearchView& state, std::string& reason) {
  const AnswerSupport& now = state.support;
  if (!now.answered) return false;
  if (now.accepted) {
    reason = kAccepted;
    return true;
  }
  if (now.bound.in_flight == 0) return false;
  // The cost of future votes can be estimated only right after a vote.
  if (now.responses == responses_) return false;
  cheapest_ =
      std::min(cheapest_, static_cast<double>(state.usage.tokens - tokens_) /
                              static_cast<double>(now.responses - responses_));
  responses_ = now.responses;
  tokens_ = state.usage.tokens;
  if (std::isinf(now.most_added)) return false;
  double left = std::numeric_limits<double>::infinity();
  const auto at_most = [&](double votes) { left = std::min(left, votes); };
  const auto votes = static_cast<double>(now.bound.votes);
  const double others = votes * static_cast<double>(now.bound.in_flight - 1);
  const auto of_simulations = [&](int64_t limit) {
    return votes * static_cast<double>(limit - state.usage.simulations);
  };
  if (now.bound.simulations > 0) at_most(of_simulations(now.bound.simulations));
  if (max_simulations_ > 0) at_most(of_simulations(max_simulations_) + others);
  if (max_tokens_ > 0 && cheapest_ > 0) {
    at_most(std::floor(static_cast<double>(max_tokens_ - tokens_) / cheapest_) +
            others);
  }
  if (std::isinf(left) && now.most_added > 0) return false;
  const double reach = now.most_added > 0
                           ? now.runner_up + left * now.most_added
                           : now.runner_up;
  if (reach > now.leader || (reach == now.leader && !now.wins_ties)) {
    return false;
  }
  reason = "the second answer cannot win any more";
  return true;
}

bool KlStopper::Stops(const SearchView& state, std::string& reason) {
  const int64_t passed = state.usage.simulations - simulations_;
  if (passed < interval_) return false;
  std::vector<uint32_t> visits;
  double before = 0, after = 0;
  for (const NodeId c : Children(state.tree, kRoot)) {
    visits.push_back(state.tree[c].visits);
    after += visits.back();
  }
  for (const uint32_t v : visits_) before += v;
  double divergence = 0;
  for (size_t i = 0; i < visits_.size(); ++i) {
    if (visits_[i] == 0) continue;
    const double p = visits_[i] / before, q = visits[i] / after;
    divergence += p * std::log(p / q);
  }
  const bool compared = before > 0 && after > before;
  visits_ = std::move(visits);
  simulations_ = state.usage.simulations;
  const double gain = divergence / static_cast<double>(passed);
  if (!compared || !state.support.answered || !(gain < gain_)) {
    return false;
  }
  reason = absl::StrFormat(
      "the root's visits moved by %.3g nats per simulation", gain);
  return true;
}

Stoppers MakeStoppers(const SearchOptions& options) {
  Stoppers stoppers;
  const auto add = [&](const char* name, int64_t Usage::*counter,
                       int64_t limit) {
    if (limit > 0) {
      stoppers.Add(std::make_unique<LimitStopper>(name, counter, limit));
    }
  };
  add("tokens", &Usage::tokens, options.max_tokens);
  add("model calls", &Usage::model_calls, options.max_model_calls);
  add("simulations", &Usage::simulations, options.max_simulations);
  add("nodes", &Usage::nodes, options.max_nodes);
  add("bytes", &Usage::bytes, options.max_bytes);
  add("verdict tokens", &Usage::verdict_tokens, options.max_verdict_tokens);
  if (options.stop_confidence > 0) {
    stoppers.Add(std::make_unique<ConfidenceStopper>(options.stop_confidence,
                                                     options.stop_responses));
  }
  if (options.stop_decided) {
    stoppers.Add(std::make_unique<DecidedStopper>(options.max_simulations,
                                                  options.max_tokens));
  }
  if (options.stop_kl > 0) {
    stoppers.Add(
        std::make_unique<KlStopper>(options.stop_kl, options.stop_interval));
  }
  return stoppers;
}

SearchBudget BudgetOf(const SearchOptions& options, const Problem& problem) {
  // Upper bound on a response, so that sums of a few of them do not overflow.
  constexpr double kLongest = 1e12;
  const double takes = static_cast<double>(options.response_tokens) +
                       std::ceil(options.response_tokens_per_byte *
                                 static_cast<double>(problem.question.size()));
  const auto limit = [](int64_t given) { return given > 0 ? given : kNoLimit; };
  return {.tokens = limit(options.max_tokens),
          .model_calls = limit(options.max_model_calls),
          .simulations = limit(options.max_simulations),
          .nodes = limit(options.max_nodes),
          .bytes = limit(options.max_bytes),
          .verdict_tokens = limit(options.max_verdict_tokens),
          .longest_response = limit(options.max_response_tokens),
          .response_tokens = static_cast<int64_t>(std::min(takes, kLongest))};
}

absl::Status ParseStopWhen(std::string_view text, SearchOptions* options) {
  OptionMap given;
  for (const absl::string_view part :
       absl::StrSplit(AbslView(text), ',', absl::SkipWhitespace())) {
    const std::pair<std::string, std::string> named =
        absl::StrSplit(part, absl::MaxSplits('=', 1));
    // A bare name is a flag; if the option is not one, the parser says what it
    // expects.
    const bool bare = part.find('=') == absl::string_view::npos;
    given[named.first] = bare ? "true" : named.second;
  }
  StopOptions parsed{.confidence = options->stop_confidence,
                     .responses = static_cast<int>(options->stop_responses),
                     .decided = options->stop_decided,
                     .kl = options->stop_kl,
                     .interval = static_cast<int>(options->stop_interval)};
  OptionParser parser(given);
  parsed.Visit(parser);
  absl::Status status = parser.Finish("stop");
  if (!status.ok()) return status;
  options->stop_confidence = parsed.confidence;
  options->stop_responses = parsed.responses;
  options->stop_decided = parsed.decided;
  options->stop_kl = parsed.kl;
  options->stop_interval = parsed.interval;
  return absl::OkStatus();
}

}  // namespace espalier
