#include "src/serve/http_server.h"

#include <poll.h>

#include <algorithm>
#include <atomic>
#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "base/json_text.h"
#include "base/open_files.h"
#include "base/text.h"
#include "nlohmann/json.hpp"

namespace espalier {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using asio::ip::tcp;
using boost::system::error_code;

// Bytes of a connection that are received and not yet read.
constexpr size_t kMostBuffered = size_t{128} << 10;
// A body of so many bytes is read however much others send.
constexpr size_t kSmallBody = size_t{64} << 10;
// What a client may still send after its request was refused.
constexpr size_t kMostDrained = size_t{256} << 20;
constexpr double kDrainSeconds = 10;
// A connection without a request is not closed for another one before.
constexpr double kGrace = 1;

std::chrono::microseconds Microseconds(double seconds) {
  return std::chrono::microseconds(static_cast<int64_t>(seconds * 1e6));
}

absl::string_view View(beast::string_view text) {
  return absl::string_view(text.data(), text.size());
}

class Server;

// A client's connection: reads a request, waits for its reply, reads the next.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(tcp::socket socket, Server& server);
  ~Connection();

  void Read();
  // True while no request is being read or answered.
  bool idle() const { return idle_; }
  double since() const { return since_; }  // seconds of the real clock
  void Close();

 private:
  friend class Exchange;
  using Parser = http::request_parser<http::string_body>;

  void OnHeader(error_code error);
  void ReadBody();
  void ReadMore();
  void OnRequest(error_code error);
  // Answers a request that could not be read, and closes.
  void Refuse(int status, const std::string& message);
  void RefuseWith(int status, std::string json);
  // Bytes of the body that is being received, as far as they count to all.
  void Reserve(size_t bytes);
  HttpRequest Head() const;
  // Waits for the client to go while its request is worked on.
  void Watch();
  // The same for a client that has sent more than its request.
  void WatchByTimer();
  // The client has gone.
  void Gone();
  void Write(std::string bytes);
  void WriteNext();
  void OnWritten(error_code error);
  // The reply is complete; the next request, if the connection is kept.
  void EndReply();
  // Lets a client that still sends read the reply before the connection ends.
  void Linger();
  void Drain();

  beast::tcp_stream stream_;
  asio::steady_timer watch_;
  Server& server_;
  // Bounded: the extensions of chunks and trailers count to no body.
  beast::flat_buffer buffer_{kMostBuffered};
  std::optional<Parser> parser_;
  std::string continue_;
  bool idle_ = true;
  double since_ = 0;
  bool closed_ = false;
  // Of the request that is worked on.
  uint64_t number_ = 0;  // of this connection's requests
  bool answering_ = false;
  bool keep_ = true;      // the connection, after the reply
  bool chunked_ = false;  // the reply is sent in chunks
  bool lingers_ = false;
  bool ended_ = false;  // nothing more will be written
  std::function<void()> gone_;
  std::string out_, writing_;
  size_t drained_ = 0;
  size_t reserved_ = 0;
};

class Exchange final : public HttpExchange {
 public:
  Exchange(std::shared_ptr<Connection> connection, HttpRequest request)
      : connection_(std::move(connection)),
        number_(connection_->number_),
        request_(std::move(request)) {}
  ~Exchange() override {
    if (begun_) {
      if (!over_) End();
      return;
    }
    Reply(500, "application/json",
          R"({"error":{"message":"the request was dropped","type":)"
          R"("server_error","param":null,"code":null}})",
          "");
  }

  const HttpRequest& request() const override { return request_; }
  std::string TakeBody() override { return std::exchange(request_.body, {}); }

  void Reply(int status, std::string_view type, std::string body,
             std::string_view headers) override {
    if (!Current() || begun_) return;
    begun_ = over_ = true;
    std::string bytes = Head(status, type, headers);
    absl::StrAppend(&bytes, "Content-Length: ", body.size(), "\r\n\r\n");
    if (request_.method != "HEAD") bytes += body;
    Finish(std::move(bytes));
  }

  void Begin(std::string_view type) override {
    if (!Current() || begun_) return;
    begun_ = true;
    std::string bytes = Head(200, type, "Cache-Control: no-cache\r\n");
    if (connection_->chunked_) bytes += "Transfer-Encoding: chunked\r\n";
    connection_->Write(bytes + "\r\n");
  }

  void Send(std::string_view piece) override {
    if (!Current() || !begun_ || over_ || piece.empty()) return;
    if (!connection_->chunked_) return connection_->Write(std::string(piece));
    connection_->Write(
        absl::StrCat(absl::Hex(piece.size()), "\r\n", AbslView(piece), "\r\n"));
  }

  void End() override {
    if (!Current() || !begun_ || over_) return;
    over_ = true;
    Finish(connection_->chunked_ ? "0\r\n\r\n" : "");
  }

