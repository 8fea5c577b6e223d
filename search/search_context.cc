#include "search/search_context.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/text.h"

namespace espalier {

std::string_view RequestKindName(RequestKind kind) {
  switch (kind) {
    case RequestKind::kExpand:
      return "Expand";
    case RequestKind::kEvaluate:
      return "Evaluate";
    case RequestKind::kVerify:
      return "Verify";
    case RequestKind::kGrade:
      return "Grade";
  }
  return "?";
}

std::string_view AnswerStageName(AnswerStage stage) {
  switch (stage) {
    case AnswerStage::kNone:
      return "none";
    case AnswerStage::kMethod:
      return "method";
    case AnswerStage::kTree:
      return "tree";
    case AnswerStage::kFinish:
      return "finish";
    case AnswerStage::kUnanswered:
      return "unanswered";
  }
  return "?";
}

SearchContext::SearchContext(const Problem& problem, const Task& task,
                             Stopper& stopper, const SearchBudget& budget,
                             uint64_t seed, InlineModel* model)
    : problem_(problem),
      task_(task),
      format_(task.format()),
      stopper_(stopper),
      budget_(budget),
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
  usage_.bytes = tree_.used_bytes() +
                 static_cast<int64_t>(anytime_.size() * sizeof(AnytimeAnswer));
}

SearchContext::Slot& SearchContext::NewSlot(RequestKind kind,
                                            uint64_t* number) {
  DropConsumed();
  if (next_number_ - first_slot_ == slot_mask_ + 1) {
    std::vector<Slot> larger(2 * slots_.size());
    for (uint64_t s = first_slot_; s < next_number_; ++s) {
      larger[s & (larger.size() - 1)] = std::move(slot(s));
    }
    slots_ = std::move(larger);
    slot_mask_ = slots_.size() - 1;
  }
  *number = next_number_++;
  Slot& made = slot(*number);
  made.kind = kind;
  return made;
}

uint64_t SearchContext::IssueAnswered(RequestKind kind, bool done) {
  uint64_t number = 0;
  Slot& slot = NewSlot(kind, &number);
  slot.arrived = true;
  slot.done = done;
  if (!done) slot.completion.status = absl::CancelledError("nothing to do");
  // Delivered in order like any other.
  if (next_delivery_ == number) {
    slot.delivered = true;
    ++next_delivery_;
  }
  return number;
}

uint64_t SearchContext::Issue(SearchRequest request) {
  uint64_t number = 0;
  Slot& slot = NewSlot(request.kind, &number);
  slot.nodes = request.nodes;
  slot.completion.number = number;
  if (request.kind != RequestKind::kVerify &&
      request.kind != RequestKind::kGrade) {
    CountModelCall();
  }
  request.number = number;
  outbox_.push_back(std::move(request));
  return number;
}

Awaiting<Expansion> SearchContext::Expand(NodeId node, ExpandOptions options,
                                          ModelRole by) {
  ESP_CHECK(options.n >= 1 && node < tree_.size());
  const int64_t room =
      budget_.longest_response - int64_t{tree_.step(node).path_tokens};
  options.max_tokens =
      static_cast<int>(std::clamp<int64_t>(room, 0, options.max_tokens));
  const bool possible = !tree_[node].terminal() && !tree_[node].truncated() &&
                        tree_.step(node).depth < format().max_steps &&
                        options.max_tokens >= 1 &&
                        (finishing_ ? !halted_ : !ShouldStop());
  if (!possible) return {this, IssueAnswered(RequestKind::kExpand, false)};
  if (inline_ != nullptr) return ExpandInline(node, options);
  uint64_t number = 0;
  Slot& slot = NewSlot(RequestKind::kExpand, &number);
  slot.nodes = {node};
  slot.completion.number = number;
  waiting_.push_back(
      {.number = number,
       .kind = RequestKind::kExpand,
       .by = by,
       .nodes = {node},
       .expand = options,
       .first_sample = tree_.samples_drawn(node),
       .stream = StreamKey(seed_, problem_hash_, tree_.path_hash(node),
                           Purpose::kSample)});
  tree_.AddSamplesDrawn(node, options.n);
  tree_[node].flags |= kExpanded;
  return {this, number};
}

