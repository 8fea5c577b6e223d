#include "tools/zoo/zoo_family.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "base/text.h"
#include "datasets/tasks/corrupt.h"
#include "datasets/tasks/countdown.h"
#include "datasets/tasks/countdown_rules.h"
#include "datasets/tasks/stories.h"

namespace espalier {
namespace {

// The stream that Example(index) of an infinite family draws from.
RandomStream ExampleStream(std::string_view family, uint64_t index) {
  return RandomStream(StreamKey(1, StableHash(family), index, Purpose::kTrain));
}

// Rises from 0 at `from` to 1 over `over` of the curriculum.
double Ramp(double progress, double from, double over) {
  return std::clamp((progress - from) / over, 0.0, 1.0);
}

// Stories of all sizes, solved with human-like mistakes: about half of the
// carries and borrows are omitted (SolveWithErrors). The policy imitates these
// solutions with their errors; the reward heads learn from exact verdicts which
// lines are right. So the model writes worse than it judges, which leaves
// search a gain that does not vanish with longer training. In responses with
// planted errors, which are only judged, these are between a tenth and a half
// of the lines.
class StoriesFamily : public ZooFamily {
 public:
  static constexpr ErrorOptions kErrors = {.carry = 0.55, .borrow = 0.35};

  std::string_view name() const override { return "stories"; }
  std::string_view task() const override { return "stories"; }
  ZooRecipe recipe() const override {
    return {.grow_steps = 2000,
            .judge_steps = 2000,
            .judge_rounds = 1,
            .own_responses = 5000,
            .batch_tokens = 8192,
            .planted = 0.2,
            .reward_coef = 0.1};
  }
  std::string_view data() const override {
    return "generated stories of 1 to 16 steps with values up to 199, training "
           "seeds; solutions in which about half of the carries are forgotten, "
           "solutions with planted errors, own responses judged line by line "
           "by the exact verifier";
  }
  std::vector<std::string> card_sets() const override {
    return {"stories:easy", "stories:middle", "stories:hard"};
  }

  ZooExample Draw(double progress, double planted,
                  RandomStream& rng) const override {
    ZooExample out{.problem = MakeStory(DrawStoryOptions(progress, rng), rng)};
    if (rng.UniformDouble() >= planted) {
      for (CorruptedLine& line : SolveWithErrors(out.problem, Errors(), rng)) {
        out.lines.push_back({std::move(line.text), line.verdict, true});
      }
      out.ended = out.lines.back().text.starts_with("= ");
      return out;
    }
    const double p_line = 0.1 + rng.UniformDouble() * 0.4;
    for (CorruptedLine& line : CorruptStory(out.problem, p_line, rng)) {
      out.lines.push_back({std::move(line.text), line.verdict, false});
    }
    return out;
  }

  ZooExample Example(uint64_t index, bool solution) const override {
    RandomStream rng = ExampleStream(name(), index);
    if (!solution) return Draw(1, recipe().planted, rng);
    ZooExample out{.problem = MakeStory(DrawStoryOptions(1, rng), rng),
                   .ended = true};
    for (const std::string& line : out.problem.reference.steps) {
      out.lines.push_back({line, {.step_ok = true, .path_ok = true}, true});
    }
    return out;
  }

  GradedProblem OwnProblem(uint64_t seed, uint64_t index) const override {
    RandomStream rng(
        StreamKey(seed, StableHash("stories"), index, Purpose::kGenerate));
    return MakeStory(DrawStoryOptions(1, rng), rng);
  }

 protected:
  virtual ErrorOptions Errors() const { return kErrors; }
};

// The same with half of the errors corrected within three lines: the paths on
// which levels of reward differ (docs/guide/reward-models.md).
class StoriesCorrectedFamily : public StoriesFamily {
 public:
  std::string_view name() const override { return "stories-corrected"; }
  bool shipped() const override { return false; }
  std::string_view data() const override {
    return "generated stories of 1 to 16 steps with values up to 199, training "
           "seeds; solutions in which about half of the carries are forgotten "
           "and half of these errors corrected within three lines, solutions "
           "with planted errors, own responses judged line by line by the "
           "exact verifier";
  }

