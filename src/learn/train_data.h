// Training sequences from run databases and JSON lines.
//
//   FilterLog log;
//   ESP_ASSIGN_OR_RETURN(TrainData data,
//                        LoadTrainData("run.db", options, tokenizer, end,
//                        log));
//
// A file with SQLite's magic is a run database. A file or folder of solutions
// with labelled steps (datasets/sets/labelled_steps.h: ProcessBench, PRM800K,
// Math-Shepherd, TRL's stepwise lines) is read as published and tokenised as a
// search would have it (labelled_solutions.h). Anything else is JSON lines as
// written by espalier export: prompt and completion (responses); prompt, chosen
// and rejected (pairs); prompt, completions and values or labels (steps);
// "levels", {"step": [1, 0], "window2": [1, null]}, holds the labels of further
// levels, and is enough without values or labels. Other columns are ignored.
// Steps of such lines that do not end with a newline are refused: their labels
// would be at other tokens than those where a search reads the reward. Problems
// and lines whose question is in an evaluation are left out (contamination.h).
//
// Stateless functions: thread-safe.
#ifndef ESPALIER_SRC_LEARN_TRAIN_DATA_H_
#define ESPALIER_SRC_LEARN_TRAIN_DATA_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "models/reward/step_layout.h"
#include "models/tokenizer/tokenizer.h"
#include "src/learn/objective.h"
#include "src/trace/labels/contamination.h"
#include "src/trace/labels/examples.h"

namespace espalier {

struct TrainDataOptions {
  ExampleKind kind = ExampleKind::kResponses;
  int64_t run = 0;  // of a database; 0: all runs
  // Databases whose searches are merged with those of the main one, or further
  // files of solutions with labelled steps.
  std::vector<std::string> more_databases;
  // How the questions of solutions with labelled steps are put: the task, and
  // the prompt in the format of PromptText; "": the task's own wording.
  std::string task = "qa";
  std::string prompt;
  // Labelled steps are laid out as this format's; null: as Espalier's own heads
  // are read. Outlives the call.
  const StepLayout* layout = nullptr;
  PathOptions paths;
  PairOptions pairs{.min_edit_distance = 1};
  StepOptions steps;
  // Levels that labelled steps are to have (docs/guide/train.md has a table of
  // their targets). Step and windows need a verifier of steps, or lines that
  // hold them.
  LevelSet levels = Level::kPath;
  GroupOptions groups;
  // Keeps the labels of a step of a database only where outcomes and the
  // verifier agree (consensus.h).
  bool consensus = false;
  float consensus_threshold = 0;  // outcomes call it right above this share
  // Labels windows of two by HRM's node compression of the trees of a database:
  // the share of right ends below (compress_tree.h).
  bool compress = false;
  ContaminationOptions contamination;
  int context_length = 0;  // longer sequences are left out
  // Hash of the model's tokenizer.json as in RunInfo; "": not compared.
  std::string tokenizer_hash;
};

struct TrainData {
  std::vector<SequenceGroup> groups;
  std::vector<std::string> names;  // the source of each group, for messages
  std::vector<int> problems;       // groups of one prompt have the same number
  // By number of the problem: of its prompt, or of the shortest prompt with
  // which it begins, so that lines of one problem have one hash.
  std::vector<uint64_t> problem_hashes;
  bool published = false;  // solutions with labelled steps
  // Outputs that a reward head needs for the levels: one for each, except where
  // the data gives two of them the same target.
  std::vector<LevelSet> outputs;
};

// `end_token` < 0: the model has none, else it ends every imitated response.
// InvalidArgument names file and line; FailedPrecondition if there is nothing
// to learn from, with what to do about it, or no labels for one of the levels.
absl::StatusOr<TrainData> LoadTrainData(const std::string& path,
                                        const TrainDataOptions& options,
                                        const Tokenizer& tokenizer,
                                        int32_t end_token, FilterLog& log);

// FailedPrecondition if an output has no labels, or one value everywhere; of
// path this is told only for solutions with labelled steps. `path` is named.
absl::Status CheckLabels(const std::string& path, const TrainData& data);

// Over all tokens, weights and labels.
uint64_t HashTrainData(const TrainData& data);

}  // namespace espalier

#endif  // ESPALIER_SRC_LEARN_TRAIN_DATA_H_
