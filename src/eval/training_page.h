// Training reports as one self-contained HTML page.
//
//   ESP_RETURN_IF_ERROR(
//       WriteFileAtomic("runs.html", TrainingPage(reports)));
//
// One picture per metric, with the curves of all trainings; a legend; tables of
// the rounds and of each curve's figures. No scripts, no network, well-formed
// XML inside. Light or dark as the reader's system is set. Stateless functions:
// thread-safe.
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
