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
                             Stopper& stopper, int64_t max_tokens,
                             uint64_t seed, InlineModel* model)
    : problem_(problem),
      task_(task),
      format_(task.format()),
      stopper_(stopper),
      max_tokens_(max_tokens),
      seed_(seed),
      problem_hash_(StableHash(problem.question)),
      inline_(model),
      slots_(8),
      slot_mask_(7) {
  CountTree();
}

void SearchContext::CountTree() {
  unchanged_ = false;
  usage_.nodes = tree_.size();
  usage_.bytes = tree_.used_bytes();
}

SearchContext::Slot& SearchContext::NewSlot(RequestKind kind, uint64_t* seq) {
  DropConsumed();
  if (next_seq_ - first_slot_ == slot_mask_ + 1) {
    std::vector<Slot> larger(2 * slots_.size());
    for (uint64_t s = first_slot_; s < next_seq_; ++s) {
      larger[s & (larger.size() - 1)] = std::move(slot(s));
    }
    slots_ = std::move(larger);
    slot_mask_ = slots_.size() - 1;
  }
  *seq = next_seq_++;
  Slot& made = slot(*seq);
  made.kind = kind;
  return made;
}

uint64_t SearchContext::IssueAnswered(RequestKind kind, bool done) {
  uint64_t seq = 0;
  Slot& slot = NewSlot(kind, &seq);
  slot.arrived = true;
  slot.done = done;
  if (!done) slot.completion.status = absl::CancelledError("nothing to do");
  // Still delivered in order.
  if (next_delivery_ == seq) {
    slot.delivered = true;
    ++next_delivery_;
  }
  return seq;
}

uint64_t SearchContext::Issue(SearchRequest request) {
  uint64_t seq = 0;
  Slot& slot = NewSlot(request.kind, &seq);
  slot.nodes = request.nodes;
  slot.completion.seq = seq;
  if (request.kind != RequestKind::kVerify &&
      request.kind != RequestKind::kGrade) {
    CountModelCall();
  }
  request.seq = seq;
  outbox_.push_back(std::move(request));
  return seq;
}

Awaiting<Expansion> SearchContext::Expand(NodeId node, ExpandOptions options,
                                          Role by) {
  ESP_CHECK(options.n >= 1 && node < tree_.size());
  const bool possible = !tree_[node].terminal() && !tree_[node].truncated() &&
                        tree_.step(node).depth < format().max_steps &&
                        !ShouldStop();
  int64_t max_tokens = format().max_step_tokens;
  if (max_tokens_ != std::numeric_limits<int64_t>::max()) {
    max_tokens = std::min(max_tokens, tokens_left() / options.n);
  }
  if (!possible || max_tokens < 1) {
    if (possible) stop_reason_ = "too few tokens left for another step";
    return {this, IssueAnswered(RequestKind::kExpand, false)};
  }
  const int first_sample = tree_.samples_drawn(node);
  tree_.AddSamplesDrawn(node, options.n);
  tree_[node].flags |= kExpanded;
  if (inline_ != nullptr) {
    const uint64_t seq = IssueAnswered(RequestKind::kExpand, true);
    CountModelCall();
    if (options.forced.empty()) {
      inline_->Expand(*this, node, options, first_sample, slot(seq).expansion);
    } else {
      slot(seq).expansion.samples.push_back(
          AddSample(node, {.text = options.forced}));
    }
    CountTree();
    return {this, seq};
  }
  return {this, Issue({.kind = RequestKind::kExpand,
                       .by = by,
                       .nodes = {node},
                       .expand = options,
                       .first_sample = first_sample,
                       .max_tokens = static_cast<int>(max_tokens),
                       .stream = StreamKey(seed_, problem_hash_,
                                           tree_.path_hash(node),
                                           Purpose::kSample)})};
}

