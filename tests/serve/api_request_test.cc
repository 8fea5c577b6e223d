#include "src/serve/api_request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "search/algorithm.h"
#include "src/serve/api_error.h"

namespace espalier {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const ApiDefaults& Defaults() {
  static const ApiDefaults defaults{.model = "stories",
                                    .search = {.method = "majority", .seed = 5},
                                    .budget = {.tokens = 300},
                                    .max_budget = 5000,
                                    .methods = {"beam", "majority"}};
  return defaults;
}

// A chat with further fields, as `"n": 1`.
absl::StatusOr<ApiRequest> Chat(const std::string& fields,
                                const std::string& path = "") {
  return ReadApiRequest(
      ApiKind::kChat, path,
      absl::StrCat(R"({"messages":[{"role":"user","content":"hi"}])",
                   fields.empty() ? "" : ",", fields, "}"),
      Defaults());
}

std::string ErrorOf(const std::string& fields, int status,
                    const std::string& path = "") {
  const auto read = Chat(fields, path);
  EXPECT_FALSE(read.ok()) << fields;
  if (read.ok()) return "";
  EXPECT_EQ(HttpStatus(read.status()), status) << read.status();
  return ErrorJson(read.status());
}

TEST(ApiRequest, TakesTheServersDefaults) {
  const auto read = Chat("");
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->model, "stories");
  EXPECT_EQ(read->search.method, "majority");
  EXPECT_EQ(read->search.max_tokens, 300);
  EXPECT_EQ(read->search.max_response_tokens, 0);
  EXPECT_EQ(read->search.seed, 5u);
  EXPECT_FALSE(read->stream);
}

TEST(ApiRequest, ReadsMethodAndBudgetFromTheModelsName) {
  const struct {
    const char* model;
    const char* method;
    int64_t tokens;
  } kCases[] = {
      {"stories", "majority", 300},
      {"espalier", "majority", 300},
      {"beam", "beam", 300},
      {"beam@2000", "beam", 2000},
      {"beam@4x", "beam", 40},
      {"beam@2.5x", "beam", 25},
      {"beam:width=2:branch=3@600", "beam:width=2:branch=3", 600},
      {"stories/beam@600", "beam", 600},
      {"espalier/beam@600", "beam", 600},
      {"stories@700", "majority", 700},
      {"auto@700", "greedy", 700},
      {"preset=rest_mcts_star@600", "preset=rest_mcts_star", 600},
  };
  for (const auto& one : kCases) {
    const auto read =
        Chat(absl::StrCat(R"("max_tokens":10,"model":")", one.model, "\""));
    ASSERT_TRUE(read.ok()) << one.model << ": " << read.status();
    EXPECT_EQ(read->model, one.model);
    EXPECT_EQ(read->search.method, one.method) << one.model;
    EXPECT_EQ(read->search.max_tokens, one.tokens) << one.model;
    EXPECT_EQ(read->search.max_response_tokens, 10);
  }
}

TEST(ApiRequest, ThePathComesBeforeTheSearchFieldAndThatBeforeTheModel) {
  auto read = Chat(R"("model":"beam@100","search":{"method":"puct"})");
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->search.method, "puct");
  EXPECT_EQ(read->search.max_tokens, 100);
  read = Chat(R"("model":"beam@100","search":{"method":"puct@50"})", "greedy");
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->search.method, "greedy");
  EXPECT_EQ(read->search.max_tokens, 50);
  read = Chat(R"("model":"beam","search":{"budget":"3x"},"max_tokens":20)",
              "greedy@70");
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->search.max_tokens, 70);
}

