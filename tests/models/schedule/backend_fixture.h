// Shared by the tests of the trunk backend: a backend over the fake trunk, and
// its expected answers from a plain loop without pages or batches.
#ifndef ESPALIER_TESTS_MODELS_SCHEDULE_BACKEND_FIXTURE_H_
#define ESPALIER_TESTS_MODELS_SCHEDULE_BACKEND_FIXTURE_H_

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "models/sampling/sampler.h"
#include "models/schedule/trunk_backend.h"
#include "tests/models/schedule/fake_trunk.h"

namespace espalier {

using Tokens = std::vector<int32_t>;

inline constexpr int64_t kPageBytes = 2 * 4 * kPageSlots * 4;

// The expected continuation, from a plain loop without pages or batches.
struct Plain {
  Tokens tokens;
  std::vector<float> logprobs;
  std::vector<double> entropies;
  std::vector<double> confidences;  // where requested
  std::vector<float> hidden;        // where requested
  double entropy = 0;
  Finish finish = Finish::kLength;
};

// ln p of each token at temperature 1, by definition.
inline std::vector<double> PlainLogprobs(const std::vector<float>& logits) {
  long double sum = 0;
  for (const float l : logits) sum += std::exp(static_cast<long double>(l));
  std::vector<double> logprobs;
  for (const float l : logits) {
    logprobs.push_back(static_cast<double>(l - std::log(sum)));
  }
  return logprobs;
}

inline double PlainEntropy(const std::vector<double>& logprobs) {
  double entropy = 0;
  for (const double l : logprobs) entropy -= std::exp(l) * l;
  return entropy;
}

// Minus the mean of the `k` highest log-probs, by a full sort.
inline double PlainConfidence(std::vector<double> logprobs, int k) {
  std::sort(logprobs.rbegin(), logprobs.rend());
  logprobs.resize(std::min(logprobs.size(), static_cast<size_t>(k)));
  double sum = 0;
  for (const double l : logprobs) sum -= l;
  return sum / static_cast<double>(logprobs.size());
}

inline Plain PlainContinuation(Tokens path, const GenerateRequest& request,
                               int i, int context = 400) {
  const PieceTokenizer tokenizer;
  const StreamKey key = SampleKey(request.stream, request.first_sample + i);
  Plain out;
  std::string text;
  while (true) {
    const uint64_t hash = FakeTrunk::Hash(path);
    std::vector<float> logits(16);
    for (int t = 0; t < 16; ++t) logits[t] = FakeTrunk::Logit(hash, t);
    const Sampled s = Sample(logits, request.sampling,
                             RandomStream::UniformAt(key, out.tokens.size()))
                          .value();
    out.tokens.push_back(s.token);
    out.logprobs.push_back(s.logprob);
    const std::vector<double> all = PlainLogprobs(logits);
    out.entropies.push_back(PlainEntropy(all));
    out.entropy += out.entropies.back();
    if (request.top_logprobs > 0) {
      out.confidences.push_back(PlainConfidence(all, request.top_logprobs));
    }
    if (request.hidden) {
      out.hidden.resize(4);
      FakeTrunk::Split(hash, out.hidden.data(), 1);
    }
    path.push_back(s.token);
    text += tokenizer.TokenBytes(s.token);
    out.finish = Finish::kLength;
    if (s.token == PieceTokenizer::kEnd) {
      out.finish = Finish::kEnd;
    } else if (!request.stop.delimiter.empty() &&
               text.find(request.stop.delimiter) != text.npos) {
      out.finish = Finish::kDelimiter;
    } else if (static_cast<int>(out.tokens.size()) < request.stop.max_tokens &&
               static_cast<int>(path.size()) < context) {
      continue;
    }
    out.entropy /= static_cast<double>(out.tokens.size());
    return out;
  }
}

inline void ExpectPlain(const Tokens& path, const GenerateRequest& request,
                        const Completion& got, int context = 400) {
  ASSERT_TRUE(got.status.ok()) << got.status;
  ASSERT_EQ(static_cast<int>(got.continuations.size()), request.n);
  for (int i = 0; i < request.n; ++i) {
    const Plain plain = PlainContinuation(path, request, i, context);
    const Continuation& c = got.continuations[i];
    ASSERT_EQ(c.tokens, plain.tokens);
    ASSERT_EQ(c.logprobs, plain.logprobs);
    ASSERT_EQ(c.finish, plain.finish);
    ASSERT_NEAR(c.mean_entropy, plain.entropy, 1e-5);
    // Returned only where requested.
    ASSERT_EQ(c.confidences.size(), plain.confidences.size());
    ASSERT_EQ(c.entropies.size(), plain.confidences.size());
    ASSERT_EQ(c.hidden, plain.hidden);
    for (size_t t = 0; t < c.confidences.size(); ++t) {
      ASSERT_NEAR(c.entropies[t], plain.entropies[t], 1e-5);
      ASSERT_NEAR(c.confidences[t], plain.confidences[t], 1e-5);
    }
  }
}

inline Tokens RandomTokens(RandomStream& rng, int n) {
  Tokens tokens(n);
  for (int32_t& t : tokens) t = static_cast<int32_t>(rng.Below(15));
  return tokens;
}

// A request with random options and a random stop rule.
inline GenerateRequest RandomGeneration(RandomStream& rng, SeqId from,
                                        int max_tokens = 90) {
  GenerateRequest g{.from = from,
                    .n = rng.Range(1, 5),
                    .stream = StreamKey(1, rng.Next32(), 0, Purpose::kSample),
                    .first_sample = rng.Range(0, 3)};
  const char* delimiters[] = {"\n", ";\n", "", "ab"};
  g.stop = {.delimiter = delimiters[rng.Below(4)],
            .max_tokens = rng.Range(1, max_tokens)};
  if (rng.Below(3) == 0) g.sampling.temperature = 0;
  if (rng.Below(3) == 0) g.sampling.top_k = 3;
  // The vocabulary has 16 tokens.
  if (rng.Below(2) == 0) g.top_logprobs = rng.Range(1, 20);
  g.hidden = rng.Below(2) == 0;
  return g;
}

struct Fixture {
  explicit Fixture(int pages = 1000, int threads = 1, int context = 400,
                   TrunkBackendOptions options = {})
      : trunk(context), executor(threads) {
    options.kv_bytes = pages * kPageBytes;
    backend =
        std::make_unique<TrunkBackend>(trunk, tokenizer, executor, options);
  }
  std::map<RequestId, Completion> RunAll() {
    std::vector<Completion> done;
    while (backend->Step(done)) {
    }
    std::map<RequestId, Completion> by_id;
    for (Completion& c : done) by_id[c.id] = std::move(c);
    return by_id;
  }
  void ExpectSound() {
    EXPECT_EQ(trunk.damaged, 0);
    EXPECT_EQ(trunk.written_while_shared, 0);
    const BackendStats& stats = backend->stats();
    EXPECT_EQ(trunk.tokens, stats.tokens_computed);
    EXPECT_EQ(stats.tokens_computed, stats.tokens_needed - stats.tokens_shared +
                                         stats.tokens_recomputed +
                                         stats.tokens_drafted -
                                         stats.drafts_accepted);
    const PagePool& pool = backend->pool();
    EXPECT_EQ(pool.used() + pool.free(), pool.total());
  }
  void ExpectEmpty() {
    ExpectSound();
    EXPECT_EQ(backend->pool().used(), 0);
    EXPECT_EQ(backend->sequences().live(), 0);
  }
  FakeTrunk trunk;
  PieceTokenizer tokenizer;
  Executor executor;
  std::unique_ptr<TrunkBackend> backend;
};

}  // namespace espalier

#endif  // ESPALIER_TESTS_MODELS_SCHEDULE_BACKEND_FIXTURE_H_
