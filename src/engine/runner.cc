#include "src/engine/runner.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/status_macros.h"
#include "base/text.h"
#include "models/prompt/encode_prompt.h"
#include "src/engine/log_ratio_reader.h"
#include "src/engine/verdict_reader.h"
#include "src/trace/search_recorder.h"

namespace espalier {
namespace {

// A sample's handle encodes its sequence and its policy.
constexpr int64_t kPolicies = 4;  // as many as roles that write
int64_t ToHandle(SeqId seq, int policy) { return seq * kPolicies + policy; }
SeqId SeqOf(int64_t handle) { return static_cast<SeqId>(handle / kPolicies); }
size_t PolicyOf(int64_t handle) {
  return static_cast<size_t>(handle % kPolicies);
}

// Index of the policy that plays `role`.
size_t PolicyOf(ModelRole role) {
  switch (role) {
    case ModelRole::kSecond:
      return 1;
    case ModelRole::kPlanner:
      return 2;
    case ModelRole::kProver:
      return 3;
    default:
      return 0;
  }
}

SampledStep ToStep(Continuation c, const Tokenizer& tokenizer, int policy) {
  SampledStep step{{}, tokenizer.Decode(c.tokens)};
  // A stop string ends the response and is not part of it.
  if (c.finish == Finish::kStop) step.text.resize(c.text_bytes);
  for (const float logprob : c.logprobs) step.logprob += logprob;
  static_cast<StepTokens&>(step) = std::move(c);
  step.ended = c.finish == Finish::kEnd || c.finish == Finish::kStop;
  step.truncated = c.finish == Finish::kLength;
  step.handle = ToHandle(c.seq, policy);
  return step;
}

bool StopRequested(const RunnerJob& job) {
  return job.hooks->stop != nullptr && job.hooks->stop->load();
}

}  // namespace

bool ServerIsGone(const absl::Status& status) {
  return absl::IsUnavailable(status) || absl::IsUnauthenticated(status);
}

Runner::Runner(RunnerModels models, Executor& executor, int session_limit,
               int speculate)
    : models_(models),
      executor_(executor),
      session_limit_(std::max(1, session_limit)),
      speculate_(speculate),
      checks_(executor.threads()) {
  ESP_CHECK(models_.policy != nullptr && models_.policy_tokenizer != nullptr);
  policies_ = {models_.policy};
  policies_.insert(policies_.end(), models_.more_policies.begin(),
                   models_.more_policies.end());
  ESP_CHECK(static_cast<int64_t>(policies_.size()) <= kPolicies);
}

absl::Status Runner::Run(const RunnerJob& job) {
  ESP_RETURN_IF_ERROR(CheckJob(job));
  job_ = std::shared_ptr<const RunnerJob>(std::shared_ptr<void>(), &job);
  begun_ = 0;
  const absl::Status status = RunAll();
  // Searches are left over only after an error, or a stop of a recorded run.
  for (auto& session : sessions_) {
    CancelRequests(*session);
    ReleaseRest(*session);
  }
  sessions_.clear();
  checks_.Clear();
  job_ = nullptr;
  ESP_CHECK(pending_.empty());
  return status;
}

void Runner::Serve(const NextJob& next) {
  serving_ = true;
  for (;;) {
    while (static_cast<int>(sessions_.size()) < session_limit_) {
      std::shared_ptr<const RunnerJob> job = next(sessions_.empty());
      if (job == nullptr) break;
      absl::Status status = CheckJob(*job);
      if (status.ok()) {
        auto session = NewSession(job, 0);
        status = OpenSequences(*session);
        if (status.ok()) sessions_.push_back(std::move(session));
      }
      if (!status.ok()) job->on_done(0, {.status = std::move(status)});
    }
    if (sessions_.empty()) break;
    // Only recorders fail as a whole.
    ESP_CHECK(Advance().ok());
    ESP_CHECK(StepModels().ok());
  }
  serving_ = false;
}

absl::Status Runner::RunAll() {
  SearchRecorder* recorder = job_->hooks->recorder;
  ESP_RETURN_IF_ERROR(AdmitMore());
  while (!sessions_.empty()) {
    ESP_RETURN_IF_ERROR(Advance());
    ESP_RETURN_IF_ERROR(AdmitMore());
    if (recorder != nullptr) {
      ESP_RETURN_IF_ERROR(recorder->Flush());
      if (StopRequested(*job_)) return absl::OkStatus();
    }
    ESP_RETURN_IF_ERROR(StepModels());
  }
  return recorder != nullptr ? recorder->Flush() : absl::OkStatus();
}

absl::Status Runner::Advance() {
  ResumeAll();
  for (auto& session : sessions_) {
    if (!session->lost) ESP_RETURN_IF_ERROR(Dispatch(*session));
  }
  ESP_RETURN_IF_ERROR(FinishDone());
  ReportProgress();
  return absl::OkStatus();
}

absl::Status Runner::StepModels() {
  bool stepped = false;
  for (size_t i = 0; i < policies_.size(); ++i) {
    ESP_RETURN_IF_ERROR(
        StepBackend(policies_[i], static_cast<int>(i), stepped));
  }
  if (models_.critic != nullptr && models_.critic != models_.policy) {
    ESP_RETURN_IF_ERROR(StepBackend(models_.critic, -1, stepped));
  }
  if (models_.reference != nullptr) {
    ESP_RETURN_IF_ERROR(StepBackend(models_.reference, -1, stepped));
  }
  const bool news = std::any_of(sessions_.begin(), sessions_.end(),
                                [](const auto& l) { return l->has_news; });
  ESP_RETURN_IF_ERROR(TakeChecks(!stepped && !news));
  EndStopped();
  return absl::OkStatus();
}

absl::Status Runner::AdmitMore() {
  const RunnerJob& job = *job_;
  while (static_cast<int>(sessions_.size()) < session_limit_ &&
         !StopRequested(job)) {
    ESP_ASSIGN_OR_RETURN(const std::optional<size_t> next, NextProblem());
    if (!next) break;
    ++begun_;
    const size_t index = *next;
    auto session = NewSession(job_, index);
    const absl::Status status = OpenSequences(*session);
    if (status.ok()) {
      sessions_.push_back(std::move(session));
      continue;
    }
    const SearchResult result{.status = status};
    if (job.hooks->recorder != nullptr) {
      ESP_RETURN_IF_ERROR(job.hooks->recorder->Finish(
          index, session->context().tree(), result));
    }
    job.on_done(index, result);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::optional<size_t>> Runner::NextProblem() {
  const size_t all = job_->problems.size();
  SearchRecorder* recorder = job_->hooks->recorder;
  if (recorder != nullptr) {
    return recorder->Claim(
        begun_, all, static_cast<size_t>(session_limit_) - sessions_.size());
  }
  if (begun_ == all) return std::nullopt;
  return begun_;
}

std::unique_ptr<SearchSession> Runner::NewSession(
    std::shared_ptr<const RunnerJob> job, size_t index) const {
  auto session = std::make_unique<SearchSession>(index, job->problems[index],
                                                 *job->task, *job->options);
  session->context().tree().set_level_weights(level_weights(*job));
  if (models_.scorer != nullptr && job->hooks->reward == nullptr) {
    session->context().SetVerdictCost(VerdictCostOf(models_.scorer->format()));
  }
  session->started = Clock::Real().Seconds();
  session->job = std::move(job);
  return session;
}

absl::Status Runner::OpenSequences(SearchSession& session) {
  const Problem& problem = session.job->problems[session.index()];
  ESP_ASSIGN_OR_RETURN(const std::string prompt,
                       session.job->task->Render(problem));
  const bool control_tokens = session.job->task->format().control_tokens;
  const auto open = [&](Backend* backend, const Tokenizer* tokenizer,
                        std::shared_ptr<NodeSequences>& out) -> absl::Status {
    ESP_ASSIGN_OR_RETURN(const std::vector<int32_t> tokens,
                         EncodePrompt(*tokenizer, prompt, control_tokens));
    const int room = backend->capabilities().context_length;
    if (static_cast<int>(tokens.size()) >= room) {
      return absl::InvalidArgumentError(absl::StrCat(
          "the question takes ", tokens.size(), " tokens and the model's ",
          "context is ", room,
          "; shorten the question or use a model with a longer context"));
    }
    session.prompt_tokens = static_cast<int64_t>(tokens.size());
    out = std::make_shared<NodeSequences>(backend,
                                          backend->Extend(kEmptySeq, tokens));
    return absl::OkStatus();
  };
  for (Backend* policy : policies_) {
    ESP_RETURN_IF_ERROR(open(policy, models_.policy_tokenizer,
                             session.policies.emplace_back()));
  }
  if (models_.scorer != nullptr) {
    ESP_RETURN_IF_ERROR(OpenReader(
        session, models_.scorer->format().prompt ? prompt : problem.question));
  }
  if (models_.critic == models_.policy || models_.critic == nullptr ||
      models_.scorer != nullptr) {
    session.critic = session.policies[0];
    return absl::OkStatus();
  }
  return open(models_.critic, models_.critic_tokenizer, session.critic);
}

absl::Status Runner::OpenReader(SearchSession& session, std::string question) {
  if (models_.scorer->format().compares()) {
    ESP_CHECK(models_.reference != nullptr);
    ESP_ASSIGN_OR_RETURN(
        session.judge,
        LogRatioReader::Open(*models_.scorer, *models_.critic,
                             *models_.reference, std::move(question)));
    return absl::OkStatus();
  }
  if (models_.scorer->format().writes()) {
    ESP_ASSIGN_OR_RETURN(
        session.judge,
        VerdictReader::Open(*models_.scorer, *models_.critic,
                            *models_.critic_tokenizer, std::move(question),
                            session.job->options->seed));
    return absl::OkStatus();
  }
  ESP_ASSIGN_OR_RETURN(session.reader,
                       RewardReader::Open(*models_.scorer, *models_.critic,
                                          std::move(question)));
  return absl::OkStatus();
}

void Runner::ResumeAll() {
  std::vector<SearchSession*> ready;
  for (auto& session : sessions_) {
    if (session->has_news && !session->lost) ready.push_back(session.get());
  }
  executor_.ParallelFor(static_cast<int>(ready.size()), 1,
                        [&](int begin, int end) {
                          for (int i = begin; i < end; ++i) {
                            ready[static_cast<size_t>(i)]->Resume(
                                *ready[static_cast<size_t>(i)]->job->algorithm);
                          }
                        });
}

absl::Status Runner::Dispatch(SearchSession& session) {
  for (const AdoptedSample& adopted : session.driver().TakeAdopted()) {
    if (adopted.is_new) {
      session.policies[PolicyOf(adopted.handle)]->Adopt(adopted.node,
                                                        SeqOf(adopted.handle));
    } else {
      ReleaseHandle(adopted.handle);
    }
  }
  for (const auto& [node, priority] : session.driver().TakeRetentions()) {
    for (const auto& policy : session.policies)
      policy->SetRetention(node, priority);
    if (session.critic != session.policies[0])
      session.critic->SetRetention(node, priority);
    if (session.reader != nullptr) session.reader->SetRetention(node, priority);
    if (session.judge != nullptr) session.judge->SetRetention(node, priority);
  }
  SearchRecorder* recorder = session.job->hooks->recorder;
  for (SearchRequest& request : session.driver().TakeRequests()) {
    if (recorder != nullptr) {
      ESP_ASSIGN_OR_RETURN(std::optional<SearchCompletion> known,
                           recorder->Recall(session.index(), request));
      if (known) {
        if (session.judge != nullptr &&
            request.kind == RequestKind::kEvaluate) {
          session.judge->Recall(session.context().tree(), request.nodes,
                                *known);
        }
        session.driver().Put(*std::move(known));
        session.has_news = true;
        continue;
      }
    }
    ESP_RETURN_IF_ERROR(Send(session, std::move(request)));
  }
  return absl::OkStatus();
}

absl::Status Runner::Send(SearchSession& session, SearchRequest request) {
  switch (request.kind) {
    case RequestKind::kExpand: {
      const size_t policy = PolicyOf(request.by);
      if (policy >= policies_.size()) {
        return Deliver(session, request,
                       {.number = request.number,
                        .status = absl::FailedPreconditionError(
                            "no model is bound to the role of this request")});
      }
      if (!request.expand.forced.empty()) {
        return Force(session, request, static_cast<int>(policy));
      }
      if ((request.expand.top_logprobs > 0 ||
           request.expand.alternatives > 0) &&
          !policies_[policy]->capabilities().top_logprobs) {
        return Deliver(
            session, request,
            {.number = request.number,
             .status = absl::FailedPreconditionError(absl::StrCat(
                 "method ", AbslView(session.job->algorithm->name()),
                 " reads the log-probs of the most likely tokens, which this "
                 "model does not return; use a model with weights, or the "
                 "method confidence or majority"))});
      }
      if (request.expand.hidden &&
          policies_[policy]->capabilities().hidden_size == 0) {
        return Deliver(session, request,
                       {.number = request.number,
                        .status = absl::FailedPreconditionError(absl::StrCat(
                            "method ", AbslView(session.job->algorithm->name()),
                            " reads hidden states, which this model does not "
                            "return; use a model with weights"))});
      }
      GenerateRequest body = ToGenerate(session, request, policy);
      if (speculate_ > 0) {
        return SendOrTakeAhead(session, std::move(request), policy,
                               std::move(body));
      }
      Submit(session, *policies_[policy], std::move(request),
             {.body = std::move(body)});
      return absl::OkStatus();
    }
    case RequestKind::kEvaluate: {
      const std::vector<NodeId> nodes = request.nodes;
      const RunHooks& hooks = *session.job->hooks;
      ESP_RETURN_IF_ERROR(hooks.reward != nullptr
                              ? RunCheck(session, std::move(request))
                              : SendEvaluate(session, std::move(request)));
      const bool waits = hooks.reward == nullptr || hooks.background_checks;
      if (speculate_ > 0 && waits) SampleAhead(session, nodes);
      return absl::OkStatus();
    }
    case RequestKind::kVerify:
    case RequestKind::kGrade:
      return RunCheck(session, std::move(request));
    default:
      return Deliver(session, request,
                     {.number = request.number,
                      .status = absl::UnimplementedError(absl::StrCat(
                          "no backend answers ",
                          AbslView(RequestKindName(request.kind))))});
  }
}

GenerateRequest Runner::ToGenerate(SearchSession& session,
                                   const SearchRequest& request,
                                   size_t policy) const {
  const SearchOptions& options = *session.job->options;
  const SampleFilter filter = request.expand.filter.value_or(SampleFilter{
      .top_k = options.top_k, .top_p = options.top_p, .min_p = options.min_p});
  std::vector<std::string> stops = session.job->task->format().stop_strings;
  stops.insert(stops.end(), request.expand.stop_strings.begin(),
               request.expand.stop_strings.end());
  return {.from = session.policies[policy]->Of(session.context().tree(),
                                               request.nodes[0]),
          .n = request.expand.n,
          .sampling = {.temperature = request.expand.temperature,
                       .top_k = filter.top_k,
                       .top_p = filter.top_p,
                       .min_p = filter.min_p},
          .stop = {.delimiter = session.job->task->format().delimiter,
                   .max_tokens = request.max_tokens,
                   .stop_strings = std::move(stops)},
          .stream = request.stream,
          .first_sample = request.first_sample,
          .top_alternatives = request.expand.alternatives,
          .top_logprobs = request.expand.top_logprobs,
          .hidden = request.expand.hidden};
}

SearchCompletion Runner::Completed(SearchSession& session,
                                   const SearchRequest& request,
                                   std::vector<Continuation> continuations,
                                   int policy) const {
  SearchCompletion out{.number = request.number};
  for (Continuation& c : continuations) {
    ESP_CHECK(policy >= 0);
    SampledStep& step = out.samples.emplace_back(
        ToStep(std::move(c), *models_.policy_tokenizer, policy));
    if (step.truncated && IsSegment(session, request, step)) {
      step.truncated = false;
    }
  }
  return out;
}

absl::Status Runner::SendEvaluate(SearchSession& session,
                                  SearchRequest request) {
  const Tree& tree = session.context().tree();
  if (session.judge != nullptr) {
    session.judge->Ask(request.number, tree, request.nodes, request.max_tokens);
    session.judged.emplace(request.number, std::move(request));
    return ServeJudge(session);
  }
  if (session.reader == nullptr) {
    ScoreRequest body;
    for (const NodeId node : request.nodes) {
      body.sequences.push_back(session.critic->Of(tree, node));
    }
    Submit(session, *models_.critic, std::move(request),
           {.body = std::move(body)});
    return absl::OkStatus();
  }
  absl::StatusOr<RewardQuery> query = session.reader->Ask(tree, request.nodes);
  if (!query.ok()) {
    return Deliver(session, request,
                   {.number = request.number, .status = query.status()});
  }
  const RequestId id = Await(session, std::move(request));
  pending_[id].read = std::move(query->nodes);
  models_.critic->Submit({.id = id, .body = std::move(query->request)});
  return absl::OkStatus();
}

absl::Status Runner::ServeJudge(SearchSession& session) {
  StepJudge& judge = *session.judge;
  for (StepJudge::Part& part : judge.TakeParts()) {
    const RequestId id = Await(session, {});
    pending_[id].part = part.id;
    part.request.id = id;
    part.backend->Submit(std::move(part.request));
  }
  absl::Status status;
  for (SearchCompletion& scored : judge.TakeScored(session.context().tree())) {
    const auto asked = session.judged.extract(scored.number);
    status.Update(Deliver(session, asked.mapped(), std::move(scored)));
  }
  return status;
}

absl::Status Runner::Force(SearchSession& session, const SearchRequest& request,
                           int policy) {
  SearchCompletion completion{.number = request.number};
  SampledStep step{{}, std::string(request.expand.forced)};
  auto tokens = models_.policy_tokenizer->EncodeContinuation(step.text);
  if (!tokens.ok()) {
    completion.status = tokens.status();
    return Deliver(session, request, std::move(completion));
  }
  step.tokens = *std::move(tokens);
  // No sample if it does not fit into the budget.
  if (static_cast<int>(step.tokens.size()) <= request.max_tokens) {
    // Forced tokens have probability 1 under the sampler.
    step.logprobs.assign(step.tokens.size(), 0);
    step.sampler_logprobs = step.logprobs;
    NodeSequences& sequences = *session.policies[static_cast<size_t>(policy)];
    const SeqId from = sequences.Of(session.context().tree(), request.nodes[0]);
    step.handle =
        ToHandle(sequences.backend()->Extend(from, step.tokens), policy);
    completion.samples.push_back(std::move(step));
  }
  return Deliver(session, request, std::move(completion));
}

void Runner::Submit(SearchSession& session, Backend& backend,
                    SearchRequest request, Request body) {
  body.id = Await(session, std::move(request));
  backend.Submit(std::move(body));
}

RequestId Runner::Await(SearchSession& session, SearchRequest request) {
  const RequestId id = next_request_++;
  pending_[id] = {&session, std::move(request)};
  session.in_flight.insert(id);
  return id;
}

BackgroundChecks::Check Runner::MakeCheck(SearchSession& session,
                                          const SearchRequest& request) const {
  // A check that has begun may outlive its search, so it holds the job.
  const std::shared_ptr<const RunnerJob> job = session.job;
  const size_t index = session.index();
  std::vector<std::string> responses;
  for (const NodeId node : request.nodes) {
    responses.push_back(session.context().tree().Response(node));
  }
  SearchCompletion out{.number = request.number};
  if (request.kind == RequestKind::kVerify) {
    return [job, index, responses = std::move(responses), out]() mutable {
      out.correct =
          job->hooks->verifier->Check(job->problems[index], {}, responses[0])
              .correct;
      return std::move(out);
    };
  }
  if (request.kind == RequestKind::kGrade) {
    return [job, index, responses = std::move(responses), out]() mutable {
      const std::optional<bool> correct =
          job->hooks->grade(index, responses[0]);
      out.correct = correct.value_or(false);
      if (!correct) {
        out.status = absl::FailedPreconditionError(
            absl::StrCat("problem ", job->problems[index].id,
                         " has no reference answer, and method ",
                         AbslView(job->algorithm->name()), " needs one"));
      }
      return std::move(out);
    };
  }
  return [job, index, responses = std::move(responses), out]() mutable {
    const auto scores =
        job->hooks->reward->Score(job->problems[index], responses);
    out.status = scores.status();
    if (scores.ok()) {
      out.scores = *scores;
    }
    return std::move(out);
  };
}

absl::Status Runner::RunCheck(SearchSession& session, SearchRequest request) {
  BackgroundChecks::Check check = MakeCheck(session, request);
  if (!session.job->hooks->background_checks)
    return Deliver(session, request, check());
  checks_.Ask(Await(session, std::move(request)), std::move(check));
  return absl::OkStatus();
}

absl::Status Runner::TakeChecks(bool wait) {
  absl::Status status;
  for (auto& [id, completion] : checks_.Take(wait)) {
    const auto it = pending_.find(id);
    if (it == pending_.end()) continue;  // cancelled while in flight
    const PendingRequest pending = std::move(it->second);
    pending_.erase(it);
    pending.session->in_flight.erase(id);
    status.Update(
        Deliver(*pending.session, pending.request, std::move(completion)));
  }
  return status;
}

absl::Status Runner::Deliver(SearchSession& session,
                             const SearchRequest& request,
                             SearchCompletion completion) {
  absl::Status status;
  Calibrate(*session.job->hooks, completion.scores);
  if (session.job->hooks->recorder != nullptr) {
    status = session.job->hooks->recorder->Append(session.index(), request,
                                                  completion);
  }
  // Even if recording failed: the search owns what the completion holds.
  session.driver().Put(std::move(completion));
  session.has_news = true;
  return status;
}

void Runner::Calibrate(const RunHooks& hooks,
                       std::vector<StepScores>& scores) const {
  // A reward model of the caller's has scores of its own.
  if (models_.calibration == nullptr || hooks.reward != nullptr) return;
  const bool path_is_of_steps =
      models_.scorer != nullptr && models_.scorer->format().path_from_steps();
  for (StepScores& one : scores) {
    one = models_.calibration->Apply(one, path_is_of_steps);
  }
}

absl::Status Runner::StepBackend(Backend* backend, int policy, bool& stepped) {
  std::vector<Completion> done;
  stepped |= backend->Step(done);
  absl::Status status;
  for (Completion& completion : done) {
    const auto it = pending_.find(completion.id);
    ESP_CHECK(it != pending_.end());
    const PendingRequest pending = std::move(it->second);
    pending_.erase(it);
    if (pending.ahead) {
      pending.session->in_flight.erase(completion.id);
      status.Update(TakeAhead(*pending.session, std::move(completion), policy));
      continue;
    }
    if (ServerIsGone(completion.status) && !serving_) {
      // Not this search's failure: the run ends, and may be resumed.
      pending.session->in_flight.erase(completion.id);
      status.Update(completion.status);
      continue;
    }
    if (pending.part != 0) {
      SearchSession& session = *pending.session;
      session.in_flight.erase(completion.id);
      session.judge->Answer(pending.part, session.context().tree(),
                            std::move(completion));
      status.Update(ServeJudge(session));
      continue;
    }
    SearchCompletion out =
        Completed(*pending.session, pending.request,
                  std::move(completion.continuations), policy);
    out.status = completion.status;
    out.scores = std::move(completion.scores);
    if (pending.request.kind == RequestKind::kEvaluate &&
        pending.session->reader != nullptr && completion.status.ok()) {
      RewardReader& reader = *pending.session->reader;
      reader.Take(pending.read, completion.rows);
      for (const NodeId node : pending.request.nodes) {
        out.scores.push_back(
            reader.Score(pending.session->context().tree(), node));
      }
    }
    pending.session->in_flight.erase(completion.id);
    status.Update(Deliver(*pending.session, pending.request, std::move(out)));
  }
  return status;
}

bool Runner::IsSegment(SearchSession& session, const SearchRequest& request,
                       const SampledStep& step) const {
  const StepFormat& format = session.job->task->format();
  const auto full = static_cast<size_t>(format.max_step_tokens);
  if (!format.segments || step.tokens.size() < full) return false;
  // Nothing can follow at the end of the context: the response is truncated.
  const Tree& tree = session.context().tree();
  int64_t length =
      session.prompt_tokens + static_cast<int64_t>(step.tokens.size());
  for (const NodeId id : tree.Path(request.nodes[0])) {
    length += static_cast<int64_t>(tree.tokens(id).size());
  }
  return length < models_.policy->capabilities().context_length;
}

void Runner::CancelRequests(SearchSession& session) {
  for (const RequestId id : session.in_flight) {
    for (Backend* policy : policies_) policy->Cancel(id);
    if (models_.critic != nullptr) models_.critic->Cancel(id);
    if (models_.reference != nullptr) models_.reference->Cancel(id);
    checks_.Cancel(id);
    pending_.erase(id);
  }
  session.in_flight.clear();
  session.ahead.DropUnderWay();
  session.judged.clear();
  if (session.judge != nullptr) session.judge->Cancel();
}

void Runner::ReleaseHandle(int64_t handle) {
  policies_[PolicyOf(handle)]->Release(SeqOf(handle));
}

void Runner::ReleaseRest(SearchSession& session) {
  if (session.reader != nullptr) {
    reward_stats_.laid_out += session.reader->stats().laid_out;
    reward_stats_.again += session.reader->stats().again;
  }
  if (session.judge != nullptr) {
    reward_stats_.laid_out += session.judge->stats().laid_out;
    reward_stats_.again += session.judge->stats().again;
  }
  session.ahead.DropAll();
  ReleaseSpare(session);
  // Samples that became nodes since the last Dispatch.
  for (const AdoptedSample& adopted : session.driver().TakeAdopted()) {
    ReleaseHandle(adopted.handle);
  }
  for (const int64_t handle : session.driver().UndeliveredHandles()) {
    ReleaseHandle(handle);
  }
}

void Runner::EndStopped() {
  const double now = Clock::Real().Seconds();
  for (auto& session : sessions_) {
    // A stop falls between two deliveries, so that a replay can repeat it.
    if (!session->begun() || session->lost) continue;
    const RunnerJob& job = *session->job;
    SearchRecorder* recorder = job.hooks->recorder;
    if (recorder != nullptr && recorder->Lost(session->index())) {
      session->lost = true;
      continue;
    }
    // A recorded run leaves its searches to the run that resumes it.
    const bool stop = StopRequested(job) && recorder == nullptr;
    const double limit = job.options->max_seconds;
    const bool late = limit > 0 && now - session->started >= limit;
    if (!(stop || late) || session->driver().halted()) continue;
    session->driver().Stop(stop ? std::string(kStoppedFromOutside)
                                : absl::StrCat("time limit of ", limit, " s"));
    if (recorder != nullptr) {
      recorder->Stop(session->index(), session->driver().next_delivery(),
                     session->driver().stop_reason());
    }
    // Unanswered requests complete as cancelled.
    std::vector<uint64_t> unanswered;
    for (const RequestId id : session->in_flight) {
      const PendingRequest& pending = pending_.at(id);
      if (pending.ahead) {
        const auto number = session->ahead.AskedBy(id);
        if (number) unanswered.push_back(*number);
      } else if (pending.part == 0) {
        unanswered.push_back(pending.request.number);
      }
    }
    for (const auto& [number, request] : session->judged) {
      unanswered.push_back(number);
    }
    CancelRequests(*session);
    for (const uint64_t number : unanswered) {
      session->driver().Put(
          {.number = number, .status = absl::CancelledError("search stopped")});
    }
    session->has_news = true;
  }
}

void Runner::ReportProgress() {
  const double now = Clock::Real().Seconds();
  for (auto& session : sessions_) {
    const RunHooks& hooks = *session->job->hooks;
    if (!hooks.on_progress) continue;
    if (session->shown >= 0 && now - session->shown < hooks.progress_interval) {
      continue;
    }
    session->shown = now;
    SearchSnapshot shot = session->Snapshot();
    shot.seconds = now - session->started;
    hooks.on_progress(session->index(), shot);
  }
}

absl::Status Runner::FinishDone() {
  absl::Status status;
  const auto finish = [&](std::unique_ptr<SearchSession>& session) {
    if (!(session->over() || session->lost) || !status.ok()) return false;
    const RunnerJob& job = *session->job;
    CancelRequests(*session);
    ReleaseRest(*session);
    if (session->lost) return true;
    SearchResult result = session->Result();
    if (serving_ && result.steps.empty()) session->FillUnfinished(result);
    if (job.options->keep_tree) result.tree = session->TreeAsText();
    result.speculated_tokens = session->ahead.unused_tokens();
    result.seconds = Clock::Real().Seconds() - session->started;
    if (job.on_tree && result.status.ok()) {
      job.on_tree(session->index(), session->context().tree());
    }
    if (job.hooks->recorder != nullptr) {
      status.Update(job.hooks->recorder->Finish(
          session->index(), session->context().tree(), result));
    }
    job.on_done(session->index(), std::move(result));
    return true;
  };
  sessions_.erase(std::remove_if(sessions_.begin(), sessions_.end(), finish),
                  sessions_.end());
  return status;
}

}  // namespace espalier