Awaiting<Expansion> SearchContext::ExpandInline(NodeId node,
                                                ExpandOptions options) {
  int64_t limit = std::min(options.max_tokens, format().max_step_tokens);
  if (!CutToRest(node, &options.n, &limit)) {
    return {this, IssueAnswered(RequestKind::kExpand, false)};
  }
  options.max_tokens = static_cast<int>(limit);
  const int first_sample = tree_.samples_drawn(node);
  tree_.AddSamplesDrawn(node, options.n);
  tree_[node].flags |= kExpanded;
  const uint64_t number = IssueAnswered(RequestKind::kExpand, true);
  CountModelCall();
  if (options.forced.empty()) {
    inline_->Expand(*this, node, options, first_sample, slot(number).expansion);
  } else {
    slot(number).expansion.samples.push_back(
        AddSample(node, {.text = options.forced}));
  }
  CountTree();
  return {this, number};
}

// Upper bounds on what a reply adds to Usage::bytes per sample and per token;
// hardly any token has more text than this.
constexpr int64_t kSampleBytes = 160;
constexpr int64_t kTokenBytes = 4 + 4 + 56;

// Upper bound on what the samples of a request add to Usage::bytes. The size of
// a hidden state is known only after the first one; until then it is assumed to
// take the whole budget.
int64_t SearchContext::ReplyBytes(const ExpandOptions& options,
                                  int64_t tokens_each) const {
  int64_t sample = kSampleBytes + kTokenBytes * tokens_each;
  if (options.alternatives > 0) {
    sample += static_cast<int64_t>(sizeof(TokenLogprob)) *
              options.alternatives * tokens_each;
  }
  if (options.hidden) {
    const size_t hidden_size = tree_.hidden_size();
    if (hidden_size == 0) return budget_.bytes;
    sample += static_cast<int64_t>(hidden_size * sizeof(float));
  }
  return options.n * sample;
}

bool SearchContext::HasRoom(const ExpandOptions& options,
                            int64_t tokens_each) const {
  if (budget_.nodes - usage_.nodes - reserved_nodes_ < options.n) return false;
  if (budget_.bytes == kNoLimit || expanding_ == 0) return true;
  return usage_.bytes + reserved_bytes_ <=
         budget_.bytes - ReplyBytes(options, tokens_each);
}

int64_t SearchContext::StepNeed() const {
  const int64_t most = format().max_step_tokens;
  if (longest_step_ == 0) return most;
  // A truncated step is useless, and unused reservations make others wait:
  // allow a quarter more than the longest so far, but at most three average
  // ones.
  const int64_t common = 3 * usage_.tokens / steps_seen_ + 1;
  return std::min({most, longest_step_ + longest_step_ / 4 + 1L, common});
}

int64_t SearchContext::TokensToFinish(NodeId node) const {
  int64_t whole = std::max(budget_.response_tokens, longest_response_);
  // Unknown: budgets are usually a few times a response, and holding back too
  // much takes tokens from the search.
  if (whole == 0) whole = budget_.tokens / 4;
  const int64_t rest =
      std::max<int64_t>(0, whole - tree_.step(node).path_tokens);
  // Response lengths vary: add a tenth of a whole one, and one step.
  return std::min(budget_.tokens, rest + whole / 10 + longest_step_);
}

bool SearchContext::BetterLeftToFinish(NodeId node) const {
  return holds_back_ && tokens_unspent() < TokensToFinish(node);
}

int64_t SearchContext::HeldBack() const {
  if (budget_.tokens == kNoLimit || !holds_back_ || finishing_ || answered()) {
    return 0;
  }
  return TokensToFinish(BestOpen());
}

int64_t SearchContext::tokens_unspent() const {
  if (budget_.tokens == kNoLimit) return kNoLimit;
  return budget_.tokens - usage_.tokens - reserved_tokens_;
}

