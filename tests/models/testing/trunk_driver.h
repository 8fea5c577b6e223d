// Shared by the tests of trunks on any executor: random checkpoints, texts run
// in chunks, comparison with PlainNetwork.
#ifndef ESPALIER_TESTS_MODELS_TESTING_TRUNK_DRIVER_H_
#define ESPALIER_TESTS_MODELS_TESTING_TRUNK_DRIVER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "models/pages/page_pool.h"
#include "models/trunk/trunk.h"
#include "tests/models/testing/plain_network.h"

namespace espalier {

// Fails the test if the folder does not load.
std::unique_ptr<Trunk> LoadOrDie(const std::string& folder,
                                 const TrunkOptions& options = {});
// A new folder with a checkpoint of this configuration.
std::string WriteRandom(const TrunkConfig& config, uint64_t seed);
std::vector<int32_t> DrawTokens(int n, int vocab, uint64_t seed);

// Pages of a trunk and their pool.
struct TestPages {
  explicit TestPages(const Trunk& trunk) : memory(trunk.NewPages()) {}
  std::vector<PageId> Allocate(int tokens);

  std::unique_ptr<PageMemory> memory;
  PagePool pool{*memory, 64 << 20};
};

// Hidden rows of all tokens, [tokens, d], computed in chunks of `chunk`.
std::vector<float> AllHidden(Trunk& trunk, const std::vector<int32_t>& tokens,
                             int chunk, int threads = 1);
// The hidden row of the last token.
std::vector<float> Hidden(Trunk& trunk, const std::vector<int32_t>& tokens,
                          int chunk, int threads = 1);

// `tolerance` is relative to the largest expected magnitude.
void ExpectNear(const float* found, const std::vector<double>& expected,
                double tolerance, const std::string& what);
void ExpectNear(const std::vector<float>& found,
                const std::vector<float>& expected, double tolerance,
                const std::string& what);
// Compares hidden rows of `tokens`, computed in chunks, and logits and labels
// of the last token, if any, with `plain`, whose Hidden(tokens) is `expected`.
void ExpectEqualsPlain(Trunk& trunk, const PlainNetwork& plain,
                       const std::vector<int32_t>& tokens,
                       const std::vector<PlainNetwork::Row>& expected,
                       double tolerance);

}  // namespace espalier

#endif  // ESPALIER_TESTS_MODELS_TESTING_TRUNK_DRIVER_H_
