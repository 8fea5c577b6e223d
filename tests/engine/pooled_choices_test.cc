// Reward models that compare the log-probs of tokens, behind servers that do
// not generate, against the same checkpoints in this process. The server runs
// tests/models/testing/plain_network.h on the token ids that it is sent.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <map>
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
using testing::HasSubstr;
using Ids = std::vector<int32_t>;
using ChoiceRow = std::vector<double>;

constexpr char kChoiceQuestion[] = "What is 17 + 25, and is it even?";

// What a server has.
enum class Offer {
  kGenerativeScoring,  // vLLM that generates, without /v1/completions
  kScore,              // SGLang's /v1/score
  kMultiItem,          // the same with a token between query and items
  kTags,    // vLLM with a head of the tokens: a row per tag, classify
  kTokens,  // the same with a row per token
  kWhole,   // classify only
  kHidden,  // rows per tag of numbers of the hidden state
  kMixed,   // the same, and classify as kTags
};

class LanguageModel {
 public:
  explicit LanguageModel(const std::string& folder) : network_(folder) {}

  struct Position {
    ChoiceRow hidden, logits;
  };
  const std::vector<Position>& Of(const Ids& ids) const {
    MutexLock lock(mutex_);
    std::vector<Position>& known = known_[ids];
    if (!known.empty()) return known;
    for (ChoiceRow& hidden : network_.Hidden(ids)) {
      ChoiceRow logits = network_.Logits(hidden);
      known.push_back({std::move(hidden), std::move(logits)});
    }
    return known;
  }

 private:
  const PlainNetwork network_;
  mutable Mutex mutex_;
  mutable std::map<Ids, std::vector<Position>> known_;
};

ChoiceRow Softmax(ChoiceRow row) {
  const double most = *std::max_element(row.begin(), row.end());
  double sum = 0;
  for (const double x : row) sum += std::exp(x - most);
  for (double& x : row) x = std::exp(x - most) / sum;
  return row;
}

class ChoiceServer {
 public:
  ChoiceServer(const LanguageModel& model, const Ids& choices, int32_t tag,
               Offer offer)
      : model_(model), choices_(choices), tag_(tag), offer_(offer) {
    const bool sglang = offer == Offer::kScore || offer == Offer::kMultiItem;
    http_.Get(sglang ? "/get_model_info" : "/version",
              [](const httplib::Request&, httplib::Response& r) {
                Answer(r, {{"version", "0.22.1"}, {"model_path", "prm"}});
              });
    http_.Get("/v1/models", [](const httplib::Request&, httplib::Response& r) {
      Answer(r, {{"data", json::array({{{"id", "prm"}}})}});
    });
    const bool scores = sglang || offer == Offer::kGenerativeScoring;
    const std::string path = !scores  ? "/pooling"
                             : sglang ? "/v1/score"
                                      : "/generative_scoring";
    http_.Post(path, [this, scores](const httplib::Request& request,
                                    httplib::Response& response) {
      ++calls_;
      const json asked = json::parse(request.body);
      scores ? Score(asked, response) : Pool(asked, response);
    });
    port_ = http_.bind_to_any_port("127.0.0.1");
    thread_ = std::thread([this] { http_.listen_after_bind(); });
    while (!http_.is_running()) std::this_thread::yield();
  }
  ~ChoiceServer() {
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

  // The probabilities of the labels after query + item.
  ChoiceRow Labels(const json& asked, const json& item) const {
    Ids ids = asked["query"];
    if (offer_ == Offer::kMultiItem) ids.push_back(3);
    for (const int32_t id : item) ids.push_back(id);
    const ChoiceRow& logits = model_.Of(ids).back().logits;
    const bool among = asked["apply_softmax"];
    const ChoiceRow all = Softmax(logits);
    ChoiceRow chosen;
    for (const size_t label : asked["label_token_ids"]) {
      chosen.push_back(among ? logits[label] : all[label]);
    }
    return among ? Softmax(chosen) : chosen;
  }

  void Score(const json& asked, httplib::Response& response) const {
    json data = json::array(), scores = json::array();
    for (const json& item : asked["items"]) {
      const ChoiceRow row = Labels(asked, item);
      data.push_back(
          {{"index", data.size()}, {"object", "score"}, {"score", row[0]}});
      scores.push_back(row);
    }
    if (offer_ == Offer::kGenerativeScoring) {
      Answer(response, {{"object", "list"}, {"model", "prm"}, {"data", data}});
    } else {
      Answer(response, {{"scores", scores}, {"model", "prm"}, {"usage", {}}});
    }
  }

  void Pool(const json& asked, httplib::Response& response) const {
    const bool whole = asked["task"] == "classify";
    if (whole ? offer_ == Offer::kHidden : offer_ == Offer::kWhole) {
      return Answer(response, {{"error", {{"message", "unsupported"}}}}, 400);
    }
    const bool hidden =
        offer_ == Offer::kHidden || (offer_ == Offer::kMixed && !whole);
    const Ids ids = asked["input"];
    const auto& positions = model_.Of(ids);
    json rows = json::array();
    for (size_t i = whole ? ids.size() - 1 : 0; i < ids.size(); ++i) {
      if (!whole && offer_ != Offer::kTokens && ids[i] != tag_) continue;
      ChoiceRow row;
      for (const int32_t choice : choices_) {
        const ChoiceRow& of =
            hidden ? positions[i].hidden : positions[i].logits;
        row.push_back(of[static_cast<size_t>(choice) % of.size()]);
      }
      rows.push_back(asked.value("use_activation", true) ? Softmax(row) : row);
    }
    Answer(response,
           {{"data", json::array({{{"data", whole ? rows[0] : rows}}})}});
  }

  const LanguageModel& model_;
  const Ids choices_;
  const int32_t tag_;
  const Offer offer_;
  std::atomic<int> calls_ = 0;
  httplib::Server http_;
  int port_ = 0;
  std::thread thread_;
};

struct Checkpoint {
  explicit Checkpoint(const std::string& name)
      : checkpoint(WriteRewardCheckpoint(name, 7)),
        model(checkpoint.plain.empty() ? checkpoint.folder : checkpoint.plain),
        format(ReadRewardFormat(name).value()),
        executor(1) {
    auto loaded = LoadRewardModel(checkpoint.folder, format,
                                  {.weights = "fp32"}, executor);
    EXPECT_TRUE(loaded.ok()) << loaded.status();
    local = *std::move(loaded);
    RandomStream random(StreamKey(5, 4, 0, Purpose::kTest));
    Grow(tree, 8, random);
  }
  const Ids& choices() const { return local.scorer->layout.choices(); }
  int32_t tag() const { return local.scorer->layout.tag_id(); }
  absl::StatusOr<LoadedRewardModel> Serve(const ChoiceServer& server,
                                          const RewardFormat& with) {
    return LoadRewardModel(
        server.url(), with,
        {.tokenizer = checkpoint.folder,
         .notice = [this](const std::string& line) { notice = line; }},
        executor);
  }

