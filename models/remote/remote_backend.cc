#include "models/remote/remote_backend.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/parse_json.h"
#include "base/random.h"
#include "base/status_macros.h"
#include "base/text.h"
#include "models/remote/reply_fields.h"
#include "models/remote/server_probe.h"
#include "models/remote/text_sample.h"
#include "models/schedule/request_check.h"
#include "models/schedule/stop_matcher.h"
#include "nlohmann/json.hpp"

namespace espalier {
namespace {

// Servers take seeds of 31 bits.
uint32_t SeedOf(const StreamKey& key) {
  return static_cast<uint32_t>(MixHash(key.hi, key.lo) >> 33);
}

bool NoFilter(const SamplingOptions& s) {
  return s.top_k == 0 && s.top_p == 1 && s.min_p == 0 &&
         s.repetition_penalty == 1;
}

std::vector<std::string> StopsOf(const StopRule& rule) {
  std::vector<std::string> stops = rule.stop_strings;
  if (!rule.delimiter.empty()) stops.push_back(rule.delimiter);
  return stops;
}

// The delimiter, which ends most texts, first.
std::vector<std::string> LikelyStops(const StopRule& rule) {
  std::vector<std::string> stops = StopsOf(rule);
  std::reverse(stops.begin(), stops.end());
  return stops;
}

int TopOf(const GenerateRequest& request) {
  return std::max(request.top_alternatives, request.top_logprobs);
}

// Tokens of a call's prompt that the server ran. `reply`: GenerationReply or
// GivenReply; `text`: what was asked about, at least as long as the prompt.
int64_t PromptComputed(const auto& reply, const std::vector<int32_t>& text) {
  const auto longest = static_cast<int64_t>(text.size());
  const int64_t prompt = reply.prompt_tokens > 0
                             ? std::min(reply.prompt_tokens, longest)
                             : longest;
  return std::max<int64_t>(0, prompt - reply.cached_tokens);
}

}  // namespace

absl::StatusOr<std::unique_ptr<RemoteBackend>> RemoteBackend::Connect(
    const RemoteModel& model, const Tokenizer& tokenizer,
    const RemoteOptions& options) {
  ESP_CHECK(!model.servers.empty());
  ServerFacts facts;
  for (size_t i = 0; i < model.servers.size(); ++i) {
    const Endpoint& endpoint = model.servers[i];
    ESP_ASSIGN_OR_RETURN(
        ServerFacts other,
        ProbeServer(endpoint, model.name, tokenizer, options.http));
    if (i == 0) {
      facts = std::move(other);
      continue;
    }
    if (other.kind != facts.kind || other.model != facts.model ||
        other.weights != facts.weights || other.logprobs != facts.logprobs) {
      return absl::InvalidArgumentError(absl::StrCat(
          endpoint.Url(), ": the server offers ", other.model, " (",
          AbslView(ServerKindName(other.kind)), " ", other.weights, "), and ",
          model.servers[0].Url(), " ", facts.model, " (",
          AbslView(ServerKindName(facts.kind)), " ", facts.weights,
          "); servers of one --model must offer the same"));
    }
    facts.context_length = std::min(facts.context_length, other.context_length);
    facts.several = facts.several && other.several;
  }
  return std::unique_ptr<RemoteBackend>(
      new RemoteBackend(model, tokenizer, options, std::move(facts)));
}

namespace {

CallPoolOptions CallsOf(const RemoteOptions& options, ServerKind kind) {
  CallPoolOptions calls = options.calls;
  calls.keep_idle = kind != ServerKind::kLlamaServer;
  return calls;
}

}  // namespace

RemoteBackend::RemoteBackend(const RemoteModel& model,
                             const Tokenizer& tokenizer,
                             const RemoteOptions& options, ServerFacts facts)
    : tokenizer_(tokenizer),
      options_(options),
      facts_(std::move(facts)),
      dialect_(MakeDialect(facts_)),
      // Scoring a text takes one token more, which servers draw and drop.
      capabilities_({.context_length = facts_.context_length - 1,
                     .score_text = !dialect_->speaks_texts(),
                     .top_logprobs = !dialect_->speaks_texts(),
                     .logits = !dialect_->speaks_texts()}),
      servers_(model.servers.size()),
      pool_(model.servers, options.http, CallsOf(options, facts_.kind)) {
  if (!facts_.weights.empty()) weights_.push_back(facts_.weights);
}

RemoteBackend::~RemoteBackend() = default;

SeqId RemoteBackend::Extend(SeqId parent, absl::Span<const int32_t> tokens) {
  const int before = tree_.live();
  const SeqId seq = tree_.Extend(parent, tokens);
  if (tree_.live() > before) {
    stats_.tokens_needed += static_cast<int64_t>(tokens.size());
  }
  return seq;
}

void RemoteBackend::Release(SeqId seq) { tree_.Release(seq); }

absl::Status RemoteBackend::Check(const Request& request) const {
  if (dialect_->speaks_texts() &&
      !std::holds_alternative<GenerateRequest>(request.body)) {
    return absl::FailedPreconditionError(
        "the server speaks texts (OpenAI's /v1/completions) and cannot score a "
        "given text; expected llama-server, vLLM or SGLang");
  }
  if (dialect_->speaks_texts() &&
      TopOf(std::get<GenerateRequest>(request.body)) > 0) {
    return absl::FailedPreconditionError(
        "the server speaks texts (OpenAI's /v1/completions) and does not tell "
        "the most likely tokens; expected llama-server, vLLM or SGLang");
  }
  return CheckRequest(request,
                      {.end = [this](SeqId seq) { return tree_.end(seq); },
                       .check =
                           [this](SeqId seq) {
                             return CheckPath(tree_.Path(seq),
                                              capabilities_.context_length,
                                              tokenizer_.vocab_size());
                           }},
                      capabilities_, tokenizer_.vocab_size());
}

void RemoteBackend::Submit(Request request) {
  const absl::Status status = Check(request);
  if (!status.ok()) {
    finished_.push_back({.id = request.id, .status = status});
    return;
  }
  const RequestId id = request.id;
  Job& job = jobs_[id];
  job.request = std::move(request);
  if (std::holds_alternative<GenerateRequest>(job.request.body)) {
    StartGeneration(job);
  } else if (std::holds_alternative<TextScoreRequest>(job.request.body)) {
    StartTexts(job);
  } else {
    StartLogprobs(job);
  }
  if (job.open == 0) {  // no text, no sequence
    finished_.push_back(Finish(job));
    jobs_.erase(id);
  }
}

void RemoteBackend::StartGeneration(Job& job) {
  const auto& request = std::get<GenerateRequest>(job.request.body);
  job.path =
      std::make_shared<const std::vector<int32_t>>(tree_.Path(request.from));
  job.affinity = static_cast<uint64_t>(tree_.Root(request.from));
  job.samples.resize(static_cast<size_t>(request.n));
  const int room = capabilities_.context_length - tree_.end(request.from);
  for (int first = 0; first < request.n; first += dialect_->most_samples()) {
    const GenerationCall call = {
        .prompt = *job.path,
        .n = std::min(dialect_->most_samples(), request.n - first),
        .max_tokens = std::min(request.stop.max_tokens, room),
        .sampling = request.sampling,
        .stops = StopsOf(request.stop),
        .seed = SeedOf(SampleKey(request.stream, request.first_sample + first)),
        .top = TopOf(request),
        .text = dialect_->speaks_texts() ? PromptText(tokenizer_, *job.path)
                                         : std::string()};
    auto part = std::make_shared<Generation>();
    part->first = static_cast<size_t>(first);
    Send(job, dialect_->Generate(call), {.generation = part},
         [dialect = dialect_.get(), call, path = job.path,
          part](const std::string& body) {
           auto reply = dialect->ReadGeneration(body, call);
           if (reply.ok()) part->reply = *std::move(reply);
           return reply.status();
         });
  }
}

void RemoteBackend::StartTexts(Job& job) {
  const auto& request = std::get<TextScoreRequest>(job.request.body);
  job.affinity = static_cast<uint64_t>(tree_.Root(request.from));
  const std::vector<int32_t> path = tree_.Path(request.from);
  job.given.resize(request.continuations.size());
  for (size_t i = 0; i < request.continuations.size(); ++i) {
    const std::vector<int32_t>& more = request.continuations[i];
    std::vector<int32_t> text = path;
    text.insert(text.end(), more.begin(), more.end());
    stats_.tokens_needed += static_cast<int64_t>(more.size());
    job.given[i].logprobs.resize(more.size());
    job.given[i].greedy.resize(more.size());
    StartScoring(job, i, 0,
                 std::make_shared<const std::vector<int32_t>>(std::move(text)),
                 static_cast<int>(path.size()), 0);
  }
}

void RemoteBackend::StartLogprobs(Job& job) {
  const auto& request = std::get<ScoreRequest>(job.request.body);
  job.given.resize(request.sequences.size());
  for (size_t i = 0; i < request.sequences.size(); ++i) {
    const SeqId seq = request.sequences[i];
    job.affinity = static_cast<uint64_t>(tree_.Root(seq));
    job.given[i].logprobs.resize(request.tokens.size());
    job.given[i].greedy.resize(request.tokens.size());
    for (size_t t = 0; t < request.tokens.size(); ++t) {
      std::vector<int32_t> text = tree_.Path(seq);
      const int from = static_cast<int>(text.size());
      text.push_back(request.tokens[t]);
      StartScoring(
          job, i, t,
          std::make_shared<const std::vector<int32_t>>(std::move(text)), from,
          0);
    }
  }
}

void RemoteBackend::StartScoring(Job& job, size_t sample, size_t position,
                                 Path text, int from, int top) {
  const int end = static_cast<int>(text->size());
  if (dialect_->scores_texts() || from + 1 == end) {
    SendScoring(job, std::make_shared<Scoring>(Scoring{.sample = sample,
                                                       .position = position,
                                                       .text = std::move(text),
                                                       .from = from,
                                                       .top = top}));
    return;
  }
  for (int t = from; t < end; ++t) {
    StartScoring(job, sample, position + static_cast<size_t>(t - from),
                 std::make_shared<const std::vector<int32_t>>(
                     text->begin(), text->begin() + t + 1),
                 t, top);
  }
}

void RemoteBackend::SendScoring(Job& job, std::shared_ptr<Scoring> scoring) {
  const ScoreCall call = {.text = *scoring->text,
                          .from = scoring->from,
                          .top = scoring->top,
                          .again = scoring->again};
  Send(job, dialect_->Score(call), {.scoring = scoring},
       [dialect = dialect_.get(), call, scoring](const std::string& body) {
         auto reply = dialect->ReadScore(body, call);
         if (reply.ok()) scoring->reply = *std::move(reply);
         return reply.status();
       });
}

void RemoteBackend::Send(Job& job, const DialectCall& call, Purpose purpose,
                         std::function<absl::Status(const std::string&)> read) {
  ++job.open;
  pool_.Start({.id = in_flight_.Add(job.request.id, std::move(purpose)),
               .affinity = job.affinity,
               .path = call.path,
               .body = call.body,
               .read = std::move(read)});
}

bool RemoteBackend::Step(std::vector<Completion>& done) {
  const bool worked = !jobs_.empty() || !finished_.empty();
  for (Completion& completion : finished_)
    done.push_back(std::move(completion));
  finished_.clear();
  if (jobs_.empty()) return worked;
  const double wait = done.empty() ? options_.step_seconds : 0;
  for (const CallPool::Ended& ended : pool_.Take(wait)) {
    if (const auto asked = weights_asked_.extract(ended.id); !asked.empty()) {
      if (ended.status.ok()) SeeWeights(*asked.mapped());
      continue;
    }
    const auto call = in_flight_.Take(ended.id);
    if (!call) continue;
    const auto found = jobs_.find(call->request);
    ESP_CHECK(found != jobs_.end());
    Job& job = found->second;
    --job.open;
    ++stats_.steps;
    job.status.Update(ended.status);
    if (job.status.ok()) Take(job, call->what);
    if (job.status.ok() && job.open > 0) continue;
    done.push_back(Finish(job));
    // After an error nobody waits for the others, which may be tried for
    // minutes.
    if (job.open > 0) in_flight_.Cancel(found->first, pool_);
    jobs_.erase(found);
  }
  if (facts_.kind == ServerKind::kLlamaServer && !facts_.weights.empty()) {
    const int64_t lost = pool_.stats().lost;
    if (std::exchange(lost_, lost) < lost) AskForWeights();
  }
  return worked;
}

// A server that was away may come back with other weights, and llama-server's
// replies do not tell them.
void RemoteBackend::AskForWeights() {
  if (!weights_asked_.empty()) return;
  for (size_t i = 0; i < servers_; ++i) {
    const uint64_t id = std::numeric_limits<uint64_t>::max() - i;
    auto told = std::make_shared<std::string>();
    weights_asked_[id] = told;
    pool_.Start({.id = id,
                 .affinity = i,
                 .path = "/v1/models",
                 .body = "",
                 .read = [told, name = facts_.model](const std::string& body) {
                   const nlohmann::json models = ParseJsonOrNull(body);
                   const nlohmann::json& list = Field(models, "data");
                   for (size_t j = 0; list.is_array() && j < list.size(); ++j) {
                     if (TextField(list[j], "id") == name) {
                       *told = ModelSize(list[j]);
                     }
                   }
                   return absl::OkStatus();
                 }});
  }
}

void RemoteBackend::Cancel(RequestId id) {
  std::erase_if(finished_, [id](const Completion& c) { return c.id == id; });
  if (jobs_.erase(id) > 0) in_flight_.Cancel(id, pool_);
}

void RemoteBackend::Take(Job& job, const Purpose& ended) {
  if (ended.generation != nullptr) {
    TakeGeneration(job, *ended.generation);
  } else if (ended.ending != nullptr) {
    TakeEnding(job, *ended.ending);
  } else {
    TakeScoring(job, ended.scoring);
  }
}

void RemoteBackend::TakeGeneration(Job& job, Generation& generation) {
  GenerationReply& reply = generation.reply;
  stats_.tokens_computed += PromptComputed(reply, *job.path);
  for (const std::string& weights : reply.weights) SeeWeights(weights);
  for (size_t i = 0; i < reply.samples.size() && job.status.ok(); ++i) {
    job.samples[generation.first + i] = std::move(reply.samples[i]);
    TakeSample(job, generation.first + i);
  }
}

void RemoteBackend::TakeSample(Job& job, size_t at) {
  const auto& request = std::get<GenerateRequest>(job.request.body);
  RemoteSample& sample = job.samples[at];
  if (dialect_->speaks_texts()) {
    if (!TellEnd(LikelyStops(request.stop), sample.text)) {
      StartEnding(job, at);
      return;
    }
    job.status.Update(Encode(job, sample));
    if (!job.status.ok()) return;
  }
  const auto drawn = static_cast<int64_t>(sample.tokens.size());
  ++stats_.rows;
  stats_.tokens_computed += drawn;
  stats_.tokens_generated += drawn;
  stats_.tokens_needed += drawn;
  job.status.Update(ApplyStops(request, sample));
  if (!job.status.ok()) return;
  // What the server did not tell.
  const auto unknown = [&](size_t t) {
    return std::isnan(sample.logprobs[t]) ||
           (TopOf(request) > 0 && sample.alternatives[t].empty());
  };
  size_t end = sample.tokens.size();
  while (end > 0 && !unknown(end - 1)) --end;
  for (size_t t = 0; t < end; ++t) {
    if (!unknown(t)) continue;
    // One call scores the rest of the text where it can.
    const size_t last = dialect_->scores_texts() ? end : t + 1;
    std::vector<int32_t> text = *job.path;
    text.insert(text.end(), sample.tokens.begin(),
                sample.tokens.begin() + static_cast<ptrdiff_t>(last));
    StartScoring(job, at, t,
                 std::make_shared<const std::vector<int32_t>>(std::move(text)),
                 static_cast<int>(job.path->size() + t), TopOf(request));
    if (dialect_->scores_texts()) break;
  }
}

// Drawn as the text was, so that an end is as likely as it was there.
void RemoteBackend::StartEnding(Job& job, size_t at) {
  const auto& request = std::get<GenerateRequest>(job.request.body);
  const int draw = request.first_sample + static_cast<int>(at);
  GenerationCall call = {
      .prompt = *job.path,
      .max_tokens = 1,
      .sampling = request.sampling,
      .seed = SeedOf(SampleKey(SampleKey(request.stream, draw), draw)),
      .text = PromptText(tokenizer_, *job.path) + job.samples[at].text.text};
  auto ending = std::make_shared<Ending>();
  ending->sample = at;
  const DialectCall asked = dialect_->Generate(call);
  Send(job, asked, {.ending = ending},
       [dialect = dialect_.get(), call = std::move(call), path = job.path,
        ending](const std::string& body) {
         auto reply = dialect->ReadGeneration(body, call);
         if (reply.ok()) ending->reply = *std::move(reply);
         return reply.status();
       });
}

void RemoteBackend::TakeEnding(Job& job, Ending& ending) {
  const auto& request = std::get<GenerateRequest>(job.request.body);
  TellEnd(LikelyStops(request.stop), ending.reply.samples[0].text,
          job.samples[ending.sample].text);
  TakeSample(job, ending.sample);
}

absl::Status RemoteBackend::Encode(const Job& job, RemoteSample& sample) {
  const auto& request = std::get<GenerateRequest>(job.request.body);
  RemoteText& text = sample.text;
  if (text.end == TextEnd::kStop) {
    RestoreStop(LikelyStops(request.stop), text);
  }
  ESP_ASSIGN_OR_RETURN(
      TextTokens taken,
      TokensOfText(tokenizer_, *job.path, text, EndToken(tokenizer_)));
  ++text_stats_.samples;
  text_stats_.missed += taken.missed;
  sample.finish = text.end == TextEnd::kEnd      ? Finish::kEnd
                  : text.end == TextEnd::kLength ? Finish::kLength
                                                 : Finish::kStop;
  // The server's tokens may be fewer than these.
  const int room = capabilities_.context_length - tree_.end(request.from);
  const auto most =
      static_cast<size_t>(std::min(request.stop.max_tokens, room));
  if (taken.tokens.size() > most) {
    taken.tokens.resize(most);
    taken.logprobs.resize(most);
    sample.finish = Finish::kLength;
  }
  sample.tokens = std::move(taken.tokens);
  sample.logprobs = std::move(taken.logprobs);
  sample.alternatives.resize(sample.tokens.size());
  sample.text = {};
  return absl::OkStatus();
}

// Replies of before may come after the first of new weights, which are said
// once.
void RemoteBackend::SeeWeights(const std::string& weights) {
  if (weights.empty() ||
      std::find(weights_.begin(), weights_.end(), weights) != weights_.end()) {
    return;
  }
  if (!weights_.empty() && options_.notice) {
    options_.notice(absl::StrCat(
        "the server's weights are now ", weights, ", before ", weights_.back(),
        ": what is sampled from here on comes from another model"));
  }
  weights_.push_back(weights);
}

void RemoteBackend::TakeScoring(Job& job,
                                const std::shared_ptr<Scoring>& scoring) {
  GivenReply& reply = scoring->reply;
  // The token that such a call draws is dropped before it is run.
  stats_.tokens_computed += PromptComputed(reply, *scoring->text);
  const bool unknown = std::any_of(reply.logprobs.begin(), reply.logprobs.end(),
                                   [](float l) { return std::isnan(l); });
  if (unknown && !scoring->again) {
    auto again = std::make_shared<Scoring>(*scoring);
    again->again = true;
    again->reply = {};
    SendScoring(job, std::move(again));
    return;
  }
  if (unknown) {
    job.status.Update(absl::FailedPreconditionError(
        absl::StrCat("the server does not tell the log-prob of token ",
                     scoring->text->back())));
    return;
  }
  for (size_t t = 0; t < reply.logprobs.size(); ++t) {
    const size_t at = scoring->position + t;
    if (job.samples.empty()) {
      GivenReply& given = job.given[scoring->sample];
      given.logprobs[at] = reply.logprobs[t];
      given.greedy[at] = reply.greedy[t];
      continue;
    }
    RemoteSample& sample = job.samples[scoring->sample];
    sample.logprobs[at] = reply.logprobs[t];
    sample.alternatives[at] = std::move(reply.alternatives[t]);
  }
}

absl::Status RemoteBackend::ApplyStops(const GenerateRequest& request,
                                       RemoteSample& sample) const {
  if (sample.tokens.empty()) {
    return absl::UnavailableError(
        "the server returned a sample without a token");
  }
  StopMatcher matcher;
  for (size_t t = 0; t < sample.tokens.size(); ++t) {
    if (sample.tokens[t] >= tokenizer_.vocab_size()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "the server returned token ", sample.tokens[t],
          " and the tokenizer has ", tokenizer_.vocab_size(),
          "; name the folder of the server's model by --tokenizer"));
    }
    const StopMatcher::Found found =
        matcher.Add(request.stop, tokenizer_.TokenBytes(sample.tokens[t]));
    sample.text_bytes = matcher.text_bytes();
    if (found == StopMatcher::Found::kNothing) continue;
    sample.tokens.resize(t + 1);
    sample.logprobs.resize(t + 1);
    sample.alternatives.resize(t + 1);
    sample.finish = found == StopMatcher::Found::kDelimiter ? Finish::kDelimiter
                                                            : Finish::kStop;
    return absl::OkStatus();
  }
  // A stop that only the server sees is none.
  if (sample.finish == Finish::kStop) sample.finish = Finish::kLength;
  return absl::OkStatus();
}

