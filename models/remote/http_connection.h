// Requests to a server, one after the other.
//
//   HttpConnection connection(endpoint, {});
//   ESP_ASSIGN_OR_RETURN(HttpReply reply, connection.Post("/v1/completions",
//                                                         body));
//
// Thread-compatible.
#ifndef ESPALIER_MODELS_REMOTE_HTTP_CONNECTION_H_
#define ESPALIER_MODELS_REMOTE_HTTP_CONNECTION_H_

#include <string>

#include "absl/status/statusor.h"
#include "models/remote/endpoint.h"
#include "models/remote/http_client.h"

namespace espalier {

class HttpConnection {
 public:
  HttpConnection(Endpoint endpoint, const HttpOptions& options);

  // Errors are those of HttpClient.
  absl::StatusOr<HttpReply> Get(const std::string& path);
  absl::StatusOr<HttpReply> Post(const std::string& path,
                                 const std::string& json);

  const Endpoint& endpoint() const { return endpoint_; }

 private:
  const Endpoint endpoint_;
  HttpClient client_;
};

}  // namespace espalier

#endif  // ESPALIER_MODELS_REMOTE_HTTP_CONNECTION_H_