int64_t SearchContext::tokens_left() const {
  if (budget_.tokens == kNoLimit) return kNoLimit;
  return std::max<int64_t>(0, tokens_unspent() - HeldBack());
}

bool SearchContext::CutToRest(NodeId node, int* n, int64_t* limit) {
  const auto stop = [this](std::string reason) {
    if (stop_reason_.empty()) {
      stop_reason_ = std::move(reason);
      spent_ = true;
    }
    return false;
  };
  if (usage_.model_calls >= budget_.model_calls) {
    stop(absl::StrCat("budget of ", budget_.model_calls,
                      " model calls is spent"));
    return spent_ = false;
  }
  *n = static_cast<int>(
      std::min<int64_t>(*n, budget_.nodes - usage_.nodes - reserved_nodes_));
  if (*n < 1) return stop("too few nodes left for another step");
  if (budget_.tokens == kNoLimit) return true;
  // The tokens held back are for the best path: the request for its next step
  // may use them too, but not a second sample of the same step.
  const int64_t held = HeldBack();
  int64_t free = budget_.tokens - usage_.tokens - reserved_tokens_;
  if (!GoesOn(node, *n)) free -= held;
  if (free < std::max(1, shortest_step_)) {
    return stop(held > 0
                    ? "the remaining tokens are reserved to finish a response"
                    : "too few tokens left for another step");
  }
  const int64_t need = std::min(*limit, StepNeed());
  *n = static_cast<int>(std::clamp<int64_t>(free / need, 1, *n));
  *limit = std::min(*limit, free / *n);
  return true;
}

void SearchContext::AdmitOne(SearchRequest& request, int n, int64_t limit) {
  ESP_CHECK(n >= 1 && limit >= 1);
  const NodeId node = request.nodes[0];
  if (n < request.expand.n &&
      tree_.samples_drawn(node) == request.first_sample + request.expand.n) {
    tree_.AddSamplesDrawn(node, n - request.expand.n);
  }
  request.expand.n = n;
  request.max_tokens = static_cast<int>(limit);
  Slot& sent = slot(request.number);
  sent.sent = true;
  sent.reserved_tokens = n * limit;
  sent.reserved_nodes = n;
  if (budget_.bytes != kNoLimit) {
    sent.reserved_bytes = ReplyBytes(request.expand, limit);
  }
  ++expanding_;
  reserved_tokens_ += sent.reserved_tokens;
  reserved_nodes_ += sent.reserved_nodes;
  reserved_bytes_ += sent.reserved_bytes;
  CountModelCall();
  outbox_.push_back(std::move(request));
}

void SearchContext::RefuseWaiting() {
  // Last first, so that draws counted in advance are undone in order.
  for (; !waiting_.empty(); waiting_.pop_back()) {
    const SearchRequest& request = waiting_.back();
    const NodeId node = request.nodes[0];
    if (tree_.samples_drawn(node) == request.first_sample + request.expand.n) {
      tree_.AddSamplesDrawn(node, -request.expand.n);
    }
    if (tree_.samples_drawn(node) == 0) {
      tree_[node].flags &= static_cast<uint8_t>(~kExpanded);
    }
    Slot& refused = slot(request.number);
    refused.arrived = true;
    refused.completion.status = absl::CancelledError("nothing to do");
  }
}

bool SearchContext::AdmitFront(size_t count, int64_t each) {
  for (size_t i = 0; i < count; ++i) {
    SearchRequest& next = waiting_.front();
    const int64_t limit = std::min<int64_t>(each, next.expand.max_tokens);
    if (!HasRoom(next.expand, limit) ||
        usage_.model_calls >= budget_.model_calls) {
      return i > 0;
    }
    AdmitOne(next, next.expand.n, limit);
    waiting_.pop_front();
  }
  return count > 0;
}

