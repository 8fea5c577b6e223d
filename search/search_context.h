// Everything a search algorithm can access: its tree, the requests it may make,
// its random streams and its budget. It has no gold answer, no clock and no
// threads.
//
//   Co<> Greedy(SearchContext& ctx) {
//     NodeId node = kRoot;
//     while (!ctx.tree()[node].terminal() && !ctx.ShouldStop()) {
//       const Expansion e = co_await ctx.Expand(node, {.temperature = 0});
//       if (e.samples.empty()) break;
//       node = e.samples[0];
//     }
//     ctx.Offer(node, 1);
//   }
//
// A request is sent when its method is called; awaiting it yields the result.
// Several may be in flight: keep the returned Awaiting and await it later.
// Completions are applied to the tree in the order in which their requests were
// made, regardless of when they arrive, and a coroutine that waits for request
// k sees exactly the completions up to k. Hence the tree does not depend on
// threads, batches or other searches.
//
// SearchDriver below is the engine's side: it takes requests out and puts
// completions in.
//
// Externally synchronised: one thread at a time.
#ifndef ESPALIER_SEARCH_SEARCH_CONTEXT_H_
#define ESPALIER_SEARCH_SEARCH_CONTEXT_H_

#include <coroutine>
#include <cstdint>
#include <deque>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "base/random.h"
#include "base/step_tokens.h"
#include "espalier/coroutine.h"
#include "espalier/problem.h"
#include "espalier/scores.h"
#include "espalier/search_result.h"
#include "espalier/task.h"
#include "espalier/verifier.h"
#include "search/stop.h"
#include "search/tree/path_values.h"
#include "search/tree/score_rule.h"
#include "search/tree/tree.h"

namespace espalier {

// Which model answers a request; the engine binds roles to models. Not a
// speaker of a conversation (ChatRole).
enum class ModelRole : uint8_t {
  kPolicy,
  kCritic,
  kPlanner,
  kProver,
  kSecond,
};

// Values are part of recorded runs.
enum class RequestKind : uint8_t {
  kExpand,
  kEvaluate,
  kVerify,
  kGrade = 7,  // reads the reference: for training data only, never at test
};
std::string_view RequestKindName(RequestKind kind);

// Which tokens of the policy's distribution may be sampled (SearchOptions).
struct SampleFilter {
  int top_k = 0;    // 0: all
  float top_p = 1;  // 1: all
  float min_p = 0;  // 0: all
};

struct ExpandOptions {
  int n = 1;
  float temperature = 1;  // 0: greedy
  // If not empty, nothing is sampled and this text becomes the next step. It
  // outlives the search.
  std::string_view forced = {};
  // Maximum tokens per sample; the context reduces it further to the format's
  // limit and to the remaining budget.
  int max_tokens = std::numeric_limits<int>::max();
  // k > 0: reports the model's confidence in each token (Tree::confidences),
  // computed from the k most likely tokens at its position. Fails the search if
  // the model does not support it.
  int top_logprobs = 0;
  // k > 0: reports the k most likely tokens at each position and their ln p
  // (Tree::alternatives). Fails the search if the model does not support it.
  int alternatives = 0;
  // Reports the model's hidden state at the end of each sample (Tree::hidden).
  // Fails the search if the model does not support it.
  bool hidden = false;
  // Overrides the search's filter.
  std::optional<SampleFilter> filter = {};
  // The response also ends where a sample contains one of these strings, which
  // is left out. They outlive the search.
  absl::Span<const std::string_view> stop_strings = {};
};

// Result of Expand: one node per sample, in order of sampling. Equal samples
// are the same node. Fewer than requested if the budget runs short; empty if
// the budget or a cancellation leaves nothing.
struct Expansion {
  absl::InlinedVector<NodeId, 8> samples;
};
// Result of Evaluate: the nodes' step_score and path_score are set.
struct Evaluation {
  bool done = false;  // false: cancelled, the nodes may be unscored
};
struct Verification {
  bool done = false;
  bool correct = false;
};

struct SearchRequest {
  uint64_t number = 0;  // order of issue within the search
  RequestKind kind = RequestKind::kExpand;
  ModelRole by = ModelRole::kPolicy;
  std::vector<NodeId> nodes;  // one for Expand, Verify, Grade
  ExpandOptions expand;
  int first_sample = 0;  // index of the first sample to draw at the node
  // Expand: per sample; n times this is reserved. Evaluate: per vote of a
  // verdict that is written; 0: as many as the reward model's format allows.
  int max_tokens = 0;
  StreamKey stream;  // samples of the node are drawn from it
};

// A sample as a backend returned it. `entropies` and `confidences` are filled
// if ExpandOptions::top_logprobs is set, `alternatives` and `hidden` if
// requested.
struct SampledStep : StepTokens {
  std::string text;
  float logprob = 0;       // of all tokens
  bool ended = false;      // the model ended the response
  bool truncated = false;  // cut by a length limit
  int64_t handle = -1;     // set by the engine, returned with the node
  // Of a verdict that a reward model wrote: the probability of "right".
  float verdict = std::numeric_limits<float>::quiet_NaN();
};
// A sample's handle once the sample has become a node. If not `is_new`, the
// node existed already and the handle is not needed.
struct AdoptedSample {
  NodeId node = kNoNode;
  int64_t handle = -1;
  bool is_new = false;
};

struct SearchCompletion {
  uint64_t number = 0;
  absl::Status status;
  // Expand; of Evaluate, the verdicts that a reward model wrote.
  std::vector<SampledStep> samples;
  std::vector<StepScores> scores;  // Evaluate, one per node
  bool correct = false;            // Verify, Grade
};

// One point of the anytime curve: the answer held at this number of tokens.
struct AnytimeAnswer {
  int64_t tokens = 0;
  NodeId node = kNoNode;
  int32_t answer = -1;
};

template <class T>
struct Awaiting;
class SearchContext;

// Answers requests synchronously in place of the engine: scripted policies, and
// models that cost less than passing a request. Externally synchronised.
class InlineModel {
 public:
  virtual ~InlineModel() = default;
  // Adds samples `first_sample` ... of `node` to `out` by ctx.AddSample: at
  // most `options.n`, each of at most `options.max_tokens` tokens.
  virtual void Expand(SearchContext& ctx, NodeId node,
                      const ExpandOptions& options, int first_sample,
                      Expansion& out) = 0;
  virtual StepScores Evaluate(const Tree& tree, NodeId node) = 0;
  // Of a finished response; also answers Grade.
  virtual bool Verify(const Tree& tree, NodeId node) = 0;
};

class SearchContext {
 public:
  // The referenced objects outlive the context. With `model`, requests are
  // answered immediately and none reaches the driver.
  SearchContext(const Problem& problem, const Task& task, Stopper& stopper,
                const SearchBudget& budget, uint64_t seed,
                InlineModel* model = nullptr);
  SearchContext(const SearchContext&) = delete;
  SearchContext& operator=(const SearchContext&) = delete;

