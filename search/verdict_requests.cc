// How a search reserves what a reward model may write: the requests of a
// SearchContext for verdicts, from their issue until they are sent
// (docs/adr/0014-budgets-are-reserved.md).
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "search/search_context.h"

namespace espalier {

int64_t SearchContext::UnjudgedSteps(const SearchRequest& request, bool take) {
  if (judged_.size() < tree_.size()) judged_.resize(tree_.size());
  std::vector<NodeId> steps;
  for (const NodeId node : request.nodes) {
    // All ancestors of a judged node are judged.
    for (NodeId at = node; !judged_[at]; at = tree_[at].parent) {
      judged_[at] = true;
      steps.push_back(at);
      if (!verdict_cost_.path || at == kRoot || tree_[at].parent == kRoot) {
        break;
      }
    }
  }
  if (!take) {
    for (const NodeId step : steps) judged_[step] = false;
  }
  return static_cast<int64_t>(steps.size());
}

void SearchContext::AdmitVerdict(int64_t steps, int64_t each) {
  SearchRequest& request = waiting_verdicts_.front();
  UnjudgedSteps(request, true);
  request.max_tokens = static_cast<int>(each);
  Slot& sent = slot(request.number);
  sent.sent_verdicts = true;
  sent.reserved_verdicts = steps * verdict_cost_.votes * each;
  ++judging_;
  reserved_verdicts_ += sent.reserved_verdicts;
  outbox_.push_back(std::move(request));
  waiting_verdicts_.pop_front();
}

void SearchContext::RefuseVerdicts() {
  for (; !waiting_verdicts_.empty(); waiting_verdicts_.pop_front()) {
    Slot& refused = slot(waiting_verdicts_.front().number);
    refused.arrived = true;
    refused.completion.status = absl::CancelledError("nothing to do");
  }
}

void SearchContext::AdmitVerdicts() {
  while (!waiting_verdicts_.empty() && failure_.ok()) {
    if (halted_) return RefuseVerdicts();
    const int64_t most = verdict_cost_.tokens;
    // As for steps: an unused reservation makes others wait.
    const int64_t need =
        longest_vote_ == 0
            ? most
            : std::min(most, longest_vote_ + longest_vote_ / 4 + 1);
    const int64_t free =
        budget_.verdict_tokens - usage_.verdict_tokens - reserved_verdicts_;
    // As many of the first requests as can have one verdict per vote.
    const int64_t first = UnjudgedSteps(waiting_verdicts_[0], false);
    int64_t votes = 0;
    for (const SearchRequest& request : waiting_verdicts_) {
      const int64_t more = verdict_cost_.votes * UnjudgedSteps(request, false);
      if ((votes + more) * need > free) break;
      votes += more;
    }
    int64_t each = votes > 0 ? std::min(most, free / votes) : most;
    if (votes == 0 && first > 0) {
      if (judging_ > 0) return;
      each = free / (first * verdict_cost_.votes);
      if (each < std::max<int64_t>(1, shortest_vote_)) {
        if (stop_reason_.empty()) {
          stop_reason_ = "too few verdict tokens left for another verdict";
          spent_ = false;
        }
        return RefuseVerdicts();
      }
    }
    AdmitVerdict(first, each);
  }
}

}  // namespace espalier
