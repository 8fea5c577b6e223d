// What the published programs compute for a path: the reference for the reader
// of reward models, written from their descriptions and sharing nothing with it
// but the tokenizer.
//
//   const PublishedReward published("qwen_prm", checkpoint);
//   EXPECT_NEAR(published.Value("q", {"a", "b"}), value, 1e-4);
#ifndef ESPALIER_TESTS_MODELS_TESTING_PUBLISHED_REWARD_H_
#define ESPALIER_TESTS_MODELS_TESTING_PUBLISHED_REWARD_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "models/tokenizer/tokenizer.h"
#include "tests/models/testing/plain_network.h"
#include "tests/models/testing/reward_checkpoint.h"

namespace espalier {

class PublishedReward {
 public:
  PublishedReward(const std::string& name, const RewardCheckpoint& model);

  // All tokens that the model is given for these steps, up to where the verdict
  // on the last one is read. Steps have no white space around them.
  std::vector<int32_t> Ids(const std::string& question,
                           const std::vector<std::string>& steps) const;
  // The published value of the last step, or of the response.
  double Value(const std::string& question,
               const std::vector<std::string>& steps) const;
  // The same as a probability: p1 for a difference, else the logistic function
  // of what is none.
  double Score(const std::string& question,
               const std::vector<std::string>& steps) const;
  // One value for the whole response.
  bool outcome() const;
  // True if the value is of the last two steps together.
  bool windows() const;

 private:
  std::vector<int32_t> Encode(const std::string& text) const;
  std::vector<double> Head(const std::string& name,
                           const std::vector<double>& x) const;

  const std::string name_;
  const RewardCheckpoint model_;
  const std::unique_ptr<Tokenizer> tokenizer_;
  const PlainNetwork network_;
};

}  // namespace espalier

#endif  // ESPALIER_TESTS_MODELS_TESTING_PUBLISHED_REWARD_H_
