// Solutions whose steps people or rollouts have labelled: ProcessBench,
// PRM800K, Math-Shepherd, TRL's stepwise files.
//
//   ESP_ASSIGN_OR_RETURN(auto reader, StepSetReader::Open("gsm8k.json", {}));
//   while (true) {
//     ESP_ASSIGN_OR_RETURN(std::optional<LabelledSolution> s, reader->Next());
//     if (!s) break;
//     Use(s->problem, s->steps, s->first_error);
//   }
//
//   kind            columns                              a label
//   processbench    problem, steps, label,               right before the first
//                   final_answer_correct                 error, unknown after
//                   it
//   prm800k         question, label.steps                1, 0 or -1 by people
//   math-shepherd   input, label                         + or - by rollouts
//   trl-stepwise    prompt, completions, labels          true or false
//
// Of PRM800K's completions of a step, the one that was continued from belongs
// to the solution; a text that a labeller wrote instead counts as right. If
// none was chosen, which ends the solution, it is the first. Each other rated
// completion is a solution of its own, which ends there (as in TRL's version of
// the set): most of the wrong steps are such. Lines of Espalier's own (with
// values or levels, or steps that all end with a line end) are no stepwise
// files. Files, bad records, limit and strict are as for problems
// (set_reader.h). Thread-compatible.
#ifndef ESPALIER_DATASETS_SETS_LABELLED_STEPS_H_
#define ESPALIER_DATASETS_SETS_LABELLED_STEPS_H_

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "datasets/sets/record_reader.h"
#include "datasets/sets/set_reader.h"
#include "nlohmann/json.hpp"

namespace espalier {

enum class StepLabel { kWrong = -1, kNeutral = 0, kRight = 1, kUnknown = 2 };

struct LabelledSolution {
  std::string id;     // the publisher's, or "file:line"
  std::string place;  // "file:line"
  std::string problem;
  std::vector<std::string> steps;
  std::vector<StepLabel> labels;  // one per step
  // Index of the first wrong step, -1 if none is wrong.
  int first_error = -1;
  // Whether the final answer is right; nothing if unknown. For Math-Shepherd it
  // is the last step's label.
  std::optional<bool> final_correct;
  std::string answer;  // the reference answer, "" where the set has none
  // Whether its last step is another completion than that of the whole solution
  // of its record, and how many first steps, with their labels, the two share.
  bool other = false;
  size_t shared = 0;
};

struct StepSetOptions {
  int64_t limit = 0;    // maximum number of whole solutions; 0: all
  bool strict = false;  // the first bad record is an error
  bool others = true;   // also solutions that end in another completion
};

// The kind of solution with labelled steps whose columns `fields` has, "" if
// none.
std::string_view LabelledKind(const nlohmann::json& fields);

// Whether the first readable record of a file or folder is a solution with
// labelled steps. False if there is no such file.
bool HoldsLabelledSteps(const std::string& path);

class StepSetReader {
 public:
  static absl::StatusOr<std::unique_ptr<StepSetReader>> Open(
      const std::string& path, StepSetOptions options);
  static std::unique_ptr<StepSetReader> Create(
      std::unique_ptr<RecordReader> records, std::string name,
      StepSetOptions options);

  // The next solution; nothing at the end. Fails if none could be read. Those
  // with other completions follow the whole one of their record.
  absl::StatusOr<std::optional<LabelledSolution>> Next();

  // Counts whole solutions.
  const ReadReport& report() const { return report_; }
  // How many solutions of each kind were read; a folder may hold several.
  const std::map<std::string, int64_t>& kinds() const { return kinds_; }

 private:
  StepSetReader(std::unique_ptr<RecordReader> records, std::string name,
                StepSetOptions options);
  absl::Status Skip(const absl::Status& error);

  std::unique_ptr<RecordReader> records_;
  const StepSetOptions options_;
  std::deque<LabelledSolution> others_;  // of the record before
  ReadReport report_;
  std::string kind_;  // of the solution before
  std::map<std::string, int64_t> kinds_;
};

}  // namespace espalier

#endif  // ESPALIER_DATASETS_SETS_LABELLED_STEPS_H_
