// OmegaPRM's binary search for first errors, on a script with known truth.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "absl/strings/str_cat.h"
#include "espalier/engine.h"
#include "models/fake/byte_tokenizer.h"
#include "models/fake/script_task.h"
#include "models/fake/scripted_backend.h"
#include "search/tree/check_tree.h"
#include "src/engine/runner.h"

namespace espalier {
namespace {

constexpr int kDepth = 9;
// Every prefix without an error has a right completion.
const ScriptedOptions kScript = {
    .branching = 3, .depth = kDepth, .good_rate = 0.5, .skill = 3};

struct SearchSetup {
  int threads = 1;
  int live = 1;
  int max_delay = 0;
  int64_t tokens = 0;  // 0: until all rollouts have been searched
};

// The result of a search.
struct Found {
  SearchResult result;
  std::vector<Node> nodes;
  std::vector<Step> steps;
  std::vector<std::string> responses;  // by node
};

class Script {
 public:
  explicit Script(int problems) : truth_(kScript) {
    for (int i = 0; i < problems; ++i) {
      problems_.push_back(
          {absl::StrCat("p", i), "script", absl::StrCat("problem ", i)});
    }
  }

  // Whether the prefix can be completed to a right end: all of its steps are
  // good, and a chain of good steps follows.
  bool CanEndRight(size_t problem, const std::string& response) {
    const auto tokens =
        tokenizer_.Encode(problems_[problem].question + "\n" + response);
    if (!truth_.Good(truth_.Extend(kEmptySeq, *tokens))) return false;
    if (std::count(response.begin(), response.end(), '\n') >= kDepth) {
      return true;
    }
    for (int k = 0; k < kScript.branching; ++k) {
      if (CanEndRight(problem, absl::StrCat(response, "s", k, "\n"))) {
        return true;
      }
    }
    return false;
  }

  absl::Status Run(const std::string& method, const SearchSetup& setup,
                   bool graded, std::vector<Found>* found) {
    ScriptedOptions script = kScript;
    script.max_delay = setup.max_delay;
    ScriptedBackend backend(script);
    Executor executor(setup.threads);
    found->assign(problems_.size(), {});
    const auto algorithm = MakeAlgorithm(method).value();
    const SearchOptions options{.method = method,
                                .max_tokens = setup.tokens,
                                .max_nodes = 1000000,
                                .seed = 3};
    RunHooks hooks;
    if (graded) {
      hooks.grade = [this](size_t i, std::string_view response) {
        return std::optional<bool>(Right(i, response));
      };
    }
    const ScriptTask task;
    Runner runner({&backend, &tokenizer_, &backend, &tokenizer_}, executor,
                  setup.live);
    const absl::Status status = runner.Run(
        {.problems = problems_,
         .task = &task,
         .algorithm = algorithm.get(),
         .options = &options,
         .hooks = &hooks,
         .on_done = [&](size_t i,
                        SearchResult r) { (*found)[i].result = std::move(r); },
         .on_tree =
             [&](size_t i, const Tree& tree) {
               EXPECT_TRUE(CheckTree(tree).ok()) << CheckTree(tree);
               for (NodeId id = 0; id < tree.size(); ++id) {
                 (*found)[i].nodes.push_back(tree[id]);
                 (*found)[i].steps.push_back(tree.step(id));
                 (*found)[i].responses.push_back(tree.Response(id));
               }
             }});
    EXPECT_EQ(backend.live_sequences(), 0) << "leaks sequences";
    return status;
  }

 private:
  bool Right(size_t problem, std::string_view response) {
    const auto prompt = tokenizer_.Encode(problems_[problem].question + "\n");
    const int gold = truth_.Gold(truth_.Extend(kEmptySeq, *prompt));
    return ScriptTask().FindAnswer(response) == absl::StrCat(gold);
  }

