// espalier grade --pairs F.jsonl: compares answers with gold answers.
#ifndef ESPALIER_TOOLS_ESPALIER_GRADE_PAIRS_H_
#define ESPALIER_TOOLS_ESPALIER_GRADE_PAIRS_H_

#include <string>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"
#include "datasets/answers/grade_answer.h"

namespace espalier {

struct PairFlags {
  std::string pairs;
  bool strict = false;
  std::string percent = "either";
  std::string units = "optional";
  bool any_tuple_order = false;
  bool no_inequality = false;
  bool any_symbols = false;
  bool no_extract = false;
  GradePolicy policy;  // set from the flags above
};

// Declares the options of grading pairs on `app`, except --strict.
void AddPairFlags(CLI::App& app, PairFlags& flags);

// Reads {"gold", "answer"} lines and prints {"equal", "reason", "us"} lines, in
// input order. After Ctrl-C prints what was done and returns Cancelled.
absl::Status GradePairs(const PairFlags& flags);

}  // namespace espalier

#endif  // ESPALIER_TOOLS_ESPALIER_GRADE_PAIRS_H_
