// Speculative selection by the clock: shipped models and their reward heads
// behind two servers that answer each call after 100 ms.
#include <gtest/gtest.h>
#include <httplib.h>
#include <sys/socket.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/mutex.h"
#include "base/random.h"
#include "datasets/sets/problem_set.h"
#include "datasets/tasks/task_registry.h"
#include "espalier/engine.h"
#include "espalier/engine_options.h"
#include "nlohmann/json.hpp"
#include "src/engine/load_model.h"

namespace espalier {
namespace {

using nlohmann::json;
using Time = std::chrono::steady_clock;

constexpr auto kLatency = std::chrono::milliseconds(100);

// The reward heads as the shipped format "espalier" reads them.
constexpr char kFormat[] = R"(summary: "a shipped model's heads"
only_by_name: true
layout: TEXT
prompt: true
as_written: true
read: LAST_TOKEN
head { weight: "reward_head.weight" bias: "reward_head.bias" }
labels: 2
squash: SIGMOID
label: 0
path_label: 1
range: PROBABILITY
)";

// Answers as vLLM's /v1/completions and /pooling do, `kLatency` after a call
// came, however many are under way.
class SlowModelServer {
 public:
  explicit SlowModelServer(const std::string& folder) : executor_(1) {
    auto loaded = LoadModel(folder, {}, executor_);
    ESP_CHECK_OK(loaded.status());
    model_ = std::move(*loaded);
    http_.Get("/version", [](const httplib::Request&, httplib::Response& r) {
      Answer(r, {{"version", "0.11.0"}});
    });
    http_.Get("/v1/models", [](const httplib::Request&, httplib::Response& r) {
      Answer(r,
             {{"data", json::array({{{"id", "m"}, {"max_model_len", 512}}})}});
    });
    Post("/v1/completions",
         [this](const json& asked) { return Complete(asked); });
    Post("/pooling", [this](const json& asked) { return Pool(asked); });
    http_.new_task_queue = [] { return new httplib::ThreadPool(64); };
    http_.set_keep_alive_max_count(1 << 30);
    http_.set_tcp_nodelay(true);
    int socket = -1;
    http_.set_socket_options([&socket](socket_t made) { socket = made; });
    port_ = http_.bind_to_any_port("127.0.0.1");
    listen(socket, 256);
    thread_ = std::thread([this] { http_.listen_after_bind(); });
    while (!http_.is_running()) std::this_thread::yield();
  }
  ~SlowModelServer() {
    http_.stop();
    thread_.join();
  }
  std::string url() const { return absl::StrCat("http://127.0.0.1:", port_); }

 private:
  static void Answer(httplib::Response& response, const json& body) {
    response.status = body.contains("error") ? 400 : 200;
    response.set_content(body.dump(), "application/json");
  }

  template <typename Function>
  void Post(const char* path, Function answer) {
    http_.Post(path, [answer](const httplib::Request& request,
                              httplib::Response& response) {
      const Time::time_point start = Time::now();
      Answer(response, answer(json::parse(request.body)));
      std::this_thread::sleep_until(start + kLatency);
    });
  }

  Completion Run(decltype(Request::body) body) {
    std::vector<Completion> done;
    model_.backend->Submit({.id = 1, .body = std::move(body)});
    while (done.empty()) model_.backend->Step(done);
    return std::move(done[0]);
  }

  json Complete(const json& asked) {
    MutexLock lock(mutex_);
    const auto prompt = asked["prompt"].get<std::vector<int32_t>>();
    const SeqId from = model_.backend->Extend(kEmptySeq, prompt);
    const uint64_t seed = asked.value("seed", uint64_t{0});
    const Completion done = Run(GenerateRequest{
        .from = from,
        .n = asked.value("n", 1),
        .sampling = {.temperature = asked.value("temperature", 1.0f)},
        .stop = {.delimiter = "",
                 .max_tokens = asked.value("max_tokens", 16),
                 .stop_strings =
                     asked.value("stop", std::vector<std::string>())},
        .stream = StreamKey(seed, 0, 0, Purpose::kTest)});
    model_.backend->Release(from);
    if (!done.status.ok()) {
      return {{"error", {{"message", std::string(done.status.message())}}}};
    }
    json choices = json::array();
    for (const Continuation& one : done.continuations) {
      model_.backend->Release(one.seq);
      json names = json::array();
      for (const int32_t token : one.tokens) {
        names.push_back(absl::StrCat("token_id:", token));
      }
      choices.push_back(
          {{"index", choices.size()},
           {"text", ""},
           {"finish_reason", one.finish == Finish::kLength ? "length" : "stop"},
           {"stop_reason",
            one.finish == Finish::kStop ? json("\n") : json(nullptr)},
           {"token_ids", one.tokens},
           {"logprobs",
            {{"tokens", names}, {"token_logprobs", one.logprobs}}}});
    }
    return {{"choices", choices}};
  }

