// Options that every MCTS method has; see mcts.h for what they do.
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
  kNone,  // nothing: it is worth what the reward model says
  kOne,   // one sample a step, to the end of the response
  kAll,   // `branch` samples a step, the rule's choice among them
};
inline constexpr std::array<std::string_view, 3> kDescendNames = {
    "false", "true", "all"};

// What a path is that the limit of steps cut.
enum class Cut : uint8_t {
  kDrop,   // no visit at all, and never gone to again
  kZero,   // a visit of value 0
  kVisit,  // a visit like any other, worth what its last step is; so is a path
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
  // The way to an answer writes every step so often, but where a simulation is
  // followed to one by single samples.
  int64_t AtOnce() const {
    return int64_t{in_flight} * (descend == Descend::kOne ? 1 : branch);
  }
  // What a method with these options asks for.
  std::vector<RequestKind> Needs() const;
  // Values that do not go together (include/espalier/method_options.h).
  std::vector<std::string> Check() const;
};

}  // namespace espalier

#endif  // ESPALIER_SEARCH_MCTS_MCTS_OPTIONS_H_
