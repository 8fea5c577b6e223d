// Requests and replies in the shapes of the servers' own documentation.
#include "models/remote/dialect.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "base/random.h"
#include "nlohmann/json.hpp"

namespace espalier {
namespace {

using nlohmann::json;

const std::vector<int32_t> kPrompt = {5, 7, 9};

std::unique_ptr<Dialect> Of(ServerKind kind) {
  return MakeDialect({.kind = kind,
                      .model = "m",
                      .context_length = 100,
                      .vocab_size = 12,
                      .plain_token = 3});
}

GenerationCall Call(int n, float temperature = 1) {
  return {.prompt = kPrompt,
          .n = n,
          .max_tokens = 8,
          .sampling = {.temperature = temperature, .top_k = 4},
          .stops = {"\n"},
          .seed = 17,
          .top = 2};
}

TEST(LlamaServerDialect, AsksForIdsAndPlainLogprobs) {
  const auto dialect = Of(ServerKind::kLlamaServer);
  const DialectCall call = dialect->Generate(Call(1));
  EXPECT_EQ(call.path, "/completion");
  const json body = json::parse(call.body);
  EXPECT_EQ(body["prompt"], json({5, 7, 9}));
  EXPECT_EQ(body["n_predict"], 8);
  EXPECT_EQ(body["n_probs"], 2);
  EXPECT_EQ(body["post_sampling_probs"], false);
  EXPECT_EQ(body["return_tokens"], true);
  EXPECT_EQ(body["stop"], json::array({"\n"}));
  EXPECT_EQ(body["seed"], 17);
  EXPECT_EQ(body["samplers"][1], "temperature");
}

// The entries of a stop's tokens, and of tokens inside a character, are
// missing.
TEST(LlamaServerDialect, MatchesLogprobsWithTokensById) {
  const auto dialect = Of(ServerKind::kLlamaServer);
  const std::string reply = R"({"content":"ab","tokens":[4,4,6,2],
    "stop_type":"word","tokens_evaluated":30,"timings":{"prompt_n":10},
    "completion_probabilities":[
      {"id":4,"logprob":-0.5,"top_logprobs":[{"id":4,"logprob":-0.5},
                                            {"id":6,"logprob":-1.5}]},
      {"id":6,"logprob":-0.25,"top_logprobs":[]}]})";
  const auto read = dialect->ReadGeneration(reply, Call(1));
  ASSERT_TRUE(read.ok()) << read.status();
  ASSERT_EQ(read->samples.size(), 1u);
  const RemoteSample& sample = read->samples[0];
  EXPECT_EQ(sample.tokens, std::vector<int32_t>({4, 4, 6, 2}));
  EXPECT_EQ(sample.logprobs[0], -0.5f);
  EXPECT_TRUE(std::isnan(sample.logprobs[1]));
  EXPECT_EQ(sample.logprobs[2], -0.25f);
  EXPECT_TRUE(std::isnan(sample.logprobs[3]));
  EXPECT_EQ(sample.alternatives[0].size(), 2u);
  EXPECT_EQ(sample.finish, Finish::kStop);
  EXPECT_EQ(read->prompt_tokens, 30);
  EXPECT_EQ(read->cached_tokens, 20);
}

TEST(LlamaServerDialect, ReadsHowManyTokensWereCached) {
  const auto dialect = Of(ServerKind::kLlamaServer);
  const auto cached = [&dialect](const std::string& fields) {
    const auto read = dialect->ReadGeneration(
        R"({"tokens":[4],"tokens_evaluated":30,)" + fields + "}", Call(1));
    EXPECT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(read->prompt_tokens, 30);
    return read->cached_tokens;
  };
  EXPECT_EQ(cached(R"("tokens_cached":37,
                      "timings":{"cache_n":24,"prompt_n":6})"),
            24);
  EXPECT_EQ(cached(R"("timings":{"cache_n":24})"), 24);
  EXPECT_EQ(cached(R"("timings":{"prompt_n":6})"), 24);
  EXPECT_EQ(cached(R"("tokens_cached":37)"), 0);
}

