// A text generator of your own in place of a model: here one that guesses, in
// practice a server or another library.
//
//   ./own_generator
#include <cstdio>
#include <string>
#include <vector>

#include "espalier/espalier.h"

namespace {

using namespace espalier;

// Guesses a number, three times out of four the right one.
class Guesser : public Policy {
 public:
  absl::StatusOr<std::vector<std::vector<SampledText>>> Sample(
      absl::Span<const PolicyRequest> requests) override {
    std::vector<std::vector<SampledText>> all;
    for (const PolicyRequest& request : requests) {
      std::vector<SampledText>& samples = all.emplace_back();
      for (const uint64_t seed : request.sample.seeds) {
        const bool right = request.sample.temperature == 0 || seed % 4 != 0;
        samples.push_back(
            {.text = right ? "The answer is 42." : "The answer is 41.",
             .ended = true});
      }
    }
    return all;
  }
};

}  // namespace

int main() {
  Guesser guesser;
  const Task* task = FindTask("qa").value();
  const SearchResult result = SolveWith(
      guesser, nullptr, nullptr, {.id = "1", .question = "What is 6 * 7?"},
      *task, {.method = "majority", .max_tokens = 200});
  if (!result.status.ok()) {
    std::fprintf(stderr, "%s\n", result.status.ToString().c_str());
    return 1;
  }
  std::printf("%s, %lld words\n", result.answer.c_str(),
              static_cast<long long>(result.tokens));
}
