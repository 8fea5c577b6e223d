#include "datasets/programs/code_columns.h"

#include <cctype>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/text.h"
#include "nlohmann/json.hpp"

namespace espalier {

using nlohmann::json;

bool IsWordByte(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

absl::Status WrongColumn(std::string_view column, std::string_view expected) {
  return absl::InvalidArgumentError(absl::StrCat(
      "column \"", AbslView(column), "\": expected ", AbslView(expected)));
}

bool HasColumn(const json& fields, const char* column) {
  const auto it = fields.find(column);
  return it != fields.end() && !it->is_null();
}

absl::StatusOr<std::string> TextColumn(const json& fields, const char* column,
                                       bool needed) {
  const auto it = fields.find(column);
  if (it == fields.end() || it->is_null()) {
    if (!needed) return std::string();
    return WrongColumn(column, "a text, found no such column");
  }
  if (it->is_number_integer()) return it->dump();
  if (!it->is_string()) return WrongColumn(column, "a text");
  return it->get<std::string>();
}

absl::StatusOr<std::vector<std::string>> TextsColumn(const json& fields,
                                                     const char* column) {
  std::vector<std::string> texts;
  const auto it = fields.find(column);
  if (it == fields.end() || it->is_null()) return texts;
  if (!it->is_array()) return WrongColumn(column, "a list of texts");
  for (const json& text : *it) {
    if (!text.is_string()) return WrongColumn(column, "a list of texts");
    texts.push_back(text.get<std::string>());
  }
  return texts;
}

absl::StatusOr<std::string> NameColumn(const json& fields, const char* column) {
  ESP_ASSIGN_OR_RETURN(std::string name, TextColumn(fields, column, true));
  bool word = !name.empty();
  for (const char c : name) word &= IsWordByte(c);
  if (!word) return WrongColumn(column, "the name of a function");
  return name;
}

}  // namespace espalier