  Tree& tree() { return tree_; }
  const Tree& tree() const { return tree_; }
  const Problem& problem() const { return problem_; }
  const StepFormat& format() const { return format_; }

  // Samples `options.n` continuations of `node`, one step each. Samples of a
  // node are drawn from its stream in order: another call draws further ones.
  //
  // The maximum cost is reserved before the request is sent, so no budget is
  // exceeded. Requests made between two deliveries share the remaining budget
  // evenly; if that is less than a step for each, the later ones wait, in
  // order, for the next delivery. The first never waits: it gets fewer samples,
  // or none if the budget does not cover even one step.
  Awaiting<Expansion> Expand(NodeId node, ExpandOptions options = {},
                             ModelRole by = ModelRole::kPolicy);
  // Scores the nodes that have no score yet, all in one request. Costs no
  // policy tokens and still works when those are spent.
  //
  // Verdicts that a reward model writes are reserved like samples: requests
  // made between two deliveries share the remaining budget of verdict tokens
  // evenly, and those that would get less than a verdict has taken so far wait.
  // If not even the shortest verdict seen fits, the search stops.
  Awaiting<Evaluation> Evaluate(absl::Span<const NodeId> nodes,
                                ModelRole by = ModelRole::kCritic);
  // From now on Tree::score(node) is the path's value by this rule. Call it
  // before the first Evaluate.
  void UseRule(const ScoreRule& rule) { rule_ = rule; }
  // How the reward model writes its verdicts. Call it before the first
  // Evaluate.
  void SetVerdictCost(const VerdictCost& cost) { verdict_cost_ = cost; }
  // From now on a node's scores are lowered by `b` >= 0 times their spread as
  // they arrive (LowerScores): all that reads the tree sees the lower ones.
  void LowerScoresBy(float b) { lower_confidence_ = b; }
  // Requests the intrinsic verifier's verdict on a response.
  Awaiting<Verification> Verify(NodeId node);
  // Checks a response against the problem's reference. For methods that label
  // training problems: only `generate` supports it, and the engine rejects such
  // methods everywhere else.
  Awaiting<Verification> Grade(NodeId node);

