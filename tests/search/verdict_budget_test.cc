// A search never has more verdicts written than its budget of verdict tokens
// allows, whatever they take and in whatever order they arrive.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/search/tree_world.h"

namespace espalier {
namespace {

class VerdictNeverStops : public Stopper {
  bool Stops(const SearchView&, std::string&) override { return false; }
};

// Asks for the scores of `width` steps at a time, each by a request of its own,
// and does so again below each of them.
Co<> ScoreMany(SearchContext& ctx, int width, int depth, int* scored) {
  std::vector<NodeId> kept = {kRoot};
  for (int d = 0; d < depth && !kept.empty(); ++d) {
    std::vector<Awaiting<Expansion>> asked;
    for (const NodeId node : kept) {
      asked.push_back(ctx.Expand(node, {.n = width}));
    }
    std::vector<NodeId> found;
    for (auto& one : asked) {
      const Expansion expansion = co_await one;
      for (const NodeId node : expansion.samples) found.push_back(node);
    }
    std::vector<Awaiting<Evaluation>> judged;
    for (const NodeId node : found) {
      judged.push_back(ctx.Evaluate(absl::MakeConstSpan(&node, 1)));
    }
    kept.clear();
    for (size_t i = 0; i < found.size(); ++i) {
      const Evaluation done = co_await judged[i];
      *scored += done.done;
      if (done.done && kept.size() < 3) kept.push_back(found[i]);
    }
  }
}

struct Story {
  int64_t written = 0;
  int64_t most_at_once = 0;  // requests for verdicts in flight
  int scored = 0;
  std::string stop_reason;
  std::string requests;  // every request with its limit, in order of issue
};

// A vote about a node takes a number of tokens that only the node decides, but
// no more than the request allows. `order` decides which of the requests in
// flight is answered next.
Story Search(int64_t budget, const VerdictCost& cost, uint64_t order) {
  const Problem problem{.id = "p", .question = "?"};
  const TreeWorldTask task;
  VerdictNeverStops stopper;
  SearchContext ctx(problem, task, stopper,
                    SearchBudget{.verdict_tokens = budget}, 1);
  ctx.SetVerdictCost(cost);
  SearchDriver driver(ctx);
  Story run;
  RandomStream random(StreamKey(order, 2, 3, Purpose::kSelect));
  Co<> search = ScoreMany(ctx, 3, 4, &run.scored);
  search.Start();
  driver.Advance();
  std::vector<SearchRequest> open;
  std::set<NodeId> judged;
  while (true) {
    for (SearchRequest& request : driver.TakeRequests()) {
      if (request.kind == RequestKind::kEvaluate) {
        absl::StrAppend(&run.requests, request.number, ":", request.nodes[0],
                        "<", request.max_tokens, " ");
      }
      open.push_back(std::move(request));
    }
    run.most_at_once = std::max<int64_t>(
        run.most_at_once,
        std::count_if(open.begin(), open.end(), [](const SearchRequest& r) {
          return r.kind == RequestKind::kEvaluate;
        }));
    if (open.empty()) break;
    const size_t next =
        order == 0 ? 0 : random.Below(static_cast<uint32_t>(open.size()));
    const SearchRequest request = open[next];
    open.erase(open.begin() + static_cast<std::ptrdiff_t>(next));
    SearchCompletion completion{.number = request.number};
    if (request.kind == RequestKind::kExpand) {
      for (int i = 0; i < request.expand.n; ++i) {
        SampledStep step;
        step.text = absl::StrCat("s", request.nodes[0], ".", i, "\n");
        step.tokens = {i};
        step.logprobs = step.sampler_logprobs = {-1};
        completion.samples.push_back(step);
      }
    } else {
      // What the judge writes: about the node and, with a history, about the
      // steps before it that nobody has asked about.
      std::vector<NodeId> about = {request.nodes[0]};
      for (NodeId at = ctx.tree()[about[0]].parent; cost.path && at != kRoot;
           at = ctx.tree()[at].parent) {
        about.push_back(at);
      }
      for (const NodeId node : about) {
        if (!judged.insert(node).second) continue;
        for (int v = 0; v < cost.votes; ++v) {
          const int wanted =
              1 + static_cast<int>((node * 13 + 7 * v) %
                                   static_cast<uint32_t>(cost.tokens));
          SampledStep vote;
          const int limit =
              request.max_tokens == 0 ? cost.tokens : request.max_tokens;
          vote.tokens.assign(static_cast<size_t>(std::min(wanted, limit)), 1);
          vote.truncated = wanted > limit;
          vote.verdict = 0.5f;
          completion.samples.push_back(vote);
        }
      }
      completion.scores = {{.step = 0.5f, .path = 0.5f}};
    }
    driver.Put(std::move(completion));
    driver.Advance();
  }
  EXPECT_TRUE(driver.failure().ok()) << driver.failure();
  EXPECT_TRUE(search.done());
  run.written = ctx.usage().verdict_tokens;
  run.stop_reason = driver.stop_reason();
  return run;
}

TEST(VerdictBudgetTest, IsNeverExceededAndDoesNotDependOnTheOrderOfReplies) {
  int stopped = 0, ended = 0;
  for (const bool path : {false, true}) {
    for (const int votes : {1, 3}) {
      const VerdictCost cost{.votes = votes, .tokens = 20, .path = path};
      const Story whole = Search(kNoLimit, cost, 0);
      EXPECT_EQ(whole.stop_reason, "");
      for (int64_t budget = 1; budget < whole.written + 200; budget += 17) {
        const Story run = Search(budget, cost, 0);
        EXPECT_LE(run.written, budget);
        for (const uint64_t order : {1, 2, 3}) {
          const Story other = Search(budget, cost, order);
          EXPECT_EQ(other.requests, run.requests) << budget;
          EXPECT_EQ(other.written, run.written) << budget;
        }
        if (run.scored == whole.scored) {
          ++ended;
          EXPECT_EQ(run.stop_reason, "");
        } else {
          ++stopped;
          EXPECT_EQ(run.stop_reason,
                    "too few verdict tokens left for another verdict");
          // What is left is less than one node's verdicts may take.
          EXPECT_GT(run.written + 20 * votes * (path ? 4 : 1), budget);
        }
      }
    }
  }
  EXPECT_GT(stopped, 20);
  EXPECT_GT(ended, 3);
}

TEST(VerdictBudgetTest, ALargeBudgetChangesNothing) {
  const VerdictCost cost{.votes = 2, .tokens = 20};
  const Story without = Search(kNoLimit, cost, 0);
  const Story with = Search(1'000'000, cost, 0);
  EXPECT_EQ(with.written, without.written);
  EXPECT_EQ(with.scored, without.scored);
  // Verdicts are written side by side as before.
  EXPECT_EQ(with.most_at_once, without.most_at_once);
  EXPECT_GT(with.most_at_once, 2);
}

TEST(VerdictBudgetTest, ARequestThatFitsOnlyInPartIsWrittenInPart) {
  // The first of all may write what there is.
  const Story run = Search(7, {.votes = 1, .tokens = 20}, 0);
  EXPECT_EQ(run.requests.substr(0, run.requests.find(' '))
                .substr(run.requests.find('<')),
            "<7");
  EXPECT_LE(run.written, 7);
}

}  // namespace
}  // namespace espalier
