// The backend against an HTTP server in this process that answers as
// llama-server does (all three kinds: tests/tools/scripted_server.py).
#include "models/remote/remote_backend.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>
#include <sys/socket.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "nlohmann/json.hpp"

namespace espalier {
namespace {

using nlohmann::json;
using testing::HasSubstr;

// A token per byte.
class ByteTokenizer : public Tokenizer {
 public:
  ByteTokenizer() {
    for (int i = 0; i < 256; ++i) all_.push_back(static_cast<char>(i));
  }
  absl::StatusOr<std::vector<int32_t>> Encode(std::string_view text,
                                              bool) const override {
    std::vector<int32_t> ids;
    for (const char c : text) ids.push_back(static_cast<unsigned char>(c));
    return ids;
  }
  std::string_view TokenBytes(int32_t id) const override {
    return std::string_view(all_).substr(static_cast<size_t>(id), 1);
  }
  int vocab_size() const override { return 256; }

 private:
  std::string all_;
};

// Answers POST /completion by a function of the number of the call, without the
// one that tries the server.
class LlamaServer {
 public:
  using Handler = std::function<void(int, const json&, httplib::Response&)>;

  explicit LlamaServer(Handler handler) : handler_(std::move(handler)) {
    http_.Get("/props", [](const httplib::Request&, httplib::Response& r) {
      Answer(r, {{"default_generation_settings", {{"n_ctx", 1000}}}});
    });
    http_.Get("/v1/models", [](const httplib::Request&, httplib::Response& r) {
      Answer(r, {{"data", json::array({{{"id", "made-up"}}})}});
    });
    http_.Post("/completion", [this](const httplib::Request& request,
                                     httplib::Response& response) {
      const int call = calls_++;
      const json asked = json::parse(request.body);
      if (call == 0) {
        Answer(response, Reply(asked));
      } else {
        handler_(call - 1, asked, response);
      }
    });
    http_.new_task_queue = [] { return new httplib::ThreadPool(16); };
    // The library lets five connections wait, and on a loaded machine further
    // ones take a second or break off.
    int socket = -1;
    http_.set_socket_options([&socket](socket_t made) { socket = made; });
    port_ = http_.bind_to_any_port("127.0.0.1");
    listen(socket, 256);
    thread_ = std::thread([this] { http_.listen_after_bind(); });
    while (!http_.is_running()) std::this_thread::yield();
  }
  ~LlamaServer() {
    http_.stop();
    thread_.join();
  }

  static void Answer(httplib::Response& response, const json& body,
                     int status = 200) {
    response.status = status;
    response.set_content(body.dump(), "application/json");
  }
  // The reply to what is asked: three letters, with `cached` tokens of the
  // prompt.
  static json Reply(const json& asked, int64_t cached = 0) {
    json entries = json::array();
    for (const int id : {'a', 'b', 'c'}) {
      entries.push_back(
          {{"id", id}, {"logprob", -0.5}, {"top_logprobs", json::array()}});
    }
    const size_t prompt = asked["prompt"].size();
    return {{"tokens", {'a', 'b', 'c'}},
            {"stop_type", "eos"},
            {"tokens_evaluated", prompt},
            {"timings", {{"cache_n", cached}}},
            {"completion_probabilities", entries}};
  }

  RemoteModel model() const {
    return {.servers = {{.host = "127.0.0.1", .port = port_}}};
  }
  // Requests to /completion.
  int calls() const { return calls_ - 1; }

