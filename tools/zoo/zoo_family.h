// What differs between the kinds of problem that shipped models are trained on:
// where problems come from, and right and wrong responses to them. The stages
// are the same for all (train_zoo.h).
#ifndef ESPALIER_TOOLS_ZOO_ZOO_FAMILY_H_
#define ESPALIER_TOOLS_ZOO_ZOO_FAMILY_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "base/random.h"
#include "espalier/problem.h"
#include "src/learn/step_sequences.h"

namespace espalier {

// A training example before it is tokenized.
struct ZooExample {
  GradedProblem problem;
  std::vector<JudgedLine> lines;
  bool ended = false;  // the end token follows and is imitated
};

// Defaults for the length of the stages and the size of the model.
struct ZooRecipe {
  int64_t grow_steps = 0;
  int64_t judge_steps = 0;
  int judge_rounds = 0;
  int own_responses = 0;
  int batch_tokens = 16384;
  double learning_rate = 3e-3;
  // For the first stage: the fraction of responses with planted errors, and the
  // weight of the reward loss relative to imitation.
  double planted = 0.6;
  double reward_coef = 1;
  int hidden_size = 128;
  int layers = 6;
};

class ZooFamily {
 public:
  virtual ~ZooFamily() = default;
  virtual std::string_view name() const = 0;
  virtual std::string_view task() const = 0;  // also names the verifier
  // Whether a model of it is in models/zoo.
  virtual bool shipped() const { return true; }
  virtual ZooRecipe recipe() const = 0;
  // The model card's description of the data.
  virtual std::string_view data() const = 0;
  // Sets and token budgets that the card reports.
  virtual std::vector<std::string> card_sets() const = 0;

  // A training example drawn with `rng`. `progress` in [0, 1] is the position
  // in the curriculum, easy problems first; `planted` is the fraction of
  // responses with wrong lines or dead ends, whose wrong lines are not
  // imitated.
  virtual ZooExample Draw(double progress, double planted,
                          RandomStream& rng) const = 0;
  // The number of examples that training cycles through; 0: unlimited new ones.
  virtual uint64_t examples() const { return 0; }
  // Example `index` at the end of the curriculum. `solution`: a correct
  // solution of its problem instead, all of whose lines are imitated; the same
  // if the example is one.
  virtual ZooExample Example(uint64_t index, bool solution) const = 0;

  // Problem `index` of training seed `seed`; the model's own responses to these
  // are judged.
  virtual GradedProblem OwnProblem(uint64_t seed, uint64_t index) const = 0;
};

// stories, stories-corrected, countdown, countdown-base. NotFound names the
// closest.
absl::StatusOr<const ZooFamily*> FindZooFamily(std::string_view name);
std::vector<std::string> ZooFamilyNames();

}  // namespace espalier

#endif  // ESPALIER_TOOLS_ZOO_ZOO_FAMILY_H_