TEST(LlamaServerDialect, ScoresAGivenTokenByABias) {
  const auto dialect = Of(ServerKind::kLlamaServer);
  const ScoreCall call = {.text = kPrompt, .from = 2};
  const json body = json::parse(dialect->Score(call).body);
  EXPECT_EQ(body["prompt"], json({5, 7}));
  EXPECT_EQ(body["logit_bias"][0][0], 9);
  EXPECT_EQ(body["n_predict"], 1);
  const auto read = dialect->ReadScore(
      R"({"tokens":[9],"completion_probabilities":[{"id":9,"logprob":-3,
          "top_logprobs":[{"id":1,"logprob":-0.1}]}]})",
      call);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->logprobs, std::vector<float>({-3}));
  EXPECT_EQ(read->greedy, std::vector<bool>({false}));
  // A token inside a character has no entry; it is looked up a second time.
  const auto none = dialect->ReadScore(R"({"tokens":[9]})", call);
  ASSERT_TRUE(none.ok()) << none.status();
  EXPECT_TRUE(std::isnan(none->logprobs[0]));
  const ScoreCall again = {.text = kPrompt, .from = 2, .again = true};
  const json second = json::parse(dialect->Score(again).body);
  EXPECT_EQ(second["logit_bias"][0][0], 3);
  EXPECT_EQ(second["n_probs"], 12);
  const auto found = dialect->ReadScore(
      R"({"tokens":[3],"completion_probabilities":[{"id":3,"logprob":-1,
          "top_logprobs":[{"id":3,"logprob":-1},{"id":9,"logprob":-4}]}]})",
      again);
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_EQ(found->logprobs, std::vector<float>({-4}));
}

TEST(VllmDialect, ReadsChoicesInTheirOrder) {
  const auto dialect = Of(ServerKind::kVllm);
  const json body = json::parse(dialect->Generate(Call(2)).body);
  EXPECT_EQ(body["model"], "m");
  EXPECT_EQ(body["n"], 2);
  EXPECT_EQ(body["return_token_ids"], true);
  EXPECT_EQ(body["include_stop_str_in_output"], true);
  EXPECT_EQ(body["top_k"], 4);
  EXPECT_FALSE(body.contains("min_p"));
  const std::string reply = R"({"choices":[
    {"index":1,"text":"x","token_ids":[8],"finish_reason":"length",
     "logprobs":{"tokens":["token_id:8"],"token_logprobs":[-2.0],
                 "top_logprobs":[{"token_id:1":-0.5,"token_id:3":-0.5,
                                  "token_id:8":-2.0}]}},
    {"index":0,"text":"y\n","finish_reason":"stop","stop_reason":"\n",
     "logprobs":{"tokens":["token_id:4","token_id:2"],
                 "token_logprobs":[-0.125,-0.25],"top_logprobs":null}}],
    "usage":{"prompt_tokens":3,"prompt_tokens_details":{"cached_tokens":2}}})";
  const auto read = dialect->ReadGeneration(reply, Call(2));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->samples[0].tokens, std::vector<int32_t>({4, 2}));
  EXPECT_EQ(read->samples[0].finish, Finish::kStop);
  EXPECT_EQ(read->samples[1].tokens, std::vector<int32_t>({8}));
  EXPECT_EQ(read->samples[1].finish, Finish::kLength);
  // The two most likely, ties by lower id, without the sampled one.
  EXPECT_EQ(read->samples[1].alternatives[0],
            std::vector<TokenLogprob>({{1, -0.5f}, {3, -0.5f}}));
  EXPECT_EQ(read->cached_tokens, 2);
}

// Without --enable-prompt-tokens-details.
TEST(VllmDialect, TakesNothingForCachedThatIsNotTold) {
  const auto dialect = Of(ServerKind::kVllm);
  for (const char* details : {"null", "{}", R"({"cached_tokens":null})"}) {
    const auto read = dialect->ReadGeneration(
        R"({"choices":[{"index":0,"token_ids":[8],"finish_reason":"length",
            "logprobs":{"token_logprobs":[-2.0]}}],
            "usage":{"prompt_tokens":3,"prompt_tokens_details":)" +
            std::string(details) + "}}",
        Call(1));
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(read->prompt_tokens, 3);
    EXPECT_EQ(read->cached_tokens, 0);
  }
}

