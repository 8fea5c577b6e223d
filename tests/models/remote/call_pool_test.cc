// The pool against real HTTP servers in this process.
#include "models/remote/call_pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "base/random.h"
#include "models/remote/http_connection.h"

namespace espalier {
namespace {

using testing::HasSubstr;

// Answers POST /x by a function of the number of the request.
class TestServer {
 public:
  using Handler = std::function<void(int, httplib::Response&)>;

  explicit TestServer(Handler handler, int threads = 32)
      : handler_(std::move(handler)) {
    http_.Post("/x", [this](const httplib::Request& request,
                            httplib::Response& response) {
      {
        MutexLock lock(mutex_);
        key_ = request.get_header_value("Authorization");
      }
      const int now = ++busy_;
      most_ = std::max(most_.load(), now);
      handler_(requests_++, response);
      --busy_;
    });
    http_.new_task_queue = [threads] {
      return new httplib::ThreadPool(static_cast<size_t>(threads));
    };
    // The library lets five connections wait, and on a loaded machine further
    // ones take a second or break off.
    int socket = -1;
    http_.set_socket_options([&socket](socket_t made) { socket = made; });
    port_ = http_.bind_to_any_port("127.0.0.1");
    listen(socket, 256);
    thread_ = std::thread([this] { http_.listen_after_bind(); });
    while (!http_.is_running()) std::this_thread::yield();
  }
  ~TestServer() {
    http_.stop();
    thread_.join();
  }

  Endpoint endpoint() const { return {.host = "127.0.0.1", .port = port_}; }
  int requests() const { return requests_; }
  int most() const { return most_; }
  std::string key() const {
    MutexLock lock(mutex_);
    return key_;
  }

 private:
  Handler handler_;
  httplib::Server http_;
  int port_ = 0;
  std::atomic<int> requests_ = 0, busy_ = 0, most_ = 0;
  mutable Mutex mutex_;
  std::string key_ ABSL_GUARDED_BY(mutex_);
  std::thread thread_;
};

CallPoolOptions Quick() {
  return {.attempts = 4, .first_wait = 0.01, .longest_wait = 0.05};
}

class Calls {
 public:
  explicit Calls(std::vector<Endpoint> servers,
                 CallPoolOptions options = Quick())
      : pool_(std::move(servers), {}, options) {}

  // The replies and errors of `count` calls, by their ids.
  std::map<uint64_t, std::string> Run(int count, uint64_t affinity = 0) {
    std::map<uint64_t, std::string> out;
    std::vector<std::string> replies(static_cast<size_t>(count));
    for (int i = 0; i < count; ++i) {
      pool_.Start({.id = static_cast<uint64_t>(i + 1),
                   .affinity = affinity,
                   .path = "/x",
                   .body = "{}",
                   .read = [&reply = replies[static_cast<size_t>(i)]](
                               const std::string& body) {
                     if (body.find("bad") != std::string::npos) {
                       return absl::InvalidArgumentError("no JSON");
                     }
                     reply = body;
                     return absl::OkStatus();
                   }});
    }
    while (out.size() < static_cast<size_t>(count)) {
      for (const CallPool::Ended& ended : pool_.Take(0.05)) {
        codes_[ended.id] = ended.status.code();
        out[ended.id] = ended.status.ok() ? replies[ended.id - 1]
                                          : std::string(ended.status.message());
      }
    }
    return out;
  }
  CallPool& pool() { return pool_; }
  // Of the last calls of these ids.
  const std::map<uint64_t, absl::StatusCode>& codes() const { return codes_; }

