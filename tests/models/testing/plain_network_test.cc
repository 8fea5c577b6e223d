#include "tests/models/testing/plain_network.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "models/pages/page_pool.h"
#include "models/trunk/trunk.h"
#include "nlohmann/json.hpp"
#include "tests/models/testing/hf_layout.h"
#include "tests/models/testing/random_checkpoint.h"

namespace espalier {
namespace {

using nlohmann::json;
using Tokens = std::vector<int32_t>;

// Logits at each token, by PlainNetwork or by the trunk used for search.
using AllLogits =
    std::function<std::vector<std::vector<double>>(const Tokens&)>;

AllLogits PlainLogits(const std::string& folder) {
  return [network = std::make_shared<PlainNetwork>(folder)](const Tokens& t) {
    std::vector<std::vector<double>> out;
    for (const auto& hidden : network->Hidden(t)) {
      out.push_back(network->Logits(hidden));
    }
    return out;
  };
}

AllLogits TrunkLogits(const std::string& folder) {
  const std::shared_ptr<Trunk> trunk = Trunk::Load(folder).value();
  return [trunk](const Tokens& tokens) {
    const auto memory = trunk->NewPages();
    PagePool pool(*memory, 16 << 20);
    const PageId page = pool.Allocate();
    const size_t d = static_cast<size_t>(trunk->config().hidden_size);
    const size_t v = static_cast<size_t>(trunk->config().vocab_size);
    const size_t n = tokens.size();
    std::vector<float> hidden(n * d), logits(n * v);
    const Segment segment{.pages = absl::MakeConstSpan(&page, 1),
                          .tokens = tokens,
                          .all_hidden = hidden.data()};
    Executor executor(1);
    trunk->Forward(absl::MakeConstSpan(&segment, 1), *memory, executor);
    trunk->Logits(hidden.data(), static_cast<int>(n), logits.data(), executor);
    std::vector<std::vector<double>> out;
    for (size_t t = 0; t < n; ++t) {
      out.emplace_back(logits.begin() + t * v, logits.begin() + (t + 1) * v);
    }
    return out;
  };
}

// The published GPT-2 and the outputs of another implementation.
class PublishedGpt2Test : public testing::TestWithParam<std::string> {
 protected:
  AllLogits Network() const {
    return GetParam() == "Plain" ? PlainLogits(folder_) : TrunkLogits(folder_);
  }

  void SetUp() override {
    const char* data = std::getenv("ESPALIER_DATA");
    if (data == nullptr) GTEST_SKIP() << "set ESPALIER_DATA to the data folder";
    folder_ = std::string(data) + "/models/tiny-random-gpt2";
    expected_ = json::parse(std::ifstream(folder_ + "/expected.json"));
  }

  std::string folder_;
  json expected_;
};

TEST_P(PublishedGpt2Test, LogitsAreAsPublished) {
  const AllLogits network = Network();
  std::vector<double> found;
  for (const Tokens tokens : expected_["input_ids"]) {
    for (const auto& logits : network(tokens)) {
      for (size_t i = 0; i < logits.size(); i += 200)
        found.push_back(logits[i]);
    }
  }
  const std::vector<double> expected = expected_["prompt_logits_every_200"];
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    EXPECT_NEAR(found[i], expected[i], 1e-4) << i;
  }
}

TEST_P(PublishedGpt2Test, LogitsAfterTheNextTokenAreAsPublished) {
  const AllLogits network = Network();
  std::vector<double> found;
  for (const Tokens tokens : expected_["next_token_input"]) {
    const auto logits = network(tokens).back();
    for (size_t i = 0; i < logits.size(); i += 200) found.push_back(logits[i]);
  }
  const std::vector<double> expected = expected_["next_token_logits_every_200"];
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    EXPECT_NEAR(found[i], expected[i], 1e-4) << i;
  }
}

TEST_P(PublishedGpt2Test, GreedyTokensAreAsPublished) {
  const AllLogits network = Network();
  const size_t length = expected_["greedy"]["max_length"];
  const std::vector<Tokens> expected = expected_["greedy"]["output"];
  const std::vector<Tokens> inputs = expected_["input_ids"];
  for (size_t i = 0; i < inputs.size(); ++i) {
    Tokens tokens = inputs[i];
    while (tokens.size() < length) {
      const auto logits = network(tokens).back();
      tokens.push_back(static_cast<int32_t>(
          std::max_element(logits.begin(), logits.end()) - logits.begin()));
    }
    EXPECT_EQ(tokens, expected[i]);
  }
}

struct Beam {
  double log_prob = 0;
  Tokens tokens;
};

// Beam search over sums of log-probs up to `length` tokens, while no beam ends:
// length penalties do not matter among beams of equal length.
Tokens BeamSearch(const AllLogits& network, const Tokens& prompt, size_t width,
                  size_t length, int32_t end_token) {
  std::vector<Beam> beams = {{0, prompt}};
  while (beams[0].tokens.size() < length) {
    std::vector<Beam> next;
    for (const Beam& beam : beams) {
      const auto logits = network(beam.tokens).back();
      double total = 0;
      for (const double logit : logits) total += std::exp(logit);
      for (size_t t = 0; t < logits.size(); ++t) {
        next.push_back(
            {beam.log_prob + logits[t] - std::log(total), beam.tokens});
        next.back().tokens.push_back(static_cast<int32_t>(t));
      }
    }
    std::partial_sort(
        next.begin(), next.begin() + static_cast<std::ptrdiff_t>(width),
        next.end(),
        [](const Beam& a, const Beam& b) { return a.log_prob > b.log_prob; });
    next.resize(width);
    for (const Beam& beam : next) EXPECT_NE(beam.tokens.back(), end_token);
    beams = std::move(next);
  }
  return beams[0].tokens;
}

