// A search method of your own, written outside the project.
//
//   struct FirstStepOptions {
//     int width = 4;
//     void Visit(OptionVisitor& v) {
//       v.Int("width", &width, 1, 64, "first steps to choose among");
//     }
//   };
//
//   Co<> FirstStep(MethodContext& search, const FirstStepOptions& options) {
//     const std::vector<uint32_t> steps =
//         co_await search.Expand(kRoot, {.n = options.width});
//     ...
//     search.Offer(node, score);
//   }
//
//   const RegisterMethod<FirstStepOptions> kFirstStep(
//       {.name = "first_step", .summary = "...", .scores = true}, &FirstStep);
//
// From then on "first_step:width=8" is a method like any other: it has budgets,
// gives the same tree for the same seed, is recorded, and its open responses
// are finished. A method reads no clock and takes its random numbers from the
// context only; otherwise runs cannot be repeated. Register before the first
// search, for instance by an object at namespace scope.
//
// A method is single-threaded: nothing here is called from two threads at once.
#ifndef ESPALIER_API_METHOD_H_
#define ESPALIER_API_METHOD_H_

#include <coroutine>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "espalier/coroutine.h"
#include "espalier/method_options.h"
#include "espalier/node_id.h"
#include "espalier/problem.h"
#include "espalier/scores.h"

namespace espalier {

// The search tree, read only. Views are cheap to copy and stay valid as long as
// the search; node numbers are given in order of creation.
class TreeView {
 public:
  explicit TreeView(const SearchContext& ctx) : ctx_(&ctx) {}

  uint32_t size() const;                 // nodes, the root included
  uint32_t parent(uint32_t node) const;  // of the root: itself
  std::vector<uint32_t> children(uint32_t node) const;
  std::string_view text(uint32_t node) const;  // of the step
  std::string response(uint32_t node) const;   // from the prompt to the step
  float logprob(uint32_t node) const;          // ln p of the step, summed
  StepScores scores(uint32_t node) const;      // NaN: not scored
  bool terminal(uint32_t node) const;          // the response ended here
  bool truncated(uint32_t node) const;         // cut by a token limit
  uint32_t draws(uint32_t node) const;         // times the step was sampled

 private:
  const SearchContext* ctx_;
};

struct SampleOptions {
  int n = 1;                                         // samples
  float temperature = 1;                             // 0: greedy
  int max_tokens = std::numeric_limits<int>::max();  // of each sample
};

namespace method_internal {

// What co_await takes. Trivially destructible, as g++ 12 needs it.
struct AwaitedRequest {
  SearchContext* ctx;
  uint64_t number;

  bool await_ready() const;
  void await_suspend(std::coroutine_handle<> caller) const;
};
struct AwaitedExpansion : AwaitedRequest {
  // One node per sample, in order; equal samples are one node. Fewer than
  // requested, or none, where the budget is spent.
  std::vector<uint32_t> await_resume() const;
};
struct AwaitedScores : AwaitedRequest {
  bool await_resume() const;  // false: cancelled, nodes may be unscored
};
struct AwaitedVerdict : AwaitedRequest {
  std::optional<bool> await_resume() const;  // nothing: cancelled
};

}  // namespace method_internal

// All that a method can see and do.
class MethodContext {
 public:
  explicit MethodContext(SearchContext& ctx) : ctx_(ctx) {}

  const Problem& problem() const;
  TreeView tree() const { return TreeView(ctx_); }

  // Samples next steps after `node`. Asking again draws further samples.
  method_internal::AwaitedExpansion Expand(uint32_t node,
                                           const SampleOptions& options = {});
  // Has the reward model score those of `nodes` that have no scores yet. Does
  // not use the policy's budget of tokens.
  method_internal::AwaitedScores Score(absl::Span<const uint32_t> nodes);
  // Asks the problem's intrinsic verifier about a finished response.
  method_internal::AwaitedVerdict Verify(uint32_t node);

  // The canonical answer of the response that ends in `node`: equal texts are
  // one vote. "" where it has none.
  std::string Answer(uint32_t node);
  // Tokens that may still be sampled, without those held back for finishing;
  // the largest int64_t if there is no budget.
  int64_t TokensLeft() const;

  // True once a budget is spent or a stop was requested.
  bool ShouldStop();
  // Counts towards SearchOptions::max_simulations.
  void CountSimulation();
  // In [0, 1): a function of the seed, the problem, the node's text and
  // `index`.
  double Uniform(uint32_t node, uint64_t index = 0) const;
  // The answer as of now: the response that ends in `node`, with a score of the
  // method's own.
  void Offer(uint32_t node, float score);

 private:
  friend SearchContext& co_internal::ContextOf(MethodContext& search);

  SearchContext& ctx_;
};

struct MethodDescription {
  std::string name = {};         // unique among all methods
  std::string summary = {};      // one line
  std::string source = {};       // a paper, if any
  std::string when_to_use = {};  // continues "use it when"
  bool scores = false;           // calls Score: needs a reward model
  bool verifies = false;         // calls Verify: needs an intrinsic verifier
};

// A method with its options, type-erased.
class OutsideMethod {
 public:
  virtual ~OutsideMethod() = default;
  virtual void Visit(OptionVisitor& visitor) = 0;
  // Option values that contradict each other, one sentence per problem.
  virtual std::vector<std::string> Check() const = 0;
  virtual Co<> Run(MethodContext& search) const = 0;
};

// Adds a method. Ends the program if the name is taken.
void AddMethod(MethodDescription description,
               std::function<std::unique_ptr<OutsideMethod>()> make);

template <class Options>
class RegisterMethod {
 public:
  using RunFunction = Co<> (*)(MethodContext&, const Options&);

  RegisterMethod(MethodDescription description, RunFunction run,
                 Options defaults = {}) {
    AddMethod(std::move(description), [run, defaults] {
      return std::make_unique<Method>(run, defaults);
    });
  }

 private:
  class Method : public OutsideMethod {
   public:
    Method(RunFunction run, Options options)
        : run_(run), options_(std::move(options)) {}
    void Visit(OptionVisitor& visitor) override { options_.Visit(visitor); }
    std::vector<std::string> Check() const override {
      if constexpr (requires { options_.Check(); }) return options_.Check();
      return {};
    }
    Co<> Run(MethodContext& search) const override {
      return run_(search, options_);
    }

   private:
    RunFunction run_;
    Options options_;
  };
};

}  // namespace espalier

#endif  // ESPALIER_API_METHOD_H_