 private:
  CallPool pool_;
  std::map<uint64_t, absl::StatusCode> codes_;
};

void Answer(httplib::Response& response, int status, const std::string& body) {
  response.status = status;
  response.set_content(body, "application/json");
}

// A port where nothing listens.
Endpoint Nobody() {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  bind(fd, reinterpret_cast<sockaddr*>(&address), size);
  getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size);
  close(fd);
  return {.host = "127.0.0.1", .port = ntohs(address.sin_port)};
}

// Answers every connection but the first, which it resets once it has read a
// request: what a server does that closes an idle one at that moment.
class ResettingServer {
 public:
  ResettingServer() : listener_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    bind(listener_, reinterpret_cast<sockaddr*>(&address), size);
    listen(listener_, 4);
    getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { Serve(); });
  }
  ~ResettingServer() {
    shutdown(listener_, SHUT_RDWR);
    thread_.join();
    close(listener_);
  }
  ResettingServer(const ResettingServer&) = delete;
  ResettingServer& operator=(const ResettingServer&) = delete;

  Endpoint endpoint() const { return {.host = "127.0.0.1", .port = port_}; }

 private:
  void Serve() {
    bool first = true;
    for (int fd; (fd = accept(listener_, nullptr, nullptr)) >= 0;) {
      char request[4096];
      if (recv(fd, request, sizeof(request), 0) > 0 && !first) {
        constexpr std::string_view kReply =
            "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n"
            "Connection: close\r\n\r\ngood";
        send(fd, kReply.data(), kReply.size(), MSG_NOSIGNAL);
      }
      const linger reset = {.l_onoff = first ? 1 : 0, .l_linger = 0};
      setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
      close(fd);
      first = false;
    }
  }

  int listener_;
  int port_ = 0;
  std::thread thread_;
};

TEST(CallPool, AConnectionThatEndsIsOpenedAgainAtOnce) {
  ResettingServer server;
  // Longer than the test's own limit.
  Calls calls({server.endpoint()},
              {.attempts = 4, .first_wait = 60, .longest_wait = 60});
  const double start = Clock::Real().Seconds();
  EXPECT_EQ(calls.Run(1)[1], "good");
  EXPECT_LT(Clock::Real().Seconds() - start, 20);
  EXPECT_EQ(calls.pool().stats().attempts, 2);
}

TEST(CallPool, EveryCallIsAnsweredOnce) {
  TestServer server([](int, httplib::Response& r) { Answer(r, 200, "fine"); });
  Endpoint endpoint = server.endpoint();
  endpoint.key = "sesame";
  Calls calls({endpoint});
  const auto out = calls.Run(200);
  for (const auto& [id, text] : out) EXPECT_EQ(text, "fine") << id;
  EXPECT_EQ(server.requests(), 200);
  EXPECT_EQ(server.key(), "Bearer sesame");
}

TEST(CallPool, EachServerIsToldItsOwnKeyOnly) {
  // Refuses the key that it is told, and repeats it.
  TestServer first([](int, httplib::Response& r) {
    Answer(r, 503, R"({"error":"wrong: one"})");
  });
  TestServer second([](int i, httplib::Response& r) {
    Answer(r, i < 1 ? 200 : 401, i < 1 ? "fine" : R"({"error":"wrong: two"})");
  });
  Endpoint one = first.endpoint(), two = second.endpoint();
  one.key = "one";
  two.key = "two";
  Calls calls({one, two});
  EXPECT_THAT(calls.Run(1, /*affinity=*/0)[1], HasSubstr("wrong: (key)"));
  EXPECT_EQ(calls.Run(1, /*affinity=*/1)[1], "fine");
  EXPECT_EQ(first.key(), "Bearer one");
  EXPECT_EQ(second.key(), "Bearer two");
  const std::string refused = calls.Run(1, /*affinity=*/1)[1];
  EXPECT_THAT(refused, HasSubstr("wrong: (key)"));
  EXPECT_THAT(refused, HasSubstr(absl::StrCat("ESPALIER_API_KEY_127_0_0_1_",
                                              two.port, ",")));
}

TEST(CallPool, TriesAgainWhatMayHelp) {
  for (const int status : {408, 429, 500, 502, 503}) {
    TestServer server([status](int i, httplib::Response& r) {
      Answer(r, i < 2 ? status : 200, "fine");
    });
    Calls calls({server.endpoint()});
    EXPECT_EQ(calls.Run(1)[1], "fine") << status;
    EXPECT_EQ(server.requests(), 3) << status;
  }
  TestServer malformed([](int i, httplib::Response& r) {
    Answer(r, 200, i < 2 ? "bad" : "fine");
  });
  Calls calls({malformed.endpoint()});
  EXPECT_EQ(calls.Run(1)[1], "fine");
}

