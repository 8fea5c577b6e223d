// Search methods and where they register.
//
//   auto algorithm = MakeAlgorithm("beam:width=2:branch=4");
//   // Or a published system (presets.h) with one option changed:
//   auto preset = MakeAlgorithm("preset=rest_mcts_star:c=0.5");
//   Co<> search = (*algorithm)->Run(ctx);
//   search.Start();
//
// A family is a folder; a method is one coroutine with its options. Registering
// a method touches no other file:
//
//   Co<> RunBeam(SearchContext& ctx, const BeamOptions& options) { ... }
//   const RegisterAlgorithm<BeamOptions> kBeam(
//       "beam", "step-level beam search", {RequestKind::kExpand}, &RunBeam,
//       MethodNotes{.source = "search-and-learn, openr",
//                   .when_to_use = "a reward model judges single steps well",
//                   .test = "tests/search/beam_test.cc"});
//
// Optional members of Options:
//   std::vector<RequestKind> Needs() const;
//       requests the method makes, where they depend on its options
//   int Models() const;
//       number of models that generate
//   int64_t AtOnce() const;
//       lower bound on the samples drawn in parallel at each step before the
//       first answer
//   bool NeverFinished() const;
//       true if only the method's own choice is an answer, e.g. where a
//       verifier has to accept it (finish.h)
//   Level level; Aggregate aggregate;
//       how the method combines scores (search/tree/score_rule.h), if it
//       declares these options in its own Visit. Any other method that reads
//       scores gets the general options of the same names (ScoreOptions).
//       Either way they set Tree::score, by which the finishing stage ranks
//   std::vector<std::string> Check() const;
//       rejects inconsistent combinations of values
//       (espalier/method_options.h)
//
// The registry is filled before main and constant afterwards. docs/methods.md
// is generated from it.
#ifndef ESPALIER_SEARCH_ALGORITHM_H_
#define ESPALIER_SEARCH_ALGORITHM_H_

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "base/status_macros.h"
#include "espalier/coroutine.h"
#include "espalier/method_options.h"
#include "search/finish.h"
#include "search/search_context.h"

namespace espalier {

// A method with its options set. Immutable; can run many searches concurrently.
class SearchAlgorithm {
 public:
  virtual ~SearchAlgorithm() = default;
  virtual std::string_view name() const = 0;
  // Requests the method makes; the engine rejects it if one has no backend.
  virtual const std::vector<RequestKind>& needs() const = 0;
  // Number of models that generate; more than 1 if the method chooses among
  // several.
  virtual int models() const = 0;
  // How many responses' worth of tokens a search needs before it has an answer;
  // 1 if the finishing stage (finish.h) can answer from what there is.
  virtual int64_t responses_for_an_answer() const = 0;
  virtual std::vector<OptionInfo> options() const = 0;
  // How it combines scores, and the weights given for it, if any.
  virtual ScoreRule score_rule() const { return {}; }
  virtual LevelWeights level_weights() const { return {}; }
  // Those of options() that every method that reads scores has. A
  // configuration names them only where they differ from their defaults.
  virtual std::vector<std::string> general_options() const { return {}; }
  // `ctx` and the algorithm outlive the search.
  virtual Co<> Run(SearchContext& ctx) const = 0;
};

// Shown in the list of methods in addition to the options.
struct MethodNotes {
  std::string source;       // the paper or project; "" for none
  std::string when_to_use;  // after "use it when"
  std::string test;         // the file that tests it, from the root
};

struct AlgorithmInfo {
  std::string name;
  std::string summary;
  std::vector<RequestKind> needs;
  MethodNotes notes;
  std::function<absl::StatusOr<std::unique_ptr<SearchAlgorithm>>(
      const OptionMap&)>
      make;
};

// All methods in alphabetical order.
std::vector<const AlgorithmInfo*> ListAlgorithms();

// Splits "beam:width=2:branch=4" into the name and its options.
absl::Status ParseMethod(std::string_view spec, std::string* name,
                         OptionMap* options);

// As ParseMethod, but "preset=rest_mcts_star:c=0.5" resolves to the preset's
// method and options; options given here override the preset's.
absl::Status ResolveMethod(std::string_view spec, std::string* name,
                           OptionMap* options);

// NotFound with the nearest name for an unknown method or preset;
// InvalidArgument listing all bad options.
absl::StatusOr<std::unique_ptr<SearchAlgorithm>> MakeAlgorithm(
    std::string_view spec);
absl::StatusOr<std::unique_ptr<SearchAlgorithm>> MakeAlgorithm(
    const std::string& name, const OptionMap& options);

// The method and all its options as one canonical string that identifies a
// configuration in results.
std::string CanonicalMethod(const SearchAlgorithm& algorithm);
// Hash of that string in 16 hex digits: config_hash in results.
std::string MethodHash(std::string_view canonical_method);

// Adds to the registry; called by RegisterAlgorithm before main.
void AddAlgorithm(AlgorithmInfo info);

// The option that every method with an answer has.
struct FinishOption {
  bool finish = true;
  void Visit(OptionVisitor& v, const std::vector<RequestKind>& needs);
  FinishPlan Plan(const std::vector<RequestKind>& needs) const;
};

// The options of every method that reads scores, unless it declares members
// `level` and `aggregate` of its own.
struct ScoreOptions {
  bool level = false, aggregate = false;  // which of the two it adds
  bool read = false;                      // the method reads scores
  ScoreRule rule;  // of the method's own options where it has them
  std::string weights;
  void Visit(OptionVisitor& v);
  std::vector<std::string> Names() const;
  // What is wrong with `weights`, one sentence each.
  std::vector<std::string> Check() const;
  LevelWeights Weights() const;  // requires an empty Check()
};

template <class Options>
class RegisterAlgorithm {
 public:
  using RunFunction = Co<> (*)(SearchContext&, const Options&);

