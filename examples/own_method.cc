// A search method of your own: the best of several first steps, finished
// greedily. See docs/guide/write-a-method.md.
//
//   ./own_method MODEL_FOLDER
#include <cstdio>
#include <vector>

#include "or_die.h"

using namespace espalier;

struct FirstStepOptions {
  int width = 4;
  void Visit(OptionVisitor& v) {
    v.Int("width", &width, 1, 64, "first steps to choose among");
  }
};

Co<> FirstStep(MethodContext& search, const FirstStepOptions& options) {
  const std::vector<uint32_t> first =
      co_await search.Expand(kRoot, {.n = options.width});
  if (first.empty()) co_return;  // no budget
  co_await search.Score(first);
  const TreeView tree = search.tree();
  uint32_t node = first[0];
  for (const uint32_t other : first) {
    if (tree.scores(other).path > tree.scores(node).path) node = other;
  }
  while (!tree.terminal(node)) {
    const std::vector<uint32_t> next =
        co_await search.Expand(node, {.temperature = 0});
    if (next.empty()) co_return;  // the engine finishes what is open
    node = next[0];
  }
  search.Offer(node, 1);
}

const RegisterMethod<FirstStepOptions> kFirstStep(
    {.name = "first_step",
     .summary = "the best of several first steps, finished greedily",
     .scores = true},
    &FirstStep);

int main(int argc, char** argv) {
  const auto engine =
      OrDie(Engine::Create({.policy = argc > 1 ? argv[1] : ""}));
  const LoadedProblems set = OrDie(LoadProblems("stories:easy", {.limit = 3}));
  const Task* task = OrDie(FindTask(set.task));
  for (const GradedProblem& graded : set.problems) {
    const SearchResult result = OrDie(
        engine->Solve(graded.problem, *task,
                      {.method = "first_step:width=8", .max_tokens = 600}));
    std::printf("%s %s\n", graded.problem.id.c_str(), result.answer.c_str());
  }
}