TEST_P(PublishedGpt2Test, BeamsAreAsPublished) {
  const AllLogits network = Network();
  const json& beam = expected_["beam"];
  const std::vector<Tokens> inputs = beam["input"], expected = beam["output"];
  for (size_t i = 0; i < inputs.size(); ++i) {
    EXPECT_EQ(BeamSearch(network, inputs[i], beam["num_beams"],
                         beam["max_length"], /*end_token=*/98),
              expected[i]);
  }
}

INSTANTIATE_TEST_SUITE_P(Networks, PublishedGpt2Test,
                         testing::Values("Plain", "Trunk"),
                         [](const auto& info) { return info.param; });

// A network with heads of 128 elements, trained on 2048 tokens.
PlainNetwork Rotated(const RopeScaling& rope) {
  TrunkConfig config = TinyConfig();
  config.heads = config.kv_heads = config.layers = 1;
  config.head_dim = 128;
  config.rope = rope;
  config.rope.original_context = 2048;
  const std::string folder = TempFolder();
  EXPECT_TRUE(WriteRandomCheckpoint(folder, config, 1).ok());
  return PlainNetwork(folder);
}

void ExpectFrequencies(const std::vector<double>& found,
                       const std::vector<std::pair<size_t, double>>& expected) {
  ASSERT_EQ(found.size(), 64u);
  for (const auto& [i, value] : expected) {
    EXPECT_NEAR(found[i], value, 1e-4 * value) << i;  // printed to 5 digits
  }
}

// Numbers from transformers' own tests (test_modeling_rope_utils.py).
TEST(PlainNetworkTest, ScaledRotationsAreAsPublished) {
  const PlainNetwork dynamic =
      Rotated({.kind = RopeKind::kDynamic, .factor = 10});
  ExpectFrequencies(dynamic.Frequencies(16383), {{0, 1.0},
                                                 {1, 8.0931e-01},
                                                 {31, 1.4176e-03},
                                                 {32, 1.1473e-03},
                                                 {63, 1.6265e-06}});
  ExpectFrequencies(dynamic.Frequencies(100),
                    {{1, 8.6596e-01}, {63, 1.1548e-04}});
  const PlainNetwork yarn = Rotated({.kind = RopeKind::kYarn, .factor = 10});
  ExpectFrequencies(yarn.Frequencies(0), {{16, 1.0e-01},
                                          {17, 8.3479e-02},
                                          {24, 2.2515e-02},
                                          {40, 4.3007e-04},
                                          {41, 2.7384e-04},
                                          {63, 1.1548e-05}});
  EXPECT_DOUBLE_EQ(yarn.AttentionFactor(), 0.1 * std::log(10) + 1);
  const PlainNetwork llama3 =
      Rotated({.kind = RopeKind::kLlama3, .factor = 10});
  ExpectFrequencies(llama3.Frequencies(0), {{30, 1.3335e-02},
                                            {31, 1.0730e-02},
                                            {36, 1.9675e-03},
                                            {40, 3.4539e-04},
                                            {41, 2.7384e-04},
                                            {63, 1.1548e-05}});
  const PlainNetwork linear =
      Rotated({.kind = RopeKind::kLinear, .factor = 10});
  ExpectFrequencies(linear.Frequencies(0), {{0, 0.1}, {63, 1.1548e-05}});
}

class EveryPlainNetworkTest : public testing::TestWithParam<NamedConfig> {};

TEST_P(EveryPlainNetworkTest, GivesFiniteNumbersThatDependOnTheWholeWindow) {
  const std::string folder = TempFolder();
  const TrunkConfig& config = GetParam().config;
  ASSERT_TRUE(WriteRandomCheckpoint(folder, config, 1).ok());
  const PlainNetwork network(folder);
  Tokens tokens(100);
  for (size_t i = 0; i < tokens.size(); ++i) {
    tokens[i] = static_cast<int32_t>(i * i % 61);
  }
  const auto hidden = network.Hidden(tokens);
  ASSERT_EQ(hidden.size(), tokens.size());
  const auto out = config.lm_head ? network.Logits(hidden.back())
                                  : network.Scores(hidden.back());
  EXPECT_EQ(out.size(),
            static_cast<size_t>(config.lm_head ? config.vocab_size
                                               : config.head_labels));
  for (const double v : out) EXPECT_TRUE(std::isfinite(v));
  // Each layer reaches back by one window minus one token.
  size_t reach = 1;
  for (int l = 0; l < config.layers; ++l) {
    reach += config.window(l) == 0 ? tokens.size()
                                   : static_cast<size_t>(config.window(l) - 1);
  }
  reach = std::min(reach, tokens.size());
  for (const size_t back : {size_t{2}, reach, reach + 1}) {
    if (back > tokens.size()) continue;
    Tokens other = tokens;
    other[tokens.size() - back] += 1;
    EXPECT_EQ(network.Hidden(other).back() != hidden.back(), back <= reach)
        << back;
  }
}

INSTANTIATE_TEST_SUITE_P(All, EveryPlainNetworkTest,
                         testing::ValuesIn(EveryNetwork()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace espalier