TEST(CallPool, GivesUpWithTheServersWordsAndItsUrl) {
  TestServer server([](int, httplib::Response& r) {
    Answer(r, 500, R"({"error":{"message":"out of \u001b[1m memory"}})");
  });
  Calls calls({server.endpoint()});
  const std::string text = calls.Run(1)[1];
  EXPECT_THAT(text, HasSubstr(server.endpoint().Url() + "/x answered 500"));
  EXPECT_THAT(text, HasSubstr("out of  [1m memory"));
  EXPECT_THAT(text, HasSubstr("after 4 attempts"));
  EXPECT_EQ(server.requests(), 4);
}

// A run goes on without the search of a call that alone never succeeds.
TEST(CallPool, TellsACallThatFailsFromAServerThatIsGone) {
  TestServer server([](int i, httplib::Response& r) {
    Answer(r, i == 1 ? 200 : 500, i == 1 ? "fine" : "broken");
  });
  Calls calls({server.endpoint()});
  const auto both = calls.Run(2);
  const bool first = both.at(1) != "fine";
  EXPECT_EQ(both.at(first ? 2 : 1), "fine");
  EXPECT_THAT(both.at(first ? 1 : 2), HasSubstr("answered meanwhile"));
  EXPECT_EQ(calls.codes().at(first ? 1 : 2), absl::StatusCode::kInternal);
  calls.Run(1);
  EXPECT_EQ(calls.codes().at(1), absl::StatusCode::kUnavailable);
}

TEST(CallPool, AKeyInAReplyGoesNoFurther) {
  TestServer server([](int, httplib::Response& r) {
    Answer(r, 200, R"({"text":"no key sk-0123456789, sorry"})");
  });
  Endpoint endpoint = server.endpoint();
  endpoint.key = "sk-0123456789";
  EXPECT_EQ(Calls({endpoint}).Run(1)[1], R"({"text":"no key (key), sorry"})");
}

// A reader's message shows what it has decoded.
TEST(CallPool, AKeyInAnErrorGoesNoFurther) {
  const std::string key = "sk-\"0123456789\"";
  TestServer server([](int, httplib::Response& r) { Answer(r, 200, "{}"); });
  Endpoint endpoint = server.endpoint();
  endpoint.key = key;
  CallPool pool({endpoint}, {}, {.attempts = 1, .unread_attempts = 1});
  pool.Start({.id = 1, .path = "/x", .body = "{}", .read = [&](const auto&) {
                return absl::InternalError("found " + key +
                                           R"(, found "sk-\"0123456789\"")");
              }});
  std::vector<CallPool::Ended> ended;
  while (ended.empty()) ended = pool.Take(1);
  EXPECT_THAT(std::string(ended[0].status.message()),
              HasSubstr("found (key), found \"(key)\""));
}

TEST(CallPool, RefusalsAreErrorsAtOnce) {
  for (const int status : {400, 401, 413, 422}) {
    TestServer server([status](int, httplib::Response& r) {
      Answer(r, status, R"({"detail":"no such thing"})");
    });
    Calls calls({server.endpoint()});
    EXPECT_THAT(calls.Run(1)[1], HasSubstr("no such thing")) << status;
    EXPECT_EQ(server.requests(), 1) << status;
  }
}

// A proxy whose server is being exchanged answers so for a while.
TEST(CallPool, OtherStatusesAreTriedAgain) {
  for (const int status : {204, 302, 404, 409, 405}) {
    TestServer server([status](int i, httplib::Response& r) {
      Answer(r, i < 2 ? status : 200, i < 2 ? "" : "fine");
    });
    Calls calls({server.endpoint()});
    EXPECT_EQ(calls.Run(1)[1], "fine") << status;
    EXPECT_EQ(server.requests(), 3) << status;
  }
  TestServer server([](int, httplib::Response& r) { Answer(r, 404, "no"); });
  CallPoolOptions options = Quick();
  options.paths_may_lack = true;
  Calls calls({server.endpoint()}, options);
  EXPECT_THAT(calls.Run(1)[1], HasSubstr("answered 404"));
  EXPECT_EQ(server.requests(), 1);
}

TEST(CallPool, WaitsAsLongAsTheServerAsks) {
  TestServer server([](int i, httplib::Response& r) {
    if (i == 0) r.set_header("Retry-After", "1");
    Answer(r, i == 0 ? 429 : 200, "fine");
  });
  Calls calls({server.endpoint()});
  const double begin = Clock::Real().Seconds();
  EXPECT_EQ(calls.Run(1)[1], "fine");
  EXPECT_GE(Clock::Real().Seconds() - begin, 0.99);
  TestServer never([](int, httplib::Response& r) {
    r.set_header("Retry-After", "86400");
    Answer(r, 429, "{}");
  });
  Calls more({never.endpoint()});
  EXPECT_THAT(more.Run(1)[1], HasSubstr("86400 s"));
}

TEST(CallPool, WaitsUntilTheDateThatTheServerNames) {
  TestServer server([](int i, httplib::Response& r) {
    r.set_header("Date", "Sun, 06 Nov 1994 08:49:37 GMT");
    if (i == 0) r.set_header("Retry-After", "Sun, 06 Nov 1994 08:49:38 GMT");
    Answer(r, i == 0 ? 503 : 200, "fine");
  });
  Calls calls({server.endpoint()});
  const double begin = Clock::Real().Seconds();
  EXPECT_EQ(calls.Run(1)[1], "fine");
  EXPECT_GE(Clock::Real().Seconds() - begin, 0.99);
}

TEST(CallPool, ADeadServersCallsGoToTheNext) {
  TestServer alive([](int, httplib::Response& r) { Answer(r, 200, "fine"); });
  Calls calls({Nobody(), alive.endpoint()});
  const auto out = calls.Run(20, /*affinity=*/0);
  for (const auto& [id, text] : out) EXPECT_EQ(text, "fine") << id;
  EXPECT_EQ(alive.requests(), 20);
  EXPECT_GE(calls.pool().stats().failovers, 20);
}

TEST(CallPool, SaysThatNoServerAnswers) {
  const Endpoint nobody = Nobody();
  Calls calls({nobody, Nobody()});
  const double begin = Clock::Real().Seconds();
  const std::string text = calls.Run(1)[1];
  EXPECT_THAT(text, HasSubstr("cannot connect"));
  EXPECT_LT(Clock::Real().Seconds() - begin, 5);
}

TEST(CallPool, CallsOfAProblemStayWithTheirServer) {
  const auto fine = [](int, httplib::Response& r) { Answer(r, 200, "fine"); };
  TestServer first(fine), second(fine);
  Calls calls({first.endpoint(), second.endpoint()});
  calls.Run(10, /*affinity=*/1);
  EXPECT_EQ(first.requests(), 0);
  EXPECT_EQ(second.requests(), 10);
}

// 100 calls of 20 ms: one at a time they would take 2 s.
TEST(CallPool, ManyCallsAreInFlight) {
  TestServer server([](int, httplib::Response& r) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    Answer(r, 200, "fine");
  });
  Calls calls({server.endpoint()},
              {.first_in_flight = 8, .most_in_flight = 16});
  calls.Run(100);
  EXPECT_GE(server.most(), 4);
  EXPECT_LE(server.most(), 16);
}

