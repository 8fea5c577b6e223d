// The answers that a record accepts. Matching one of several is enough: the
// column "golds" lists them, e.g. {"question": "...", "golds": ["1/2", "50
// %"]}.
#ifndef ESPALIER_DATASETS_TASKS_GOLD_ANSWERS_H_
#define ESPALIER_DATASETS_TASKS_GOLD_ANSWERS_H_

#include <string>
#include <vector>

#include "espalier/problem.h"

namespace espalier {

// The reference's answer, then those of its column "golds" that differ from it.
// Empty if it has neither.
std::vector<std::string> GoldAnswers(const Reference& reference);

// False if there is no gold, or only what tables write for none: "N/A", "null",
// "-", "?". "None" and "NA" are answers to some questions, so they are golds.
bool HasGold(const Reference& reference);

// "3/4" or "1/2, 50 % or .5", for messages.
std::string GoldText(const std::vector<std::string>& golds);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_TASKS_GOLD_ANSWERS_H_
