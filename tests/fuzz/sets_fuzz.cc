// A data file: its name in the first line, then its bytes. Problems, labelled
// steps and code problems.
#include <set>
#include <string>

#include "base/check.h"
#include "datasets/programs/code_problem.h"
#include "datasets/sets/labelled_steps.h"
#include "datasets/sets/set_reader.h"
#include "tests/fuzz/fuzz_target.h"

namespace espalier {
namespace {

// A name with the extension that `wanted` has, so that no input names a file
// elsewhere.
std::string FileName(std::string_view wanted) {
  const std::string_view ending = RecordEnding(wanted);
  std::string name = "set";
  name += ending.empty() ? ".txt" : ending;
  if (wanted.ends_with(".gz")) name += ".gz";
  return name;
}

void ReadProblems(const std::string& path) {
  auto reader = SetReader::Open(path, {.limit = 200});
  if (!reader.ok()) return;
  std::set<std::string> ids;
  while (true) {
    auto record = (*reader)->Next();
    if (!record.ok() || !*record) break;
    // Every id is unique.
    ESP_CHECK(ids.insert((*record)->id).second);
    ESP_CHECK(!(*record)->place.empty());
    const auto code = ReadCodeProblem((*record)->fields);
    if (code.ok()) Touch(SolutionProgram(*code));
  }
  for (const std::string& note : (*reader)->report().Notes()) Touch(note);
}

void ReadSteps(const std::string& path) {
  auto reader = StepSetReader::Open(path, {.limit = 200});
  if (!reader.ok()) return;
  while (true) {
    const auto solution = (*reader)->Next();
    if (!solution.ok() || !*solution) break;
    const LabelledSolution& s = **solution;
    ESP_CHECK(s.labels.size() == s.steps.size());
    ESP_CHECK(s.shared < s.steps.size());
    ESP_CHECK(s.first_error >= -1 &&
              s.first_error < static_cast<int>(s.steps.size()));
  }
}

}  // namespace

ESPALIER_FUZZ(sets) {
  const auto [name, content] = CutAt(bytes, '\n');
  const std::string path = FuzzFile(FileName(name), content);
  ReadProblems(path);
  ReadSteps(path);
}

}  // namespace espalier