void SearchContext::Admit() {
  AdmitVerdicts();
  if (waiting_.empty() || !failure_.ok()) return;
  const bool over =
      finishing_ ? halted_ || usage_.bytes >= budget_.bytes : ShouldStop();
  if (over) return RefuseWaiting();
  const int64_t most = format().max_step_tokens;
  int64_t free = tokens_left();
  const SearchRequest& only = waiting_.front();
  if (waiting_.size() == 1 && free != kNoLimit &&
      GoesOn(only.nodes[0], only.expand.n)) {
    free = budget_.tokens - usage_.tokens - reserved_tokens_;
  }
  // As many of the first requests as can have one step per sample.
  size_t count = waiting_.size();
  int64_t each = most;
  if (free != kNoLimit) {
    const int64_t need = StepNeed();
    int64_t samples = 0;
    for (count = 0; count < waiting_.size(); ++count) {
      const int n = waiting_[count].expand.n;
      if ((samples + n) * need > free) break;
      samples += n;
    }
    if (samples > 0) each = std::min(most, free / samples);
  }
  // What rounding leaves may be enough for another one. Sending until nothing
  // fits makes the result independent of when Admit is called.
  if (AdmitFront(count, each)) return Admit();
  if (expanding_ > 0) return;
  SearchRequest& first = waiting_.front();
  int n = first.expand.n;
  int64_t limit = std::min<int64_t>(most, first.expand.max_tokens);
  if (!CutToRest(first.nodes[0], &n, &limit)) return RefuseWaiting();
  AdmitOne(first, n, limit);
  waiting_.pop_front();
}

bool SearchContext::MayEvaluate() {
  if (halted_ || (!stop_reason_.empty() && !spent_)) return false;
  if (usage_.model_calls < budget_.model_calls) return true;
  if (stop_reason_.empty()) {
    stop_reason_ = absl::StrCat("budget of ", budget_.model_calls,
                                " model calls is spent");
  }
  spent_ = false;
  return false;
}

Awaiting<Evaluation> SearchContext::Evaluate(absl::Span<const NodeId> nodes,
                                             ModelRole by) {
  SearchRequest request{.kind = RequestKind::kEvaluate, .by = by};
  if (inline_ == nullptr) {
    absl::flat_hash_set<NodeId> listed;
    for (const NodeId node : nodes) {
      if (!tree_[node].scored() && listed.insert(node).second) {
        request.nodes.push_back(node);
      }
    }
  }
  const bool asks = inline_ != nullptr || !request.nodes.empty();
  if (!asks || !MayEvaluate()) {
    return {this, IssueAnswered(RequestKind::kEvaluate, false)};
  }
  if (inline_ != nullptr) return EvaluateInline(nodes);
  if (budget_.verdict_tokens == kNoLimit || verdict_cost_.tokens == 0) {
    return {this, Issue(std::move(request))};
  }
  uint64_t number = 0;
  Slot& slot = NewSlot(RequestKind::kEvaluate, &number);
  slot.nodes = request.nodes;
  slot.completion.number = number;
  CountModelCall();
  request.number = number;
  waiting_verdicts_.push_back(std::move(request));
  return {this, number};
}

void SearchContext::FailScores(NodeId id, const StepScores& scores) {
  std::string text = absl::StrCat("step ", scores.step, ", path ", scores.path);
  for (size_t l = IndexOf(Level::kOutcome); l < kLevels; ++l) {
    const float score = scores[static_cast<Level>(l)];
    if (std::isnan(score)) continue;
    absl::StrAppend(&text, ", ", AbslView(kLevelNames[l]), " ", score);
  }
  Fail(absl::InvalidArgumentError(
      absl::StrCat("the reward model scored node ", id, " with ", text,
                   "; expected numbers in [0, 1]")));
}