  size_t unsent() const override {
    return Current() ? connection_->out_.size() + connection_->writing_.size()
                     : 0;
  }

  void OnGone(std::function<void()> gone) override {
    if (Current()) connection_->gone_ = std::move(gone);
  }

 private:
  // The connection still waits for this reply.
  bool Current() const {
    return connection_->answering_ && connection_->number_ == number_;
  }

  std::string Head(int status, std::string_view type,
                   std::string_view headers) const {
    return absl::StrCat(
        "HTTP/1.1 ", status, " ",
        View(http::obsolete_reason(static_cast<http::status>(status))),
        "\r\nContent-Type: ", AbslView(type),
        connection_->keep_ ? "\r\n" : "\r\nConnection: close\r\n",
        AbslView(headers));
  }

  void Finish(std::string bytes) {
    connection_->gone_ = nullptr;
    connection_->ended_ = true;
    connection_->Write(std::move(bytes));
  }

  const std::shared_ptr<Connection> connection_;
  const uint64_t number_;
  HttpRequest request_;
  bool begun_ = false, over_ = false;
};

class Server : public HttpServer {
 public:
  Server(const HttpServerOptions& options, Handler handler, HttpHeadCheck check)
      : options_(options),
        handler_(std::move(handler)),
        check_(std::move(check)),
        acceptor_(context_),
        retry_(context_) {}

  ~Server() override {
    // Connections refer to the server: they end before its members do.
    accepting_ = false;
    const auto connections = connections_;
    for (const auto& [connection, kept] : connections) kept->Close();
    context_.restart();
    context_.poll();
  }

  absl::Status Listen() {
    error_code error;
    const asio::ip::address address =
        asio::ip::make_address(options_.host, error);
    if (error) {
      return absl::InvalidArgumentError(
          absl::StrCat(options_.host,
                       ": not an IP address; expected one of this machine, as "
                       "127.0.0.1, ::1 or 0.0.0.0 (all)"));
    }
    const tcp::endpoint place(address,
                              static_cast<unsigned short>(options_.port));
    acceptor_.open(place.protocol(), error);
    if (!error) acceptor_.set_option(tcp::acceptor::reuse_address(true), error);
    if (!error) acceptor_.bind(place, error);
    if (!error) acceptor_.listen(options_.max_connections, error);
    if (error) {
      return absl::UnavailableError(
          absl::StrCat(options_.host, ":", options_.port,
                       ": cannot listen there: ", error.message()));
    }
    port_ = acceptor_.local_endpoint(error).port();
    Accept();
    return absl::OkStatus();
  }

  const HttpServerOptions& options() const { return options_; }
  int port() const override { return port_; }
  int connections() const override { return count_; }
  void Run() override { context_.run(); }
  void Stop() override { context_.stop(); }
  void Post(std::function<void()> task) override {
    asio::post(context_, std::move(task));
  }

  void Every(double seconds, std::function<void()> task) override {
    Tick(std::make_shared<asio::steady_timer>(context_), seconds,
         std::make_shared<std::function<void()>>(std::move(task)));
  }

  void StopAccepting() override {
    accepting_ = false;
    error_code ignored;
    acceptor_.close(ignored);
    Drain();
  }

  void Drain() override {
    draining_ = true;
    std::vector<std::shared_ptr<Connection>> idle;
    for (const auto& [connection, kept] : connections_) {
      if (kept->idle()) idle.push_back(kept);
    }
    for (const auto& connection : idle) connection->Close();
  }

  void Handle(std::shared_ptr<HttpExchange> exchange) {
    handler_(std::move(exchange));
  }
  bool draining() const { return draining_; }
  std::string Check(const HttpRequest& head) const {
    return check_ ? check_(head) : std::string();
  }
  size_t& reserved() { return reserved_; }  // by bodies

  void Forget(Connection* connection) {
    connections_.erase(connection);
    count_ = static_cast<int>(connections_.size());
    if (std::exchange(full_, false)) {
      retry_.cancel();
      Accept();
    }
  }

 private:
  // Closes the connection that has waited longest for a request to be read, if
  // that is long enough for one to have come.
  bool EvictIdle() {
    std::shared_ptr<Connection> oldest;
    for (const auto& [connection, kept] : connections_) {
      if (kept->idle() && (!oldest || kept->since() < oldest->since())) {
        oldest = kept;
      }
    }
    if (!oldest || Clock::Real().Seconds() - oldest->since() < kGrace) {
      return false;
    }
    oldest->Close();
    return true;
  }

