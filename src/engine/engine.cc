#include "espalier/engine.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/error_list.h"
#include "base/executor.h"
#include "base/status_macros.h"
#include "base/text.h"
#include "espalier/engine_options.h"
#include "espalier/search_source.h"
#include "models/remote/endpoint.h"
#include "models/remote/remote_backend.h"
#include "models/tokenizer/same_tokens.h"
#include "search/algorithm.h"
#include "src/engine/auto_method.h"
#include "src/engine/load_calibration.h"
#include "src/engine/load_model.h"
#include "src/engine/load_reward_model.h"
#include "src/engine/model_place.h"
#include "src/engine/runner.h"

namespace espalier {

namespace {

// A search that came from a SearchSource, with all that it refers to.
class ServedJob {
 public:
  // `models`: number of policy models.
  static absl::StatusOr<std::shared_ptr<const RunnerJob>> Create(
      std::shared_ptr<SearchJob> job, bool has_reward, int models) {
    ESP_CHECK(job->task != nullptr && job->hooks.recorder == nullptr);
    ESP_RETURN_IF_ERROR(
        CheckSearch(job->options, job->hooks.grade != nullptr, models));
    if (job->options.method == "auto") {
      job->options.method = AutoMethod(job->options.max_tokens, has_reward);
    }
    auto served = std::make_shared<ServedJob>();
    ESP_ASSIGN_OR_RETURN(served->algorithm_,
                         MakeAlgorithm(job->options.method));
    served->job_ = std::move(job);
    SearchJob& own = *served->job_;
    served->runner_job_ = {
        .problems = absl::MakeConstSpan(&own.problem, 1),
        .task = own.task.get(),
        .algorithm = served->algorithm_.get(),
        .options = &own.options,
        .hooks = &own.hooks,
        .on_done = [served = served.get()](size_t, SearchResult result) {
          result.configuration = CanonicalMethod(*served->algorithm_);
          served->job_->on_done(std::move(result));
        }};
    return std::shared_ptr<const RunnerJob>(served, &served->runner_job_);
  }

 private:
  std::shared_ptr<SearchJob> job_;
  std::unique_ptr<SearchAlgorithm> algorithm_;
  RunnerJob runner_job_;
};

bool AsksServer(const LoadedModel& model) {
  return model.backend != nullptr && model.trunk == nullptr;
}

bool TellsLogprobs(const LoadedModel& model) {
  return model.remote == nullptr || model.remote->facts().logprobs;
}

class LocalEngine : public Engine {
 public:
  explicit LocalEngine(const EngineOptions& options)
      : options_(options), executor_(options.threads) {}

  ~LocalEngine() override {
    const std::string note = TextsNote(policy_);
    if (options_.notice && !note.empty()) options_.notice(note);
  }

  absl::Status Load() {
    if (!options_.tokenizer.empty() && !IsRemoteModel(options_.policy)) {
      return absl::InvalidArgumentError(
          absl::StrCat(options_.tokenizer,
                       ": a tokenizer is named by --tokenizer, and the model ",
                       options_.policy, " has its own; leave it out"));
    }
    const LoadOptions load = {.device = options_.device,
                              .kv_bytes = options_.kv_bytes,
                              .weights = options_.weights,
                              .drafts = options_.drafts,
                              .tokenizer = options_.tokenizer,
                              .server_attempts = options_.server_attempts,
                              .server_timeout = options_.server_timeout,
                              .notice = options_.notice};
    ESP_ASSIGN_OR_RETURN(policy_, LoadModel(options_.policy, load, executor_));
    models_ = {policy_.backend.get(), policy_.tokenizer.get(),
               policy_.backend.get(), policy_.tokenizer.get()};
    models_.logprobs = TellsLogprobs(policy_);
    for (const std::string& folder : options_.more_policies) {
      ESP_ASSIGN_OR_RETURN(more_.emplace_back(),
                           LoadModel(folder, load, executor_));
      ESP_RETURN_IF_ERROR(CheckSameTokenizer(folder, "a further model",
                                             *more_.back().tokenizer));
      models_.more_policies.push_back(more_.back().backend.get());
      models_.logprobs &= TellsLogprobs(more_.back());
    }
    LoadOptions load_critic = load;
    load_critic.tokenizer = RewardFolder(options_);
    ESP_RETURN_IF_ERROR(LoadCritic(load_critic));
    LimitLive();
    ESP_ASSIGN_OR_RETURN(calibration_, FindCalibration(options_));
    if (calibration_) models_.calibration = &*calibration_;
    if (calibration_ && models_.scorer == nullptr &&
        !models_.critic->capabilities().reward) {
      return absl::InvalidArgumentError(
          "a calibration is named and no reward model; name its folder by "
          "--reward-model");
    }
    return absl::OkStatus();
  }