TEST(VllmDialect, ScoresTextsByPromptLogprobs) {
  const auto dialect = Of(ServerKind::kVllm);
  const ScoreCall call = {.text = kPrompt, .from = 1};
  EXPECT_EQ(json::parse(dialect->Score(call).body)["prompt_logprobs"], 1);
  const auto read = dialect->ReadScore(
      R"({"choices":[{"prompt_logprobs":[null,
          {"7":{"logprob":-1.5,"rank":4},"2":{"logprob":-0.5,"rank":1}},
          {"9":{"logprob":-0.25,"rank":1}}]}]})",
      call);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->logprobs, std::vector<float>({-1.5f, -0.25f}));
  EXPECT_EQ(read->greedy, std::vector<bool>({false, true}));
  // One token more keeps the prefix cache.
  const ScoreCall next = {.text = kPrompt, .from = 2};
  const json body = json::parse(dialect->Score(next).body);
  EXPECT_EQ(body["logit_bias"]["9"], 100);
  EXPECT_FALSE(body.contains("prompt_logprobs"));
}

TEST(SglangDialect, LeavesLogprobsOfOtherTemperaturesUnknown) {
  const auto dialect = Of(ServerKind::kSglang);
  const json body = json::parse(dialect->Generate(Call(2)).body);
  EXPECT_EQ(body["input_ids"], json({5, 7, 9}));
  EXPECT_EQ(body["sampling_params"]["no_stop_trim"], true);
  const std::string one = R"({"text":"a\n","meta_info":{"prompt_tokens":3,
    "cached_tokens":1,"finish_reason":{"type":"stop","matched":"\n"},
    "output_token_logprobs":[[-0.5,4,null],[-0.25,2,null]]}})";
  const std::string end = R"({"text":"a","meta_info":{"prompt_tokens":3,
    "finish_reason":{"type":"stop","matched":11},
    "output_token_logprobs":[[-0.5,11,null]]}})";
  const auto read =
      dialect->ReadGeneration("[" + one + "," + end + "]", Call(2));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->samples[0].tokens, std::vector<int32_t>({4, 2}));
  EXPECT_EQ(read->samples[0].logprobs, std::vector<float>({-0.5f, -0.25f}));
  EXPECT_EQ(read->samples[0].finish, Finish::kStop);
  EXPECT_EQ(read->samples[1].finish, Finish::kEnd);
  const auto usage = dialect->ReadGeneration(one, Call(1));
  ASSERT_TRUE(usage.ok()) << usage.status();
  EXPECT_EQ(usage->prompt_tokens, 3);
  EXPECT_EQ(usage->cached_tokens, 1);
  const auto warm = dialect->ReadGeneration(one, Call(1, 0.5f));
  ASSERT_TRUE(warm.ok()) << warm.status();
  EXPECT_TRUE(std::isnan(warm->samples[0].logprobs[0]));
  const auto score = dialect->ReadScore(
      R"({"meta_info":{"input_token_logprobs":[[null,5,null],[-2,7,null],
          [-1,9,null]],"input_top_logprobs":[null,[[-0.5,1,null]],
          [[-1,9,null]]]}})",
      {.text = kPrompt, .from = 1});
  ASSERT_TRUE(score.ok()) << score.status();
  EXPECT_EQ(score->logprobs, std::vector<float>({-2, -1}));
  EXPECT_EQ(score->greedy, std::vector<bool>({false, true}));
}

