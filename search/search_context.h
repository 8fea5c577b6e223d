// What a search algorithm sees of the world: its tree, the requests it may
// make, its random streams and its budget. Nothing else: no gold answer, no
// clock, no threads.
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
// Completions are applied to the tree in the order in which their requests
// were made, whatever the order in which they arrive, and a coroutine that
// waits for request k sees exactly the completions up to k. Hence the tree
// does not depend on threads, batches or other searches.
//
// The other side (SearchDriver below) is the engine's: it takes requests out
// and puts completions in.
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

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "base/random.h"
#include "espalier/coroutine.h"
#include "espalier/problem.h"
#include "espalier/scores.h"
#include "espalier/search_result.h"
#include "espalier/task.h"
#include "espalier/verifier.h"
#include "search/stop.h"
#include "search/tree/tree.h"

namespace espalier {

// The models of a search by the part they play; bound to models in options.
enum class Role : uint8_t {
  kPolicy,
  kCritic,
  kPlanner,
  kProver,
  kSecond,
  kNavigator,
};

enum class RequestKind : uint8_t {
  kExpand,
  kEvaluate,
  kVerify,
  kScore,
  kAsk,
  kRetrieve,
  kRun,
  kGrade,  // reads the reference: while training data is made, never at test
};
std::string_view RequestKindName(RequestKind kind);

// What may be sampled of the policy's distribution (SearchOptions).
struct SampleFilter {
  int top_k = 0;    // 0: all
  float top_p = 1;  // 1: all
  float min_p = 0;  // 0: all
};

struct ExpandOptions {
  int n = 1;
  float temperature = 1;  // 0: greedy
  // Not empty: nothing is sampled, this text becomes the next step. It outlives
  // the search.
  std::string_view forced = {};
  // Tokens of a sample at most; the context cuts it further to the format's
  // limit and to what is left of the budget.
  int max_tokens = std::numeric_limits<int>::max();
  // k > 0: how sure the model was of each token is told (Tree::confidences),
  // from the k likeliest tokens at its place. A model that cannot fails the
  // search.
  int top_logprobs = 0;
  // k > 0: the k likeliest tokens at the place of each token and their ln p are
  // told (Tree::alternatives). A model that cannot fails the search.
  int alternatives = 0;
  // The model's hidden state at the end of each sample is told (Tree::hidden).
  // A model that has none fails the search.
  bool hidden = false;
  // In place of the search's own.
  std::optional<SampleFilter> filter = {};
  // The response also ends where a sample says one of these, which is left out.
  // They outlive the search.
  absl::Span<const std::string_view> stop_strings = {};
};

// Result of Expand: one node a sample, in order of sampling. Equal samples are
// the same node. Fewer than asked for where the budget left no more, and none
// where it or a cancellation left nothing to do.
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
  uint64_t seq = 0;  // order of issue within the search
  RequestKind kind = RequestKind::kExpand;
  Role by = Role::kPolicy;
  std::vector<NodeId> nodes;  // Expand, Verify, Grade: one
  ExpandOptions expand;
  int first_sample = 0;  // index of the first sample to draw at the node
  int max_tokens = 0;    // per sample: n times as many are reserved
  StreamKey stream;      // samples of the node draw from it
};

// A sample as a backend returned it.
struct SampledStep {
  std::vector<int32_t> tokens;
  std::string text;
  float logprob = 0;
  // One a token, for the record: ln p at temperature 1, and ln of the chance
  // with which the sampler drew it.
  std::vector<float> logprobs;
  std::vector<float> sampler_logprobs;
  // Entropy of the model's distribution in nats, at temperature 1: the mean
  // over the tokens, NaN where the model tells none; and, where
  // ExpandOptions::top_logprobs asks, one a token.
  float mean_entropy = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> entropies;
  // Where it asks, one a token: minus the mean ln p of the likeliest so many,
  // the higher the surer (DeepConf, arXiv:2508.15260).
  std::vector<float> confidences;
  std::vector<TopToken> alternatives;  // where ExpandOptions asks: k a token
  std::vector<float> hidden;           // where ExpandOptions::hidden asks
  bool ended = false;                  // the model ended the response
  bool truncated = false;              // cut by a length limit
  int64_t handle = -1;  // the engine's own, handed back with the node
};
// A sample's handle once the sample has become a node. Not `is_new`: the node
// was there already and the handle is not needed.
struct AdoptedSample {
  NodeId node = kNoNode;
  int64_t handle = -1;
  bool is_new = false;
};

