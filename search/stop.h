// When a search ends before its method does: budgets, and stoppers that look at
// the answer. All are small and composable.
//
//   Stoppers stop = MakeStoppers({.max_tokens = 600, .stop_confidence = .9});
//   std::string reason;
//   if (stop.Stops({usage, support, tree}, reason)) ...
//
// A stopper that looks at the answer never stops a search that has none. Wall
// time is not among them because no clock may influence a search: the engine
// ends a search whose time is up from outside and records that it did.
//
// Stoppers may hold state: each set belongs to one search. Externally
// synchronised.
#ifndef ESPALIER_SEARCH_STOP_H_
#define ESPALIER_SEARCH_STOP_H_

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "espalier/problem.h"
#include "espalier/search_options.h"
#include "search/tree/tree.h"

namespace espalier {

// What a search has used so far.
struct Usage {
  int64_t tokens = 0;         // sampled from the policy, kept or dropped
  int64_t reward_tokens = 0;  // tokens of the steps that were scored
  // Written by a reward model that generates its verdicts.
  int64_t verdict_tokens = 0;
  int64_t model_calls = 0;  // requests sent to models
  int64_t simulations = 0;  // counted by the method
  int64_t nodes = 0;
  // The tree (Tree::used_bytes) and the anytime list.
  int64_t bytes = 0;
};

// A method's guarantee about its votes: a simulation casts at most `votes`,
// with scores in [0, 1], and is counted before the next one starts in its
// place.
struct VoteBound {
  int64_t simulations = 0;  // maximum number the method starts; 0: no limit
  int64_t in_flight = 1;    // concurrent simulations; 0: no guarantee
  int64_t votes = 1;        // maximum per simulation
};

// How firmly the answer is held (set by Votes::Offer).
struct AnswerSupport {
  bool answered = false;  // an answer is held
  bool accepted = false;  // a verifier accepted the response behind it
  // The method's confidence in it, in [0, 1]: its share of the votes, or the
  // reward model's score.
  double confidence = 0;
  int64_t responses = 0;  // votes for any answer
  double leader = 0;      // weight of the answer
  double runner_up = 0;   // weight of the second answer, 0 if none
  bool wins_ties = false;
  // Maximum a vote can add to a weight; infinite if unknown.
  double most_added = std::numeric_limits<double>::infinity();
  VoteBound bound = {.in_flight = 0};
};

// Everything that may decide whether a search continues.
struct SearchView {
  const Usage& usage;
  const AnswerSupport& support;
  const Tree& tree;
};

class Stopper {
 public:
  virtual ~Stopper() = default;
  // True if the search should stop; `reason` then says why. Called several
  // times per simulation.
  virtual bool Stops(const SearchView& state, std::string& reason) = 0;
};

// Stops when a counter of Usage reaches a limit.
class LimitStopper : public Stopper {
 public:
  LimitStopper(std::string name, int64_t Usage::*counter, int64_t limit)
      : name_(std::move(name)), counter_(counter), limit_(limit) {}
  bool Stops(const SearchView& state, std::string& reason) override {
    if (state.usage.*counter_ < limit_) return false;
    reason = absl::StrCat("budget of ", limit_, " ", name_, " is spent");
    return true;
  }

 private:
  std::string name_;
  int64_t Usage::*counter_;
  int64_t limit_;
};

// Stops once the method's confidence in its answer is at least `confidence` and
// `responses` have voted, because the first vote has a share of 1. An answer
// that a verifier accepted needs no other votes.
class ConfidenceStopper : public Stopper {
 public:
  ConfidenceStopper(float confidence, int64_t responses)
      : confidence_(confidence), responses_(responses) {}
  bool Stops(const SearchView& state, std::string& reason) override;

 private:
  const float confidence_;  // as float, so that 3 of 5 votes reach 0.6f
  const int64_t responses_;
};

// Stops when the remaining votes cannot change the leading answer: when
// runner-up + left * most_added is below the leader. `left` is the lower of
//   simulations  exact: what remains of the method's own limit, or of
//                `max_simulations` plus those in flight, which still vote when
//                that limit is reached;
//   tokens       an estimate: what remains of `max_tokens`, divided by the
//                tokens of the cheapest response so far. Exact if responses are
//                equally long; a shorter one later may prove it wrong.
// Never stops a method that gives no guarantee about its votes.
class DecidedStopper : public Stopper {
 public:
  // 0: no limit.
  DecidedStopper(int64_t max_simulations, int64_t max_tokens)
      : max_simulations_(max_simulations), max_tokens_(max_tokens) {}
  bool Stops(const SearchView& state, std::string& reason) override;

 private:
  const int64_t max_simulations_;
  const int64_t max_tokens_;
  int64_t responses_ = 0;  // at the last check
  int64_t tokens_ = 0;
  double cheapest_ = std::numeric_limits<double>::infinity();
};

// Stops when the visit distribution over the root's children has stopped
// moving: with p the distribution `interval` simulations ago and q the current
// one, when
//
//   sum_i p_i ln(p_i / q_i) / simulations in between  <  gain.
//
// As in lc0's smart pruning. Never stops a method that counts no visits.
class KlStopper : public Stopper {
 public:
  KlStopper(double gain, int64_t interval) : gain_(gain), interval_(interval) {}
  bool Stops(const SearchView& state, std::string& reason) override;

 private:
  const double gain_;
  const int64_t interval_;
  int64_t simulations_ = 0;       // at the last check
  std::vector<uint32_t> visits_;  // at the last check, in the children's order
};

// Stops as soon as one of its stoppers does.
class Stoppers : public Stopper {
 public:
  void Add(std::unique_ptr<Stopper> stopper) {
    all_.push_back(std::move(stopper));
  }
  bool Stops(const SearchView& state, std::string& reason) override {
    for (const auto& stopper : all_) {
      if (stopper->Stops(state, reason)) return true;
    }
    return false;
  }

 private:
  std::vector<std::unique_ptr<Stopper>> all_;
};

// The budgets of `options` except seconds, and its stop conditions.
Stoppers MakeStoppers(const SearchOptions& options);

inline constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max();

// Upper bounds on what a search may spend; kNoLimit: unbounded. SearchContext
// enforces them: the cost of a request is reserved when it is sent.
struct SearchBudget {
  int64_t tokens = kNoLimit;
  int64_t model_calls = kNoLimit;
  int64_t simulations = kNoLimit;
  int64_t nodes = kNoLimit;
  // Of Usage::bytes; exceeded by at most one reply.
  int64_t bytes = kNoLimit;
  // Written by a reward model that generates its verdicts.
  int64_t verdict_tokens = kNoLimit;
  // Of one response.
  int64_t longest_response = kNoLimit;
  // Expected tokens of a response, if known before the search.
  int64_t response_tokens = 0;  // 0: unknown
};

// What a reward model that writes its verdicts may write about a step.
struct VerdictCost {
  int votes = 1;
  int tokens = 0;     // at most, per vote; 0: nothing is written
  bool path = false;  // a step's verdict needs those of the steps before it
};

SearchBudget BudgetOf(const SearchOptions& options, const Problem& problem);

// Sets the stop conditions of `options` from "confidence=0.9,decided,kl=1e-5".
// InvalidArgument lists all problems, with the nearest name for unknown ones.
absl::Status ParseStopWhen(std::string_view text, SearchOptions* options);

}  // namespace espalier

#endif  // ESPALIER_SEARCH_STOP_H_
