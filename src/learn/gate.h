// Decides if a trained model may replace the one it came from.
//
//   ESP_ASSIGN_OR_RETURN(std::vector<bool> old_right, Answer(...));
//   ESP_ASSIGN_OR_RETURN(std::vector<bool> new_right, Answer(...));
//   const GateVerdict verdict = CompareOneSided(new_right, old_right, 0.05);
//   if (verdict.promote) ...
//
// Stateless functions: thread-safe.
#ifndef ESPALIER_SRC_LEARN_GATE_H_
#define ESPALIER_SRC_LEARN_GATE_H_

#include <cstdint>
#include <string>
#include <vector>

namespace espalier {

struct GateVerdict {
  int64_t n = 0;
  int64_t right_before = 0;
  int64_t right_after = 0;
  int64_t gained = 0;  // wrong before, right after
  int64_t lost = 0;    // right before, wrong after
  double p_value = 1;  // chance of as many gains or more if both are equal
  bool promote = false;
  std::string reason;  // for people
};

// The exact one-sided sign test on the problems that the two answer differently
// (McNemar 1947): p = P(X >= gained), X ~ Bin(gained + lost, 1/2). Promotes if
// p < alpha. Same size, not empty.
GateVerdict CompareOneSided(const std::vector<bool>& after,
                            const std::vector<bool>& before, double alpha);

}  // namespace espalier

#endif  // ESPALIER_SRC_LEARN_GATE_H_
