#include "datasets/sets/unjudged.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "datasets/tasks/gold_answers.h"

namespace espalier {

void Unjudged::Add(const GradedProblem& graded) {
  if (count_++ == 0) first_ = graded.problem.id;
  // Otherwise it is not for its gold.
  if (!HasGold(graded.reference)) {
    ++texts_[GoldText(GoldAnswers(graded.reference))];
  }
}

std::string Unjudged::Found() const {
  constexpr size_t kShown = 4;
  if (texts_.empty() || (texts_.size() == 1 && texts_.contains(""))) return "";
  std::vector<std::pair<std::string, int64_t>> texts(texts_.begin(),
                                                     texts_.end());
  std::stable_sort(
      texts.begin(), texts.end(),
      [](const auto& a, const auto& b) { return a.second > b.second; });
  std::vector<std::string> shown;
  for (const auto& [text, count] : texts) {
    if (shown.size() == kShown) {
      shown.emplace_back("...");
      break;
    }
    shown.push_back(text.empty() ? absl::StrCat("nothing in ", count)
                                 : absl::StrCat("\"", text, "\" in ", count));
  }
  return absl::StrCat(" (", absl::StrJoin(shown, ", "), ")");
}

absl::StatusOr<std::string> Unjudged::Note(const std::string& set,
                                           const std::string& gold,
                                           int64_t all) const {
  if (count_ == 0) return std::string();
  const std::string where =
      absl::StrCat(gold.empty() ? "" : absl::StrCat(" under ", gold), Found());
  if (count_ == all) {
    return absl::InvalidArgumentError(
        absl::StrCat(set, ": no record has a gold answer", where,
                     ", so responses cannot be graded; name the column that "
                     "has it (--columns question=NAME,answer=NAME)"));
  }
  return absl::StrCat(set, ": ", count_, " of ", all,
                      " records have no gold answer", where,
                      " and are left out; the first is ", first_);
}

}  // namespace espalier