  void Accept() {
    if (!accepting_) return;
    full_ = false;  // or closing one would accept as well
    full_ = connections() >= options_.max_connections && !EvictIdle();
    if (full_) return AcceptLater(kGrace / 4);
    acceptor_.async_accept([this](error_code error, tcp::socket socket) {
      if (!accepting_ || error == asio::error::operation_aborted) return;
      if (error) {
        // No file descriptor is left, most likely: others end.
        return AcceptLater(0.05);
      }
      auto connection = std::make_shared<Connection>(std::move(socket), *this);
      connections_.emplace(connection.get(), connection);
      count_ = static_cast<int>(connections_.size());
      connection->Read();
      Accept();
    });
  }

  void AcceptLater(double seconds) {
    retry_.expires_after(Microseconds(seconds));
    retry_.async_wait([this](error_code ended) {
      if (!ended) Accept();
    });
  }

  void Tick(std::shared_ptr<asio::steady_timer> timer, double seconds,
            std::shared_ptr<std::function<void()>> task) {
    timer->expires_after(Microseconds(seconds));
    timer->async_wait([this, timer, seconds, task](error_code error) {
      if (error) return;
      (*task)();
      Tick(timer, seconds, task);
    });
  }

  const HttpServerOptions options_;
  const Handler handler_;
  const HttpHeadCheck check_;
  size_t reserved_ = 0;
  asio::io_context context_{1};
  tcp::acceptor acceptor_;
  asio::steady_timer retry_;
  int port_ = 0;
  bool accepting_ = true;
  bool draining_ = false;
  bool full_ = false;
  std::map<Connection*, std::shared_ptr<Connection>> connections_;
  std::atomic<int> count_ = 0;
};

Connection::Connection(tcp::socket socket, Server& server)
    : stream_(std::move(socket)),
      watch_(stream_.get_executor()),
      server_(server) {
  error_code ignored;
  stream_.socket().set_option(tcp::no_delay(true), ignored);
  stream_.socket().non_blocking(true, ignored);
}

Connection::~Connection() = default;

void Connection::Read() {
  idle_ = true;
  since_ = Clock::Real().Seconds();
  ended_ = answering_ = false;
  parser_.emplace();
  parser_->body_limit(server_.options().max_body);
  parser_->header_limit(static_cast<uint32_t>(server_.options().max_header));
  stream_.expires_after(Microseconds(server_.options().idle_seconds));
  http::async_read_header(
      stream_, buffer_, *parser_,
      [self = shared_from_this()](error_code error, size_t) {
        self->OnHeader(error);
      });
}

HttpRequest Connection::Head() const {
  const auto& head = parser_->get();
  return {.method = std::string(View(head.method_string())),
          .target = std::string(View(head.target())),
          .authorization = std::string(View(head[http::field::authorization]))};
}

void Connection::Reserve(size_t bytes) {
  server_.reserved() += bytes - reserved_;
  reserved_ = bytes;
}

void Connection::OnHeader(error_code error) {
  if (closed_) return;
  idle_ = false;
  if (error) return OnRequest(error);
  std::string refused = server_.Check(Head());
  if (!refused.empty()) return RefuseWith(401, std::move(refused));
  const auto& head = parser_->get();
  if (!beast::iequals(head[http::field::expect], "100-continue")) {
    return ReadBody();
  }
  continue_ = "HTTP/1.1 100 Continue\r\n\r\n";
  stream_.expires_after(Microseconds(server_.options().write_seconds));
  asio::async_write(stream_, asio::buffer(continue_),
                    [self = shared_from_this()](error_code failed, size_t) {
                      failed ? self->Close() : self->ReadBody();
                    });
}

void Connection::ReadBody() {
  if (parser_->is_done()) return OnRequest({});
  stream_.expires_after(Microseconds(server_.options().body_seconds));
  ReadMore();
}

void Connection::ReadMore() {
  http::async_read_some(
      stream_, buffer_, *parser_,
      [self = shared_from_this()](error_code error, size_t) {
        if (self->closed_) return;
        if (error || self->parser_->is_done()) return self->OnRequest(error);
        self->Reserve(self->parser_->get().body().size());
        if (self->reserved_ > kSmallBody &&
            self->server_.reserved() > self->server_.options().max_bodies) {
          return self->Refuse(
              503, "too many bodies are being received; try again later");
        }
        self->ReadMore();
      });
}