  // A server drops what it has cached of a text once it has no slot left for
  // it. A search that scores steps goes on from about four texts in turn.
  void LimitLive() {
    const int texts = options_.critic.empty() ? 1 : 4;
    for (const LoadedModel* model : {&policy_, &critic_}) {
      if (model->slots == 0) continue;
      options_.live =
          std::min(options_.live, std::max(1, model->slots / texts));
    }
  }

  absl::Status LoadCritic(const LoadOptions& load) {
    const std::string& named = options_.reward_format;
    if (options_.critic.empty() && !named.empty()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "the reward format ", named,
          " is named and no reward model; name its folder by --reward-model"));
    }
    if (!options_.reference.empty() && options_.critic.empty()) {
      return absl::InvalidArgumentError(absl::StrCat(
          options_.reference,
          ": a reference model is named and no reward model to compare with "
          "it; name its folder by --reward-model"));
    }
    if (options_.critic.empty() ||
        (options_.critic == options_.policy && named.empty() &&
         options_.reference.empty() && !IsRemoteModel(options_.critic))) {
      return absl::OkStatus();
    }
    ESP_ASSIGN_OR_RETURN(std::optional<RewardFormat> format,
                         FindRewardFormat(options_.critic, named));
    if (!format && HasOtherTokenizer(options_.critic)) {
      ESP_ASSIGN_OR_RETURN(format,
                           FindRewardFormat(options_.critic, "espalier"));
    }
    if (format) {
      ESP_ASSIGN_OR_RETURN(LoadedRewardModel loaded,
                           LoadRewardModel(options_.critic, *format, load,
                                           executor_, options_.reference));
      critic_ = std::move(loaded.model);
      reference_ = std::move(loaded.reference);
      models_.reference = reference_.backend.get();
      scorer_ = std::move(loaded.scorer);
      models_.critic = critic_.backend.get();
      models_.critic_tokenizer = critic_.tokenizer.get();
      models_.scorer = scorer_.get();
      return absl::OkStatus();
    }
    if (!options_.reference.empty()) {
      return absl::InvalidArgumentError(absl::StrCat(
          options_.reference, ": the heads of ", options_.critic,
          " have no use for a reference model; leave out --reference-model, or "
          "name a --reward-format that compares two models"));
    }
    ESP_ASSIGN_OR_RETURN(critic_, LoadModel(options_.critic, load, executor_));
    if (!critic_.backend->capabilities().reward) {
      return absl::InvalidArgumentError(
          absl::StrCat(options_.critic, ": the model has no reward head ",
                       "(reward_head.weight); it cannot score steps"));
    }
    ESP_RETURN_IF_ERROR(CheckSameTokenizer(options_.critic, "a reward model",
                                           *critic_.tokenizer));
    models_.critic = critic_.backend.get();
    models_.critic_tokenizer = critic_.tokenizer.get();
    return absl::OkStatus();
  }

