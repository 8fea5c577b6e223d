// Registration of methods whose options decide which requests they make, so
// that the engine asks for a reward model or a verifier only where one is used.
//
//   std::vector<RequestKind> Needs(const BestFirstOptions& options);
//   const RegisterByOptions<BestFirstOptions> kBestFirst(
//       "best_first", "...", &Needs, &RunBestFirst);
//
// As RegisterAlgorithm in all else; the method's listing shows the needs of
// its defaults.
#ifndef ESPALIER_SEARCH_PARTS_NEEDS_BY_OPTIONS_H_
#define ESPALIER_SEARCH_PARTS_NEEDS_BY_OPTIONS_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "search/algorithm.h"

namespace espalier {

template <class Options>
class RegisterByOptions {
 public:
  using NeedsFunction = std::vector<RequestKind> (*)(const Options&);
  using RunFunction = Co<> (*)(SearchContext&, const Options&);

  RegisterByOptions(std::string name, std::string summary, NeedsFunction needs,
                    RunFunction run) {
    AddAlgorithm({name, summary, needs({}),
                  [=](const OptionMap& given)
                      -> absl::StatusOr<std::unique_ptr<SearchAlgorithm>> {
                    Options options;
                    OptionParser parser(given);
                    options.Visit(parser);
                    ESP_RETURN_IF_ERROR(parser.Finish("method " + name));
                    return std::make_unique<Algorithm>(name, needs(options),
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

#endif  // ESPALIER_SEARCH_PARTS_NEEDS_BY_OPTIONS_H_