absl::StatusOr<Continuation> RemoteBackend::ToContinuation(
    const GenerateRequest& request, RemoteSample sample) {
  Continuation out;
  out.finish = sample.finish;
  out.text_bytes = sample.text_bytes;
  if (request.sampling.temperature == 0) {
    out.sampler_logprobs.assign(sample.tokens.size(), 0);
  } else if (request.sampling.temperature == 1 && NoFilter(request.sampling)) {
    out.sampler_logprobs = sample.logprobs;
  }
  const auto k = static_cast<size_t>(request.top_alternatives);
  const auto most = static_cast<size_t>(TopOf(request));
  for (size_t t = 0; most > 0 && t < sample.tokens.size(); ++t) {
    const std::vector<TokenLogprob>& top = sample.alternatives[t];
    const size_t wanted =
        std::min(most, static_cast<size_t>(tokenizer_.vocab_size()));
    if (top.size() < wanted) {
      return absl::FailedPreconditionError(
          absl::StrCat("the server returned the ", top.size(),
                       " most likely tokens where ", wanted,
                       " were asked for; start it with a higher limit (vLLM: "
                       "--max-logprobs)"));
    }
    out.alternatives.insert(
        out.alternatives.end(), top.begin(),
        top.begin() + static_cast<ptrdiff_t>(std::min(k, wanted)));
    if (request.top_logprobs == 0) continue;
    double sum = 0;
    const size_t count =
        std::min<size_t>(static_cast<size_t>(request.top_logprobs), wanted);
    for (size_t i = 0; i < count; ++i)
      sum += static_cast<double>(top[i].logprob);
    out.confidences.push_back(
        static_cast<float>(-sum / static_cast<double>(count)));
  }
  out.seq = tree_.Extend(request.from, sample.tokens);
  out.tokens = std::move(sample.tokens);
  out.logprobs = std::move(sample.logprobs);
  return out;
}

