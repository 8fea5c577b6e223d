#include "datasets/tasks/corrupt.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "base/check.h"
#include "datasets/tasks/sentences.h"
#include "datasets/tasks/story_lines.h"

namespace espalier {
namespace {

using Kind = StoryLine::Kind;

constexpr int64_t kValueLimit = 10000;

bool InRange(int64_t value) { return 0 <= value && value < kValueLimit; }

std::optional<int64_t> Apply(int64_t left, char op, int64_t right) {
  const std::optional<int64_t> value = ApplyStoryOperation(left, op, right);
  return value && InRange(*value) ? value : std::nullopt;
}

// A number near `number`, as typical writing errors produce; it may be out of
// range or equal, which the caller rejects.
int64_t NumberWithError(int64_t number, RandomStream& rng) {
  const int64_t sign = rng.Below(2) == 0 ? 1 : -1;
  std::string digits = std::to_string(number);
  const uint32_t n = static_cast<uint32_t>(digits.size());
  switch (rng.Below(4)) {
    case 0:
      return number + sign;
    case 1:
      return number + 10 * sign;
    case 2:
      digits[rng.Below(n)] = static_cast<char>('0' + rng.Below(10));
      break;
    default:
      if (n < 2) return number + 2 * sign;
      const uint32_t at = rng.Below(n - 1);
      std::swap(digits[at], digits[at + 1]);
  }
  return std::atoll(digits.c_str());
}

// The result of a sum or difference computed without carry or borrow: 48+23=61,
// and 52-18=46 by taking the smaller digit from the larger. Nothing if there is
// no carry into the tens.
std::optional<int64_t> WithoutCarry(const StoryLine& line) {
  if (line.kind != Kind::kStep) return std::nullopt;
  const int64_t left = line.left % 10;
  const int64_t right = line.right % 10;
  if (line.op == '+' && left + right >= 10) return line.value - 10;
  if (line.op == '-' && left < right) {
    return line.left - left - (line.right - right) + (right - left);
  }
  return std::nullopt;
}

// A sentence of the question that changes nothing, and its number.
struct Distractor {
  std::string tag;
  int64_t number;
};

std::vector<Distractor> FindDistractors(
    const std::string& question, const std::vector<StoryLine>& expected) {
  std::vector<Distractor> out;
  const std::vector<std::string> sentences = SplitSentences(question);
  for (size_t i = 0; i + 1 < sentences.size(); ++i) {
    const std::string tag = SentenceTag(i);
    if (std::any_of(expected.begin(), expected.end(),
                    [&](const StoryLine& line) { return line.tag == tag; })) {
      continue;
    }
    const auto digit =
        std::find_if(sentences[i].begin(), sentences[i].end(), [](char c) {
          return absl::ascii_isdigit(static_cast<unsigned char>(c));
        });
    if (digit == sentences[i].end()) continue;
    out.push_back({tag, std::atoll(&*digit)});
  }
  return out;
}

class Corrupter {
 public:
  Corrupter(const GradedProblem& story, RandomStream& rng)
      : judge_(*StoryJudge::Create(story.reference.steps)), rng_(rng) {
    for (const std::string& line : story.reference.steps) {
      expected_.push_back(*ParseStoryLine(line));
    }
    distractors_ = FindDistractors(story.problem.question, expected_);
  }

  std::vector<CorruptedLine> Write(double p_line) {
    std::vector<CorruptedLine> out;
    while (out.size() < 2 * expected_.size()) {
      const std::optional<StoryLine> right = RightLine();
      bool planted = rng_.UniformDouble() < p_line;
      if (!right && !planted) {
        if (rng_.Below(2) == 0) break;
        planted = true;
      }
      const StoryLine line = planted ? WrongLine() : *right;
      out.push_back(Judged(line, planted));
      if (line.kind == Kind::kAnswer) break;
    }
    return out;
  }

