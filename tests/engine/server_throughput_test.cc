// Whether many searches keep a server busy.
#include <gtest/gtest.h>
#include <httplib.h>
#include <sys/socket.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "datasets/tasks/stories.h"
#include "datasets/tasks/task_registry.h"
#include "espalier/engine.h"
#include "espalier/engine_options.h"
#include "models/tokenizer/tokenizer.h"
#include "nlohmann/json.hpp"

namespace espalier {
namespace {

using nlohmann::json;
using Time = std::chrono::steady_clock;

constexpr char kStories[] = "models/zoo/stories";
constexpr int kSlots = 64;

// Answers as vLLM does, each call after 100 ms, with a line of a story, and
// measures how many of its slots are in use.
class SlowServer {
 public:
  explicit SlowServer(const Tokenizer& tokenizer) {
    step_ = Reply(tokenizer.Encode("a 3+4=7\n").value(), "\n");
    std::vector<int32_t> last = tokenizer.Encode("= 7").value();
    last.push_back(tokenizer.TokenId("<|end|>"));
    last_ = Reply(last, nullptr);
    http_.Get("/version", [](const httplib::Request&, httplib::Response& r) {
      r.set_content(R"({"version":"1"})", "application/json");
    });
    http_.Get("/v1/models", [](const httplib::Request&, httplib::Response& r) {
      r.set_content(R"({"data":[{"id":"m","max_model_len":2048}]})",
                    "application/json");
    });
    http_.Post("/v1/completions", [this](const httplib::Request&,
                                         httplib::Response& response) {
      const int call = Count(1);
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      response.set_content(call % 5 == 4 ? last_ : step_, "application/json");
      Count(-1);
    });
    http_.new_task_queue = [] { return new httplib::ThreadPool(2 * kSlots); };
    http_.set_keep_alive_max_count(1 << 30);
    http_.set_tcp_nodelay(true);
    int socket = -1;
    http_.set_socket_options([&socket](socket_t made) { socket = made; });
    port_ = http_.bind_to_any_port("127.0.0.1");
    listen(socket, 256);
    thread_ = std::thread([this] { http_.listen_after_bind(); });
    while (!http_.is_running()) std::this_thread::yield();
  }
  ~SlowServer() {
    http_.stop();
    thread_.join();
  }

  std::string url() const { return absl::StrCat("http://127.0.0.1:", port_); }
  // The part of its slots that was in use from the first moment at which all
  // were, over the next `kCounted` calls.
  double busy() {
    const std::lock_guard lock(mutex_);
    const double all = std::chrono::duration<double>(ended_ - began_).count();
    return all > 0 ? used_ / (kSlots * all) : 0;
  }

 private:
  static constexpr int kCounted = 40 * kSlots;

  static std::string Reply(const std::vector<int32_t>& tokens,
                           const json& stop) {
    json names = json::array();
    for (const int32_t token : tokens) {
      names.push_back(absl::StrCat("token_id:", token));
    }
    return json{
        {"choices",
         {{{"index", 0},
           {"text", ""},
           {"finish_reason", "stop"},
           {"stop_reason", stop},
           {"token_ids", tokens},
           {"logprobs",
            {{"tokens", names},
             {"token_logprobs", std::vector<double>(tokens.size(), -0.5)}}}}}}}
        .dump();
  }

  // Returns the number of the call.
  int Count(int change) {
    const std::lock_guard lock(mutex_);
    const Time::time_point now = Time::now();
    if (full_ && counted_ < kCounted) {
      used_ += std::min(in_flight_, kSlots) *
               std::chrono::duration<double>(now - last_change_).count();
      ended_ = now;
    }
    last_change_ = now;
    in_flight_ += change;
    if (!full_ && in_flight_ >= kSlots) {
      full_ = true;
      began_ = ended_ = now;
    }
    if (full_ && change > 0) ++counted_;
    return change > 0 ? calls_++ : calls_;
  }

  httplib::Server http_;
  std::string step_, last_;
  int port_ = 0;
  std::thread thread_;
  std::mutex mutex_;
  bool full_ = false;
  int calls_ = 0, in_flight_ = 0, counted_ = 0;
  double used_ = 0;  // slot-seconds
  Time::time_point began_, ended_, last_change_;
};

TEST(ServerThroughput, SixtyFourSearchesKeepAServerBusy) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "measures time: not under a sanitizer";
#endif
  const auto tokenizer = Tokenizer::Load(kStories);
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status();
  std::vector<Problem> problems;
  for (uint64_t i = 0; i < 900; ++i) {
    problems.push_back(MakeStory(*FindStoryBand("easy"), 1, i).problem);
  }
  double best = 0;
  // Other programs may have the processor meanwhile.
  for (int tries = 0; tries < 3 && best < 0.95; ++tries) {
    SlowServer server(**tokenizer);
    const auto engine = Engine::Create(
        {.policy = server.url(), .tokenizer = kStories, .live = kSlots});
    ASSERT_TRUE(engine.ok()) << engine.status();
    const SearchOptions search = {.method = "greedy", .max_tokens = 300};
    int failed = 0;
    const absl::Status status =
        (*engine)->SolveAll(problems, *FindTask("stories").value(), search, {},
                            [&](size_t, const SearchResult& result) {
                              failed += !result.status.ok();
                            });
    ASSERT_TRUE(status.ok()) << status;
    EXPECT_EQ(failed, 0);
    best = std::max(best, server.busy());
  }
  std::printf(
      "figure: 64 searches keep a server of 64 slots and 100 ms "
      "%.1f %% busy\n",
      100 * best);
  // Alone on two cores it is .99; other tests run beside this one.
  EXPECT_GE(best, 0.85);
}

}  // namespace
}  // namespace espalier
