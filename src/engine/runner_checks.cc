// What a job needs of the models, checked before anything is computed.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/text.h"
#include "src/engine/logprob_readers.h"
#include "src/engine/prompted_task.h"
#include "src/engine/runner.h"

namespace espalier {
namespace {

bool Needs(const SearchAlgorithm& algorithm, RequestKind kind) {
  const auto& needs = algorithm.needs();
  return std::find(needs.begin(), needs.end(), kind) != needs.end();
}

}  // namespace

absl::Status Runner::CheckJob(const RunnerJob& job) const {
  const RunHooks& hooks = *job.hooks;
  if (hooks.verifier != nullptr && !hooks.verifier->intrinsic()) {
    return absl::InvalidArgumentError(
        absl::StrCat("verifier ", AbslView(hooks.verifier->name()),
                     " reads the reference answer; a search may use only "
                     "verifiers that read only the question"));
  }
  if (Needs(*job.algorithm, RequestKind::kEvaluate) &&
      hooks.reward == nullptr && models_.scorer == nullptr &&
      (models_.critic == nullptr || !models_.critic->capabilities().reward)) {
    return absl::FailedPreconditionError(absl::StrCat(
        "method ", AbslView(job.algorithm->name()),
        " scores steps, and this model has no reward head; name a model with "
        "one by --reward-model, or use majority or greedy"));
  }
  if (!models_.logprobs && ReadsLogprobs(*job.algorithm)) {
    return absl::FailedPreconditionError(absl::StrCat(
        "method ", CanonicalMethod(*job.algorithm),
        " reads log-probs of steps, and the server tells no log-probs; use a "
        "server that does, or a method that reads none, such as majority"));
  }
  if (ReadsLikelyTokens(*job.algorithm)) {
    for (const Backend* policy : policies_) {
      if (policy->capabilities().top_logprobs) continue;
      return absl::FailedPreconditionError(absl::StrCat(
          "method ", AbslView(job.algorithm->name()),
          " reads the log-probs of the most likely tokens, which this model "
          "does not return; use a model with weights, or the method confidence "
          "or majority"));
    }
  }
  const bool writes =
      models_.scorer != nullptr && models_.scorer->format().writes();
  if (job.options->max_verdict_tokens > 0 && !writes) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a budget of ", job.options->max_verdict_tokens,
        " verdict tokens, and no reward model that writes its verdicts; name "
        "one by --reward-model and --reward-format, or leave out "
        "--budget-verdict-tokens"));
  }
  if (Needs(*job.algorithm, RequestKind::kEvaluate)) {
    ESP_RETURN_IF_ERROR(CheckLevels(job));
  }
  if (job.algorithm->models() > static_cast<int>(policies_.size())) {
    return absl::FailedPreconditionError(
        absl::StrCat("method ", CanonicalMethod(*job.algorithm), " needs ",
                     job.algorithm->models(), " policies, found ",
                     policies_.size(), "; name more policies"));
  }
  if (Needs(*job.algorithm, RequestKind::kGrade) && !hooks.grade) {
    return absl::FailedPreconditionError(absl::StrCat(
        "method ", AbslView(job.algorithm->name()),
        " reads the reference answers while it searches, and these searches "
        "have none"));
  }
  if (!Needs(*job.algorithm, RequestKind::kVerify)) return absl::OkStatus();
  if (hooks.verifier == nullptr) return NoVerifier(job.algorithm->name());
  return hooks.verifier->Ready();
}

absl::Status Runner::CheckLevels(const RunnerJob& job) const {
  LevelWeights weights = job.algorithm->level_weights();
  if (!weights.given()) weights = level_weights(job);
  const LevelSet levels =
      job.hooks->reward != nullptr ? job.hooks->reward->levels()
      : models_.scorer != nullptr  ? models_.scorer->levels()
                                   : models_.critic->capabilities().levels;
  const ScoreRule rule = job.algorithm->score_rule();
  if (rule.lower_confidence > 0 && !levels.spread()) {
    return absl::FailedPreconditionError(absl::StrCat(
        "method ", CanonicalMethod(*job.algorithm), " has lower_confidence ",
        rule.lower_confidence, ", and the reward model gives no spread of its ",
        "scores; train one by train reward --ensemble 5, or leave the option ",
        "out"));
  }
  const std::string missing = MissingLevels(rule, weights, levels);
  if (missing.empty()) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      "method ", CanonicalMethod(*job.algorithm), " needs ", missing,
      "; name another level or aggregate, or another ", "reward model"));
}

LevelWeights Runner::level_weights(const RunnerJob& job) const {
  if (job.hooks->reward != nullptr || models_.critic == nullptr) return {};
  return models_.critic->capabilities().level_weights;
}

}  // namespace espalier