  std::vector<CorruptedLine> WriteWithErrors(const ErrorOptions& options) {
    std::vector<CorruptedLine> out;
    std::optional<StoryLine> correction;  // of the oldest error, once it is due
    uint32_t lines_left = 0;              // before it is
    while (true) {
      std::optional<StoryLine> line = RightLine();
      const bool stuck = !line || line->kind == Kind::kAnswer;
      if (correction && (lines_left == 0 || stuck)) {
        out.push_back(Judged(*correction, false));
        correction.reset();
        continue;
      }
      if (!line) break;
      const std::optional<int64_t> forgotten = WithoutCarry(*line);
      const double p_error = line->op == '+' ? options.carry : options.borrow;
      const bool error = forgotten && rng_.UniformDouble() < p_error;
      if (correction) {
        --lines_left;
      } else if (error && options.correct > 0 &&
                 rng_.UniformDouble() < options.correct) {
        correction = line;
        correction->correction = true;
        lines_left = rng_.Below(3);
      }
      if (error) line->value = *forgotten;
      out.push_back(Judged(*line, error));
      if (line->kind == Kind::kAnswer) break;
    }
    return out;
  }

 private:
  CorruptedLine Judged(const StoryLine& line, bool planted) {
    const std::string text = FormatStoryLine(line);
    const StepVerdict verdict = judge_.Next(text);
    ESP_CHECK(verdict.step_ok == !planted);
    return {text, verdict, planted};
  }

  const StoryLine& Expected() const { return expected_[judge_.next()]; }

  // The value before this line; 0 before the opening.
  int64_t Value() const { return judge_.value().value_or(0); }

  // The line that should come next, if its value is in range.
  std::optional<StoryLine> RightLine() const { return Continue(Expected()); }

  // `want` applied to the current value.
  std::optional<StoryLine> Continue(StoryLine want) const {
    if (want.kind == Kind::kOpening) return want;
    if (want.kind == Kind::kAnswer) {
      want.value = Value();
      return want;
    }
    want.left = Value();
    const std::optional<int64_t> value = Apply(want.left, want.op, want.right);
    if (!value) return std::nullopt;
    want.value = *value;
    return want;
  }

  // A line in range that the judge calls wrong.
  StoryLine WrongLine() {
    for (int attempt = 0; attempt < 100; ++attempt) {
      const std::optional<StoryLine> line = Attempt();
      if (!line || !InRange(line->value) || !InRange(line->left) ||
          !InRange(line->right)) {
        continue;
      }
      StoryJudge judge = judge_;
      if (!judge.Next(FormatStoryLine(*line)).step_ok) return *line;
    }
    StoryLine line = ExpectedResult();
    line.value = (line.value + 1) % (kValueLimit - 1);
    return line;
  }

  std::optional<StoryLine> Attempt() {
    if (Expected().kind == Kind::kOpening) return WrongOpening();
    if (Expected().kind == Kind::kAnswer) return WrongAnswer();
    // Errors in the result and the wrong direction of a change are the most
    // common errors of small models.
    const uint32_t draw = rng_.Below(100);
    if (draw < 25) {
      StoryLine line = ExpectedResult();
      const std::optional<int64_t> forgotten = WithoutCarry(line);
      line.value = forgotten && rng_.Below(2) == 0
                       ? *forgotten
                       : NumberWithError(line.value, rng_);
      return line;
    }
    if (draw < 35) return WrongOperand();
    if (draw < 46) return WrongFactor();
    if (draw < 68) return WrongOperation();
    if (draw < 74) return MiscopiedLeft();
    if (draw < 84) return SkippedSentence();
    if (draw < 88) return RepeatedSentence();
    if (draw < 92) return WrongTag();
    return DistractorLine();
  }

  // The expected step with its true result or, if there is none, the nearest.
  StoryLine ExpectedResult() const {
    const std::optional<StoryLine> right = RightLine();
    if (right) return *right;
    StoryLine line = Expected();
    line.left = Value();
    line.value = line.op == '/'   ? line.left / std::max<int64_t>(1, line.right)
                 : line.op == '-' ? std::abs(line.left - line.right)
                                  : line.left;
    return line;
  }

  std::optional<StoryLine> WrongOpening() {
    StoryLine line = Expected();
    if (rng_.Below(4) == 0 && !distractors_.empty()) {
      line.value = AnyDistractor().number;
    } else if (rng_.Below(4) == 0) {
      line.value = expected_[1].right;
    } else {
      line.value = NumberWithError(line.value, rng_);
    }
    return line;
  }