  absl::Status SolveAll(
      absl::Span<const Problem> problems, const Task& task,
      const SearchOptions& options, const RunHooks& hooks,
      const std::function<void(size_t, SearchResult)>& on_done) override {
    ESP_RETURN_IF_ERROR(CheckSearch(options, hooks.grade != nullptr,
                                    1 + static_cast<int>(more_.size())));
    SearchOptions resolved = options;
    if (resolved.method == "auto") {
      resolved.method = AutoMethod(options.max_tokens, HasReward(hooks));
    }
    ESP_ASSIGN_OR_RETURN(const auto algorithm, MakeAlgorithm(resolved.method));
    const std::string configuration = CanonicalMethod(*algorithm);
    const auto report_done = [&](size_t i, SearchResult result) {
      result.configuration = configuration;
      on_done(i, std::move(result));
    };
    Runner runner(models_, executor_, options_.live, options_.speculate);
    const absl::Status status = runner.Run({.problems = problems,
                                            .task = &task,
                                            .algorithm = algorithm.get(),
                                            .options = &resolved,
                                            .hooks = &hooks,
                                            .on_done = report_done});
    reward_stats_.laid_out += runner.reward_stats().laid_out;
    reward_stats_.again += runner.reward_stats().again;
    return status;
  }

  void Serve(SearchSource& source) override {
    Runner runner(models_, executor_, options_.live, options_.speculate);
    runner.Serve([&](bool wait) -> std::shared_ptr<const RunnerJob> {
      while (std::shared_ptr<SearchJob> job = source.Next(wait)) {
        auto served = ServedJob::Create(job, HasReward(job->hooks),
                                        1 + static_cast<int>(more_.size()));
        if (served.ok()) return *std::move(served);
        job->on_done({.status = served.status()});
      }
      return nullptr;
    });
    reward_stats_.laid_out += runner.reward_stats().laid_out;
    reward_stats_.again += runner.reward_stats().again;
  }

  // True for a folder with a tokenizer whose tokens are not the policy's.
  bool HasOtherTokenizer(const std::string& folder) const {
    if (IsRemoteModel(folder)) return false;
    const auto tokenizer = Tokenizer::Load(folder);
    return tokenizer.ok() && !absl::EndsWith(folder, ".gguf") &&
           !CheckSameTokenizer(folder, "", **tokenizer).ok();
  }

  bool HasReward(const RunHooks& hooks) const {
    return hooks.reward != nullptr || models_.scorer != nullptr ||
           models_.critic->capabilities().reward;
  }

  // Further models, and reward heads of a GGUF file, read the policy's tokens.
  absl::Status CheckSameTokenizer(const std::string& folder,
                                  absl::string_view what,
                                  const Tokenizer& tokenizer) const {
    return CheckSameTokens(folder, std::string_view(what.data(), what.size()),
                           tokenizer, *policy_.tokenizer);
  }

  EngineStats stats() const override {
    EngineStats sum{.reward_tokens = reward_stats_.laid_out,
                    .reward_tokens_again = reward_stats_.again};
    std::vector<const Backend*> backends = {
        policy_.backend.get(), critic_.backend.get(), reference_.backend.get()};
    for (const LoadedModel& model : more_) {
      backends.push_back(model.backend.get());
    }
    for (const Backend* backend : backends) {
      if (backend == nullptr) continue;
      const BackendStats& stats = backend->stats();
      sum.tokens_generated += stats.tokens_generated;
      sum.tokens_needed += stats.tokens_needed;
      sum.tokens_computed += stats.tokens_computed;
      sum.tokens_recomputed += stats.tokens_recomputed;
      sum.tokens_shared += stats.tokens_shared;
      sum.tokens_drafted += stats.tokens_drafted;
      sum.drafts_accepted += stats.drafts_accepted;
      sum.batches += stats.steps;
      sum.rows += stats.rows;
    }
    sum.asks_servers = AsksServer(policy_) || AsksServer(critic_);
    if (policy_.remote != nullptr) {
      sum.texts_encoded = policy_.remote->text_stats().samples;
      sum.texts_missed = policy_.remote->text_stats().missed;
      sum.server_weights = policy_.remote->weights();
    }
    return sum;
  }

 private:
  EngineOptions options_;
  Executor executor_;
  LoadedModel policy_;
  LoadedModel critic_;                      // empty: the policy's trunk scores
  LoadedModel reference_;                   // empty: the critic needs none
  std::unique_ptr<RewardScorer> scorer_;    // of a published format, or null
  std::optional<Calibration> calibration_;  // of the critic's scores
  std::vector<LoadedModel> more_;           // further models that write
  RunnerModels models_;
  RewardReaderStats reward_stats_;
};

}  // namespace

