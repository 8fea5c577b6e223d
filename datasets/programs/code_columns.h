// Type-checked access to the columns of a code problem's record.
//
//   ESP_ASSIGN_OR_RETURN(std::string test, TextColumn(fields, "test", true));
//
// Stateless functions: thread-safe.
#ifndef ESPALIER_DATASETS_PROGRAMS_CODE_COLUMNS_H_
#define ESPALIER_DATASETS_PROGRAMS_CODE_COLUMNS_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "nlohmann/json_fwd.hpp"

namespace espalier {

// Identifier character of Python: a letter, a digit or "_".
bool IsWordByte(char c);

absl::Status WrongColumn(std::string_view column, std::string_view expected);

// False also if it is null.
bool HasColumn(const nlohmann::json& fields, const char* column);

// The text in `column`; "" if it is absent and optional.
absl::StatusOr<std::string> TextColumn(const nlohmann::json& fields,
                                       const char* column, bool needed);

// The texts of a list; none if there is no such column.
absl::StatusOr<std::vector<std::string>> TextsColumn(
    const nlohmann::json& fields, const char* column);

// The name of a function under `column`.
absl::StatusOr<std::string> NameColumn(const nlohmann::json& fields,
                                       const char* column);

}  // namespace espalier

#endif  // ESPALIER_DATASETS_PROGRAMS_CODE_COLUMNS_H_
