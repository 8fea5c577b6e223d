#include "tools/espalier/response_tokens.h"

#include <cstdio>
#include <string>
#include <vector>

#include "src/base/status_macros.h"
#include "src/engine/response_length.h"
#include "tools/espalier/command.h"

namespace espalier {

absl::Status MeasureSet(Engine& engine, const SetFlags& flags,
                        absl::Span<const Problem> problems, const Task& task,
                        SearchOptions& search) {
  std::vector<Problem> all;
  if (flags.options.shards > 1) {
    SetFlags whole = flags;
    whole.shard = "0/1";
    ESP_ASSIGN_OR_RETURN(const ProblemSet set, LoadSet(whole));
    all = ProblemsOf(set.problems);
    problems = all;
  }
  return MeasureResponseTokens(engine, problems, task, &StopRequested(),
                               search);
}

void PrintShortBudget(const char* command, absl::Span<const Problem> problems,
                      const SearchOptions& search) {
  const std::string note = ShortBudgetNote(problems, search);
  if (!note.empty()) {
    std::fprintf(stderr, "%s: note: %s\n", command, note.c_str());
  }
}

}  // namespace espalier
