#include "src/trace/labels/examples.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "datasets/sets/problem_set.h"
#include "datasets/tasks/task_registry.h"
#include "nlohmann/json.hpp"
#include "src/trace/labels/contamination.h"
#include "src/trace/labels/export.h"
#include "tests/trace/labels/small_tree.h"

namespace espalier {
namespace {

using testing::ElementsAre;

ProblemTrees Problem(std::vector<StoredTree> trees) {
  return {.problem = {{"p", "set", "What is 1+1?"}, {"2", {}}},
          .task = "qa",
          .trees = std::move(trees)};
}

int64_t Out(const FilterLog& log, const std::string& name) {
  for (const FilterCount& c : log.counts()) {
    if (c.name == name) return c.out;
  }
  return -1;
}

TEST(ExamplesTest, PathsAreCorrectDistinctAndTheMostLikelyFirst) {
  SmallTree a, b;
  a.Add(a.Add(0, "x\n"), "= 2\n", NodeVerdict::kCorrect, 1, -3);
  a.Add(a.Add(0, "y\n"), "= 2\n", NodeVerdict::kCorrect, 1, -1);
  a.Add(0, "= 3\n", NodeVerdict::kWrong);
  b.Add(b.Add(0, "x\n"), "= 2\n", NodeVerdict::kCorrect, 1, -3);
  FilterLog log;
  const auto paths =
      SelectPaths({Problem({a.tree, b.tree})}, {.per_problem = 1}, log);
  ASSERT_EQ(paths.size(), 1u);
  EXPECT_THAT(paths[0].steps, ElementsAre("y\n", "= 2\n"));
  EXPECT_DOUBLE_EQ(paths[0].logprob, -2);
  EXPECT_EQ(paths[0].tokens, 6);
  EXPECT_EQ(Out(log, "correct"), 3);
  EXPECT_EQ(Out(log, "distinct"), 2);
  EXPECT_EQ(Out(log, "within the limit per problem"), 1);
  EXPECT_EQ(log.counts()[0].in, 4);
}

TEST(ExamplesTest, PathsByValueAreThoseOfHighestMeanQ) {
  SmallTree tree;
  tree.Add(0, "= 2\n", NodeVerdict::kCorrect, 1, -1);
  tree.tree.nodes.back().q = 0.2f;
  tree.Add(0, "= 02\n", NodeVerdict::kCorrect, 1, -9);
  tree.tree.nodes.back().q = 0.9f;
  FilterLog log;
  const auto paths = SelectPaths({Problem({tree.tree})},
                                 {.per_problem = 1, .by_value = true}, log);
  ASSERT_EQ(paths.size(), 1u);
  EXPECT_THAT(paths[0].steps, ElementsAre("= 02\n"));
}

// A step of two tokens at ln p = -2 has perplexity e.
TEST(ExamplesTest, ThePerplexityWindowKeepsStepsNotPaths) {
  SmallTree tree;
  const int trivial = tree.Add(0, "a\n", NodeVerdict::kNotAsked, 1, 0);
  const int good = tree.Add(trivial, "b\n", NodeVerdict::kNotAsked, 1, -2);
  tree.Add(good, "=\n", NodeVerdict::kCorrect, 1, -40);
  FilterLog log;
  const auto paths =
      SelectPaths({Problem({tree.tree})},
                  {.min_perplexity = 1.01, .max_perplexity = 3}, log);
  ASSERT_EQ(paths.size(), 1u);
  EXPECT_THAT(paths[0].train, ElementsAre(false, true, false));
  const Task* task = FindTask("qa").value();
  const auto trees = std::vector<ProblemTrees>{Problem({tree.tree})};
  const auto line =
      nlohmann::json::parse(PathLines(trees, paths, *task, false).value());
  EXPECT_EQ(line["completion"], "b\n");
  EXPECT_TRUE(std::string(line["prompt"]).ends_with("a\n"));
  EXPECT_TRUE(SelectPaths(trees, {.min_perplexity = 1e30}, log).empty());
}

TEST(ExamplesTest, PairsAreTheBestAgainstTheWorstOfOnePrefix) {
  SmallTree tree;
  const int top = tree.Add(0, "top\n");
  const int good = tree.Add(top, "good good good good\n");
  tree.Add(good, "= 2\n", NodeVerdict::kCorrect, 3);
  tree.Add(good, "= 3\n", NodeVerdict::kWrong, 1);  // .75
  const int half = tree.Add(top, "half\n");
  tree.Add(half, "= 2\n", NodeVerdict::kCorrect);
  tree.Add(half, "= 3\n", NodeVerdict::kWrong);  // .5
  const int bad = tree.Add(top, "bad\n");
  tree.Add(bad, "= 3\n", NodeVerdict::kWrong, 5);  // 0
  FilterLog log;
  const std::vector<ProblemTrees> trees = {Problem({tree.tree, tree.tree})};
  const auto pairs = SelectPairs(trees, {.min_edit_distance = 1}, log);
  // good > bad and half > bad after "top"; good and half differ by only .25;
  // below each step its two ends, 1 against 0.
  std::vector<std::string> seen;
  for (const PairExample& p : pairs) {
    seen.push_back(p.prefix + "|" + p.chosen + "|" + p.rejected);
    EXPECT_GE(p.chosen_value - p.rejected_value, 0.5f);
  }
  EXPECT_THAT(
      seen,
      testing::UnorderedElementsAre(
          "top\n|good good good good\n|bad\n", "top\n|half\n|bad\n",
          "top\ngood good good good\n|= 2\n|= 3\n", "top\nhalf\n|= 2\n|= 3\n"));
  for (const PairExample& p : pairs) {
    EXPECT_FLOAT_EQ(p.weight, p.prefix == "top\n" ? 0.5f : 1);
  }
  // rStar-Math's edit distance of 20 keeps only very different pairs.
  FilterLog strict;
  const auto far = SelectPairs(trees, {.min_edit_distance = 16}, strict);
  ASSERT_EQ(far.size(), 1u);
  EXPECT_EQ(far[0].rejected, "bad\n");
  EXPECT_EQ(Out(strict, "texts differ by the edit distance"), 2);
}

TEST(ExamplesTest, StepLabelsAddUpOverSearchesAndBeginningsGo) {
  SmallTree a, b;
  a.Add(a.Add(0, "x\n"), "= 2\n", NodeVerdict::kCorrect, 2);
  a.Cut(a.Add(0, "open\n"), "cut");
  b.Add(b.Add(0, "x\n"), "= 3\n", NodeVerdict::kWrong, 2);
  FilterLog log;
  const std::vector<ProblemTrees> trees = {Problem({a.tree, b.tree})};
  const auto steps = SelectSteps(trees, {}, log);
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_THAT(steps[0].steps, ElementsAre("x\n", "= 2\n"));
  EXPECT_THAT(steps[0].values, ElementsAre(0.5f, 1.0f));
  EXPECT_THAT(steps[0].finished, ElementsAre(4u, 2u));
  EXPECT_THAT(steps[1].values, ElementsAre(0.5f, 0.0f));
  // Both begin with x: its label counts only in the first.
  EXPECT_THAT(steps[0].counts, ElementsAre(true, true));
  EXPECT_THAT(steps[1].counts, ElementsAre(false, true));
  EXPECT_EQ(log.counts()[0].in, 3);
  // With three outcomes required only the first step has a label, once.
  FilterLog strict;
  const auto few = SelectSteps(trees, {.min_outcomes = 3}, strict);
  ASSERT_EQ(few.size(), 1u);
  EXPECT_THAT(few[0].steps, ElementsAre("x\n"));
}

TEST(ExamplesTest, ColumnsAreThoseOfTheTrainers) {
  SmallTree tree;
  const int x = tree.Add(0, "x\n");
  tree.Add(x, "= 2\n", NodeVerdict::kCorrect);
  tree.Add(x, "= 3\n", NodeVerdict::kWrong);
  const std::vector<ProblemTrees> trees = {Problem({tree.tree})};
  const Task* task = FindTask("qa").value();
  FilterLog log;
  const auto first = [](const absl::StatusOr<std::string>& lines) {
    EXPECT_TRUE(lines.ok());
    return nlohmann::json::parse(lines->substr(0, lines->find('\n')));
  };
  const auto paths = SelectPaths(trees, {}, log);
  const auto sft = first(PathLines(trees, paths, *task, false));
  EXPECT_EQ(sft["completion"], "x\n= 2\n");
  EXPECT_TRUE(sft["prompt"].is_string());
  const auto messages = first(PathLines(trees, paths, *task, true));
  EXPECT_EQ(messages["messages"][0]["role"], "user");
  EXPECT_EQ(messages["messages"][0]["content"], "What is 1+1?");
  EXPECT_EQ(messages["messages"][1]["content"], "x\n= 2\n");
  const auto pairs = SelectPairs(trees, {.min_edit_distance = 1}, log);
  const auto pair = first(PairLines(trees, pairs, *task, false));
  EXPECT_EQ(pair["chosen"], "= 2\n");
  EXPECT_EQ(pair["rejected"], "= 3\n");
  EXPECT_TRUE(std::string(pair["prompt"]).ends_with("x\n"));
  const auto talk = first(PairLines(trees, pairs, *task, true));
  EXPECT_EQ(talk["prompt"][1]["role"], "assistant");
  EXPECT_EQ(talk["chosen"][0]["content"], "= 2\n");
  const auto steps = SelectSteps(trees, {}, log);
  const auto trl = first(StepLines(trees, steps, *task, false, 0.5f));
  EXPECT_EQ(trl["completions"], (std::vector<std::string>{"x\n", "= 2\n"}));
  EXPECT_EQ(trl["labels"], (std::vector<bool>{false, true}));
  // The second line has the shared prefix in its prompt.
  const auto lines = StepLines(trees, steps, *task, false, 0.5f);
  const auto second = nlohmann::json::parse(lines->substr(lines->find('\n')));
  EXPECT_TRUE(std::string(second["prompt"]).ends_with("x\n"));
  EXPECT_EQ(second["completions"], std::vector<std::string>{"= 3\n"});
  EXPECT_EQ(second["finished"], std::vector<int>{1});
  const auto open = first(StepLines(trees, steps, *task, true, 0));
  EXPECT_TRUE(std::string(open["input"])
                  .ends_with("x \u043a\u0438\n= 2 \u043a\u0438\n"));
  EXPECT_EQ(open["label"], (std::vector<double>{0.5, 1}));
}

TEST(ContaminationTest, ARunOfWordsOrAWholeShortQuestionTells) {
  OverlapChecker checker(5);
  checker.AddEvaluation("Ann has 23 shells. She finds 48 more, today!");
  checker.AddEvaluation("3 7 9 > 12");
  EXPECT_TRUE(checker.Overlaps("Then ANN has 23 shells she swam."));
  EXPECT_FALSE(checker.Overlaps("Then Ann has 24 shells. She finds 49 more."));
  EXPECT_TRUE(checker.Overlaps("3, 7, 9: 12"));
  EXPECT_FALSE(checker.Overlaps("3 7 9 > 12 and so on for long"));
  EXPECT_FALSE(checker.Overlaps(""));
  OverlapChecker whole(kWholeQuestion);
  whole.AddEvaluation("one two three four five six");
  EXPECT_FALSE(whole.Overlaps("one two three four five seven"));
  EXPECT_TRUE(whole.Overlaps("One two  three four five six."));
}

TEST(ContaminationTest, AFileIsCheckedAgainstTheQuestionsGiven) {
  const auto trees = [] {
    return std::vector<ProblemTrees>{
        {.problem = {{"q.jsonl:1", "q.jsonl", "What is 1+1?"}, {}}},
        {.problem = {{"q.jsonl:2", "q.jsonl", "What is 2+2?"}, {}}}};
  };
  FilterLog log;
  auto nothing = trees();
  EXPECT_EQ(DropContaminated({}, nothing, log).code(),
            absl::StatusCode::kFailedPrecondition);
  auto kept = trees();
  ASSERT_TRUE(
      DropContaminated({.questions = {"what is 2 + 2"}}, kept, log).ok());
  ASSERT_EQ(kept.size(), 1u);
  EXPECT_EQ(kept[0].problem.problem.id, "q.jsonl:1");
}

TEST(ContaminationTest, APromptOfAnEvaluationIsKnownByItsQuestion) {
  ContaminationOptions options{.questions = {"What is 6 times 7?"}};
  const auto evaluation =
      EvaluationQuestions::Load({"countdown:3", "stories:easy"}, options);
  ASSERT_TRUE(evaluation.ok()) << evaluation.status();
  for (const char* name : {"countdown:3", "stories:easy"}) {
    const ProblemSet set = LoadSet(name, {.limit = 50}).value();
    const Task* task = FindTask(set.task).value();
    for (const GradedProblem& graded : set.problems) {
      const std::string prompt = task->Render(graded.problem).value();
      EXPECT_TRUE(evaluation->HoldPrompt(prompt));
      EXPECT_TRUE(evaluation->HoldPrompt(prompt + "a 23\n"));
      EXPECT_TRUE(evaluation->HoldPrompt(graded.problem.question));
      EXPECT_TRUE(evaluation->HoldPrompt("Solve this.\n" +
                                         graded.problem.question + "\nGo."));
      EXPECT_FALSE(evaluation->HoldPrompt(prompt.substr(0, prompt.size() / 2)));
    }
    const ProblemSet training = LoadSet(name, {.limit = 50, .seed = 7}).value();
    for (const GradedProblem& graded : training.problems) {
      EXPECT_FALSE(
          evaluation->HoldPrompt(task->Render(graded.problem).value()));
    }
  }
  EXPECT_TRUE(evaluation->HoldPrompt("Question: What is 6 times 7?\nAnswer:"));
  EXPECT_FALSE(evaluation->HoldPrompt("What is 6 times 7 less 1?"));
}

// Two right responses of scores .9 .2 and .6, and a wrong one of .8, .4.
SmallTree ScoredTree() {
  SmallTree tree;
  const auto add = [&](int parent, const char* text, float score,
                       NodeVerdict verdict = NodeVerdict::kNotAsked) {
    const int id = tree.Add(parent, text, verdict);
    tree.tree.nodes.back().step_score = score;
    return id;
  };
  add(add(0, "ab\n", 0.9f), "= 2\n", 0.2f, NodeVerdict::kCorrect);
  add(0, "= 2 \n", 0.6f, NodeVerdict::kCorrect);
  add(add(0, "c\n", 0.8f), "= 3\n", 0.4f, NodeVerdict::kWrong);
  return tree;
}

// Advantages of the three responses' steps, in order.
std::vector<std::vector<float>> StepAdvantages(const ProcessRewards& process) {
  FilterLog log;
  const auto groups =
      SelectGroups({Problem({ScoredTree().tree})}, {.process = process}, log);
  EXPECT_EQ(groups.size(), 1u);
  std::vector<std::vector<float>> out;
  for (const GroupResponse& r : groups[0].responses) {
    EXPECT_EQ(r.advantages.size(), r.tokens.size());
    std::vector<float>& steps = out.emplace_back();
    size_t begin = 0;
    for (const size_t end : r.step_ends) {
      for (; begin < end; ++begin) {
        // All tokens of a step have the same.
        EXPECT_EQ(r.advantages[begin], r.advantages[end - 1]);
      }
      steps.push_back(r.advantages[end - 1]);
    }
  }
  return out;
}

void ExpectAdvantages(const ProcessRewards& process,
                      const std::vector<std::vector<double>>& returns,
                      double mean) {
  const auto steps = StepAdvantages(process);
  ASSERT_EQ(steps.size(), returns.size());
  for (size_t i = 0; i < steps.size(); ++i) {
    const double outcome = i < 2 ? 1.0 / 3 : -2.0 / 3;
    for (size_t k = 0; k < steps[i].size(); ++k) {
      const double more = returns[i].empty() ? 0 : 0.5 * (returns[i][k] - mean);
      EXPECT_NEAR(steps[i][k], outcome + more, 1e-6) << i << " " << k;
    }
  }
}

TEST(ExamplesTest, ProcessRewardsAreBoundedAsPublished) {
  // A clip of 0 leaves no reward: min(s, 0).
  ExpectAdvantages({.weight = 0.5f, .clip = 0, .delta = false, .gate = false},
                   {{0, 0}, {0}, {0, 0}}, 0);
  // Clip at .5: rewards 0, -.3; 0; 0, -.1.
  ExpectAdvantages({.weight = 0.5f, .delta = false, .gate = false},
                   {{-0.3, -0.3}, {0}, {-0.1, -0.1}}, -0.8 / 5);
  // Clip at 1, whose returns add up: -.1 -.8, -.8; -.4; -.2 -.6, -.6.
  ExpectAdvantages({.weight = 0.5f, .clip = 1, .delta = false, .gate = false},
                   {{-0.9, -0.8}, {-0.4}, {-0.8, -0.6}}, -3.5 / 5);
  // Delta: each step's own.
  ExpectAdvantages({.weight = 0.5f, .clip = 1, .gate = false},
                   {{-0.1, -0.8}, {-0.4}, {-0.2, -0.6}}, -2.1 / 5);
  // The gate leaves the wrong response its outcome's advantage.
  ExpectAdvantages({.weight = 0.5f, .clip = 1}, {{-0.1, -0.8}, {-0.4}, {}},
                   -1.3 / 3);
}

TEST(ExamplesTest, ProcessRewardsAreOffUnlessAskedFor) {
  EXPECT_EQ(ProcessRewards().weight, 0);
  FilterLog log;
  const auto groups =
      SelectGroups({Problem({ScoredTree().tree})}, GroupOptions(), log);
  ASSERT_EQ(groups.size(), 1u);
  for (const GroupResponse& r : groups[0].responses) {
    EXPECT_TRUE(r.advantages.empty());
  }
  // Asked for, a response with a step that was not scored has none.
  SmallTree tree = ScoredTree();
  tree.tree.nodes[1].step_score = std::nanf("");
  const auto some = SelectGroups({Problem({tree.tree})},
                                 {.process = {.weight = 1, .clip = 1}}, log);
  EXPECT_EQ(some[0].responses[0].advantages,
            std::vector<float>(some[0].responses[0].tokens.size(),
                               some[0].responses[0].advantage));
  // The only one that counts is its own mean.
  EXPECT_FLOAT_EQ(some[0].responses[1].advantages[0], 1.0f / 3);
}

TEST(ExamplesTest, TheConsistencyFilterBalancesTheClasses) {
  const auto kept = [](ConsistencyFilter filter, SmallTree tree) {
    FilterLog log;
    const auto groups =
        SelectGroups({Problem({tree.tree})}, {.filter = filter}, log);
    std::vector<float> firsts;
    for (const GroupResponse& r : groups.at(0).responses) {
      firsts.push_back(r.step_scores.empty() ? -1 : r.step_scores[0]);
    }
    return firsts;
  };
  // Means .55 and .6 of right ones: the first goes.
  EXPECT_THAT(kept(ConsistencyFilter::kBoth, ScoredTree()),
              ElementsAre(0.6f, 0.8f));
  EXPECT_THAT(kept(ConsistencyFilter::kCorrect, ScoredTree()),
              ElementsAre(0.6f, 0.8f));
  EXPECT_THAT(kept(ConsistencyFilter::kOff, ScoredTree()),
              ElementsAre(0.9f, 0.6f, 0.8f));
  // Four wrong ones, one of them unscored: those of the highest means go.
  SmallTree more = ScoredTree();
  for (const float score : {0.1f, 0.7f, std::nanf("")}) {
    more.Add(0, absl::StrCat("= ", score, "\n"), NodeVerdict::kWrong);
    more.tree.nodes.back().step_score = score;
  }
  EXPECT_THAT(kept(ConsistencyFilter::kBoth, more),
              ElementsAre(0.9f, 0.6f, 0.1f, -1));
  EXPECT_THAT(kept(ConsistencyFilter::kCorrect, more),
              ElementsAre(0.9f, 0.6f, 0.8f, 0.1f, 0.7f, -1));
}

}  // namespace
}  // namespace espalier
