// Which responses DeepConf lets vote (search/sampling/deepconf.cc).
#ifndef ESPALIER_SEARCH_SAMPLING_CONFIDENCE_FILTER_H_
#define ESPALIER_SEARCH_SAMPLING_CONFIDENCE_FILTER_H_

#include <vector>

namespace espalier {

// The ceil(eta / 100 * N)-th highest of N >= 1 confidences, at least the
// highest: those at or above it are the surest eta percent, with all ties.
float ConfidenceThreshold(std::vector<float> confidences, float eta);

}  // namespace espalier

#endif  // ESPALIER_SEARCH_SAMPLING_CONFIDENCE_FILTER_H_
