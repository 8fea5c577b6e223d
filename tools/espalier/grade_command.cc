// espalier grade: verdicts on answers.
#include "tools/espalier/command.h"
#include "tools/espalier/grade_samples.h"

namespace espalier {

void AddGrade(CLI::App& app, RunFunction& run) {
  auto flags = std::make_shared<SampleFlags>();
  AddSampleFlags(app, *flags);
  run = [flags] { return GradeSamples(*flags); };
}

}  // namespace espalier