  json Pool(const json& asked) {
    MutexLock lock(mutex_);
    if (asked.value("task", "") != "classify") {
      return {{"error", {{"message", "unsupported task"}}}};
    }
    const auto text = asked["input"].get<std::vector<int32_t>>();
    const SeqId seq = model_.backend->Extend(kEmptySeq, text);
    const Completion done = Run(ScoreRequest{.sequences = {seq}});
    model_.backend->Release(seq);
    if (!done.status.ok()) {
      return {{"error", {{"message", std::string(done.status.message())}}}};
    }
    std::vector<double> row = {done.scores[0].step, done.scores[0].path};
    if (!asked.value("use_activation", true)) {
      for (double& p : row) p = std::log(p / (1 - p));
    }
    return {{"data", json::array({{{"data", row}}})}};
  }

  Executor executor_;
  Mutex mutex_;
  LoadedModel model_;
  httplib::Server http_;
  int port_ = 0;
  std::thread thread_;
};

struct Timed {
  std::string trees;
  double seconds = 0, tokens = 0;
};

struct Case {
  const char* folder;
  const char* task;
  const char* set;
};

Timed Solve(Engine& engine, const Task& task, const std::string& method,
            const std::vector<GradedProblem>& problems) {
  Timed timed;
  const SearchOptions search = {.method = method,
                                .max_tokens = 600,
                                .response_tokens = 60,
                                .seed = 1,
                                .keep_tree = true};
  const Time::time_point start = Time::now();
  // One at a time: nothing else hides that a search waits.
  for (const GradedProblem& graded : problems) {
    const absl::Status status = engine.SolveAll(
        absl::MakeConstSpan(&graded.problem, 1), task, search, {},
        [&](size_t, const SearchResult& result) {
          EXPECT_TRUE(result.status.ok()) << result.status;
          absl::StrAppend(&timed.trees, result.answer, "|", result.tokens);
          for (const TreeNode& node : result.tree) {
            absl::StrAppend(&timed.trees, ";", node.parent, "|", node.text, "|",
                            node.visits, "|", node.path_score);
          }
          timed.tokens +=
              static_cast<double>(result.tokens + result.speculated_tokens);
        });
    EXPECT_TRUE(status.ok()) << status;
  }
  timed.seconds = std::chrono::duration<double>(Time::now() - start).count();
  return timed;
}

TEST(SlowServers, LongSpeculationWaitsLess) {
  const std::string format =
      absl::StrCat(testing::TempDir(), "/heads.textproto");
  std::ofstream(format) << kFormat;
  for (const Case& one :
       {Case{"models/zoo/stories", "stories", "stories:hard"},
        Case{"models/zoo/countdown", "countdown", "countdown:4"}}) {
    const SlowModelServer policy(one.folder), reward(one.folder);
    const Task& task = *FindTask(one.task).value();
    const auto set = LoadSet(one.set, {.limit = 6});
    ASSERT_TRUE(set.ok()) << set.status();
    const auto connect = [&](int ahead) {
      return Engine::Create({.policy = policy.url(),
                             .tokenizer = one.folder,
                             .critic = reward.url(),
                             .reward_tokenizer = one.folder,
                             .reward_format = format,
                             .calibration = "none",
                             .speculate = ahead});
    };
    const auto plain = connect(0);
    ASSERT_TRUE(plain.ok()) << plain.status();
    for (const auto& [method, ahead] :
         std::vector<std::pair<std::string, int>>{{"beam", 8}, {"puct", 3}}) {
      const auto early = connect(ahead);
      ASSERT_TRUE(early.ok()) << early.status();
      const Timed late = Solve(**plain, task, method, set->problems);
      const Timed soon = Solve(**early, task, method, set->problems);
      EXPECT_EQ(soon.trees, late.trees) << method;
      std::printf(
          "figure: %s, servers of 100 ms, --speculate %d, %s: %.1f s instead "
          "of %.1f (%.2f times as fast) for %.2f times the tokens\n",
          one.set, ahead, method.c_str(), soon.seconds, late.seconds,
          late.seconds / soon.seconds, soon.tokens / late.tokens);
      EXPECT_GE(late.seconds, 1.5 * soon.seconds) << method;
      EXPECT_LE(soon.tokens, 3 * late.tokens) << method;
    }
  }
}

}  // namespace
}  // namespace espalier
