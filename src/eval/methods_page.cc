#include "src/eval/methods_page.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "base/status_macros.h"
#include "search/algorithm.h"
#include "search/presets.h"

namespace espalier {
namespace {

std::string Cell(const std::string& text) {
  return text.empty() ? "-" : absl::StrReplaceAll(text, {{"|", "\\|"}});
}

std::string Row(const std::vector<std::string>& cells) {
  return absl::StrCat("| ", absl::StrJoin(cells, " | "), " |\n");
}

std::string Heading(const std::vector<std::string>& names) {
  std::string text = Row(names) + "|";
  for (size_t i = 0; i < names.size(); ++i) text += "---|";
  return text + "\n";
}

// Relative to docs/, the page's folder.
std::string FileLink(const std::string& path) {
  if (path.empty()) return "-";
  return absl::StrCat("[", path.substr(path.rfind('/') + 1), "](../", path,
                      ")");
}

std::string CostText(const MethodCosts& costs, const std::string& method) {
  const auto it = costs.find(method);
  if (it == costs.end()) return "-";
  return absl::StrFormat("%.3g us", it->second.microseconds);
}

// Requests other than samples, which every method makes.
std::string NeedsText(const std::vector<RequestKind>& needs) {
  std::vector<std::string> names;
  for (const RequestKind kind : needs) {
    if (kind == RequestKind::kEvaluate) names.push_back("a reward model");
    if (kind == RequestKind::kVerify) names.push_back("a verifier");
    if (kind == RequestKind::kGrade) names.push_back("reference answers");
  }
  return names.empty() ? "only the policy"
                       : "the policy and " + absl::StrJoin(names, " and ");
}

std::string MethodSection(const AlgorithmInfo& info,
                          const SearchAlgorithm& algorithm) {
  std::string text = absl::StrCat("### ", info.name, "\n", info.summary,
                                  ". Asks ", NeedsText(algorithm.needs()));
  if (!info.notes.when_to_use.empty()) {
    absl::StrAppend(&text, ". Use it when ", info.notes.when_to_use);
  }
  text += ".";
  if (!info.notes.source.empty()) {
    absl::StrAppend(&text, " Source: ", info.notes.source, ".");
  }
  text += "\n\n";
  const std::vector<OptionInfo> options = algorithm.options();
  if (options.empty()) return text + "It has no options.\n\n";
  text += Heading({"option", "type", "range", "default", "meaning"});
  for (const OptionInfo& option : options) {
    text += Row({"`" + option.name + "`", option.type, Cell(option.range),
                 Cell(option.value), Cell(option.help)});
  }
  return text + "\n";
}

std::string PresetTable() {
  std::string text = Heading({"preset", "what it is", "method", "source"});
  for (const Preset& preset : ListPresets()) {
    text += Row({absl::StrCat("[", preset.name, "](../search/presets/",
                              preset.name, ".textproto)"),
                 Cell(preset.summary), "`" + preset.Spec() + "`",
                 Cell(preset.source)});
  }
  return text;
}

}  // namespace

absl::StatusOr<std::string> MethodsPage(const MethodCosts& costs) {
  std::string table = Heading({"method", "what it does", "options", "source",
                               "test", "cost", "use it when"});
  std::string sections;
  for (const AlgorithmInfo* info : ListAlgorithms()) {
    ESP_ASSIGN_OR_RETURN(const auto algorithm, info->make({}));
    table +=
        Row({absl::StrCat("[", info->name, "](#", info->name, ")"),
             Cell(info->summary), absl::StrCat(algorithm->options().size()),
             Cell(info->notes.source), FileLink(info->notes.test),
             CostText(costs, info->name), Cell(info->notes.when_to_use)});
    sections += MethodSection(*info, *algorithm);
  }
  return absl::StrCat(
      "<!-- Written by `espalier methods --markdown`; tools/dev docs "
      "regenerates it. -->\n# Search methods\n\nA method is named with its "
      "options after colons, `--search beam:width=2:branch=8`, or by a file in "
      "the form of a preset, `--search my.textproto`. *Cost* is the search's "
      "own time for each step that it samples, with the method's defaults and "
      "without the models (bench/search/search_core_benchmark).\n\n",
      table,
      "\n## Presets\nPublished systems as settings of a method: `--preset "
      "rest_mcts_star`, with your own options after colons, `--preset "
      "rest_mcts_star:c=0.5`; in a list of methods `preset=rest_mcts_star`. "
      "Each file says what differs from the paper.\n\n",
      PresetTable(), "\n## Options\n", sections);
}

}  // namespace espalier
