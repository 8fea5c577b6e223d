#include "espalier/registry.h"
#include "search/algorithm.h"

namespace espalier {

std::vector<MethodSummary> ListMethods() {
  std::vector<MethodSummary> methods;
  for (const AlgorithmInfo* info : ListAlgorithms()) {
    MethodSummary& method = methods.emplace_back();
    method.name = info->name;
    method.summary = info->summary;
    method.source = info->notes.source;
    method.when_to_use = info->notes.when_to_use;
    for (const RequestKind need : info->needs) {
      method.scores |= need == RequestKind::kEvaluate;
      method.verifies |= need == RequestKind::kVerify;
      method.grades |= need == RequestKind::kGrade;
    }
    const auto algorithm = info->make({});
    if (algorithm.ok()) method.options = (*algorithm)->options();
  }
  return methods;
}

}  // namespace espalier
