// Processor time of a reply of four samples of 64 tokens with log-probs:
// parsing its JSON, reading it, and all that a client does for it. The server
// runs in a process of its own and answers at once.
#include <httplib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/parse_json.h"
#include "base/random.h"
#include "bench/base/smoke.h"
#include "benchmark/benchmark.h"
#include "models/remote/dialect.h"
#include "models/remote/remote_backend.h"
#include "models/remote/without_lists.h"
#include "nlohmann/json.hpp"

namespace espalier {
namespace {

using nlohmann::json;

constexpr int kSamples = 4;
constexpr int kTokens = 64;

// As vLLM writes it, with the most likely token of each position.
std::string VllmReply(int samples = kSamples, int tokens = kTokens) {
  json choices = json::array();
  for (int s = 0; s < samples; ++s) {
    json ids = json::array(), names = json::array(), values = json::array(),
         tops = json::array(), offsets = json::array();
    for (int t = 0; t < tokens; ++t) {
      const StreamKey key(1, static_cast<uint64_t>(s), static_cast<uint64_t>(t),
                          Purpose::kTest);
      const int id = static_cast<int>(RandomStream::UniformAt(key, 0) * 150000);
      const double value =
          -3.0 * static_cast<double>(RandomStream::UniformAt(key, 1));
      const std::string name = absl::StrCat("token_id:", id);
      ids.push_back(id);
      names.push_back(name);
      values.push_back(value);
      tops.push_back({{name, value}});
      offsets.push_back(4 * t);
    }
    choices.push_back(
        {{"index", s},
         {"text", std::string(4 * static_cast<size_t>(tokens), 'a')},
         {"logprobs",
          {{"text_offset", offsets},
           {"token_logprobs", values},
           {"tokens", names},
           {"top_logprobs", tops}}},
         {"finish_reason", "length"},
         {"stop_reason", nullptr},
         {"token_ids", ids},
         {"prompt_logprobs", nullptr}});
  }
  return json{{"id", "cmpl-1"},
              {"object", "text_completion"},
              {"model", "m"},
              {"choices", choices},
              {"usage", {{"completion_tokens", 256}}}}
      .dump();
}

double ProcessSeconds() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) +
           1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

void BM_ParseReply(benchmark::State& state) {
  const std::string body = VllmReply();
  for (auto _ : state) {
    benchmark::DoNotOptimize(ParseJsonObject(body, "the reply"));
  }
  state.counters["bytes"] = static_cast<double>(body.size());
}
BENCHMARK(BM_ParseReply)->Unit(benchmark::kMicrosecond);

// Of it what the reader of vLLM's replies keeps.
void BM_ParseWhatIsRead(benchmark::State& state) {
  const std::string body =
      WithoutLists(VllmReply(), {"text_offset", "top_logprobs", "tokens"});
  for (auto _ : state) {
    benchmark::DoNotOptimize(ParseJsonObject(body, "the reply"));
  }
  state.counters["bytes"] = static_cast<double>(body.size());
}
BENCHMARK(BM_ParseWhatIsRead)->Unit(benchmark::kMicrosecond);

void BM_ReadReply(benchmark::State& state) {
  const std::string body = VllmReply();
  const auto dialect = MakeDialect({.kind = ServerKind::kVllm, .model = "m"});
  const GenerationCall call = {.n = kSamples, .max_tokens = kTokens};
  for (auto _ : state) {
    auto reply = dialect->ReadGeneration(body, call);
    ESP_CHECK_OK(reply.status());
    benchmark::DoNotOptimize(reply);
  }
}
BENCHMARK(BM_ReadReply)->Threads(1)->Threads(16)->Unit(benchmark::kMicrosecond);

// 150,000 tokens of one letter.
class LetterTokenizer : public Tokenizer {
 public:
  absl::StatusOr<std::vector<int32_t>> Encode(std::string_view text,
                                              bool) const override {
    return std::vector<int32_t>(text.size(), 7);
  }
  std::string_view TokenBytes(int32_t) const override { return "a"; }
  int vocab_size() const override { return 150000; }
};

// Serves in a process of its own until its parent ends it.
class ServerProcess {
 public:
  ServerProcess() {
    int socket = -1;
    http_.set_socket_options([&socket](socket_t made) { socket = made; });
    http_.set_tcp_nodelay(true);
    port_ = http_.bind_to_any_port("127.0.0.1");
    listen(socket, 256);
    child_ = fork();
    ESP_CHECK(child_ >= 0);
    if (child_ == 0) Serve();
  }
  ~ServerProcess() {
    kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
  }
  int port() const { return port_; }

 private:
  [[noreturn]] void Serve() {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    const std::string whole = VllmReply(), one = VllmReply(1, 1);
    const auto answer = [](const std::string& body) {
      return [body](const httplib::Request&, httplib::Response& response) {
        response.set_content(body, "application/json");
      };
    };
    http_.Get("/version", answer(R"({"version":"1"})"));
    http_.Get("/v1/models", answer(R"({"data":[{"id":"m"}]})"));
    http_.Post("/v1/completions", [&](const httplib::Request& request,
                                      httplib::Response& response) {
      const bool several = request.body.find("\"n\":4") != std::string::npos;
      response.set_content(several ? whole : one, "application/json");
    });
    http_.new_task_queue = [] { return new httplib::ThreadPool(32); };
    http_.set_keep_alive_max_count(1 << 30);
    http_.listen_after_bind();
    _exit(0);
  }

  httplib::Server http_;
  int port_ = 0;
  pid_t child_ = 0;
};

// Processor time of the client per reply, and in turns that of reading one
// alone.
void BM_ClientOfReply(benchmark::State& state) {
  const ServerProcess server;
  const LetterTokenizer tokenizer;
  auto backend = RemoteBackend::Connect(
      {.servers = {{.host = "127.0.0.1", .port = server.port()}}}, tokenizer,
      {});
  ESP_CHECK_OK(backend.status());
  const SeqId prompt =
      (*backend)->Extend(kEmptySeq, std::vector<int32_t>(200, 7));
  constexpr int kAtOnce = 16;
  const std::string body = VllmReply();
  const auto dialect = MakeDialect({.kind = ServerKind::kVllm, .model = "m"});
  const GenerationCall call = {.n = kSamples, .max_tokens = kTokens};
  int64_t replies = 0;
  double seconds = 0, read_seconds = 0;
  for (auto _ : state) {
    double start = ProcessSeconds();
    for (int i = 0; i < kAtOnce; ++i) {
      (*backend)->Submit(
          {static_cast<RequestId>(i + 1),
           GenerateRequest{.from = prompt,
                           .n = kSamples,
                           .stop = {.delimiter = "", .max_tokens = kTokens}}});
    }
    for (int left = kAtOnce; left > 0;) {
      std::vector<Completion> done;
      (*backend)->Step(done);
      left -= static_cast<int>(done.size());
      for (const Completion& one : done) {
        ESP_CHECK_OK(one.status);
        for (const Continuation& c : one.continuations) {
          (*backend)->Release(c.seq);
        }
      }
    }
    replies += kAtOnce;
    seconds += ProcessSeconds() - start;
    start = ProcessSeconds();
    for (int i = 0; i < kAtOnce; ++i) {
      benchmark::DoNotOptimize(dialect->ReadGeneration(body, call).ok());
    }
    read_seconds += ProcessSeconds() - start;
  }
  const double scale = 1e6 / static_cast<double>(replies);
  state.counters["us_per_reply"] = scale * seconds;
  state.counters["us_besides_reading"] = scale * (seconds - read_seconds);
}
BENCHMARK(BM_ClientOfReply)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace espalier