TEST(Dialects, WeightsAreNamedOnceInTheirOrder) {
  const auto weights = [](ServerKind kind, const std::string& reply, int n) {
    const auto read = Of(kind)->ReadGeneration(reply, Call(n));
    EXPECT_TRUE(read.ok()) << read.status();
    return read.ok() ? read->weights : std::vector<std::string>();
  };
  const std::vector<std::string> both = {"v7", "v8"};
  EXPECT_EQ(weights(ServerKind::kVllm,
                    R"({"choices":[
      {"index":0,"token_ids":[4,6],"finish_reason":"stop",
       "logprobs":{"token_logprobs":[-0.5,-1]},
       "weight_versions":[{"version":"v7","start":0,"end":1},
                          {"version":"v8","start":1,"end":2}]},
      {"index":1,"token_ids":[4],"finish_reason":"stop",
       "logprobs":{"token_logprobs":[-0.5]},
       "weight_versions":[{"version":"v7","start":0,"end":1}]}]})",
                    2),
            both);
  EXPECT_EQ(weights(ServerKind::kSglang,
                    R"({"meta_info":{"finish_reason":{"type":"length"},
      "output_token_logprobs":[[-0.5,4],[-1,6]],"weight_version":"v8",
      "weight_versions":[{"version":"v7","start":0,"end":1},
                         {"version":"v8","start":1,"end":2}]}})",
                    1),
            both);
  // What is not told, or not so, names none and is no error.
  for (const char* field :
       {R"("x":1)", R"("weight_versions":null)", R"("weight_versions":"v7")",
        R"("weight_versions":[])",
        R"("weight_versions":[null,7,{},{"version":7},{"version":""}])"}) {
    EXPECT_TRUE(weights(ServerKind::kVllm,
                        R"({"choices":[{"index":0,"token_ids":[4],
      "finish_reason":"stop","logprobs":{"token_logprobs":[-0.5]},)" +
                            std::string(field) + "}]}",
                        1)
                    .empty())
        << field;
  }
}

// They are sorted and summed.
TEST(Dialects, TheMostLikelyTokensHaveLogprobs) {
  const auto refuse = [](ServerKind kind, const std::string& reply) {
    const auto read = Of(kind)->ReadGeneration(reply, Call(1));
    ASSERT_FALSE(read.ok()) << reply;
    EXPECT_NE(read.status().message().find("expected a log-prob"),
              std::string::npos)
        << read.status();
  };
  refuse(ServerKind::kLlamaServer,
         R"({"tokens":[4],"completion_probabilities":[
             {"id":4,"logprob":-0.5,"top_logprobs":[{"id":4}]}]})");
  refuse(ServerKind::kVllm,
         R"({"choices":[{"index":0,"token_ids":[4],"finish_reason":"stop",
             "logprobs":{"token_logprobs":[-0.5],
                         "top_logprobs":[{"token_id:4":null}]}}]})");
  refuse(ServerKind::kSglang,
         R"({"meta_info":{"finish_reason":{"type":"stop","matched":"x"},
             "output_token_logprobs":[[-0.5,4]],
             "output_top_logprobs":[[[null,4]]]}})");
}

// What a server sends is not trusted: it gives an error or a value, whatever is
// cut, exchanged or of another type.
TEST(Dialects, DamagedRepliesGiveErrorsOrValues) {
  const std::string replies[] = {
      R"({"tokens":[4,2],"stop_type":"word","completion_probabilities":[
          {"id":4,"logprob":-0.5,"top_logprobs":[{"id":4,"logprob":-0.5}]}],
          "tokens_evaluated":3,"timings":{"prompt_n":1}})",
      R"({"choices":[{"index":0,"token_ids":[4],"finish_reason":"stop",
          "logprobs":{"token_logprobs":[-0.5],"top_logprobs":[{"token_id:4":-1}]},
          "prompt_logprobs":[null,{"7":{"logprob":-1,"rank":1}},
                             {"9":{"logprob":-2,"rank":2}}]}]})",
      R"({"meta_info":{"finish_reason":{"type":"stop","matched":"x"},
          "output_token_logprobs":[[-0.5,4,null]],
          "input_token_logprobs":[[null,5],[-1,7],[-2,9]],
          "output_top_logprobs":[[[-1,4]]]}})"};
  RandomStream rng(StreamKey(1, 2, 3, Purpose::kTest));
  const std::string parts[] = {
      "null",   "-1",  "[]", "{}", "\"\"", "1e999", "99999999999999999999",
      "[null]", "true"};
  for (const ServerKind kind :
       {ServerKind::kLlamaServer, ServerKind::kVllm, ServerKind::kSglang}) {
    const auto dialect = Of(kind);
    for (int i = 0; i < 3000; ++i) {
      std::string text = replies[rng.Below(3)];
      const size_t at = rng.Below(static_cast<uint32_t>(text.size()));
      const size_t count = rng.Below(12);
      switch (rng.Below(3)) {
        case 0:
          text.resize(at);
          break;
        case 1:
          text.replace(at, count, parts[rng.Below(9)]);
          break;
        default:
          text.erase(at, count);
      }
      const auto generated = dialect->ReadGeneration(text, Call(1));
      if (generated.ok()) {
        ASSERT_EQ(generated->samples.size(), 1u);
        const RemoteSample& sample = generated->samples[0];
        ASSERT_EQ(sample.logprobs.size(), sample.tokens.size());
        ASSERT_EQ(sample.alternatives.size(), sample.tokens.size());
      }
      for (const int from : {1, 2}) {
        const auto scored =
            dialect->ReadScore(text, {.text = kPrompt, .from = from});
        if (!scored.ok()) continue;
        ASSERT_EQ(scored->logprobs.size(), scored->greedy.size());
        ASSERT_EQ(scored->logprobs.size(), scored->alternatives.size());
      }
    }
  }
}

