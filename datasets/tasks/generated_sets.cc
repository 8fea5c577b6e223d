#include "datasets/tasks/generated_sets.h"

#include "absl/strings/str_cat.h"
#include "base/text.h"
#include "datasets/tasks/countdown.h"
#include "datasets/tasks/game24.h"
#include "datasets/tasks/proofs.h"
#include "datasets/tasks/python_programs.h"
#include "datasets/tasks/stories.h"
#include "datasets/tasks/sudoku.h"

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
  for (const std::string_view band : Game24Bands()) {
    sets.push_back(
        {absl::StrCat("game24", band.empty() ? "" : ":", AbslView(band)),
         "game24", [band](uint64_t seed, uint64_t index) {
           return MakeGame24(band, seed, index);
         }});
  }
  for (const std::string_view band : SudokuBands()) {
    sets.push_back({absl::StrCat("sudoku:", AbslView(band)), "sudoku",
                    [band](uint64_t seed, uint64_t index) {
                      return MakeSudoku(band, seed, index);
                    }});
  }
  for (const std::string_view band : ProofBands()) {
    sets.push_back({absl::StrCat("proof:", AbslView(band)), "proof",
                    [band](uint64_t seed, uint64_t index) {
                      return MakeProof(band, seed, index);
                    }});
  }
  for (const std::string_view band : PythonBands()) {
    sets.push_back({absl::StrCat("python:", AbslView(band)), "python",
                    [band](uint64_t seed, uint64_t index) {
                      return MakePythonProgram(band, seed, index);
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
