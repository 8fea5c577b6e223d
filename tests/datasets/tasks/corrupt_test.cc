#include "datasets/tasks/corrupt.h"

#include <cmath>
#include <map>

#include "datasets/tasks/stories.h"
#include "datasets/tasks/stories_task.h"
#include "datasets/tasks/story_lines.h"
#include "gtest/gtest.h"

namespace espalier {
namespace {

RandomStream Stream(uint64_t i) {
  return RandomStream(StreamKey(5, 0, i, Purpose::kTest));
}

std::string Response(const std::vector<CorruptedLine>& lines) {
  std::string out;
  for (const CorruptedLine& line : lines) out += line.text + "\n";
  return out;
}

void ExpectTheVerifiersVerdicts(const GradedProblem& story,
                                const std::vector<CorruptedLine>& lines) {
  const auto verdicts =
      StoriesVerifier()
          .CheckSteps(story.problem, story.reference, Response(lines))
          .value();
  ASSERT_EQ(verdicts.size(), lines.size());
  for (size_t k = 0; k < lines.size(); ++k) {
    EXPECT_EQ(verdicts[k].step_ok, lines[k].verdict.step_ok);
    EXPECT_EQ(verdicts[k].path_ok, lines[k].verdict.path_ok);
    EXPECT_EQ(lines[k].planted, !lines[k].verdict.step_ok);
  }
}

TEST(CorruptStory, WithoutErrorsIsTheReference) {
  for (uint64_t i = 0; i < 100; ++i) {
    const GradedProblem story = MakeStory(*FindStoryBand("middle"), 1, i);
    RandomStream rng = Stream(i);
    std::vector<std::string> texts;
    for (const CorruptedLine& line : CorruptStory(story, 0, rng)) {
      EXPECT_TRUE(line.verdict.step_ok && line.verdict.path_ok);
      texts.push_back(line.text);
    }
    EXPECT_EQ(texts, story.reference.steps);
  }
}

TEST(CorruptStory, VerdictsAreTheVerifiersOwn) {
  for (uint64_t i = 0; i < 300; ++i) {
    const GradedProblem story = MakeStory(*FindStoryBand("hard"), 1, i);
    RandomStream rng = Stream(i);
    const std::vector<CorruptedLine> lines = CorruptStory(story, 0.3, rng);
    ExpectTheVerifiersVerdicts(story, lines);
  }
}

// The kind of error in a corrupted line, found from its text and the reference
// only.
std::string ErrorKind(const StoryLine& line, const StoryLine& previous,
                      const GradedProblem& story) {
  if (line.kind == StoryLine::Kind::kOpening) return "opening";
  if (line.kind == StoryLine::Kind::kAnswer) return "answer";
  const double exact =
      line.op == '+'   ? static_cast<double>(line.left + line.right)
      : line.op == '-' ? static_cast<double>(line.left - line.right)
      : line.op == '*'
          ? static_cast<double>(line.left * line.right)
          : static_cast<double>(line.left) / static_cast<double>(line.right);
  if (exact != static_cast<double>(line.value)) return "result";
  if (line.left != previous.value) return "left";
  for (const std::string& text : story.reference.steps) {
    const StoryLine want = *ParseStoryLine(text);
    if (want.tag != line.tag) continue;
    if (want.op != line.op) return "operation";
    if (want.right != line.right) return "operand";
    return "order";
  }
  return "distractor";
}

TEST(CorruptStory, PlantsEveryKindOfErrorAndContinuesConsistently) {
  std::map<std::string, int> kinds;
  int lines_total = 0, planted = 0, recovered = 0, finished = 0;
  constexpr int kStories = 2000;
  for (uint64_t i = 0; i < kStories; ++i) {
    const GradedProblem story = MakeStory(*FindStoryBand("hard"), 1, i);
    RandomStream rng = Stream(i);
    StoryLine previous;
    bool wrong_before = false;
    for (const CorruptedLine& c : CorruptStory(story, 0.15, rng)) {
      const auto line = ParseStoryLine(c.text);
      ASSERT_TRUE(line) << c.text;
      for (const int64_t v : {line->left, line->right, line->value}) {
        ASSERT_GE(v, 0) << c.text;
        ASSERT_LT(v, 10000) << c.text;
      }
      ++lines_total;
      if (c.planted) {
        ++planted;
        ++kinds[ErrorKind(*line, previous, story)];
      } else if (line->kind == StoryLine::Kind::kStep) {
        EXPECT_EQ(line->left, previous.value);
        EXPECT_EQ(ErrorKind(*line, previous, story), "order");
      }
      if (wrong_before && c.verdict.step_ok) ++recovered;
      EXPECT_EQ(c.verdict.path_ok, !wrong_before && !c.planted);
      wrong_before |= c.planted;
      finished += line->kind == StoryLine::Kind::kAnswer;
      previous = *line;
    }
  }
  const double rate = static_cast<double>(planted) / lines_total;
  EXPECT_NEAR(rate, 0.18, 0.04);  // 0.15, plus forced ones
  EXPECT_GT(recovered, lines_total / 4);
  EXPECT_GT(finished, kStories / 3);
  EXPECT_LT(finished, kStories);
  for (const char* kind : {"opening", "answer", "result", "left", "operation",
                           "operand", "order", "distractor"}) {
    EXPECT_GT(kinds[kind], planted / 100) << kind;
  }
  EXPECT_LT(kinds["result"], planted * 2 / 3);
}

TEST(CorruptStory, SameStreamSameErrors) {
  const GradedProblem story = MakeStory(*FindStoryBand("hard"), 1, 3);
  RandomStream a = Stream(9), b = Stream(9), c = Stream(10);
  const std::string text = Response(CorruptStory(story, 0.4, a));
  EXPECT_EQ(text, Response(CorruptStory(story, 0.4, b)));
  EXPECT_NE(text, Response(CorruptStory(story, 0.4, c)));
}

TEST(CorruptStory, EveryLineWrongStillEnds) {
  for (uint64_t i = 0; i < 300; ++i) {
    const GradedProblem story = MakeStory(*FindStoryBand("easy"), 1, i);
    RandomStream rng = Stream(i);
    const std::vector<CorruptedLine> lines = CorruptStory(story, 1, rng);
    ASSERT_FALSE(lines.empty());
    ASSERT_LE(lines.size(), 2 * story.reference.steps.size());
    for (const CorruptedLine& line : lines) {
      EXPECT_FALSE(line.verdict.step_ok || line.verdict.path_ok);
    }
  }
}

GradedProblem StoryWithSteps(std::vector<std::string> steps) {
  GradedProblem story;
  story.problem.question = "A story.";
  story.reference.steps = std::move(steps);
  return story;
}

std::vector<std::string> LinesWithErrors(const GradedProblem& story,
                                         const ErrorOptions& options) {
  RandomStream rng = Stream(0);
  std::vector<std::string> texts;
  for (const CorruptedLine& line : SolveWithErrors(story, options, rng)) {
    texts.push_back(line.text);
  }
  return texts;
}

TEST(SolveWithErrors, ForgetsEveryCarryAndBorrowAndContinues) {
  const GradedProblem story =
      StoryWithSteps({"a 52", "b 52-18=34", "c 34+27=61", "d 61+30=91",
                      "e 91*2=182", "f 182-83=99", "= 99"});
  EXPECT_EQ(LinesWithErrors(story, {.carry = 1, .borrow = 1}),
            (std::vector<std::string>{"a 52", "b 52-18=46", "c 46+27=63",
                                      "d 63+30=93", "e 93*2=186",
                                      "f 186-83=103", "= 103"}));
  EXPECT_EQ(LinesWithErrors(story, {}), story.reference.steps);
}

TEST(SolveWithErrors, StopsWhereTheValueLeadsNowhere) {
  const GradedProblem story =
      StoryWithSteps({"a 23", "b 23+19=42", "c 42/7=6", "= 6"});
  // 32 is not divisible by 7.
  EXPECT_EQ(LinesWithErrors(story, {.carry = 1, .borrow = 1}),
            (std::vector<std::string>{"a 23", "b 23+19=32"}));
}

TEST(SolveWithErrors, CorrectsWithinThreeLinesAndEndsRight) {
  const GradedProblem story =
      StoryWithSteps({"a 23", "b 23+19=42", "c 42/7=6", "= 6"});
  // The error must be corrected at once: 32 is not divisible by 7.
  EXPECT_EQ(LinesWithErrors(story, {.carry = 1, .correct = 1}),
            (std::vector<std::string>{"a 23", "b 23+19=32", "wait b 23+19=42",
                                      "c 42/7=6", "= 6"}));
  std::vector<int> lines_after(3);  // an error, until its correction
  for (uint64_t i = 0; i < 300; ++i) {
    const GradedProblem hard = MakeStory(*FindStoryBand("hard"), 1, i);
    RandomStream rng = Stream(i);
    const std::vector<CorruptedLine> lines =
        SolveWithErrors(hard, {.carry = 0.5, .borrow = 0.2, .correct = 1}, rng);
    ExpectTheVerifiersVerdicts(hard, lines);
    EXPECT_TRUE(lines.back().verdict.path_ok);
    EXPECT_EQ(lines.back().text, "= " + hard.reference.answer);
    size_t error = lines.size();
    for (size_t k = 0; k < lines.size(); ++k) {
      if (lines[k].text.starts_with("wait ")) {
        ASSERT_LT(error, k);
        ASSERT_LE(k - error, 3u);
        ++lines_after[k - error - 1];
        error = lines.size();
      } else if (lines[k].planted && error == lines.size()) {
        error = k;
      }
    }
    EXPECT_EQ(error, lines.size());
  }
  for (const int lag : lines_after) EXPECT_GT(lag, 100);
}

TEST(SolveWithErrors, CorrectsAsOftenAsRequested) {
  int errors = 0, corrections = 0;
  for (uint64_t i = 0; i < 300; ++i) {
    const GradedProblem story = MakeStory(*FindStoryBand("hard"), 1, i);
    RandomStream rng = Stream(i);
    // Errors are rare, so few fall between another and its correction.
    for (const CorruptedLine& line : SolveWithErrors(
             story, {.carry = 0.2, .borrow = 0.2, .correct = 0.5}, rng)) {
      errors += line.planted;
      corrections += line.text.starts_with("wait ");
    }
  }
  EXPECT_NEAR(corrections, 0.5 * errors, 4 * std::sqrt(0.25 * errors));
}

TEST(SolveWithErrors, ErrsAsOftenAsRequestedAndVerdictsAreTheVerifiers) {
  int sums = 0, differences = 0;  // with a carry, with a borrow
  int carry_errors = 0, borrow_errors = 0;
  for (uint64_t i = 0; i < 300; ++i) {
    const GradedProblem story = MakeStory(*FindStoryBand("hard"), 1, i);
    RandomStream rng = Stream(i);
    const std::vector<CorruptedLine> lines =
        SolveWithErrors(story, {.carry = 0.5, .borrow = 0.2}, rng);
    ExpectTheVerifiersVerdicts(story, lines);
    for (const CorruptedLine& written : lines) {
      const StoryLine line = *ParseStoryLine(written.text);
      if (line.op == '+' && line.left % 10 + line.right % 10 > 9) {
        ++sums;
        carry_errors += written.planted;
      } else if (line.op == '-' && line.left % 10 < line.right % 10) {
        ++differences;
        borrow_errors += written.planted;
      } else {
        EXPECT_FALSE(written.planted) << written.text;
      }
    }
  }
  EXPECT_NEAR(carry_errors, 0.5 * sums, 4 * std::sqrt(0.25 * sums));
  EXPECT_NEAR(borrow_errors, 0.2 * differences,
              4 * std::sqrt(0.16 * differences));
}

}  // namespace
}  // namespace espalier
