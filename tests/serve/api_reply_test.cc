#include "src/serve/api_reply.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "nlohmann/json.hpp"

namespace espalier {
namespace {

using Json = nlohmann::json;
using testing::ElementsAre;

SearchResult Result(std::vector<std::string> steps, bool ended = true) {
  SearchResult result{.configuration = "beam",
                      .answer = "5",
                      .score = 0.5f,
                      .stage = AnswerStage::kMethod,
                      .tokens = 600,
                      .response_tokens = 40,
                      .prompt_tokens = 20};
  for (const std::string& step : steps) {
    result.response += step;
    result.steps.push_back({.text = step});
  }
  result.steps.back().terminal = ended;
  return result;
}

ApiRequest Request(ApiKind kind) {
  return {.kind = kind,
          .model = "beam@600",
          .search = {.seed = 3},
          .include_usage = true,
          .ignored = {"temperature"}};
}

// The events of a stream; the last one is not JSON.
std::vector<Json> Events(const std::string& stream) {
  std::vector<Json> events;
  std::vector<std::string> parts = absl::StrSplit(stream, "\n\n");
  EXPECT_EQ(parts.back(), "");
  parts.pop_back();
  for (const std::string& part : parts) {
    EXPECT_EQ(part.substr(0, 6), "data: ");
    if (part == "data: [DONE]") {
      events.push_back("done");
    } else {
      events.push_back(Json::parse(part.substr(6)));
    }
  }
  return events;
}

TEST(ApiReply, CountsTheAnswerApartFromTheSearch) {
  const ApiReply reply(Request(ApiKind::kChat), 7, 1000);
  const Json json = Json::parse(reply.Whole(Result({"a\n", "b"})));
  EXPECT_EQ(json["object"], "chat.completion");
  EXPECT_EQ(json["id"], "chatcmpl-1000-7");
  EXPECT_EQ(json["model"], "beam@600");
  EXPECT_EQ(json["choices"][0]["message"]["content"], "a\nb");
  EXPECT_EQ(json["choices"][0]["finish_reason"], "stop");
  EXPECT_EQ(json["usage"]["prompt_tokens"], 20);
  EXPECT_EQ(json["usage"]["completion_tokens"], 40);
  EXPECT_EQ(json["usage"]["total_tokens"], 60);
  EXPECT_EQ(json["usage"]["search_tokens"], 600);
  EXPECT_EQ(json["search"]["answer"], "5");
  EXPECT_EQ(json["search"]["seed"], 3);
  EXPECT_EQ(json["search"]["ignored"], Json::array({"temperature"}));
  EXPECT_FALSE(json["search"].contains("tree"));
}

TEST(ApiReply, AnUnfinishedResponseHasReachedItsLength) {
  const ApiReply reply(Request(ApiKind::kCompletion), 7, 1000);
  const Json json = Json::parse(reply.Whole(Result({"a\n", "b"}, false)));
  EXPECT_EQ(json["object"], "text_completion");
  EXPECT_EQ(json["choices"][0]["text"], "a\nb");
  EXPECT_EQ(json["choices"][0]["finish_reason"], "length");
}

TEST(ApiReply, StreamsInOrder) {
  ApiReply reply(Request(ApiKind::kChat), 7, 1000);
  const SearchResult result = Result({"a\n", "b\n", "c"});
  std::string stream = reply.Start();
  stream += reply.Reasoning({{.text = "a\n"}});
  stream += reply.Rest(result);
  const std::vector<Json> events = Events(stream);
  ASSERT_EQ(events.size(), 8u);
  const auto delta = [&](size_t i) { return events[i]["choices"][0]["delta"]; };
  EXPECT_EQ(delta(0)["role"], "assistant");
  EXPECT_EQ(delta(1)["reasoning_content"], "a\n");
  EXPECT_EQ(delta(2)["content"], "a\n");
  EXPECT_EQ(delta(3)["content"], "b\n");
  EXPECT_EQ(delta(4)["content"], "c");
  EXPECT_EQ(delta(5), Json::object());
  EXPECT_EQ(events[5]["choices"][0]["finish_reason"], "stop");
  EXPECT_EQ(events[5]["search"]["answer"], "5");
  EXPECT_EQ(events[6]["choices"], Json::array());
  EXPECT_EQ(events[6]["usage"]["search_tokens"], 600);
  EXPECT_EQ(events[7], "done");
  for (size_t i = 0; i < 7; ++i) {
    EXPECT_EQ(events[i]["object"], "chat.completion.chunk");
    EXPECT_EQ(events[i]["id"], "chatcmpl-1000-7");
  }
}

TEST(ApiReply, ReasoningFollowsTheBestPath) {
  ApiReply reply(Request(ApiKind::kChat), 7, 1000);
  const auto shown = [&](const std::vector<std::string>& steps) {
    std::vector<TreeNode> nodes;
    for (const std::string& step : steps) nodes.push_back({.text = step});
    const std::string event = reply.Reasoning(nodes);
    if (event.empty()) return std::string();
    const Json json = Events(event)[0];
    return json["choices"][0]["delta"]["reasoning_content"].get<std::string>();
  };
  EXPECT_EQ(shown({}), "");
  EXPECT_EQ(shown({"a\n", "b\n"}), "a\nb\n");
  EXPECT_EQ(shown({"a\n", "b\n"}), "");
  EXPECT_EQ(shown({"a\n"}), "");
  EXPECT_EQ(shown({"a\n", "b\n", "c\n"}), "c\n");
  EXPECT_EQ(shown({"a\n", "x\n"}), "\n(another path from step 2 on)\nx\n");
  EXPECT_EQ(shown({"y"}), "\n(another path from step 1 on)\ny");
}

ApiRequest WithStops(ApiKind kind, std::vector<std::string> stops) {
  ApiRequest request = Request(kind);
  request.stops = std::move(stops);
  return request;
}

TEST(ApiReply, AStopAcrossStepsCutsTheResponse) {
  const SearchResult result = Result({"a 3\n", "b 4\n", "c 5\n"}, false);
  for (const ApiKind kind : {ApiKind::kChat, ApiKind::kCompletion}) {
    const bool chat = kind == ApiKind::kChat;
    const ApiReply reply(WithStops(kind, {"never", "3\nb"}), 7, 1000);
    const Json whole = Json::parse(reply.Whole(result))["choices"][0];
    EXPECT_EQ(chat ? whole["message"]["content"] : whole["text"], "a ");
    EXPECT_EQ(whole["finish_reason"], "stop");
    std::string streamed;
    Json last;
    for (const Json& event : Events(reply.Rest(result))) {
      if (!event.is_object() || event["choices"].empty()) continue;
      last = event["choices"][0];
      streamed += chat ? last["delta"].value("content", "")
                       : last["text"].get<std::string>();
    }
    EXPECT_EQ(streamed, "a ");
    EXPECT_EQ(last["finish_reason"], "stop");
  }
}

TEST(ApiReply, ReasoningHoldsBackWhatMayBecomeAStop) {
  ApiReply reply(WithStops(ApiKind::kChat, {"\n\nQ", "3\nb 9"}), 7, 1000);
  const auto shown = [&](const std::vector<std::string>& steps,
                         bool ended = false) {
    std::vector<TreeNode> nodes;
    for (const std::string& step : steps) nodes.push_back({.text = step});
    nodes.back().terminal = ended;
    const std::string event = reply.Reasoning(nodes);
    if (event.empty()) return std::string();
    const Json json = Events(event)[0];
    return json["choices"][0]["delta"]["reasoning_content"].get<std::string>();
  };
  EXPECT_EQ(shown({"a 3\n"}), "a ");
  EXPECT_EQ(shown({"a 3\n"}), "");
  EXPECT_EQ(shown({"a 3\n", "b 4\n"}), "3\nb 4");
  EXPECT_EQ(shown({"a 3\n", "b 4\n", "\n"}), "");
  EXPECT_EQ(shown({"a 3\n", "b 4\n", "\n", "Q: 7\n"}), "");
  EXPECT_EQ(shown({"a 3\n", "b 4\n", "\n", "R"}), "\n\nR");
  EXPECT_EQ(shown({"a 3\n", "b 9\n"}), "\n(another path from step 1 on)\na ");
  EXPECT_EQ(shown({"x\n"}), "\n(another path from step 1 on)\nx");
  EXPECT_EQ(shown({"x\n"}, /*ended=*/true), "\n");
}

TEST(ApiReply, PiecesDoNotSplitCharacters) {
  const auto pieces = [](const std::string& text,
                         const std::vector<std::string>& steps) {
    std::vector<TreeNode> nodes;
    for (const std::string& step : steps) nodes.push_back({.text = step});
    std::vector<std::string> out;
    for (const std::string_view piece : PiecesOf(text, nodes)) {
      out.emplace_back(piece);
    }
    return out;
  };
  EXPECT_THAT(pieces("ab", {"a", "b"}), ElementsAre("a", "b"));
  EXPECT_THAT(pieces("a\xc3\xa9z", {"a\xc3", "\xa9", "z"}),
              ElementsAre("a\xc3\xa9", "z"));
  EXPECT_THAT(pieces("abc", {"a"}), ElementsAre("a", "bc"));
  EXPECT_THAT(pieces("a", {"a", "bc"}), ElementsAre("a"));
  EXPECT_THAT(pieces("", {"a"}), ElementsAre());
  EXPECT_THAT(pieces("\xa9\xa9", {"\xa9", "\xa9"}), ElementsAre("\xa9\xa9"));
}

TEST(ApiReply, BytesThatAreNotTextAreReplaced) {
  const ApiReply reply(Request(ApiKind::kChat), 7, 1000);
  const SearchResult result = Result({"a\xff", "\x80\xc3"});
  const Json whole = Json::parse(reply.Whole(result));
  std::string joined;
  for (const Json& event : Events(reply.Rest(result))) {
    if (!event.is_object() || event["choices"].empty()) continue;
    joined += event["choices"][0]["delta"].value("content", "");
  }
  EXPECT_EQ(joined, whole["choices"][0]["message"]["content"]);
}

}  // namespace
}  // namespace espalier
