// Search methods and where they register.
//
//   auto algorithm = MakeAlgorithm("beam:width=2:branch=4");
//   Co<> search = (*algorithm)->Run(ctx);
//   search.Start();
//
// A family is a folder, a method one coroutine with its options; registering
// it touches no other file:
//
//   Co<> RunBeam(SearchContext& ctx, const BeamOptions& options) { ... }
//   const RegisterAlgorithm<BeamOptions> kBeam(
//       "beam", "step-level beam search", {RequestKind::kExpand}, &RunBeam);
//
// Options with a member `std::vector<RequestKind> Needs() const` say by
// themselves what the method asks for.
//
// The registry is filled before main and constant after.
#ifndef ESPALIER_SEARCH_ALGORITHM_H_
#define ESPALIER_SEARCH_ALGORITHM_H_

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "search/coroutine.h"
#include "search/options.h"
#include "search/search_context.h"
#include "src/base/status_macros.h"

namespace espalier {

// A method with its options set. Immutable; may run many searches at once.
class SearchAlgorithm {
 public:
  virtual ~SearchAlgorithm() = default;
  virtual std::string_view name() const = 0;
  // Requests the method makes; the engine refuses it if one has no backend.
  virtual const std::vector<RequestKind>& needs() const = 0;
  virtual std::vector<OptionInfo> options() const = 0;
  // The search. `ctx` and the algorithm outlive it.
  virtual Co<> Run(SearchContext& ctx) const = 0;
};

struct AlgorithmInfo {
  std::string name;
  std::string summary;
  std::vector<RequestKind> needs;
  std::function<absl::StatusOr<std::unique_ptr<SearchAlgorithm>>(
      const OptionMap&)>
      make;
};

// All methods in alphabetical order.
std::vector<const AlgorithmInfo*> ListAlgorithms();

// Splits "beam:width=2:branch=4" into the name and its options.
absl::Status ParseMethod(std::string_view spec, std::string* name,
                         OptionMap* options);

// NotFound with the nearest name for an unknown method; InvalidArgument for
// bad options, all of them listed.
absl::StatusOr<std::unique_ptr<SearchAlgorithm>> MakeAlgorithm(
    std::string_view spec);

// The method and all its options in one canonical text: identifies a
// configuration in results.
std::string CanonicalMethod(const SearchAlgorithm& algorithm);

// Adds to the registry; called by RegisterAlgorithm before main.
void AddAlgorithm(AlgorithmInfo info);

template <class Options>
class RegisterAlgorithm {
 public:
  using RunFunction = Co<> (*)(SearchContext&, const Options&);

  RegisterAlgorithm(std::string name, std::string summary,
                    std::vector<RequestKind> needs, RunFunction run,
                    Options defaults = {}) {
    if constexpr (requires { defaults.Needs(); }) needs = defaults.Needs();
    AddAlgorithm({name, summary, needs,
                  [=](const OptionMap& given)
                      -> absl::StatusOr<std::unique_ptr<SearchAlgorithm>> {
                    Options options = defaults;
                    OptionParser parser(given);
                    options.Visit(parser);
                    ESP_RETURN_IF_ERROR(parser.Finish("method " + name));
                    // Options may decide what is needed.
                    std::vector<RequestKind> all = needs;
                    if constexpr (requires { options.Needs(); }) {
                      all = options.Needs();
                    }
                    return std::make_unique<Algorithm>(name, std::move(all),
                                                       run, options);
                  }});
  }

 private:
  class Algorithm : public SearchAlgorithm {
   public:
    Algorithm(std::string name, std::vector<RequestKind> needs, RunFunction run,
              Options options)
        : name_(std::move(name)),
          needs_(std::move(needs)),
          run_(run),
          options_(std::move(options)) {}
    std::string_view name() const override { return name_; }
    const std::vector<RequestKind>& needs() const override { return needs_; }
    std::vector<OptionInfo> options() const override {
      Options copy = options_;
      OptionLister lister;
      copy.Visit(lister);
      return lister.options();
    }
    Co<> Run(SearchContext& ctx) const override { return run_(ctx, options_); }

   private:
    std::string name_;
    std::vector<RequestKind> needs_;
    RunFunction run_;
    Options options_;
  };
};

}  // namespace espalier

#endif  // ESPALIER_SEARCH_ALGORITHM_H_