  // Waits until one more completion is applied: for a coroutine that has
  // nothing to do while others of its search wait. Continues immediately if no
  // request is in flight.
  struct Yielding {
    SearchContext* ctx;
    bool await_ready() const {
      return ctx->next_delivery_ == ctx->next_number_ && ctx->failure_.ok();
    }
    void await_suspend(std::coroutine_handle<> handle) const {
      ctx->yielding_.push_back(handle);
    }
    void await_resume() const {}
  };
  Yielding Yield() { return {this}; }

  // Index of the canonical answer of the response that ends in `node`; -1 if
  // none. Answers that are one vote (Task::OneVote) have that of the first.
  int32_t AnswerOf(NodeId node);

  // Random draws that belong to `node` and `purpose`.
  RandomStream Stream(NodeId node, Purpose purpose, uint64_t index = 0) const;

  // True once a budget is spent or a stop was requested. Check it before
  // starting work, so that a search returns its best answer so far.
  bool ShouldStop() {
    return unchanged_ ? !stop_reason_.empty() : LookWhetherToStop();
  }
  const Usage& usage() const { return usage_; }
  void CountSimulation() {
    ++usage_.simulations;
    unchanged_ = false;
  }
  // Tokens available to further requests: the budget minus what is used,
  // reserved by requests in flight and held back for finishing a response;
  // kNoLimit without a budget.
  int64_t tokens_left() const;
  // tokens_left() plus what is held back: available to a method that has ended
  // and finishes a response of its own choice (BeginFinish).
  int64_t tokens_unspent() const;

  bool has_token_budget() const { return budget_.tokens != kNoLimit; }

  // True once an answer has been offered.
  bool answered() const { return best_answer_ >= 0; }

  // Sets the best answer so far: a node that ends a response (any node for a
  // method that stopped early) with the method's own score.
  void Offer(NodeId node, float score);
  // As Offer, for an answer shared by several nodes (votes). `support` is
  // what the stoppers read of the votes; Votes fills it.
  void OfferAnswer(NodeId node, int32_t answer, float score,
                   const AnswerSupport& support = {});

  // Starts the finishing stage (search/finish.h) after the method has ended:
  // requests are sent even though the method had to stop, if it stopped because
  // a budget ran out. False if the search may make no more requests.
  bool BeginFinish();
  // From now on no tokens are held back for finishing.
  void HoldNothingBack() { holds_back_ = false; }
  // Stage that answers offered from now on come from.
  void SetStage(AnswerStage stage) { stage_ = stage; }
  // How promising an unfinished response is to finish; higher is better.
  // log(path score), plus the usual cost of a further step for every step it
  // already has. Nodes without a score rank after all others, by the policy's
  // mean log-prob.
  static float Promise(const Tree& tree, NodeId node);
  // Estimated tokens to finish the response at `node`, from the lengths seen so
  // far.
  int64_t TokensToFinish(NodeId node) const;
  // True if the remaining budget is probably too small to finish the response
  // at `node` and the finishing stage follows, which may pick another response.
  bool BetterLeftToFinish(NodeId node) const;

  // For an InlineModel: adds one more sample of `parent`'s next step. It ends
  // the response if the draft says so or it begins with a final prefix of the
  // format.
  NodeId AddSample(NodeId parent, const StepDraft& draft,
                   bool* is_new = nullptr);

  // Retention priority of the models' KV cache for `node`: the key by which the
  // search will expand it. When memory is short, the nodes with the lowest keys
  // are evicted, and recomputed if they are expanded after all. The default is
  // the time of last use. Changes no result.
  void SetRetention(NodeId node, double key) {
    if (inline_ == nullptr)
      retentions_.emplace_back(node, static_cast<float>(key));
  }
  // `node` itself will not be expanded again: it only matters for its subtree.
  void Evict(NodeId node) {
    SetRetention(node, -std::numeric_limits<double>::infinity());
  }

  // Random choices are read from `draws`, in order, instead of from Stream: for
  // tests that reproduce another program's run. It outlives the search.
  void FeedDraws(RecordedDraws* draws) { recorded_draws_ = draws; }

  // Ends the search with an error; its coroutine is not resumed again.
  void Fail(absl::Status status);

  FrameArena& frames() { return frames_; }

 private:
  friend class SearchDriver;
  template <class T>
  friend struct Awaiting;

