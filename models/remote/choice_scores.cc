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

// The first choice's, which tells those of two.
absl::StatusOr<ChoiceLogprobs> ReadFirst(const json& reply,
                                         const ChoiceCall& call) {
  ESP_ASSIGN_OR_RETURN(const json* data, ListField(reply, "data"));
  const size_t count = call.texts.size();
  if (data->size() != count) {
    return WrongCount("data", "text", count, data->size());
  }
  ChoiceLogprobs out(count);
  for (const json& entry : *data) {
    const json& index = Field(entry, "index");
    const size_t at = index.is_number_unsigned() ? index.get<size_t>() : count;
    if (at >= count || !out[at].empty()) {
      return absl::InvalidArgumentError(
          "the server's reply, field index: expected texts numbered from 0, "
          "each once");
    }
    ESP_ASSIGN_OR_RETURN(const double p,
                         ProbabilityOf(Field(entry, "score"), "score"));
    out[at] = {LogOf(p)};
    if (call.among()) out[at].push_back(LogOf(1 - p));
  }
  return out;
}

absl::StatusOr<ChoiceLogprobs> ReadAll(const json& reply,
                                       const ChoiceCall& call) {
  ESP_ASSIGN_OR_RETURN(const json* scores, ListField(reply, "scores"));
  if (scores->size() != call.texts.size()) {
    return WrongCount("scores", "text", call.texts.size(), scores->size());
  }
  ChoiceLogprobs out;
  for (const json& row : *scores) {
    if (!row.is_array()) return WrongField("scores", "lists of numbers", row);
    if (row.size() != call.choices.size()) {
      return WrongCount("scores", "token", call.choices.size(), row.size());
    }
    double sum = 0;
    std::vector<float>& logprobs = out.emplace_back();
    for (const json& value : row) {
      ESP_ASSIGN_OR_RETURN(const double p, ProbabilityOf(value, "scores"));
      sum += p;
      logprobs.push_back(LogOf(p));
    }
    if (sum > 1 + kSumSlack || (call.among() && sum < 1 - kSumSlack)) {
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
  const std::vector<int32_t>& first = call.texts.front();
  const json body = {
      {"model", facts.model},
      {"query", std::vector<int32_t>(first.begin(), first.begin() + cut)},
      {"items", std::move(items)},
      {"label_token_ids",
       std::vector<int32_t>(call.choices.begin(), call.choices.end())},
      {"apply_softmax", call.among()},
      {"item_first", false}};
  return {ChoicePath(facts.kind), JsonText(body)};
}

absl::StatusOr<ChoiceLogprobs> ReadChoiceReply(const std::string& body,
                                               ServerKind kind,
                                               const ChoiceCall& call) {
  ESP_ASSIGN_OR_RETURN(const json reply, ParseJsonObject(body, "the reply"));
  return kind == ServerKind::kVllm ? ReadFirst(reply, call)
                                   : ReadAll(reply, call);
}

}  // namespace espalier