inline bool SearchContext::ApplyScores(NodeId id, const StepScores& scores) {
  // Of step and path a model may have only one; the other is copied from it, or
  // both from the outcome or a window.
  StepScores filled = scores;
  const auto fill = [&filled](Level to, Level from) {
    if (!std::isnan(filled[to])) return;
    filled[to] = filled[from];
    filled.spread_of(to) = filled.spread_of(from);
  };
  for (const Level level : {Level::kStep, Level::kOutcome, Level::kWindow2,
                            Level::kWindow3, Level::kWindow4}) {
    fill(Level::kPath, level);
  }
  fill(Level::kStep, Level::kPath);
  bool valid = filled.path >= 0 && filled.path <= 1 && filled.step >= 0 &&
               filled.step <= 1;
  for (const float score : filled.windows) valid &= !(score < 0 || score > 1);
  valid &= !(filled.outcome < 0 || filled.outcome > 1);
  if (!valid) [[unlikely]] {
    FailScores(id, filled);
    return false;
  }
  if (lower_confidence_ > 0) filled = LowerScores(filled, lower_confidence_);
  tree_.SetScores(id, filled);
  if (!rule_.plain()) {
    const float value = path_values_.Of(tree_, id, rule_);
    if (std::isnan(value)) {
      FailScores(id, filled);
      return false;
    }
    tree_.SetValue(id, value);
  }
  usage_.reward_tokens += tree_.step(id).num_tokens;
  if (budget_.tokens != kNoLimit && !answered() && !tree_[id].terminal() &&
      !tree_[id].truncated()) {
    const float promise = Promise(tree_, id);
    if (best_open_ == kNoNode || promise > best_promise_) {
      best_open_ = id;
      best_promise_ = promise;
    }
  }
  return true;
}

Awaiting<Evaluation> SearchContext::EvaluateInline(
    absl::Span<const NodeId> nodes) {
  const uint64_t number = IssueAnswered(RequestKind::kEvaluate, true);
  CountModelCall();
  for (const NodeId node : nodes) {
    if (tree_[node].scored()) continue;
    if (!ApplyScores(node, inline_->Evaluate(tree_, node))) break;
  }
  return {this, number};
}

Awaiting<Verification> SearchContext::Verify(NodeId node) {
  if (halted_) return {this, IssueAnswered(RequestKind::kVerify, false)};
  if (inline_ != nullptr) {
    const uint64_t number = IssueAnswered(RequestKind::kVerify, true);
    slot(number).correct = inline_->Verify(tree_, node);
    Judged(node, slot(number).correct);
    return {this, number};
  }
  return {this, Issue({.kind = RequestKind::kVerify, .nodes = {node}})};
}

Awaiting<Verification> SearchContext::Grade(NodeId node) {
  if (halted_) return {this, IssueAnswered(RequestKind::kGrade, false)};
  if (inline_ != nullptr) {
    const uint64_t number = IssueAnswered(RequestKind::kGrade, true);
    slot(number).correct = inline_->Verify(tree_, node);
    return {this, number};
  }
  return {this, Issue({.kind = RequestKind::kGrade, .nodes = {node}})};
}

int32_t SearchContext::AnswerOf(NodeId node) {
  if (answer_known_.size() < tree_.size()) answer_known_.resize(tree_.size());
  if (!answer_known_[node]) {
    answer_known_[node] = true;
    const auto answer = task_.FindAnswer(tree_.Response(node));
    tree_.step(node).answer = answer ? VoteOf(*answer) : -1;
  }
  return tree_.step(node).answer;
}

int32_t SearchContext::VoteOf(const std::string& answer) {
  constexpr int kMostCompared = 64;
  const auto [vote, is_new] = votes_of_.try_emplace(answer, -1);
  if (!is_new) return vote->second;
  const int compared = std::min(tree_.num_answers(), kMostCompared);
  for (int i = 0; i < compared && vote->second < 0; ++i) {
    const std::string& earlier = tree_.answer_text(i);
    if (answer == earlier || task_.OneVote(answer, earlier)) vote->second = i;
  }
  if (vote->second < 0) vote->second = tree_.InternAnswer(answer);
  return vote->second;
}

RandomStream SearchContext::Stream(NodeId node, Purpose purpose,
                                   uint64_t index) const {
  if (recorded_draws_ != nullptr) return RandomStream(recorded_draws_);
  return RandomStream(
      StreamKey(seed_, problem_hash_, tree_.path_hash(node), purpose, index));
}

