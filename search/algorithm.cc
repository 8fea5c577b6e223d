#include "search/algorithm.h"

#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/check.h"
#include "base/random.h"
#include "base/text.h"
#include "search/presets.h"

namespace espalier {
namespace {

constexpr std::string_view kPresetPrefix = "preset=";

// Constant after main has started.
std::map<std::string, AlgorithmInfo>& Registry() {
  static auto* registry = new std::map<std::string, AlgorithmInfo>();
  return *registry;
}

}  // namespace

namespace {

bool Has(const std::vector<RequestKind>& needs, RequestKind kind) {
  return std::find(needs.begin(), needs.end(), kind) != needs.end();
}

}  // namespace

void FinishOption::Visit(OptionVisitor& v,
                         const std::vector<RequestKind>& needs) {
  if (Has(needs, RequestKind::kGrade)) return;
  v.Flag(
      "finish", &finish,
      "if the method has no answer of its own: take the best response in the "
      "tree, or finish the most promising one, for which tokens are reserved");
}

FinishPlan FinishOption::Plan(const std::vector<RequestKind>& needs) const {
  return {.exempt = !finish || Has(needs, RequestKind::kGrade),
          .scores = Has(needs, RequestKind::kEvaluate)};
}

void ScoreOptions::Visit(OptionVisitor& v) {
  if (level) VisitChoice(v, "level", &rule.level, kLevelNames, kLevelHelp);
  if (aggregate) {
    VisitChoice(v, "aggregate", &rule.aggregate, kAggregateNames,
                kAggregateHelp);
  }
  if (read) {
    v.Text("weights", &weights,
           "of aggregate=learned, as bias=-1/step=2/path=1; empty: the reward "
           "model's");
    v.Real("lower_confidence", &rule.lower_confidence, 0, 100,
           kLowerConfidenceHelp);
  }
}

std::vector<std::string> ScoreOptions::Names() const {
  std::vector<std::string> names;
  if (level) names.push_back("level");
  if (aggregate) names.push_back("aggregate");
  if (read) names.insert(names.end(), {"weights", "lower_confidence"});
  return names;
}

std::vector<std::string> ScoreOptions::Check() const {
  const auto parsed = ParseLevelWeights(weights);
  if (!parsed.ok()) return {std::string(parsed.status().message())};
  if (!weights.empty() && !parsed->given()) {
    return {"weights names no level with a weight other than 0"};
  }
  if (!weights.empty() && rule.aggregate != Aggregate::kLearned) {
    return {absl::StrCat(
        "weights is for aggregate=learned, and aggregate is ",
        AbslView(kRankNames[static_cast<size_t>(rule.aggregate)]))};
  }
  return {};
}

LevelWeights ScoreOptions::Weights() const {
  return ParseLevelWeights(weights).value_or(LevelWeights());
}

void AddAlgorithm(AlgorithmInfo info) {
  const std::string name = info.name;
  ESP_CHECK(Registry().emplace(name, std::move(info)).second);
}

std::vector<const AlgorithmInfo*> ListAlgorithms() {
  std::vector<const AlgorithmInfo*> all;
  for (const auto& [name, info] : Registry()) all.push_back(&info);
  return all;
}

absl::Status ParseMethod(std::string_view spec, std::string* name,
                         OptionMap* options) {
  const std::vector<std::string> parts = absl::StrSplit(AbslView(spec), ':');
  *name = parts[0];
  for (size_t i = 1; i < parts.size(); ++i) {
    const size_t equals = parts[i].find('=');
    if (equals == std::string::npos || equals == 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("method \"", AbslView(spec), "\": expected name=value ",
                       "after each colon, found \"", parts[i], "\""));
    }
    const auto [it, is_new] = options->emplace(parts[i].substr(0, equals),
                                               parts[i].substr(equals + 1));
    if (!is_new) {
      return absl::InvalidArgumentError(
          absl::StrCat("method \"", AbslView(spec), "\": option ", it->first,
                       " is given twice"));
    }
  }
  return absl::OkStatus();
}

absl::Status ResolveMethod(std::string_view spec, std::string* name,
                           OptionMap* options) {
  ESP_RETURN_IF_ERROR(ParseMethod(spec, name, options));
  if (name->rfind(kPresetPrefix, 0) != 0) return absl::OkStatus();
  ESP_ASSIGN_OR_RETURN(const Preset* preset,
                       FindPreset(name->substr(kPresetPrefix.size())));
  *name = preset->method;
  // Explicitly given options take precedence.
  options->insert(preset->options.begin(), preset->options.end());
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<SearchAlgorithm>> MakeAlgorithm(
    std::string_view spec) {
  std::string name;
  OptionMap options;
  ESP_RETURN_IF_ERROR(ResolveMethod(spec, &name, &options));
  return MakeAlgorithm(name, options);
}

absl::StatusOr<std::unique_ptr<SearchAlgorithm>> MakeAlgorithm(
    const std::string& name, const OptionMap& options) {
  const auto it = Registry().find(name);
  if (it == Registry().end()) {
    if (FindPreset(name).ok()) {
      return absl::NotFoundError(absl::StrCat(
          "unknown method \"", name, "\": there is a preset of that name, ",
          "which is written preset=", name));
    }
    std::vector<std::string> names;
    for (const auto& [known, info] : Registry()) names.push_back(known);
    return absl::NotFoundError(UnknownName("method", name, names));
  }
  return it->second.make(options);
}

std::string CanonicalMethod(const SearchAlgorithm& algorithm) {
  std::string text(algorithm.name());
  const std::vector<std::string> general = algorithm.general_options();
  const std::vector<std::string_view> usual = {kLevelNames[0], kRankNames[0],
                                               "", "0"};
  for (const OptionInfo& option : algorithm.options()) {
    // Recorded runs of versions without these options keep their names.
    if (std::find(general.begin(), general.end(), option.name) !=
            general.end() &&
        std::find(usual.begin(), usual.end(), option.value) != usual.end()) {
      continue;
    }
    absl::StrAppend(&text, ":", option.name, "=", option.value);
  }
  return text;
}

std::string MethodHash(std::string_view canonical_method) {
  return absl::StrCat(
      absl::Hex(StableHash(canonical_method), absl::kZeroPad16));
}

}  // namespace espalier
