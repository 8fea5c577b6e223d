#include "src/engine/score_solutions.h"

#include <optional>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/executor.h"
#include "base/status_macros.h"
#include "search/algorithm.h"
#include "src/engine/load_calibration.h"
#include "src/engine/load_model.h"
#include "src/engine/load_reward_model.h"
#include "src/engine/model_place.h"
#include "src/engine/runner.h"

namespace espalier {
namespace {

// The most tokens of a step, and steps of a path, that a tree can count.
constexpr int kMostInTree = 65535;

// A task's prompts, for responses that are given.
class GivenTask : public Task {
 public:
  explicit GivenTask(const Task& task) : task_(task) {
    format_.delimiter = task.format().delimiter;
    format_.max_step_tokens = kMostInTree;
    format_.max_steps = kMostInTree;
    format_.control_tokens = task.format().control_tokens;
  }
  std::string_view name() const override { return task_.name(); }
  absl::StatusOr<std::string> Render(const Problem& problem) const override {
    return task_.Render(problem);
  }
  const StepFormat& format() const override { return format_; }
  std::optional<std::string> FindAnswer(std::string_view) const override {
    return std::nullopt;
  }
  bool SameAnswer(std::string_view, std::string_view) const override {
    return false;
  }

 private:
  const Task& task_;
  StepFormat format_;
};

Co<> WalkSteps(SearchContext& ctx, const std::vector<std::string>& steps) {
  NodeId node = kRoot;
  std::vector<NodeId> path;
  for (const std::string& step : steps) {
    const Expansion next = co_await ctx.Expand(node, {.forced = step});
    if (next.samples.empty()) {
      ctx.Fail(absl::InvalidArgumentError(
          absl::StrCat("step ", path.size() + 1, " has more than ", kMostInTree,
                       " tokens, or the solution more steps than that")));
      co_return;
    }
    node = next.samples[0];
    path.push_back(node);
  }
  const Evaluation done = co_await ctx.Evaluate(path);
  if (done.done) ctx.Offer(node, 1);
}

// The search of a solution: a problem's id is its solution's index.
class GivenSteps : public SearchAlgorithm {
 public:
  // `level`: one that the reward model gives; all that it gives are read.
  GivenSteps(std::vector<std::vector<std::string>> steps, Level level)
      : steps_(std::move(steps)), level_(level) {}
  std::string_view name() const override { return "given_steps"; }
  const std::vector<RequestKind>& needs() const override { return needs_; }
  int models() const override { return 1; }
  int64_t responses_for_an_answer() const override { return 1; }
  std::vector<OptionInfo> options() const override { return {}; }
  ScoreRule score_rule() const override { return {.level = level_}; }
  Co<> Run(SearchContext& ctx) const override {
    size_t index = 0;
    ESP_CHECK(absl::SimpleAtoi(ctx.problem().id, &index));
    return WalkSteps(ctx, steps_[index]);
  }

 private:
  const std::vector<std::vector<std::string>> steps_;
  const Level level_;
  const std::vector<RequestKind> needs_ = {RequestKind::kExpand,
                                           RequestKind::kEvaluate};
};

class LocalScorer : public SolutionScorer {
 public:
  explicit LocalScorer(const EngineOptions& options)
      : executor_(options.threads), live_(options.live) {}

  absl::Status Load(const EngineOptions& options) {
    const std::string& folder = RewardModelName(options);
    const LoadOptions load = {.device = options.device,
                              .kv_bytes = options.kv_bytes,
                              .weights = options.weights,
                              .tokenizer = RewardFolder(options),
                              .server_attempts = options.server_attempts,
                              .server_timeout = options.server_timeout,
                              .notice = options.notice};
    ESP_ASSIGN_OR_RETURN(const std::optional<RewardFormat> format,
                         FindRewardFormat(folder, options.reward_format));
    if (format) {
      ESP_ASSIGN_OR_RETURN(
          LoadedRewardModel loaded,
          LoadRewardModel(folder, *format, load, executor_, options.reference));
      model_ = std::move(loaded.model);
      reference_ = std::move(loaded.reference);
      scorer_ = std::move(loaded.scorer);
    } else {
      ESP_ASSIGN_OR_RETURN(model_, LoadModel(folder, load, executor_));
      if (!model_.backend->capabilities().reward) {
        return absl::InvalidArgumentError(
            absl::StrCat(folder, ": the model has no reward head ",
                         "(reward_head.weight); it cannot score steps"));
      }
    }
    ESP_ASSIGN_OR_RETURN(calibration_, FindCalibration(options));
    return absl::OkStatus();
  }

  LevelSet levels() const override {
    return scorer_ != nullptr ? scorer_->levels()
                              : model_.backend->capabilities().levels;
  }

  absl::Status Score(
      absl::Span<const GivenSolution> solutions, const Task& task,
      const std::atomic<bool>* stop,
      const std::function<void(
          size_t, absl::StatusOr<std::vector<StepScores>>)>& on_done) override {
    const GivenTask given(task);
    const std::string& delimiter = given.format().delimiter;
    std::vector<Problem> problems;
    std::vector<std::vector<std::string>> all;
    for (const GivenSolution& solution : solutions) {
      ESP_CHECK(!solution.steps.empty());
      problems.push_back(
          {.id = absl::StrCat(problems.size()), .question = solution.question});
      auto& steps = all.emplace_back(solution.steps);
      for (std::string& step : steps) {
        step = EndedStep(std::move(step), delimiter);
      }
    }
    const GivenSteps algorithm(std::move(all), levels().first());
    // The critic's own tokens stand for the steps' in the search's tree.
    Runner runner({.policy = model_.backend.get(),
                   .policy_tokenizer = model_.tokenizer.get(),
                   .critic = model_.backend.get(),
                   .critic_tokenizer = model_.tokenizer.get(),
                   .scorer = scorer_.get(),
                   .reference = reference_.backend.get(),
                   .calibration = calibration_ ? &*calibration_ : nullptr},
                  executor_, live_);
    std::vector<StepScores> scores;  // of the solution that is done next
    const RunHooks hooks{.stop = stop};
    const SearchOptions options{.max_tokens = 0};
    return runner.Run({.problems = problems,
                       .task = &given,
                       .algorithm = &algorithm,
                       .options = &options,
                       .hooks = &hooks,
                       .on_done =
                           [&](size_t i, const SearchResult& result) {
                             if (!result.status.ok())
                               return on_done(i, result.status);
                             // A search that was stopped has no scores.
                             if (scores.size() != solutions[i].steps.size())
                               return;
                             on_done(i, std::exchange(scores, {}));
                           },
                       .on_tree =
                           [&](size_t, const Tree& tree) {
                             scores.clear();
                             for (NodeId id = 1;
                                  id < tree.size() && tree[id].scored(); ++id) {
                               scores.push_back(tree.scores(id));
                             }
                           }});
  }

 private:
  Executor executor_;
  const int live_;
  LoadedModel model_;
  LoadedModel reference_;                 // empty: the model needs none
  std::unique_ptr<RewardScorer> scorer_;  // of a published format, or null
  std::optional<Calibration> calibration_;
};

}  // namespace

std::string EndedStep(std::string step, const std::string& delimiter) {
  while (step.ends_with('\n')) step.pop_back();
  return step + delimiter;
}

absl::StatusOr<std::unique_ptr<SolutionScorer>> SolutionScorer::Load(
    const EngineOptions& models) {
  auto scorer = std::make_unique<LocalScorer>(models);
  ESP_RETURN_IF_ERROR(scorer->Load(models));
  return scorer;
}

}  // namespace espalier