TEST(CallPool, ABusyServerGetsFewerCalls) {
  TestServer server([](int i, httplib::Response& r) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    Answer(r, i < 8 ? 429 : 200, "fine");
  });
  Calls calls({server.endpoint()}, {.first_in_flight = 16,
                                    .attempts = 20,
                                    .first_wait = 0.01,
                                    .longest_wait = 0.05});
  const auto out = calls.Run(40);
  for (const auto& [id, text] : out) EXPECT_EQ(text, "fine") << id;
  EXPECT_GE(calls.pool().stats().busy, 8);
}

TEST(CallPool, CancelledCallsEndAtOnceAndStaySilent) {
  std::atomic<bool> release = false;
  TestServer server([&release](int, httplib::Response& r) {
    while (!release) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    Answer(r, 200, "late");
  });
  CallPool pool({server.endpoint()}, {}, {.first_in_flight = 2});
  for (uint64_t id = 1; id <= 4; ++id) {
    pool.Start({.id = id, .path = "/x", .body = "{}", .read = [](const auto&) {
                  return absl::OkStatus();
                }});
  }
  while (server.requests() < 2) EXPECT_TRUE(pool.Take(0.001).empty());
  for (uint64_t id = 1; id <= 4; ++id) pool.Cancel(id);
  release = true;
  EXPECT_TRUE(pool.Take(0.2).empty());
}

