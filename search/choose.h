// Choosing an answer among finished responses (self-consistency, best-of-N).
//
//   Votes votes(AnswerChoice::kWeighted);
//   votes.Add(ctx, node, score);
//   votes.Offer(ctx);
//
// Responses without an answer count only if no response has one. Adding a vote
// takes constant time.
//
// Offer also reports how much the votes support the choice (AnswerSupport in
// stop.h). A method that bounds the votes of a simulation, with scores in
// [0, 1], declares a VoteBound and can then be stopped once the remaining votes
// cannot change the answer:
//
//   Votes votes(AnswerChoice::kMajority, {.simulations = options.n});
#ifndef ESPALIER_SEARCH_CHOOSE_H_
#define ESPALIER_SEARCH_CHOOSE_H_

#include <array>
#include <string_view>
#include <vector>

#include "search/search_context.h"

namespace espalier {

enum class AnswerChoice : uint8_t {
  kFirst,       // the first response
  kMajority,    // most responses; ties: the answer that came first
  kBest,        // highest score; ties: the first response
  kWeighted,    // highest sum of scores over responses with the same answer
  kVisits,      // end of the most visited path; kBest if it has none
  kLowerBound,  // highest mean score - standard error of the mean, which is .5
                // for a single response (LCB)
  // Most responses, where each that ended in the tree counts once more, whether
  // it voted or not (rStar); ties: the answer that comes first depth-first.
  kMajorityOfTree,
};
inline constexpr std::array<std::string_view, 7> kAnswerChoiceNames = {
    "first",       "majority",        "best", "weighted", "visits",
    "lower_bound", "majority_of_tree"};

// Whether `a` comes before `b` depth-first, children in order of creation.
// Neither is an ancestor of the other.
bool ComesFirst(const Tree& tree, NodeId a, NodeId b);

class Votes {
 public:
  explicit Votes(AnswerChoice choice, const VoteBound& bound = {.in_flight = 0})
      : choice_(choice), bound_(bound) {}

  // A finished response with its score; the same node may vote often.
  void Add(SearchContext& ctx, NodeId node, float score) {
    AddAt(ctx, node, score, added_);
  }
  // For responses that finish in a different order than they vote: ties go to
  // the lowest `place`.
  void AddAt(SearchContext& ctx, NodeId node, float score, int64_t place);
  bool empty() const { return groups_.empty(); }
  // For kMajorityOfTree: counts the responses that ended in the tree since the
  // last Add. Add calls it itself.
  void CountTree(SearchContext& ctx);
  // Offers the choice to the search: the response with the highest score (the
  // first of equals) among those with the chosen answer; for kMajorityOfTree
  // the depth-first first of those in the tree.
  void Offer(SearchContext& ctx) const;

 private:
  // Responses with the same answer. Groups are in order of first appearance.
  struct Group {
    int32_t answer = -1;
    NodeId best = kNoNode;
    float best_score = 0;
    NodeId first = kNoNode;  // depth-first first of those in the tree
    int64_t best_at = 0;     // place of `best` among all responses
    int64_t first_at = 0;    // place of the first response
    double count = 0;
    double sum = 0;
    double mean = 0;
    double squares = 0;  // sum of squared differences from the mean
  };
  Group& GroupOf(int32_t answer);
  bool ByBest() const {
    return choice_ == AnswerChoice::kBest || choice_ == AnswerChoice::kVisits;
  }
  // Key by which groups are compared; -1 for responses without an answer.
  double Weight(const Group& group) const;
  // Updates winner_ and second_ after a vote for group `changed`.
  void Rank(size_t changed);
  AnswerSupport SupportOf(const Group& winner) const;

  AnswerChoice choice_;
  VoteBound bound_;
  std::vector<Group> groups_;
  std::vector<int32_t> group_of_;  // by answer + 1; -1: none yet
  size_t winner_ = 0;
  size_t second_ = 0;  // equals winner_ if there is none
  int64_t added_ = 0;
  bool gaps_ = false;      // lower places may still be filled
  int64_t responses_ = 0;  // with an answer
  double total_ = 0;       // sum of their scores, 1 each for majorities
  NodeId counted_ = 0;     // nodes already seen by CountTree
};

}  // namespace espalier

#endif  // ESPALIER_SEARCH_CHOOSE_H_
