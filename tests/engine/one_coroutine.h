// A method for tests: one coroutine that queries a policy.
#ifndef ESPALIER_TESTS_ENGINE_ONE_COROUTINE_H_
#define ESPALIER_TESTS_ENGINE_ONE_COROUTINE_H_

#include <string_view>
#include <vector>

#include "search/algorithm.h"

namespace espalier {

class OneCoroutine : public SearchAlgorithm {
 public:
  explicit OneCoroutine(Co<> (*run)(SearchContext&)) : run_(run) {}
  std::string_view name() const override { return "one_coroutine"; }
  const std::vector<RequestKind>& needs() const override { return needs_; }
  int models() const override { return 1; }
  int64_t responses_for_an_answer() const override { return 1; }
  std::vector<OptionInfo> options() const override { return {}; }
  Co<> Run(SearchContext& ctx) const override { return run_(ctx); }

 private:
  Co<> (*const run_)(SearchContext&);
  const std::vector<RequestKind> needs_ = {RequestKind::kExpand};
};

}  // namespace espalier

#endif  // ESPALIER_TESTS_ENGINE_ONE_COROUTINE_H_
