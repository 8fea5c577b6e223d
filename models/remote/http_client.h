// Requests to servers, many at a time, over connections that are kept.
//
//   HttpClient client({});
//   client.Start({.id = 1, .endpoint = &endpoint, .path = "/v1/completions",
//                 .body = json});
//   for (HttpClient::Ended& ended : client.Take(0.002)) ... ended.reply ...
//
// Everything happens in the caller's thread, within Start and Take: replies
// that come meanwhile wait in the sockets. Certificates of https servers are
// checked. Thread-compatible.
#ifndef ESPALIER_MODELS_REMOTE_HTTP_CLIENT_H_
#define ESPALIER_MODELS_REMOTE_HTTP_CLIENT_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

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
  // A connection had ended since the reply before, maybe with its server.
  bool reconnected = false;
};

class HttpClient {
 public:
  struct Request {
    uint64_t id = 0;                     // of none that is under way
    const Endpoint* endpoint = nullptr;  // outlives the client
    std::string path;
    std::string body;  // "": GET
  };
  struct Ended {
    uint64_t id = 0;
    // Unavailable if the server cannot be reached, closes the connection midway
    // or takes too long; Unauthenticated if its certificate is not valid;
    // ResourceExhausted for a reply that is too long. Every reply of the server
    // is a value, errors too. Messages begin with the URL.
    absl::StatusOr<HttpReply> reply;
  };

  explicit HttpClient(const HttpOptions& options);
  // Closes all connections.
  ~HttpClient();

  void Start(Request request);
  // Closes the request's connection; it is not among those that end.
  void Cancel(uint64_t id);
  // Some of the requests that ended since the last call; waits for one for up
  // to `seconds`.
  std::vector<Ended> Take(double seconds);
  // Whether connections stay open over which no request is under way; at first
  // they do. Decided when a reply's head has come.
  void KeepIdle(bool keep);

 private:
  class Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace espalier

#endif  // ESPALIER_MODELS_REMOTE_HTTP_CLIENT_H_
