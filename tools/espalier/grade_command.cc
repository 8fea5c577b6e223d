// espalier grade: verdicts on answers.
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
      "Whether answers are right, and why.\n\n"
      "  espalier grade --pairs F.jsonl > verdicts.jsonl\n"
      "  echo '{\"gold\": \"1/2\", \"answer\": \"so \\\\boxed{0.5}\"}' | "
      "espalier grade --pairs -\n"
      "  espalier grade --set humaneval --data HumanEval.jsonl.gz --samples "
      "S.jsonl\n\n"
      "With --pairs reads one {\"gold\": ..., \"answer\": ...} a line and "
      "writes one {\"equal\", \"reason\",\n\"us\"} a line in the same order; "
      "us "
      "is the time of the verdict in microseconds. A bad line is\nnamed by "
      "file and line, gets \"equal\": false and is counted.\n"
      "With --set runs the programs of the samples in a sandbox against the "
      "set's tests and writes a\nverdict a sample, then pass@k.");
  AddPairFlags(app, flags->pairs);
  AddSampleFlags(app, flags->samples);
  app.add_flag("--strict", flags->strict, "Stop at the first bad line");
  app.get_option("--pairs")->excludes(app.get_option("--set"));
  run = [flags]() -> absl::Status {
    flags->pairs.strict = flags->samples.strict = flags->strict;
    if (!flags->pairs.pairs.empty()) return GradePairs(flags->pairs);
    if (!flags->samples.set.empty()) return GradeSamples(flags->samples);
    return absl::InvalidArgumentError(
        "expected --pairs F.jsonl (answers and gold answers) or --set NAME "
        "with --samples F.jsonl (programs); see espalier grade --help");
  };
}

}  // namespace espalier
