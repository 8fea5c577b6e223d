#include "models/remote/http_connection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"

namespace espalier {
namespace {

// The library's server is llama-server's: without TCP_NODELAY its second write,
// the body, waits until the first one is acknowledged.
TEST(HttpConnection, RepliesInTwoWritesAreNotWaitedFor) {
  httplib::Server server;
  server.Post("/ask", [](const httplib::Request&, httplib::Response& reply) {
    reply.set_content(std::string(1000, 'x'), "text/plain");
  });
  const int port = server.bind_to_any_port("127.0.0.1");
  ASSERT_GT(port, 0);
  std::thread thread([&] { server.listen_after_bind(); });
  while (!server.is_running()) std::this_thread::yield();
  {
    HttpConnection connection({.host = "127.0.0.1", .port = port}, {});
    std::vector<double> seconds;
    // Linux acknowledges the first segments of a connection at once.
    for (int i = 0; i < 60; ++i) {
      const double start = Clock::Real().Seconds();
      const auto reply = connection.Post("/ask", "{}");
      ASSERT_TRUE(reply.ok()) << reply.status();
      EXPECT_EQ(reply->body.size(), 1000u);
      if (i >= 30) seconds.push_back(Clock::Real().Seconds() - start);
    }
    std::sort(seconds.begin(), seconds.end());
    EXPECT_LT(seconds[seconds.size() / 2], 0.030);
  }
  server.stop();
  thread.join();
}

// Sends `first` to the one client that comes, then `more` until it leaves; with
// an empty `more`, then ends the connection.
class RawServer {
 public:
  RawServer(std::string first, std::string more)
      : listener_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    bind(listener_, reinterpret_cast<sockaddr*>(&address), size);
    listen(listener_, 1);
    getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this, first, more] {
      client_ = accept(listener_, nullptr, nullptr);
      char request[4096];
      recv(client_, request, sizeof(request), 0);
      ssize_t sent = send(client_, first.data(), first.size(), MSG_NOSIGNAL);
      while (sent > 0 && !more.empty()) {
        sent = send(client_, more.data(), more.size(), MSG_NOSIGNAL);
        bytes_ += std::max<ssize_t>(sent, 0);
      }
      shutdown(client_, SHUT_RDWR);
    });
  }
  ~RawServer() {
    shutdown(client_, SHUT_RDWR);
    thread_.join();
    close(client_);
    close(listener_);
  }
  RawServer(const RawServer&) = delete;
  RawServer& operator=(const RawServer&) = delete;

  int port() const { return port_; }
  int64_t bytes() const { return bytes_; }

 private:
  int listener_;
  int port_ = 0;
  std::atomic<int> client_ = -1;
  std::atomic<int64_t> bytes_ = 0;
  std::thread thread_;
};

TEST(HttpConnection, RepliesWithoutEndAreEnded) {
  std::string lines, sizes;
  for (int i = 0; i < 8000; ++i) lines.append("a: b\r\n");
  const struct {
    const char* name;
    std::string first, more;
    const char* error;
  } kinds[] = {
      {"headers", "HTTP/1.1 200 OK\r\n", lines,
       "the reply's head is longer than 256 KiB"},
      {"one header", "HTTP/1.1 200 OK\r\na: ", std::string(50000, 'a'),
       "a line of the reply's head is too long"},
      {"status", "HTTP/1.1 200 ", std::string(50000, 'a'),
       "a line of the reply's head is too long"},
      {"chunk size", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
       std::string(50000, '0'), "the connection ended before the reply did"},
      {"trailer", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n",
       std::string(50000, 'a'), "the connection ended before the reply did"},
      {"empty lines", "HTTP/1.1 100 Continue\r\n\r\n",
       "HTTP/1.1 100 Continue\r\n\r\n",
       "the reply's head is longer than 256 KiB"},
  };
  for (const auto& kind : kinds) {
    SCOPED_TRACE(kind.name);
    RawServer server(kind.first, kind.more);
    HttpConnection connection({.host = "127.0.0.1", .port = server.port()}, {});
    const auto reply = connection.Post("/ask", "{}");
    EXPECT_THAT(std::string(reply.status().message()),
                testing::HasSubstr(kind.error));
    EXPECT_LT(server.bytes(), int64_t{16} << 20);
  }
}

TEST(HttpConnection, RepliesThatAreCutAreNone) {
  const std::string whole =
      "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 4\r\n\r\n"
      "text";
  for (size_t size = 1; size <= whole.size(); ++size) {
    RawServer server(whole.substr(0, size), "");
    HttpConnection connection({.host = "127.0.0.1", .port = server.port()}, {});
    const auto reply = connection.Get("/ask");
    EXPECT_EQ(reply.ok(), size == whole.size()) << size;
  }
}

