#include "src/engine/search_json.h"

#include "nlohmann/json.hpp"

namespace espalier {
namespace {

template <class T>
void AddIfSet(nlohmann::json& config, const char* key, T value, T unset) {
  if (value != unset) config[key] = value;
}

}  // namespace

void AddStops(const SearchOptions& search, nlohmann::json& config) {
  const SearchOptions none;
  const auto add = [&](const char* key, auto value, auto unset) {
    AddIfSet(config, key, value, unset);
  };
  add("budget_model_calls", search.max_model_calls, none.max_model_calls);
  add("budget_bytes", search.max_bytes, none.max_bytes);
  add("budget_verdict_tokens", search.max_verdict_tokens,
      none.max_verdict_tokens);
  add("response_tokens", search.response_tokens, none.response_tokens);
  add("response_tokens_per_byte", search.response_tokens_per_byte,
      none.response_tokens_per_byte);
  add("stop_confidence", search.stop_confidence, none.stop_confidence);
  add("stop_responses", search.stop_responses, none.stop_responses);
  add("stop_decided", search.stop_decided, none.stop_decided);
  add("stop_kl", search.stop_kl, none.stop_kl);
  add("stop_interval", search.stop_interval, none.stop_interval);
  add("top_k", search.top_k, none.top_k);
  add("top_p", search.top_p, none.top_p);
  add("min_p", search.min_p, none.min_p);
}

void ReadStops(const nlohmann::json& config, SearchOptions& search) {
  const auto read = [&](const char* key, auto& value) {
    value = config.value(key, value);
  };
  read("budget_model_calls", search.max_model_calls);
  read("budget_bytes", search.max_bytes);
  read("budget_verdict_tokens", search.max_verdict_tokens);
  read("response_tokens", search.response_tokens);
  read("response_tokens_per_byte", search.response_tokens_per_byte);
  read("stop_confidence", search.stop_confidence);
  read("stop_responses", search.stop_responses);
  read("stop_decided", search.stop_decided);
  read("stop_kl", search.stop_kl);
  read("stop_interval", search.stop_interval);
  read("top_k", search.top_k);
  read("top_p", search.top_p);
  read("min_p", search.min_p);
}

nlohmann::json ExtraLimitsJson(const SearchOptions& search) {
  const SearchOptions none;
  nlohmann::json limits = nlohmann::json::object();
  AddIfSet(limits, "budget_simulations", search.max_simulations,
           none.max_simulations);
  AddIfSet(limits, "budget_nodes", search.max_nodes, none.max_nodes);
  AddIfSet(limits, "seconds", search.max_seconds, none.max_seconds);
  AddStops(search, limits);
  return limits;
}

}  // namespace espalier
