#include "models/remote/pooled_backend.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/status_macros.h"
#include "models/remote/pooled_probe.h"
#include "models/remote/server_probe.h"
#include "models/schedule/request_check.h"

namespace espalier {
namespace {

// Texts per call for choices: a call that fails is asked again as a whole.
constexpr size_t kMostTexts = 64;

std::string Offer(const ServerFacts& facts, const PooledWay& way) {
  return absl::StrCat(facts.model, " (", facts.weights, ") at ", way.Name(),
                      way.off.empty() ? "" : absl::StrCat(" with ", way.off),
                      way.probabilities ? " as probabilities" : " as logits");
}

}  // namespace

absl::StatusOr<std::unique_ptr<PooledBackend>> PooledBackend::Connect(
    const RemoteModel& model, const Tokenizer& tokenizer, PooledHead head,
    const RemoteOptions& options) {
  ESP_CHECK(!model.servers.empty() && !head.samples.empty());
  ServerFacts facts;
  PooledWay way;
  for (size_t i = 0; i < model.servers.size(); ++i) {
    const Endpoint& endpoint = model.servers[i];
    ESP_ASSIGN_OR_RETURN(
        ServerFacts other,
        ProbeScorer(endpoint, model.name, tokenizer, options.http));
    ESP_ASSIGN_OR_RETURN(PooledWay found,
                         FindPooledWay(endpoint, other, head, options.http));
    if (i == 0) {
      facts = std::move(other);
      way = std::move(found);
      continue;
    }
    if (found != way || other.kind != facts.kind ||
        other.model != facts.model || other.weights != facts.weights) {
      return absl::InvalidArgumentError(absl::StrCat(
          endpoint.Url(), ": the server offers ", Offer(other, found), ", and ",
          model.servers[0].Url(), " ", Offer(facts, way),
          "; servers of one --reward-model must offer the same"));
    }
    facts.context_length = std::min(facts.context_length, other.context_length);
  }
  return std::unique_ptr<PooledBackend>(
      new PooledBackend(model, tokenizer, std::move(head), options,
                        std::move(facts), std::move(way)));
}

PooledBackend::PooledBackend(const RemoteModel& model,
                             const Tokenizer& tokenizer, PooledHead head,
                             const RemoteOptions& options, ServerFacts facts,
                             PooledWay way)
    : tokenizer_(tokenizer),
      head_(std::move(head)),
      options_(options),
      facts_(std::move(facts)),
      way_(std::move(way)),
      // An endpoint for choices leaves room for a token.
      capabilities_(
          {.context_length = facts_.context_length - (way_.choices ? 1 : 0),
           .outputs = head_.labels}),
      pool_(model.servers, options.http, options.calls) {}

SeqId PooledBackend::Extend(SeqId parent, absl::Span<const int32_t> tokens) {
  const int before = tree_.live();
  const SeqId seq = tree_.Extend(parent, tokens);
  if (tree_.live() > before) {
    stats_.tokens_needed += static_cast<int64_t>(tokens.size());
  }
  return seq;
}

void PooledBackend::Release(SeqId seq) { tree_.Release(seq); }

absl::Status PooledBackend::Check(const Request& request) const {
  if (!std::holds_alternative<ScoreRequest>(request.body)) {
    return absl::FailedPreconditionError(
        "a reward model whose head a server computes writes no text and gives "
        "no log-probs");
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

std::vector<std::shared_ptr<PooledBackend::Asked>> PooledBackend::Texts(
    const ScoreRequest& request) const {
  std::vector<std::vector<int32_t>> paths;
  for (const SeqId seq : request.sequences) paths.push_back(tree_.Path(seq));
  std::vector<size_t> order(paths.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return paths[a].size() > paths[b].size();
  });
  std::vector<std::shared_ptr<Asked>> texts;
  for (const size_t i : order) {
    const std::vector<int32_t>& path = paths[i];
    const auto covers = [&](const std::shared_ptr<Asked>& asked) {
      return way_.rows == PooledRows::kLast
                 ? asked->text == path
                 : std::equal(path.begin(), path.end(), asked->text.begin());
    };
    auto found = std::find_if(texts.begin(), texts.end(), covers);
    if (found == texts.end()) {
      texts.push_back(std::make_shared<Asked>(Asked{.text = path}));
      found = texts.end() - 1;
    }
    (*found)->sequences.push_back(i);
    (*found)->ends.push_back(path.size());
  }
  return texts;
}

void PooledBackend::Submit(Request request) {
  const absl::Status status = Check(request);
  const auto* score = std::get_if<ScoreRequest>(&request.body);
  if (!status.ok() || score->sequences.empty()) {
    finished_.push_back({.id = request.id, .status = status});
    return;
  }
  Job& job = jobs_[request.id];
  job.rows.resize(score->sequences.size());
  const auto affinity =
      static_cast<uint64_t>(tree_.Root(score->sequences.front()));
  std::vector<std::shared_ptr<Asked>> texts = Texts(*score);
  if (!way_.choices) {
    for (std::shared_ptr<Asked>& asked : texts) {
      Ask(request.id, affinity, std::move(asked));
    }
    return;
  }
  for (size_t begin = 0; begin < texts.size(); begin += kMostTexts) {
    auto some = std::make_shared<AskedChoices>();
    for (size_t i = begin; i < std::min(begin + kMostTexts, texts.size());
         ++i) {
      some->texts.push_back(std::move(texts[i]->text));
      some->sequences.push_back(std::move(texts[i]->sequences));
    }
    AskChoices(request.id, affinity, std::move(some));
  }
}

void PooledBackend::Ask(RequestId job, uint64_t affinity,
                        std::shared_ptr<Asked> asked) {
  Send(job, affinity, MakePooledCall(facts_, way_, asked->text),
       {.asked = asked}, [this, asked](const std::string& body) {
         // Asked again after a reply that could not be read.
         asked->rows.clear();
         ESP_ASSIGN_OR_RETURN(const PooledReply reply,
                              ReadPooledReply(body, way_, head_.labels));
         for (const size_t end : asked->ends) {
           ESP_ASSIGN_OR_RETURN(
               asked->rows.emplace_back(),
               PooledLogits(reply, way_, head_, asked->text, end));
         }
         const auto length = static_cast<int64_t>(asked->text.size());
         asked->computed = std::max<int64_t>(0, length - reply.cached_tokens);
         return absl::OkStatus();
       });
}

void PooledBackend::AskChoices(RequestId job, uint64_t affinity,
                               std::shared_ptr<AskedChoices> asked) {
  const ChoiceCall call = {.texts = asked->texts,
                           .shared = SharedLength(asked->texts),
                           .choices = head_.choices};
  Send(job, affinity, MakeChoiceCall(facts_, call), {.choices = asked},
       [this, asked, call](const std::string& body) {
         ESP_ASSIGN_OR_RETURN(asked->logprobs,
                              ReadChoiceReply(body, facts_.kind, call));
         return absl::OkStatus();
       });
}

void PooledBackend::Send(RequestId job, uint64_t affinity, DialectCall call,
                         Question question,
                         std::function<absl::Status(const std::string&)> read) {
  ++jobs_[job].open;
  pool_.Start({.id = in_flight_.Add(job, std::move(question)),
               .affinity = affinity,
               .path = std::move(call.path),
               .body = std::move(call.body),
               .read = std::move(read)});
}

void PooledBackend::Take(Job& job, Question& question) {
  if (question.asked != nullptr) {
    Asked& asked = *question.asked;
    stats_.tokens_computed += asked.computed;
    for (size_t i = 0; i < asked.sequences.size(); ++i) {
      job.rows[asked.sequences[i]] = std::move(asked.rows[i]);
    }
    return;
  }
  const AskedChoices& asked = *question.choices;
  for (size_t t = 0; t < asked.texts.size(); ++t) {
    // The server does not tell what it had cached.
    stats_.tokens_computed += static_cast<int64_t>(asked.texts[t].size());
    for (const size_t sequence : asked.sequences[t]) {
      job.rows[sequence] = asked.logprobs[t];
    }
  }
}

bool PooledBackend::Step(std::vector<Completion>& done) {
  const bool worked = !jobs_.empty() || !finished_.empty();
  for (Completion& completion : finished_) {
    done.push_back(std::move(completion));
  }
  finished_.clear();
  if (jobs_.empty()) return worked;
  const double wait = done.empty() ? options_.step_seconds : 0;
  for (const CallPool::Ended& ended : pool_.Take(wait)) {
    auto call = in_flight_.Take(ended.id);
    if (!call) continue;
    const auto found = jobs_.find(call->request);
    ESP_CHECK(found != jobs_.end());
    Job& job = found->second;
    --job.open;
    ++stats_.steps;
    job.status.Update(ended.status);
    if (job.status.ok()) {
      Take(job, call->what);
      if (job.open > 0) continue;
    }
    Completion& completion =
        done.emplace_back(Completion{.id = found->first, .status = job.status});
    if (job.status.ok()) completion.rows = std::move(job.rows);
    // After an error nobody waits for the others.
    if (job.open > 0) in_flight_.Cancel(found->first, pool_);
    jobs_.erase(found);
  }
  return worked;
}

void PooledBackend::Cancel(RequestId id) {
  std::erase_if(finished_, [id](const Completion& c) { return c.id == id; });
  if (jobs_.erase(id) > 0) in_flight_.Cancel(id, pool_);
}

}  // namespace espalier
