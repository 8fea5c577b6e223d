// Reads the summaries of a self-training's rounds, roundN.json in its work
// folder, and prints them as a table.
//
//   ESP_ASSIGN_OR_RETURN(std::vector<RoundFigures> rounds,
//                        ReadRounds("best.work"));
//   std::printf("%s", RoundTable(rounds).c_str());
//
// Stateless functions: thread-safe.
#ifndef ESPALIER_SRC_EVAL_ROUND_SUMMARIES_H_
#define ESPALIER_SRC_EVAL_ROUND_SUMMARIES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "nlohmann/json_fwd.hpp"

namespace espalier {

// What src/learn/self_train.h records of a round, under the file's names.
struct RoundFigures {
  int round = 0;  // from 1
  int64_t searches = 0;
  int64_t solved = 0;
  int64_t tokens = 0;           // of the searches
  int64_t examples = 0;         // responses imitated
  int64_t reward_examples = 0;  // paths judged
  // The gate: of n problems, right with the models before and after, right
  // after alone and before alone; the chance of that were both alike.
  int64_t n = 0, right_before = 0, right_after = 0, gained = 0, lost = 0;
  double p_value = 1;
  bool promote = false;
  std::string reason;  // in words
  double generate_seconds = 0, reward_seconds = 0, policy_seconds = 0,
         gate_seconds = 0;
};

// Numbers of the rounds that left anything in the folder, rising: "round2.json"
// or one that is named "round2-...".
std::vector<int> FindRounds(const std::string& folder);

// The rounds that have ended, by number. A file that is damaged is named.
absl::StatusOr<std::vector<RoundFigures>> ReadRounds(const std::string& folder);

// A line a round under a heading, and in words why models were not promoted.
std::string RoundTable(const std::vector<RoundFigures>& rounds);
// One object a round, with the file's names.
nlohmann::json RoundsJson(const std::vector<RoundFigures>& rounds);

// The same table for pages: cells of a heading and of each round. Columns of
// the reward model are there where one was trained.
std::vector<std::vector<std::string>> RoundCells(
    const std::vector<RoundFigures>& rounds);

}  // namespace espalier

#endif  // ESPALIER_SRC_EVAL_ROUND_SUMMARIES_H_
