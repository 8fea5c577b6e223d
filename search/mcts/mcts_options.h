// Options that every MCTS method has; see mcts.h for what they do.
#ifndef ESPALIER_SEARCH_MCTS_MCTS_OPTIONS_H_
#define ESPALIER_SEARCH_MCTS_MCTS_OPTIONS_H_

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "search/options.h"
#include "search/parts/choose.h"
#include "search/parts/states.h"
#include "search/search_context.h"

namespace espalier {

struct MctsOptions {
  int simulations = 0;
  int branch = 4;
  int in_flight = 1;
  float temperature = 1;
  bool widen = true;
  int width = 1 << 20;
  bool descend = true;
  int forward = 0;
  float forward_weight = 0.5f;
  bool close = true;
  bool verify = false;
  float virtual_loss = 0;
  Share share = Share::kNone;
  AnswerChoice choice = AnswerChoice::kWeighted;

  void Visit(OptionVisitor& v);
  // What a method with these options asks for.
  std::vector<RequestKind> Needs() const;
  // Values that do not go together (search/options.h).
  std::vector<std::string> Check() const;
};

}  // namespace espalier

#endif  // ESPALIER_SEARCH_MCTS_MCTS_OPTIONS_H_
