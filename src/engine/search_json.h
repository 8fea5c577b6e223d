// Budgets and stops of a search as JSON, for a run's config and for results.
//
//   nlohmann::json limits = ExtraLimitsJson(options);  // {"stop_decided":true}
//
// Thread-safe: no state.
#ifndef ESPALIER_SRC_ENGINE_SEARCH_JSON_H_
#define ESPALIER_SRC_ENGINE_SEARCH_JSON_H_

#include "espalier/search_options.h"
#include "nlohmann/json_fwd.hpp"

namespace espalier {

// Writes the fields that were added after the first recorded runs: budgets of
// model calls and bytes, the stops, and sample filters. Writes only those that
// are set, so that runs recorded before can still be resumed.
void AddStops(const SearchOptions& search, nlohmann::json& config);
// Reads the fields that are present. Throws nlohmann::json::exception on a
// wrong type.
void ReadStops(const nlohmann::json& config, SearchOptions& search);

// Everything that is set, except the method, the token budget and the seed.
nlohmann::json ExtraLimitsJson(const SearchOptions& search);

}  // namespace espalier

#endif  // ESPALIER_SRC_ENGINE_SEARCH_JSON_H_
