#include "src/serve/http_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "tests/serve/socket_client.h"

namespace espalier {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// A server on a thread of its own.
class Running {
 public:
  explicit Running(HttpServer::Handler handler, HttpServerOptions options = {})
      : server_(*HttpServer::Create(options, std::move(handler))),
        thread_([this] { server_->Run(); }) {}
  ~Running() {
    server_->Post([this] { server_->Stop(); });
    thread_.join();
  }
  int port() const { return server_->port(); }
  HttpServer& server() { return *server_; }

 private:
  std::unique_ptr<HttpServer> server_;
  std::thread thread_;
};

void Echo(const std::shared_ptr<HttpExchange>& exchange) {
  const HttpRequest& r = exchange->request();
  exchange->Reply(
      200, "text/plain",
      absl::StrCat(r.method, " ", r.target, " ", r.authorization, " ", r.body));
}

TEST(HttpServer, AnswersRequestsOfOneConnectionInTurn) {
  Running running(Echo);
  SocketClient client(running.port());
  for (int i = 0; i < 3; ++i) {
    const std::string reply =
        client.Ask("POST", absl::StrCat("/a?b=", i), absl::StrCat("body", i),
                   "Authorization: me\r\n");
    EXPECT_THAT(reply, StartsWith("HTTP/1.1 200 OK\r\n"));
    EXPECT_THAT(
        reply, HasSubstr(absl::StrCat("\r\n\r\nPOST /a?b=", i, " me body", i)));
  }
}

TEST(HttpServer, AnswersRequestsThatWereSentTogether) {
  Running running(Echo);
  SocketClient client(running.port());
  client.Send(
      "GET /1 HTTP/1.1\r\nHost: x\r\n\r\nGET /2 HTTP/1.1\r\nHost: x\r\n"
      "Connection: close\r\n\r\n");
  const std::string got = client.ReadAll();
  EXPECT_THAT(got, HasSubstr("GET /1"));
  EXPECT_THAT(got, HasSubstr("GET /2"));
  EXPECT_THAT(got, HasSubstr("Connection: close"));
}

TEST(HttpServer, ClosesAfterARequestOfHttp10) {
  Running running([](const std::shared_ptr<HttpExchange>& exchange) {
    exchange->Begin("text/plain");
    exchange->Send("one ");
    exchange->Send("two");
    exchange->End();
  });
  SocketClient client(running.port());
  client.Send("GET / HTTP/1.0\r\n\r\n");
  const std::string got = client.ReadAll();
  EXPECT_THAT(got, testing::EndsWith("\r\n\r\none two"));
  EXPECT_THAT(got, Not(HasSubstr("chunked")));
}

TEST(HttpServer, SendsPiecesInChunks) {
  Running running([](const std::shared_ptr<HttpExchange>& exchange) {
    exchange->Begin("text/event-stream");
    exchange->Send("0123456789abcdefg");
    exchange->Send("");
    exchange->Send("end");
    exchange->End();
    exchange->Send("late");
  });
  SocketClient client(running.port());
  EXPECT_THAT(client.Ask("GET", "/"),
              testing::EndsWith(
                  "\r\n\r\n11\r\n0123456789abcdefg\r\n3\r\nend\r\n0\r\n\r\n"));
  EXPECT_THAT(client.Ask("GET", "/"), HasSubstr("chunked"));
}

TEST(HttpServer, RefusesWhatIsTooLongOrNoHttp) {
  Running running(Echo, {.max_body = 100, .max_header = 1000});
  const std::string long_body(100000, 'x');
  EXPECT_THAT(SocketClient(running.port()).Ask("POST", "/", long_body),
              StartsWith("HTTP/1.1 413 "));
  SocketClient chunked(running.port());
  chunked.Send(absl::StrCat(
      "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n",
      absl::Hex(long_body.size()), "\r\n", long_body, "\r\n0\r\n\r\n"));
  EXPECT_THAT(chunked.ReadAll(), StartsWith("HTTP/1.1 413 "));
  EXPECT_THAT(SocketClient(running.port())
                  .Ask("GET", "/", "", "A: " + std::string(2000, 'x') + "\r\n"),
              StartsWith("HTTP/1.1 431 "));
  for (const char* text :
       {"\r\n\r\n\r\n", "GET\r\n\r\n", "hello there\r\n\r\n",
        "GET / HTTP/9.9\r\n\r\n",
        "GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        "GET / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n"}) {
    SocketClient client(running.port());
    client.Send(text);
    EXPECT_THAT(client.ReadAll(), StartsWith("HTTP/1.1 400 ")) << text;
  }
  EXPECT_THAT(SocketClient(running.port()).Ask("POST", "/", "still there"),
              HasSubstr("still there"));
}

TEST(HttpServer, AsksForABodyThatWaits) {
  Running running(Echo);
  SocketClient client(running.port());
  client.Send(
      "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n"
      "Expect: 100-continue\r\n\r\n");
  EXPECT_THAT(client.ReadUntil("\r\n\r\n"), StartsWith("HTTP/1.1 100 "));
  client.Send("body");
  EXPECT_THAT(client.ReadUntil("body"), HasSubstr("HTTP/1.1 200 "));
}

TEST(HttpServer, TellsThatAClientHasGone) {
  std::atomic<int> gone = 0;
  std::vector<std::shared_ptr<HttpExchange>> held;  // on the server's thread
  Running running([&](const std::shared_ptr<HttpExchange>& exchange) {
    exchange->OnGone([&gone] { ++gone; });
    held.push_back(exchange);
    if (exchange->request().target == "/stream") {
      exchange->Begin("text/plain");
      exchange->Send("hello");
    }
  });
  for (const char* target : {"/wait", "/stream"}) {
    const int before = gone;
    SocketClient client(running.port());
    client.Send(absl::StrCat("GET ", target, " HTTP/1.1\r\nHost: x\r\n\r\n"));
    if (target == std::string("/stream")) client.ReadUntil("hello");
    const double begin = Clock::Real().Seconds();
    while (running.server().connections() == 0) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_EQ(gone, before);
    client.Close();
    while (gone == before && Clock::Real().Seconds() - begin < 10) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    EXPECT_EQ(gone, before + 1) << target;
  }
  std::atomic<bool> freed = false;
  running.server().Post([&] {
    for (const auto& exchange : held)
      exchange->Reply(200, "text/plain", "late");
    held.clear();
    freed = true;
  });
  while (!freed) std::this_thread::yield();
}

// Of a client that has sent a further request already, or a stray line.
TEST(HttpServer, TellsThatAClientThatHasSentMoreHasGone) {
  std::atomic<int> gone = 0;
  std::vector<std::shared_ptr<HttpExchange>> held;  // on the server's thread
  Running running([&](const std::shared_ptr<HttpExchange>& exchange) {
    exchange->OnGone([&gone] { ++gone; });
    held.push_back(exchange);
  });
  int before = 0;
  for (const char* more : {"\r\n", "GET /2 HTTP/1.1\r\nHost: x\r\n\r\n"}) {
    for (const bool together : {true, false}) {
      SocketClient client(running.port());
      const std::string first = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
      client.Send(together ? first + more : first);
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      if (!together) client.Send(more);
      std::this_thread::sleep_for(std::chrono::milliseconds(60));
      EXPECT_EQ(gone, before);
      client.Close();
      const double begin = Clock::Real().Seconds();
      while (gone == before && Clock::Real().Seconds() - begin < 10) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
      EXPECT_EQ(gone, ++before);
    }
  }
  std::atomic<bool> freed = false;
  running.server().Post([&] {
    held.clear();
    freed = true;
  });
  while (!freed) std::this_thread::yield();
}

TEST(HttpServer, LooksAtTheHeadBeforeItReadsTheBody) {
  auto server = *HttpServer::Create({}, Echo, [](const HttpRequest& head) {
    return head.authorization == "me" ? std::string() : std::string("{}");
  });
  std::thread thread([&] { server->Run(); });
  {
    SocketClient client(server->port());
    client.Send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 99\r\n\r\n");
    const std::string reply = client.ReadUntil("{}");
    EXPECT_THAT(reply, StartsWith("HTTP/1.1 401 "));
    EXPECT_THAT(reply, HasSubstr("WWW-Authenticate: Bearer"));
    EXPECT_THAT(SocketClient(server->port())
                    .Ask("POST", "/", "body", "Authorization: me\r\n"),
                StartsWith("HTTP/1.1 200 "));
  }
  server->Post([&] { server->Stop(); });
  thread.join();
}

// Bodies count as far as they have arrived, and small ones are always read.
TEST(HttpServer, BoundsTheBodiesThatItReceives) {
  constexpr size_t kBody = 200000;
  Running running(Echo, {.max_body = kBody, .max_bodies = 250000});
  const std::string head = absl::StrCat(
      "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ", kBody, "\r\n\r\n");
  std::vector<std::unique_ptr<SocketClient>> declared;
  for (int i = 0; i < 5; ++i) {
    declared.push_back(std::make_unique<SocketClient>(running.port()));
    declared.back()->Send(head);
  }
  SocketClient half(running.port());
  half.Send(head + std::string(kBody - 1, 'x'));
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_THAT(
      SocketClient(running.port()).Ask("POST", "/", std::string(kBody, 'y')),
      StartsWith("HTTP/1.1 503 "));
  EXPECT_THAT(
      SocketClient(running.port()).Ask("POST", "/", std::string(60000, 'y')),
      StartsWith("HTTP/1.1 200 "));
  half.Send("x");
  EXPECT_THAT(half.ReadUntil("xxx"), StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(
      SocketClient(running.port()).Ask("POST", "/", std::string(kBody, 'y')),
      StartsWith("HTTP/1.1 200 "));
}

TEST(HttpServer, BoundsWhatIsNoBody) {
  Running running(Echo);
  const std::string head =
      "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
  const std::string much(1000000, 'a');
  for (const std::string& rest :
       {"1;" + much, "1;" + much + "\r\nx\r\n0\r\n\r\n",
        "0\r\nX: " + much + "\r\n\r\n"}) {
    SocketClient client(running.port());
    client.Send(head + rest);
    EXPECT_THAT(client.ReadAll(), StartsWith("HTTP/1.1 4"));
  }
}

TEST(HttpServer, ARequestThatIsDroppedIsAnswered) {
  Running running([](const std::shared_ptr<HttpExchange>&) {});
  EXPECT_THAT(SocketClient(running.port()).Ask("GET", "/"),
              StartsWith("HTTP/1.1 500 "));
}

TEST(HttpServer, AnswersFromOtherThreads) {
  std::vector<std::thread> workers;  // on the server's thread
  Running* server = nullptr;
  std::atomic<Running*> ready = nullptr;
  Running running([&](const std::shared_ptr<HttpExchange>& exchange) {
    while (ready == nullptr) std::this_thread::yield();
    server = ready;
    workers.emplace_back([&server = *server, exchange]() mutable {
      server.server().Post([held = std::move(exchange)] {
        held->Reply(200, "text/plain", "from afar");
      });
    });
  });
  ready = &running;
  std::vector<std::thread> clients;
  for (int i = 0; i < 8; ++i) {
    clients.emplace_back([&running] {
      SocketClient client(running.port());
      for (int k = 0; k < 20; ++k) {
        EXPECT_THAT(client.Ask("GET", "/"), HasSubstr("from afar"));
      }
    });
  }
  for (std::thread& client : clients) client.join();
  for (std::thread& worker : workers) worker.join();
}

TEST(HttpServer, ConnectionsWithoutARequestMakeRoom) {
  Running running(Echo, {.max_connections = 3});
  SocketClient oldest(running.port());
  EXPECT_THAT(oldest.Ask("GET", "/0"), HasSubstr("GET /0"));
  std::vector<std::unique_ptr<SocketClient>> silent;
  for (int i = 0; i < 10; ++i) {
    silent.push_back(std::make_unique<SocketClient>(running.port()));
    silent.back()->Send("GET /half HTTP/1.1\r\nHost:");
  }
  EXPECT_THAT(SocketClient(running.port()).Ask("GET", "/1"),
              HasSubstr("GET /1"));
  EXPECT_EQ(oldest.ReadUntil("never").find("never"), std::string::npos);
}

TEST(HttpServer, MoreRequestsThanConnectionsWait) {
  std::vector<std::shared_ptr<HttpExchange>> held;  // on the server's thread
  Running running(
      [&](const std::shared_ptr<HttpExchange>& exchange) {
        if (exchange->request().target == "/hold") {
          held.push_back(exchange);
        } else {
          Echo(exchange);
        }
      },
      {.max_connections = 2});
  SocketClient first(running.port()), second(running.port());
  for (SocketClient* client : {&first, &second}) {
    client->Send("GET /hold HTTP/1.1\r\nHost: x\r\n\r\n");
  }
  while (running.server().connections() < 2) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  SocketClient third(running.port());
  third.Send("GET /3 HTTP/1.1\r\nHost: x\r\n\r\n");
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(running.server().connections(), 2);
  running.server().Post([&] { held.clear(); });
  EXPECT_THAT(first.ReadUntil("dropped"), StartsWith("HTTP/1.1 500 "));
  EXPECT_THAT(third.ReadUntil("/3"), HasSubstr("GET /3"));
}

TEST(HttpServer, IdleConnectionsEnd) {
  Running running(Echo, {.idle_seconds = 0.05, .body_seconds = 0.05});
  SocketClient quiet(running.port());
  EXPECT_EQ(quiet.ReadAll(), "");
  SocketClient half(running.port());
  half.Send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nabc");
  EXPECT_EQ(half.ReadAll(), "");
}

TEST(HttpServer, AClientThatDoesNotReadIsLeft) {
  std::atomic<bool> gone = false;
  std::shared_ptr<HttpExchange> held;  // on the server's thread
  Running running(
      [&](const std::shared_ptr<HttpExchange>& exchange) {
        held = exchange;
        exchange->OnGone([&gone] { gone = true; });
        exchange->Begin("text/plain");
        exchange->Send(std::string(64 << 20, 'x'));
        EXPECT_GT(exchange->unsent(), size_t{1} << 20);
      },
      {.write_seconds = 0.1});
  SocketClient client(running.port());
  client.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  while (!gone) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  std::atomic<bool> freed = false;
  running.server().Post([&] {
    held = nullptr;
    freed = true;
  });
  while (!freed) std::this_thread::yield();
}

TEST(HttpServer, EndsWithoutItsClients) {
  auto running = std::make_unique<Running>(Echo);
  SocketClient idle(running->port()), asking(running->port());
  EXPECT_THAT(asking.Ask("GET", "/"), HasSubstr("GET /"));
  std::atomic<bool> stopped = false;
  running->server().Post([&] {
    running->server().StopAccepting();
    stopped = true;
  });
  while (!stopped) std::this_thread::yield();
  EXPECT_EQ(asking.ReadUntil("never comes").find("never"), std::string::npos);
  EXPECT_FALSE(SocketClient(running->port()).connected());
  running.reset();
}

TEST(HttpServer, TakesConnectionsWhileItDrains) {
  Running running(Echo);
  SocketClient idle(running.port());
  EXPECT_THAT(idle.Ask("GET", "/"), HasSubstr("GET /"));
  std::atomic<bool> draining = false;
  running.server().Post([&] {
    running.server().Drain();
    draining = true;
  });
  while (!draining) std::this_thread::yield();
  EXPECT_EQ(idle.ReadUntil("never comes").find("never"), std::string::npos);
  SocketClient late(running.port());
  late.Send("GET /late HTTP/1.1\r\nHost: x\r\n\r\n");
  const std::string reply = late.ReadAll();  // until it is closed
  EXPECT_THAT(reply, HasSubstr("GET /late"));
  EXPECT_THAT(reply, HasSubstr("Connection: close"));
}

TEST(HttpServer, SaysWhyItCannotListen) {
  Running running(Echo);
  const auto taken = HttpServer::Create({.port = running.port()}, Echo);
  EXPECT_TRUE(absl::IsUnavailable(taken.status())) << taken.status();
  EXPECT_THAT(std::string(taken.status().message()),
              HasSubstr(absl::StrCat("127.0.0.1:", running.port())));
  EXPECT_TRUE(absl::IsInvalidArgument(
      HttpServer::Create({.host = "nowhere"}, Echo).status()));
  EXPECT_FALSE(HttpServer::Create({.host = "192.0.2.1"}, Echo).ok());
}

}  // namespace
}  // namespace espalier
