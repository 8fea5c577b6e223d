// The choice of an answer among finished responses (S2, S3).
//
//   Votes votes(AnswerChoice::kWeighted);
//   votes.Add(ctx, node, score);
//   votes.Offer(ctx);
//
// Responses without an answer count only where no response has one. A vote
// costs the same however many came before it.
#ifndef ESPALIER_SEARCH_PARTS_CHOOSE_H_
#define ESPALIER_SEARCH_PARTS_CHOOSE_H_

#include <array>
#include <string_view>
#include <vector>

#include "search/search_context.h"

namespace espalier {

enum class AnswerChoice : uint8_t {
  kFirst,       // the first response
  kMajority,    // most responses; ties: the answer that came first
  kBest,        // highest score; ties: the first
  kWeighted,    // highest sum of scores over responses with the same answer
  kVisits,      // the end of the most visited path; where that has none: kBest
  kLowerBound,  // highest mean score - standard error of its responses' scores,
                // one response alone counting as .5 off (LCB)
};
inline constexpr std::array<std::string_view, 6> kAnswerChoiceNames = {
    "first", "majority", "best", "weighted", "visits", "lower_bound"};

class Votes {
 public:
  explicit Votes(AnswerChoice choice) : choice_(choice) {}

  // A finished response with its score; the same node may vote often.
  void Add(SearchContext& ctx, NodeId node, float score);
  bool empty() const { return groups_.empty(); }
  // Offers the choice to the search: the response with the highest score (the
  // first of equals) among those with the chosen answer.
  void Offer(SearchContext& ctx) const;

 private:
  // Responses with one answer, in order of its first appearance.
  struct Group {
    int32_t answer = -1;
    NodeId best = kNoNode;
    float best_score = 0;
    double count = 0;
    double sum = 0;
    double mean = 0;
    double squares = 0;  // sum of squared differences from the mean
  };
  Group& GroupOf(int32_t answer);
  // What the groups are compared by; -1 for responses without an answer.
  double Weight(const Group& group) const;

  AnswerChoice choice_;
  std::vector<Group> groups_;
  std::vector<int32_t> group_of_;  // by answer + 1; -1: none yet
  size_t winner_ = 0;
};

}  // namespace espalier

#endif  // ESPALIER_SEARCH_PARTS_CHOOSE_H_