 protected:
  ErrorOptions Errors() const override {
    ErrorOptions errors = kErrors;
    errors.correct = 0.5;
    return errors;
  }
};

// Walks over puzzles: solutions, abandoned dead ends, planted errors. A policy
// that imitates has nothing better than a drawn solution; from failed walks it
// learns where to give up.
std::vector<JudgedLine> CountdownLines(const CountdownPuzzle& puzzle,
                                       const CountdownWalkOptions& options,
                                       RandomStream& rng) {
  std::vector<JudgedLine> lines;
  bool lost = false;  // the target is out of reach
  for (CorruptedLine& line : WalkCountdown(puzzle, options, rng)) {
    const StepVerdict verdict = line.verdict;
    const bool imitate = verdict.step_ok && (verdict.path_ok || lost);
    lost = !verdict.path_ok;
    lines.push_back({std::move(line.text), verdict, imitate});
  }
  return lines;
}

CountdownPuzzle PuzzleOf(const GradedProblem& problem) {
  return ParseCountdown(problem.problem.question).value();
}

// The index-th of all training puzzles: drawn by rng, so there is no limit.
GradedProblem DrawPuzzle(int numbers, RandomStream& rng) {
  const uint64_t seed = rng.Below(kFirstChoosingSeed);
  return MakeCountdown(numbers, seed, rng.Below(1u << 31));
}

class CountdownFamily : public ZooFamily {
 public:
  std::string_view name() const override { return "countdown"; }
  std::string_view task() const override { return "countdown"; }
  ZooRecipe recipe() const override {
    return {.grow_steps = 3000,
            .judge_steps = 1000,
            .judge_rounds = 1,
            .own_responses = 5000,
            .batch_tokens = 8192,
            .planted = 0.5,
            .reward_coef = 0.3};
  }
  std::string_view data() const override {
    return "generated puzzles of three to five numbers, training seeds and "
           "the training share of puzzles; solutions, walks into dead ends, "
           "planted errors, own responses judged by the exact solver";
  }
  std::vector<std::string> card_sets() const override {
    return {"countdown:3", "countdown:4", "countdown:5"};
  }

  ZooExample Draw(double progress, double planted,
                  RandomStream& rng) const override {
    const double five = 0.15 * Ramp(progress, 0.15, 0.2);
    const double four = 0.5 * Ramp(progress, 0.05, 0.2);
    const double u = rng.UniformDouble();
    const int numbers = u < five ? 5 : u < five + four ? 4 : 3;
    ZooExample out{.problem = DrawPuzzle(numbers, rng)};
    CountdownWalkOptions options;
    if (rng.UniformDouble() < planted) {
      options.solving = rng.UniformDouble();
      options.give_up_early = 0.2;
      if (rng.Below(2) == 0) options.corrupt = 0.3 * rng.UniformDouble();
    }
    out.lines = CountdownLines(PuzzleOf(out.problem), options, rng);
    return out;
  }

  ZooExample Example(uint64_t index, bool solution) const override {
    RandomStream rng = ExampleStream(name(), index);
    return Draw(1, solution ? 0 : recipe().planted, rng);
  }

  GradedProblem OwnProblem(uint64_t seed, uint64_t index) const override {
    const int numbers = index % 4 == 0 ? 3 : index % 4 == 3 ? 5 : 4;
    return MakeCountdown(numbers, seed, index);
  }
};

// A weak base model: three numbers, a few thousand solutions.
class CountdownBaseFamily : public ZooFamily {
 public:
  static constexpr uint32_t kSolutions = 5000;

  std::string_view name() const override { return "countdown-base"; }
  std::string_view task() const override { return "countdown"; }
  ZooRecipe recipe() const override {
    return {.grow_steps = 700,
            .batch_tokens = 8192,
            .planted = 0.2,
            .reward_coef = 0.3};
  }
  std::string_view data() const override {
    return "5,000 puzzles of three numbers (training seed 7), one solution or "
           "failing walk with labels each, seen again and again";
  }
  std::vector<std::string> card_sets() const override {
    return {"countdown:3"};
  }

  ZooExample Draw(double, double planted, RandomStream& rng) const override {
    return Walk(rng.Below(kSolutions), planted, false);
  }
  uint64_t examples() const override { return kSolutions; }
  ZooExample Example(uint64_t index, bool solution) const override {
    return Walk(index, recipe().planted, solution);
  }

  GradedProblem OwnProblem(uint64_t seed, uint64_t index) const override {
    return MakeCountdown(3, seed, index);
  }

 private:
  // The puzzle determines the walk, so training never sees another of it.
  ZooExample Walk(uint64_t index, double planted, bool solution) const {
    ZooExample out{.problem = OwnProblem(7, index)};
    RandomStream walk(StreamKey(7, index, 1, Purpose::kGenerate));
    CountdownWalkOptions options;
    if (walk.UniformDouble() < planted && !solution) options.solving = 0.3;
    out.lines = CountdownLines(PuzzleOf(out.problem), options, walk);
    return out;
  }
};

const std::vector<const ZooFamily*>& Families() {
  static const StoriesFamily stories;
  static const StoriesCorrectedFamily corrected;
  static const CountdownFamily countdown;
  static const CountdownBaseFamily base;
  static const std::vector<const ZooFamily*> all = {&stories, &corrected,
                                                    &countdown, &base};
  return all;
}

}  // namespace

std::vector<std::string> ZooFamilyNames() {
  std::vector<std::string> names;
  for (const ZooFamily* family : Families()) {
    names.emplace_back(family->name());
  }
  return names;
}

absl::StatusOr<const ZooFamily*> FindZooFamily(std::string_view name) {
  for (const ZooFamily* family : Families()) {
    if (family->name() == name) return family;
  }
  return absl::NotFoundError(UnknownName("family", name, ZooFamilyNames()));
}

}  // namespace espalier