 private:
  Handler handler_;
  httplib::Server http_;
  int port_ = 0;
  std::atomic<int> calls_ = 0;
  std::thread thread_;
};

std::unique_ptr<RemoteBackend> Connect(const LlamaServer& server,
                                       const CallPoolOptions& calls = {}) {
  static const ByteTokenizer tokenizer;
  auto backend =
      RemoteBackend::Connect(server.model(), tokenizer, {.calls = calls});
  EXPECT_TRUE(backend.ok()) << backend.status();
  return *std::move(backend);
}

// Steps until something is done, for up to five seconds.
std::vector<Completion> StepUntilDone(RemoteBackend& backend) {
  std::vector<Completion> done;
  const double end = Clock::Real().Seconds() + 5;
  while (done.empty() && Clock::Real().Seconds() < end) backend.Step(done);
  return done;
}

// Of the calls of request 1 one fails for good and the others never end, as
// those behind a dead server that are tried for minutes.
TEST(RemoteBackend, ACallThatFailedEndsItsRequestAtOnce) {
  for (const int status : {401, 500, 400}) {
    std::atomic<bool> release = false;
    LlamaServer server([&](int call, const json& asked, httplib::Response& r) {
      // The first fails once the others are there.
      while (!release && (call != 0 || server.calls() < 4)) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
      if (call == 0) {
        LlamaServer::Answer(r, {{"error", "not today"}}, status);
      } else {
        LlamaServer::Answer(r, LlamaServer::Reply(asked));
      }
    });
    const auto backend = Connect(server, {.attempts = 1});
    const SeqId one = backend->Extend(kEmptySeq, {1, 2});
    const SeqId two = backend->Extend(kEmptySeq, {3, 4, 5});
    backend->Submit({1, GenerateRequest{.from = one, .n = 3}});
    std::vector<Completion> done;
    while (server.calls() < 3) backend->Step(done);
    EXPECT_TRUE(done.empty());
    backend->Submit({2, GenerateRequest{.from = two}});
    done = StepUntilDone(*backend);
    EXPECT_EQ(done.size(), 1u) << "it waits for its other calls";
    if (!done.empty()) {
      EXPECT_EQ(done[0].id, 1u);
      EXPECT_THAT(std::string(done[0].status.message()),
                  HasSubstr("not today"));
      EXPECT_TRUE(done[0].continuations.empty());
    }
    // Other requests go on.
    release = true;
    done = StepUntilDone(*backend);
    ASSERT_EQ(done.size(), 1u);
    EXPECT_EQ(done[0].id, 2u);
    EXPECT_TRUE(done[0].status.ok()) << done[0].status;
    EXPECT_FALSE(backend->Step(done));
  }
}

Completion Ask(RemoteBackend& backend, decltype(Request::body) body) {
  backend.Submit({7, std::move(body)});
  std::vector<Completion> done = StepUntilDone(backend);
  EXPECT_EQ(done.size(), 1u);
  if (done.empty()) return {};
  EXPECT_TRUE(done[0].status.ok()) << done[0].status;
  return std::move(done[0]);
}

TEST(RemoteBackend, CountsTheTokensThatServersCompute) {
  std::atomic<int64_t> cached = 0;
  LlamaServer server([&](int, const json& asked, httplib::Response& r) {
    json reply = LlamaServer::Reply(asked, cached);
    if (cached < 0) reply.erase("timings");
    LlamaServer::Answer(r, reply);
  });
  const auto backend = Connect(server);
  const BackendStats& stats = backend->stats();
  const SeqId prompt = backend->Extend(kEmptySeq, {1, 2, 3, 4, 5});
  const Completion first = Ask(*backend, GenerateRequest{.from = prompt});
  EXPECT_EQ(stats.tokens_computed, 5 + 3);
  EXPECT_EQ(stats.tokens_needed, 5 + 3);
  // All but the last token of what the slot holds.
  cached = 7;
  const SeqId step = first.continuations.at(0).seq;
  Ask(*backend, GenerateRequest{.from = step});
  EXPECT_EQ(stats.tokens_computed, 8 + 1 + 3);
  EXPECT_EQ(stats.tokens_needed, 8 + 3);
  // Tokens that nobody drew; again, they are known.
  const SeqId more = backend->Extend(step, {6, 7});
  EXPECT_EQ(backend->Extend(step, {6, 7}), more);
  Ask(*backend, GenerateRequest{.from = more, .n = 2});
  EXPECT_EQ(stats.tokens_computed, 12 + 2 * (3 + 3));
  EXPECT_EQ(stats.tokens_needed, 11 + 2 + 2 * 3);
  EXPECT_EQ(stats.tokens_generated, 4 * 3);
  // Not told: none. Of more than there are: all.
  cached = -1;
  Ask(*backend, GenerateRequest{.from = prompt});
  EXPECT_EQ(stats.tokens_computed, 24 + 5 + 3);
  cached = int64_t{1} << 62;
  for (int i = 0; i < 4; ++i) Ask(*backend, GenerateRequest{.from = prompt});
  EXPECT_EQ(stats.tokens_computed, 32 + 4 * 3);
}

// One call per token, of which the second finds what the first computed.
TEST(RemoteBackend, CountsTheTokensOfTextsThatAreScored) {
  LlamaServer server([](int, const json& asked, httplib::Response& r) {
    json reply = LlamaServer::Reply(asked, asked["prompt"].size() == 5 ? 0 : 5);
    const json id = asked["logit_bias"][0][0];
    reply["tokens"] = {id};
    reply["completion_probabilities"] = {
        {{"id", id}, {"logprob", -1}, {"top_logprobs", json::array()}}};
    LlamaServer::Answer(r, reply);
  });
  const auto backend = Connect(server);
  const SeqId prompt = backend->Extend(kEmptySeq, {1, 2, 3, 4, 5});
  const Completion done = Ask(
      *backend, TextScoreRequest{.from = prompt, .continuations = {{8, 9}}});
  EXPECT_EQ(done.texts.at(0).logprobs, std::vector<float>({-1, -1}));
  EXPECT_EQ(backend->stats().tokens_computed, 5 + 1);
  EXPECT_EQ(backend->stats().tokens_needed, 5 + 2);
  EXPECT_EQ(backend->stats().tokens_generated, 0);
}

}  // namespace
}  // namespace espalier
