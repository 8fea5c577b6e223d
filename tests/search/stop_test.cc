#include "search/stop.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "tests/search/tree_world.h"

namespace espalier {
namespace {

// Registered methods that need only a world, and some with several requests in
// flight.
std::vector<std::string> Methods() {
  std::vector<std::string> methods = {
      "majority:n=6",
      "puct:in_flight=4",
      "puct:in_flight=3:descend=false:widen=false",
      "uct:in_flight=5:forward=2",
      "guided:width=3:accept=0",
      "puct:share=last_step:in_flight=2",
  };
  for (const AlgorithmInfo* info : ListAlgorithms()) {
    const bool served = std::all_of(
        info->needs.begin(), info->needs.end(), [](RequestKind kind) {
          return kind == RequestKind::kExpand || kind == RequestKind::kEvaluate;
        });
    if (served) methods.push_back(info->name);
  }
  return methods;
}

// Runs any of them, with the invariants that hold for its tree.
SearchRun RunStopped(const std::string& method, const TreeWorld& world,
                     RunLimits limits) {
  // Shared nodes have visits from several parents; frontier stores advantages.
  limits.check = {.min_value = -1,
                  .visits_conserve = method.find("share=") == method.npos};
  return RunSearch(method, world, limits);
}

struct Look {
  Usage usage = {};
  AnswerSupport support = {};
  Tree tree = {};
  std::optional<std::string> Ask(Stopper& stopper) const {
    std::string reason;
    if (!stopper.Stops({usage, support, tree}, reason)) return std::nullopt;
    return reason;
  }
};

TEST(StopTest, EveryBudgetEndsASearch) {
  const TreeWorld world({.branching = 4, .depth = 5});
  SearchOptions calls, bytes;
  calls.max_model_calls = 37;
  bytes.max_bytes = 20000;
  for (const char* method : {"majority", "weighted", "puct:in_flight=4"}) {
    const SearchRun by_calls = RunSearch(method, world, {.more = calls});
    EXPECT_EQ(by_calls.stop_reason, "budget of 37 model calls is spent");
    EXPECT_EQ(by_calls.usage.model_calls, 37);
    const SearchRun by_bytes = RunSearch(method, world, {.more = bytes});
    EXPECT_EQ(by_bytes.stop_reason, "budget of 20000 bytes is spent");
    EXPECT_GE(by_bytes.usage.bytes, 20000);
    EXPECT_LT(by_bytes.usage.bytes, 24000);
    EXPECT_EQ(by_bytes.usage.bytes,
              by_bytes.tree().used_bytes() +
                  static_cast<int64_t>(by_bytes.anytime.size() *
                                       sizeof(AnytimeAnswer)));
    EXPECT_LE(by_bytes.tree().used_bytes(), by_bytes.tree().bytes());
    EXPECT_FALSE(by_calls.answer.empty() || by_bytes.answer.empty());
  }
}

// Finishing does not continue once the bytes are spent.
TEST(StopTest, AByteMoreThanTheRootBuysOneReply) {
  const TreeWorld world({.branching = 4, .depth = 5});
  SearchOptions byte;
  byte.max_bytes = Tree().used_bytes() + 1;
  for (const std::string& method : Methods()) {
    const SearchRun run =
        RunStopped(method, world, {.tokens = 200, .more = byte});
    EXPECT_GT(run.tree().size(), 1u) << method;
    EXPECT_LE(run.usage.bytes, byte.max_bytes + run.largest_reply_bytes)
        << method;
  }
}

// A search with nothing left to request never waits, so it could not be
// stopped.
TEST(StopTest, AnExhaustedTreeEndsASearchWhateverItsSimulations) {
  const TreeWorld world({.branching = 2, .depth = 2});
  for (const char* name : {"rap", "uct", "puct", "gumbel", "rstar_math",
                           "sample_mcts", "td_mcts", "vm_mcts", "mcts_star"}) {
    const std::string method = absl::StrCat(name, ":simulations=1000000000");
    const SearchRun run = RunStopped(method, world, {.tokens = 5000});
    EXPECT_TRUE(run.ended) << method;
    EXPECT_LT(run.usage.simulations, 200000) << method;
  }
}

TEST(StopTest, FirstSpentBudgetOfSeveralEndsTheSearch) {
  const TreeWorld world({.branching = 4, .depth = 5});
  SearchOptions more;
  more.max_model_calls = 1000;
  more.stop_kl = 1e-9f;
  const SearchRun run = RunSearch(
      "majority", world, {.tokens = 90, .simulations = 500, .more = more});
  EXPECT_EQ(run.stop_reason, "budget of 90 tokens is spent");
  EXPECT_EQ(run.usage.tokens, 90);
}

// At every point where a search can be destroyed.
TEST(StopTest, DestroyedMidwayASearchLeavesAConsistentTreeAndItsBestAnswer) {
  const TreeWorld world(
      {.seed = 2, .branching = 3, .depth = 3, .early_leaf = 0.1});
  int left = 0;
  for (const std::string& method : Methods()) {
    RunLimits limits{.tokens = 60, .simulations = 40, .shuffle = 3};
    const SearchRun whole = RunStopped(method, world, limits);
    ASSERT_TRUE(whole.ended) << method;
    for (int at = 0; at < whole.replies; ++at) {
      limits.destroy_after = at;
      const SearchRun part =
          RunStopped(method, world, limits);  // checks the tree
      ASSERT_TRUE(part.status.ok());
      ASSERT_FALSE(part.ended);
      ++left;
      // The answer is the one the whole search had at that point.
      ASSERT_LE(part.anytime.size(), whole.anytime.size());
      if (part.anytime.empty()) {
        EXPECT_EQ(part.node, kNoNode);
        continue;
      }
      const AnytimeAnswer& held = whole.anytime[part.anytime.size() - 1];
      EXPECT_EQ(part.node, held.node) << method << " after " << at;
      EXPECT_EQ(part.anytime.back().tokens, held.tokens);
      EXPECT_LE(held.tokens, part.usage.tokens);
    }
  }
  EXPECT_GT(left, 500);
}

TEST(ConfidenceStopperTest, WaitsForTheShareAndTheResponses) {
  ConfidenceStopper stopper(0.75, 4);
  Look look;
  look.support = {.answered = true, .confidence = 1, .responses = 3};
  EXPECT_FALSE(look.Ask(stopper));
  look.support.responses = 4;
  look.support.confidence = 0.74;
  EXPECT_FALSE(look.Ask(stopper));
  look.support.confidence = 0.75;
  EXPECT_TRUE(look.Ask(stopper));
  look.support.answered = false;
  EXPECT_FALSE(look.Ask(stopper));
  // A verifier's acceptance is enough.
  look.support = {.answered = true, .accepted = true};
  EXPECT_TRUE(look.Ask(stopper));
}

// Against shares counted from the responses in order.
TEST(ConfidenceStopperTest, EndsMajorityAtTheFirstSufficientShare) {
  int stopped = 0;
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    const TreeWorld world({.seed = seed, .branching = 2, .depth = 2});
    SearchOptions more;
    more.stop_confidence = 0.6f;
    more.stop_responses = 5;
    const SearchRun run =
        RunSearch("majority:n=30", world, {.seed = seed, .more = more});
    const SearchRun whole = RunSearch("majority:n=30", world, {.seed = seed});
    // The winner's share after i responses, taken from shorter runs.
    int first = 31;
    for (int i = 5; i <= 30 && first > 30; ++i) {
      const SearchRun some =
          RunSearch(absl::StrCat("majority:n=", i), world, {.seed = seed});
      if (some.score / static_cast<float>(i) >= 0.6f) first = i;
    }
    EXPECT_EQ(run.usage.simulations, std::min(first, 30)) << seed;
    EXPECT_EQ(run.stop_reason.empty(), first > 29) << run.stop_reason;
    stopped += first <= 29;
    EXPECT_LE(run.usage.tokens, whole.usage.tokens);
  }
  EXPECT_GT(stopped, 10);
}

TEST(ConfidenceStopperTest, AcceptedByTheVerifierIsCertain) {
  const TreeWorld world({.branching = 2, .depth = 2, .enumerate = true});
  SearchOptions more;
  more.stop_confidence = 1;
  more.stop_responses = 1000;
  // An accepted answer ends the search without the stopper too.
  for (const bool stops : {false, true}) {
    const SearchRun run =
        RunSearch("puct:verify=true", world,
                  {.simulations = 100, .more = stops ? more : SearchOptions{}});
    EXPECT_EQ(run.answer, world.best_answer());
    EXPECT_TRUE(run.tree()[run.node].proved());
  }
}

TEST(DecidedStopperTest, CountsTheVotesThatAreLeft) {
  const auto decided = [](double leader, double second, bool ties, int64_t left,
                          int64_t in_flight = 1, int64_t votes = 1) {
    DecidedStopper stopper(100, 0);
    Look look;
    look.usage = {.tokens = 5, .simulations = 100 - left};
    look.support = {.answered = true,
                    .responses = 100 - left,
                    .leader = leader,
                    .runner_up = second,
                    .wins_ties = ties,
                    .most_added = 1,
                    .bound = {.in_flight = in_flight, .votes = votes}};
    return look.Ask(stopper).has_value();
  };
  EXPECT_TRUE(decided(50, 29, false, 20));
  EXPECT_FALSE(decided(50, 30, false, 20));
  EXPECT_TRUE(decided(50, 30, true, 20));
  EXPECT_FALSE(decided(50, 31, true, 20));
  // Three more may be in flight when the last one starts.
  EXPECT_FALSE(decided(50, 29, false, 20, 4));
  EXPECT_TRUE(decided(50, 26, false, 20, 4));
  EXPECT_FALSE(decided(50, 0, false, 20, 0)) << "nothing is promised";
  // Twenty simulations of two votes each, plus three in flight.
  EXPECT_TRUE(decided(50, 9, false, 20, 1, 2));
  EXPECT_FALSE(decided(50, 10, false, 20, 1, 2));
  EXPECT_TRUE(decided(50, 3, false, 20, 4, 2));
  EXPECT_FALSE(decided(50, 4, false, 20, 4, 2));
}

TEST(DecidedStopperTest, EstimatesWhatTokensLeave) {
  DecidedStopper stopper(0, 100);
  Look look;
  look.support = {.answered = true,
                  .leader = 1,
                  .most_added = 1,
                  .bound = {.simulations = 0, .in_flight = 1}};
  int64_t responses = 0;
  // Responses of 20, 10 and 20 tokens: the remaining 50 allow 5 of the
  // shortest.
  for (const auto& [tokens, leader] : {std::pair(20, 1), {30, 2}, {50, 3}}) {
    look.support.responses = ++responses;
    look.support.leader = leader;
    look.usage.tokens = tokens;
    EXPECT_FALSE(look.Ask(stopper));
  }
  // In the middle of a response nothing is decided.
  look.usage.tokens = 95;
  EXPECT_FALSE(look.Ask(stopper));
  look.usage.tokens = 80;
  look.support.responses = 4;  // 2 remain
  look.support.leader = 4;
  look.support.runner_up = 2;
  EXPECT_FALSE(look.Ask(stopper));
  look.support.responses = 5;
  look.support.leader = 5;
  EXPECT_FALSE(look.Ask(stopper)) << "a response that cost nothing";
}

// Tokens that a search spends and tokens that `decided` saves. The answer must
// never change.
struct Spent {
  int64_t tokens = 0, spared = 0;
  void Compare(const std::string& method, const TreeWorld& world,
               RunLimits limits) {
    const SearchRun whole = RunSearch(method, world, limits);
    limits.more.stop_decided = true;
    const SearchRun run = RunSearch(method, world, limits);
    ASSERT_EQ(run.answer, whole.answer) << method << " seed " << limits.seed;
    ASSERT_LE(run.usage.tokens, whole.usage.tokens);
    tokens += whole.usage.tokens;
    spared += whole.usage.tokens - run.usage.tokens;
  }
};

TEST(DecidedStopperTest, NeverChangesTheAnswer) {
  for (const std::string method :
       {"majority:n=15", "weighted:n=15", "best_of_n:n=15", "majority",
        "weighted", "puct:close=false", "puct:simulations=15:close=false",
        "uct:in_flight=4:choice=majority:close=false",
        "ab_mcts_a:choice=weighted",

        "puct:in_flight=4:choice=first:close=false"}) {
    Spent spent;
    for (uint64_t seed = 1; seed <= 150; ++seed) {
      const TreeWorld world({.seed = seed,
                             .branching = 3,
                             .depth = 2,
                             .early_leaf = 0.2,
                             .step_tokens = 3});
      for (const uint64_t shuffle : {0, 1}) {
        spent.Compare(method, world,
                      {.simulations = 16, .seed = seed, .shuffle = shuffle});
      }
    }
    // For best_of_n only a score of 1 is final, and these worlds have none.
    if (method.starts_with("best_of_n")) continue;
    EXPECT_GT(spent.spared, 0) << method << " of " << spent.tokens;
  }
}

// Methods whose simulations cast several votes declare how many.
TEST(DecidedStopperTest, NeverChangesTheAnswerOfMethodsWithSeveralVotes) {
  for (const std::string method :
       {"frontier:width=3:simulations=15",
        "frontier:width=3:in_flight=3:simulations=15",
        "vm_mcts:samples=2:keep=3:simulations=9", "beam:width=2:rounds=12",
        "guided:width=2:accept=0:rounds=12", "dvts:n=4:width=2:rounds=12",
        "lookahead:n=4:width=2:rounds=12",
        "gumbel:simulations=60:choice=majority:close=false"}) {
    Spent spent;
    for (uint64_t seed = 1; seed <= 100; ++seed) {
      const TreeWorld world({.seed = seed, .branching = 3, .depth = 3});
      spent.Compare(method, world,
                    {.tokens = 4000, .seed = seed, .check = {.min_value = -1}});
    }
    // If every leaf has its own answer and is reached once, nothing can be
    // decided early.
    const bool repeats = method.find("width=2") != method.npos;
    EXPECT_TRUE(spent.spared > 0 || !repeats)
        << method << " of " << spent.tokens;
  }
}

// With responses of equal length the estimate by tokens is exact.
TEST(DecidedStopperTest, NeverChangesTheAnswerOfATokenBudgetEither) {
  for (const char* method : {"majority", "weighted"}) {
    Spent spent;
    for (uint64_t seed = 1; seed <= 200; ++seed) {
      const TreeWorld world({.seed = seed, .branching = 2, .depth = 3});
      spent.Compare(method, world, {.tokens = 46, .seed = seed});
    }
    EXPECT_GT(spent.spared, spent.tokens / 50) << method;
  }
}

// Three children; visits 2, 1, 1 become 5, 2, 1, then 10, 4, 2.
TEST(KlStopperTest, IsTheDivergenceWorkedOutByHand) {
  const double first =
      (0.5 * std::log(0.5 / 0.625) + 0.25 * std::log(0.25 / 0.25) +
       0.25 * std::log(0.25 / 0.125)) /
      4;  // 0.0154 nats per simulation
  EXPECT_NEAR(first, 0.01543, 1e-5);
  for (const double factor : {0.999, 1.001}) {
    KlStopper stopper(first * factor, 4);
    Look look;
    look.support.answered = true;
    for (int i = 0; i < 3; ++i) {
      const std::vector<int32_t> token = {i};
      look.tree.Add(kRoot, {.text = "x", .tokens = token});
    }
    const auto set = [&](uint32_t a, uint32_t b, uint32_t c) {
      look.tree[1].visits = a;
      look.tree[2].visits = b;
      look.tree[3].visits = c;
      look.usage.simulations = a + b + c;
    };
    set(2, 1, 0);
    EXPECT_FALSE(look.Ask(stopper)) << "not yet an interval";
    set(2, 1, 1);
    EXPECT_FALSE(look.Ask(stopper)) << "nothing to compare with";
    set(5, 2, 0);
    EXPECT_FALSE(look.Ask(stopper)) << "half an interval";
    set(5, 2, 1);
    EXPECT_EQ(look.Ask(stopper).has_value(), factor > 1);
    set(10, 4, 2);  // the same distribution
    EXPECT_TRUE(look.Ask(stopper));
    look.support.answered = false;
    set(20, 8, 4);
    EXPECT_FALSE(look.Ask(stopper)) << "there is no answer yet";
  }
}

TEST(KlStopperTest, EndsATreeSearchAndNoOther) {
  const TreeWorld world({.branching = 3, .depth = 4});
  SearchOptions more;
  more.stop_kl = 1e-2f;
  const RunLimits limits{.simulations = 400, .more = more};
  const SearchRun puct = RunSearch("puct:close=false", world, limits);
  EXPECT_LT(puct.usage.simulations, 400);
  EXPECT_NE(puct.stop_reason.find("nats per simulation"), std::string::npos);
  EXPECT_EQ(RunSearch("majority", world, limits).usage.simulations, 400);
}

TEST(StopTest, NoStopBeforeThereIsAnAnswer) {
  const TreeWorld world({.branching = 3, .depth = 6});
  SearchOptions eager;
  eager.stop_confidence = 1e-6f;
  eager.stop_responses = 1;
  eager.stop_decided = true;
  eager.stop_kl = 1000;
  eager.stop_interval = 1;
  for (const std::string& method : Methods()) {
    const RunLimits plain{.tokens = 300, .simulations = 60};
    RunLimits limits = plain;
    limits.more = eager;
    const SearchRun run = RunStopped(method, world, limits);
    ASSERT_TRUE(run.status.ok()) << method << ": " << run.status;
    if (RunStopped(method, world, plain).answer.empty()) continue;
    EXPECT_FALSE(run.answer.empty()) << method << ": " << run.stop_reason;
  }
  // A world whose responses have no answers runs until the budget is spent.
  RunLimits limits{.simulations = 30, .more = eager};
  limits.reply = [&](const Tree& tree, const SearchRequest& request) {
    SearchCompletion reply = world.Reply(tree, request);
    for (SampledStep& step : reply.samples) {
      step.ended = step.text[0] == '=';
      if (step.ended) step.text = "stop\n";
    }
    return reply;
  };
  for (const char* method : {"majority", "weighted", "puct"}) {
    const SearchRun run = RunSearch(method, world, limits);
    EXPECT_EQ(run.usage.simulations, 30) << method << run.stop_reason;
  }
}

TEST(ParseStopWhenTest, ReadsAllNames) {
  SearchOptions options;
  ASSERT_TRUE(ParseStopWhen("confidence=0.9,responses=7,decided,kl=1e-5,"
                            "interval=50",
                            &options)
                  .ok());
  EXPECT_FLOAT_EQ(options.stop_confidence, 0.9f);
  EXPECT_EQ(options.stop_responses, 7);
  EXPECT_TRUE(options.stop_decided);
  EXPECT_FLOAT_EQ(options.stop_kl, 1e-5f);
  EXPECT_EQ(options.stop_interval, 50);
  ASSERT_TRUE(ParseStopWhen("", &options).ok());
  ASSERT_TRUE(ParseStopWhen("decided=false", &options).ok());
  EXPECT_FALSE(options.stop_decided);
  EXPECT_EQ(options.stop_responses, 7);
}

TEST(ParseStopWhenTest, SaysWhatIsWrong) {
  SearchOptions options;
  const auto error = [&](std::string_view text) {
    return std::string(ParseStopWhen(text, &options).message());
  };
  EXPECT_NE(error("confidance=0.9").find("\"confidence\""), std::string::npos)
      << error("confidance=0.9");
  EXPECT_NE(error("decidet").find("\"decided\""), std::string::npos);
  EXPECT_NE(error("confidence=2").find("from 0 to 1"), std::string::npos);
  EXPECT_NE(error("kl").find("kl=true: expected a number"), std::string::npos);
  EXPECT_NE(error("kl=,decided=maybe").find("true or false"),
            std::string::npos);
  EXPECT_EQ(options.stop_confidence, 0);
}

}  // namespace
}  // namespace espalier