Awaiting<Evaluation> SearchContext::Evaluate(absl::Span<const NodeId> nodes,
                                             Role by) {
  if (!stop_reason_.empty()) {
    return {this, IssueAnswered(RequestKind::kEvaluate, false)};
  }
  if (inline_ != nullptr) return EvaluateInline(nodes);
  SearchRequest request{.kind = RequestKind::kEvaluate, .by = by};
  for (const NodeId node : nodes) {
    const bool listed = std::find(request.nodes.begin(), request.nodes.end(),
                                  node) != request.nodes.end();
    if (!listed && !tree_[node].scored()) request.nodes.push_back(node);
  }
  if (request.nodes.empty()) {
    return {this, IssueAnswered(RequestKind::kEvaluate, false)};
  }
  return {this, Issue(std::move(request))};
}

void SearchContext::FailScores(NodeId id, float step, float path) {
  Fail(absl::InvalidArgumentError(
      absl::StrCat("the reward model scored node ", id, " with step ", step,
                   ", path ", path, "; expected numbers in [0, 1]")));
}

inline bool SearchContext::ApplyScores(NodeId id, const NodeScores& scores) {
  // A model may have one head only; what it lacks is taken from the other.
  const float path = std::isnan(scores.path) ? scores.step : scores.path;
  const float step = std::isnan(scores.step) ? path : scores.step;
  if (!(path >= 0 && path <= 1 && step >= 0 && step <= 1)) [[unlikely]] {
    FailScores(id, step, path);
    return false;
  }
  Step& scored = tree_.step(id);
  scored.step_score = step;
  scored.path_score = path;
  tree_[id].flags |= kScored;
  usage_.reward_tokens += scored.num_tokens;
  return true;
}

Awaiting<Evaluation> SearchContext::EvaluateInline(
    absl::Span<const NodeId> nodes) {
  const uint64_t seq = IssueAnswered(RequestKind::kEvaluate, true);
  CountModelCall();
  for (const NodeId node : nodes) {
    if (tree_[node].scored()) continue;
    if (!ApplyScores(node, inline_->Evaluate(tree_, node))) break;
  }
  return {this, seq};
}

Awaiting<Verification> SearchContext::Verify(NodeId node) {
  if (inline_ != nullptr) {
    const uint64_t seq = IssueAnswered(RequestKind::kVerify, true);
    slot(seq).correct = inline_->Verify(tree_, node);
    Judged(node, slot(seq).correct);
    return {this, seq};
  }
  return {this, Issue({.kind = RequestKind::kVerify, .nodes = {node}})};
}

Awaiting<Verification> SearchContext::Grade(NodeId node) {
  if (inline_ != nullptr) {
    const uint64_t seq = IssueAnswered(RequestKind::kGrade, true);
    slot(seq).correct = inline_->Verify(tree_, node);
    return {this, seq};
  }
  return {this, Issue({.kind = RequestKind::kGrade, .nodes = {node}})};
}

int32_t SearchContext::AnswerOf(NodeId node) {
  if (answer_known_.size() < tree_.size()) answer_known_.resize(tree_.size());
  if (!answer_known_[node]) {
    answer_known_[node] = true;
    const auto answer = task_.FindAnswer(tree_.Response(node));
    tree_.step(node).answer = answer ? tree_.InternAnswer(*answer) : -1;
  }
  return tree_.step(node).answer;
}

RandomStream SearchContext::Stream(NodeId node, Purpose purpose,
                                   uint64_t index) const {
  return RandomStream(
      StreamKey(seed_, problem_hash_, tree_.path_hash(node), purpose, index));
}

bool SearchContext::LookWhetherToStop() {
  unchanged_ = true;
  if (stop_reason_.empty()) {
    stopper_.Stops({usage_, standing_, tree_}, stop_reason_);
    if (tree_.full()) stop_reason_ = "the tree can hold no more";
  }
  return !stop_reason_.empty();
}

void SearchContext::Offer(NodeId node, float score) {
  OfferAnswer(node, AnswerOf(node), score);
}

