// Replies are those of vLLM's and SGLang's documentation, shortened.
#include "models/remote/choice_scores.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "nlohmann/json.hpp"

namespace espalier {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

const std::vector<std::vector<int32_t>> kTexts = {{5, 6, 7}, {5, 6, 8, 9}};
const std::vector<int32_t> kTwo = {10, 12};
const std::vector<int32_t> kOne = {10};

ChoiceCall Call(const std::vector<int32_t>& choices) {
  return {.texts = kTexts, .shared = SharedLength(kTexts), .choices = choices};
}

std::string Vllm(const json& first, const json& second) {
  return json{{"id", "generative-scoring-1"},
              {"object", "list"},
              {"model", "prm"},
              {"data",
               {{{"index", 0}, {"object", "score"}, {"score", first}},
                {{"index", 1}, {"object", "score"}, {"score", second}}}},
              {"usage", {{"prompt_tokens", 7}, {"completion_tokens", 2}}}}
      .dump();
}

std::string Sglang(const json& scores) {
  return json{{"scores", scores}, {"model", "prm"}, {"object", "scoring"}}
      .dump();
}

std::string Error(const std::string& body, ServerKind kind,
                  const ChoiceCall& call) {
  return std::string(ReadChoiceReply(body, kind, call).status().message());
}

TEST(ChoiceScores, RequestsSendTheSharedIdsOnce) {
  const ServerFacts vllm{.kind = ServerKind::kVllm, .model = "prm"};
  const DialectCall call = MakeChoiceCall(vllm, Call(kTwo));
  EXPECT_EQ(call.path, "/generative_scoring");
  EXPECT_EQ(json::parse(call.body), (json{{"model", "prm"},
                                          {"query", {5, 6}},
                                          {"items", {{7}, {8, 9}}},
                                          {"label_token_ids", {10, 12}},
                                          {"apply_softmax", true},
                                          {"item_first", false}}));
  const ServerFacts sglang{.kind = ServerKind::kSglang, .model = "prm"};
  const DialectCall other = MakeChoiceCall(sglang, Call(kOne));
  EXPECT_EQ(other.path, "/v1/score");
  EXPECT_EQ(json::parse(other.body)["apply_softmax"], false);
  EXPECT_EQ(ChoicePath(ServerKind::kLlamaServer), "");
}

TEST(ChoiceScores, SomethingOfEachTextIsLeftForItsItem) {
  EXPECT_EQ(SharedLength({{5, 6}, {5, 6}}), 1u);
  EXPECT_EQ(SharedLength({{5, 6}, {5, 6, 7}}), 1u);
  EXPECT_EQ(SharedLength({{4}, {4, 6}}), 0u);
  EXPECT_EQ(SharedLength({{4, 5}, {6, 5}}), 0u);
}

TEST(ChoiceScores, VllmTellsTheFirstOfTheLabels) {
  const auto two =
      ReadChoiceReply(Vllm(0.25, 1), ServerKind::kVllm, Call(kTwo));
  ASSERT_TRUE(two.ok()) << two.status();
  const float never = -std::numeric_limits<float>::infinity();
  EXPECT_THAT(*two, ElementsAre(ElementsAre(std::log(0.25f), std::log(0.75f)),
                                ElementsAre(0, never)));
  const auto one =
      ReadChoiceReply(Vllm(0.25, 0), ServerKind::kVllm, Call(kOne));
  ASSERT_TRUE(one.ok()) << one.status();
  EXPECT_THAT(*one,
              ElementsAre(ElementsAre(std::log(0.25f)), ElementsAre(never)));
}

TEST(ChoiceScores, VllmMayAnswerInAnyOrder) {
  const std::string body =
      R"({"data": [{"index": 1, "score": 0.5}, {"index": 0, "score": 1}]})";
  const auto reply = ReadChoiceReply(body, ServerKind::kVllm, Call(kOne));
  ASSERT_TRUE(reply.ok()) << reply.status();
  EXPECT_THAT(*reply, ElementsAre(ElementsAre(0), ElementsAre(std::log(0.5f))));
}

TEST(ChoiceScores, SglangTellsAllLabels) {
  const auto two = ReadChoiceReply(Sglang({{0.25, 0.75}, {1, 0}}),
                                   ServerKind::kSglang, Call(kTwo));
  ASSERT_TRUE(two.ok()) << two.status();
  const float never = -std::numeric_limits<float>::infinity();
  EXPECT_THAT(*two, ElementsAre(ElementsAre(std::log(0.25f), std::log(0.75f)),
                                ElementsAre(0, never)));
  // One among all tokens.
  const auto one = ReadChoiceReply(json{{"scores", {{0.25}, {0}}}}.dump(),
                                   ServerKind::kSglang, Call(kOne));
  ASSERT_TRUE(one.ok()) << one.status();
  EXPECT_THAT(*one,
              ElementsAre(ElementsAre(std::log(0.25f)), ElementsAre(never)));
}

TEST(ChoiceScores, WhatDoesNotFitIsSaid) {
  const auto vllm = [](const json& score) {
    return Error(Vllm(0.5, score), ServerKind::kVllm, Call(kTwo));
  };
  EXPECT_THAT(vllm(nullptr), HasSubstr("field score: expected a probability"));
  EXPECT_THAT(vllm("0.5"), HasSubstr("found a value of type string"));
  EXPECT_THAT(vllm(1.5), HasSubstr("between 0 and 1, found 1.5"));
  EXPECT_THAT(vllm(-0.1), HasSubstr("between 0 and 1"));
  EXPECT_THAT(Error(R"({"data": [{"index": 0, "score": NaN}]})",
                    ServerKind::kVllm, Call(kTwo)),
              HasSubstr("JSON"));
  EXPECT_THAT(Error(R"({"data": [{"index": 0, "score": 1}]})",
                    ServerKind::kVllm, Call(kTwo)),
              HasSubstr("field data: expected 2, one per text, found 1"));
  for (const json& index : {json(0), json(2), json(-1), json("1"), json()}) {
    json body = json::parse(Vllm(0.5, 0.5));
    body["data"][1]["index"] = index;
    EXPECT_THAT(Error(body.dump(), ServerKind::kVllm, Call(kTwo)),
                HasSubstr("each once"));
  }
  const auto sglang = [](const json& scores) {
    return Error(Sglang(scores), ServerKind::kSglang, Call(kTwo));
  };
  EXPECT_THAT(sglang({{0.5, 0.5}}), HasSubstr("expected 2, one per text"));
  EXPECT_THAT(sglang({{0.5, 0.5}, {1}}),
              HasSubstr("expected 2, one per token"));
  EXPECT_THAT(sglang({{0.5, 0.5}, nullptr}), HasSubstr("lists of numbers"));
  EXPECT_THAT(sglang({{0.5, 0.5}, {nullptr, 1}}), HasSubstr("a probability"));
  EXPECT_THAT(sglang({{0.5, 0.5}, {"a", 1}}), HasSubstr("a probability"));
  EXPECT_THAT(sglang({{0.5, 0.5}, {0.9, 0.9}}), HasSubstr("a sum of 1.8"));
  EXPECT_THAT(sglang({{0.5, 0.5}, {0.1, 0.1}}), HasSubstr("a sum of 0.2"));
  EXPECT_THAT(sglang("AAAA"), HasSubstr("expected a list"));
  EXPECT_THAT(Error("[]", ServerKind::kSglang, Call(kTwo)), HasSubstr("JSON"));
}

}  // namespace
}  // namespace espalier