TEST(OpenAiDialect, SendsTextsAndOnlyWhatTheApiHas) {
  const auto dialect = Of(ServerKind::kOpenAi);
  EXPECT_TRUE(dialect->speaks_texts());
  GenerationCall call = Call(2);
  call.sampling = {.temperature = 0.5f};
  call.text = "1 + 1 =";
  call.stops = {"a", "b", "c", "d", "\n"};
  const json body = json::parse(dialect->Generate(call).body);
  EXPECT_EQ(body["prompt"], "1 + 1 =");
  EXPECT_EQ(body["n"], 2);
  EXPECT_EQ(body["stop"], json({"\n", "d", "c", "b"}));
  for (const char* name : {"top_k", "min_p", "repetition_penalty"}) {
    EXPECT_FALSE(body.contains(name)) << name;
  }
}

TEST(OpenAiDialect, ReadsWhatServersAdd) {
  const auto dialect = Of(ServerKind::kOpenAi);
  const auto text = [&](const std::string& fields) {
    const auto read = dialect->ReadGeneration(
        R"({"choices":[{"index":0,"text":"ab",)" + fields + "}]}", Call(1));
    EXPECT_TRUE(read.ok()) << read.status();
    return read.ok() ? read->samples[0].text : RemoteText();
  };
  const std::string told =
      R"("logprobs":{"tokens":["a","b"],"token_logprobs":[null,-2]},)";
  RemoteText one = text(told + R"("finish_reason":"length")");
  EXPECT_EQ(one.end, TextEnd::kLength);
  ASSERT_EQ(one.pieces.size(), 2u);
  EXPECT_EQ(one.pieces[0].logprob, 0);
  EXPECT_EQ(one.pieces[1].text, "b");
  EXPECT_EQ(one.pieces[1].logprob, -2);
  one = text(
      R"("logprobs":{"content":[{"token":"ab","logprob":-1}]},
         "finish_reason":"stop")");
  EXPECT_EQ(one.pieces[0].text, "ab");
  EXPECT_EQ(one.end, TextEnd::kUntold);
  one = text(told + R"("finish_reason":"stop","stop_reason":"\n")");
  EXPECT_EQ(one.end, TextEnd::kStop);
  EXPECT_EQ(one.stop, "\n");
  EXPECT_EQ(text(told + R"("finish_reason":"stop","matched_stop":7)").end,
            TextEnd::kEnd);
  EXPECT_EQ(text(told + R"("finish_reason":"stop_sequence")").end,
            TextEnd::kStop);
  EXPECT_EQ(text(told + R"("finish_reason":"eos_token")").end, TextEnd::kEnd);
}

TEST(OpenAiDialect, RefusesWhatItCannotRead) {
  const auto dialect = Of(ServerKind::kOpenAi);
  for (const char* fields : {R"("finish_reason":"stop","logprobs":null)",
                             R"("finish_reason":"tool_calls",
           "logprobs":{"tokens":["ab"],"token_logprobs":[-1]})",
                             R"("finish_reason":"stop",
           "logprobs":{"tokens":["ab"],"token_logprobs":[5]})",
                             R"("finish_reason":"stop",
           "logprobs":{"tokens":["ab"],"token_logprobs":[-1,-1]})",
                             R"("finish_reason":"stop",
           "logprobs":{"tokens":[7],"token_logprobs":[-1]})"}) {
    EXPECT_FALSE(dialect
                     ->ReadGeneration(R"({"choices":[{"index":0,"text":"ab",)" +
                                          std::string(fields) + "}]}",
                                      Call(1))
                     .ok())
        << fields;
  }
}

}  // namespace
}  // namespace espalier
