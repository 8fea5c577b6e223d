#include "base/parse_json.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/text.h"
#include "base/utf8.h"
#include "nlohmann/json.hpp"

namespace espalier {
namespace {

using Json = nlohmann::json;

// Builds a value from the parser's events without recursion.
class Builder : public nlohmann::json_sax<Json> {
 public:
  Builder(const JsonLimits& limits, Json& root)
      : limits_(limits), root_(root) {}

  bool null() override { return Add(nullptr); }
  bool boolean(bool value) override { return Add(value); }
  bool number_integer(int64_t value) override { return Add(value); }
  bool number_unsigned(uint64_t value) override { return Add(value); }
  bool number_float(double value, const std::string& text) override {
    const bool whole = text.find_first_of(".eE") == std::string::npos;
    return whole && limits_.exact_integers ? Add(text) : Add(value);
  }
  bool string(std::string& text) override { return Add(std::move(text)); }
  bool binary(Json::binary_t&) override { return false; }
  bool start_object(size_t) override { return Open(Json::object()); }
  bool start_array(size_t) override { return Open(Json::array()); }
  bool end_object() override { return Close(); }
  bool end_array() override { return Close(); }
  bool key(std::string& name) override {
    if (open_.back()->contains(name) &&
        (outcome_.repeated.empty() || open_.size() < outcome_.repeated_depth)) {
      outcome_.repeated = name;
      outcome_.repeated_depth = open_.size();
      if (limits_.refuse_repeats) {
        return Fail(JsonFault::kRepeatedKey,
                    absl::StrCat("gives \"", name, "\" twice"));
      }
    }
    key_ = std::move(name);
    return true;
  }
  bool parse_error(size_t position, const std::string& token,
                   const nlohmann::detail::exception& error) override {
    // Well-formed, e.g. 1e400.
    if (dynamic_cast<const Json::out_of_range*>(&error) != nullptr) {
      return Fail(JsonFault::kMalformed,
                  absl::StrCat("has the number ", token, " at column ",
                               position, ", which no double holds"));
    }
    // "[json.exception.parse_error.101] parse error at line 1, column 3: ..."
    std::string what = error.what();
    const size_t colon = what.find(": ");
    if (colon != std::string::npos) what.erase(0, colon + 2);
    return Fail(JsonFault::kMalformed, absl::StrCat("is not JSON at column ",
                                                    position, " (", what, ")"));
  }

  JsonOutcome& outcome() { return outcome_; }

 private:
  bool Fail(JsonFault fault, std::string what) {
    outcome_.fault = fault;
    outcome_.what = std::move(what);
    return false;
  }
  Json* Put(Json value) {
    if (open_.empty()) return &(root_ = std::move(value));
    Json& into = *open_.back();
    if (into.is_object()) return &(into[key_] = std::move(value));
    into.push_back(std::move(value));
    return &into.back();
  }
  bool Add(Json value) {
    Put(std::move(value));
    return true;
  }
  bool Open(Json value) {
    if (open_.size() == limits_.max_depth) {
      return Fail(JsonFault::kTooDeep,
                  absl::StrCat("nests deeper than ", limits_.max_depth));
    }
    open_.push_back(Put(std::move(value)));
    return true;
  }
  bool Close() {
    open_.pop_back();
    return true;
  }

  const JsonLimits& limits_;
  Json& root_;
  JsonOutcome outcome_;
  std::vector<Json*> open_;  // open containers, outermost first
  std::string key_;          // of the next value
};

}  // namespace

JsonOutcome ReadJson(std::string_view text, const JsonLimits& limits,
                     Json& value) {
  Builder builder(limits, value);
  if (Json::sax_parse(text.begin(), text.end(), &builder)) {
    return std::move(builder.outcome());
  }
  JsonOutcome outcome = std::move(builder.outcome());
  // The parser refuses what is not UTF-8, in other words.
  if (const auto at = FirstInvalidUtf8(text);
      at && outcome.fault == JsonFault::kMalformed) {
    outcome.what = absl::StrCat(
        "byte ", *at + 1, " is not UTF-8 (0x",
        absl::Hex(static_cast<unsigned char>(text[*at]), absl::kZeroPad2),
        "); save the file as UTF-8");
  } else {
    outcome.what = absl::StrCat("the record ", outcome.what);
  }
  value = nullptr;
  return outcome;
}

Json ParseJsonOrNull(std::string_view text) {
  Json value;
  ReadJson(text, {.refuse_repeats = false}, value);
  return value;
}

absl::StatusOr<Json> ParseJson(std::string_view text, std::string_view place) {
  Json value;
  const JsonOutcome outcome = ReadJson(text, {}, value);
  if (outcome.fault != JsonFault::kNone) {
    return absl::InvalidArgumentError(
        absl::StrCat(AbslView(place), ": ", outcome.what));
  }
  return value;
}

absl::StatusOr<Json> ParseJsonObject(std::string_view text,
                                     std::string_view place) {
  absl::StatusOr<Json> value = ParseJson(text, place);
  if (value.ok() && !value->is_object()) {
    return absl::InvalidArgumentError(absl::StrCat(
        AbslView(place), ": expected a JSON object, found a value of type ",
        value->type_name()));
  }
  return value;
}

}  // namespace espalier
