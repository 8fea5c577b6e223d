// One connection to a server, kept alive between requests.
//
//   HttpConnection connection(endpoint, {});
//   ESP_ASSIGN_OR_RETURN(HttpReply reply, connection.Post("/v1/completions",
//                                                         body));
//
// Certificates of https servers are checked. One thread at a time sends; Stop
// may be called from any.
#ifndef ESPALIER_MODELS_REMOTE_HTTP_CONNECTION_H_
#define ESPALIER_MODELS_REMOTE_HTTP_CONNECTION_H_

#include <cstddef>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "models/remote/endpoint.h"

namespace espalier {

struct HttpOptions {
  double connect_seconds = 10;
  double read_seconds = 600;             // without a byte of the reply
  size_t max_bytes = size_t{256} << 20;  // of a reply's body
};

struct HttpReply {
  int status = 0;  // 200, 429, ...
  std::string body;
  double retry_after = -1;  // seconds (RetryAfterSeconds); -1: none asked
  // The connection of the reply before had ended, maybe with the server.
  bool reconnected = false;
};

// What a server says of an error, in one line: {"error": {"message": ...}},
// {"message": ...}, {"detail": ...} or the text itself; cut short, without
// control characters and bytes that are not UTF-8, and with "(key)" for `key`,
// which some servers repeat.
std::string ServerMessage(const std::string& body, const std::string& key);

class HttpConnection {
 public:
  HttpConnection(const Endpoint& endpoint, const HttpOptions& options);
  ~HttpConnection();

  // Unavailable if the server cannot be reached, closes the connection midway
  // or takes too long; Unauthenticated if its certificate is not valid;
  // ResourceExhausted for a reply that is too long; Cancelled after Stop. Every
  // reply of the server is a value, errors too. Messages begin with the URL.
  absl::StatusOr<HttpReply> Get(const std::string& path);
  absl::StatusOr<HttpReply> Post(const std::string& path,
                                 const std::string& json);
  // Ends the request under way; later ones fail at once.
  void Stop();

  const Endpoint& endpoint() const { return endpoint_; }

 private:
  class Client;
  absl::StatusOr<HttpReply> Send(const std::string& path,
                                 const std::string& body);

  const Endpoint endpoint_;
  const HttpOptions options_;
  std::unique_ptr<Client> client_;
};

}  // namespace espalier

#endif  // ESPALIER_MODELS_REMOTE_HTTP_CONNECTION_H_
