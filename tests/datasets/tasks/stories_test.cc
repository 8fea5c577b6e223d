#include "datasets/tasks/stories.h"

#include <map>
#include <regex>
#include <set>

#include "datasets/tasks/sentences.h"
#include "datasets/tasks/stories_task.h"
#include "datasets/tasks/story_lines.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/base/one_thread.h"

namespace espalier {
namespace {

using ::testing::ElementsAre;

// An independent reading of a story: derives from the words what each sentence
// does to the hero's objects.
class Reader {
 public:
  explicit Reader(const std::string& question)
      : sentences_(SplitSentences(question)) {
    std::smatch m;
    EXPECT_TRUE(std::regex_search(
        sentences_.back(), m,
        std::regex("How many \\w+ (?:does|are left for) (\\w+)")));
    hero_ = m[1];
  }

  // The lines of a correct solution.
  std::vector<std::string> Solve() {
    std::vector<std::string> lines;
    long value = Number(sentences_[0]);
    lines.push_back("a " + std::to_string(value));
    for (size_t i = 1; i + 1 < sentences_.size(); ++i) {
      const auto [op, amount] = Effect(sentences_[i]);
      if (op == ' ') continue;
      const long left = value;
      if (op == '+') value += amount;
      if (op == '-') value -= amount;
      if (op == '*') value *= amount;
      if (op == '/') {
        EXPECT_EQ(value % amount, 0) << sentences_[i];
        value /= amount;
      }
      largest = std::max(largest, value);
      smallest = std::min(smallest, value);
      lines.push_back(std::string(1, static_cast<char>('a' + i)) + " " +
                      std::to_string(left) + op + std::to_string(amount) + "=" +
                      std::to_string(value));
    }
    lines.push_back("= " + std::to_string(value));
    return lines;
  }

  long largest = 1, smallest = 1000;

 private:
  static long Number(const std::string& s) {
    std::smatch m;
    return std::regex_search(s, m, std::regex("\\d+")) ? std::stol(m[0]) : -1;
  }

  static bool Has(const std::string& s, const std::string& pattern) {
    return std::regex_search(s, std::regex(pattern));
  }

  std::pair<char, long> Effect(const std::string& s) const {
    static const std::map<std::string, long> words = {
        {"two", 2}, {"three", 3}, {"four", 4},  {"five", 5},
        {"six", 6}, {"seven", 7}, {"eight", 8}, {"nine", 9}};
    std::smatch m;
    if (Has(s, "\\btwice\\b")) return {'*', 2};
    if (std::regex_search(s, m, std::regex("(\\w+) times"))) {
      return {'*', words.at(m[1])};
    }
    if (std::regex_search(s, m, std::regex("(\\w+) equal"))) {
      return {'/', words.at(m[1])};
    }
    const long n = Number(s);
    EXPECT_GT(n, 0) << s;
    if (Has(s, "shop|walk|years|pages|house|birds")) return {' ', 0};
    const std::string subject = s.substr(0, s.find(' '));
    const bool by_hero =
        subject == hero_ || subject == "She" || subject == "He";
    if (!by_hero) {
      if (Has(s, "(gives|sells) " + hero_)) return {'+', n};
      if (Has(s, "gives .* to " + hero_)) return {'+', n};
      if (Has(s, "(takes|gets) .* from " + hero_)) return {'-', n};
      return {' ', 0};
    }
    if (Has(s, "finds|buys|wins|gets|takes|picks up")) return {'+', n};
    if (Has(s, "gives|loses|sells|throws|drops|breaks")) return {'-', n};
    ADD_FAILURE() << "cannot read: " << s;
    return {' ', 0};
  }

