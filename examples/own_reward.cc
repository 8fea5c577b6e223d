// A reward model of your own: any rule over the text so far.
//
//   ./own_reward MODEL_FOLDER
#include <cstdio>
#include <string>
#include <vector>

#include "espalier/espalier.h"

namespace {

// Prefers short steps.
class Brevity : public espalier::RewardModel {
 public:
  std::string_view name() const override { return "brevity"; }
  absl::StatusOr<std::vector<espalier::StepScores>> Score(
      const espalier::Problem&,
      absl::Span<const std::string> responses) override {
    std::vector<espalier::StepScores> scores;
    for (const std::string& response : responses) {
      const float score = 1 / (1 + static_cast<float>(response.size()) / 100);
      scores.push_back({.step = score, .path = score});
    }
    return scores;
  }
};

}  // namespace

int main(int argc, char** argv) {
  using namespace espalier;
  const auto engine = Engine::Create({.policy = argc > 1 ? argv[1] : ""});
  if (!engine.ok()) {
    std::fprintf(stderr, "%s\n", engine.status().ToString().c_str());
    return 1;
  }
  Brevity brevity;
  const auto problems = LoadProblems("stories:easy", {.limit = 3});
  if (!problems.ok()) {
    std::fprintf(stderr, "%s\n", problems.status().ToString().c_str());
    return 1;
  }
  const Task* task = FindTask(problems->task).value();
  for (const GradedProblem& graded : problems->problems) {
    const SearchResult result = (*engine)->Solve(
        graded.problem, *task, {.method = "beam", .max_tokens = 600},
        {.reward = &brevity});
    if (!result.status.ok()) {
      std::fprintf(stderr, "%s\n", result.status.ToString().c_str());
      return 1;
    }
    std::printf("%s\n---\n", result.response.c_str());
  }
}
