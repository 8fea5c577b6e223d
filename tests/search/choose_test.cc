#include "search/choose.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/match.h"
#include "base/text.h"
#include "tests/search/tree_world.h"

namespace espalier {
namespace {

struct Response {
  const char* answer;
  float score;
  uint32_t visits = 1;
};

// The answer that `choice` selects from responses in this order, each a step
// below the root.
std::string Chosen(AnswerChoice choice, const std::vector<Response>& responses,
                   const Task& task = TreeWorldTask()) {
  const Problem problem{.id = "p", .question = "?"};
  Stoppers stoppers = MakeStoppers({.max_tokens = 1000});
  SearchContext ctx(problem, task, stoppers, SearchBudget{.tokens = 1000}, 1);
  Votes votes(choice);
  for (size_t i = 0; i < responses.size(); ++i) {
    const int32_t token = static_cast<int32_t>(i);
    const std::string text = std::string("= ") + responses[i].answer + "\n";
    const NodeId node =
        ctx.AddSample(kRoot, {.text = *responses[i].answer == 0 ? "s" : text,
                              .tokens = absl::MakeConstSpan(&token, 1),
                              .terminal = true});
    ctx.tree()[node].visits = responses[i].visits;
    votes.Add(ctx, node, responses[i].score);
    votes.Offer(ctx);
  }
  const SearchDriver driver(ctx);
  return driver.best_answer() < 0
             ? ""
             : ctx.tree().answer_text(driver.best_answer());
}

// Answers are one vote whatever the case of their letters.
class AnyCaseTask : public TreeWorldTask {
 public:
  bool OneVote(std::string_view a, std::string_view b) const override {
    return absl::EqualsIgnoreCase(AbslView(a), AbslView(b));
  }
};

TEST(Votes, AnswersThatTheTaskCallsOneVoteAreCountedTogether) {
  const std::vector<Response> responses = {{"b", 1},  {"Cd", 1}, {"b", 1},
                                           {"cD", 1}, {"CD", 1}, {"cD", 1}};
  EXPECT_EQ(
      Chosen(AnswerChoice::kMajority, {responses.begin(), responses.end() - 1}),
      "b");
  EXPECT_EQ(Chosen(AnswerChoice::kMajority,
                   {responses.begin(), responses.end() - 1}, AnyCaseTask()),
            "Cd");
  EXPECT_EQ(Chosen(AnswerChoice::kWeighted, responses, AnyCaseTask()), "Cd");
}

// Records what a stopper sees.
class Watcher : public Stopper {
 public:
  bool Stops(const SearchView& view, std::string&) override {
    support = view.support;
    return false;
  }
  AnswerSupport support;
};

// Two responses with equal scores that finish in the reverse order of their
// votes.
AnswerSupport OfTwoPlaces(AnswerChoice choice, std::string& answer) {
  const Problem problem{.id = "p", .question = "?"};
  const TreeWorldTask task;
  Watcher watcher;
  SearchContext ctx(problem, task, watcher, SearchBudget{.tokens = 1000}, 1);
  Votes votes(choice);
  int32_t token = 0;
  for (const char* text : {"= late\n", "= early\n"}) {
    const NodeId node =
        ctx.AddSample(kRoot, {.text = text,
                              .tokens = absl::MakeConstSpan(&token, 1),
                              .terminal = true});
    votes.AddAt(ctx, node, 1, 1 - token);
    votes.Offer(ctx);
    ++token;
  }
  const SearchDriver driver(ctx);
  answer = ctx.tree().answer_text(driver.best_answer());
  EXPECT_FALSE(ctx.ShouldStop());
  return watcher.support;
}

TEST(ChooseTest, OfEqualsTheLowestPlaceComesFirstWheneverItEnds) {
  for (const AnswerChoice choice :
       {AnswerChoice::kBest, AnswerChoice::kWeighted, AnswerChoice::kMajority,
        AnswerChoice::kFirst, AnswerChoice::kLowerBound}) {
    const auto name = kAnswerChoiceNames[static_cast<size_t>(choice)];
    std::string answer;
    const AnswerSupport support = OfTwoPlaces(choice, answer);
    EXPECT_EQ(answer, "early") << name;
    // Nothing is certain while places with lower numbers may still vote.
    EXPECT_FALSE(support.wins_ties) << name;
    EXPECT_NE(support.most_added, 0) << name;
  }
}

const std::vector<Response> kFive = {
    {"a", 0.5f}, {"b", 0.9f}, {"a", 0.3f, 7}, {"c", 0.7f, 3}, {"c", 0.6f}};

TEST(ChooseTest, EachChoiceOfTheSameFiveResponses) {
  EXPECT_EQ(Chosen(AnswerChoice::kFirst, kFive), "a");
  EXPECT_EQ(Chosen(AnswerChoice::kMajority, kFive), "a");  // 2, 1, 2
  EXPECT_EQ(Chosen(AnswerChoice::kBest, kFive), "b");
  EXPECT_EQ(Chosen(AnswerChoice::kWeighted, kFive), "c");  // .8, .9, 1.3
  EXPECT_EQ(Chosen(AnswerChoice::kVisits, kFive), "a");
  // .4 - .1, .9 - .5, .65 - .05
  EXPECT_EQ(Chosen(AnswerChoice::kLowerBound, kFive), "c");
  EXPECT_EQ(Chosen(AnswerChoice::kMajorityOfTree, kFive), "a");  // 4, 2, 4
}

// Below the root: a step that ends twice in "b", an end "a", and a "b" that is
// added last. Only "a" gets a vote.
TEST(ChooseTest, TheTreesMajorityCountsWhatNobodyVotedFor) {
  const Problem problem{.id = "p", .question = "?"};
  const TreeWorldTask task;
  Stoppers stoppers = MakeStoppers({.max_tokens = 1000});
  SearchContext ctx(problem, task, stoppers, SearchBudget{.tokens = 1000}, 1);
  int32_t token = 0;
  const auto add = [&](NodeId parent, const char* text, bool ends) {
    ++token;
    return ctx.AddSample(parent, {.text = text,
                                  .tokens = absl::MakeConstSpan(&token, 1),
                                  .terminal = ends});
  };
  const SearchDriver driver(ctx);
  const auto answer = [&] {
    return ctx.tree().answer_text(driver.best_answer());
  };
  const NodeId step = add(kRoot, "s\n", false);
  const NodeId a = add(kRoot, "= a\n", true);
  Votes votes(AnswerChoice::kMajorityOfTree);
  votes.Add(ctx, a, 1);
  votes.Offer(ctx);
  EXPECT_EQ(answer(), "a");  // 2: one in the tree, one vote
  const NodeId b = add(step, "= b\n", true);
  add(kRoot, "= b\n", true);
  votes.CountTree(ctx);
  votes.Offer(ctx);
  // 2 each; the one below `step` is first in depth-first order.
  EXPECT_EQ(answer(), "b");
  EXPECT_EQ(driver.best_node(), b);
  votes.Add(ctx, a, 0);
  votes.Offer(ctx);
  EXPECT_EQ(answer(), "a");
}

TEST(ChooseTest, ALowerBoundFallsWhenAnAnswersScoresDisagree) {
  std::vector<Response> responses = {
      {"a", 0.8f}, {"a", 0.8f}, {"b", 0.7f}, {"b", 0.7f}};
  EXPECT_EQ(Chosen(AnswerChoice::kLowerBound, responses), "a");
  responses.push_back({"a", 0.2f});  // .6 - .2 against .7
  EXPECT_EQ(Chosen(AnswerChoice::kLowerBound, responses), "b");
}

TEST(ChooseTest, NoAnswerCountsOnlyWhereThereIsNoOther) {
  for (const AnswerChoice choice :
       {AnswerChoice::kFirst, AnswerChoice::kMajority, AnswerChoice::kBest,
        AnswerChoice::kWeighted, AnswerChoice::kVisits,
        AnswerChoice::kLowerBound, AnswerChoice::kMajorityOfTree}) {
    EXPECT_EQ(Chosen(choice, {{"", 1, 9}, {"", 1}, {"a", 0}}), "a");
    EXPECT_EQ(Chosen(choice, {{"", 1}}), "");
  }
}

}  // namespace
}  // namespace espalier
