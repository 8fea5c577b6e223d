// Options that many methods have, with one range and one help text each.
#ifndef ESPALIER_SEARCH_PARTS_COMMON_OPTIONS_H_
#define ESPALIER_SEARCH_PARTS_COMMON_OPTIONS_H_

#include "espalier/method_options.h"
#include "search/choose.h"
#include "search/tree/score_rule.h"

namespace espalier {

inline void VisitTemperature(OptionVisitor& v, float* temperature) {
  v.Real("temperature", temperature, 0, 10, "sampling temperature");
}

inline void VisitAnswerChoice(OptionVisitor& v, AnswerChoice* choice) {
  VisitChoice(v, "choice", choice, kAnswerChoiceNames,
              "how the answer is chosen among finished responses");
}

// Level and aggregate of a method that declares its own: the same values and
// help as the general options (ScoreOptions in search/algorithm.h).
inline void VisitLevel(OptionVisitor& v, Level* level) {
  VisitChoice(v, "level", level, kLevelNames, kLevelHelp);
}

inline void VisitAggregate(OptionVisitor& v, Aggregate* aggregate) {
  VisitChoice(v, "aggregate", aggregate, kAggregateNames, kAggregateHelp);
}

inline void VisitRounds(OptionVisitor& v, int* rounds) {
  v.Int("rounds", rounds, 0, 1 << 20,
        "passes from the root; 0: until the budget is spent");
}

}  // namespace espalier

#endif  // ESPALIER_SEARCH_PARTS_COMMON_OPTIONS_H_
