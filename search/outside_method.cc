// Methods registered through include/espalier/method.h, as the project's own.
#include <memory>
#include <utility>

#include "base/random.h"
#include "base/status_macros.h"
#include "espalier/method.h"
#include "search/algorithm.h"

namespace espalier {

uint32_t TreeView::size() const { return ctx_->tree().size(); }

uint32_t TreeView::parent(uint32_t node) const {
  return node == kRoot ? kRoot : ctx_->tree()[node].parent;
}

std::vector<uint32_t> TreeView::children(uint32_t node) const {
  std::vector<uint32_t> children;
  for (const NodeId child : Children(ctx_->tree(), node)) {
    children.push_back(child);
  }
  return children;
}

std::string_view TreeView::text(uint32_t node) const {
  return ctx_->tree().text(node);
}

std::string TreeView::response(uint32_t node) const {
  return ctx_->tree().Response(node);
}

float TreeView::logprob(uint32_t node) const {
  return ctx_->tree().step(node).logprob;
}

StepScores TreeView::scores(uint32_t node) const {
  return ctx_->tree().scores(node);
}

bool TreeView::terminal(uint32_t node) const {
  return ctx_->tree()[node].terminal();
}

bool TreeView::truncated(uint32_t node) const {
  return ctx_->tree()[node].truncated();
}

uint32_t TreeView::draws(uint32_t node) const {
  return ctx_->tree().step(node).draws;
}

namespace method_internal {

bool AwaitedRequest::await_ready() const {
  return Awaiting<Expansion>{ctx, number}.await_ready();
}

void AwaitedRequest::await_suspend(std::coroutine_handle<> caller) const {
  Awaiting<Expansion>{ctx, number}.await_suspend(caller);
}

std::vector<uint32_t> AwaitedExpansion::await_resume() const {
  const Expansion expansion = Awaiting<Expansion>{ctx, number}.await_resume();
  return {expansion.samples.begin(), expansion.samples.end()};
}

bool AwaitedScores::await_resume() const {
  return Awaiting<Evaluation>{ctx, number}.await_resume().done;
}

std::optional<bool> AwaitedVerdict::await_resume() const {
  const Verification verdict =
      Awaiting<Verification>{ctx, number}.await_resume();
  if (!verdict.done) return std::nullopt;
  return verdict.correct;
}

}  // namespace method_internal

const Problem& MethodContext::problem() const { return ctx_.problem(); }

method_internal::AwaitedExpansion MethodContext::Expand(
    uint32_t node, const SampleOptions& options) {
  const Awaiting<Expansion> request =
      ctx_.Expand(node, {.n = options.n,
                         .temperature = options.temperature,
                         .max_tokens = options.max_tokens});
  return {{request.ctx, request.number}};
}

method_internal::AwaitedScores MethodContext::Score(
    absl::Span<const uint32_t> nodes) {
  const Awaiting<Evaluation> request = ctx_.Evaluate(nodes);
  return {{request.ctx, request.number}};
}

method_internal::AwaitedVerdict MethodContext::Verify(uint32_t node) {
  const Awaiting<Verification> request = ctx_.Verify(node);
  return {{request.ctx, request.number}};
}

std::string MethodContext::Answer(uint32_t node) {
  const int32_t answer = ctx_.AnswerOf(node);
  return answer < 0 ? std::string() : ctx_.tree().answer_text(answer);
}

int64_t MethodContext::TokensLeft() const { return ctx_.tokens_left(); }

bool MethodContext::ShouldStop() { return ctx_.ShouldStop(); }

void MethodContext::CountSimulation() { ctx_.CountSimulation(); }

double MethodContext::Uniform(uint32_t node, uint64_t index) const {
  return ctx_.Stream(node, Purpose::kSelect, index).UniformDouble();
}

void MethodContext::Offer(uint32_t node, float score) {
  ctx_.Offer(node, score);
}

namespace co_internal {

SearchContext& ContextOf(MethodContext& search) { return search.ctx_; }

}  // namespace co_internal

namespace {

// The context of the method lives in this coroutine's frame.
Co<> RunOutside(SearchContext& ctx, const OutsideMethod& method) {
  MethodContext search(ctx);
  co_await method.Run(search);
}

class OutsideAlgorithm : public SearchAlgorithm {
 public:
  OutsideAlgorithm(std::string name, std::vector<RequestKind> needs,
                   std::unique_ptr<OutsideMethod> method, FinishOption finish)
      : name_(std::move(name)),
        needs_(std::move(needs)),
        method_(std::move(method)),
        finish_(finish) {}

  std::string_view name() const override { return name_; }
  const std::vector<RequestKind>& needs() const override { return needs_; }
  int models() const override { return 1; }
  int64_t responses_for_an_answer() const override { return 1; }
  std::vector<OptionInfo> options() const override {
    OptionLister lister;
    // Listing leaves every option as it is.
    method_->Visit(lister);
    FinishOption finish = finish_;
    finish.Visit(lister, needs_);
    return lister.options();
  }
  Co<> Run(SearchContext& ctx) const override {
    return RunAndFinish(ctx, RunOutside(ctx, *method_), finish_.Plan(needs_));
  }

 private:
  std::string name_;
  std::vector<RequestKind> needs_;
  std::unique_ptr<OutsideMethod> method_;
  FinishOption finish_;
};

}  // namespace

void AddMethod(MethodDescription description,
               std::function<std::unique_ptr<OutsideMethod>()> make) {
  std::vector<RequestKind> needs = {RequestKind::kExpand};
  if (description.scores) needs.push_back(RequestKind::kEvaluate);
  if (description.verifies) needs.push_back(RequestKind::kVerify);
  const std::string name = description.name;
  const auto make_algorithm = [name, needs,
                               make = std::move(make)](const OptionMap& given)
      -> absl::StatusOr<std::unique_ptr<SearchAlgorithm>> {
    std::unique_ptr<OutsideMethod> method = make();
    FinishOption finish;
    OptionParser parser(given);
    method->Visit(parser);
    finish.Visit(parser, needs);
    ESP_RETURN_IF_ERROR(parser.Finish("method " + name, method->Check()));
    return std::make_unique<OutsideAlgorithm>(name, needs, std::move(method),
                                              finish);
  };
  AddAlgorithm({.name = name,
                .summary = std::move(description.summary),
                .needs = needs,
                .notes = {.source = std::move(description.source),
                          .when_to_use = std::move(description.when_to_use),
                          .test = ""},
                .make = make_algorithm});
}

}  // namespace espalier