TEST(ApiRequest, ReadsEveryFieldOfSearch) {
  const auto read = Chat(R"("search":{"method":"beam","budget":400,
      "max_model_calls":7,"max_simulations":8,"max_nodes":9,"max_seconds":1.5,
      "max_verdict_tokens":11,"response_tokens":12,"top_k":13,"min_p":0.25,
      "tree":true},"top_p":0.5,"seed":-1,"stop":["a","b"],"stream":true,
      "stream_options":{"include_usage":true},"max_completion_tokens":99)");
  ASSERT_TRUE(read.ok()) << read.status();
  const SearchOptions& search = read->search;
  EXPECT_EQ(search.max_tokens, 400);
  EXPECT_EQ(search.max_model_calls, 7);
  EXPECT_EQ(search.max_simulations, 8);
  EXPECT_EQ(search.max_nodes, 9);
  EXPECT_EQ(search.max_seconds, 1.5);
  EXPECT_EQ(search.max_verdict_tokens, 11);
  EXPECT_EQ(search.response_tokens, 12);
  EXPECT_EQ(search.top_k, 13);
  EXPECT_FLOAT_EQ(search.min_p, 0.25f);
  EXPECT_FLOAT_EQ(search.top_p, 0.5f);
  EXPECT_TRUE(search.keep_tree && read->tree);
  EXPECT_EQ(search.seed, ~uint64_t{0});
  EXPECT_EQ(search.max_response_tokens, 99);
  EXPECT_THAT(read->stops, ElementsAre("a", "b"));
  EXPECT_TRUE(read->stream && read->include_usage);
}

TEST(ApiRequest, GivesTheTemperatureToMethodsThatHaveOne) {
  auto read = Chat(R"("model":"beam@100","temperature":0.5)");
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->search.method, "beam:temperature=0.5");
  EXPECT_TRUE(read->ignored.empty());
  read = Chat(R"("model":"beam:temperature=0.9","temperature":0.5)");
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->search.method, "beam:temperature=0.9");
  EXPECT_THAT(read->ignored, ElementsAre("temperature"));
  read = Chat(R"("model":"greedy","temperature":0.5)");
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->search.method, "greedy");
  EXPECT_THAT(read->ignored, ElementsAre("temperature"));
  ApiDefaults rewarded = Defaults();
  rewarded.has_reward = true;
  read = ReadApiRequest(ApiKind::kCompletion, "",
                        R"({"prompt":"a","model":"auto","temperature":0.5})",
                        rewarded);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->search.method, "guided:temperature=0.5");
}

// Clients whose numbers are all floats send them.
TEST(ApiRequest, WholeNumbersMayBeWrittenAsFloats) {
  const ApiRequest request = Chat(R"("n":1.0,"max_tokens":32.0,"seed":-3e2,)"
                                  R"("search":{"max_nodes":9.0,"top_k":0.0})")
                                 .value();
  EXPECT_EQ(request.search.max_response_tokens, 32);
  EXPECT_EQ(static_cast<int64_t>(request.search.seed), -300);
  EXPECT_EQ(request.search.max_nodes, 9);
  for (const char* fields :
       {R"("n":1.5)", R"("n":2.0)", R"("seed":1e300)", R"("seed":2e16)"}) {
    EXPECT_EQ(HttpStatus(Chat(fields).status()), 400) << fields;
  }
}

TEST(ApiRequest, NullIsAbsentAndUnknownFieldsAreIgnored) {
  const auto read = Chat(
      R"("model":null,"max_tokens":null,"seed":null,"stop":null,"n":1,
      "tools":[],"user":"me","logprobs":false,"logit_bias":{},
      "response_format":{"type":"text"},"presence_penalty":0,"search":null)");
  EXPECT_TRUE(read.ok()) << read.status();
}

