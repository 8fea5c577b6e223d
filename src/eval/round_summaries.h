// Reads the per-round summaries of a self-training, roundN.json in its work
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

// What src/learn/self_train.h records per round, under the names in the file.
struct RoundFigures {
  int round = 0;  // from 1
  int64_t searches = 0;
  int64_t solved = 0;
  int64_t tokens = 0;           // of the searches
  int64_t examples = 0;         // responses imitated
  int64_t reward_examples = 0;  // paths judged
  // The gate: of n problems, how many the models before and after solve, and
  // how many only the new (gained) or only the old one (lost) solves; p value
  // under the hypothesis that both are equally good.
  int64_t n = 0, right_before = 0, right_after = 0, gained = 0, lost = 0;
  double p_value = 1;
  bool promote = false;
  std::string reason;  // as text
  double generate_seconds = 0, reward_seconds = 0, policy_seconds = 0,
         gate_seconds = 0;
};

// Numbers of the rounds that left any file in the folder, ascending:
// "round2.json" or a name that begins with "round2-".
std::vector<int> FindRounds(const std::string& folder);

// The finished rounds, by number. The error for a damaged file names it.
absl::StatusOr<std::vector<RoundFigures>> ReadRounds(const std::string& folder);

// One line per round under a heading, and the reasons why models were not
// promoted.
std::string RoundTable(const std::vector<RoundFigures>& rounds);
// One object per round, with the names in the file.
nlohmann::json RoundsJson(const std::vector<RoundFigures>& rounds);

// The same table for HTML pages: cells of a heading and of each round. Has
// columns of the reward model only if one was trained.
std::vector<std::vector<std::string>> RoundCells(
    const std::vector<RoundFigures>& rounds);

}  // namespace espalier

#endif  // ESPALIER_SRC_EVAL_ROUND_SUMMARIES_H_