void SearchContext::OfferAnswer(NodeId node, int32_t answer, float score,
                                const Standing& standing) {
  unchanged_ = false;
  standing_ = standing;
  standing_.answered = answer >= 0;
  standing_.accepted = tree_[node].terminal() && tree_[node].proved();
  best_node_ = node;
  best_answer_ = answer;
  best_score_ = score;
  anytime_.push_back({usage_.tokens, node, answer});
}

void SearchContext::Fail(absl::Status status) {
  if (failure_.ok()) failure_ = std::move(status);
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
      Judged(slot.nodes[0], slot.completion.correct);
      [[fallthrough]];
    case RequestKind::kGrade:
      slot.done = true;
      slot.correct = slot.completion.correct;
      break;
    default:
      Fail(absl::UnimplementedError(absl::StrCat(
          "request ", AbslView(RequestKindName(slot.kind)), " was completed")));
  }
}

NodeId SearchContext::AddSample(NodeId parent, const StepDraft& draft,
                                bool* is_new) {
  usage_.tokens += static_cast<int64_t>(draft.tokens.size());
  bool ends = draft.terminal;
  for (const std::string& prefix : format_.final_prefixes) {
    ends |= !draft.truncated && draft.text.starts_with(prefix);
  }
  if (!ends) return tree_.Add(parent, draft, is_new);
  StepDraft last = draft;
  last.terminal = true;
  last.kind = NodeKind::kAnswer;
  return tree_.Add(parent, last, is_new);
}

void SearchContext::DeliverExpansion(Slot& slot) {
  const NodeId parent = slot.nodes[0];
  for (const SampledStep& sample : slot.completion.samples) {
    bool is_new = false;
    const NodeId node = AddSample(parent,
                                  {.text = sample.text,
                                   .tokens = sample.tokens,
                                   .logprob = sample.logprob,
                                   .terminal = sample.ended,
                                   .truncated = sample.truncated},
                                  &is_new);
    slot.expansion.samples.push_back(node);
    if (sample.handle >= 0) {
      handovers_.push_back({node, sample.handle, is_new});
    }
  }
  CountTree();
}

void SearchContext::Judged(NodeId node, bool correct) {
  if (correct) tree_[node].flags |= kProved;
}

void SearchContext::DeliverEvaluation(Slot& slot) {
  const auto& scores = slot.completion.scores;
  for (size_t i = 0; i < slot.nodes.size(); ++i) {
    if (!ApplyScores(slot.nodes[i], scores[i])) return;
  }
  slot.done = true;
}

void SearchContext::DropConsumed() {
  while (first_slot_ < next_seq_ && slot(first_slot_).consumed) {
    Slot& old = slot(first_slot_++);
    old.arrived = old.delivered = old.consumed = old.done = old.correct = false;
    old.waiter = nullptr;
    old.expansion.samples.clear();
    // What the engine answered holds memory worth giving back.
    if (inline_ == nullptr) old = Slot{};
  }
}

std::vector<SearchRequest> SearchDriver::TakeRequests() {
  return std::exchange(ctx_.outbox_, {});
}

std::vector<Handover> SearchDriver::TakeHandovers() {
  return std::exchange(ctx_.handovers_, {});
}

std::vector<std::pair<NodeId, float>> SearchDriver::TakeKeeps() {
  return std::exchange(ctx_.keeps_, {});
}

std::vector<int64_t> SearchDriver::UndeliveredHandles() const {
  std::vector<int64_t> handles;
  for (uint64_t seq = ctx_.first_slot_; seq < ctx_.next_seq_; ++seq) {
    const SearchContext::Slot& slot = ctx_.slot(seq);
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
    const auto waiter = std::exchange(slot.waiter, nullptr);
    if (waiter != nullptr && ctx_.failure_.ok()) waiter.resume();
    for (const auto yielding : std::exchange(ctx_.yielding_, {})) {
      if (ctx_.failure_.ok()) yielding.resume();
    }
  }
}

void SearchDriver::Stop(std::string reason) {
  if (ctx_.stop_reason_.empty()) ctx_.stop_reason_ = std::move(reason);
}

}  // namespace espalier