bool SearchContext::LookWhetherToStop() {
  unchanged_ = true;
  if (stop_reason_.empty()) {
    stopper_.Stops({usage_, support_, tree_}, stop_reason_);
    if (tree_.full()) stop_reason_ = "the tree is full";
    spent_ = usage_.tokens >= budget_.tokens || usage_.nodes >= budget_.nodes ||
             usage_.bytes >= budget_.bytes ||
             usage_.simulations >= budget_.simulations;
  }
  return !stop_reason_.empty();
}

bool SearchContext::BeginFinish() {
  const bool may =
      failure_.ok() && !halted_ && (stop_reason_.empty() || spent_);
  finishing_ |= may;
  return may;
}

float SearchContext::Promise(const Tree& tree, NodeId node) {
  // For steps that are more often right than wrong and a reward model that is
  // less sure the farther it looks: about a tenth of the score per step.
  constexpr float kStep = 0.1f;
  const Step& step = tree.step(node);
  const float depth = kStep * static_cast<float>(step.depth);
  const float least = std::log(1e-9f);
  if (tree[node].scored()) {
    return std::max(std::log(tree.score(node)), least) + depth;
  }
  // Without a score, prefer the one with the higher policy log-prob.
  const float mean =
      step.path_tokens == 0
          ? 0
          : step.path_logprob / static_cast<float>(step.path_tokens);
  return least + depth + mean;
}

void SearchContext::Offer(NodeId node, float score) {
  OfferAnswer(node, AnswerOf(node), score);
}

void SearchContext::OfferAnswer(NodeId node, int32_t answer, float score,
                                const AnswerSupport& support) {
  unchanged_ = false;
  support_ = support;
  support_.answered = answer >= 0;
  support_.accepted = tree_[node].terminal() && tree_[node].proved();
  best_node_ = node;
  best_answer_ = answer;
  best_score_ = score;
  const bool ended = tree_[node].terminal() && !tree_[node].truncated();
  best_stage_ = answer >= 0 ? stage_
                : ended     ? AnswerStage::kUnanswered
                            : AnswerStage::kNone;
  // Once the byte budget is spent, only the last of several answers at the same
  // token count is kept: votes without a reply in between are unbounded.
  const AnytimeAnswer held{usage_.tokens, node, answer};
  if (usage_.bytes >= budget_.bytes && !anytime_.empty() &&
      anytime_.back().tokens == held.tokens) {
    anytime_.back() = held;
    return;
  }
  anytime_.push_back(held);
  usage_.bytes += static_cast<int64_t>(sizeof(AnytimeAnswer));
}

void SearchContext::Fail(absl::Status status) {
  if (failure_.ok()) failure_ = std::move(status);
}

void SearchContext::Deliver(Slot& slot) {
  slot.delivered = true;
  if (slot.sent) {
    --expanding_;
    reserved_tokens_ -= slot.reserved_tokens;
    reserved_nodes_ -= slot.reserved_nodes;
    reserved_bytes_ -= slot.reserved_bytes;
  }
  if (slot.sent_verdicts) {
    --judging_;
    reserved_verdicts_ -= slot.reserved_verdicts;
  }
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
  NodeId node = kNoNode;
  if (!ends) {
    node = tree_.Add(parent, draft, is_new);
  } else {
    StepDraft last = draft;
    last.terminal = true;
    last.kind = NodeKind::kAnswer;
    node = tree_.Add(parent, last, is_new);
  }
  if (!draft.truncated) SeeStep(node);
  return node;
}

inline void SearchContext::SeeStep(NodeId node) {
  const Step& step = tree_.step(node);
  const int tokens = step.num_tokens;
  longest_step_ = std::max(longest_step_, tokens);
  ++steps_seen_;
  if (shortest_step_ == 0 || tokens < shortest_step_) shortest_step_ = tokens;
  if (tree_[node].terminal()) {
    longest_response_ =
        std::max(longest_response_, static_cast<int64_t>(step.path_tokens));
  } else if (step.depth > tree_.step(deepest_).depth) {
    deepest_ = node;
  }
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
                                   .truncated = sample.truncated,
                                   .mean_entropy = sample.mean_entropy,
                                   .confidences = sample.confidences,
                                   .alternatives = sample.alternatives,
                                   .hidden = sample.hidden},
                                  &is_new);
    slot.expansion.samples.push_back(node);
    if (sample.handle >= 0) {
      adopted_.push_back({node, sample.handle, is_new});
    }
  }
  CountTree();
}

