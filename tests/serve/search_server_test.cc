// The server over an engine that answers what the tests say.
#include "src/serve/search_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <list>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "espalier/search_source.h"
#include "nlohmann/json.hpp"
#include "tests/serve/socket_client.h"

namespace espalier {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;
using testing::StartsWith;

// Answers with the question and the seed. A question that begins with "wait"
// is answered when it is stopped, and holds one of `live` places until then.
class EchoEngine : public Engine {
 public:
  explicit EchoEngine(size_t live = 8) : live_(live) {}

  absl::Status SolveAll(
      absl::Span<const Problem>, const Task&, const SearchOptions& options,
      const RunHooks&,
      const std::function<void(size_t, SearchResult)>&) override {
    return CheckSearch(options);
  }
  EngineStats stats() const override { return {}; }

  void Serve(SearchSource& source) override {
    std::list<std::unique_ptr<SearchJob>> waiting;
    for (;;) {
      while (waiting.size() < live_) {
        auto job = source.Next(waiting.empty());
        if (job == nullptr) break;
        ++begun_;
        if (job->hooks.on_progress) {
          job->hooks.on_progress(0, {.steps = {{.text = "thinking\n"}}});
        }
        if (job->problem.question.find("wait") == std::string::npos) {
          Answer(*job);
        } else {
          waiting.push_back(std::move(job));
        }
      }
      if (waiting.empty()) return;
      for (auto it = waiting.begin(); it != waiting.end();) {
        if (!(*it)->hooks.stop->load()) {
          ++it;
          continue;
        }
        Answer(**it);
        it = waiting.erase(it);
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  int begun() const { return begun_; }

 private:
  static void Answer(SearchJob& job) {
    if (job.problem.question.find("server") != std::string::npos) {
      return job.on_done({.status = absl::UnavailableError("no server")});
    }
    if (job.problem.question.find("refused") != std::string::npos) {
      return job.on_done({.status = absl::InvalidArgumentError(
                              "http://gpu-7:8000 answered 400: secret")});
    }
    SearchResult result{
        .response = absl::StrCat(job.problem.question, " ", job.options.seed)};
    result.steps = {{.text = result.response, .terminal = true}};
    job.on_done(std::move(result));
  }

  const size_t live_;
  std::atomic<int> begun_ = 0;
};

class Served {
 public:
  explicit Served(SearchServerOptions options = {}, size_t live = 8)
      : engine_(live),
        server_(engine_, *RequestTasks::Create({.task = "qa"}),
                std::move(options)) {
    EXPECT_TRUE(server_.Listen({}).ok());
    thread_ = std::thread([this] { server_.Run(stop_); });
  }
  ~Served() {
    Stop();
    Join();
  }
  void Join() {
    if (thread_.joinable()) thread_.join();
  }
  int port() const { return server_.port(); }
  const EchoEngine& engine() const { return engine_; }
  void Stop() { stop_ = true; }

  std::string Get(std::string_view path, std::string_view headers = "") {
    return SocketClient(port()).Ask("GET", path, "", headers);
  }
  double Metric(const std::string& name) {
    const std::string text = "\n" + Get("/metrics");
    const size_t at = text.find("\nespalier_" + name + " ");
    if (at == std::string::npos) return -1;
    return std::stod(text.substr(at + name.size() + 11));
  }

 private:
  EchoEngine engine_;
  SearchServer server_;
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

std::string Body(const std::string& question, const std::string& more = "") {
  return absl::StrCat(R"({"model":"beam@100","messages":[{"role":"user",)",
                      R"("content":")", question, R"("}])", more, "}");
}

std::string Chat(int port, const std::string& question,
                 const std::string& more = "") {
  return SocketClient(port).Ask("POST", "/v1/chat/completions",
                                Body(question, more));
}

// Sends a chat without waiting for its reply.
void SendChat(SocketClient& client, const std::string& body) {
  client.Send(absl::StrCat(
      "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: ",
      body.size(), "\r\n\r\n", body));
}

Json JsonOf(const std::string& reply) {
  return Json::parse(reply.substr(reply.find("\r\n\r\n") + 4));
}

void WaitFor(const std::function<bool()>& done) {
  const double begin = Clock::Real().Seconds();
  while (!done() && Clock::Real().Seconds() - begin < 20) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  EXPECT_TRUE(done());
}

TEST(SearchServer, AnswersManyClientsEachItsOwnQuestion) {
  Served served;
  std::vector<std::thread> clients;
  for (int c = 0; c < 8; ++c) {
    clients.emplace_back([&served, c] {
      SocketClient client(served.port());
      for (int i = 0; i < 25; ++i) {
        const std::string question = absl::StrCat("q", c, "-", i);
        const std::string reply =
            client.Ask("POST", "/v1/chat/completions",
                       Body(question, absl::StrCat(R"(,"seed":)", i)));
        ASSERT_THAT(reply, StartsWith("HTTP/1.1 200"));
        EXPECT_EQ(JsonOf(reply)["choices"][0]["message"]["content"],
                  absl::StrCat(question, " ", i));
      }
    });
  }
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(served.Metric("requests_total{endpoint=\"chat\",code=\"200\"}"),
            200);
  EXPECT_EQ(served.Metric("searches_running"), 0);
}

TEST(SearchServer, ListsMethodsAsModels) {
  Served served({.api = {.model = "mine"}});
  const Json models = JsonOf(served.Get("/v1/models"));
  EXPECT_EQ(models["data"][0]["id"], "mine");
  EXPECT_THAT(models.dump(), HasSubstr("\"beam\""));
  EXPECT_EQ(models.dump().find("omega_prm"), std::string::npos);
  EXPECT_EQ(JsonOf(served.Get("/v1/models/beam"))["id"], "beam");
  EXPECT_THAT(served.Get("/v1/models/bem"), StartsWith("HTTP/1.1 404"));
}

TEST(SearchServer, AsksForItsKey) {
  Served served({.key = "sesame"});
  for (const char* header :
       {"", "Authorization: Bearer sesam\r\n",
        "Authorization: Bearer sesame2\r\n", "Authorization: sesame\r\n",
        "Authorization: Bearer \r\n"}) {
    const std::string reply = served.Get("/v1/models", header);
    EXPECT_THAT(reply, StartsWith("HTTP/1.1 401")) << header;
    EXPECT_EQ(reply.find("sesame"), std::string::npos);
  }
  EXPECT_THAT(served.Get("/v1/models", "Authorization: Bearer sesame\r\n"),
              StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(served.Get("/health"), StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(served.Get("/metrics"), StartsWith("HTTP/1.1 200"));
}

TEST(SearchServer, KnowsItsPaths) {
  Served served;
  for (const char* path : {"/", "/v1", "/v2/models", "/v1/embeddings"}) {
    EXPECT_THAT(served.Get(path), StartsWith("HTTP/1.1 404")) << path;
  }
  EXPECT_THAT(served.Get("/v1/chat/completions"), StartsWith("HTTP/1.1 405"));
  SocketClient client(served.port());
  EXPECT_THAT(client.Ask("POST", "/health", "x"), StartsWith("HTTP/1.1 405"));
  const std::string reply = client.Ask(
      "POST", "/puct%3Abranch=2%4050/v1/chat/completions", Body("a"));
  EXPECT_THAT(reply, StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(served.Get("/beam@600/v1/models"), StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(served.Get("/beam@x/v1/models"), StartsWith("HTTP/1.1 400"));
  // A prefix that is no method, with those that are.
  const std::string unknown = served.Get("/bem/v1/models");
  EXPECT_THAT(unknown, StartsWith("HTTP/1.1 404"));
  for (const char* part : {"did you mean", "METHOD@BUDGET", "auto, ", "puct"}) {
    EXPECT_THAT(unknown, HasSubstr(part));
  }
  EXPECT_THAT(served.Get("/nonsense/v1/models/qa"), StartsWith("HTTP/1.1 404"));
  EXPECT_THAT(client.Ask("POST", "/bem/v1/chat/completions", Body("a")),
              StartsWith("HTTP/1.1 404"));
}

TEST(SearchServer, ReadsWhatProxiesAndOtherClientsSend) {
  Served served({.key = "sesame"});
  EXPECT_THAT(served.Get("http://somewhere/health"),
              StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(served.Get("http://somewhere/v1/models?limit=9",
                         "Authorization: bearer sesame\r\n"),
              StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(SocketClient(served.port()).Ask("HEAD", "/health"),
              StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(served.Get("http://somewhere/v1/models"),
              StartsWith("HTTP/1.1 401"));
}

TEST(SearchServer, StreamsStepsThenTheResponse) {
  Served served;
  const std::string reply = Chat(served.port(), "a", R"(,"stream":true)");
  const size_t role = reply.find("\"role\":\"assistant\"");
  const size_t steps = reply.find("\"reasoning_content\":\"thinking\\n\"");
  const size_t content = reply.find("\"content\":\"a 0\"");
  const size_t done = reply.find("data: [DONE]");
  EXPECT_LT(role, steps);
  EXPECT_LT(steps, content);
  EXPECT_LT(content, done);
  EXPECT_NE(done, std::string::npos);
}

TEST(SearchServer, AnErrorOfTheModelsServerIsTold) {
  Served served;
  EXPECT_THAT(Chat(served.port(), "server"), StartsWith("HTTP/1.1 503"));
  const std::string refused = Chat(served.port(), "refused");
  EXPECT_THAT(refused, StartsWith("HTTP/1.1 500"));
  EXPECT_EQ(refused.find("gpu-7"), std::string::npos);
  const std::string stream = Chat(served.port(), "server", R"(,"stream":true)");
  EXPECT_THAT(stream, HasSubstr("does not answer"));
  EXPECT_THAT(stream, testing::Not(HasSubstr("[DONE]")));
}

TEST(SearchServer, AClientThatGoesFreesItsSearch) {
  Served served({}, /*live=*/1);
  for (const char* stream : {"false", "true"}) {
    const double before = served.Metric("requests_cancelled_total");
    SocketClient running(served.port()), queued(served.port());
    for (SocketClient* client : {&running, &queued}) {
      const std::string body =
          Body("wait", absl::StrCat(R"(,"stream":)", stream));
      SendChat(*client, body);
    }
    WaitFor([&] {
      return served.Metric("searches_running") == 1 &&
             served.Metric("searches_waiting") == 1;
    });
    queued.Close();
    WaitFor([&] { return served.Metric("searches_waiting") == 0; });
    const int begun = served.engine().begun();
    const double at = Clock::Real().Seconds();
    running.Close();
    WaitFor([&] { return served.Metric("searches_running") == 0; });
    EXPECT_LT(Clock::Real().Seconds() - at, 5);
    EXPECT_EQ(served.Metric("requests_cancelled_total"), before + 2);
    EXPECT_EQ(served.engine().begun(), begun);
  }
}

TEST(SearchServer, AFullQueueIsTold) {
  Served served({.queue = 1}, /*live=*/1);
  SocketClient first(served.port()), second(served.port());
  SendChat(first, Body("wait"));
  WaitFor([&] { return served.Metric("searches_running") == 1; });
  SendChat(second, Body("wait"));
  WaitFor([&] { return served.Metric("searches_waiting") == 1; });
  const std::string reply = Chat(served.port(), "a");
  EXPECT_THAT(reply, StartsWith("HTTP/1.1 429"));
  EXPECT_THAT(reply, HasSubstr("Retry-After: "));
}

TEST(SearchServer, PingsWhileItIsSilent) {
  Served served({.ping_seconds = 0.01}, /*live=*/1);
  SocketClient running(served.port()), queued(served.port());
  for (SocketClient* client : {&running, &queued}) {
    const std::string body = Body("wait", R"(,"stream":true)");
    SendChat(*client, body);
  }
  EXPECT_THAT(running.ReadUntil(": ping\n\n"), HasSubstr(": ping\n\n"));
  EXPECT_THAT(queued.ReadUntil(": ping\n\n"), HasSubstr(": ping\n\n"));
}

TEST(SearchServer, DrainsWhenItIsStopped) {
  Served served({.drain_seconds = 0.2}, /*live=*/1);
  SocketClient running(served.port()), queued(served.port());
  for (SocketClient* client : {&running, &queued}) {
    const std::string body = Body("wait");
    SendChat(*client, body);
  }
  WaitFor([&] {
    return served.Metric("searches_running") == 1 &&
           served.Metric("searches_waiting") == 1;
  });
  const double begin = Clock::Real().Seconds();
  served.Stop();
  // Further connections are told so.
  WaitFor([&] { return served.Get("/health").starts_with("HTTP/1.1 503"); });
  EXPECT_THAT(served.Get("/health"), HasSubstr("draining"));
  const std::string late = Chat(served.port(), "late");
  EXPECT_THAT(late, StartsWith("HTTP/1.1 503"));
  EXPECT_THAT(late, HasSubstr("Retry-After: 1\r\n"));
  EXPECT_THAT(served.Get("/v1/models"), StartsWith("HTTP/1.1 503"));
  EXPECT_THAT(running.ReadUntil("wait 0"), StartsWith("HTTP/1.1 200"));
  EXPECT_GE(Clock::Real().Seconds() - begin, 0.2);
  EXPECT_THAT(queued.ReadUntil("shutting down"), StartsWith("HTTP/1.1 503"));
  served.Join();
  EXPECT_FALSE(SocketClient(served.port()).connected());
}

// Neither connections without a request nor questions about its health do.
TEST(SearchServer, WhoWatchesDoesNotDelayItsEnd) {
  Served served({.drain_seconds = 0.2});
  SocketClient running(served.port());
  SendChat(running, Body("wait"));
  WaitFor([&] { return served.Metric("searches_running") == 1; });
  served.Stop();
  WaitFor([&] { return served.Get("/health").starts_with("HTTP/1.1 503"); });
  SocketClient idle(served.port());
  std::atomic<bool> ended = false;
  std::thread watch([&] {
    while (!ended) SocketClient(served.port()).Ask("GET", "/health");
  });
  EXPECT_THAT(running.ReadUntil("wait 0"), StartsWith("HTTP/1.1 200"));
  const double begin = Clock::Real().Seconds();
  served.Join();
  EXPECT_LT(Clock::Real().Seconds() - begin, 0.8);  // 1 if it waits
  ended = true;
  watch.join();
}

}  // namespace
}  // namespace espalier