  std::vector<std::string> sentences_;
  std::string hero_;
};

TEST(Stories, AnIndependentReadingFindsTheSameLines) {
  ESP_ONE_THREAD();
  for (const StoryBand& band : StoryBands()) {
    for (uint64_t i = 0; i < 400; ++i) {
      const GradedProblem story = MakeStory(band, 1, i);
      Reader reader(story.problem.question);
      ASSERT_EQ(reader.Solve(), story.reference.steps)
          << story.problem.question;
      ASSERT_EQ("= " + story.reference.answer, story.reference.steps.back());
      ASSERT_LE(reader.largest, band.options.max_value);
      ASSERT_GE(reader.smallest, 1);
      const int steps = static_cast<int>(story.reference.steps.size()) - 2;
      ASSERT_GE(steps, band.options.min_steps);
      ASSERT_LE(steps, band.options.max_steps);
    }
  }
}

TEST(Stories, SameSeedSameStoryAndOtherSeedsOtherStories) {
  ESP_ONE_THREAD();
  const StoryBand& hard = *FindStoryBand("hard");
  std::set<std::string> questions;
  for (const uint64_t seed : {7, 1007, 2007}) {
    for (uint64_t i = 0; i < 500; ++i) {
      const GradedProblem story = MakeStory(hard, seed, i);
      EXPECT_EQ(story.problem.question,
                MakeStory(hard, seed, i).problem.question);
      questions.insert(story.problem.question);
    }
  }
  EXPECT_EQ(questions.size(), 1500u);
  EXPECT_EQ(MakeStory(hard, 1007, 12).problem.id, "stories:hard/1007/12");
  EXPECT_EQ(MakeStory(hard, 1007, 12).problem.set, "stories:hard");
  EXPECT_EQ(FindStoryBand("harder"), nullptr);
}

TEST(Stories, EveryOperationAndDistractorsOccurInHardStories) {
  std::map<char, int> operations;
  int sentences = 0, lines = 0;
  for (uint64_t i = 0; i < 500; ++i) {
    const GradedProblem story = MakeStory(*FindStoryBand("hard"), 2, i);
    sentences +=
        static_cast<int>(SplitSentences(story.problem.question).size());
    for (const std::string& step : story.reference.steps) {
      const StoryLine line = *ParseStoryLine(step);
      ++lines;
      if (line.kind == StoryLine::Kind::kStep) ++operations[line.op];
    }
  }
  for (const char op : {'+', '-', '*', '/'}) {
    EXPECT_GT(operations[op], 400) << op;
  }
  // A distractor before about a twentieth of the 15.5 steps.
  EXPECT_NEAR(static_cast<double>(sentences - lines) / 500, 0.7, 0.2);
}

TEST(Stories, ExplicitOptionsKeepTheirBounds) {
  RandomStream rng(StreamKey(3, 0, 0, Purpose::kTest));
  StoryOptions options;
  options.min_steps = options.max_steps = 30;
  options.max_value = 9;
  options.op_weights = {0, 0, 1, 1};
  const GradedProblem story = MakeStory(options, rng);
  ASSERT_EQ(story.reference.steps.size(), 32u);
  for (const std::string& step : story.reference.steps) {
    EXPECT_LE(ParseStoryLine(step)->value, 9);
    EXPECT_GE(ParseStoryLine(step)->value, 1);
  }
}

TEST(Sentences, AreCutAtStopsOnly) {
  EXPECT_THAT(
      SplitSentences("Mr. Hill has 3.5 kg.  He says: \"More!\" Why\n not?"),
      ElementsAre("Mr. Hill has 3.5 kg.", "He says: \"More!\"", "Why not?"));
  EXPECT_THAT(SplitSentences("J. Hill ran... Then? Wait"),
              ElementsAre("J. Hill ran...", "Then?", "Wait"));
  EXPECT_THAT(SplitSentences("安有3个。她有几个？"),
              ElementsAre("安有3个。", "她有几个？"));
  EXPECT_THAT(SplitSentences(" \n\t "), ElementsAre());
}

TEST(Sentences, TagsCountInLetters) {
  EXPECT_EQ(SentenceTag(0), "a");
  EXPECT_EQ(SentenceTag(25), "z");
  EXPECT_EQ(SentenceTag(26), "aa");
  EXPECT_EQ(SentenceTag(27), "ab");
  EXPECT_EQ(SentenceTag(26 + 26 * 26), "aaa");
  for (size_t i = 0; i < 20000; i += 7) {
    EXPECT_EQ(SentenceIndex(SentenceTag(i)), i);
  }
  EXPECT_EQ(SentenceIndex("A"), std::nullopt);
  EXPECT_EQ(SentenceIndex(""), std::nullopt);
}

TEST(StoriesTask, RendersOneTaggedSentenceALine) {
  Problem problem;
  problem.question = "Ann has 23 shells. She finds\n48 more. How many now?";
  EXPECT_EQ(StoriesTask().Render(problem).value(),
            "a Ann has 23 shells.\nb She finds 48 more.\n? How many now?\n");
  problem.question = "\xF0\x9F\x90\x9A";  // a shell emoji
  EXPECT_EQ(StoriesTask().Render(problem).value(), "? \xF0\x9F\x90\x9A\n");
  problem.question.clear();
  for (int i = 0; i < 28; ++i) problem.question += "Go on. ";
  const std::string prompt = StoriesTask().Render(problem).value();
  EXPECT_NE(prompt.find("\nz Go on.\naa Go on.\n? Go on.\n"), prompt.npos);
  problem.question = " \n ";
  EXPECT_EQ(StoriesTask().Render(problem).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(StoriesTask, ReadsTheLastCompleteAnswerLine) {
  const Task& task = StoriesTask();
  EXPECT_EQ(task.FindAnswer("a 3\n= 3\n"), "3");
  EXPECT_EQ(task.FindAnswer("a 3\n= 3"), "3");
  EXPECT_EQ(task.FindAnswer("= 3\n= 014\nb 3+1=4\n"), "14");
  EXPECT_EQ(task.FindAnswer("= 3\n= \n"), "3");
  EXPECT_EQ(task.FindAnswer("b 3+1=4\n"), std::nullopt);
  EXPECT_EQ(task.FindAnswer("=4\n= four\n"), std::nullopt);
  EXPECT_TRUE(task.SameAnswer("081", "81"));
  EXPECT_FALSE(task.SameAnswer("18", "81"));
  EXPECT_FALSE(task.SameAnswer("", ""));
}

class StoriesVerifierTest : public ::testing::Test {
 protected:
  StoriesVerifierTest() {
    reference_.answer = "81";
    // Sentence c is a distractor.
    reference_.steps = {"a 23",       "b 23+48=71", "d 71-17=54",
                        "e 54*3=162", "f 162/2=81", "= 81"};
  }

  // "Y": right and on the path; "y": right after an error; "n": wrong.
  std::string Labels(const std::string& response) {
    std::string labels;
    const auto verdicts =
        StoriesVerifier().CheckSteps({}, reference_, response);
    for (const StepVerdict& v : verdicts.value()) {
      EXPECT_TRUE(v.step_ok || !v.path_ok);
      labels += v.path_ok ? 'Y' : v.step_ok ? 'y' : 'n';
    }
    return labels;
  }

  Reference reference_;
};

TEST_F(StoriesVerifierTest, JudgesLinesByHandWrittenCases) {
  EXPECT_EQ(Labels("a 23\nb 23+48=71\nd 71-17=54\ne 54*3=162\nf 162/2=81\n"
                   "= 81\n"),
            "YYYYYY");
  // A wrong sum; the rest follows from it.
  EXPECT_EQ(Labels("a 23\nb 23+48=61\nd 61-17=44\ne 44*3=132\nf 132/2=66\n"
                   "= 66\n"),
            "Ynyyyy");
  // Wrong operand, wrong operation, miscopied left operand.
  EXPECT_EQ(Labels("a 23\nb 23+47=70\n"), "Yn");
  EXPECT_EQ(Labels("a 23\nb 23-48=71\n"), "Yn");
  EXPECT_EQ(Labels("a 23\nb 24+48=72\nd 72-17=55\n"), "Yny");
  // A line for the distractor, then the solution continues.
  EXPECT_EQ(Labels("a 23\nb 23+48=71\nc 71+12=83\nd 83-17=66\n"), "YYny");
  // A skipped sentence counts as one error.
  EXPECT_EQ(Labels("a 23\nd 23-17=6\ne 6*3=18\n"), "Yny");
  // Same for a repeated one.
  EXPECT_EQ(Labels("a 23\nb 23+48=71\nb 71+48=119\nd 119-17=102\n"), "YYny");
  // Wrong opening; an opening in the middle.
  EXPECT_EQ(Labels("a 32\nb 32+48=80\n"), "ny");
  EXPECT_EQ(Labels("a 23\na 23\nb 23+48=71\n"), "Yny");
  // Answers: too early, miscopied, not at the end.
  EXPECT_EQ(Labels("a 23\n= 23\n"), "Yn");
  EXPECT_EQ(Labels("a 23\nb 23+48=71\nd 71-17=54\ne 54*3=162\nf 162/2=81\n"
                   "= 18\n= 81\n"),
            "YYYYYnn");
  // Malformed lines.
  EXPECT_EQ(Labels("a 23\n\nb 23+48=71\nd 71 - 17=54\n"), "Ynyn");
  EXPECT_EQ(Labels("hello\na 23\n"), "ny");
  EXPECT_EQ(Labels("a 023\n"), "n");
}

TEST_F(StoriesVerifierTest, ACorrectionTakesBackWhatItReplaces) {
  const std::string right = "b 23+48=71\n", rest = "d 71-17=54\ne 54*3=162\n";
  // At once, and after two lines that continued from the error.
  EXPECT_EQ(Labels("a 23\nb 23+48=61\nwait " + right + rest), "YnYYY");
  EXPECT_EQ(Labels("a 23\nb 23+48=61\nd 61-17=44\ne 44*3=132\nwait " + right +
                   rest + "f 162/2=81\n= 81\n"),
            "YnyyYYYYY");
  // The older of two errors; the younger one only; the younger, then the older.
  EXPECT_EQ(Labels("a 23\nb 23+48=61\nd 61-17=34\nwait " + right + rest),
            "YnnYYY");
  EXPECT_EQ(Labels("a 23\nb 23+48=61\nd 61-17=34\nwait d 61-17=44\n"), "Ynny");
  EXPECT_EQ(Labels("a 23\nb 23+48=61\nd 61-17=34\nwait d 61-17=44\nwait " +
                   right + rest),
            "YnnyYYY");
  // An opening; a sentence skipped, then taken up after going back.
  EXPECT_EQ(Labels("a 32\nwait a 23\n" + right), "nYY");
  EXPECT_EQ(Labels("a 23\nd 23-17=6\nwait d 71-17=54\n"), "Ynn");
  EXPECT_EQ(Labels("a 23\nd 23-17=6\nwait a 23\n" + right + rest), "YnYYYY");
  // Corrections that are wrong, of a right line, or from the wrong value.
  EXPECT_EQ(Labels("a 23\nb 23+48=61\nwait b 23+48=81\n"), "Ynn");
  EXPECT_EQ(Labels("a 23\n" + right + "wait b 23+48=61\nwait " + right),
            "YYnY");
  EXPECT_EQ(Labels("a 23\nb 23+48=61\nwait b 61+48=109\n"), "Ynn");
  // What was taken back is not taken back again, nor what never stood there.
  EXPECT_EQ(Labels("a 23\nb 23+48=61\nd 61-17=44\nwait " + right +
                   "wait d 71-17=54\n"),
            "YnyYn");
  EXPECT_EQ(Labels("wait a 23\na 23\n"), "ny");
  // After the answer nothing counts, and an answer is not corrected.
  EXPECT_EQ(Labels("a 23\n= 23\nwait a 23\n"), "Ynn");
  EXPECT_EQ(Labels("a 23\nwait = 23\nwait wait a 23\n"), "Ynn");
}

TEST_F(StoriesVerifierTest, AnUnfinishedLastLineIsNotJudged) {
  EXPECT_EQ(Labels("a 23\nb 23+4"), "Y");
  EXPECT_EQ(Labels("a 23\n= 23"), "Yn");
  EXPECT_EQ(Labels(""), "");
}

TEST_F(StoriesVerifierTest, ChecksTheFinalAnswer) {
  const Verifier& verifier = StoriesVerifier();
  EXPECT_FALSE(verifier.intrinsic());
  EXPECT_TRUE(verifier.Check({}, reference_, "= 81\n").correct);
  const Verdict wrong = verifier.Check({}, reference_, "= 18\n");
  EXPECT_FALSE(wrong.correct);
  EXPECT_EQ(wrong.reason, "expected 81, found 18");
  EXPECT_FALSE(verifier.Check({}, reference_, "a 81\n").correct);
}

TEST_F(StoriesVerifierTest, NeedsExpectedLines) {
  EXPECT_EQ(StoriesVerifier().CheckSteps({}, {}, "a 1\n").status().code(),
            absl::StatusCode::kFailedPrecondition);
  reference_.steps[1] = "b 23+48";
  EXPECT_EQ(StoriesVerifier().CheckSteps({}, reference_, "").status().code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace espalier