void Connection::OnRequest(error_code error) {
  if (closed_) return;
  if (error == http::error::body_limit) {
    return Refuse(413, absl::StrCat("the body is longer than ",
                                    server_.options().max_body, " bytes"));
  }
  if (error == http::error::header_limit ||
      error == http::error::buffer_overflow) {
    return Refuse(431, absl::StrCat("the headers are longer than ",
                                    server_.options().max_header, " bytes"));
  }
  if (error && error != http::error::end_of_stream &&
      error != http::error::partial_message &&
      error.category() == make_error_code(http::error::bad_method).category()) {
    return Refuse(400, "not a request of HTTP/1.1: " + error.message());
  }
  if (error) return Close();
  stream_.expires_never();
  Reserve(0);
  HttpRequest request = Head();
  auto message = parser_->release();
  keep_ = message.keep_alive() && !server_.draining();
  chunked_ = message.version() >= 11;
  answering_ = true;
  ++number_;
  request.body = std::move(message.body());
  parser_.reset();
  Watch();
  if (!chunked_) keep_ = false;
  server_.Handle(
      std::make_shared<Exchange>(shared_from_this(), std::move(request)));
}

void Connection::Refuse(int status, const std::string& message) {
  RefuseWith(status, JsonText({{"error",
                                {{"message", message},
                                 {"type", status < 500 ? "invalid_request_error"
                                                       : "server_error"},
                                 {"param", nullptr},
                                 {"code", nullptr}}}}));
}

void Connection::RefuseWith(int status, std::string json) {
  stream_.expires_never();
  Reserve(0);
  parser_.reset();
  keep_ = false;
  answering_ = lingers_ = true;
  ++number_;
  auto exchange = std::make_shared<Exchange>(shared_from_this(), HttpRequest());
  exchange->Reply(status, "application/json", std::move(json),
                  status == 401 ? "WWW-Authenticate: Bearer\r\n" : "");
}

void Connection::Watch() {
  if (buffer_.size() > 0) return WatchByTimer();
  stream_.socket().async_wait(
      tcp::socket::wait_read,
      [self = shared_from_this(), number = number_](error_code error) {
        if (error || self->closed_ || !self->answering_ ||
            self->number_ != number) {
          return;
        }
        char byte = 0;
        error_code failed;
        self->stream_.socket().receive(asio::buffer(&byte, 1),
                                       tcp::socket::message_peek, failed);
        if (failed == asio::error::would_block) return self->Watch();
        failed ? self->Gone() : self->WatchByTimer();
      });
}

void Connection::WatchByTimer() {
  watch_.expires_after(std::chrono::milliseconds(20));
  watch_.async_wait([self = shared_from_this(),
                     number = number_](error_code error) {
    if (error || self->closed_ || !self->answering_ ||
        self->number_ != number) {
      return;
    }
    pollfd socket = {.fd = self->stream_.socket().native_handle(),
                     .events = POLLRDHUP,
                     .revents = 0};
    const bool gone = poll(&socket, 1, 0) > 0 &&
                      (socket.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
    gone ? self->Gone() : self->WatchByTimer();
  });
}

void Connection::Gone() {
  Close();
  const std::function<void()> gone = std::exchange(gone_, nullptr);
  answering_ = false;
  if (gone) gone();
}

void Connection::Write(std::string bytes) {
  if (closed_) return;
  out_ += bytes;
  if (writing_.empty()) WriteNext();
}

void Connection::WriteNext() {
  if (out_.empty()) {
    if (ended_) EndReply();
    return;
  }
  writing_ = std::exchange(out_, {});
  stream_.expires_after(Microseconds(server_.options().write_seconds));
  asio::async_write(stream_, asio::buffer(writing_),
                    [self = shared_from_this()](error_code error, size_t) {
                      self->OnWritten(error);
                    });
}

void Connection::OnWritten(error_code error) {
  if (closed_) return;
  writing_.clear();
  stream_.expires_never();
  if (error) return Gone();
  WriteNext();
}

void Connection::EndReply() {
  answering_ = false;
  if (lingers_) return Linger();
  keep_ &= !server_.draining();
  if (!keep_) {
    error_code ignored;
    stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
    return Close();
  }
  Read();
}

void Connection::Linger() {
  error_code ignored;
  stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
  stream_.expires_after(Microseconds(kDrainSeconds));
  Drain();
}

void Connection::Drain() {
  buffer_.clear();
  stream_.async_read_some(
      buffer_.prepare(65536),
      [self = shared_from_this()](error_code error, size_t size) {
        self->drained_ += size;
        if (error || self->drained_ > kMostDrained) return self->Close();
        self->Drain();
      });
}

void Connection::Close() {
  if (closed_) return;
  closed_ = true;
  const auto self = shared_from_this();
  Reserve(0);
  watch_.cancel();
  stream_.close();
  server_.Forget(this);
}

}  // namespace

absl::StatusOr<std::unique_ptr<HttpServer>> HttpServer::Create(
    const HttpServerOptions& options, Handler handler, HttpHeadCheck check) {
  AllowManyOpenFiles();
  auto server =
      std::make_unique<Server>(options, std::move(handler), std::move(check));
  const absl::Status status = server->Listen();
  if (!status.ok()) return status;
  return server;
}

}  // namespace espalier
