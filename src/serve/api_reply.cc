#include "src/serve/api_reply.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/json_text.h"
#include "base/text.h"
#include "base/utf8.h"
#include "nlohmann/json.hpp"
#include "src/serve/stop_strings.h"

namespace espalier {
namespace {

using Json = nlohmann::json;

Json Number(float value) {
  if (std::isnan(value)) return nullptr;
  return value;
}

Json UsageOf(const SearchResult& result) {
  return {{"prompt_tokens", result.prompt_tokens},
          {"completion_tokens", result.response_tokens},
          {"total_tokens", result.prompt_tokens + result.response_tokens},
          {"search_tokens", result.tokens}};
}

Json NodeJson(const TreeNode& node) {
  return {{"parent", node.parent},
          {"kind", node.kind},
          {"text", node.text},
          {"logprob", node.logprob},
          {"step_score", Number(node.step_score)},
          {"path_score", Number(node.path_score)},
          {"visits", node.visits},
          {"draws", node.draws},
          {"terminal", node.terminal}};
}

}  // namespace

ApiReply::ApiReply(const ApiRequest& request, uint64_t number, int64_t created)
    : chat_(request.kind == ApiKind::kChat),
      include_usage_(request.include_usage),
      tree_(request.tree),
      id_(absl::StrFormat("%s-%d-%d", chat_ ? "chatcmpl" : "cmpl", created,
                          number)),
      model_(request.model),
      created_(created),
      seed_(request.search.seed),
      ignored_(request.ignored),
      stops_(request.stops) {}

std::string_view ApiReply::Response(const SearchResult& result) const {
  return BeforeStop(result.response, stops_);
}

const char* ApiReply::FinishReason(const SearchResult& result) const {
  const bool ended = !result.steps.empty() && result.steps.back().terminal;
  const bool cut = Response(result).size() < result.response.size();
  return ended || cut ? "stop" : "length";
}

Json ApiReply::Head(bool chunk) const {
  const char* object = !chat_  ? "text_completion"
                       : chunk ? "chat.completion.chunk"
                               : "chat.completion";
  return {{"id", id_},
          {"object", object},
          {"created", created_},
          {"model", model_}};
}

Json ApiReply::Search(const SearchResult& result) const {
  Json search = {{"configuration", result.configuration},
                 {"answer", result.answer},
                 {"score", Number(result.score)},
                 {"stage", AnswerStageName(result.stage)},
                 {"stop_reason", result.stop_reason},
                 {"model_calls", result.model_calls},
                 {"simulations", result.simulations},
                 {"nodes", result.nodes},
                 {"reward_tokens", result.reward_tokens},
                 {"verdict_tokens", result.verdict_tokens},
                 {"speculated_tokens", result.speculated_tokens},
                 {"seconds", result.seconds},
                 {"seed", static_cast<int64_t>(seed_)},
                 {"ignored", ignored_}};
  if (tree_) {
    Json& tree = search["tree"] = Json::array();
    for (const TreeNode& node : result.tree) tree.push_back(NodeJson(node));
  }
  return search;
}

std::string ApiReply::Whole(const SearchResult& result) const {
  Json choice = {{"index", 0},
                 {"logprobs", nullptr},
                 {"finish_reason", FinishReason(result)}};
  if (chat_) {
    choice["message"] = {{"role", "assistant"}, {"content", Response(result)}};
  } else {
    choice["text"] = Response(result);
  }
  Json reply = Head(/*chunk=*/false);
  reply["choices"] = Json::array({std::move(choice)});
  reply["usage"] = UsageOf(result);
  reply["search"] = Search(result);
  return JsonText(reply);
}

std::string ApiReply::Delta(Json delta) const {
  Json chunk = Head(/*chunk=*/true);
  chunk["choices"] = Json::array({{{"index", 0},
                                   {"delta", std::move(delta)},
                                   {"logprobs", nullptr},
                                   {"finish_reason", nullptr}}});
  return Event(JsonText(chunk));
}

std::string ApiReply::Start() const {
  if (!chat_) return "";
  return Delta({{"role", "assistant"}, {"content", ""}});
}

std::string ApiReply::Reasoning(const std::vector<TreeNode>& steps) {
  if (!chat_) return "";
  std::string path;
  for (const TreeNode& step : steps) path += step.text;
  std::string_view left = BeforeStop(path, stops_);
  const bool ended =
      left.size() < path.size() || (!steps.empty() && steps.back().terminal);
  if (!ended) left.remove_suffix(MayBecomeStop(left, stops_));
  const bool held_back = left.size() < path.size();
  std::vector<std::string_view> visible;
  for (const TreeNode& step : steps) {
    if (left.empty()) break;
    visible.push_back(left.substr(0, step.text.size()));
    left.remove_prefix(visible.back().size());
  }

  size_t same = 0;
  while (same < std::min(shown_.size(), visible.size()) &&
         shown_[same] == visible[same]) {
    ++same;
  }
  if (same == visible.size()) return "";  // nothing beyond what was shown
  std::string text;
  size_t begin = 0;  // of the first step to show
  if (same + 1 == shown_.size() && held_back_ &&
      visible[same].starts_with(shown_[same])) {
    begin = shown_[same].size();
  } else if (same < shown_.size()) {
    text = absl::StrCat("\n(another path from step ", same + 1, " on)\n");
  }
  shown_.resize(same);
  for (size_t i = same; i < visible.size(); ++i) {
    shown_.emplace_back(visible[i]);
    text += visible[i].substr(i == same ? begin : 0);
  }
  held_back_ = held_back;
  return Delta({{"reasoning_content", text}});
}

std::string ApiReply::Rest(const SearchResult& result) const {
  std::string out;
  for (const std::string_view piece :
       PiecesOf(Response(result), result.steps)) {
    if (chat_) {
      out += Delta({{"content", piece}});
      continue;
    }
    Json chunk = Head(/*chunk=*/true);
    chunk["choices"] = Json::array({{{"index", 0},
                                     {"text", piece},
                                     {"logprobs", nullptr},
                                     {"finish_reason", nullptr}}});
    out += Event(JsonText(chunk));
  }
  Json last = Head(/*chunk=*/true);
  Json choice = {{"index", 0},
                 {"logprobs", nullptr},
                 {"finish_reason", FinishReason(result)}};
  if (chat_) {
    choice["delta"] = Json::object();
  } else {
    choice["text"] = "";
  }
  last["choices"] = Json::array({std::move(choice)});
  last["search"] = Search(result);
  out += Event(JsonText(last));
  if (include_usage_) {
    Json usage = Head(/*chunk=*/true);
    usage["choices"] = Json::array();
    usage["usage"] = UsageOf(result);
    out += Event(JsonText(usage));
  }
  return out + Event("[DONE]");
}

std::string Event(const std::string& data) {
  return absl::StrCat("data: ", data, "\n\n");
}

std::vector<std::string_view> PiecesOf(std::string_view text,
                                       const std::vector<TreeNode>& steps) {
  std::vector<std::string_view> pieces;
  size_t begin = 0, end = 0;
  const auto cut = [&](size_t at) {
    // A character may be spelt by the tokens of two steps.
    at = NextUtf8Boundary(text, at);
    if (at <= begin) return;
    pieces.push_back(text.substr(begin, at - begin));
    begin = at;
  };
  for (const TreeNode& step : steps) {
    end = std::min(text.size(), end + step.text.size());
    cut(end);
  }
  cut(text.size());
  return pieces;
}

}  // namespace espalier
