#include "models/remote/choice_scores.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/json_text.h"
#include "base/parse_json.h"
#include "base/status_macros.h"
#include "models/remote/reply_fields.h"
#include "nlohmann/json.hpp"

namespace espalier {
namespace {

using nlohmann::json;

// Of probabilities that are rounded to bf16 before they are added.
constexpr double kSumSlack = 0.02;

// vLLM tells the first label's probability only. Of two, that is both's.
bool TellsOne(ServerKind kind) { return kind == ServerKind::kVllm; }
bool TwoOfOne(ServerKind kind, size_t choices, bool among) {
  return TellsOne(kind) && among && choices == 2;
}

absl::StatusOr<double> ProbabilityOf(const json& value, const char* field) {
  if (!value.is_number()) return WrongField(field, "a probability", value);
  const double p = value.get<double>();
  if (p >= 0 && p <= 1 + 1e-6) return std::min(p, 1.0);
  return absl::InvalidArgumentError(
      absl::StrCat("the server's reply, field ", field,
                   ": expected probabilities between 0 and 1, found ", p));
}

float LogOf(double p) { return static_cast<float>(std::log(p)); }

absl::Status WrongCount(const char* field, const char* of, size_t expected,
                        size_t found) {
  return absl::InvalidArgumentError(
      absl::StrCat("the server's reply, field ", field, ": expected ", expected,
                   ", one per ", of, ", found ", found));
}

absl::StatusOr<ChoiceReply> ReadFirst(const json& reply, ServerKind kind,
                                      const ChoiceCall& call) {
  ESP_ASSIGN_OR_RETURN(const json* data, ListField(reply, "data"));
  const size_t count = call.texts.size();
  if (data->size() != count) {
    return WrongCount("data", "text", count, data->size());
  }
  ChoiceReply out{.first = static_cast<size_t>(call.number)};
  out.logprobs.resize(count);
  for (const json& entry : *data) {
    const json& index = Field(entry, "index");
    const size_t at = index.is_number_unsigned() ? index.get<size_t>() : count;
    if (at >= count || !out.logprobs[at].empty()) {
      return absl::InvalidArgumentError(
          "the server's reply, field index: expected texts numbered from 0, "
          "each once");
    }
    ESP_ASSIGN_OR_RETURN(const double p,
                         ProbabilityOf(Field(entry, "score"), "score"));
    out.logprobs[at] = {LogOf(p)};
    if (TwoOfOne(kind, call.choices.size(), call.among)) {
      out.logprobs[at].push_back(LogOf(1 - p));
    }
  }
  return out;
}

absl::StatusOr<ChoiceReply> ReadAll(const json& reply, const ChoiceCall& call) {
  ESP_ASSIGN_OR_RETURN(const json* scores, ListField(reply, "scores"));
  if (scores->size() != call.texts.size()) {
    return WrongCount("scores", "text", call.texts.size(), scores->size());
  }
  ChoiceReply out;
  for (const json& row : *scores) {
    if (!row.is_array()) return WrongField("scores", "lists of numbers", row);
    if (row.size() != call.choices.size()) {
      return WrongCount("scores", "token", call.choices.size(), row.size());
    }
    double sum = 0;
    std::vector<float>& logprobs = out.logprobs.emplace_back();
    for (const json& value : row) {
      ESP_ASSIGN_OR_RETURN(const double p, ProbabilityOf(value, "scores"));
      sum += p;
      logprobs.push_back(LogOf(p));
    }
    if (sum > 1 + kSumSlack || (call.among && sum < 1 - kSumSlack)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "the server's reply, field scores: expected probabilities that add "
          "up to 1, found a sum of ",
          sum));
    }
  }
  return out;
}

}  // namespace

std::string ChoicePath(ServerKind kind) {
  return kind == ServerKind::kVllm     ? "/generative_scoring"
         : kind == ServerKind::kSglang ? "/v1/score"
                                       : "";
}

int ChoiceCalls(ServerKind kind, size_t choices, bool among) {
  return TellsOne(kind) && !TwoOfOne(kind, choices, among)
             ? static_cast<int>(choices)
             : 1;
}

size_t SharedLength(absl::Span<const std::vector<int32_t>> texts) {
  const std::vector<int32_t>& first = texts.front();
  size_t shared = first.size();
  for (const std::vector<int32_t>& text : texts) {
    const auto [end, unused] =
        std::mismatch(first.begin(), first.end(), text.begin(), text.end());
    const auto common = static_cast<size_t>(end - first.begin());
    shared = std::min({shared, common, text.size() - 1});
  }
  return shared;
}

DialectCall MakeChoiceCall(const ServerFacts& facts, const ChoiceCall& call) {
  const auto cut = static_cast<ptrdiff_t>(call.shared);
  json items = json::array();
  for (const std::vector<int32_t>& text : call.texts) {
    items.push_back(std::vector<int32_t>(text.begin() + cut, text.end()));
  }
  std::vector<int32_t> labels(call.choices.begin(), call.choices.end());
  std::rotate(labels.begin(), labels.begin() + call.number, labels.end());
  const std::vector<int32_t>& first = call.texts.front();
  const json body = {
      {"model", facts.model},
      {"query", std::vector<int32_t>(first.begin(), first.begin() + cut)},
      {"items", std::move(items)},
      {"label_token_ids", std::move(labels)},
      {"apply_softmax", call.among},
      {"item_first", false}};
  return {ChoicePath(facts.kind), JsonText(body)};
}

absl::StatusOr<ChoiceReply> ReadChoiceReply(const std::string& body,
                                            ServerKind kind,
                                            const ChoiceCall& call) {
  ESP_ASSIGN_OR_RETURN(const json reply, ParseJsonObject(body, "the reply"));
  return TellsOne(kind) ? ReadFirst(reply, kind, call) : ReadAll(reply, call);
}

}  // namespace espalier
