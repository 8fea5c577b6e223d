// Reports of trainings as one HTML page that needs nothing beside it.
//
//   ESP_RETURN_IF_ERROR(
//       WriteFileAtomic("runs.html", TrainingPage(reports)));
//
// A picture a metric, with the curves of all trainings over each other; a
// legend; tables of the rounds and of each curve's figures. No scripts, no
// network, well-formed XML inside. Light and dark as the reader's system is.
// Stateless functions: thread-safe.
#ifndef ESPALIER_SRC_EVAL_TRAINING_PAGE_H_
#define ESPALIER_SRC_EVAL_TRAINING_PAGE_H_

#include <string>
#include <vector>

#include "src/eval/training_report.h"

namespace espalier {

// Shows all series of the reports; see ChooseMetrics.
std::string TrainingPage(const std::vector<TrainingReport>& reports);

}  // namespace espalier

#endif  // ESPALIER_SRC_EVAL_TRAINING_PAGE_H_