  const RewardCheckpoint checkpoint;
  const LanguageModel model;
  const RewardFormat format;
  Executor executor;
  LoadedRewardModel local;
  Tree tree;
  std::string notice;
};

class PooledChoicesTest : public testing::TestWithParam<std::string> {};

TEST_P(PooledChoicesTest, ScoresEqualThoseOfTheModelInThisProcess) {
  Checkpoint made(GetParam());
  const std::vector<StepScores> wanted =
      ScoresOf(made.local, made.tree, kChoiceQuestion);
  std::map<Offer, std::string> offers = {
      {Offer::kGenerativeScoring, "/generative_scoring"},
      {Offer::kScore, "/v1/score"}};
  // The value of this one is no comparison of the tokens.
  const bool among = GetParam() != "laser";
  if (among) {
    offers[Offer::kTokens] = "/pooling (task token_classify)";
    offers[Offer::kWhole] = "/pooling (task classify)";
  }
  if (made.format.read == RewardRead::kAtTag) {
    offers[Offer::kTags] = "/pooling (task token_classify)";
  }
  for (const auto& [offer, path] : offers) {
    SCOPED_TRACE(path);
    const ChoiceServer server(made.model, made.choices(), made.tag(), offer);
    const auto served = made.Serve(server, made.format);
    ASSERT_TRUE(served.ok()) << served.status();
    EXPECT_THAT(made.notice, testing::EndsWith(absl::StrCat("at ", path)));
    const int probed = server.calls();
    const std::vector<StepScores> found =
        ScoresOf(*served, made.tree, kChoiceQuestion);
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
    const int calls = server.calls() - probed;
    if (offer == Offer::kGenerativeScoring || offer == Offer::kScore) {
      EXPECT_EQ(calls, 1);
    } else if (offer == Offer::kTags) {
      // Paths that others go on from are read with those.
      EXPECT_LT(calls, static_cast<int>(found.size()));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, PooledChoicesTest,
                         testing::Values("math_shepherd", "rlhflow",
                                         "rlhflow_orm", "math_psa", "versa_prm",
                                         "laser"),
                         [](const auto& test) { return test.param; });

TEST(PooledChoices, ATokenBetweenQueryAndItemIsNoticed) {
  Checkpoint made("math_shepherd");
  const ChoiceServer server(made.model, made.choices(), made.tag(),
                            Offer::kMultiItem);
  const auto served = made.Serve(server, made.format);
  EXPECT_EQ(served.status().code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(std::string(served.status().message()),
              testing::AllOf(HasSubstr(server.url()), HasSubstr("/v1/score"),
                             HasSubstr("multi-item scoring")));
}

// Rows that only look like the tokens' are taken on the user's word only.
TEST(PooledChoices, NumbersOfTheHiddenStateAreRefused) {
  Checkpoint made("math_shepherd");
  const ChoiceServer server(made.model, made.choices(), made.tag(),
                            Offer::kHidden);
  const auto served = made.Serve(server, made.format);
  EXPECT_EQ(served.status().code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(std::string(served.status().message()),
              testing::AllOf(HasSubstr("returned_token_ids"),
                             HasSubstr("math_shepherd:outputs=logits"),
                             HasSubstr("classifier_from_token"),
                             HasSubstr("/generative_scoring: answered 404")));
  const auto trusted = made.Serve(
      server, ReadRewardFormat("math_shepherd:outputs=probabilities").value());
  ASSERT_TRUE(trusted.ok()) << trusted.status();
  EXPECT_THAT(made.notice, HasSubstr("token_classify"));
}

// Rows that differ from those of whole texts are not read.
TEST(PooledChoices, WholeTextsAreBelieved) {
  Checkpoint made("math_shepherd");
  const ChoiceServer server(made.model, made.choices(), made.tag(),
                            Offer::kMixed);
  const auto served = made.Serve(server, made.format);
  ASSERT_TRUE(served.ok()) << served.status();
  EXPECT_THAT(made.notice, testing::EndsWith("at /pooling (task classify)"));
  const auto wanted = ScoresOf(made.local, made.tree, kChoiceQuestion);
  const auto found = ScoresOf(*served, made.tree, kChoiceQuestion);
  ASSERT_EQ(found.size(), wanted.size());
  for (size_t i = 0; i < found.size(); ++i) {
    EXPECT_NEAR(found[i].step, wanted[i].step, 1e-4) << i;
  }
}

}  // namespace
}  // namespace espalier
