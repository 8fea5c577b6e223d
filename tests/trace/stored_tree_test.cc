#include "src/trace/stored_tree.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"

namespace espalier {
namespace {

// A tree of `nodes` nodes with random contents.
Tree RandomTree(RandomStream& rng, int nodes) {
  Tree tree;
  tree.InternAnswer("42");
  while (static_cast<int>(tree.size()) < nodes) {
    const NodeId parent = rng.Below(tree.size());
    if (tree[parent].terminal()) continue;
    std::vector<int32_t> tokens;
    std::string text;
    for (int t = rng.Range(1, 12); t > 0; --t) {
      tokens.push_back(rng.Range(0, 127999));
      text += static_cast<char>(rng.Range(0, 255));
    }
    const NodeId id = tree.Add(parent, {.text = text,
                                        .tokens = tokens,
                                        .logprob = -rng.Uniform(),
                                        .terminal = rng.Below(4) == 0,
                                        .truncated = rng.Below(9) == 0});
    Node& node = tree[id];
    node.visits = rng.Next32() >> rng.Below(32);
    node.q = rng.Uniform();
    node.prior = rng.Uniform();
    if (rng.Below(2) == 0) {
      tree.step(id).step_score = tree.step(id).path_score = rng.Uniform();
      // Of some trees' models.
      StepScores scores = tree.scores(id);
      if (nodes % 3 == 0) scores.outcome = rng.Uniform();
      if (nodes % 2 == 0) scores.windows[1] = rng.Uniform();
      tree.SetScores(id, scores);
    }
    if (node.terminal()) tree.step(id).answer = 0;
    if (rng.Below(5) == 0) tree.MakeAlias(id, rng.Below(id));
  }
  return tree;
}

// A log that would have produced the tree.
std::vector<LogEntry> LogOf(const Tree& tree, RandomStream& rng) {
  std::vector<LogEntry> log;
  for (NodeId id = 1; id < tree.size(); ++id) {
    SampledStep step;
    step.tokens.assign(tree.tokens(id).begin(), tree.tokens(id).end());
    for (size_t t = 0; t < step.tokens.size(); ++t) {
      step.logprobs.push_back(-rng.Uniform());
      step.logprob += step.logprobs.back();
      step.sampler_logprobs.push_back(-rng.Uniform());
      // For every other sample.
      if (id % 2 == 0) step.entropies.push_back(3 * rng.Uniform());
      if (id % 2 == 0) step.confidences.push_back(9 * rng.Uniform());
    }
    if (id % 3 > 0) step.mean_entropy = rng.Uniform();
    for (size_t t = 0; id % 3 == 0 && t < 2 * step.tokens.size(); ++t) {
      step.alternatives.push_back(
          {static_cast<int32_t>(rng.Below(1000)), -rng.Uniform()});
    }
    if (id % 5 == 0) step.hidden = {rng.Uniform(), -rng.Uniform(), 0};
    if (id % 4 == 0) step.verdict = 0.25f;
    step.text = std::string(tree.text(id));
    LogEntry entry{.number = id, .fingerprint = rng.Next64()};
    entry.nodes = {tree[id].parent};
    entry.completion.number = id;
    entry.completion.samples.push_back(std::move(step));
    log.push_back(std::move(entry));
  }
  return log;
}

TEST(StoredTreeTest, WhatIsStoredComesBack) {
  RandomStream rng(StreamKey(1, 0, 0, Purpose::kTest));
  for (int round = 0; round < 50; ++round) {
    const Tree tree = RandomTree(rng, rng.Range(1, 200));
    std::vector<NodeVerdict> verdicts;
    for (uint32_t i = 0; i < tree.size(); ++i) {
      verdicts.push_back(static_cast<NodeVerdict>(rng.Below(3)));
    }
    const auto log = LogOf(tree, rng);
    const StoredTree stored = ToStored(tree, verdicts, log);
    const auto bytes = Compress(EncodeTree(stored));
    ASSERT_TRUE(bytes.ok());
    const auto back = DecodeTree(Decompress(*bytes).value());
    ASSERT_TRUE(back.ok()) << back.status();
    EXPECT_EQ(FirstDifference(stored, *back), "");
    for (NodeId id = 0; id < tree.size(); ++id) {
      EXPECT_EQ(back->nodes[id].verdict, verdicts[id]);
      EXPECT_EQ(static_cast<NodeId>(back->nodes[id].original),
                tree.step(id).original);
      EXPECT_EQ(back->Response(id), tree.Response(id));
    }
    // Every token has the log-prob of the sample that added it.
    for (const LogEntry& entry : log) {
      const auto& node = back->nodes[entry.number];
      for (uint32_t t = 0; t < node.num_tokens; ++t) {
        EXPECT_EQ(back->logprobs[node.token_begin + t],
                  entry.completion.samples[0].logprobs[t]);
        EXPECT_EQ(back->sampler_logprobs[node.token_begin + t],
                  entry.completion.samples[0].sampler_logprobs[t]);
      }
    }
  }
}

TEST(StoredTreeTest, ANodeTakesAtMost48BytesAndATokenAtMost8) {
  RandomStream rng(StreamKey(2, 0, 0, Purpose::kTest));
  const Tree tree = RandomTree(rng, 3000);
  StoredTree stored = ToStored(tree, {}, {});
  // Sampled from the model's own distribution, as all training data is.
  stored.logprobs.assign(stored.tokens.size(), -0.25f);
  stored.sampler_logprobs = stored.logprobs;
  const auto all = EncodeTree(stored).size() - stored.text.size();
  const size_t nodes = stored.nodes.size(), tokens = stored.tokens.size();
  stored.tokens.clear();
  stored.logprobs.clear();
  stored.sampler_logprobs.clear();
  const auto structure = EncodeTree(stored).size() - stored.text.size();
  EXPECT_LE(structure, 48 * nodes);
  EXPECT_LE(all - structure, 8 * tokens);
}

TEST(StoredTreeTest, LogEntriesComeBack) {
  RandomStream rng(StreamKey(3, 0, 0, Purpose::kTest));
  const Tree tree = RandomTree(rng, 40);
  std::vector<LogEntry> log = LogOf(tree, rng);
  log.push_back(
      {.number = 41, .kind = RequestKind::kEvaluate, .nodes = {1, 2}});
  log.back().completion.scores = {{0.5f, 0.25f}, {std::nanf(""), 1}};
  StepScores& spread = log.back().completion.scores[1];
  spread.spread_of(Level::kPath) = 0.125f;
  spread.spread_of(Level::kWindow4) = 0.25f;
  log.push_back({.number = 42, .kind = RequestKind::kVerify, .nodes = {3}});
  log.back().completion.correct = true;
  log.push_back({.number = 43, .stop_reason = "time limit of 3 s"});
  std::vector<std::string> encoded;
  for (const LogEntry& entry : log) encoded.push_back(EncodeEntry(entry));
  const auto back = DecodeLog(EncodeLog(encoded));
  ASSERT_TRUE(back.ok()) << back.status();
  ASSERT_EQ(back->size(), log.size());
  for (size_t i = 0; i < log.size(); ++i) {
    const LogEntry& a = log[i];
    const LogEntry& b = (*back)[i];
    EXPECT_EQ(a.number, b.number);
    EXPECT_EQ(a.kind, b.kind);
    EXPECT_EQ(a.fingerprint, b.fingerprint);
    EXPECT_EQ(a.nodes, b.nodes);
    EXPECT_EQ(a.stop_reason, b.stop_reason);
    EXPECT_EQ(a.completion.correct, b.completion.correct);
    ASSERT_EQ(a.completion.scores.size(), b.completion.scores.size());
    for (size_t k = 0; k < a.completion.scores.size(); ++k) {
      EXPECT_EQ(a.completion.scores[k].spread, b.completion.scores[k].spread);
    }
    ASSERT_EQ(a.completion.samples.size(), b.completion.samples.size());
    for (size_t k = 0; k < a.completion.samples.size(); ++k) {
      EXPECT_EQ(a.completion.samples[k].tokens, b.completion.samples[k].tokens);
      EXPECT_EQ(a.completion.samples[k].text, b.completion.samples[k].text);
      EXPECT_EQ(a.completion.samples[k].logprob,
                b.completion.samples[k].logprob);
      EXPECT_EQ(a.completion.samples[k].sampler_logprobs,
                b.completion.samples[k].sampler_logprobs);
      const float mean = a.completion.samples[k].mean_entropy;
      const float back_mean = b.completion.samples[k].mean_entropy;
      EXPECT_TRUE(mean == back_mean ||
                  (std::isnan(mean) && std::isnan(back_mean)));
      const float verdict = a.completion.samples[k].verdict;
      const float back_verdict = b.completion.samples[k].verdict;
      EXPECT_TRUE(verdict == back_verdict ||
                  (std::isnan(verdict) && std::isnan(back_verdict)));
      EXPECT_EQ(a.completion.samples[k].entropies,
                b.completion.samples[k].entropies);
      EXPECT_EQ(a.completion.samples[k].confidences,
                b.completion.samples[k].confidences);
      EXPECT_EQ(a.completion.samples[k].alternatives,
                b.completion.samples[k].alternatives);
      EXPECT_EQ(a.completion.samples[k].hidden, b.completion.samples[k].hidden);
    }
    ASSERT_EQ(a.completion.scores.size(), b.completion.scores.size());
  }
  EXPECT_TRUE(std::isnan((*back)[39].completion.scores[1].step));
}

// Damaged bytes are refused or read as some other tree; they never crash.
TEST(StoredTreeTest, DamagedBytesNeverCrash) {
  RandomStream rng(StreamKey(4, 0, 0, Purpose::kTest));
  const Tree tree = RandomTree(rng, 30);
  const auto log = LogOf(tree, rng);
  const std::string good = EncodeTree(ToStored(tree, {}, log));
  const std::string entry = EncodeEntry(log[3]);
  const std::string packed = Compress(good).value();
  int refused = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string bytes = round % 3 == 0 ? good : round % 3 == 1 ? entry : packed;
    for (int k = rng.Range(1, 4); k > 0; --k) {
      bytes[rng.Below(static_cast<uint32_t>(bytes.size()))] =
          static_cast<char>(rng.Range(0, 255));
    }
    if (rng.Below(4) == 0) {
      bytes.resize(rng.Below(static_cast<uint32_t>(bytes.size())));
    }
    if (round % 3 == 0) {
      const auto back = DecodeTree(bytes);
      refused += !back.ok();
      if (!back.ok()) continue;
      for (size_t i = 0; i < back->nodes.size(); ++i) back->Response(i);
    } else if (round % 3 == 1) {
      refused += !DecodeEntry(bytes).ok();
    } else {
      refused += !Decompress(bytes, 1 << 20).ok();
    }
  }
  EXPECT_GT(refused, 2000);
}

TEST(StoredTreeTest, ColumnsThatDisagreeAreNamed) {
  const auto back = DecodeTree("");
  EXPECT_EQ(back.status().code(), absl::StatusCode::kInvalidArgument);
  const auto log = Decompress("not zstd at all");
  EXPECT_EQ(log.status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(StoredTreeTest, ZerosKeepTheirSigns) {
  StoredTree tree;
  tree.nodes.push_back({.num_tokens = 1});
  tree.tokens = {7};
  tree.logprobs = {0.0f};
  tree.sampler_logprobs = {-0.0f};
  const auto back = DecodeTree(EncodeTree(tree));
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_TRUE(std::signbit(back->sampler_logprobs[0]));
}

// Servers do not tell them at most temperatures.
TEST(StoredTreeTest, SamplerLogprobsThatAreNotKnownStayUnknown) {
  Tree tree;
  const std::vector<int32_t> tokens = {7, 8};
  tree.Add(0, {.text = "ab", .tokens = tokens, .logprob = -3});
  LogEntry entry{.nodes = {0}};
  entry.completion.samples.push_back(
      {{.tokens = tokens, .logprobs = {-1, -2}}, "ab"});
  const auto back = DecodeEntry(EncodeEntry(entry));
  ASSERT_TRUE(back.ok()) << back.status();
  const StoredTree recorded = ToStored(tree, {}, {&entry, 1});
  const StoredTree replayed = ToStored(tree, {}, {&*back, 1});
  EXPECT_TRUE(std::isnan(recorded.sampler_logprobs[1]));
  EXPECT_EQ(FirstDifference(recorded, replayed), "");
  EXPECT_EQ(replayed.logprobs[1], -2);
}

TEST(StoredTreeTest, AShortBlobCannotClaimGigabytes) {
  // A frame with its size in 8 bytes, 2^30, and an empty last block.
  const std::string frame("\x28\xB5\x2F\xFD\xE0\0\0\0\x40\0\0\0\0\1\0\0", 16);
  EXPECT_EQ(Decompress(frame).status().message(),
            "a stored tree or log is damaged: it claims 1073741824 bytes");
  const std::string long_text(32 << 20, 'a');
  const auto packed = Compress(long_text);
  ASSERT_TRUE(packed.ok());
  EXPECT_EQ(Decompress(*packed).value(), long_text);
}

TEST(StoredTreeTest, AFingerprintTellsRequestsApart) {
  const SearchRequest base{.number = 1, .nodes = {4}, .max_tokens = 10};
  SearchRequest other = base;
  EXPECT_EQ(Fingerprint(base), Fingerprint(other));
  other.nodes = {5};
  EXPECT_NE(Fingerprint(base), Fingerprint(other));
  other = base;
  other.expand.temperature = 0.7f;
  EXPECT_NE(Fingerprint(base), Fingerprint(other));
  other = base;
  other.first_sample = 1;
  EXPECT_NE(Fingerprint(base), Fingerprint(other));
  other = base;
  other.stream = StreamKey(1, 2, 3, Purpose::kSample);
  EXPECT_NE(Fingerprint(base), Fingerprint(other));
}

}  // namespace
}  // namespace espalier
