// Solves a few problems with a checkpoint and grades the answers.
//
//   ./solve MODEL_FOLDER [SET]
#include <cstdio>

#include "or_die.h"

using namespace espalier;

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: solve MODEL_FOLDER [SET]\n");
    return 2;
  }
  const LoadedProblems set =
      OrDie(LoadProblems(argc > 2 ? argv[2] : "stories:easy", {.limit = 5}));
  const auto engine = OrDie(Engine::Create({.policy = argv[1]}));
  const Task* task = OrDie(FindTask(set.task));
  const Verifier* verifier = OrDie(FindVerifier(set.task));
  for (const GradedProblem& graded : set.problems) {
    const SearchResult result = OrDie(engine->Solve(
        graded.problem, *task, {.method = "guided", .max_tokens = 600}));
    // The search is over: now the reference may be read.
    const Verdict verdict =
        verifier->Check(graded.problem, graded.reference, result.response);
    std::printf("%s: %s (%s, %lld tokens)\n", graded.problem.id.c_str(),
                result.answer.c_str(), verdict.correct ? "right" : "wrong",
                static_cast<long long>(result.tokens));
  }
}
