#include "datasets/tasks/stories.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/check.h"
#include "datasets/tasks/sentences.h"
#include "datasets/tasks/story_lines.h"
#include "datasets/tasks/story_sentences.h"

namespace espalier {
namespace {

// The bands: the only place that sets the difficulty of the shipped sets.
constexpr StoryBand kBands[] = {
    {"easy",
     {.min_steps = 3,
      .max_steps = 5,
      .max_value = 99,
      .max_addend = 60,
      .max_factor = 5,
      .distractor = 0,
      .op_weights = {0.3, 0.3, 0.2, 0.2}}},
    {"middle",
     {.min_steps = 4,
      .max_steps = 8,
      .max_value = 99,
      .max_addend = 60,
      .max_factor = 5,
      .distractor = 0.05,
      .op_weights = {0.3, 0.3, 0.2, 0.2}}},
    {"hard",
     {.min_steps = 15,
      .max_steps = 16,
      .max_value = 199,
      .max_addend = 99,
      .max_factor = 9,
      .distractor = 0.05,
      .op_weights = {0.4, 0.4, 0.1, 0.1}}},
};

std::string TimesWord(int factor) {
  if (factor == 2) return "twice";
  return std::string(kStoryNumberWords[factor]) + " times";
}

template <typename T, size_t kSize>
const T& Pick(const T (&items)[kSize], RandomStream& rng) {
  return items[rng.Below(kSize)];
}

struct Change {
  char op = '+';
  int amount = 0;
};

// Writes one story, sentence by sentence.
class StoryWriter {
 public:
  explicit StoryWriter(RandomStream& rng)
      : rng_(rng), hero_(&Pick(kStoryPeople, rng)) {
    object_ = Pick(kStoryThings, rng);
    friend_ = PickOther(hero_, hero_);
    other_friend_ = PickOther(hero_, friend_);
  }

  // Appends the filled template; returns the sentence's tag.
  std::string Add(std::string_view text, int number) {
    const bool other_person = text.find("$F") != text.npos;
    // A pronoun only if nobody else has just been named.
    const bool pronoun =
        !sentences_.empty() && !other_named_ && rng_.Below(4) != 0;
    if (rng_.Below(2) == 0) std::swap(friend_, other_friend_);
    std::string out;
    for (size_t i = 0; i < text.size(); ++i) {
      if (text[i] == '$') {
        out += Slot(text[++i], number, pronoun);
      } else {
        out += text[i];
      }
    }
    sentences_.push_back(std::move(out));
    other_named_ = other_person;
    return SentenceTag(sentences_.size() - 1);
  }

  std::string Text() const { return absl::StrJoin(sentences_, " "); }

 private:
  const StoryPerson* PickOther(const StoryPerson* a, const StoryPerson* b) {
    const StoryPerson* person;
    do {
      person = &Pick(kStoryPeople, rng_);
    } while (person == a || person == b);
    return person;
  }

  std::string Slot(char slot, int number, bool pronoun) const {
    const std::string_view name = hero_->name;
    switch (slot) {
      case 'S':
        if (pronoun) return hero_->female ? "She" : "He";
        return std::string(name);
      case 's':
        if (pronoun) return hero_->female ? "she" : "he";
        return std::string(name);
      case 'N':
        return std::string(name);
      case 'o':
        return std::string(object_);
      case 'F':
        return std::string(friend_->name);
      case 'x':
        return absl::StrCat(number);
      case 'k':
        return TimesWord(number);
      case 'w':
        return std::string(kStoryNumberWords[number]);
      default:
        ESP_CHECK(false && "a template uses an unknown slot");
        return "";
    }
  }

