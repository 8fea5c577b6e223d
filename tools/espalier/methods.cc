// espalier methods: the registered methods and presets, with their options.
#include <cstdio>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "base/text.h"
#include "nlohmann/json.hpp"
#include "search/algorithm.h"
#include "search/presets.h"
#include "src/eval/method_costs.h"
#include "src/eval/methods_page.h"
#include "tools/espalier/command.h"
#include "tools/espalier/output_file.h"

namespace espalier {
namespace {

struct MethodsFlags {
  std::vector<std::string> names;
  JsonOutput json;
  bool markdown = false;
  std::string costs = "docs/results/search-core.json";
};

absl::Status PrintJson() {
  nlohmann::json methods = nlohmann::json::array();
  for (const AlgorithmInfo* info : ListAlgorithms()) {
    ESP_ASSIGN_OR_RETURN(const auto algorithm, info->make({}));
    nlohmann::json options = nlohmann::json::array();
    for (const OptionInfo& option : algorithm->options()) {
      options.push_back({{"name", option.name},
                         {"type", option.type},
                         {"range", option.range},
                         {"default", option.value},
                         {"help", option.help}});
    }
    methods.push_back({{"name", info->name},
                       {"summary", info->summary},
                       {"source", info->notes.source},
                       {"when_to_use", info->notes.when_to_use},
                       {"test", info->notes.test},
                       {"options", options}});
  }
  nlohmann::json presets = nlohmann::json::array();
  for (const Preset& preset : ListPresets()) {
    presets.push_back({{"name", preset.name},
                       {"summary", preset.summary},
                       {"source", preset.source},
                       {"method", preset.method},
                       {"options", preset.options}});
  }
  const nlohmann::json all = {{"methods", methods}, {"presets", presets}};
  std::printf("%s\n", all.dump(1).c_str());
  return absl::OkStatus();
}

void PrintList() {
  std::printf("Methods\n");
  for (const AlgorithmInfo* info : ListAlgorithms()) {
    std::printf("  %-22s %s\n", info->name.c_str(), info->summary.c_str());
  }
  std::printf("\nPresets: published systems as settings of a method\n");
  for (const Preset& preset : ListPresets()) {
    std::printf("  %-22s %s\n", preset.name.c_str(), preset.summary.c_str());
  }
  std::printf(
      "\nespalier methods NAME shows options, espalier methods --markdown all "
      "of it.\nSet options after colons: --search beam:width=2:branch=8, "
      "--preset rest_mcts_star:c=0.5\n");
}

absl::Status PrintMethod(const AlgorithmInfo& info) {
  ESP_ASSIGN_OR_RETURN(const auto algorithm, info.make({}));
  std::printf("%s\n  %s\n", info.name.c_str(), info.summary.c_str());
  if (!info.notes.when_to_use.empty()) {
    std::printf("  Use it when %s.\n", info.notes.when_to_use.c_str());
  }
  if (!info.notes.source.empty()) {
    std::printf("  Source: %s\n", info.notes.source.c_str());
  }
  for (const OptionInfo& option : algorithm->options()) {
    std::printf("    %-20s %-10s %s (%s)\n", option.name.c_str(),
                option.value.c_str(), option.help.c_str(),
                option.range.c_str());
  }
  return absl::OkStatus();
}

void PrintPreset(const Preset& preset) {
  std::printf("preset %s\n  --search %s\n%s", preset.name.c_str(),
              preset.Spec().c_str(), preset.text.c_str());
}

// A method, else a preset; "preset=NAME" if both have the name.
absl::Status PrintNamed(const std::string& name) {
  constexpr std::string_view kPreset = "preset=";
  std::vector<std::string> methods, presets;
  for (const AlgorithmInfo* info : ListAlgorithms()) {
    if (info->name == name) return PrintMethod(*info);
    methods.push_back(info->name);
  }
  for (const Preset& preset : ListPresets()) {
    if (preset.name == name || std::string(kPreset) + preset.name == name) {
      PrintPreset(preset);
      return absl::OkStatus();
    }
    presets.push_back(preset.name);
  }
  std::vector<std::string> all = methods;
  all.insert(all.end(), presets.begin(), presets.end());
  const std::string nearest = NearestName(name, all);
  return UsageError(absl::NotFoundError(absl::StrCat(
      UnknownName("method or preset", name, std::vector<std::string>()),
      nearest.empty() ? "" : ": did you mean \"" + nearest + "\"?",
      nearest.empty() ? "; methods: " : " methods: ",
      absl::StrJoin(methods, ", "),
      "; presets: ", absl::StrJoin(presets, ", "))));
}

absl::Status RunMethods(const MethodsFlags& flags) {
  if (flags.json.wanted()) {
    ESP_RETURN_IF_ERROR(flags.json.TakeStdout());
    return PrintJson();
  }
  if (flags.markdown) {
    ESP_ASSIGN_OR_RETURN(const MethodCosts costs, ReadMethodCosts(flags.costs));
    ESP_ASSIGN_OR_RETURN(const std::string page, MethodsPage(costs));
    std::printf("%s", page.c_str());
    return absl::OkStatus();
  }
  if (flags.names.empty()) PrintList();
  for (const std::string& name : flags.names) {
    ESP_RETURN_IF_ERROR(PrintNamed(name));
  }
  return absl::OkStatus();
}

}  // namespace

void AddMethods(CLI::App& app, RunFunction& run) {
  auto flags = std::make_shared<MethodsFlags>();
  CLI::Option* names = app.add_option(
      "name", flags->names, "Methods or presets to show with their options");
  AddJsonOutput(app, flags->json, "methods, presets and their options");
  CLI::Option* json = app.get_option("--json");
  CLI::Option* markdown = app.add_flag(
      "--markdown", flags->markdown, "Print docs/methods.md, with all of them");
  json->excludes(names)->excludes(markdown);
  markdown->excludes(names);
  app.add_option(
         "--costs", flags->costs,
         "With --markdown: --benchmark_out file of search_core_benchmark; "
         "costs are left out if it does not exist")
      ->capture_default_str()
      ->needs(markdown);
  run = [flags] { return RunMethods(*flags); };
}

}  // namespace espalier
