// Budgets as small composable stoppers.
//
//   Stoppers stop;
//   stop.Add(std::make_unique<TokenStopper>(600));
//   if (auto reason = stop.Reason(usage)) ...
//
// Wall time is not among them: no clock steers a search. The engine ends a
// search whose time is over from outside and records that it did.
#ifndef ESPALIER_SEARCH_PARTS_STOP_H_
#define ESPALIER_SEARCH_PARTS_STOP_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "espalier/engine.h"

namespace espalier {

// What a search has used so far.
struct Usage {
  int64_t tokens = 0;         // sampled from the policy, kept or dropped
  int64_t reward_tokens = 0;  // tokens of the steps that were scored
  int64_t model_calls = 0;    // requests sent to models
  int64_t simulations = 0;    // counted by the method
  int64_t nodes = 0;
};

class Stopper {
 public:
  virtual ~Stopper() = default;
  // Why the search should stop, or nothing.
  virtual std::optional<std::string> Reason(const Usage& usage) const = 0;
};

// Stops when a counter of Usage reaches a limit.
class LimitStopper : public Stopper {
 public:
  LimitStopper(std::string name, int64_t Usage::*counter, int64_t limit)
      : name_(std::move(name)), counter_(counter), limit_(limit) {}
  std::optional<std::string> Reason(const Usage& usage) const override {
    if (usage.*counter_ < limit_) return std::nullopt;
    return absl::StrCat("budget of ", limit_, " ", name_, " is spent");
  }

 private:
  std::string name_;
  int64_t Usage::*counter_;
  int64_t limit_;
};

// Stops as soon as one of its stoppers does.
class Stoppers : public Stopper {
 public:
  void Add(std::unique_ptr<Stopper> stopper) {
    all_.push_back(std::move(stopper));
  }
  std::optional<std::string> Reason(const Usage& usage) const override {
    for (const auto& stopper : all_) {
      if (auto reason = stopper->Reason(usage)) return reason;
    }
    return std::nullopt;
  }

 private:
  std::vector<std::unique_ptr<Stopper>> all_;
};

// The budgets of `options` but for seconds.
Stoppers MakeStoppers(const SearchOptions& options);

}  // namespace espalier

#endif  // ESPALIER_SEARCH_PARTS_STOP_H_
