// Reward models whose heads a server computes, against the same checkpoints in
// this process. The server runs tests/models/testing/plain_network.h on the
// token ids that it is sent, and answers as vLLM's /pooling does.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/mutex.h"
#include "base/random.h"
#include "models/remote/pooled_backend.h"
#include "nlohmann/json.hpp"
#include "src/engine/load_reward_model.h"
#include "tests/engine/reward_scores.h"
#include "tests/engine/reward_trees.h"
#include "tests/models/testing/plain_network.h"
#include "tests/models/testing/reward_checkpoint.h"

namespace espalier {
namespace {

using nlohmann::json;
using ScoreRow = std::vector<double>;

constexpr char kRewardQuestion[] = "What is 17 + 25, and is it even?";

enum class Shape { kTag, kToken, kLast };

struct Manner {
  Shape shape = Shape::kToken;
  bool off = true;  // it can leave its function out
};

// The head's outputs for each of `ids`.
class Head {
 public:
  explicit Head(const RewardCheckpoint& model)
      : model_(model), network_(model.plain) {}

  int labels() const {
    return static_cast<int>(Linear(LastName(), ScoreRow(Width())).size());
  }
  const std::vector<ScoreRow>& Of(const std::vector<int32_t>& ids) const {
    MutexLock lock(mutex_);
    std::vector<ScoreRow>& rows = known_[ids];
    if (!rows.empty()) return rows;
    for (const ScoreRow& hidden : network_.Hidden(ids)) {
      ScoreRow x = hidden;
      if (TwoLayers()) {
        x = Linear("score.0", x);
        for (double& value : x) value = std::max(value, 0.0);
      }
      rows.push_back(Linear(LastName(), x));
    }
    return rows;
  }

 private:
  bool TwoLayers() const { return model_.head.contains("score.0.weight"); }
  size_t Width() const { return static_cast<size_t>(model_.hidden_size); }
  std::string LastName() const {
    if (TwoLayers()) return "score.2";
    for (const auto& [name, values] : model_.head) {
      if (name.ends_with(".weight")) return name.substr(0, name.size() - 7);
    }
    return "";
  }
  ScoreRow Linear(const std::string& name, const ScoreRow& x) const {
    const std::vector<float>& weight = model_.head.at(name + ".weight");
    const auto bias = model_.head.find(name + ".bias");
    ScoreRow out(weight.size() / x.size());
    for (size_t o = 0; o < out.size(); ++o) {
      if (bias != model_.head.end()) out[o] = bias->second[o];
      for (size_t i = 0; i < x.size(); ++i)
        out[o] += weight[o * x.size() + i] * x[i];
    }
    return out;
  }

  const RewardCheckpoint model_;
  const PlainNetwork network_;
  mutable Mutex mutex_;
  mutable std::map<std::vector<int32_t>, std::vector<ScoreRow>> known_;
};

class RewardServer {
 public:
  RewardServer(const Head& head, int32_t tag, const Manner& manner)
      : head_(head), tag_(tag), manner_(manner) {
    http_.Get("/version", [](const httplib::Request&, httplib::Response& r) {
      Answer(r, {{"version", "0.11.0"}});
    });
    http_.Get("/v1/models", [](const httplib::Request&, httplib::Response& r) {
      Answer(r, {{"data", json::array({{{"id", "prm"}}})}});
    });
    http_.Post("/pooling", [this](const httplib::Request& request,
                                  httplib::Response& response) {
      Pool(json::parse(request.body), response);
    });
    port_ = http_.bind_to_any_port("127.0.0.1");
    thread_ = std::thread([this] { http_.listen_after_bind(); });
    while (!http_.is_running()) std::this_thread::yield();
  }
  ~RewardServer() {
    http_.stop();
    thread_.join();
  }
  std::string url() const { return absl::StrCat("http://127.0.0.1:", port_); }
  int calls() const { return calls_; }

 private:
  static void Answer(httplib::Response& response, const json& body,
                     int status = 200) {
    response.status = status;
    response.set_content(body.dump(), "application/json");
  }

  static ScoreRow Squashed(ScoreRow row) {
    if (row.size() == 1) return {1 / (1 + std::exp(-row[0]))};
    double sum = 0;
    for (const double x : row) sum += std::exp(x);
    for (double& x : row) x = std::exp(x) / sum;
    return row;
  }

