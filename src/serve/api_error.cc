#include "src/serve/api_error.h"

#include <optional>

#include "absl/strings/cord.h"
#include "base/json_text.h"
#include "base/text.h"
#include "nlohmann/json.hpp"

namespace espalier {
namespace {

constexpr char kParam[] = "espalier/param";
constexpr char kCode[] = "espalier/code";

nlohmann::json Payload(const absl::Status& error, const char* name) {
  const auto value = error.GetPayload(name);
  if (!value || value->empty()) return nullptr;
  return std::string(*value);
}

const char* TypeOf(int status) {
  if (status == 401) return "authentication_error";
  if (status == 429) return "rate_limit_error";
  return status < 500 ? "invalid_request_error" : "server_error";
}

}  // namespace

absl::Status WithApiCode(absl::Status error, std::string_view code,
                         std::string_view param) {
  error.SetPayload(kCode, absl::Cord(AbslView(code)));
  error.SetPayload(kParam, absl::Cord(AbslView(param)));
  return error;
}

absl::Status BadRequest(std::string_view param, std::string message) {
  return WithApiCode(absl::InvalidArgumentError(message), "", param);
}

int HttpStatus(const absl::Status& error) {
  switch (error.code()) {
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kFailedPrecondition:
      return 400;
    case absl::StatusCode::kUnauthenticated:
      return 401;
    case absl::StatusCode::kNotFound:
      return 404;
    case absl::StatusCode::kUnimplemented:
      return 405;
    case absl::StatusCode::kResourceExhausted:
      return 429;
    case absl::StatusCode::kUnavailable:
    case absl::StatusCode::kAborted:
      return 503;
    default:
      return 500;
  }
}

std::string ErrorJson(const absl::Status& error) {
  return JsonText({{"error",
                    {{"message", std::string(error.message())},
                     {"type", TypeOf(HttpStatus(error))},
                     {"param", Payload(error, kParam)},
                     {"code", Payload(error, kCode)}}}});
}

}  // namespace espalier
