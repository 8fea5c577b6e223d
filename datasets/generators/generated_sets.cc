#include "datasets/generators/generated_sets.h"

#include "absl/strings/str_cat.h"
#include "datasets/generators/countdown.h"
#include "datasets/generators/stories.h"
#include "src/base/text.h"

namespace espalier {
namespace {

std::vector<GeneratedSet> MakeSets() {
  std::vector<GeneratedSet> sets;
  for (const StoryBand& band : StoryBands()) {
    sets.push_back({absl::StrCat("stories:", AbslView(band.name)), "stories",
                    [&band](uint64_t seed, uint64_t index) {
                      return MakeStory(band, seed, index);
                    }});
  }
  for (int count = 3; count <= 5; ++count) {
    sets.push_back({absl::StrCat("countdown:", count), "countdown",
                    [count](uint64_t seed, uint64_t index) {
                      return MakeCountdown(count, seed, index);
                    }});
  }
  return sets;
}

}  // namespace

const std::vector<GeneratedSet>& GeneratedSets() {
  static const std::vector<GeneratedSet> sets = MakeSets();
  return sets;
}

}  // namespace espalier
