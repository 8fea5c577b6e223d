#include "models/remote/http_connection.h"

#include <utility>
#include <vector>

namespace espalier {

HttpConnection::HttpConnection(Endpoint endpoint, const HttpOptions& options)
    : endpoint_(std::move(endpoint)), client_(options) {}

absl::StatusOr<HttpReply> HttpConnection::Get(const std::string& path) {
  return Post(path, "");
}

absl::StatusOr<HttpReply> HttpConnection::Post(const std::string& path,
                                               const std::string& json) {
  client_.Start({.endpoint = &endpoint_, .path = path, .body = json});
  for (;;) {
    std::vector<HttpClient::Ended> ended = client_.Take(60);
    if (!ended.empty()) return std::move(ended.front().reply);
  }
}

}  // namespace espalier
