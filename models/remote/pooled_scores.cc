#include "models/remote/pooled_scores.h"

#include <algorithm>
#include <cmath>
#include <limits>
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

// Servers may compute a head in bf16: eight bits of each probability.
constexpr double kSumTolerance = 0.02;

absl::StatusOr<double> NumberOf(const json& value, const char* field) {
  if (!value.is_number()) return WrongField(field, "numbers", value);
  const double number = value.get<double>();
  if (std::isfinite(number) &&
      std::abs(number) <= std::numeric_limits<float>::max()) {
    return number;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("the server's reply, field ", field,
                   ": expected finite numbers, found ", number));
}

absl::StatusOr<std::vector<double>> RowOf(const json& list, const char* field) {
  std::vector<double> row;
  for (const json& value : list) {
    ESP_ASSIGN_OR_RETURN(row.emplace_back(), NumberOf(value, field));
  }
  return row;
}

// From [[x, ...], ...], or from [x, ...]: one row, or rows of one label.
absl::Status ReadRows(const json& list, const char* field, int labels,
                      PooledReply& out) {
  if (!list.is_array() || list.empty()) {
    return WrongField(field, "a list with numbers", list);
  }
  if (list[0].is_array()) {
    for (const json& row : list) {
      if (!row.is_array()) return WrongField(field, "lists of numbers", row);
      ESP_ASSIGN_OR_RETURN(out.rows.emplace_back(), RowOf(row, field));
    }
  } else {
    ESP_ASSIGN_OR_RETURN(std::vector<double> flat, RowOf(list, field));
    if (labels == 1) {
      for (const double value : flat) out.rows.push_back({value});
    } else {
      out.rows.push_back(std::move(flat));
    }
  }
  for (const std::vector<double>& row : out.rows) {
    if (row.size() == static_cast<size_t>(labels)) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "the server's reply, field ", field, ": expected rows of ", labels,
        labels == 1 ? " number" : " numbers", ", found ", row.size()));
  }
  return absl::OkStatus();
}

size_t CountTags(absl::Span<const int32_t> text, int32_t tag) {
  return tag < 0
             ? 0
             : static_cast<size_t>(std::count(text.begin(), text.end(), tag));
}

size_t Expected(PooledRows rows, absl::Span<const int32_t> text, int32_t tag) {
  return rows == PooledRows::kLast     ? 1
         : rows == PooledRows::kPerTag ? CountTags(text, tag)
                                       : text.size();
}

std::string ExpectedRows(absl::Span<const int32_t> text, int32_t tag) {
  return absl::StrCat("one row",
                      tag < 0 ? ""
                              : absl::StrCat(", ", CountTags(text, tag),
                                             " (one per tag ", tag, ")"),
                      " or ", text.size(), " (one per token)");
}

bool IsProbability(double x) { return x >= 0 && x <= 1 + 1e-6; }

}  // namespace

std::string PooledWay::Name() const {
  return task.empty() ? path : absl::StrCat(path, " (task ", task, ")");
}

DialectCall MakePooledCall(const ServerFacts& facts, const PooledWay& way,
                           absl::Span<const int32_t> ids) {
  const std::vector<int32_t> input(ids.begin(), ids.end());
  json body = facts.kind == ServerKind::kSglang
                  ? json{{"input_ids", input}}
                  : json{{"input", input}, {"add_special_tokens", false}};
  body["model"] = facts.model;
  if (!way.task.empty()) body["task"] = way.task;
  if (!way.off.empty()) body[way.off] = false;
  return {way.path, JsonText(body)};
}

absl::StatusOr<PooledReply> ReadPooledReply(const std::string& body,
                                            const PooledWay& way, int labels) {
  ESP_ASSIGN_OR_RETURN(const json reply, ParseJsonObject(body, "the reply"));
  PooledReply out;
  if (Field(reply, "data").is_null()) {
    ESP_RETURN_IF_ERROR(
        ReadRows(Field(reply, "embedding"), "embedding", labels, out));
    out.cached_tokens = CountField(Field(reply, "meta_info"), "cached_tokens");
    return out;
  }
  ESP_ASSIGN_OR_RETURN(const json* data, ListField(reply, "data"));
  if (data->size() != 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("the server's reply, field data: expected one text's, "
                     "found ",
                     data->size()));
  }
  const char* field = way.path == "/classify" ? "probs" : "data";
  ESP_RETURN_IF_ERROR(ReadRows(Field((*data)[0], field), field, labels, out));
  out.cached_tokens = CountField(
      Field(Field(reply, "usage"), "prompt_tokens_details"), "cached_tokens");
  return out;
}

absl::StatusOr<PooledRows> RowsOf(absl::Span<const PooledReply> replies,
                                  absl::Span<const std::vector<int32_t>> texts,
                                  const PooledHead& head) {
  size_t misfit = 0;
  for (const PooledRows rows :
       {PooledRows::kLast, PooledRows::kPerTag, PooledRows::kPerToken}) {
    size_t i = 0;
    while (i < texts.size() &&
           replies[i].rows.size() == Expected(rows, texts[i], head.tag)) {
      ++i;
    }
    if (i == texts.size()) return rows;
    misfit = std::max(misfit, i);
  }
  return absl::InvalidArgumentError(
      absl::StrCat("expected ", ExpectedRows(texts[misfit], head.tag),
                   ", found ", replies[misfit].rows.size()));
}

absl::StatusOr<std::vector<float>> PooledLogits(const PooledReply& reply,
                                                const PooledWay& way,
                                                const PooledHead& head,
                                                absl::Span<const int32_t> text,
                                                size_t end) {
  const size_t rows = Expected(way.rows, text, head.tag);
  if (reply.rows.size() != rows) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the server's reply: expected ", rows,
        way.rows == PooledRows::kPerTag     ? " rows, one per tag"
        : way.rows == PooledRows::kPerToken ? " rows, one per token"
                                            : " row",
        ", found ", reply.rows.size()));
  }
  const size_t at = Expected(way.rows, text.first(end), head.tag);
  if (at == 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "expected the tag ", head.tag, " in what is read, found none of it"));
  }
  const std::vector<double>& row = reply.rows[at - 1];
  std::vector<float> logits;
  if (!way.probabilities) {
    for (const double x : row) logits.push_back(static_cast<float>(x));
    return logits;
  }
  if (!MayBeProbabilities({.rows = {row}})) {
    return absl::InvalidArgumentError(
        "the server's reply: expected probabilities, as at the start, found "
        "other numbers");
  }
  for (const double x : row) {
    const double p = std::min(x, 1.0);
    logits.push_back(static_cast<float>(
        row.size() == 1 ? std::log(p) - std::log1p(-p) : std::log(p)));
  }
  return logits;
}

bool MayBeProbabilities(const PooledReply& reply) {
  return std::all_of(
      reply.rows.begin(), reply.rows.end(), [](const std::vector<double>& row) {
        double sum = 0;
        for (const double x : row) {
          if (!IsProbability(x)) return false;
          sum += x;
        }
        return row.size() == 1 || std::abs(sum - 1) <= kSumTolerance;
      });
}

}  // namespace espalier
