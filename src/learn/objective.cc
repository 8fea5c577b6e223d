#include "src/learn/objective.h"

#include <cmath>
#include <map>

#include "base/check.h"
#include "base/text.h"
#include "search/algorithm.h"

namespace espalier {
namespace {

std::map<std::string, ObjectiveInfo>& Registry() {
  static auto* registry = new std::map<std::string, ObjectiveInfo>;
  return *registry;
}

}  // namespace

void ObjectiveSums::Add(const ObjectiveSums& other) {
  loss += other.loss;
  tokens += other.tokens;
  kl += other.kl;
  clipped += other.clipped;
  right += other.right;
  groups += other.groups;
  rows += other.rows;
  predicted += other.predicted;
  entropy += other.entropy;
}

std::vector<const ObjectiveInfo*> ListObjectives() {
  std::vector<const ObjectiveInfo*> all;
  for (const auto& [name, info] : Registry()) all.push_back(&info);
  return all;
}

void AddObjective(ObjectiveInfo info) {
  const std::string name = info.name;
  ESP_CHECK(Registry().emplace(name, std::move(info)).second);
}

namespace {

absl::StatusOr<const ObjectiveInfo*> Find(std::string_view spec,
                                          OptionMap* options) {
  std::string name;
  ESP_RETURN_IF_ERROR(ParseMethod(spec, &name, options));
  const auto found = Registry().find(name);
  if (found != Registry().end()) return &found->second;
  std::vector<std::string> names;
  for (const auto& [known, info] : Registry()) names.push_back(known);
  return absl::NotFoundError(UnknownName("objective", name, names));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Objective>> MakeObjective(
    std::string_view spec) {
  OptionMap options;
  ESP_ASSIGN_OR_RETURN(const ObjectiveInfo* info, Find(spec, &options));
  return info->make(options);
}

absl::StatusOr<ExampleKind> ExamplesOf(std::string_view spec) {
  OptionMap options;
  ESP_ASSIGN_OR_RETURN(const ObjectiveInfo* info, Find(spec, &options));
  return info->examples;
}

double LogSigmoid(double x) {
  return std::fmin(x, 0.0) - std::log1p(std::exp(-std::fabs(x)));
}

double Sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

}  // namespace espalier
