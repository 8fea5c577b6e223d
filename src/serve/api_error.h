// Errors as clients of the OpenAI API expect them.
//
//   return BadRequest("n", "n is 2; only one choice is made");
//   ...
//   exchange->Reply(HttpStatus(error), "application/json", ErrorJson(error));
//
// Stateless functions: thread-safe.
#ifndef ESPALIER_SRC_SERVE_API_ERROR_H_
#define ESPALIER_SRC_SERVE_API_ERROR_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace espalier {

// InvalidArgument about the request's field `param`; "": about all of it.
absl::Status BadRequest(std::string_view param, std::string message);
// `error` with its code for programs, as "model_not_found", and its field.
absl::Status WithApiCode(absl::Status error, std::string_view code,
                         std::string_view param);

// 400 InvalidArgument and FailedPrecondition, 401 Unauthenticated, 404
// NotFound, 405 Unimplemented, 429 ResourceExhausted, 503 Unavailable and
// Aborted, else
// 500.
int HttpStatus(const absl::Status& error);
// {"error": {"message", "type", "param", "code"}} on one line.
std::string ErrorJson(const absl::Status& error);

}  // namespace espalier

#endif  // ESPALIER_SRC_SERVE_API_ERROR_H_