  RegisterAlgorithm(std::string name, std::string summary,
                    std::vector<RequestKind> needs, RunFunction run,
                    Options defaults = {}, MethodNotes notes = {}) {
    if constexpr (requires { defaults.Needs(); }) needs = defaults.Needs();
    AddAlgorithm({name, summary, needs, std::move(notes),
                  [=](const OptionMap& given)
                      -> absl::StatusOr<std::unique_ptr<SearchAlgorithm>> {
                    Options options = defaults;
                    FinishOption finish;
                    OptionParser parser(given);
                    options.Visit(parser);
                    finish.Visit(parser, needs);
                    std::vector<std::string> problems;
                    if constexpr (requires { options.Check(); }) {
                      problems = options.Check();
                    }
                    // Needs may depend on the options.
                    std::vector<RequestKind> all = needs;
                    if constexpr (requires { options.Needs(); }) {
                      all = options.Needs();
                    }
                    ScoreOptions scores = ScoresOf(options, needs, all);
                    scores.Visit(parser);
                    const auto more = scores.Check();
                    problems.insert(problems.end(), more.begin(), more.end());
                    ESP_RETURN_IF_ERROR(
                        parser.Finish("method " + name, problems));
                    return std::make_unique<Algorithm>(
                        name, std::move(all), run, options, finish, scores);
                  }});
  }
  RegisterAlgorithm(std::string name, std::string summary,
                    std::vector<RequestKind> needs, RunFunction run,
                    MethodNotes notes)
      : RegisterAlgorithm(std::move(name), std::move(summary), std::move(needs),
                          run, Options{}, std::move(notes)) {}

 private:
  static ScoreOptions ScoresOf(const Options& options,
                               const std::vector<RequestKind>& usual,
                               const std::vector<RequestKind>& needs) {
    ScoreOptions out;
    constexpr bool kLevel = requires { out.rule.level = options.level; };
    constexpr bool kAggregate =
        requires { out.rule.aggregate = options.aggregate; };
    if constexpr (kLevel) out.rule.level = options.level;
    if constexpr (kAggregate) out.rule.aggregate = options.aggregate;
    for (const auto* list : {&usual, &needs}) {
      for (const RequestKind kind : *list) {
        out.read |= kLevel || kind == RequestKind::kEvaluate;
      }
    }
    out.level = out.read && !kLevel;
    out.aggregate = out.read && !kAggregate;
    return out;
  }

  class Algorithm : public SearchAlgorithm {
   public:
    Algorithm(std::string name, std::vector<RequestKind> needs, RunFunction run,
              Options options, FinishOption finish, ScoreOptions scores)
        : name_(std::move(name)),
          needs_(std::move(needs)),
          run_(run),
          options_(std::move(options)),
          finish_(finish),
          scores_(std::move(scores)) {}
    std::string_view name() const override { return name_; }
    const std::vector<RequestKind>& needs() const override { return needs_; }
    int models() const override {
      if constexpr (requires { options_.Models(); }) return options_.Models();
      return 1;
    }
    int64_t responses_for_an_answer() const override {
      if constexpr (requires { options_.AtOnce(); }) {
        if (!finish_.finish) return options_.AtOnce();
      }
      return 1;
    }
    std::vector<OptionInfo> options() const override {
      Options copy = options_;
      FinishOption finish = finish_;
      ScoreOptions scores = scores_;
      OptionLister lister;
      copy.Visit(lister);
      finish.Visit(lister, needs_);
      scores.Visit(lister);
      return lister.options();
    }
    ScoreRule score_rule() const override { return scores_.rule; }
    LevelWeights level_weights() const override { return scores_.Weights(); }
    std::vector<std::string> general_options() const override {
      return scores_.Names();
    }
    Co<> Run(SearchContext& ctx) const override {
      FinishPlan plan = finish_.Plan(needs_);
      if constexpr (requires { plan.choice = options_.choice; }) {
        plan.choice = options_.choice;
      }
      if constexpr (requires { options_.NeverFinished(); }) {
        plan.exempt |= options_.NeverFinished();
      }
      ctx.LowerScoresBy(scores_.rule.lower_confidence);
      if (scores_.read) ctx.UseRule(scores_.rule);
      if (!scores_.weights.empty()) {
        ctx.tree().set_level_weights(scores_.Weights());
      }
      return RunAndFinish(ctx, run_(ctx, options_), plan);
    }

   private:
    std::string name_;
    std::vector<RequestKind> needs_;
    RunFunction run_;
    Options options_;
    FinishOption finish_;
    ScoreOptions scores_;
  };
};

}  // namespace espalier

#endif  // ESPALIER_SEARCH_ALGORITHM_H_