void SearchContext::Judged(NodeId node, bool correct) {
  if (correct) tree_[node].flags |= kProved;
}

void SearchContext::DeliverEvaluation(Slot& slot) {
  const auto& scores = slot.completion.scores;
  for (const SampledStep& verdict : slot.completion.samples) {
    const auto tokens = static_cast<int64_t>(verdict.tokens.size());
    usage_.verdict_tokens += tokens;
    if (verdict.truncated) continue;
    longest_vote_ = std::max(longest_vote_, tokens);
    if (shortest_vote_ == 0 || tokens < shortest_vote_) shortest_vote_ = tokens;
  }
  std::vector<size_t> order(slot.nodes.size());
  std::iota(order.begin(), order.end(), size_t{0});
  // A path's value needs the scores of the steps before.
  if (!rule_.plain()) {
    std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      return slot.nodes[a] < slot.nodes[b];
    });
  }
  for (const size_t i : order) {
    if (!ApplyScores(slot.nodes[i], scores[i])) return;
  }
  slot.done = true;
}

void SearchContext::DropConsumed() {
  while (first_slot_ < next_number_ && slot(first_slot_).consumed) {
    Slot& old = slot(first_slot_++);
    old.arrived = old.delivered = old.consumed = old.done = old.correct = false;
    old.sent = false;
    old.waiter = nullptr;
    old.expansion.samples.clear();
    // Results from the engine hold memory worth freeing.
    if (inline_ == nullptr) old = Slot{};
  }
}

std::vector<SearchRequest> SearchDriver::TakeRequests() {
  return std::exchange(ctx_.outbox_, {});
}

std::vector<AdoptedSample> SearchDriver::TakeAdopted() {
  return std::exchange(ctx_.adopted_, {});
}

std::vector<std::pair<NodeId, float>> SearchDriver::TakeRetentions() {
  return std::exchange(ctx_.retentions_, {});
}

std::vector<int64_t> SearchDriver::UndeliveredHandles() const {
  std::vector<int64_t> handles;
  for (uint64_t number = ctx_.first_slot_; number < ctx_.next_number_;
       ++number) {
    const SearchContext::Slot& slot = ctx_.slot(number);
    if (slot.delivered) continue;
    for (const SampledStep& sample : slot.completion.samples) {
      if (sample.handle >= 0) handles.push_back(sample.handle);
    }
  }
  return handles;
}

void SearchDriver::Put(SearchCompletion completion) {
  SearchContext::Slot& slot = ctx_.slot(completion.number);
  ESP_CHECK(!slot.arrived);
  slot.completion = std::move(completion);
  slot.arrived = true;
}

void SearchDriver::Advance() {
  ctx_.Admit();
  while (ctx_.failure_.ok() && ctx_.next_delivery_ < ctx_.next_number_ &&
         ctx_.slot(ctx_.next_delivery_).arrived) {
    const uint64_t number = ctx_.next_delivery_++;
    SearchContext::Slot& slot = ctx_.slot(number);
    if (!slot.delivered) ctx_.Deliver(slot);
    // Everything up to `number` is applied and nothing after it, so what a
    // resumed search sees does not depend on when completions arrived.
    const auto waiter = std::exchange(slot.waiter, nullptr);
    if (waiter != nullptr && ctx_.failure_.ok()) waiter.resume();
    for (const auto yielding : std::exchange(ctx_.yielding_, {})) {
      if (ctx_.failure_.ok()) yielding.resume();
    }
    // Requests made meanwhile form one round, whatever else has arrived.
    ctx_.Admit();
  }
}

void SearchDriver::Stop(std::string reason) {
  // Overrides the reason of a search that was already ending for lack of
  // budget.
  if (!ctx_.halted_) ctx_.stop_reason_ = std::move(reason);
  ctx_.halted_ = true;
}

}  // namespace espalier