absl::Status CheckSearch(const SearchOptions& options, bool graded,
                         int models) {
  ErrorList errors;
  const std::pair<const char*, double> budgets[] = {
      {"max_tokens", static_cast<double>(options.max_tokens)},
      {"max_model_calls", static_cast<double>(options.max_model_calls)},
      {"max_simulations", static_cast<double>(options.max_simulations)},
      {"max_nodes", static_cast<double>(options.max_nodes)},
      {"max_bytes", static_cast<double>(options.max_bytes)},
      {"max_verdict_tokens", static_cast<double>(options.max_verdict_tokens)},
      {"max_seconds", options.max_seconds},
      {"max_response_tokens", static_cast<double>(options.max_response_tokens)},
      {"response_tokens", static_cast<double>(options.response_tokens)},
      {"response_tokens_per_byte", options.response_tokens_per_byte},
  };
  for (const auto& [name, value] : budgets) {
    if (value >= 0) continue;  // NaN is not
    errors.Add(absl::StrCat("the budget ", name, " is ", value,
                            "; expected a positive number, or 0 for none"));
  }
  if (options.max_tokens == 0 && options.max_model_calls == 0 &&
      options.max_simulations == 0 && options.max_nodes == 0 &&
      options.max_bytes == 0 && options.max_seconds == 0) {
    errors.Add(
        "the budget is zero; give at least one of tokens, model calls, "
        "simulations, nodes, bytes or seconds");
  }
  if (!(options.stop_confidence >= 0 && options.stop_confidence <= 1) ||
      !(options.stop_kl >= 0) || options.stop_responses < 1 ||
      options.stop_interval < 1) {
    errors.Add(
        "a stop is out of range; expected a confidence from 0 to 1, a "
        "divergence of 0 or more, and 1 or more responses and simulations");
  }
  if (options.top_k < 0) {
    errors.Add(absl::StrCat("top_k is ", options.top_k,
                            "; expected 0 (all tokens) or more"));
  }
  if (!(options.top_p > 0 && options.top_p <= 1)) {
    errors.Add(absl::StrCat("top_p is ", options.top_p,
                            "; expected above 0 up to 1 (all tokens)"));
  }
  if (!(options.min_p >= 0 && options.min_p <= 1)) {
    errors.Add(absl::StrCat("min_p is ", options.min_p,
                            "; expected 0 (all tokens) to 1"));
  }
  if (options.method == "auto") return errors.Status();
  const auto algorithm = MakeAlgorithm(options.method);
  errors.Add(algorithm.status());
  if (!algorithm.ok()) return errors.Status();
  if ((*algorithm)->models() > models) {
    errors.Add(absl::FailedPreconditionError(absl::StrCat(
        "method ", AbslView((*algorithm)->name()), " with models=",
        (*algorithm)->models(), " needs as many policies, found ", models,
        "; name the others in EngineOptions::more_policies")));
  }
  for (const RequestKind kind : (*algorithm)->needs()) {
    if (kind != RequestKind::kGrade || graded) continue;
    errors.Add(absl::FailedPreconditionError(absl::StrCat(
        "method ", AbslView((*algorithm)->name()),
        " reads the reference answers while it searches, so it only labels "
        "training problems in a run that records (RunHooks::grade) and cannot "
        "answer questions")));
  }
  return errors.Status();
}

absl::StatusOr<std::unique_ptr<Engine>> Engine::Create(
    const EngineOptions& options) {
  auto engine = std::make_unique<LocalEngine>(options);
  ESP_RETURN_IF_ERROR(engine->Load());
  return engine;
}

void Engine::Serve(SearchSource& source) {
  while (const std::unique_ptr<SearchJob> job = source.Next(/*wait=*/true)) {
    job->on_done(Solve(job->problem, *job->task, job->options, job->hooks));
  }
}

SearchResult Engine::Solve(const Problem& problem, const Task& task,
                           const SearchOptions& options,
                           const RunHooks& hooks) {
  SearchResult out;
  const absl::Status status =
      SolveAll(absl::MakeConstSpan(&problem, 1), task, options, hooks,
               [&](size_t, SearchResult result) { out = std::move(result); });
  if (!status.ok()) out.status = status;
  return out;
}

}  // namespace espalier
