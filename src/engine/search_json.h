// Budgets and stops of a search as JSON: in a run's config and in results.
//
//   nlohmann::json limits = ExtraLimitsJson(options);  // {"stop_decided":true}
//
// Thread-safe: no state.
#ifndef ESPALIER_SRC_ENGINE_SEARCH_JSON_H_
#define ESPALIER_SRC_ENGINE_SEARCH_JSON_H_

#include "espalier/search_options.h"
#include "nlohmann/json_fwd.hpp"

namespace espalier {

// What came after the first recorded runs: budgets of model calls and bytes,
// the stops, and filters of samples. Only what is set: a run that was recorded
// before one of them came can still be gone on with.
void AddStops(const SearchOptions& search, nlohmann::json& config);
// Sets what is there. Throws nlohmann::json::exception on another type.
void ReadStops(const nlohmann::json& config, SearchOptions& search);

// All that is set beside the method, the budget of tokens and the seed.
nlohmann::json ExtraLimitsJson(const SearchOptions& search);

}  // namespace espalier

#endif  // ESPALIER_SRC_ENGINE_SEARCH_JSON_H_
