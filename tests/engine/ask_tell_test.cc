// Searches whose questions a program answers itself.
#include "espalier/ask_tell.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "espalier/policy.h"
#include "tests/engine/every_method.h"

namespace espalier {
namespace {

using ::testing::HasSubstr;

// Three lines "d N" with a digit each, then "= " and their sum.
class DigitsTask : public Task {
 public:
  std::string_view name() const override { return "digits"; }
  absl::StatusOr<std::string> Render(const Problem& problem) const override {
    return problem.question;
  }
  const StepFormat& format() const override { return format_; }
  std::optional<std::string> FindAnswer(
      std::string_view response) const override {
    const size_t at = response.rfind("= ");
    if (at == std::string_view::npos) return std::nullopt;
    return std::string(
        response.substr(at + 2, response.find('\n', at) - at - 2));
  }
  bool SameAnswer(std::string_view a, std::string_view b) const override {
    return a == b;
  }

 private:
  const StepFormat format_{.max_step_tokens = 8, .final_prefixes = {"= "}};
};

int SumOf(const std::string& response) {
  int sum = 0;
  for (absl::string_view line : absl::StrSplit(response, '\n')) {
    if (absl::StartsWith(line, "d ")) sum += line[2] - '0';
  }
  return sum;
}

SampledText NextStep(const std::string& response, uint64_t seed) {
  if (std::count(response.begin(), response.end(), '\n') < 3) {
    return {.text = absl::StrCat("d ", seed % 4, "\n")};
  }
  return {.text = absl::StrCat("= ", SumOf(response), "\n")};
}

SearchAnswer AnswerOf(const SearchQuestion& question) {
  SearchAnswer answer;
  for (const uint64_t seed : question.sample.seeds) {
    answer.samples.push_back(NextStep(question.responses[0], seed));
  }
  if (question.kind == QuestionKind::kScore) {
    for (const std::string& response : question.responses) {
      const float share = static_cast<float>(SumOf(response)) / 9;
      answer.scores.push_back({.step = share, .path = share});
    }
  }
  answer.correct = question.kind == QuestionKind::kVerify &&
                   SumOf(question.responses[0]) == 9;
  return answer;
}

const Problem kProblem{.id = "1", .question = "three digits\n"};

// Answers everything; with `shuffle` one question of those open at a time, in a
// random order.
SearchResult RunAll(AskTell& search, uint64_t shuffle) {
  std::mt19937_64 rng(shuffle);
  std::vector<SearchQuestion> open;
  while (!search.done()) {
    for (SearchQuestion& question : search.Ask()) {
      open.push_back(std::move(question));
    }
    EXPECT_FALSE(open.empty()) << "it waits for nothing";
    if (open.empty()) break;
    const size_t next = shuffle == 0 ? 0 : rng() % open.size();
    const SearchQuestion question = open[next];
    open.erase(open.begin() + static_cast<std::ptrdiff_t>(next));
    SearchAnswer answer = AnswerOf(question);
    const absl::Status told = search.Tell(question.id, std::move(answer));
    EXPECT_TRUE(told.ok()) << told;
  }
  return search.Result();
}

std::string AsText(const SearchResult& result) {
  std::string text = absl::StrCat(result.answer, " ", result.tokens, "\n");
  for (const TreeNode& node : result.tree) {
    absl::StrAppend(&text, node.parent, " ", node.text, " ", node.visits, " ",
                    node.q, " ", node.path_score, "\n");
  }
  return text;
}

TEST(AskTellTest, EveryMethodAnswersWithinItsBudgetInAnyOrder) {
  const DigitsTask task;
  for (const std::string& method : EveryMethod()) {
    SearchOptions options{.method = method, .max_tokens = 400, .seed = 5};
    options.keep_tree = true;
    options.response_tokens = 12;
    std::string trees[2];
    bool refused = false;
    for (const uint64_t shuffle : {0, 1}) {
      auto search = AskTell::Create(kProblem, task, options);
      if (!search.ok()) {  // of several models
        EXPECT_THAT(std::string(search.status().message()),
                    HasSubstr("more_policies"))
            << method;
        refused = true;
        break;
      }
      const SearchResult result = RunAll(**search, shuffle);
      if (!result.status.ok()) {  // reads what text alone does not say
        EXPECT_THAT(std::string(result.status.message()),
                    HasSubstr("outside generator"))
            << method;
        refused = true;
        break;
      }
      EXPECT_FALSE(result.answer.empty()) << method;
      EXPECT_LE(result.tokens, 400) << method;
      EXPECT_GT(result.tokens, 0) << method;
      trees[shuffle] = AsText(result);
    }
    if (refused) continue;
    EXPECT_EQ(trees[0], trees[1]) << method;
  }
}

// Levels that a method does not read may be missing.
TEST(AskTellTest, ARewardModelMayGiveWindowsAlone) {
  const DigitsTask task;
  std::string answers[2];
  for (const bool windows : {false, true}) {
    auto search = AskTell::Create(
        kProblem, task,
        {.method = windows ? "best_of_n:level=window2" : "best_of_n",
         .max_tokens = 300});
    ASSERT_TRUE(search.ok()) << search.status();
    while (!(*search)->done()) {
      for (const SearchQuestion& question : (*search)->Ask()) {
        SearchAnswer answer = AnswerOf(question);
        for (StepScores& scores : answer.scores) {
          const float score = scores.path;
          if (windows) {
            scores = {};
            scores.windows[0] = score;
          }
        }
        ASSERT_TRUE((*search)->Tell(question.id, answer).ok());
      }
    }
    ASSERT_TRUE((*search)->Result().status.ok()) << (*search)->Result().status;
    answers[windows ? 1 : 0] = (*search)->Result().answer;
  }
  EXPECT_EQ(answers[0], answers[1]);
  EXPECT_NE(answers[0], "");
}

TEST(AskTellTest, MajorityAndBestOfNChooseAsCountedByHand) {
  const DigitsTask task;
  for (const char* method : {"majority", "best_of_n"}) {
    auto search =
        AskTell::Create(kProblem, task, {.method = method, .max_tokens = 600});
    ASSERT_TRUE(search.ok()) << search.status();
    std::map<std::string, int> votes;
    int highest = 0;
    while (!(*search)->done()) {
      for (const SearchQuestion& question : (*search)->Ask()) {
        const SearchAnswer answer = AnswerOf(question);
        for (const SampledText& sample : answer.samples) {
          if (!absl::StartsWith(sample.text, "= ")) continue;
          const int sum = SumOf(question.responses[0]);
          ++votes[absl::StrCat(sum)];
          highest = std::max(highest, sum);
        }
        ASSERT_TRUE((*search)->Tell(question.id, answer).ok());
      }
    }
    const SearchResult result = (*search)->Result();
    if (std::string(method) == "best_of_n") {
      EXPECT_EQ(result.answer, absl::StrCat(highest));
      continue;
    }
    int most = 0;
    for (const auto& [answer, count] : votes) most = std::max(most, count);
    EXPECT_EQ(votes[result.answer], most);
    EXPECT_GT(most, 1);
  }
}

TEST(AskTellTest, AnswersThatDoNotFitLeaveTheSearchAsItWas) {
  const DigitsTask task;
  auto made = AskTell::Create(kProblem, task,
                              {.method = "best_of_n:n=4", .max_tokens = 200});
  ASSERT_TRUE(made.ok()) << made.status();
  AskTell& search = **made;
  const std::vector<SearchQuestion> questions = search.Ask();
  ASSERT_FALSE(questions.empty());
  const SearchQuestion& q = questions[0];
  ASSERT_EQ(q.kind, QuestionKind::kSample);
  const auto refusal = [&](SearchAnswer answer) {
    const absl::Status status = search.Tell(q.id, std::move(answer));
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    return std::string(status.message());
  };
  EXPECT_THAT(refusal({}), HasSubstr("0 samples; expected 1 to"));
  EXPECT_THAT(
      refusal({.samples = std::vector<SampledText>(
                   static_cast<size_t>(q.sample.n) + 1, {.text = "d 1\n"})}),
      HasSubstr("samples; expected 1 to"));
  EXPECT_THAT(refusal({.samples = {{.text = ""}}}), HasSubstr("is empty"));
  EXPECT_THAT(refusal({.samples = {{.text = "d 1"}}}),
              HasSubstr("is not a whole step: expected text that ends with "
                        "\"\\n\""));
  EXPECT_THAT(refusal({.samples = {{.text = "d 1\n", .logprobs = {-1}}}}),
              HasSubstr("without the tokens"));
  EXPECT_THAT(
      refusal(
          {.samples = {{.text = "d 1\n", .tokens = {1, 2}, .logprobs = {-1}}}}),
      HasSubstr("2 tokens and 1 log-probs"));
  EXPECT_THAT(
      refusal(
          {.samples = {{.text = "d 1\n", .tokens = {1}, .logprobs = {0.5f}}}}),
      HasSubstr("0 or less"));
  EXPECT_THAT(refusal({.samples = {{.text = "d 1\n",
                                    .tokens = {1},
                                    .logprobs = {std::nanf("")}}}}),
              HasSubstr("0 or less"));
  EXPECT_THAT(
      refusal(
          {.samples = {{.text = "d 1\n",
                        .tokens = std::vector<int32_t>(
                            static_cast<size_t>(q.sample.max_tokens) + 1)}}}),
      HasSubstr("more than the"));
  EXPECT_EQ(search.Tell(q.id + 1000, {}).code(), absl::StatusCode::kNotFound);
  EXPECT_FALSE(search.done());
  EXPECT_EQ(search.Result().tokens, 0);
  ASSERT_TRUE(search.Tell(q.id, AnswerOf(q)).ok());
  // It is open no more.
  EXPECT_EQ(search.Tell(q.id, AnswerOf(q)).code(), absl::StatusCode::kNotFound);
}

TEST(AskTellTest, WordsAreCutAtTheStepsEndAndAtTheLimit) {
  const DigitsTask task;
  auto made = AskTell::Create(kProblem, task,
                              {.method = "best_of_n:n=2", .max_tokens = 200});
  ASSERT_TRUE(made.ok()) << made.status();
  AskTell& search = **made;
  const SearchQuestion q = search.Ask().at(0);
  // With tokens there is nothing that could be cut.
  EXPECT_THAT(std::string(search
                              .Tell(q.id, {.samples = {{.text = "d 1\nd 2\n",
                                                        .tokens = {1, 2}}}})
                              .message()),
              HasSubstr("continues after the end"));
  ASSERT_TRUE(search.Tell(q.id, {.samples = {{.text = "d 1\nd 2\n"}}}).ok());
  const auto next = search.Ask();
  ASSERT_FALSE(next.empty());
  EXPECT_EQ(next[0].responses[0], "d 1\n");
  std::string longer;
  for (int i = 0; i < next[0].sample.max_tokens + 3; ++i) longer += " x";
  ASSERT_TRUE(search.Tell(next[0].id, {.samples = {{.text = longer}}}).ok());
  EXPECT_LE(search.Result().tokens, 3 + next[0].sample.max_tokens);
}

TEST(AskTellTest, FiltersReachTheGenerator) {
  const DigitsTask task;
  auto made = AskTell::Create(kProblem, task,
                              {.method = "best_of_n:n=2",
                               .max_tokens = 200,
                               .top_k = 7,
                               .top_p = 0.5f,
                               .min_p = 0.25f});
  ASSERT_TRUE(made.ok()) << made.status();
  const SearchQuestion q = (*made)->Ask().at(0);
  EXPECT_EQ(q.sample.top_k, 7);
  EXPECT_EQ(q.sample.top_p, 0.5f);
  EXPECT_EQ(q.sample.min_p, 0.25f);
}

TEST(AskTellTest, AFailedQuestionFailsTheSearch) {
  const DigitsTask task;
  auto search = AskTell::Create(kProblem, task, {.method = "majority"});
  ASSERT_TRUE(search.ok());
  const auto questions = (*search)->Ask();
  ASSERT_FALSE(questions.empty());
  ASSERT_TRUE((*search)
                  ->Tell(questions[0].id,
                         {.status = absl::UnavailableError("server is gone")})
                  .ok());
  EXPECT_TRUE((*search)->done());
  EXPECT_THAT(std::string((*search)->Result().status.message()),
              HasSubstr("server is gone"));
}

TEST(AskTellTest, AStopKeepsTheBestAnswerSoFar) {
  const DigitsTask task;
  auto search =
      AskTell::Create(kProblem, task, {.method = "puct", .max_tokens = 100000});
  ASSERT_TRUE(search.ok());
  while (!(*search)->done()) {
    for (const SearchQuestion& question : (*search)->Ask()) {
      ASSERT_TRUE((*search)->Tell(question.id, AnswerOf(question)).ok());
    }
    if (!(*search)->Result().answer.empty()) (*search)->Stop("enough");
  }
  EXPECT_FALSE((*search)->Result().answer.empty());
  EXPECT_EQ((*search)->Result().stop_reason, "enough");
  EXPECT_TRUE((*search)->Ask().empty());
}

class DigitsPolicy : public Policy {
 public:
  absl::StatusOr<std::vector<std::vector<SampledText>>> Sample(
      absl::Span<const PolicyRequest> requests) override {
    std::vector<std::vector<SampledText>> out;
    for (const PolicyRequest& request : requests) {
      EXPECT_EQ(request.prompt, "three digits\n");
      EXPECT_EQ(request.sample.seeds.size(),
                static_cast<size_t>(request.sample.n));
      auto& samples = out.emplace_back();
      for (const uint64_t seed : request.sample.seeds) {
        samples.push_back(NextStep(request.response, seed));
        if (!absl::StartsWith(samples.back().text, "= ")) continue;
        highest_ = std::max(highest_, SumOf(request.response));
      }
    }
    most_ = std::max(most_, requests.size());
    return out;
  }
  size_t most_ = 0;  // requests at once
  int highest_ = 0;  // sum of a finished response
};

class DigitsReward : public RewardModel {
 public:
  std::string_view name() const override { return "digits"; }
  absl::StatusOr<std::vector<StepScores>> Score(
      const Problem&, absl::Span<const std::string> responses) override {
    std::vector<StepScores> scores;
    for (const std::string& response : responses) {
      const float share = static_cast<float>(SumOf(response)) / 9;
      scores.push_back({.step = share, .path = share});
    }
    return scores;
  }
};

TEST(SolveWithTest, APolicyAndARewardModelAreAllItNeeds) {
  const DigitsTask task;
  DigitsReward reward;
  size_t most = 0;
  for (const char* method :
       {"best_of_n", "beam:choice=best", "best_first:choice=best",
        "puct:in_flight=4:choice=best"}) {
    DigitsPolicy policy;
    const SearchResult result =
        SolveWith(policy, &reward, nullptr, kProblem, task,
                  {.method = method, .max_tokens = 1500});
    ASSERT_TRUE(result.status.ok()) << method << ": " << result.status;
    // The best of all that the policy wrote to their ends.
    EXPECT_EQ(result.answer, absl::StrCat(policy.highest_)) << method;
    EXPECT_GT(policy.highest_, 4) << method;
    EXPECT_LE(result.tokens, 1500) << method;
    most = std::max(most, policy.most_);
  }
  EXPECT_GT(most, 1u);
  DigitsPolicy policy;
  const SearchResult result =
      SolveWith(policy, &reward, nullptr, kProblem, task, {.max_tokens = 1500});
  EXPECT_TRUE(result.status.ok()) << result.status;
  EXPECT_FALSE(result.answer.empty());
}

TEST(SolveWithTest, WhatIsMissingIsNamed) {
  const DigitsTask task;
  DigitsPolicy policy;
  const auto problem_with = [&](const char* method) {
    return std::string(SolveWith(policy, nullptr, nullptr, kProblem, task,
                                 {.method = method, .max_tokens = 500})
                           .status.message());
  };
  EXPECT_EQ(problem_with("majority"), "");
  EXPECT_THAT(problem_with("beam"), HasSubstr("reward model"));
  EXPECT_THAT(problem_with("nonsense"), HasSubstr("unknown method"));
  EXPECT_THAT(problem_with("deepconf"), HasSubstr("outside generator"));
}

}  // namespace
}  // namespace espalier
