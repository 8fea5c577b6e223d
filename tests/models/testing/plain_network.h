// A second, plain implementation of a transformer: the reference for the fast
// kernels.
//
//   const PlainNetwork network(folder);
//   const auto hidden = network.Hidden(tokens);
//   EXPECT_NEAR(logits[3], network.Logits(hidden.back())[3], 1e-3);
//
// Everything is double precision in straightforward loops, one token after the
// other. It reads the folder itself: the keys of config.json and the names of
// tensors are Hugging Face's, the formulas those of its modeling files and of
// modeling_rope_utils. It shares no code with the checkpoint reader in use.
// Broken folders end the test program.
//
// Thread-safe after construction.
#ifndef ESPALIER_TESTS_MODELS_TESTING_PLAIN_NETWORK_H_
#define ESPALIER_TESTS_MODELS_TESTING_PLAIN_NETWORK_H_

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "nlohmann/json.hpp"

namespace espalier {

class PlainNetwork {
 public:
  using Row = std::vector<double>;

  explicit PlainNetwork(const std::string& folder);

  // The output of the final norm for each of `tokens`, which are at positions
  // 0, 1, ... With dynamic rope scaling position p is rotated as in a sequence
  // of p + 1 tokens, as in token-by-token decoding.
  std::vector<Row> Hidden(std::span<const int32_t> tokens) const;
  // The output of the language model head: [vocab_size].
  Row Logits(const Row& hidden) const;
  // The labels of a classification head, or of Espalier's reward head before
  // the sigmoid.
  Row Scores(const Row& hidden) const;

  // The rotation angle of each pair from one position to the next, for tokens
  // at `position`: half as many as rotated dimensions of a head.
  std::vector<double> Frequencies(int position) const;
  // The factor of rotated queries and keys.
  double AttentionFactor() const;

 private:
  struct Tensor {
    std::vector<int64_t> shape;
    Row values;
  };
  // The names of a layer's norms; empty: there is no such norm.
  struct NormNames {
    std::string before_attention, after_attention;
    std::string before_forward, after_forward;
  };
  // Keys and values of the positions so far, one row per position.
  struct Cache {
    std::vector<Row> keys, values;
  };

  void ReadTensors(const std::string& path);
  const Tensor& Find(const std::string& name) const;
  // Adds the bias if there is one.
  Row Product(const std::string& name, const Row& x) const;
  Row Norm(const std::string& name, const Row& x) const;
  // x, or a soft cap of it if `key` gives one.
  double Capped(const char* key, double x) const;
  NormNames Norms() const;
  bool IsType(const char* prefix) const;
  // Whether layer `l` has the sliding window, and whether it rotates.
  bool IsWindowed(int l) const;
  bool IsRotated(int l) const;
  // Layers with the window, where these have a rotation of their own.
  bool IsLocal(int l) const;
  // RMS norm of each head separately, or of the whole row, as the weight's size
  // says, if the network has it.
  void NormHeads(const std::string& name, Row& row) const;
  std::vector<double> YarnFrequencies(const nlohmann::json& scaling) const;
  void Rotate(Row& row, int l, int position) const;
  Row Attend(const Row& queries, int l, const Cache& cache) const;
  Row Attention(int l, const Row& x, int position, Cache& cache) const;
  // act(gate) * up.
  Row Gated(const Row& gate, const Row& up) const;
  // The sum of the chosen experts' outputs, by their shares.
  Row Experts(const std::string& layer, const Row& x) const;
  Row FeedForward(int l, const Row& x) const;
  std::string LayerName(int l) const;
  Row Step(int32_t token, int position, std::vector<Cache>& caches) const;

  nlohmann::json config_;
  nlohmann::json scaling_;  // "rope_scaling" or "rope_parameters", or null
  std::map<std::string, Tensor> tensors_;
  bool gpt2_ = false;
  std::string type_;  // "model_type"
  int layers_ = 0, heads_ = 0, kv_heads_ = 0, head_dim_ = 0;
  int rotary_ = 0;  // rotated dimensions of a head
  int window_ = 0;  // keys that a token sees, itself included; 0: all
  double theta_ = 0, epsilon_ = 0;
};

}  // namespace espalier

#endif  // ESPALIER_TESTS_MODELS_TESTING_PLAIN_NETWORK_H_
