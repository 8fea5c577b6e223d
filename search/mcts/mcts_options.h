// Options of all MCTS methods; see mcts.h for their meaning.
#ifndef ESPALIER_SEARCH_MCTS_MCTS_OPTIONS_H_
#define ESPALIER_SEARCH_MCTS_MCTS_OPTIONS_H_

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "espalier/method_options.h"
#include "search/choose.h"
#include "search/parts/transpositions.h"
#include "search/search_context.h"

namespace espalier {

// What follows a new leaf within its simulation.
enum class Descend : uint8_t {
  kNone,  // nothing: its value is the reward model's score
  kOne,   // one sample per step, to the end of the response
  kAll,   // `branch` samples per step, the rule chooses among them
};
inline constexpr std::array<std::string_view, 3> kDescendNames = {
    "false", "true", "all"};

// How a path that the step limit cut counts.
enum class Cut : uint8_t {
  kDrop,   // no visit, and never selected again
  kZero,   // a visit of value 0
  kVisit,  // an ordinary visit with the value of its last step, like a path
           // that nothing follows
};
inline constexpr std::array<std::string_view, 3> kCutNames = {"drop", "zero",
                                                              "visit"};

struct MctsOptions {
  int simulations = 0;
  int branch = 4;
  int in_flight = 1;
  float temperature = 1;
  bool widen = true;
  int width = 1 << 20;
  Descend descend = Descend::kAll;
  Cut cut = Cut::kDrop;
  int forward = 0;
  float forward_weight = 0.5f;
  bool close = true;
  bool verify = false;
  float virtual_loss = 0;
  Share share = Share::kNone;
  AnswerChoice choice = AnswerChoice::kWeighted;

  void Visit(OptionVisitor& v);
  // Every step on the way to an answer has this many samples, except where a
  // simulation is rolled out by single samples.
  int64_t AtOnce() const {
    return int64_t{in_flight} * (descend == Descend::kOne ? 1 : branch);
  }
  // Requests made by a method with these options.
  std::vector<RequestKind> Needs() const;
  // Values that do not go together (include/espalier/method_options.h).
  std::vector<std::string> Check() const;
};

}  // namespace espalier

#endif  // ESPALIER_SEARCH_MCTS_MCTS_OPTIONS_H_