TEST(ApiRequest, RefusesWhatItDoesNotDo) {
  for (const char* field : {R"("n":2)",
                            R"("tools":[{}])",
                            R"("functions":[{}])",
                            R"("logprobs":true)",
                            R"("top_logprobs":2)",
                            R"("logit_bias":{"5":1})",
                            R"("presence_penalty":0.5)",
                            R"("frequency_penalty":-1)",
                            R"("response_format":{"type":"json_object"})",
                            R"("max_tokens":0)",
                            R"("max_tokens":-1)",
                            R"("max_tokens":1.5)",
                            R"("max_tokens":"9")",
                            R"("max_tokens":18446744073709551615)",
                            R"("top_p":0)",
                            R"("top_p":2)",
                            R"("temperature":-1)",
                            R"("temperature":"hot")",
                            R"("temperature":3)",
                            R"("seed":0.5)",
                            R"("seed":"x")",
                            R"("stop":"")",
                            R"("stop":[1])",
                            R"("stop":{})",
                            R"("stop":["a","b","c","d","e"])",
                            R"("stream":1)",
                            R"("stream_options":7)",
                            R"("model":7)",
                            R"("search":7)",
                            R"("search":{"budget":0})",
                            R"("search":{"budget":-4})",
                            R"("search":{"budget":1.5})",
                            R"("search":{"max_nodes":-1})",
                            R"("search":{"tree":1})",
                            R"("search":{"method":7})",
                            R"("model":"beam@0")",
                            R"("model":"beam@")",
                            R"("model":"beam@x")",
                            R"("model":"beam@-3x")",
                            R"("model":"beam@nanx")",
                            R"("model":"beam@5001")",
                            R"("model":"beam@4x")",
                            R"("model":"beam:width=-3")",
                            R"("model":"beam@ 300")",
                            R"("model":"beam:width=257")",
                            R"("model":"preset=rest_mcts_star:branch=257")"}) {
    const std::string error = ErrorOf(field, 400);
    EXPECT_THAT(error, HasSubstr("invalid_request_error")) << field;
  }
  EXPECT_THAT(ErrorOf(R"("model":"beam@4x")", 400), HasSubstr("max_tokens"));
  EXPECT_THAT(ErrorOf(R"("search":{"bugdet":5})", 400),
              HasSubstr("max_model_calls"));
}

TEST(ApiRequest, NamesTheNearestMethodOrModel) {
  for (const char* name : {"bem@600", "bem:width=2"}) {
    const std::string error =
        ErrorOf(absl::StrCat(R"("model":")", name, "\""), 404);
    EXPECT_THAT(error, HasSubstr("model_not_found"));
    EXPECT_THAT(error, HasSubstr("did you mean \\\"beam\\\""));
  }
  EXPECT_THAT(ErrorOf(R"("model":"storys")", 404),
              HasSubstr("did you mean \\\"stories\\\""));
  const std::string error = ErrorOf(R"("model":"gpt-4o")", 404);
  EXPECT_THAT(error, HasSubstr("this server has stories"));
  EXPECT_THAT(ErrorOf(R"("search":{"method":"bem"})", 400),
              HasSubstr("did you mean \\\"beam\\\""));
  EXPECT_THAT(ErrorOf("", 404, "bem"), HasSubstr("did you mean \\\"beam\\\""));
}

TEST(ApiRequest, OptionsMayHaveTheirDefaults) {
  for (const AlgorithmInfo* info : ListAlgorithms()) {
    const auto algorithm = info->make({});
    ASSERT_TRUE(algorithm.ok()) << info->name;
    for (const OptionInfo& option : (*algorithm)->options()) {
      if (option.type != "int") continue;
      const std::string model =
          absl::StrCat(info->name, ":", option.name, "=", option.value);
      const auto read = Chat(absl::StrCat(R"("model":")", model, "\""));
      EXPECT_TRUE(read.ok()) << model << ": " << read.status();
    }
  }
}

TEST(ApiRequest, NumbersOfAnyLengthAreNotRepeated) {
  const std::string error =
      ErrorOf(R"("seed":)" + std::string(900000, '9'), 400);
  EXPECT_LT(error.size(), 500u);
}

TEST(ApiRequest, OverlongNamesAreRefusedUnread) {
  const std::string name(3000000, 'b');
  for (const std::string& model :
       {name, "preset=" + name, "beam:" + name, "stories/" + name}) {
    EXPECT_LT(ErrorOf(absl::StrCat(R"("model":")", model, "\""), 400).size(),
              300u);
  }
  EXPECT_LT(ErrorOf("", 400, name).size(), 300u);
}

