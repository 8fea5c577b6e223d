// A reward model of a checkpoint behind the interface that programs implement.
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/mutex.h"
#include "base/status_macros.h"
#include "espalier/load_reward_model.h"
#include "src/engine/model_place.h"
#include "src/engine/score_solutions.h"

namespace espalier {
namespace {

// Each with its delimiter; at least one.
std::vector<std::string> StepsIn(std::string_view response,
                                 std::string_view delimiter) {
  std::vector<std::string> steps;
  while (!delimiter.empty()) {
    const size_t at = response.find(delimiter);
    if (at == std::string_view::npos) break;
    const size_t end = at + delimiter.size();
    steps.emplace_back(response.substr(0, end));
    response.remove_prefix(end);
  }
  if (!response.empty() || steps.empty()) steps.emplace_back(response);
  return steps;
}

class LoadedReward : public RewardModel {
 public:
  LoadedReward(std::unique_ptr<SolutionScorer> scorer, std::string name,
               const Task& task)
      : name_(std::move(name)),
        task_(task),
        levels_(scorer->levels()),
        scorer_(std::move(scorer)) {}

  std::string_view name() const override { return name_; }
  LevelSet levels() const override { return levels_; }

  absl::StatusOr<std::vector<StepScores>> Score(
      const Problem& problem,
      absl::Span<const std::string> responses) override {
    std::vector<GivenSolution> solutions;
    solutions.reserve(responses.size());
    for (const std::string& response : responses) {
      solutions.push_back(
          {.question = problem.question,
           .steps = StepsIn(response, task_.format().delimiter)});
    }
    std::vector<StepScores> scores(responses.size());
    absl::Status status;
    MutexLock lock(mutex_);
    ESP_RETURN_IF_ERROR(scorer_->Score(
        solutions, task_, nullptr,
        [&](size_t i, const absl::StatusOr<std::vector<StepScores>>& steps) {
          if (steps.ok()) {
            scores[i] = steps->back();
          } else {
            status.Update(absl::Status(
                steps.status().code(),
                absl::StrCat("response ", i, " of ", responses.size(), ": ",
                             steps.status().message())));
          }
        }));
    ESP_RETURN_IF_ERROR(status);
    return scores;
  }

 private:
  const std::string name_;
  const Task& task_;
  const LevelSet levels_;
  Mutex mutex_;
  const std::unique_ptr<SolutionScorer> scorer_ ABSL_PT_GUARDED_BY(mutex_);
};

}  // namespace

absl::StatusOr<std::unique_ptr<RewardModel>> LoadRewardModel(
    const EngineOptions& models, const Task& task) {
  ESP_ASSIGN_OR_RETURN(auto scorer, SolutionScorer::Load(models));
  return std::make_unique<LoadedReward>(std::move(scorer),
                                        RewardModelName(models), task);
}

}  // namespace espalier
