// How the runner samples ahead of a search's requests (speculation.h).
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "src/engine/runner.h"

namespace espalier {

absl::Status Runner::SendOrTakeAhead(SearchSession& session,
                                     SearchRequest request, size_t policy,
                                     GenerateRequest body) {
  // Further samples of a node often lead on to children that it has already.
  std::vector<NodeId> children;
  const Tree& tree = session.context().tree();
  for (const NodeId child : Children(tree, request.nodes[0])) {
    children.push_back(child);
  }
  session.ahead.Learn(request, policy);
  std::vector<Continuation> samples;
  const Speculation::Answer answer =
      session.ahead.Ask(request, policy, body, samples);
  ReleaseSpare(session);
  if (answer == Speculation::Answer::kHere) {
    ESP_RETURN_IF_ERROR(Deliver(session, request,
                                Completed(session, request, std::move(samples),
                                          static_cast<int>(policy))));
  } else if (answer == Speculation::Answer::kNone) {
    Submit(session, *policies_[policy], std::move(request),
           {.body = std::move(body)});
  }
  SampleAhead(session, children);
  return absl::OkStatus();
}

void Runner::SampleAhead(SearchSession& session,
                         absl::Span<const NodeId> nodes) {
  const size_t policy = session.ahead.policy();
  const std::vector<SearchRequest> chosen =
      session.ahead.Choose(session.context(), nodes, session.job->options->seed,
                           static_cast<size_t>(speculate_));
  for (const SearchRequest& request : chosen) {
    GenerateRequest body = ToGenerate(session, request, policy);
    const RequestId id = Await(session, {});
    pending_[id].ahead = true;
    session.ahead.Add(id, request.nodes[0], policy, body);
    policies_[policy]->Submit({.id = id, .body = std::move(body)});
  }
}

absl::Status Runner::TakeAhead(SearchSession& session, Completion completion,
                               int policy) {
  Speculation::Arrival arrival =
      session.ahead.Arrive(completion.id, std::move(completion.continuations));
  ReleaseSpare(session);
  if (!arrival.request) return absl::OkStatus();
  SearchRequest request = *std::move(arrival.request);
  // The server does not answer this search's own request either.
  if (ServerIsGone(completion.status)) {
    if (!serving_) return completion.status;
    return Deliver(session, request,
                   {.number = request.number, .status = completion.status});
  }
  if (arrival.serves) {
    return Deliver(
        session, request,
        Completed(session, request, std::move(arrival.samples), policy));
  }
  const auto index = static_cast<size_t>(policy);
  GenerateRequest body = ToGenerate(session, request, index);
  Submit(session, *policies_[index], std::move(request),
         {.body = std::move(body)});
  return absl::OkStatus();
}

void Runner::ReleaseSpare(SearchSession& session) {
  for (const auto& [policy, seq] : session.ahead.TakeSpare()) {
    policies_[policy]->Release(seq);
  }
}

}  // namespace espalier