struct SearchCompletion {
  uint64_t seq = 0;
  absl::Status status;
  std::vector<SampledStep> samples;  // Expand
  std::vector<StepScores> scores;    // Evaluate, one a node
  bool correct = false;              // Verify, Grade
};

// One point of the anytime curve: the answer held after so many tokens.
struct AnytimeAnswer {
  int64_t tokens = 0;
  NodeId node = kNoNode;
  int32_t answer = -1;
};

template <class T>
struct Awaiting;
class SearchContext;

// Answers requests on the spot, in place of the engine: scripted policies, and
// models that cost less than handing a request over. Externally synchronised.
class InlineModel {
 public:
  virtual ~InlineModel() = default;
  // Adds samples `first_sample` ... of `node` by ctx.AddSample to `out`: at
  // most `options.n`, of at most `options.max_tokens` tokens each.
  virtual void Expand(SearchContext& ctx, NodeId node,
                      const ExpandOptions& options, int first_sample,
                      Expansion& out) = 0;
  virtual StepScores Evaluate(const Tree& tree, NodeId node) = 0;
  // Of a finished response; answers Grade, too.
  virtual bool Verify(const Tree& tree, NodeId node) = 0;
};

class SearchContext {
 public:
  // The referenced objects outlive the context. With `model` requests are
  // answered at once and none reaches the driver.
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
  // node are drawn from its stream in order: asking again draws further ones.
  //
  // The most that it may cost is reserved before it is sent, so no budget is
  // ever exceeded. Requests made between two deliveries share what is left
  // evenly; where that is less than a step for each, the later ones wait, in
  // order, for the next delivery. The first of all waits for nobody: it gets
  // fewer samples, or none where not even one step is left.
  Awaiting<Expansion> Expand(NodeId node, ExpandOptions options = {},
                             Role by = Role::kPolicy);
  // Scores those of `nodes` that are not scored yet. All in one request. Costs
  // no tokens of the policy, and goes on when those are spent.
  Awaiting<Evaluation> Evaluate(absl::Span<const NodeId> nodes,
                                Role by = Role::kCritic);
  // Asks the problem's intrinsic verifier for a verdict on a response.
  Awaiting<Verification> Verify(NodeId node);
  // Asks whether a response is right by the problem's reference. For methods
  // that label training problems: only `generate` answers, and the engine
  // refuses such a method everywhere else.
  Awaiting<Verification> Grade(NodeId node);

  // Waits until one more completion was applied: for a coroutine that finds
  // nothing to do while others of its search wait. Goes on at once if nothing
  // is under way.
  struct Yielding {
    SearchContext* ctx;
    bool await_ready() const {
      return ctx->next_delivery_ == ctx->next_seq_ && ctx->failure_.ok();
    }
    void await_suspend(std::coroutine_handle<> handle) const {
      ctx->yielding_.push_back(handle);
    }
    void await_resume() const {}
  };
  Yielding Yield() { return {this}; }

  // Index of the canonical answer of the response that ends in `node`, -1 if
  // it has none.
  int32_t AnswerOf(NodeId node);

  // Random draws that belong to `node` and `purpose`.
  RandomStream Stream(NodeId node, Purpose purpose, uint64_t index = 0) const;

  // True once a budget is spent or a stop was asked for. Checked before work
  // is begun, so that a search returns its best answer so far.
  bool ShouldStop() {
    return unchanged_ ? !stop_reason_.empty() : LookWhetherToStop();
  }
  const Usage& usage() const { return usage_; }
  void CountSimulation() {
    ++usage_.simulations;
    unchanged_ = false;
  }
  // What requests to come may still cost, those under way and what is held back
  // for finishing a response taken off; kNoLimit without a budget.
  int64_t tokens_left() const;
  // The same with what is held back: what a method may spend that is over and
  // finishes a response of its own choice (BeginFinish).
  int64_t tokens_unspent() const;

  bool has_token_budget() const { return budget_.tokens != kNoLimit; }

  // True once an answer was offered.
  bool answered() const { return best_answer_ >= 0; }

  // The best answer as of now: a node that ends a response (any node for a
  // method that stopped early) with the method's own score.
  void Offer(NodeId node, float score);
  // As Offer, for an answer that several nodes share (votes). `standing` says
  // how firmly it is held, for the stoppers; Votes fills it.
  void OfferAnswer(NodeId node, int32_t answer, float score,
                   const AnswerSupport& support = {});

