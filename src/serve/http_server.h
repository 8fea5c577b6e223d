// An HTTP/1.1 server for programs whose replies take long: many connections on
// one thread, replies at once or in pieces, and word when a client has gone.
//
//   ESP_ASSIGN_OR_RETURN(auto server, HttpServer::Create({.port = 8000},
//       [](std::shared_ptr<HttpExchange> exchange) {
//         exchange->Reply(200, "text/plain", exchange->request().body);
//       }));
//   server->Run();  // until Stop
//
// Over Boost.Beast. Everything happens on the thread of Run, handlers and
// callbacks too; other threads call Post alone.
#ifndef ESPALIER_SRC_SERVE_HTTP_SERVER_H_
#define ESPALIER_SRC_SERVE_HTTP_SERVER_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace espalier {

struct HttpServerOptions {
  std::string host = "127.0.0.1";
  int port = 0;                       // 0: any that is free
  size_t max_body = size_t{1} << 20;  // bytes; a longer one gets 413
  // Of all bodies that are being received; what is beyond gets 503.
  size_t max_bodies = size_t{256} << 20;
  size_t max_header = size_t{16} << 10;  // bytes; a longer one gets 431
  // With more of them the one that has been without a request for longest is
  // closed; if none is, the others wait to be accepted.
  int max_connections = 4096;
  double idle_seconds = 75;   // between requests
  double body_seconds = 30;   // for a body to arrive
  double write_seconds = 30;  // for a client to take what it is sent
};

struct HttpRequest {
  std::string method;  // "GET", "POST", ...
  std::string target;  // "/v1/models?x=1", as it was sent
  std::string authorization;
  std::string body;
};

// Looks at a request whose body has not been read: an error's JSON text ends it
// with 401, "" lets it go on.
using HttpHeadCheck = std::function<std::string(const HttpRequest&)>;

// One request and its reply. Dropping it unanswered replies 500.
class HttpExchange {
 public:
  virtual ~HttpExchange() = default;
  virtual const HttpRequest& request() const = 0;
  // The body, which the request has no more.
  virtual std::string TakeBody() = 0;
  // The whole reply. `headers`: further lines "Name: value\r\n".
  virtual void Reply(int status, std::string_view type, std::string body,
                     std::string_view headers = "") = 0;
  // A reply of status 200 in pieces: Begin, any number of Send, End.
  virtual void Begin(std::string_view type) = 0;
  virtual void Send(std::string_view piece) = 0;
  virtual void End() = 0;
  // Bytes that were given to Send and that the client has not taken.
  virtual size_t unsent() const = 0;
  // Calls `gone` once if the client goes before the reply has ended; what is
  // sent after that is dropped.
  virtual void OnGone(std::function<void()> gone) = 0;
};

class HttpServer {
 public:
  using Handler = std::function<void(std::shared_ptr<HttpExchange>)>;

  // Listens from now on. Unavailable if the address is in use or not this
  // machine's; InvalidArgument if it cannot be understood.
  static absl::StatusOr<std::unique_ptr<HttpServer>> Create(
      const HttpServerOptions& options, Handler handler,
      HttpHeadCheck check = {});
  virtual ~HttpServer() = default;

  virtual int port() const = 0;
  virtual int connections() const = 0;  // from any thread
  // Serves until Stop.
  virtual void Run() = 0;
  // From now on a connection ends with its next reply; those without a request
  // are closed. Further ones are still taken.
  virtual void Drain() = 0;
  // Drains, and takes no further connections.
  virtual void StopAccepting() = 0;
  // Ends Run; replies under way are cut off.
  virtual void Stop() = 0;
  // Calls `task` on the thread of Run. From any thread, and also before Run.
  virtual void Post(std::function<void()> task) = 0;
  // Calls `task` every `seconds` from now on.
  virtual void Every(double seconds, std::function<void()> task) = 0;
};

}  // namespace espalier

#endif  // ESPALIER_SRC_SERVE_HTTP_SERVER_H_