  std::optional<StoryLine> WrongAnswer() {
    StoryLine line = Expected();
    if (rng_.Below(3) == 0) {
      const StoryLine& other =
          expected_[rng_.Below(static_cast<uint32_t>(expected_.size()))];
      line.value = other.value;
    } else {
      line.value = NumberWithError(Value(), rng_);
    }
    return line;
  }

  std::optional<StoryLine> WrongOperand() {
    StoryLine line = Expected();
    const size_t near = judge_.next() + (rng_.Below(2) == 0 ? 1 : -1);
    if (rng_.Below(3) == 0 && !distractors_.empty()) {
      line.right = AnyDistractor().number;
    } else if (rng_.Below(2) == 0) {
      line.right = NumberWithError(line.right, rng_);
    } else {
      line.right = expected_[near].kind == Kind::kOpening
                       ? expected_[near].value
                       : expected_[near].right;
    }
    return Continue(line);
  }

  // Another factor or divisor that also fits: the value alone does not reveal
  // it.
  std::optional<StoryLine> WrongFactor() {
    StoryLine line = Expected();
    if (line.op != '*' && line.op != '/') return std::nullopt;
    line.right = rng_.Range(2, 9);
    return Continue(line);
  }

  std::optional<StoryLine> WrongOperation() {
    // Mostly the wrong direction: given instead of taken, taken instead of
    // given.
    StoryLine line = Expected();
    const bool moves = line.op == '+' || line.op == '-';
    if (moves && rng_.Below(4) != 0) {
      line.op = line.op == '+' ? '-' : '+';
    } else {
      line.op = "+-*/"[rng_.Below(4)];
    }
    return Continue(line);
  }

  std::optional<StoryLine> MiscopiedLeft() {
    StoryLine line = Expected();
    line.left = NumberWithError(Value(), rng_);
    if (!InRange(line.left)) return std::nullopt;
    const std::optional<int64_t> value = Apply(line.left, line.op, line.right);
    if (!value) return std::nullopt;
    line.value = *value;
    return line;
  }

  std::optional<StoryLine> SkippedSentence() {
    return Continue(expected_[judge_.next() + 1]);
  }

  std::optional<StoryLine> RepeatedSentence() {
    const StoryLine& last = expected_[judge_.next() - 1];
    if (last.kind != Kind::kStep) return std::nullopt;
    return Continue(last);
  }

  std::optional<StoryLine> WrongTag() {
    StoryLine line = Expected();
    const size_t sentence = *SentenceIndex(line.tag);
    line.tag = SentenceTag(rng_.Below(2) == 0 ? sentence + 1 : sentence - 1);
    return Continue(line);
  }

  // The nearest distractor before the expected sentence, else any.
  std::optional<StoryLine> DistractorLine() {
    if (distractors_.empty()) return std::nullopt;
    const Distractor* chosen = &AnyDistractor();
    const size_t here = *SentenceIndex(Expected().tag);
    for (const Distractor& d : distractors_) {
      if (*SentenceIndex(d.tag) + 1 == here) chosen = &d;
    }
    StoryLine line = Expected();
    line.tag = chosen->tag;
    line.op = rng_.Below(2) == 0 ? '+' : '-';
    line.right = chosen->number;
    return Continue(line);
  }

  const Distractor& AnyDistractor() {
    return distractors_[rng_.Below(static_cast<uint32_t>(distractors_.size()))];
  }

  StoryJudge judge_;
  RandomStream& rng_;
  std::vector<StoryLine> expected_;
  std::vector<Distractor> distractors_;
};

}  // namespace

std::vector<CorruptedLine> CorruptStory(const GradedProblem& story,
                                        double p_line, RandomStream& rng) {
  return Corrupter(story, rng).Write(p_line);
}

std::vector<CorruptedLine> SolveWithErrors(const GradedProblem& story,
                                           const ErrorOptions& options,
                                           RandomStream& rng) {
  return Corrupter(story, rng).WriteWithErrors(options);
}

}  // namespace espalier