  ScriptedBackend truth_;
  const ByteTokenizer tokenizer_;
  std::vector<Problem> problems_;
};

// The first node on the path to `end` that has no right end below it.
NodeId FirstWithoutARightEnd(const std::vector<Node>& nodes, NodeId end) {
  NodeId first = end;
  for (NodeId id = end; id != kRoot; id = nodes[id].parent) {
    if (nodes[id].q == 0) first = id;
  }
  return first;
}

TEST(OmegaPrmTest, FirstErrorsAreWhereTheTruthHasThem) {
  constexpr int kResponses = 16;
  Script script(12);
  std::vector<Found> found;
  ASSERT_TRUE(script.Run("omega_prm:k=16", {}, true, &found).ok());
  int errors = 0, exact = 0, estimated = 0, searched = 0;
  for (size_t p = 0; p < found.size(); ++p) {
    const std::vector<Node>& nodes = found[p].nodes;
    const std::vector<Step>& steps = found[p].steps;
    ASSERT_TRUE(found[p].result.status.ok()) << found[p].result.status;
    // Every state got its k responses.
    EXPECT_EQ(nodes[kRoot].visits % kResponses, 0u);
    searched += found[p].result.simulations > 0;
    for (NodeId id = 1; id < nodes.size(); ++id) {
      EXPECT_GT(nodes[id].visits, 0u);
      if (nodes[id].q > 0) {
        EXPECT_TRUE(script.CanEndRight(p, found[p].responses[id]));
      }
      if (!nodes[id].terminal() || nodes[id].q > 0) continue;
      EXPECT_EQ(nodes[id].visits, steps[id].draws);
      if (nodes[kRoot].q == 0) continue;  // no error to search for
      // The step is known to be the first error: its predecessor leads to a
      // right end, and the step was estimated or is itself the end.
      const NodeId error = FirstWithoutARightEnd(nodes, id);
      ++errors;
      estimated += nodes[error].terminal() || nodes[error].visits >= kResponses;
      exact += !script.CanEndRight(p, found[p].responses[error]) &&
               script.CanEndRight(p, found[p].responses[nodes[error].parent]);
    }
  }
  EXPECT_GT(searched, 8);
  EXPECT_GT(errors, 100);
  // k responses may all miss the right completions of a prefix.
  EXPECT_GT(estimated, errors * 99 / 100);
  EXPECT_GT(exact, errors * 99 / 100);
}

TEST(OmegaPrmTest, SameTreesWithManyThreadsConcurrentSearchesAndDelays) {
  Script script(10);
  std::vector<Found> base, other;
  const std::string method = "omega_prm:k=4";
  ASSERT_TRUE(script.Run(method, {.tokens = 4000}, true, &base).ok());
  for (const SearchSetup& setup :
       {SearchSetup{.threads = 2, .live = 32, .tokens = 4000},
        SearchSetup{.threads = 8, .live = 5, .max_delay = 7, .tokens = 4000}}) {
    ASSERT_TRUE(script.Run(method, setup, true, &other).ok());
    for (size_t i = 0; i < base.size(); ++i) {
      ASSERT_EQ(other[i].responses, base[i].responses);
      EXPECT_LE(other[i].result.tokens, 4000);
      for (size_t n = 0; n < base[i].nodes.size(); ++n) {
        EXPECT_EQ(other[i].nodes[n].visits, base[i].nodes[n].visits);
        EXPECT_EQ(other[i].nodes[n].q, base[i].nodes[n].q);
      }
    }
  }
}

TEST(OmegaPrmTest, IsRefusedWhereNobodyGrades) {
  Script script(1);
  std::vector<Found> found;
  const absl::Status status =
      script.Run("omega_prm", {.tokens = 100}, false, &found);
  EXPECT_NE(status.message().find("reference"), std::string::npos) << status;
  const SearchOptions options{.method = "omega_prm"};
  EXPECT_FALSE(CheckSearch(options).ok());
  EXPECT_TRUE(CheckSearch(options, true).ok());
}

}  // namespace
}  // namespace espalier