  // The stage of finishing (search/finish.h), after the method has ended:
  // requests are sent although the method was told to stop, where that was for
  // want of budget. False where the search may ask for nothing more.
  bool BeginFinish();
  bool finishing() const { return finishing_; }
  // From now on nothing is held back for that stage.
  void HoldNothingBack() { holds_back_ = false; }
  // Where the answers offered from now on come from.
  void SetStage(AnswerStage stage) { stage_ = stage; }
  // How promising an unfinished response is to finish: the higher, the better.
  // log(path score), with what a further step usually costs added for every
  // step that is there already. Those without a score come after all others,
  // by the policy's mean log-prob.
  static float Promise(const Tree& tree, NodeId node);
  // Tokens that finishing the response at `node` will take, by the lengths seen
  // so far.
  int64_t TokensToFinish(NodeId node) const;
  // Whether what is left should be too little to finish the response at `node`,
  // while the stage of finishing follows and may make an answer of another.
  bool BetterLeftToFinish(NodeId node) const;

  // For an InlineModel: one more sample of `parent`'s next step. It ends the
  // response if it says so itself or begins with a final prefix of the format.
  NodeId AddSample(NodeId parent, const StepDraft& draft,
                   bool* is_new = nullptr);

  // How much the search wants what the models hold of `node` kept: the key by
  // which it will expand it. Where memory is short the nodes of the lowest keys
  // are let go of, and computed again should they be expanded after all. Unless
  // told, the last use decides. Changes no result.
  void SetRetention(NodeId node, double key) {
    if (inline_ == nullptr)
      retentions_.emplace_back(node, static_cast<float>(key));
  }
  // `node` itself will not be expanded again: it is worth what is below it.
  void Evict(NodeId node) {
    SetRetention(node, -std::numeric_limits<double>::infinity());
  }

  // Choices are made by `draws`, in order, in place of Stream's own: for tests
  // that repeat what another program did. It outlives the search.
  void FeedDraws(RecordedDraws* draws) { recorded_draws_ = draws; }

  // Ends the search with an error; its coroutine is not resumed again.
  void Fail(absl::Status status);

  FrameArena& frames() { return frames_; }

 private:
  friend class SearchDriver;
  template <class T>
  friend struct Awaiting;

  // A request from its issue until its result was handed to the coroutine.
  struct Slot {
    RequestKind kind = RequestKind::kExpand;
    bool arrived = false;    // the completion is here
    bool delivered = false;  // and applied
    bool consumed = false;   // and its result handed to the coroutine
    bool done = false;       // of an evaluation or a verification
    bool correct = false;
    std::coroutine_handle<> waiter = nullptr;
    Expansion expansion;
    std::vector<NodeId> nodes;
    SearchCompletion completion;
    // What an Expand may cost, from when it is sent until it is delivered.
    bool sent = false;
    int64_t reserved_tokens = 0;
    int64_t reserved_nodes = 0;
    int64_t reserved_bytes = 0;
  };
  bool LookWhetherToStop();
  // Sends what waits, as far as the budget allows (see Expand).
  void Admit();
  // Sends the first `count` of what waits, each sample cut to `each` tokens, as
  // far as the budgets of nodes and bytes allow. True if something was sent.
  bool AdmitFront(size_t count, int64_t each);
  void AdmitOne(SearchRequest& request, int n, int64_t limit);
  void RefuseWaiting();
  // Cuts the samples and tokens of a request to what is left while nothing is
  // under way. False where that is not even one step; the search is then told
  // to stop.
  bool CutToRest(NodeId node, int* n, int64_t* limit);
  // Whether the budgets of nodes and bytes have room for `n` samples.
  int64_t ReplyBytes(const ExpandOptions& options, int64_t tokens_each) const;
  bool HasRoom(const ExpandOptions& options, int64_t tokens_each) const;
  Awaiting<Expansion> ExpandInline(NodeId node, ExpandOptions options);
  // Whether one sample of `node` is the next step of the best open path, for
  // which tokens are held back.
  bool GoesOn(NodeId node, int n) const {
    return n == 1 && node == BestOpen() && tree_[node].num_children == 0;
  }
  // What finishing would begin with.
  NodeId BestOpen() const {
    return best_open_ != kNoNode ? best_open_ : deepest_;
  }
  // Tokens that a sample must be allowed so that its step will be whole.
  int64_t StepNeed() const;
  // Tokens kept for finishing the best response while there is no answer.
  int64_t HeldBack() const;
  bool MayEvaluate();
  void SeeStep(NodeId node);
  void CountModelCall() {
    ++usage_.model_calls;
    unchanged_ = false;
  }
  Slot& slot(uint64_t seq) { return slots_[seq & slot_mask_]; }
  const Slot& slot(uint64_t seq) const { return slots_[seq & slot_mask_]; }
  // A slot of its own for the next sequence number.
  Slot& NewSlot(RequestKind kind, uint64_t* seq);
  uint64_t Issue(SearchRequest request);
  // A request that needs nobody's answer.
  uint64_t IssueAnswered(RequestKind kind, bool done);
  void Deliver(Slot& slot);
  void DeliverExpansion(Slot& slot);
  void DeliverEvaluation(Slot& slot);
  bool ApplyScores(NodeId id, const StepScores& scores);
  void FailScores(NodeId id, float step, float path);
  Awaiting<Evaluation> EvaluateInline(absl::Span<const NodeId> nodes);
  // The verifier's verdict on `node` is there.
  void Judged(NodeId node, bool correct);
  void CountTree();
  void DropConsumed();

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
  bool unchanged_ = false;  // nothing that decides it since ShouldStop looked
  bool spent_ = false;      // it stops because a budget but calls is spent
  bool halted_ = false;     // it was stopped from outside
  bool finishing_ = false;
  bool holds_back_ = true;
  AnswerStage stage_ = AnswerStage::kMethod;
  AnswerStage best_stage_ = AnswerStage::kNone;  // of the answer held