  // A request, from its issue until the coroutine has its result.
  struct Slot {
    RequestKind kind = RequestKind::kExpand;
    bool arrived = false;    // the completion is here
    bool delivered = false;  // the completion has been applied
    bool consumed = false;   // the coroutine has taken the result
    bool done = false;       // for an evaluation or a verification
    bool correct = false;
    std::coroutine_handle<> waiter = nullptr;
    Expansion expansion;
    std::vector<NodeId> nodes;
    SearchCompletion completion;
    // Maximum cost of an Expand, from when it is sent until it is delivered.
    bool sent = false;
    int64_t reserved_tokens = 0;
    int64_t reserved_nodes = 0;
    int64_t reserved_bytes = 0;
    // The same of an Evaluate whose verdicts are written.
    bool sent_verdicts = false;
    int64_t reserved_verdicts = 0;
  };
  bool LookWhetherToStop();
  // Sends waiting requests as far as the budget allows (see Expand).
  void Admit();
  // Sends the first `count` waiting requests, each sample limited to `each`
  // tokens, as far as the node and byte budgets allow. True if anything was
  // sent.
  bool AdmitFront(size_t count, int64_t each);
  void AdmitOne(SearchRequest& request, int n, int64_t limit);
  void RefuseWaiting();
  // The same for requests whose verdicts are written.
  void AdmitVerdicts();
  void AdmitVerdict(int64_t steps, int64_t each);
  void RefuseVerdicts();
  // Number of the nodes on the way to the request's that no request before it
  // has had judged; counts them as such if `take`.
  int64_t UnjudgedSteps(const SearchRequest& request, bool take);
  // Reduces the samples and tokens of a request to the remaining budget while
  // nothing is in flight. False if that is not even one step; the search then
  // stops.
  bool CutToRest(NodeId node, int* n, int64_t* limit);
  int64_t ReplyBytes(const ExpandOptions& options, int64_t tokens_each) const;
  // True if the node and byte budgets have room for the samples.
  bool HasRoom(const ExpandOptions& options, int64_t tokens_each) const;
  Awaiting<Expansion> ExpandInline(NodeId node, ExpandOptions options);
  // True if one sample of `node` is the next step of the best open path, for
  // which tokens are held back.
  bool GoesOn(NodeId node, int n) const {
    return n == 1 && node == BestOpen() && tree_[node].num_children == 0;
  }
  // The response that the finishing stage would start with.
  NodeId BestOpen() const {
    return best_open_ != kNoNode ? best_open_ : deepest_;
  }
  // Token limit a sample needs for its step to be complete.
  int64_t StepNeed() const;
  // Tokens reserved for finishing the best response while there is no answer.
  int64_t HeldBack() const;
  bool MayEvaluate();
  void SeeStep(NodeId node);
  void CountModelCall() {
    ++usage_.model_calls;
    unchanged_ = false;
  }
  Slot& slot(uint64_t number) { return slots_[number & slot_mask_]; }
  const Slot& slot(uint64_t number) const {
    return slots_[number & slot_mask_];
  }
  // A new slot for the next request number.
  Slot& NewSlot(RequestKind kind, uint64_t* number);
  uint64_t Issue(SearchRequest request);
  // A request that is already answered.
  uint64_t IssueAnswered(RequestKind kind, bool done);
  void Deliver(Slot& slot);
  void DeliverExpansion(Slot& slot);
  void DeliverEvaluation(Slot& slot);
  bool ApplyScores(NodeId id, const StepScores& scores);
  void FailScores(NodeId id, const StepScores& scores);
  Awaiting<Evaluation> EvaluateInline(absl::Span<const NodeId> nodes);
  // Called when the verifier's verdict on `node` arrives.
  void Judged(NodeId node, bool correct);
  void CountTree();
  void DropConsumed();
  int32_t VoteOf(const std::string& answer);

  const Problem& problem_;
  const Task& task_;
  const StepFormat& format_;
  Stopper& stopper_;
  const SearchBudget budget_;
  const uint64_t seed_;
  RecordedDraws* recorded_draws_ = nullptr;
  const uint64_t problem_hash_;

  FrameArena frames_;
  Tree tree_;
  Usage usage_;
  std::string stop_reason_;
  bool unchanged_ = false;  // since the last ShouldStop
  bool spent_ = false;      // a budget other than model calls ran out
  bool halted_ = false;     // stopped from outside
  bool finishing_ = false;
  bool holds_back_ = true;
  AnswerStage stage_ = AnswerStage::kMethod;
  AnswerStage best_stage_ = AnswerStage::kNone;  // of the answer held

