// Replies are those of vLLM's and SGLang's documentation, shortened.
#include "models/remote/pooled_scores.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "base/random.h"
#include "nlohmann/json.hpp"

namespace espalier {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr int32_t kTag = 9;
const PooledHead kTwoScores{.format = "prm", .labels = 2, .tag = kTag};
const PooledHead kOneScore{.format = "rm", .labels = 1, .whole = true};
const PooledWay kTags{
    .path = "/pooling", .task = "token_classify", .rows = PooledRows::kPerTag};
const PooledWay kLast{.path = "/pooling", .task = "classify"};
const std::vector<int32_t> kText = {5, kTag, 6, 7, kTag};

std::string Pooling(const json& data) {
  return json{
      {"object", "list"},
      {"data",
       json::array({{{"index", 0}, {"object", "pooling"}, {"data", data}}})},
      {"usage", {{"prompt_tokens", 5}, {"total_tokens", 5}}}}
      .dump();
}

std::string MessageOf(const absl::Status& status) {
  return std::string(status.message());
}

TEST(PooledScores, RequestsSendIds) {
  const ServerFacts vllm{.kind = ServerKind::kVllm, .model = "prm"};
  PooledWay way = kTags;
  way.off = "use_activation";
  const DialectCall call = MakePooledCall(vllm, way, kText);
  EXPECT_EQ(call.path, "/pooling");
  EXPECT_EQ(json::parse(call.body), (json{{"model", "prm"},
                                          {"input", kText},
                                          {"task", "token_classify"},
                                          {"add_special_tokens", false},
                                          {"use_activation", false}}));
  const ServerFacts sglang{.kind = ServerKind::kSglang, .model = "prm"};
  const DialectCall other =
      MakePooledCall(sglang, {.path = "/classify"}, kText);
  EXPECT_EQ(other.path, "/classify");
  EXPECT_EQ(json::parse(other.body),
            (json{{"model", "prm"}, {"input_ids", kText}}));
}

TEST(PooledScores, RowsPerTagAreReadWhereTheirTagIs) {
  const auto reply =
      ReadPooledReply(Pooling({{0.25, 0.75}, {0.5, 0.5}}), kTags, 2);
  ASSERT_TRUE(reply.ok()) << reply.status();
  EXPECT_EQ(*RowsOf({*reply}, {kText}, kTwoScores), PooledRows::kPerTag);
  PooledWay way = kTags;
  EXPECT_THAT(*PooledLogits(*reply, way, kTwoScores, kText, 2),
              ElementsAre(0.25f, 0.75f));
  way.probabilities = true;
  EXPECT_THAT(*PooledLogits(*reply, way, kTwoScores, kText, 2),
              ElementsAre(std::log(0.25f), std::log(0.75f)));
  EXPECT_THAT(*PooledLogits(*reply, way, kTwoScores, kText, 5),
              ElementsAre(std::log(0.5f), std::log(0.5f)));
}

TEST(PooledScores, OneNumberIsOfTheWholeText) {
  for (const json& data : {json{-1.5}, json{{-1.5}}}) {
    const auto reply = ReadPooledReply(Pooling(data), kLast, 1);
    ASSERT_TRUE(reply.ok()) << reply.status();
    EXPECT_EQ(*RowsOf({*reply}, {kText}, kOneScore), PooledRows::kLast);
    EXPECT_THAT(*PooledLogits(*reply, kLast, kOneScore, kText, 5),
                ElementsAre(-1.5f));
  }
  const auto sglang = ReadPooledReply(
      R"({"embedding": [2.5], "meta_info": {"cached_tokens": 4}})",
      {.path = "/classify"}, 1);
  ASSERT_TRUE(sglang.ok()) << sglang.status();
  EXPECT_THAT(*PooledLogits(*sglang, kLast, kOneScore, kText, 5),
              ElementsAre(2.5f));
  EXPECT_EQ(sglang->cached_tokens, 4);
  const auto classify = ReadPooledReply(
      R"({"data": [{"index": 0, "label": "A", "probs": [0.5, 0.5]}]})",
      {.path = "/classify"}, 2);
  ASSERT_TRUE(classify.ok()) << classify.status();
  EXPECT_TRUE(MayBeProbabilities(*classify));
}

TEST(PooledScores, AListOfNumbersIsARowPerTokenOfOneOutput) {
  const auto reply = ReadPooledReply(Pooling({1, 2, 3, 4, 5}), kTags, 1);
  ASSERT_TRUE(reply.ok()) << reply.status();
  EXPECT_EQ(*RowsOf({*reply}, {kText}, kOneScore), PooledRows::kPerToken);
  const PooledWay way{.path = "/pooling", .rows = PooledRows::kPerToken};
  EXPECT_THAT(*PooledLogits(*reply, way, kOneScore, kText, 4),
              ElementsAre(4.0f));
}

TEST(PooledScores, CertainProbabilitiesAreInfiniteLogits) {
  const float infinity = std::numeric_limits<float>::infinity();
  PooledWay way = kLast;
  way.probabilities = true;
  EXPECT_THAT(*PooledLogits({.rows = {{1}}}, way, kOneScore, kText, 5),
              ElementsAre(infinity));
  EXPECT_THAT(*PooledLogits({.rows = {{0}}}, way, kOneScore, kText, 5),
              ElementsAre(-infinity));
  EXPECT_THAT(*PooledLogits({.rows = {{0, 1}}}, way, kTwoScores, kText, 5),
              ElementsAre(-infinity, 0.0f));
}

TEST(PooledScores, WhatDoesNotFitIsSaid) {
  const auto read = [](const json& data, int labels) {
    return MessageOf(ReadPooledReply(Pooling(data), kTags, labels).status());
  };
  EXPECT_THAT(read({{0.1, 0.2, 0.7}}, 2),
              HasSubstr("expected rows of 2 numbers, found 3"));
  EXPECT_THAT(read({{nullptr, 0.2}}, 2), HasSubstr("expected numbers"));
  EXPECT_THAT(read({{1e300, 0.2}}, 2), HasSubstr("finite"));
  EXPECT_THAT(read("AAAA", 2), HasSubstr("a list with numbers"));
  EXPECT_THAT(read(json::array(), 2), HasSubstr("a list with numbers"));
  EXPECT_THAT(read({{0.1, 0.2}, 3}, 2), HasSubstr("lists of numbers"));
  EXPECT_THAT(MessageOf(RowsOf({{.rows = {{1, 2}, {3, 4}, {5, 6}}}}, {kText},
                               kTwoScores)
                            .status()),
              HasSubstr("one row, 2 (one per tag 9) or 5 (one per token), "
                        "found 3"));
  EXPECT_THAT(
      MessageOf(PooledLogits({.rows = {{1, 2}}}, kTags, kTwoScores, kText, 5)
                    .status()),
      HasSubstr("expected 2 rows, one per tag, found 1"));
  EXPECT_THAT(MessageOf(PooledLogits({.rows = {{1, 2}, {3, 4}}}, kTags,
                                     kTwoScores, kText, 1)
                            .status()),
              HasSubstr("expected the tag 9"));
  PooledWay way = kLast;
  way.probabilities = true;
  EXPECT_THAT(
      MessageOf(PooledLogits({.rows = {{0.9, 0.9}}}, way, kTwoScores, kText, 5)
                    .status()),
      HasSubstr("expected probabilities"));
}

// Replies with bytes changed at random are read or refused.
TEST(PooledScores, BrokenRepliesAreRefused) {
  RandomStream random(StreamKey(5, 8, 0, Purpose::kTest));
  const std::string seeds[] = {
      Pooling({{0.25, 0.75}, {0.5, 0.5}}), Pooling({-1.5}),
      R"({"embedding": [2.5], "meta_info": {"cached_tokens": 4}})"};
  int read = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string body = seeds[i % 3];
    for (int n = random.Range(0, 3); n > 0; --n) {
      const auto at =
          static_cast<size_t>(random.Below(static_cast<uint32_t>(body.size())));
      body[at] = "0123456789.-eE[]{}\",: n"[random.Below(23)];
    }
    for (const PooledHead& head : {kOneScore, kTwoScores}) {
      PooledWay way = i % 2 == 0 ? kTags : kLast;
      way.probabilities = i % 5 == 0;
      const auto reply = ReadPooledReply(body, way, head.labels);
      if (!reply.ok()) continue;
      ++read;
      ASSERT_GE(reply->cached_tokens, 0);
      (void)RowsOf({*reply}, {kText}, head);
      const auto logits = PooledLogits(*reply, way, head, kText, 5);
      if (!logits.ok()) continue;
      ASSERT_EQ(logits->size(), static_cast<size_t>(head.labels));
      for (const float x : *logits) ASSERT_FALSE(std::isnan(x)) << body;
    }
  }
  EXPECT_GT(read, 1000);
}

}  // namespace
}  // namespace espalier