  // Of requests for samples that were sent and not delivered yet.
  int64_t expanding_ = 0;
  int64_t reserved_tokens_ = 0;
  int64_t reserved_nodes_ = 0;
  int64_t reserved_bytes_ = 0;
  // Tokens of the longest and the shortest whole step so far; 0: none yet.
  int64_t steps_seen_ = 0;
  int longest_step_ = 0;
  int shortest_step_ = 0;
  // What finishing would begin with: of the scored nodes the most promising,
  // and the deepest of all.
  NodeId best_open_ = kNoNode;
  float best_promise_ = 0;
  NodeId deepest_ = kRoot;
  int64_t longest_response_ = 0;  // tokens; 0: none has ended yet
  absl::Status failure_;

  InlineModel* const inline_;

  // Requests first_slot_ .. next_seq_-1, a ring of a power of two.
  std::vector<Slot> slots_;
  uint64_t slot_mask_;  // its size - 1
  uint64_t first_slot_ = 0;
  uint64_t next_seq_ = 0;
  uint64_t next_delivery_ = 0;
  std::vector<std::coroutine_handle<>> yielding_;
  std::deque<SearchRequest> waiting_;  // for the budget, in order of issue
  std::vector<SearchRequest> outbox_;
  std::vector<AdoptedSample> adopted_;
  std::vector<std::pair<NodeId, float>> retentions_;
  std::vector<bool> answer_known_;  // per node: Step::answer is set
  std::vector<AnytimeAnswer> anytime_;
  NodeId best_node_ = kNoNode;
  int32_t best_answer_ = -1;
  float best_score_ = 0;
  AnswerSupport support_;
};

// Awaits request `seq`. Trivially destructible, as g++ 12 wants of temporaries
// in co_await expressions.
template <class T>
struct Awaiting {
  SearchContext* ctx;
  uint64_t seq;

  // A failed search goes no further.
  bool await_ready() const {
    return ctx->slot(seq).delivered && ctx->failure_.ok();
  }
  void await_suspend(std::coroutine_handle<> handle) const {
    ctx->slot(seq).waiter = handle;
  }
  T await_resume() const {
    SearchContext::Slot& slot = ctx->slot(seq);
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
  // What Keep was told since the last call, in that order.
  std::vector<std::pair<NodeId, float>> TakeRetentions();
  // Handles of samples that arrived and never became nodes, because the search
  // ended before. For the engine's cleaning up.
  std::vector<int64_t> UndeliveredHandles() const;
  // Hands in a completion; applied once all earlier ones are there.
  void Put(SearchCompletion completion);
  // Applies what can be applied and resumes the search as it goes. After it,
  // requests() may have more, or the search is over.
  void Advance();
  // Asks the search to end: requests in flight complete as cancelled, and none
  // is sent any more.
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
