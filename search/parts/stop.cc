#include "search/parts/stop.h"

#include <memory>

namespace espalier {

Stoppers MakeStoppers(const SearchOptions& options) {
  Stoppers stoppers;
  const auto add = [&](const char* name, int64_t Usage::*counter,
                       int64_t limit) {
    if (limit > 0) {
      stoppers.Add(std::make_unique<LimitStopper>(name, counter, limit));
    }
  };
  add("tokens", &Usage::tokens, options.max_tokens);
  add("simulations", &Usage::simulations, options.max_simulations);
  add("nodes", &Usage::nodes, options.max_nodes);
  return stoppers;
}

}  // namespace espalier
