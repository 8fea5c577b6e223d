// espalier grade --set humaneval --samples F.jsonl: runs programs that models
// wrote against the tests of a published set.
#ifndef ESPALIER_TOOLS_ESPALIER_GRADE_SAMPLES_H_
#define ESPALIER_TOOLS_ESPALIER_GRADE_SAMPLES_H_

#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"
#include "tools/espalier/output_file.h"

namespace espalier {

struct SampleFlags {
  std::string set;
  std::string samples;
  std::string data;
  std::vector<std::string> columns;  // ROLE=COLUMN of the data
  std::string out;
  std::vector<int> ks = {1, 10, 100};
  bool responses = false;
  bool strict = false;
  JsonOutput json;
  int threads = 0;
  double timeout = 10;
  int memory_mib = 1024;
  std::string sandbox = "full";
};

// Declares the options of grading samples on `app`.
void AddSampleFlags(CLI::App& app, SampleFlags& flags);

// Grades the samples and prints one JSON object per sample, in input order,
// then pass@k. After Ctrl-C prints what was done and returns Cancelled.
absl::Status GradeSamples(const SampleFlags& flags);

}  // namespace espalier

#endif  // ESPALIER_TOOLS_ESPALIER_GRADE_SAMPLES_H_