  RandomStream& rng_;
  const StoryPerson* hero_;
  const StoryPerson* friend_;
  const StoryPerson* other_friend_;
  std::string_view object_;
  std::vector<std::string> sentences_;
  bool other_named_ = false;  // the last sentence named somebody else
};

// A number in [lo, hi] for which `ok` holds, drawn uniformly; 0 if there is
// none.
template <typename Ok>
int PickNumber(int lo, int hi, RandomStream& rng, Ok ok) {
  std::vector<int> fit;
  for (int n = lo; n <= hi; ++n) {
    if (ok(n)) fit.push_back(n);
  }
  return fit.empty() ? 0 : fit[rng.Below(static_cast<uint32_t>(fit.size()))];
}

int PickAmount(char op, int value, const StoryOptions& o, RandomStream& rng) {
  const auto any = [](int) { return true; };
  switch (op) {
    case '+':
      return PickNumber(2, std::min(o.max_addend, o.max_value - value), rng,
                        any);
    case '-':
      return PickNumber(2, std::min(o.max_addend, value - 1), rng, any);
    case '*':
      return PickNumber(2, std::min(o.max_factor, o.max_value / value), rng,
                        any);
    default:
      return PickNumber(2, std::min(o.max_factor, value), rng,
                        [&](int n) { return value % n == 0; });
  }
}

Change PickChange(int value, const StoryOptions& o, RandomStream& rng) {
  Change possible[4];
  double weights[4];
  for (int i = 0; i < 4; ++i) {
    possible[i].op = "+-*/"[i];
    possible[i].amount = PickAmount(possible[i].op, value, o, rng);
    weights[i] = possible[i].amount > 0 ? o.op_weights[i] : 0;
  }
  double total = std::accumulate(weights, weights + 4, 0.0);
  if (total <= 0) {
    // All wanted operations would exceed the bounds: take any that does not.
    // With max_value >= 5, + or - is possible at every value.
    for (int i = 0; i < 4; ++i) weights[i] = possible[i].amount > 0 ? 1 : 0;
    total = std::accumulate(weights, weights + 4, 0.0);
  }
  ESP_CHECK(total > 0);
  double draw = rng.UniformDouble() * total;
  int chosen = 0;
  for (int i = 0; i < 4; ++i) {
    if (weights[i] <= 0) continue;
    chosen = i;
    if (draw < weights[i]) break;
    draw -= weights[i];
  }
  return possible[chosen];
}

std::string_view PickTemplate(char op, RandomStream& rng) {
  switch (op) {
    case '+':
      return Pick(kStoryAdds, rng);
    case '-':
      return Pick(kStorySubtracts, rng);
    case '*':
      return Pick(kStoryMultiplies, rng);
    default:
      return Pick(kStoryDivides, rng);
  }
}

void CheckOptions(const StoryOptions& o) {
  ESP_CHECK(1 <= o.min_steps && o.min_steps <= o.max_steps);
  ESP_CHECK(o.max_value >= 5 && o.max_addend >= 2);
  ESP_CHECK(2 <= o.max_factor && o.max_factor <= 9);
}

}  // namespace

std::span<const StoryBand> StoryBands() { return kBands; }

const StoryBand* FindStoryBand(std::string_view name) {
  const auto it =
      std::find_if(std::begin(kBands), std::end(kBands),
                   [&](const StoryBand& band) { return band.name == name; });
  return it == std::end(kBands) ? nullptr : it;
}

StoryOptions DrawStoryOptions(double progress, RandomStream& rng) {
  // Small stories first; everything from 0.3 on.
  const double grown = std::clamp((progress - 0.04) / 0.26, 0.0, 1.0);
  StoryOptions o;
  const int longest = 3 + static_cast<int>(13 * grown);
  // A third are long, where looking up the right sentence is hard.
  const int shortest = rng.Below(3) == 0 ? longest * 2 / 3 : 1;
  o.min_steps = o.max_steps = rng.Range(shortest, longest);
  const bool small = rng.UniformDouble() >= 0.7 * grown;
  o.max_value = small ? 99 : 199;
  o.max_addend = small ? 60 : 99;
  o.max_factor = 9;
  o.distractor = rng.Below(5) < 2 ? 0 : 0.15 * grown * rng.UniformDouble();
  return o;
}

GradedProblem MakeStory(const StoryOptions& options, RandomStream& rng) {
  CheckOptions(options);
  GradedProblem story;
  std::vector<std::string>& lines = story.reference.steps;
  StoryWriter writer(rng);

  StoryLine line;
  line.value = rng.Range(2, options.max_value);
  line.tag =
      writer.Add(Pick(kStoryOpenings, rng), static_cast<int>(line.value));
  lines.push_back(FormatStoryLine(line));

  line.kind = StoryLine::Kind::kStep;
  const int steps = rng.Range(options.min_steps, options.max_steps);
  for (int step = 0; step < steps; ++step) {
    if (rng.UniformDouble() < options.distractor) {
      const std::string_view text = Pick(kStoryDistractors, rng);
      // Shops open in the morning; other numbers look like the story's own.
      const bool hour = text.find("opens") != text.npos;
      writer.Add(text, hour ? rng.Range(7, 11) : rng.Range(5, 80));
    }
    const Change change =
        PickChange(static_cast<int>(line.value), options, rng);
    line.left = line.value;
    line.op = change.op;
    line.right = change.amount;
    line.value = *ApplyStoryOperation(line.left, line.op, line.right);
    line.tag = writer.Add(PickTemplate(change.op, rng), change.amount);
    lines.push_back(FormatStoryLine(line));
  }

  writer.Add(Pick(kStoryQuestions, rng), 0);
  line.kind = StoryLine::Kind::kAnswer;
  lines.push_back(FormatStoryLine(line));
  story.problem.question = writer.Text();
  story.reference.answer = absl::StrCat(line.value);
  return story;
}

GradedProblem MakeStory(const StoryBand& band, uint64_t seed, uint64_t index) {
  const std::string set = "stories:" + std::string(band.name);
  RandomStream rng(StreamKey(seed, StableHash(set), index, Purpose::kGenerate));
  GradedProblem story = MakeStory(band.options, rng);
  story.problem.set = set;
  story.problem.id = absl::StrCat(set, "/", seed, "/", index);
  return story;
}

}  // namespace espalier
