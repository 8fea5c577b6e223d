#include "tools/zoo/zoo_data.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/progress.h"
#include "base/status_macros.h"
#include "datasets/tasks/task_registry.h"
#include "nlohmann/json.hpp"
#include "tools/zoo/zoo_family.h"

namespace espalier {

absl::StatusOr<std::string> ZooDataLines(const ZooDataOptions& options) {
  ESP_ASSIGN_OR_RETURN(const ZooFamily* family, FindZooFamily(options.family));
  ESP_ASSIGN_OR_RETURN(const Task* task, FindTask(family->task()));
  const auto examples = static_cast<int64_t>(family->examples());
  if (options.limit < 0 || (options.limit == 0 && examples == 0)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--limit ", options.limit, ": expected a number above 0",
        examples == 0
            ? ", because " + options.family + " draws problems without end"
            : ", or 0 for all"));
  }
  const int64_t limit = options.limit > 0 ? options.limit : examples;
  Progress progress("zoo-data " + options.family, limit, "lines");
  std::string out;
  int64_t lines = 0;
  for (int64_t i = 0; lines < limit && (examples == 0 || i < examples); ++i) {
    const ZooExample example =
        family->Example(static_cast<uint64_t>(i), options.solutions);
    std::string completion;
    for (const JudgedLine& line : example.lines) {
      absl::StrAppend(&completion, line.text, "\n");
    }
    const bool imitated =
        std::all_of(example.lines.begin(), example.lines.end(),
                    [](const JudgedLine& line) { return line.imitate; });
    if (!imitated || !task->FindAnswer(completion)) continue;
    ESP_ASSIGN_OR_RETURN(const std::string prompt,
                         task->Render(example.problem.problem));
    out +=
        nlohmann::ordered_json{{"prompt", prompt}, {"completion", completion}}
            .dump() +
        "\n";
    ++lines;
    progress.Add(1);
  }
  progress.Finish();
  return out;
}

}  // namespace espalier