TEST(ApiRequest, SaysWhereABudgetThatIsTooLargeCameFrom) {
  EXPECT_THAT(ErrorOf(R"("model":"beam@9999")", 400),
              HasSubstr(R"("param":"model")"));
  EXPECT_THAT(ErrorOf(R"("search":{"budget":9999})", 400),
              HasSubstr(R"("param":"search.budget")"));
  EXPECT_THAT(ErrorOf("", 400, "beam@9999"), HasSubstr(R"("param":"path")"));
}

absl::StatusOr<ApiRequest> Messages(const std::string& messages) {
  return ReadApiRequest(ApiKind::kChat, "",
                        absl::StrCat(R"({"messages":)", messages, "}"),
                        Defaults());
}

TEST(ApiRequest, ReadsConversations) {
  const auto read = Messages(
      R"([{"role":"developer","content":"be brief"},
          {"role":"user","content":[{"type":"text","text":"a"},
                                    {"type":"text","text":"b"}]},
          {"role":"assistant","content":"c"},
          {"role":"user","content":"d","name":"Ann"}])");
  ASSERT_TRUE(read.ok()) << read.status();
  ASSERT_EQ(read->messages.size(), 4u);
  EXPECT_EQ(read->messages[0].role, ChatRole::kSystem);
  EXPECT_EQ(read->messages[1].text, "ab");
  EXPECT_EQ(read->messages[2].role, ChatRole::kAssistant);
  EXPECT_EQ(read->messages[3].text, "d");
}

TEST(ApiRequest, RefusesOtherConversations) {
  for (const char* messages :
       {"[]", "{}", "7", "null", "[7]", "[[]]", R"([{"role":"user"},7])",
        R"([{"role":7,"content":"a"}])", R"([{"role":"tool","content":"a"}])",
        R"([{"role":"user","content":7}])",
        R"([{"role":"user","content":[{"type":"image_url"}]}])",
        R"([{"role":"user","content":[7]}])",
        R"([{"role":"assistant","content":"a"}])",
        R"([{"role":"user","content":"a"},{"role":"user","content":"b"}])",
        R"([{"role":"user","content":"a"},{"role":"assistant","content":"b"}])",
        R"([{"role":"user","content":"a"},{"role":"system","content":"b"}])",
        R"([{"role":"system","content":"a"}])"}) {
    const auto read = Messages(messages);
    ASSERT_FALSE(read.ok()) << messages;
    EXPECT_EQ(HttpStatus(read.status()), 400) << messages;
  }
}

TEST(ApiRequest, RefusesWhatIsNoObject) {
  for (const std::string& body :
       {std::string(), std::string("{"), std::string("[]"), std::string("7"),
        std::string("{\"a\":1,\"a\":2}"), std::string("{\"model\":\"\xff\"}"),
        std::string(100000, '['),
        std::string("{\"a\":") + std::string(100000, '[')}) {
    const auto read = ReadApiRequest(ApiKind::kChat, "", body, Defaults());
    ASSERT_FALSE(read.ok());
    EXPECT_EQ(HttpStatus(read.status()), 400);
    EXPECT_LT(ErrorJson(read.status()).size(), 500u);
  }
}

TEST(ApiRequest, ACompletionHasOnePrompt) {
  const auto read = [](const std::string& body) {
    return ReadApiRequest(ApiKind::kCompletion, "", body, Defaults());
  };
  const auto one = read(R"({"prompt":"Once","best_of":1,"model":"beam@50"})");
  ASSERT_TRUE(one.ok()) << one.status();
  EXPECT_EQ(one->prompt, "Once");
  for (const char* body :
       {R"({})", R"({"prompt":""})", R"({"prompt":["a"]})",
        R"({"prompt":[1,2]})", R"({"prompt":"a","best_of":3})",
        R"({"prompt":"a","echo":true})", R"({"prompt":"a","suffix":"b"})",
        R"({"prompt":"a","logprobs":1})"}) {
    EXPECT_EQ(HttpStatus(read(body).status()), 400) << body;
  }
}

}  // namespace
}  // namespace espalier