Completion RemoteBackend::Finish(Job& job) {
  Completion out{.id = job.request.id, .status = job.status};
  if (!out.status.ok()) return out;
  if (const auto* request = std::get_if<GenerateRequest>(&job.request.body)) {
    for (size_t i = 0; i < job.samples.size() && out.status.ok(); ++i) {
      if (request->on_token) {
        for (size_t t = 0; t < job.samples[i].tokens.size(); ++t) {
          request->on_token({static_cast<int>(i), job.samples[i].tokens[t],
                             job.samples[i].logprobs[t]});
        }
      }
      absl::StatusOr<Continuation> one =
          ToContinuation(*request, std::move(job.samples[i]));
      out.status = one.status();
      if (one.ok()) out.continuations.push_back(*std::move(one));
    }
    if (out.status.ok()) return out;
    for (const Continuation& c : out.continuations) tree_.Release(c.seq);
    out.continuations.clear();
    return out;
  }
  if (const auto* request = std::get_if<TextScoreRequest>(&job.request.body)) {
    for (size_t i = 0; i < job.given.size(); ++i) {
      out.texts.push_back(
          {.logprobs = std::move(job.given[i].logprobs),
           .greedy = std::move(job.given[i].greedy),
           .seq = request->keep
                      ? tree_.Extend(request->from, request->continuations[i])
                      : kEmptySeq});
    }
    return out;
  }
  for (GivenReply& given : job.given)
    out.rows.push_back(std::move(given.logprobs));
  return out;
}

}  // namespace espalier
