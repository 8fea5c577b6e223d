// espalier methods: the registered methods with their options.
#include <cstdio>
#include <string>

#include "nlohmann/json.hpp"
#include "search/algorithm.h"
#include "src/base/status_macros.h"
#include "tools/espalier/command.h"

namespace espalier {
namespace {

absl::Status RunMethods(bool json) {
  nlohmann::json all = nlohmann::json::array();
  for (const AlgorithmInfo* info : ListAlgorithms()) {
    ESP_ASSIGN_OR_RETURN(const auto algorithm, info->make({}));
    if (!json)
      std::printf("%s\n  %s\n", info->name.c_str(), info->summary.c_str());
    nlohmann::json options = nlohmann::json::array();
    for (const OptionInfo& option : algorithm->options()) {
      options.push_back({{"name", option.name},
                         {"type", option.type},
                         {"range", option.range},
                         {"default", option.value},
                         {"help", option.help}});
      if (!json) {
        std::printf("    %-14s %-10s %s (%s)\n", option.name.c_str(),
                    option.value.c_str(), option.help.c_str(),
                    option.range.c_str());
      }
    }
    all.push_back({{"name", info->name},
                   {"summary", info->summary},
                   {"options", options}});
  }
  if (json) {
    std::printf("%s\n", all.dump(1).c_str());
  } else {
    std::printf("\nSet options after colons: --search beam:width=2:branch=8\n");
  }
  return absl::OkStatus();
}

}  // namespace

void AddMethods(CLI::App& app, RunFunction& run) {
  auto json = std::make_shared<bool>(false);
  app.add_flag("--json", *json, "Print JSON");
  run = [json] { return RunMethods(*json); };
}

}  // namespace espalier
