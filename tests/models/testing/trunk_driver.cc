#include "tests/models/testing/trunk_driver.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "base/random.h"
#include "tests/models/testing/random_checkpoint.h"

namespace espalier {

std::unique_ptr<Trunk> LoadOrDie(const std::string& folder,
                                 const TrunkOptions& options) {
  auto trunk = Trunk::Load(folder, options);
  EXPECT_TRUE(trunk.ok()) << trunk.status();
  return std::move(*trunk);
}

std::string WriteRandom(const TrunkConfig& config, uint64_t seed) {
  const std::string folder = TempFolder();
  EXPECT_TRUE(WriteRandomCheckpoint(folder, config, seed).ok());
  return folder;
}

std::vector<int32_t> DrawTokens(int n, int vocab, uint64_t seed) {
  RandomStream rng(StreamKey(seed, 0, 0, Purpose::kTest));
  std::vector<int32_t> tokens;
  for (int i = 0; i < n; ++i) tokens.push_back(rng.Range(0, vocab - 1));
  return tokens;
}

std::vector<PageId> TestPages::Allocate(int tokens) {
  std::vector<PageId> out;
  for (int i = 0; i * kPageSlots < tokens; ++i) out.push_back(pool.Allocate());
  return out;
}

std::vector<float> AllHidden(Trunk& trunk, const std::vector<int32_t>& tokens,
                             int chunk, int threads) {
  TestPages pages(trunk);
  Executor executor(threads);
  const int n = static_cast<int>(tokens.size());
  const std::vector<PageId> table = pages.Allocate(n);
  const size_t d = static_cast<size_t>(trunk.config().hidden_size);
  std::vector<float> hidden(tokens.size() * d), last(d);
  for (int at = 0; at < n; at += chunk) {
    const size_t begin = static_cast<size_t>(at);
    const int count = std::min(chunk, n - at);
    const Segment segment{.pages = table,
                          .start = at,
                          .tokens = absl::MakeConstSpan(tokens).subspan(
                              begin, static_cast<size_t>(count)),
                          .last_hidden = last.data(),
                          .all_hidden = hidden.data() + begin * d};
    trunk.Forward(absl::MakeConstSpan(&segment, 1), *pages.memory, executor);
    EXPECT_TRUE(std::equal(last.begin(), last.end(),
                           segment.all_hidden + (count - 1) * d));
  }
  return hidden;
}

std::vector<float> Hidden(Trunk& trunk, const std::vector<int32_t>& tokens,
                          int chunk, int threads) {
  const std::vector<float> all = AllHidden(trunk, tokens, chunk, threads);
  return {all.end() - trunk.config().hidden_size, all.end()};
}

void ExpectNear(const float* found, const std::vector<double>& expected,
                double tolerance, const std::string& what) {
  double most = 1e-3;
  for (const double v : expected) most = std::max(most, std::fabs(v));
  for (size_t i = 0; i < expected.size(); ++i) {
    ASSERT_NEAR(found[i], expected[i], tolerance * most)
        << what << ", element " << i;
  }
}

void ExpectNear(const std::vector<float>& found,
                const std::vector<float>& expected, double tolerance,
                const std::string& what) {
  ASSERT_EQ(found.size(), expected.size()) << what;
  ExpectNear(found.data(),
             std::vector<double>(expected.begin(), expected.end()), tolerance,
             what);
}

void ExpectEqualsPlain(Trunk& trunk, const PlainNetwork& plain,
                       const std::vector<int32_t>& tokens,
                       const std::vector<PlainNetwork::Row>& expected,
                       double tolerance) {
  const TrunkConfig& c = trunk.config();
  const auto hidden = AllHidden(trunk, tokens, 37);
  const size_t d = static_cast<size_t>(c.hidden_size);
  for (size_t t = 0; t < tokens.size(); ++t) {
    ExpectNear(hidden.data() + t * d, expected[t], tolerance,
               absl::StrCat("hidden at ", t));
  }
  const float* last = hidden.data() + (tokens.size() - 1) * d;
  if (c.lm_head) {
    std::vector<float> logits(static_cast<size_t>(c.vocab_size));
    Executor executor(1);
    trunk.Logits(last, 1, logits.data(), executor);
    ExpectNear(logits.data(), plain.Logits(expected.back()), tolerance,
               "logits");
  }
  if (c.head != HeadKind::kNone) {
    // With so few outputs the maximum at one token may be near zero by chance,
    // so the tolerance is relative to the maximum over all tokens.
    const size_t labels = static_cast<size_t>(c.head_labels);
    const int n = static_cast<int>(tokens.size());
    std::vector<float> found(labels * tokens.size());
    trunk.Head(hidden.data(), n, found.data());
    std::vector<double> scores;
    for (const PlainNetwork::Row& row : expected) {
      const auto at = plain.Scores(row);
      scores.insert(scores.end(), at.begin(), at.end());
    }
    ASSERT_EQ(scores.size(), found.size());
    ExpectNear(found.data(), scores, tolerance, "head");
  }
}

}  // namespace espalier
