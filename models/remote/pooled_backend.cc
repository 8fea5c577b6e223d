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
      capabilities_(
          {.context_length = facts_.context_length, .outputs = head_.labels}),
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
  for (const std::shared_ptr<Asked>& asked : Texts(*score)) {
    const uint64_t id = next_call_++;
    in_flight_[id] = {.job = request.id, .asked = asked};
    ++job.open;
    DialectCall call = MakePooledCall(facts_, way_, asked->text);
    pool_.Start(
        {.id = id,
         .affinity = affinity,
         .path = std::move(call.path),
         .body = std::move(call.body),
         .read = [this, asked](const std::string& body) {
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
         }});
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
    const auto call = in_flight_.extract(ended.id);
    if (call.empty()) continue;
    const auto found = jobs_.find(call.mapped().job);
    ESP_CHECK(found != jobs_.end());
    Job& job = found->second;
    --job.open;
    ++stats_.steps;
    job.status.Update(ended.status);
    if (job.status.ok()) {
      Asked& asked = *call.mapped().asked;
      stats_.tokens_computed += asked.computed;
      for (size_t i = 0; i < asked.sequences.size(); ++i) {
        job.rows[asked.sequences[i]] = std::move(asked.rows[i]);
      }
      if (job.open > 0) continue;
    }
    Completion& completion =
        done.emplace_back(Completion{.id = found->first, .status = job.status});
    if (job.status.ok()) completion.rows = std::move(job.rows);
    // After an error nobody waits for the others.
    if (job.open > 0) CancelCalls(found->first);
    jobs_.erase(found);
  }
  return worked;
}

void PooledBackend::Cancel(RequestId id) {
  std::erase_if(finished_, [id](const Completion& c) { return c.id == id; });
  if (jobs_.erase(id) > 0) CancelCalls(id);
}

void PooledBackend::CancelCalls(RequestId job) {
  for (auto it = in_flight_.begin(); it != in_flight_.end();) {
    if (it->second.job == job) {
      pool_.Cancel(it->first);
      in_flight_.erase(it++);
    } else {
      ++it;
    }
  }
}

}  // namespace espalier
