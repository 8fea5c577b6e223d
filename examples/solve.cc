// Solves a few problems with a checkpoint and grades the answers.
//
//   ./solve MODEL_FOLDER [SET]
#include <cstdio>
#include <string>

#include "espalier/espalier.h"

int main(int argc, char** argv) {
  using namespace espalier;
  if (argc < 2) {
    std::fprintf(stderr, "usage: solve MODEL_FOLDER [SET]\n");
    return 2;
  }
  const std::string set = argc > 2 ? argv[2] : "stories:easy";
  const auto problems = LoadProblems(set, {.limit = 5});
  const auto engine = Engine::Create({.policy = argv[1]});
  for (const absl::Status& status : {problems.status(), engine.status()}) {
    if (status.ok()) continue;
    std::fprintf(stderr, "%s\n", status.ToString().c_str());
    return 1;
  }
  const Task* task = FindTask(problems->task).value();
  const Verifier* verifier = FindVerifier(problems->task).value();
  for (const GradedProblem& graded : problems->problems) {
    const SearchResult result = (*engine)->Solve(
        graded.problem, *task, {.method = "guided", .max_tokens = 600});
    if (!result.status.ok()) {
      std::fprintf(stderr, "%s\n", result.status.ToString().c_str());
      return 1;
    }
    // The search is over: now the reference may be read.
    const bool right =
        verifier->Check(graded.problem, graded.reference, result.response)
            .correct;
    std::printf("%s: %s (%s, %lld tokens)\n", graded.problem.id.c_str(),
                result.answer.c_str(), right ? "right" : "wrong",
                static_cast<long long>(result.tokens));
  }
}
