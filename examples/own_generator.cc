// A text generator of your own in place of a model: here one that guesses, in
// practice a server or another library. A reward model in a folder may judge
// what it writes.
//
//   ./own_generator [REWARD_MODEL_FOLDER]
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "or_die.h"

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

int main(int argc, char** argv) {
  Guesser guesser;
  const Task* task = OrDie(FindTask("qa"));
  std::unique_ptr<RewardModel> reward;
  if (argc > 1) reward = OrDie(LoadRewardModel({.critic = argv[1]}, *task));
  const SearchResult result = OrDie(
      SolveWith(guesser, reward.get(), nullptr,
                {.id = "1", .set = "", .question = "What is 6 * 7?"}, *task,
                {.method = reward ? "best_of_n:n=8" : "majority:n=8",
                 .max_tokens = 200}));
  std::printf("%s, %lld words\n", result.answer.c_str(),
              static_cast<long long>(result.tokens));
}