  // Sample requests that were sent and not delivered yet.
  int64_t expanding_ = 0;
  int64_t reserved_tokens_ = 0;
  int64_t reserved_nodes_ = 0;
  int64_t reserved_bytes_ = 0;
  // The same for verdicts, and the longest and shortest vote so far.
  VerdictCost verdict_cost_;
  int64_t judging_ = 0;
  int64_t reserved_verdicts_ = 0;
  int64_t longest_vote_ = 0;
  int64_t shortest_vote_ = 0;
  std::vector<bool> judged_;  // by node: its verdict was asked for
  // Tokens of the longest and the shortest complete step so far; 0: none yet.
  int64_t steps_seen_ = 0;
  int longest_step_ = 0;
  int shortest_step_ = 0;
  // Where finishing would start: the most promising scored node, else the
  // deepest node.
  NodeId best_open_ = kNoNode;
  float best_promise_ = 0;
  NodeId deepest_ = kRoot;
  int64_t longest_response_ = 0;  // tokens; 0: none has ended yet
  absl::Status failure_;
  ScoreRule rule_;
  PathValues path_values_;
  float lower_confidence_ = 0;

  InlineModel* const inline_;

  // Requests first_slot_ .. next_number_-1, a ring of a power of two.
  std::vector<Slot> slots_;
  uint64_t slot_mask_;  // its size - 1
  uint64_t first_slot_ = 0;
  uint64_t next_number_ = 0;
  uint64_t next_delivery_ = 0;
  std::vector<std::coroutine_handle<>> yielding_;
  std::deque<SearchRequest> waiting_;  // for budget, in order of issue
  std::deque<SearchRequest> waiting_verdicts_;
  std::vector<SearchRequest> outbox_;
  std::vector<AdoptedSample> adopted_;
  std::vector<std::pair<NodeId, float>> retentions_;
  std::vector<bool> answer_known_;  // per node: Step::answer is set
  // Per answer found: the index of the first one that it is one vote with.
  absl::flat_hash_map<std::string, int32_t> votes_of_;
  std::vector<AnytimeAnswer> anytime_;
  NodeId best_node_ = kNoNode;
  int32_t best_answer_ = -1;
  float best_score_ = 0;
  AnswerSupport support_;
};

// Awaits request `number`. Trivially destructible, as g++ 12 requires of
// temporaries in co_await expressions.
template <class T>
struct Awaiting {
  SearchContext* ctx;
  uint64_t number;

  // A failed search does not continue.
  bool await_ready() const {
    return ctx->slot(number).delivered && ctx->failure_.ok();
  }
  void await_suspend(std::coroutine_handle<> handle) const {
    ctx->slot(number).waiter = handle;
  }
  T await_resume() const {
    SearchContext::Slot& slot = ctx->slot(number);
    slot.consumed = true;
    if constexpr (std::is_same_v<T, Expansion>) {
      return std::move(slot.expansion);
    } else if constexpr (std::is_same_v<T, Evaluation>) {
      return Evaluation{slot.done};
    } else {
      return Verification{slot.done, slot.correct};
    }
  }
};

// The engine's side of a SearchContext.
class SearchDriver {
 public:
  explicit SearchDriver(SearchContext& ctx) : ctx_(ctx) {}

  // Requests made since the last call, in order of issue.
  std::vector<SearchRequest> TakeRequests();
  // Samples that became nodes since the last call.
  std::vector<AdoptedSample> TakeAdopted();
  // SetRetention calls since the last call, in order.
  std::vector<std::pair<NodeId, float>> TakeRetentions();
  // Handles of samples that arrived but never became nodes because the search
  // ended first. For cleanup by the engine.
  std::vector<int64_t> UndeliveredHandles() const;
  // Adds a completion; it is applied once all earlier ones have arrived.
  void Put(SearchCompletion completion);
  // Applies all completions that can be applied and resumes the search in
  // between. Afterwards TakeRequests() may have more, or the search is over.
  void Advance();
  // Ends the search: requests in flight complete as cancelled, and no more are
  // sent.
  void Stop(std::string reason);

  const absl::Status& failure() const { return ctx_.failure_; }
  const std::string& stop_reason() const { return ctx_.stop_reason_; }
  // True once Stop was called.
  bool halted() const { return ctx_.halted_; }
  // Sequence number of the next completion to be applied.
  uint64_t next_delivery() const { return ctx_.next_delivery_; }
  const std::vector<AnytimeAnswer>& anytime() const { return ctx_.anytime_; }
  NodeId best_node() const { return ctx_.best_node_; }
  int32_t best_answer() const { return ctx_.best_answer_; }
  float best_score() const { return ctx_.best_score_; }
  AnswerStage best_stage() const { return ctx_.best_stage_; }

 private:
  SearchContext& ctx_;
};

}  // namespace espalier

#endif  // ESPALIER_SEARCH_SEARCH_CONTEXT_H_