  void Pool(const json& asked, httplib::Response& response) {
    ++calls_;
    const std::string task = asked.value("task", "");
    if (task !=
        (manner_.shape == Shape::kLast ? "classify" : "token_classify")) {
      return Answer(response, {{"error", {{"message", "unsupported"}}}}, 400);
    }
    const auto ids = asked["input"].get<std::vector<int32_t>>();
    const std::vector<ScoreRow>& all = head_.Of(ids);
    const bool off = manner_.off && !asked.value("use_activation", true);
    json rows = json::array();
    for (size_t i = 0; i < ids.size(); ++i) {
      if (manner_.shape == Shape::kTag && ids[i] != tag_) continue;
      if (manner_.shape == Shape::kLast && i + 1 < ids.size()) continue;
      rows.push_back(off ? all[i] : Squashed(all[i]));
    }
    const json data = manner_.shape == Shape::kLast ? rows[0] : rows;
    Answer(response, {{"data", json::array({{{"data", data}}})}});
  }

  const Head& head_;
  const int32_t tag_;
  const Manner manner_;
  std::atomic<int> calls_ = 0;
  httplib::Server http_;
  int port_ = 0;
  std::thread thread_;
};

class PooledRewardsTest : public testing::TestWithParam<std::string> {};

TEST_P(PooledRewardsTest, ScoresEqualThoseOfTheModelInThisProcess) {
  const RewardCheckpoint checkpoint = WriteRewardCheckpoint(GetParam(), 7);
  const Head head(checkpoint);
  const RewardFormat format = ReadRewardFormat(GetParam()).value();
  ASSERT_EQ(head.labels(), format.labels);
  Executor executor(1);
  const auto local =
      LoadRewardModel(checkpoint.folder, format, {.weights = "fp32"}, executor);
  ASSERT_TRUE(local.ok()) << local.status();
  RandomStream random(StreamKey(5, 3, 0, Purpose::kTest));
  Tree tree;
  Grow(tree, 8, random);
  const std::vector<StepScores> wanted =
      ScoresOf(*local, tree, kRewardQuestion);
  const int32_t tag = local->scorer->layout.tag_id();
  std::vector<Manner> manners = {{Shape::kToken}, {Shape::kLast}};
  if (tag >= 0) manners.push_back({Shape::kTag});
  if (format.labels > 1) {
    manners.push_back({Shape::kToken, false});
    manners.push_back({Shape::kLast, false});
  }
  for (const Manner& manner : manners) {
    SCOPED_TRACE(absl::StrCat("shape ", static_cast<int>(manner.shape), " off ",
                              manner.off));
    const RewardServer server(head, tag, manner);
    const auto served = LoadRewardModel(
        server.url(), format, {.tokenizer = checkpoint.folder}, executor);
    ASSERT_TRUE(served.ok()) << served.status();
    const int probed = server.calls();
    const std::vector<StepScores> found =
        ScoresOf(*served, tree, kRewardQuestion);
    ASSERT_EQ(found.size(), wanted.size());
    float lowest = 1, highest = 0;
    for (size_t i = 0; i < found.size(); ++i) {
      EXPECT_NEAR(found[i].step, wanted[i].step, 1e-4) << i;
      EXPECT_NEAR(found[i].path, wanted[i].path, 1e-4) << i;
      EXPECT_EQ(std::isnan(found[i].outcome), std::isnan(wanted[i].outcome));
      lowest = std::min(lowest, found[i].step);
      highest = std::max(highest, found[i].step);
    }
    EXPECT_GT(highest - lowest, 1e-3);  // the comparison can fail
    EXPECT_LE(server.calls() - probed, static_cast<int>(found.size()));
    if (manner.shape != Shape::kLast && GetParam() == "trl") {
      // Paths that others go on from are read with those.
      EXPECT_LT(server.calls() - probed, static_cast<int>(found.size()));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, PooledRewardsTest,
                         testing::Values("qwen_prm", "qwen_rm", "skywork_prm",
                                         "trl", "pure", "minos", "reasoneval",
                                         "skywork_reward_qwen3",
                                         "skywork_reward_llama", "hrm",
                                         "hrm_window", "hrm_soft", "prorag"),
                         [](const auto& test) { return test.param; });

TEST(PooledRewards, AServersModelNeedsItsTokenizerAndItsFormat) {
  Executor executor(1);
  const RewardFormat format = ReadRewardFormat("qwen_prm").value();
  EXPECT_THAT(
      std::string(LoadRewardModel("http://127.0.0.1:1", format, {}, executor)
                      .status()
                      .message()),
      testing::HasSubstr("--reward-tokenizer"));
  EXPECT_THAT(
      std::string(
          FindRewardFormat("http://127.0.0.1:1", "").status().message()),
      testing::HasSubstr("--reward-format"));
  EXPECT_THAT(std::string(FindRewardFormat("http://127.0.0.1:1", "espalier")
                              .status()
                              .message()),
              testing::HasSubstr("no server computes"));
}

}  // namespace
}  // namespace espalier
