// espalier grade: verdicts on answers.
#include <algorithm>
#include <vector>

#include "absl/status/status.h"
#include "tools/espalier/command.h"
#include "tools/espalier/grade_pairs.h"
#include "tools/espalier/grade_samples.h"

namespace espalier {

void AddGrade(CLI::App& app, RunFunction& run) {
  struct Flags {
    PairFlags pairs;
    SampleFlags samples;
    bool strict = false;
  };
  auto flags = std::make_shared<Flags>();
  app.description(
      "Grade answers and give reasons.\n\n"
      "  espalier grade --pairs F.jsonl > verdicts.jsonl\n"
      "  echo '{\"gold\": \"1/2\", \"answer\": \"so \\\\boxed{0.5}\"}' | "
      "espalier grade --pairs -\n"
      "  espalier grade --set humaneval --data HumanEval.jsonl.gz "
      "--samples S.jsonl\n\n"
      "--pairs reads one {\"gold\": ..., \"answer\": ...} per line and writes "
      "one\n"
      "{\"equal\", \"reason\", \"us\"} per line in the same order; us is the "
      "time of\n"
      "the verdict in microseconds. \"golds\" is a list of accepted answers;\n"
      "with a list of \"options\" the gold is the letter of one. A bad line "
      "is\n"
      "reported by file and line, gets \"equal\": false and is counted.\n"
      "--set runs the programs of the samples in a sandbox against the set's\n"
      "tests and writes one verdict per sample, then pass@k.");
  AddPairFlags(app, flags->pairs);
  const std::vector<CLI::Option*> of_pairs = app.get_options();
  AddSampleFlags(app, flags->samples);
  // Refuses options of one of the two ways to grade together with the other.
  CLI::Option* const pairs = app.get_option("--pairs");
  CLI::Option* const set = app.get_option("--set");
  for (CLI::Option* option : app.get_options()) {
    const bool by_pairs =
        std::find(of_pairs.begin(), of_pairs.end(), option) != of_pairs.end();
    if (option == app.get_help_ptr()) continue;
    option->excludes(by_pairs ? set : pairs);
  }
  app.add_flag("--strict", flags->strict, "Stop at the first bad line");
  run = [flags]() -> absl::Status {
    flags->pairs.strict = flags->samples.strict = flags->strict;
    if (!flags->pairs.pairs.empty()) return GradePairs(flags->pairs);
    if (!flags->samples.set.empty()) return GradeSamples(flags->samples);
    return UsageError(absl::InvalidArgumentError(
        "expected --pairs F.jsonl (answers and gold answers) or --set NAME "
        "with --samples F.jsonl (programs); see espalier grade --help"));
  };
}

}  // namespace espalier
