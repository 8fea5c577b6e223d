// The choice of an answer among finished responses (S2, S3).
//
//   Votes votes;
//   votes.Add(ctx, node, score);
//   votes.Offer(ctx, AnswerChoice::kWeighted);
//
// Responses without an answer count only where no response has one.
#ifndef ESPALIER_SEARCH_PARTS_CHOOSE_H_
#define ESPALIER_SEARCH_PARTS_CHOOSE_H_

#include <array>
#include <string_view>
#include <vector>

#include "search/search_context.h"

namespace espalier {

enum class AnswerChoice : uint8_t {
  kFirst,     // the first response
  kMajority,  // most responses; ties: the answer that came first
  kBest,      // highest score; ties: the first
  kWeighted,  // highest sum of scores over responses with the same answer
};
inline constexpr std::array<std::string_view, 4> kAnswerChoiceNames = {
    "first", "majority", "best", "weighted"};

class Votes {
 public:
  // A finished response with its score; the same node may vote often.
  void Add(SearchContext& ctx, NodeId node, float score);
  bool empty() const { return all_.empty(); }
  // Offers the choice to the search: the response with the highest score (the
  // first of equals) among those with the chosen answer.
  void Offer(SearchContext& ctx, AnswerChoice choice) const;

 private:
  struct Vote {
    NodeId node;
    int32_t answer;
    float score;
  };
  std::vector<Vote> all_;
};

}  // namespace espalier

#endif  // ESPALIER_SEARCH_PARTS_CHOOSE_H_
