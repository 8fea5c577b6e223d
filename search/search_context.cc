#include "search/search_context.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "src/base/check.h"
#include "src/base/text.h"

namespace espalier {

std::string_view RequestKindName(RequestKind kind) {
  switch (kind) {
    case RequestKind::kExpand:
      return "Expand";
    case RequestKind::kEvaluate:
      return "Evaluate";
    case RequestKind::kVerify:
      return "Verify";
    case RequestKind::kScore:
      return "Score";
    case RequestKind::kAsk:
      return "Ask";
    case RequestKind::kRetrieve:
      return "Retrieve";
    case RequestKind::kRun:
      return "Run";
    case RequestKind::kGrade:
      return "Grade";
  }
  return "?";
}

SearchContext::SearchContext(const Problem& problem, const Task& task,
                             const Stopper& stopper, int64_t max_tokens,
                             uint64_t seed)
    : problem_(problem),
      task_(task),
      stopper_(stopper),
      max_tokens_(max_tokens),
      seed_(seed),
      problem_hash_(StableHash(problem.question)) {
  usage_.nodes = 1;
}

uint64_t SearchContext::Issue(SearchRequest request, bool answered) {
  DropConsumed();
  const uint64_t seq = next_seq_++;
  Slot& slot = slots_.emplace_back();
  slot.kind = request.kind;
  slot.nodes = request.nodes;
  slot.completion.seq = seq;
  if (answered) {
    // Nothing to ask: complete at once, still delivered in order.
    slot.completion.status = absl::CancelledError("nothing to do");
    slot.arrived = true;
    if (next_delivery_ == seq) {
      slot.delivered = true;
      ++next_delivery_;
    }
    return seq;
  }
  if (request.kind != RequestKind::kVerify &&
      request.kind != RequestKind::kGrade) {
    ++usage_.model_calls;
  }
  request.seq = seq;
  outbox_.push_back(std::move(request));
  return seq;
}

Awaiting<Expansion> SearchContext::Expand(NodeId node, ExpandOptions options,
                                          Role by) {
  ESP_CHECK(options.n >= 1 && node < tree_.size());
  const bool possible = !tree_[node].terminal() && !tree_[node].truncated() &&
                        tree_[node].depth < format().max_steps && !ShouldStop();
  int64_t max_tokens = format().max_step_tokens;
  if (max_tokens_ != std::numeric_limits<int64_t>::max()) {
    max_tokens = std::min(max_tokens, tokens_left() / options.n);
  }
  if (!possible || max_tokens < 1) {
    if (possible) stop_reason_ = "too few tokens left for another step";
    return {this, Issue({.kind = RequestKind::kExpand, .nodes = {node}}, true)};
  }
  SearchRequest request{
      .kind = RequestKind::kExpand,
      .by = by,
      .nodes = {node},
      .expand = options,
      .first_sample = tree_.samples_drawn(node),
      .max_tokens = static_cast<int>(max_tokens),
      .stream = StreamKey(seed_, problem_hash_, tree_.path_hash(node),
                          Purpose::kSample)};
  tree_.AddSamplesDrawn(node, options.n);
  tree_[node].flags |= kExpanded;
  return {this, Issue(std::move(request), false)};
}

Awaiting<Evaluation> SearchContext::Evaluate(absl::Span<const NodeId> nodes,
                                             Role by) {
  SearchRequest request{.kind = RequestKind::kEvaluate, .by = by};
  for (const NodeId node : nodes) {
    const bool listed = std::find(request.nodes.begin(), request.nodes.end(),
                                  node) != request.nodes.end();
    if (!listed && !tree_[node].scored()) request.nodes.push_back(node);
  }
  const bool answered = request.nodes.empty() || !stop_reason_.empty();
  return {this, Issue(std::move(request), answered)};
}

Awaiting<Verification> SearchContext::Verify(NodeId node) {
  return {this, Issue({.kind = RequestKind::kVerify, .nodes = {node}}, false)};
}

Awaiting<Verification> SearchContext::Grade(NodeId node) {
  return {this, Issue({.kind = RequestKind::kGrade, .nodes = {node}}, false)};
}

int32_t SearchContext::AnswerOf(NodeId node) {
  if (answer_known_.size() < tree_.size()) answer_known_.resize(tree_.size());
  if (!answer_known_[node]) {
    answer_known_[node] = true;
    const auto answer = task_.FindAnswer(tree_.Response(node));
    tree_[node].answer = answer ? tree_.InternAnswer(*answer) : -1;
  }
  return tree_[node].answer;
}

RandomStream SearchContext::Stream(NodeId node, Purpose purpose,
                                   uint64_t index) const {
  return RandomStream(
      StreamKey(seed_, problem_hash_, tree_.path_hash(node), purpose, index));
}

bool SearchContext::ShouldStop() {
  if (stop_reason_.empty()) {
    if (auto reason = stopper_.Reason(usage_)) stop_reason_ = *reason;
  }
  return !stop_reason_.empty();
}

void SearchContext::Offer(NodeId node, float score) {
  OfferAnswer(node, AnswerOf(node), score);
}

void SearchContext::OfferAnswer(NodeId node, int32_t answer, float score) {
  best_node_ = node;
  best_answer_ = answer;
  best_score_ = score;
  anytime_.push_back({usage_.tokens, node, answer});
}

void SearchContext::Fail(absl::Status status) {
  if (failure_.ok()) failure_ = std::move(status);
  waiting_ = nullptr;
}

void SearchContext::Deliver(Slot& slot) {
  slot.delivered = true;
  const absl::Status& status = slot.completion.status;
  if (absl::IsCancelled(status)) return;
  if (!status.ok()) {
    Fail(status);
    return;
  }
  switch (slot.kind) {
    case RequestKind::kExpand:
      DeliverExpansion(slot);
      break;
    case RequestKind::kEvaluate:
      DeliverEvaluation(slot);
      break;
    case RequestKind::kVerify:
    case RequestKind::kGrade:
      slot.verification = {true, slot.completion.correct};
      break;
    default:
      Fail(absl::UnimplementedError(absl::StrCat(
          "request ", AbslView(RequestKindName(slot.kind)), " was completed")));
  }
}

void SearchContext::DeliverExpansion(Slot& slot) {
  const NodeId parent = slot.nodes[0];
  for (const SampledStep& sample : slot.completion.samples) {
    usage_.tokens += static_cast<int64_t>(sample.tokens.size());
    bool final_step = sample.ended;
    for (const std::string& prefix : format().final_prefixes) {
      final_step |= !sample.truncated && sample.text.starts_with(prefix);
    }
    const StepDraft draft{
        .kind = final_step ? NodeKind::kAnswer : NodeKind::kStep,
        .text = sample.text,
        .tokens = sample.tokens,
        .logprob = sample.logprob,
        .terminal = final_step,
        .truncated = sample.truncated};
    bool is_new = false;
    const NodeId node = tree_.Add(parent, draft, &is_new);
    slot.expansion.samples.push_back(node);
    if (sample.handle >= 0) {
      handovers_.push_back({node, sample.handle, is_new});
    }
  }
  usage_.nodes = tree_.size();
}

void SearchContext::DeliverEvaluation(Slot& slot) {
  const auto& scores = slot.completion.scores;
  for (size_t i = 0; i < slot.nodes.size(); ++i) {
    const NodeId id = slot.nodes[i];
    Node& node = tree_[id];
    // A model may have one head only; what it lacks is taken from the other.
    const float path =
        std::isnan(scores[i].path) ? scores[i].step : scores[i].path;
    const float step = std::isnan(scores[i].step) ? path : scores[i].step;
    if (!(path >= 0 && path <= 1 && step >= 0 && step <= 1)) {
      Fail(absl::InvalidArgumentError(
          absl::StrCat("the reward model scored node ", id, " with step ", step,
                       ", path ", path, "; expected numbers in [0, 1]")));
      return;
    }
    node.step_score = step;
    node.path_score = path;
    node.flags |= kScored;
    usage_.reward_tokens += node.num_tokens;
  }
  slot.evaluation.done = true;
}

void SearchContext::DropConsumed() {
  while (!slots_.empty() && slots_.front().consumed) {
    slots_.pop_front();
    ++first_slot_;
  }
}

std::vector<SearchRequest> SearchDriver::TakeRequests() {
  return std::exchange(ctx_.outbox_, {});
}

std::vector<Handover> SearchDriver::TakeHandovers() {
  return std::exchange(ctx_.handovers_, {});
}

std::vector<int64_t> SearchDriver::UndeliveredHandles() const {
  std::vector<int64_t> handles;
  for (const auto& slot : ctx_.slots_) {
    if (slot.delivered) continue;
    for (const SampledStep& sample : slot.completion.samples) {
      if (sample.handle >= 0) handles.push_back(sample.handle);
    }
  }
  return handles;
}

void SearchDriver::Put(SearchCompletion completion) {
  SearchContext::Slot& slot = ctx_.slot(completion.seq);
  ESP_CHECK(!slot.arrived);
  slot.completion = std::move(completion);
  slot.arrived = true;
}

void SearchDriver::Pump() {
  while (ctx_.failure_.ok() && ctx_.next_delivery_ < ctx_.next_seq_ &&
         ctx_.slot(ctx_.next_delivery_).arrived) {
    const uint64_t seq = ctx_.next_delivery_++;
    SearchContext::Slot& slot = ctx_.slot(seq);
    if (!slot.delivered) ctx_.Deliver(slot);
    // Everything up to `seq` is applied and nothing after it: what a resumed
    // search sees does not depend on when completions arrived.
    if (ctx_.waiting_ != nullptr && ctx_.waiting_for_ == seq) {
      std::exchange(ctx_.waiting_, nullptr).resume();
    }
  }
}

void SearchDriver::Stop(std::string reason) {
  if (ctx_.stop_reason_.empty()) ctx_.stop_reason_ = std::move(reason);
}

}  // namespace espalier