// libcurl was asked for none, but some servers compress all the same.
TEST(HttpConnection, CompressedRepliesAreRead) {
  httplib::Server server;
  server.Get("/ask", [](const httplib::Request&, httplib::Response& reply) {
    // gzip of "hello".
    constexpr char kGzip[] =
        "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\xcb\x48\xcd\xc9\xc9\x07"
        "\x00\x86\xa6\x10\x36\x05\x00\x00\x00";
    reply.set_header("Content-Encoding", "gzip");
    reply.body.assign(kGzip, sizeof(kGzip) - 1);
  });
  const int port = server.bind_to_any_port("127.0.0.1");
  ASSERT_GT(port, 0);
  std::thread thread([&] { server.listen_after_bind(); });
  while (!server.is_running()) std::this_thread::yield();
  {
    HttpConnection connection({.host = "127.0.0.1", .port = port}, {});
    const auto reply = connection.Get("/ask");
    ASSERT_TRUE(reply.ok()) << reply.status();
    EXPECT_EQ(reply->body, "hello");
  }
  server.stop();
  thread.join();
}

TEST(HttpConnection, TellsThatTheServerWasAwayBetweenRequests) {
  std::unique_ptr<httplib::Server> server;
  std::thread thread;
  int port = 0;
  const auto start = [&] {
    server = std::make_unique<httplib::Server>();
    server->set_keep_alive_timeout(1);
    server->Get("/ask", [](const httplib::Request&, httplib::Response& reply) {
      reply.set_content("fine", "text/plain");
    });
    if (port == 0) {
      port = server->bind_to_any_port("127.0.0.1");
    } else {
      ASSERT_TRUE(server->bind_to_port("127.0.0.1", port));
    }
    thread = std::thread([&] { server->listen_after_bind(); });
    while (!server->is_running()) std::this_thread::yield();
  };
  start();
  HttpConnection connection({.host = "127.0.0.1", .port = port}, {});
  EXPECT_FALSE(connection.Get("/ask")->reconnected);
  EXPECT_FALSE(connection.Get("/ask")->reconnected);
  server->stop();
  thread.join();
  start();
  const auto reply = connection.Get("/ask");
  ASSERT_TRUE(reply.ok()) << reply.status();
  EXPECT_TRUE(reply->reconnected);
  EXPECT_FALSE(connection.Get("/ask")->reconnected);
  server->stop();
  thread.join();
}

// Answers the first request of each connection, and resets the connection when
// the second one comes, as if the server had closed it just before: libcurl
// sends such a request again by itself.
TEST(HttpConnection, ARequestToAConnectionClosedMeanwhileIsSentAgain) {
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  bind(listener, reinterpret_cast<sockaddr*>(&address), size);
  listen(listener, 4);
  getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size);
  constexpr int kRequests = 4;
  std::thread server([listener] {
    const std::string reply =
        "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfine";
    for (int i = 0; i < kRequests; ++i) {
      const int client = accept(listener, nullptr, nullptr);
      char request[4096];
      recv(client, request, sizeof(request), 0);
      send(client, reply.data(), reply.size(), MSG_NOSIGNAL);
      recv(client, request, 1, 0);  // the rest is unread: a reset
      close(client);
    }
  });
  {
    HttpConnection connection(
        {.host = "127.0.0.1", .port = ntohs(address.sin_port)}, {});
    for (int i = 0; i < kRequests; ++i) {
      const auto reply = connection.Post("/ask", "{}");
      EXPECT_TRUE(reply.ok()) << reply.status();
      EXPECT_TRUE(!reply.ok() || reply->reconnected == (i > 0)) << i;
    }
  }
  server.join();
  close(listener);
}

// Small chunks and long bodies are no such reply.
TEST(HttpConnection, RepliesOfAnyLengthAreRead) {
  httplib::Server server;
  const std::string part(100, 'x');
  server.Get("/chunks", [&](const httplib::Request&, httplib::Response& reply) {
    reply.set_chunked_content_provider("text/plain",
                                       [&](size_t, httplib::DataSink& sink) {
                                         for (int i = 0; i < 200'000; ++i)
                                           sink.write(part.data(), 10);
                                         sink.done();
                                         return true;
                                       });
  });
  server.Get("/long", [&](const httplib::Request&, httplib::Response& reply) {
    reply.set_content(std::string(60 << 20, 'x'), "text/plain");
  });
  const int port = server.bind_to_any_port("127.0.0.1");
  ASSERT_GT(port, 0);
  std::thread thread([&] { server.listen_after_bind(); });
  while (!server.is_running()) std::this_thread::yield();
  {
    HttpConnection connection({.host = "127.0.0.1", .port = port}, {});
    for (int i = 0; i < 2; ++i) {
      const auto chunks = connection.Get("/chunks");
      ASSERT_TRUE(chunks.ok()) << chunks.status();
      EXPECT_EQ(chunks->body.size(), 2'000'000u);
      const auto longer = connection.Get("/long");
      ASSERT_TRUE(longer.ok()) << longer.status();
      EXPECT_EQ(longer->body.size(), size_t{60} << 20);
    }
  }
  server.stop();
  thread.join();
}

}  // namespace
}  // namespace espalier
