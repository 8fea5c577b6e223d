#include "src/engine/response_length.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "espalier/engine.h"
#include "search/algorithm.h"
#include "search/stop.h"

namespace espalier {

absl::Status MeasureResponseTokens(Engine& engine,
                                   absl::Span<const Problem> problems,
                                   const Task& task,
                                   const std::atomic<bool>* stop,
                                   SearchOptions& search) {
  // Bounds a response that never ends.
  constexpr int64_t kLongest = 16384;
  if (search.response_tokens > 0 || search.max_tokens == 0) {
    return absl::OkStatus();
  }
  const auto first =
      problems.first(std::min(problems.size(), kMeasuredProblems));
  std::vector<std::pair<double, double>> lengths;  // bytes, tokens
  ESP_RETURN_IF_ERROR(engine.SolveAll(
      first, task, {.method = "greedy", .max_tokens = kLongest}, {.stop = stop},
      [&](size_t i, const SearchResult& result) {
        if (result.answer.empty() || result.tokens == 0) return;
        lengths.emplace_back(first[i].question.size(), result.tokens);
      }));
  if (stop != nullptr && stop->load()) return absl::OkStatus();
  if (lengths.empty()) return absl::OkStatus();
  // They arrive in order of completion; sorted, their sums are deterministic.
  std::sort(lengths.begin(), lengths.end());
  const auto n = static_cast<double>(lengths.size());
  double x = 0, y = 0, xx = 0, xy = 0;
  for (const auto& [bytes, tokens] : lengths) {
    x += bytes / n;
    y += tokens / n;
  }
  for (const auto& [bytes, tokens] : lengths) {
    xx += (bytes - x) * (bytes - x);
    xy += (bytes - x) * (tokens - y);
  }
  // Rounded to a thousandth, so that it survives writing and reading.
  const double slope =
      xx == 0 ? 0 : std::floor(1000 * std::max(0.0, xy / xx)) / 1000;
  double above = 0;
  for (const auto& [bytes, tokens] : lengths) {
    above = std::max(above, tokens - slope * bytes);
  }
  search.response_tokens = static_cast<int64_t>(std::ceil(above));
  search.response_tokens_per_byte = slope;
  return absl::OkStatus();
}

ShortBudget::ShortBudget(const SearchOptions& search) : search_(search) {
  const auto algorithm = MakeAlgorithm(search.method);
  if (algorithm.ok()) responses_ = (*algorithm)->responses_for_an_answer();
}

void ShortBudget::Add(const Problem& problem) {
  if (search_.max_tokens == 0) return;
  const int64_t whole = BudgetOf(search_, problem).response_tokens;
  // Responses differ in length, and the last step needs slack that the others
  // did not: half a response more. Of 24 problems of countdown:4, where 56
  // tokens are measured, greedy, beam and majority conclude 6 to 8 with 56
  // tokens; with 84 they and five other methods conclude all.
  const int64_t takes = responses_ > 1 ? responses_ * whole : whole + whole / 2;
  ++problems_;
  without_ += takes > search_.max_tokens ? 1 : 0;
  most_ = std::max(most_, takes);
}

std::string ShortBudget::Note() const {
  if (without_ == 0) return "";
  if (responses_ > 1) {
    return absl::StrCat(
        search_.method, " samples as many tokens as ", responses_,
        " responses before it has an answer; a budget of ", search_.max_tokens,
        " tokens is too small for that on ", without_, " of ", problems_,
        " problems, which may get no answer; a budget of ", most_,
        " or more tokens is enough for all");
  }
  return absl::StrCat("a budget of ", search_.max_tokens,
                      " tokens is less than one response and a half for ",
                      without_, " of ", problems_,
                      " problems, which may get no answer; ", most_,
                      " tokens are enough for one response to each");
}

}  // namespace espalier
