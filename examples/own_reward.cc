// A reward model of your own: any rule over the text so far.
//
//   ./own_reward MODEL_FOLDER
#include <cstdio>
#include <string>
#include <vector>

#include "or_die.h"

using namespace espalier;

// Prefers short steps.
class Brevity : public RewardModel {
 public:
  std::string_view name() const override { return "brevity"; }
  absl::StatusOr<std::vector<StepScores>> Score(
      const Problem&, absl::Span<const std::string> responses) override {
    std::vector<StepScores> scores;
    for (const std::string& response : responses) {
      const float score = 1 / (1 + static_cast<float>(response.size()) / 100);
      scores.push_back({.step = score, .path = score});
    }
    return scores;
  }
};

int main(int argc, char** argv) {
  const auto engine =
      OrDie(Engine::Create({.policy = argc > 1 ? argv[1] : ""}));
  Brevity brevity;
  const LoadedProblems set = OrDie(LoadProblems("stories:easy", {.limit = 3}));
  const Task* task = OrDie(FindTask(set.task));
  for (const GradedProblem& graded : set.problems) {
    const SearchResult result = OrDie(engine->Solve(
        graded.problem, *task, {.method = "beam", .max_tokens = 600},
        {.reward = &brevity}));
    std::printf("%s\n---\n", result.response.c_str());
  }
}