TEST(CallPool, EndsWithCallsInFlight) {
  std::atomic<bool> release = false;
  TestServer server([&release](int, httplib::Response& r) {
    while (!release) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    Answer(r, 200, "late");
  });
  const double begin = Clock::Real().Seconds();
  {
    CallPool pool({server.endpoint()}, {}, {});
    for (uint64_t id = 1; id <= 8; ++id) {
      pool.Start(
          {.id = id, .path = "/x", .body = "{}", .read = [](const auto&) {
             return absl::OkStatus();
           }});
    }
    while (server.requests() < 4) EXPECT_TRUE(pool.Take(0.001).empty());
  }
  EXPECT_LT(Clock::Real().Seconds() - begin, 5);
  release = true;
}

// The pool ends while its calls connect and send.
TEST(CallPool, EndsWithCallsThatBegin) {
  std::atomic<bool> release = false;
  TestServer server([&release](int, httplib::Response& r) {
    while (!release) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    Answer(r, 200, "late");
  });
  const double begin = Clock::Real().Seconds();
  RandomStream rng(StreamKey(1, 0, 0, Purpose::kTest));
  for (int round = 0; round < 500; ++round) {
    CallPool pool({server.endpoint()}, {.read_seconds = 20}, {});
    for (uint64_t id = 1; id <= 4; ++id) {
      pool.Start(
          {.id = id, .path = "/x", .body = "{}", .read = [](const auto&) {
             return absl::OkStatus();
           }});
    }
    pool.Take(1e-6 * rng.Below(300));
  }
  EXPECT_LT(Clock::Real().Seconds() - begin, 15);
  release = true;
}

// A server with one thread serves a connection until it closes, 5 s after its
// last request: a second client would wait for that.
TEST(CallPool, LeavesNoIdleConnectionToServersWithFewThreads) {
  TestServer server([](int, httplib::Response& r) { Answer(r, 200, "fine"); },
                    1);
  CallPoolOptions options = Quick();
  options.keep_idle = false;
  Calls one({server.endpoint()}, options), other({server.endpoint()}, options);
  const double start = Clock::Real().Seconds();
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(one.Run(2),
              (std::map<uint64_t, std::string>{{1, "fine"}, {2, "fine"}}));
    EXPECT_EQ(other.Run(1), (std::map<uint64_t, std::string>{{1, "fine"}}));
  }
  EXPECT_LT(Clock::Real().Seconds() - start, 4.5);
}

TEST(HttpConnection, LimitsTheReply) {
  TestServer server([](int, httplib::Response& r) {
    Answer(r, 200, std::string(1 << 20, 'x'));
  });
  HttpConnection connection(server.endpoint(), {.max_bytes = 1 << 16});
  const auto reply = connection.Post("/x", "{}");
  EXPECT_EQ(reply.status().code(), absl::StatusCode::kResourceExhausted);
}

TEST(HttpConnection, TellsASlowServerFromADeadOne) {
  TestServer server([](int, httplib::Response& r) {
    std::this_thread::sleep_for(std::chrono::milliseconds(400));
    Answer(r, 200, "late");
  });
  HttpConnection connection(server.endpoint(), {.read_seconds = 0.1});
  const auto reply = connection.Post("/x", "{}");
  EXPECT_TRUE(absl::IsUnavailable(reply.status())) << reply.status();
  EXPECT_THAT(std::string(reply.status().message()), HasSubstr("0.1 s"));
}

}  // namespace
}  // namespace espalier
